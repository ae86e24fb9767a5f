package fixture;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Methods whose ways in and out are watched. */
public class Exits {
    private final int value;

    static class Initialized {
        static final int SIZE = Integer.parseInt("3");
    }

    static class Broken {
        static final int SIZE = Integer.parseInt("x");
    }

    Exits(int value) {
        this.value = 12 / value;
    }

    public static void main(String[] args) throws Exception {
        say("init", Initialized.SIZE);
        try {
            say("broken", Broken.SIZE);
        } catch (ExceptionInInitializerError error) {
            say("broken", error.getCause().getClass().getSimpleName());
        }
        say("constructor", new Exits(3).value);
        try {
            new Exits(0);
        } catch (ArithmeticException error) {
            say("constructor", error.getMessage());
        }
        say("either", either(true) + either(false));
        try {
            say("rescue", rescue("1") + rescue("y") + rescue(null));
        } catch (NullPointerException error) {
            say("rescue", "null");
        }
        say("add", new Exits(2).add(1, 2L, 3.0f, 4.0, "5", 6, 7));
        try {
            new Exits(2).add(1, 2L, 3.0f, 4.0, "z");
        } catch (NumberFormatException error) {
            say("add", "no number");
        }
        Speaker speaker = () -> "word";
        say("speak", speaker.twice() + Speaker.nothing());
        Method add = Exits.class.getMethod("add", int.class, long.class, float.class, double.class, String.class, int[].class);
        say("reflection", Modifier.toString(add.getModifiers()) + " " + add.isVarArgs() + " " + add.isAnnotationPresent(Deprecated.class));
    }

    static void say(String what, Object result) {
        System.out.println(what + ": " + result + " [" + Log.take() + "]");
    }

    static String either(boolean first) {
        if (first) {
            return "first";
        }
        return "second";
    }

    static int rescue(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException error) {
            if (text == null) {
                throw new NullPointerException();
            }
            return -1;
        }
    }

    @Deprecated
    public synchronized double add(int i, long l, float f, double d, String s, int... more) {
        double sum = value + i + l + f + d + Integer.parseInt(s);
        for (int one : more) {
            sum += one;
        }
        return sum;
    }

    interface Speaker {
        String word();

        default String twice() {
            return word() + word();
        }

        static String nothing() {
            return "";
        }
    }
}
