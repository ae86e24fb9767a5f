package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class MoneyTest {
    @Test
    void addsUp() {
        assertEquals(5, new Money(2).plus(new Money(3)).cents());
    }
}
