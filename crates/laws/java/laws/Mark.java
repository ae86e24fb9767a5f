package laws;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** An annotation that programs look at while they run. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Mark {
    int value();
}
