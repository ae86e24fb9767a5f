package shop;

/** A thing with a price, so many times. */
public final class Item {
    private final String name;
    private final Money price;
    private final int count;

    public Item(String name, Money price, int count) {
        this.name = name;
        this.price = price;
        this.count = count;
    }

    public String name() {
        return name;
    }

    public Money total() {
        return price.times(count);
    }
}
