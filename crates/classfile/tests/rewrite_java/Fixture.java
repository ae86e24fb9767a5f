package fixture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** A bit of everything that code can hold; prints what it computes. */
public class Fixture extends Base implements Shape {
    private static final int[] SQUARES = new int[5];
    private static String trace = "";

    static {
        for (int i = 0; i < SQUARES.length; i++) {
            SQUARES[i] = i * i;
        }
    }

    private final long id;

    Fixture(int n) {
        // Branches while `this` is not yet whole.
        super(n > 2 ? "many" : "few", new StringBuilder(n == 0 ? "none" : "some"));
        this.id = n * 3L;
    }

    Fixture() {
        this(SQUARES.length > 3 ? 4 : 0);
    }

    public static void main(String[] args) {
        spin(3);
        System.out.println(Arrays.toString(SQUARES));
        System.out.println(new Fixture() + " " + new Fixture(0));
        for (int i = -1; i < 8; i++) {
            System.out.println(i + " " + dense(i) + " " + sparse(i * 1000) + " " + named("k" + i) + " " + guarded(i));
        }
        System.out.println(wide(1, 2L, 3.0f, 4.0, "five"));
        System.out.println(lambdas(4) + " " + Shape.unit().area() + " " + new Fixture(2).area());
        System.out.println(locked(new Object(), 7));
        System.out.println(nested(3, 4));
        System.out.println(trace);
        try {
            throwing(5);
        } catch (IllegalStateException expected) {
            System.out.println("caught " + expected.getMessage());
        }
    }

    /** The loop starts at the first instruction. */
    static void spin(int n) {
        while (n > 0) {
            n--;
        }
    }

    static String dense(int n) {
        switch (n) {
            case 0: return "zero";
            case 1: return "one";
            case 2:
            case 3: return n % 2 == 0 ? "two" : "three";
            case 5: return "five";
            default: return "other";
        }
    }

    static int sparse(int n) {
        int result = 1;
        switch (n) {
            case -1000: result += 1;
            case 3000: result += 2; break;
            case 5000: return -1;
            case 7000: result = 9;
        }
        return result;
    }

    static int named(String name) {
        switch (name) {
            case "k1": return 11;
            case "k2": return 22;
            default: return name.length();
        }
    }

    static int guarded(int n) {
        int result = 0;
        try {
            result = 10 / n;
            if (n == 4) {
                throw new IllegalArgumentException("four");
            }
            return result;
        } catch (ArithmeticException error) {
            trace += "a";
            return -2;
        } catch (IllegalArgumentException error) {
            trace += error.getMessage();
        } finally {
            trace += n;
            result += 100;
        }
        return result;
    }

    static String wide(int i, long l, float f, double d, String s) {
        long sum = i + l;
        double product = f * d;
        Object made = new String(sum > 2 ? s : s + product);
        if (made instanceof String && product > sum) {
            sum <<= 3;
        }
        return made + ":" + sum + ":" + product;
    }

    static int lambdas(int n) {
        IntUnaryOperator add = x -> x > 3 ? x + n : x - n;
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < n + 2; i++) {
            all.add(add.applyAsInt(i));
        }
        return all.stream().mapToInt(x -> x).sum();
    }

    static int locked(Object lock, int n) {
        synchronized (lock) {
            if (n > 5) {
                return n - 5;
            }
            return n;
        }
    }

    static int nested(int rows, int columns) {
        int[][] grid = new int[rows][columns];
        outer:
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                if (i == 2 && j == 2) {
                    break outer;
                }
                grid[i][j] = i ^ j;
            }
        }
        int sum = 0;
        for (int[] row : grid) {
            for (int cell : row) {
                sum += cell;
            }
        }
        return sum;
    }

    static int throwing(int n) {
        if (n > 3) {
            throw new IllegalStateException("too many: " + n);
        }
        return n;
    }

    @Override
    public double area() {
        return Shape.super.area() * id;
    }

    @Override
    public String toString() {
        return label + "/" + id;
    }
}

class Base {
    protected final String label;

    Base(String label, StringBuilder more) {
        this.label = more.append(label).toString();
    }
}

interface Shape {
    static Shape unit() {
        return new Shape() {};
    }

    default double area() {
        return this instanceof Fixture ? 2 : 1;
    }
}
