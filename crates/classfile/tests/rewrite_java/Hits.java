package fewest.probe;

/** The array that probes write to. */
public final class Hits {
    public static final byte[] A = new byte[1 << 15];

    private Hits() {}
}
