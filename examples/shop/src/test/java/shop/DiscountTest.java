package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DiscountTest {
    @Test
    void takesATenthOffALargeTotal() {
        assertEquals(18_000, new Discount().apply(new Money(20_000)).cents());
    }

    @Test
    void leavesASmallTotalAlone() {
        assertEquals(500, new Discount().apply(new Money(500)).cents());
    }
}
