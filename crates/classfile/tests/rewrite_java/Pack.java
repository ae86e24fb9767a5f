import java.nio.file.Path;

/** Copies the class files of jars into one plain file: {@code OUT JAR...}. */
public class Pack {
    public static void main(String[] args) throws Exception {
        Classes.pack(Path.of(args[0]), args, 1);
    }
}
