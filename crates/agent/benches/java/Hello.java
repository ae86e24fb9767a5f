/** The shortest program: what is left is the start of the JVM. */
public class Hello {
    public static void main(String[] args) {
        System.out.println("hello");
    }
}
