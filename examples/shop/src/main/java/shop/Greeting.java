package shop;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** The first line of a letter, from a text file. */
public final class Greeting {
    public String to(String name) throws IOException {
        try (InputStream text = Greeting.class.getResourceAsStream("/greeting.txt")) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8).trim() + " " + name;
        }
    }
}
