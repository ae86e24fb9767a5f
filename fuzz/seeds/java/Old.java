package seeds;

import java.util.function.Supplier;

/** Idioms up to Java 8. */
public class Old implements Supplier<String> {
    private static int count;
    private final Object lock = new Object();

    Old(int n) {
        this(n > 0 ? "many" : null, new StringBuilder(n == 1 ? "a" : "b"));
    }

    Old(String first, StringBuilder second) {
        count += second.length();
    }

    int switches(int n, String s) {
        switch (n) {
            case 1: return 2;
            case 2: n++;
            case 3: break;
            default: n--;
        }
        switch (s) {
            case "x": return 1;
            case "yy": return 2;
        }
        switch (n) {
            case -5: return 0;
            case 100000: return 1;
        }
        return n;
    }

    long tries(long a, double b) throws Exception {
        synchronized (lock) {
            try {
                a += (long) b;
                if (a == 3) {
                    throw new Exception("three");
                }
            } catch (IllegalStateException | IllegalArgumentException error) {
                return -1;
            } finally {
                count++;
            }
        }
        return a;
    }

    @Override
    public String get() {
        Supplier<String> inner = () -> "s" + count + lock;
        Runnable runnable = inner::get;
        runnable.run();
        int[][] grid = new int[2][3];
        for (int[] row : grid) {
            for (int i = 0; i < row.length; i++) {
                row[i] ^= i << 2;
            }
        }
        return inner.get();
    }
}
