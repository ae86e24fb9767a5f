package fixture;

/** What inserted code calls. */
public final class Log {
    private static final StringBuilder TEXT = new StringBuilder();

    private Log() {}

    public static void add(int id) {
        TEXT.append(id).append(' ');
    }

    /** What was said since the last call. */
    public static String take() {
        String text = TEXT.toString();
        TEXT.setLength(0);
        return text.trim();
    }
}
