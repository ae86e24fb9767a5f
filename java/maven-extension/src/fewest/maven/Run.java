package fewest.maven;

import java.io.File;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.maven.execution.MavenSession;

/** What the command line says, and what all tasks of the build share. */
final class Run {
    /** The folder of this run, in which each task makes its own. */
    final File folder;

    /** The program that is asked what to leave out. */
    final String program;

    /** The folder that modules are named from. */
    final File root;

    /**
     * The answers so far. A forked lifecycle, as for a site, comes to the same tests a second time, and
     * Surefire leaves them out then if its parameters are the same; so the answer must be.
     */
    final Map<String, Map<?, ?>> answers = new ConcurrentHashMap<>();

    /** The task folders of these answers. */
    final Map<String, File> folders = new ConcurrentHashMap<>();

    private final AtomicInteger tasks = new AtomicInteger();
    private final Set<File> freshSummaries = ConcurrentHashMap.newKeySet();

    private Run(String folder, String program, String root) {
        this.folder = new File(folder);
        this.program = program;
        this.root = new File(root);
    }

    /**
     * Reads the properties, and takes them away from the session: Surefire hands all properties of the
     * command line to the tests, and they shall not see ours.
     *
     * @return null if the build was not started by fewest
     */
    static Run of(MavenSession session) {
        Properties properties = session.getUserProperties();
        String folder = take(properties, "fewest.run");
        String program = take(properties, "fewest.program");
        String root = take(properties, "fewest.root");
        String users = take(properties, "fewest.ext.class.path");
        if (folder == null || program == null) {
            return null;
        }
        if (users == null) {
            properties.remove("maven.ext.class.path");
        } else {
            properties.setProperty("maven.ext.class.path", users);
        }
        return new Run(folder, program, root == null ? session.getExecutionRootDirectory() : root);
    }

    private static String take(Properties properties, String name) {
        Object value = properties.remove(name);
        return value instanceof String ? (String) value : System.getProperty(name);
    }

    /** Makes the folder of the next task. */
    File newTaskFolder(String artifactId) {
        String name = String.format("%04d-%s", tasks.incrementAndGet(), artifactId);
        File task = new File(folder, name);
        if (!task.mkdirs()) {
            throw new IllegalStateException("cannot make " + task);
        }
        return task;
    }

    /**
     * Deletes Failsafe's summary of an earlier build, once for each module.
     *
     * <p>If this build runs no integration test, nothing replaces it, and {@code verify} would take the
     * old failures for new ones. Later executions of the same build add to the file, so it stays then.
     */
    void forgetOldSummary(File summary) {
        if (freshSummaries.add(summary.getAbsoluteFile()) && summary.exists() && !summary.delete()) {
            throw new IllegalStateException("cannot delete " + summary);
        }
    }

    static void say(String line) {
        System.out.println(line);
    }
}
