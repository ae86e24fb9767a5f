package fewest.maven;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes a mojo run its test classes in a given order.
 *
 * <p>No version of Surefire takes a list. All of them can run first what failed last, and take that
 * from a file of their own. So they get a file by which the tests have passed more often the later
 * they are to run. The file's name is a checksum of the mojo's parameters, so this comes after every
 * other change of them.
 */
final class RunOrder {
    /** The file in a task's folder that says what to delete after the build. */
    private static final String CLEANUP = "statistics-file";

    /**
     * What the mojo does to its properties before it takes the checksum, by the kind of tests that it
     * finds, which only it knows.
     */
    private static final String[][] PROVIDERS = {
        {},
        {"convertGroupParameters", "convertJunitEngineParameters"},
        {
            "convertJunitCoreParameters", "convertGroupParameters", "convertJunitEngineParameters",
        },
        {"convertTestNGParameters"},
        {"convertJunitCoreParameters", "convertTestNGParameters"},
    };

    private final TestMojo mojo;
    private final String version;
    private final File taskFolder;

    RunOrder(TestMojo mojo, String version, File taskFolder) {
        this.mojo = mojo;
        this.version = version;
        this.taskFolder = taskFolder;
    }

    /** Why the build's own order has to stay, or null if another one is welcome. */
    String reasonToKeep() {
        String own = mojo.text("runOrder");
        return own == null || own.equals("filesystem") ? null : "runOrder is set to " + own;
    }

    /**
     * Sets the order.
     *
     * @param testClasses every class that the mojo's scanner finds
     * @param order the outermost classes that run
     */
    void apply(List<String> testClasses, List<String> order) throws IOException {
        if (!mojo.set("runOrder", "failedfirst")) {
            throw new IllegalStateException("the mojo has no parameter runOrder");
        }
        Set<Path> files = new LinkedHashSet<>();
        File reports = (File) mojo.get("reportsDirectory");
        File folder = reports.getParentFile().getParentFile();
        for (String checksum : checksums()) {
            Path file = new File(folder, ".surefire-" + checksum).toPath();
            // Whoever wrote to it meant something else, if it was not us.
            if (!Files.exists(file)) {
                files.add(file);
            }
        }
        Path cleanup = new File(taskFolder, CLEANUP).toPath();
        if (!Files.exists(cleanup)) {
            List<String> names = new ArrayList<>();
            files.forEach(file -> names.add(file.toString()));
            write(cleanup, String.join("\n", names));
            for (Path file : files) {
                write(file, statistics(testClasses, order));
            }
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.write(
                file,
                text.getBytes(StandardCharsets.UTF_8),
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE);
    }

    /** The checksums by which the mojo may name its file. */
    private Set<String> checksums() {
        if (mojo.hasField("runOrderStatisticsFileChecksum")) {
            // From 3.5.5 on it can be chosen.
            String own = mojo.text("runOrderStatisticsFileChecksum");
            String name = taskFolder.getParentFile().getName() + "-" + taskFolder.getName();
            String checksum = own != null ? own : "fewest-" + name;
            mojo.set("runOrderStatisticsFileChecksum", checksum);
            return Collections.singleton(checksum);
        }
        Set<String> checksums = new LinkedHashSet<>();
        Object properties = mojo.get("properties");
        // What the mojo has to say about its parameters, it says when its turn comes.
        List<Runnable> loud = mute();
        try {
            if (mojo.hasField("cli") && mojo.has("commandLineOptions")) {
                mojo.replace("cli", mojo.call("commandLineOptions"));
            }
            for (String[] steps : PROVIDERS) {
                mojo.replace("properties", properties);
                mojo.call("setupStuff");
                // This makes a copy of the properties.
                mojo.call("verifyParameters");
                for (String step : steps) {
                    if (mojo.has(step)) {
                        mojo.call(step);
                    }
                }
                checksums.add((String) mojo.call("getConfigChecksum"));
            }
        } finally {
            mojo.replace("properties", properties);
            loud.forEach(Runnable::run);
        }
        return checksums;
    }

    /** Silences the mojo, and returns how to give it its voice back. */
    private List<Runnable> mute() {
        List<Runnable> loud = new ArrayList<>();
        for (String name : new String[] {"logger", "log"}) {
            Class<?> type = mojo.typeOf(name);
            if (type != null && type.isInterface()) {
                Object own = mojo.get(name);
                mojo.replace(name, silent(type));
                loud.add(() -> mojo.replace(name, own));
            }
        }
        if (mojo.hasField("consoleLogger")) {
            // Made from the logger when it is first wanted.
            loud.add(() -> mojo.replace("consoleLogger", null));
            mojo.replace("consoleLogger", null);
        }
        return loud;
    }

    private static Object silent(Class<?> type) {
        return Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) ->
                        method.getReturnType() == boolean.class
                                ? (Object) false
                                : method.getReturnType() == int.class ? (Object) 0 : null);
    }

    private String statistics(List<String> testClasses, List<String> order) {
        Map<String, Integer> ranks = new HashMap<>();
        for (String name : order) {
            ranks.put(name, ranks.size());
        }
        boolean byClass = namesClassFirst(version);
        StringBuilder lines = new StringBuilder();
        for (String path : testClasses) {
            Integer rank = rank(ranks, path);
            if (rank != null) {
                String name = path.replace('/', '.');
                lines.append(rank).append(",0,");
                lines.append(byClass ? name + ",x" : "x(" + name + ")").append('\n');
            }
        }
        return lines.toString();
    }

    /** The rank of a class, or of the one that it is nested in. */
    private static Integer rank(Map<String, Integer> ranks, String name) {
        Integer rank = ranks.get(name);
        int dollar = name.lastIndexOf('$');
        boolean nested = dollar > name.lastIndexOf('/') + 1;
        return rank == null && nested ? rank(ranks, name.substring(0, dollar)) : rank;
    }

    /** From 3.0.0-M4 on an entry names the class and then the method. */
    static boolean namesClassFirst(String version) {
        return !version.startsWith("2.") && !version.matches("3\\.0\\.0-M[123]");
    }
}
