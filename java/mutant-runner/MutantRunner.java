import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs test classes one after the other: {@code CLASSES RESULTS}, a file with a name in each
 * line, and one to write to. Each line of the results is written before anything else happens,
 * so that whoever ends this JVM knows how far it came:
 *
 * <pre>
 * start NAME
 * end NAME MILLIS TESTS FAILURES
 * done
 * </pre>
 */
public final class MutantRunner {
    private static Writer results;

    public static void main(String[] args) throws Exception {
        results = new OutputStreamWriter(new FileOutputStream(args[1], true), StandardCharsets.UTF_8);
        Launcher launcher = LauncherFactory.create();
        for (String name : Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8)) {
            say("start " + name);
            long start = System.nanoTime();
            Count count = new Count();
            try {
                Class<?> type = Class.forName(name, false, MutantRunner.class.getClassLoader());
                launcher.execute(
                        LauncherDiscoveryRequestBuilder.request().selectors(selectClass(type)).build(),
                        count);
            } catch (Throwable error) {
                count.failed++;
            }
            long millis = (System.nanoTime() - start) / 1_000_000;
            say("end " + name + " " + millis + " " + count.tests + " " + count.failed);
        }
        say("done");
        // Threads that tests have left behind would keep the JVM alive.
        Runtime.getRuntime().halt(0);
    }

    private static void say(String line) throws Exception {
        results.write(line + "\n");
        results.flush();
    }

    private static final class Count implements TestExecutionListener {
        volatile int tests;
        volatile int failed;

        @Override
        public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest()) {
                tests++;
            }
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                failed++;
            }
        }
    }
}
