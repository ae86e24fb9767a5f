package seeds;

import java.util.List;
import java.util.stream.Collectors;

/** Idioms since Java 9. */
sealed interface New permits New.Point, New.Line, New.Nothing {
    record Point(int x, @Deprecated long y) implements New {
        public Point {
            if (x < 0) {
                throw new IllegalArgumentException("x: " + x);
            }
        }
    }

    record Line(Point from, Point to) implements New {}

    enum Nothing implements New {
        ONE,
        TWO {
            @Override
            String text() {
                return "two";
            }
        };

        String text() {
            return name().toLowerCase();
        }
    }

    private String secret() {
        return """
            text
            block
            """;
    }

    default String describe() {
        if (this instanceof Point point && point.x() > 1) {
            return "point " + point.x() + secret();
        }
        return switch (this instanceof Nothing nothing ? nothing : Nothing.ONE) {
            case ONE -> "one";
            case TWO -> {
                var all = List.of(1, 2, 3);
                yield all.stream().map(n -> n + ":" + this).collect(Collectors.joining());
            }
        };
    }
}
