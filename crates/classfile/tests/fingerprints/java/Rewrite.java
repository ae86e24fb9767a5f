import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * Passes class files through ASM, which writes a constant pool of its own with
 * everything in another place.
 */
public class Rewrite {
    public static void main(String[] args) throws IOException {
        Path from = Paths.get(args[0]);
        Path to = Paths.get(args[1]);
        try (Stream<Path> files = Files.walk(from)) {
            List<Path> classes =
                    files.filter(path -> path.toString().endsWith(".class"))
                            .collect(Collectors.toList());
            for (Path file : classes) {
                ClassWriter writer = new ClassWriter(0);
                new ClassReader(Files.readAllBytes(file)).accept(writer, 0);
                Path target = to.resolve(from.relativize(file));
                Files.createDirectories(target.getParent());
                Files.write(target, writer.toByteArray());
            }
        }
    }
}
