package seeds;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;

/** Annotations of every kind, in every place. */
@Annotated.Marks({@Annotated.Mark(name = "a"), @Annotated.Mark(count = {1, 2}, type = List.class)})
public class Annotated<@Annotated.Use T extends @Annotated.Use Comparable<T>> {
    @Retention(RetentionPolicy.RUNTIME)
    @Repeatable(Marks.class)
    @interface Mark {
        String name() default "m";

        int[] count() default {};

        Class<?> type() default Object.class;

        ElementType kind() default ElementType.TYPE;

        Deprecated nested() default @Deprecated;
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Marks {
        Mark[] value();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
    @interface Use {}

    @Deprecated
    @Mark
    static final double RATE = 1.5;
    static final long BIG = 1L << 40;
    static final String TEXT = "text\0\u00e9";

    @Mark
    <U> @Use List<@Use String> method(@Mark @Use U first, @Deprecated int second)
            throws @Use IllegalStateException {
        @Use List<@Use String> made = new @Use ArrayList<@Use String>();
        try {
            Object any = (@Use Object) made;
            if (any instanceof @Use ArrayList) {
                second++;
            }
        } catch (@Use RuntimeException error) {
            made.add("" + second);
        }
        return made;
    }
}
