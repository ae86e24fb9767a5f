import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Class files in one plain file: for each the length of its name, the name
 * ({@code guava.jar/com/google/common/base/Joiner.class}), the length of its
 * bytes, the bytes.
 */
final class Classes {
    private Classes() {}

    static Map<String, byte[]> read(Path file) throws IOException {
        Map<String, byte[]> classes = new LinkedHashMap<>();
        try (DataInputStream in = new DataInputStream(
                new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
            while (true) {
                int length = in.read();
                if (length < 0) {
                    return classes;
                }
                length = length << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
                String name = new String(block(in, length), StandardCharsets.UTF_8);
                classes.put(name, block(in, in.readInt()));
            }
        }
    }

    private static byte[] block(DataInputStream in, int length) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    /** Copies the class files of jars, each name after that of its jar. */
    static void pack(Path out, String[] jars, int first) throws IOException {
        try (DataOutputStream data = new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(out), 1 << 16))) {
            for (int i = first; i < jars.length; i++) {
                pack(data, Path.of(jars[i]));
            }
        }
    }

    private static void pack(DataOutputStream out, Path jar) throws IOException {
        try (ZipInputStream in = new ZipInputStream(
                new BufferedInputStream(Files.newInputStream(jar), 1 << 16))) {
            for (ZipEntry entry; (entry = in.getNextEntry()) != null; ) {
                if (entry.getName().endsWith(".class")) {
                    write(out, (jar.getFileName() + "/" + entry.getName()).getBytes(StandardCharsets.UTF_8));
                    write(out, in.readAllBytes());
                }
            }
        }
    }

    private static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** The name without jar or module: {@code com/google/common/base/Joiner}. */
    static String binaryName(String name) {
        return name.substring(name.indexOf('/') + 1, name.length() - ".class".length());
    }
}
