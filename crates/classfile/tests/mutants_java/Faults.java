import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Methods that say how they were changed. */
public class Faults extends Parent {
    static final int CONSTANT = 11;
    static int shared = 9;
    int start = 7;
    String name = "name";

    private static int two() {
        return Integer.parseInt("2");
    }

    private static int three() {
        return Integer.parseInt("3");
    }

    private static int add(int a, int b) {
        return a + b;
    }

    public int add() {
        return add(three(), two());
    }

    public int multiply() {
        return 6 * Integer.parseInt("2");
    }

    public int negate() {
        int seven = Integer.parseInt("7");
        return -seven;
    }

    public int shift() {
        return two() << two();
    }

    public int mask() {
        return Integer.parseInt("6") & 4;
    }

    public int count() {
        int count = 0;
        count += 3;
        return count;
    }

    public int countFar() {
        int count = 0;
        count += 300;
        return count;
    }

    public boolean isPositive() {
        return shared - shared > 0;
    }

    public boolean isLess() {
        return two() < two();
    }

    public boolean isSame() {
        return this == (Object) this;
    }

    public int five() {
        return 5;
    }

    public int hundred() {
        return 100;
    }

    public int thousand() {
        return 1000;
    }

    public int million() {
        return 1000000;
    }

    public long longNumber() {
        return 10000000000L;
    }

    private void fill(List<String> list) {
        list.add("a");
    }

    public List<String> filled() {
        List<String> list = new ArrayList<>();
        fill(list);
        return list;
    }

    public double half() {
        return 0.5;
    }

    public float quarter() {
        return 0.25f;
    }

    public String text() {
        return "text";
    }

    public boolean yes() {
        return true;
    }

    public int length() {
        return "abc".length();
    }

    public String shout() {
        return "loud".toUpperCase();
    }

    public long wide() {
        return sum(1L, 2.0);
    }

    private static long sum(long a, double b) {
        return a + (long) b;
    }

    public int start() {
        return start;
    }

    public int shared() {
        return shared;
    }

    public String name() {
        return name;
    }

    public int constantByReflection() throws ReflectiveOperationException {
        return Faults.class.getDeclaredField("CONSTANT").getInt(null);
    }

    @Deprecated
    void deprecated() {}

    public String annotations() throws ReflectiveOperationException {
        return Arrays.toString(Faults.class.getDeclaredMethod("deprecated").getAnnotations())
                .replaceAll("\\([^)]*\\)", "");
    }
}
