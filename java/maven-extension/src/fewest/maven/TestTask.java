package fewest.maven;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.maven.execution.MojoExecutionEvent;

/**
 * One execution of a mojo that runs tests: asks fewest what to leave out, and tells the mojo.
 *
 * <p>The mojo is changed last and all at once; if that fails half-way, it gets its own parameters
 * back.
 */
final class TestTask {
    private static final long ANSWER_MINUTES = 15;

    private final Run run;
    private final MojoExecutionEvent event;
    private final TestMojo mojo;
    private final Request request;

    TestTask(Run run, MojoExecutionEvent event, TestMojo mojo) {
        this.run = run;
        this.event = event;
        this.mojo = mojo;
        this.request = new Request(run.root, event, mojo);
    }

    void prepare() throws Exception {
        if (mojo.isSkipped()) {
            return;
        }
        if (mojo.get("summaryFile") instanceof File) {
            run.forgetOldSummary((File) mojo.get("summaryFile"));
        }
        List<String> testClasses = hasSuiteFiles() ? null : request.testClasses();
        if (testClasses != null && testClasses.isEmpty()) {
            // Surefire itself knows best what to say about no tests.
            return;
        }
        String runAll = reasonToRunAll();
        String identity = request.identity();
        Map<?, ?> answer = run.answers.get(identity);
        boolean again = answer != null;
        File folder = run.folders.get(identity);
        if (!again) {
            folder = run.newTaskFolder(event.getProject().getArtifactId());
            write(new File(folder, "request.json"), Json.write(request.members(testClasses, runAll)));
            answer = ask(folder);
            run.answers.put(identity, answer);
            run.folders.put(identity, folder);
        }
        List<String> skip = strings(answer, "skip");
        List<String> jvmArgs = strings(answer, "jvmArgs");
        List<String> order = answer.get("order") == null ? new ArrayList<>() : strings(answer, "order");
        List<String> lines = strings(answer, "lines");
        if (runAll != null) {
            lines.add(label() + ": " + runAll + ", so all of them run");
            skip.clear();
        }
        try {
            apply(testClasses, Excludes.nameable(skip), jvmArgs, lines);
            order(testClasses, order, folder, lines);
        } catch (RuntimeException e) {
            mojo.restore();
            throw e;
        }
        if (!again) {
            lines.forEach(Run::say);
        }
    }

    private boolean hasSuiteFiles() {
        Object files = mojo.get("suiteXmlFiles");
        return files != null && ((File[]) files).length > 0;
    }

    /** Why this task's tests are not ours to select from, or null if they are. */
    private String reasonToRunAll() {
        if (mojo.text("test") != null) {
            return "its tests are named one by one";
        }
        if (hasSuiteFiles()) {
            return "suite files choose its tests";
        }
        return null;
    }

    private void apply(
            List<String> testClasses, Set<String> skip, List<String> jvmArgs, List<String> lines) {
        if (testClasses != null && testClasses.stream().allMatch(c -> Excludes.covers(skip, c))) {
            if (!mojo.set("skip", true)) {
                throw new IllegalStateException("the mojo has no parameter to skip it");
            }
            return;
        }
        if (!skip.isEmpty()) {
            exclude(skip);
        }
        if (!jvmArgs.isEmpty()) {
            fork(lines);
            mojo.set("argLine", ArgLine.append(mojo.text("argLine"), jvmArgs));
        }
    }

    /** Whatever hinders the order, the tests run. */
    private void order(
            List<String> testClasses, List<String> order, File folder, List<String> lines) {
        if (testClasses == null || order.size() < 2 || Boolean.TRUE.equals(mojo.get("skip"))) {
            return;
        }
        RunOrder runOrder = new RunOrder(mojo, event.getExecution().getVersion(), folder);
        String own = runOrder.reasonToKeep();
        int mark = mojo.mark();
        try {
            if (own == null) {
                runOrder.apply(testClasses, order);
            }
        } catch (IOException | RuntimeException e) {
            mojo.restore(mark);
            own = String.valueOf(e.getMessage()).split("\\R", 2)[0];
        }
        if (own != null) {
            lines.add(label() + ": the tests run in the build's own order: " + own);
        }
    }

    @SuppressWarnings("unchecked")
    private void exclude(Set<String> skip) {
        Collection<String> users = (Collection<String>) mojo.get("excludes");
        boolean defaults = (users == null || users.isEmpty()) && !hasEntries("excludesFile");
        boolean regex = Excludes.understandsRegex(event.getExecution().getVersion());
        mojo.set("excludes", Excludes.add(users, defaults, skip, regex));
        mojo.set("failIfNoTests", false);
        mojo.set("failIfNoSpecifiedTests", false);
    }

    private boolean hasEntries(String name) {
        File file = (File) mojo.get(name);
        if (file == null) {
            return false;
        }
        try {
            return Files.readAllLines(file.toPath()).stream()
                    .map(String::trim)
                    .anyMatch(line -> !line.isEmpty() && !line.startsWith("#"));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + file, e);
        }
    }

    /** Tests inside Maven's own JVM cannot be watched, so they get one of their own. */
    private void fork(List<String> lines) {
        boolean inside = false;
        if ("0".equals(mojo.text("forkCount"))) {
            inside = mojo.set("forkCount", "1");
        }
        if ("never".equals(mojo.text("forkMode"))) {
            inside = mojo.set("forkMode", "once");
        }
        if (inside) {
            lines.add(label() + ": tests run in a JVM of their own instead of Maven's");
        }
    }

    private Map<?, ?> ask(File folder) throws IOException, InterruptedException {
        File log = new File(folder, "ask.log");
        Process process =
                new ProcessBuilder(run.program, "ask", folder.getPath())
                        .redirectErrorStream(true)
                        .redirectOutput(log)
                        .start();
        try {
            process.getOutputStream().close();
            if (!process.waitFor(ANSWER_MINUTES, TimeUnit.MINUTES)) {
                throw new IOException("no answer in " + ANSWER_MINUTES + " minutes");
            }
        } finally {
            process.destroy();
        }
        if (process.exitValue() != 0) {
            throw new IOException(run.program + " failed, see " + log);
        }
        Map<?, ?> answer = Json.readObject(read(new File(folder, "answer.json")));
        if (!Long.valueOf(1).equals(answer.get("format"))) {
            throw new IOException("the answer has format " + answer.get("format") + ", not 1");
        }
        return answer;
    }

    private String label() {
        return request.module.isEmpty() ? event.getProject().getArtifactId() : request.module;
    }

    private static List<String> strings(Map<?, ?> answer, String key) {
        List<String> strings = new ArrayList<>();
        for (Object element : (List<?>) answer.get(key)) {
            strings.add((String) element);
        }
        return strings;
    }

    private static String read(File file) throws IOException {
        return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
    }

    private static void write(File file, String text) throws IOException {
        Files.write(file.toPath(), text.getBytes(StandardCharsets.UTF_8));
    }
}
