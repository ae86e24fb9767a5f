package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class GreetingTest {
    @Test
    void comesFromTheTextFile() throws Exception {
        assertEquals("Dear Ada", new Greeting().to("Ada"));
    }
}
