import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes all class files of the running JDK's image to one file: for each class
 * the length of its name, the name ({@code java.base/java/lang/Object.class}),
 * the length of its bytes, the bytes. Sorted by name, so that the file is the
 * same in every run.
 */
public class DumpModules {
    public static void main(String[] args) throws IOException {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (DataOutputStream out = new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(Paths.get(args[0])), 1 << 16))) {
            for (Path file : classFiles(modules)) {
                write(out, modules.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
                write(out, Files.readAllBytes(file));
            }
        }
    }

    private static List<Path> classFiles(Path modules) throws IOException {
        try (Stream<Path> files = Files.walk(modules)) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    private static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}
