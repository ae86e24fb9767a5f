package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CartTest {
    @Test
    void startsEmpty() {
        assertTrue(new Cart().isEmpty());
    }

    @Test
    void sumsUpItems() {
        Cart cart = new Cart().add(new Item("pen", new Money(120), 2));
        assertEquals(240, cart.total().cents());
    }
}
