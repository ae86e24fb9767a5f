package shop;

/** An amount in cents. */
public final class Money {
    private final long cents;

    public Money(long cents) {
        this.cents = cents;
    }

    public long cents() {
        return cents;
    }

    public Money plus(Money other) {
        return new Money(cents + other.cents);
    }

    public Money times(int count) {
        return new Money(cents * count);
    }

    public Money percent(int percent) {
        return new Money(Math.round(cents * percent / 100.0));
    }
}
