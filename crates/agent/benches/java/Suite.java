import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;

/** Runs the test classes of a jar by JUnit 4, each named ...Test: JAR. */
public class Suite {
    public static void main(String[] args) throws Exception {
        List<Class<?>> tests = new ArrayList<>();
        for (String name : testsOf(args[0])) {
            tests.add(Class.forName(name, false, Suite.class.getClassLoader()));
        }
        Result result = JUnitCore.runClasses(tests.toArray(new Class<?>[0]));
        System.out.println(
            tests.size() + " test classes, " + result.getRunCount() + " tests, "
                + result.getFailureCount() + " failed");
        System.exit(0);
    }

    private static List<String> testsOf(String path) throws Exception {
        List<String> names = new ArrayList<>();
        try (JarFile jar = new JarFile(path)) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                String simple = name.substring(name.lastIndexOf('/') + 1);
                if (simple.endsWith("Test.class") && !simple.contains("$")
                    && !simple.startsWith("Abstract")) {
                    names.add(name.substring(0, name.length() - 6).replace('/', '.'));
                }
            }
        }
        Collections.sort(names);
        return names;
    }
}
