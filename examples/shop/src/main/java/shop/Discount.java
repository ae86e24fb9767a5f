package shop;

/** Takes something off a large total. */
public final class Discount {
    public Money apply(Money total) {
        return total.cents() >= 10_000 ? total.percent(90) : total;
    }
}
