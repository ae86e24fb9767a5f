/** Has methods to inherit. It is public, or javac would write bridges for them. */
public class Parent {
    public int inherited() {
        return 42;
    }

    @Override
    public String toString() {
        return "I am the parent";
    }
}
