import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Runs javac many times in one JVM.
 *
 * <p>The work list holds one command line after the other: a count, then so many
 * strings. The answer holds for each command line, in order, its exit code and
 * what the compiler said. All numbers have four bytes, big end first; a string
 * is its length and its UTF-8 bytes.
 */
public class CompileAll {
    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

    public static void main(String[] args) throws Exception {
        new CompileAll().run(Paths.get(args[0]), Paths.get(args[1]));
    }

    private void run(Path workList, Path answers) throws Exception {
        ExecutorService threads =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(answers))) {
            List<Future<Answer>> running = new ArrayList<>();
            for (String[] commandLine : read(workList)) {
                running.add(threads.submit(() -> compile(commandLine)));
            }
            for (Future<Answer> answer : running) {
                answer.get().write(out);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private Answer compile(String[] commandLine) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int code = compiler.run(null, said, said, commandLine);
        return new Answer(code, said.toByteArray());
    }

    private static List<String[]> read(Path workList) throws IOException {
        List<String[]> commandLines = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(Files.newInputStream(workList))) {
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                commandLines.add(readStrings(in));
            }
        }
        return commandLines;
    }

    private static String[] readStrings(DataInputStream in) throws IOException {
        String[] strings = new String[in.readInt()];
        for (int i = 0; i < strings.length; i++) {
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            strings[i] = new String(bytes, StandardCharsets.UTF_8);
        }
        return strings;
    }

    private static final class Answer {
        private final int code;
        private final byte[] said;

        Answer(int code, byte[] said) {
            this.code = code;
            this.said = said;
        }

        void write(DataOutputStream out) throws IOException {
            out.writeInt(code);
            out.writeInt(said.length);
            out.write(said);
        }
    }
}
