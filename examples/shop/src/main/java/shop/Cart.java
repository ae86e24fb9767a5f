package shop;

import java.util.ArrayList;
import java.util.List;

/** What somebody is about to buy. */
public final class Cart {
    private final List<Item> items = new ArrayList<>();

    public Cart add(Item item) {
        items.add(item);
        return this;
    }

    public boolean isEmpty() {
        return items.isEmpty();
    }

    public Money total() {
        Money sum = new Money(0);
        for (Item item : items) {
            sum = sum.plus(item.total());
        }
        return sum;
    }
}
