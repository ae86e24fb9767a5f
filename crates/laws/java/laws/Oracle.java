package laws;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Set;
import java.util.TreeSet;
import org.junit.runner.JUnitCore;

/**
 * Runs test classes as they would run alone, and then in groups that share their statics.
 *
 * <p>A class loader of its own stands for a JVM of its own: the programs keep their state in
 * static fields only. Each line of the list file names the test classes of a group.
 */
public class Oracle {
    private static final File CLASSES = new File("classes");

    public static void main(String[] args) throws Exception {
        System.out.println("== alone");
        for (String line : Files.readAllLines(Paths.get(args[0]))) {
            for (String test : line.split(" ")) {
                Set<String> loaded = run(test);
                System.out.println("#" + test + " " + String.join(" ", loaded));
            }
        }
        System.out.println("== together");
        for (String line : Files.readAllLines(Paths.get(args[0]))) {
            run(line.split(" "));
        }
    }

    private static Set<String> run(String... tests) throws Exception {
        try (Loader loader = new Loader()) {
            Thread.currentThread().setContextClassLoader(loader);
            for (String test : tests) {
                JUnitCore.runClasses(loader.loadClass(test));
            }
            return loader.loaded;
        }
    }

    private static final class Loader extends URLClassLoader {
        final Set<String> loaded = new TreeSet<>();

        Loader() throws IOException {
            super(new URL[] {CLASSES.toURI().toURL()}, Oracle.class.getClassLoader());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            Class<?> found = super.findClass(name);
            synchronized (loaded) {
                loaded.add(name);
            }
            return found;
        }
    }
}
