package fewest.maven;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Array;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.artifact.DependencyResolutionRequiredException;
import org.apache.maven.execution.MojoExecutionEvent;
import org.apache.maven.model.Dependency;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.project.MavenProject;

/** What fewest must know of a task: its class path, its JVM, and all that can change an outcome. */
final class Request {
    /**
     * Parameters that choose tests, shape reports or are told elsewhere in the request. Every other one
     * counts, so that a parameter that a later Surefire invents does too.
     */
    private static final Set<String> NOT_SETTINGS =
            words(
                    "additionalClasspathDependencies additionalClasspathElements argLine",
                    "basedir classesDirectory classpathDependencyExcludes",
                    "classpathDependencyScopeExclude consoleOutputReporter debugForkedProcess",
                    "defaultClassesDirectory disableXmlReport effectiveForkCount",
                    "environmentVariables excludes excludesFile failIfNoSpecifiedTests",
                    "failIfNoSpecifiedTestsDeprecated failIfNoTests includes includesFile jvm",
                    "parallelMavenExecution printSummary projectBuildDirectory",
                    "redirectTestOutputToFile reportFormat reportNameSuffix",
                    "reportTestTimestamp reportsDirectory runOrderStatisticsFileChecksum skip",
                    "skipExec skipITs skipTests summaryFile systemProperties",
                    "systemPropertiesFile systemPropertyVariables tempDir test",
                    "testClassesDirectory testFailureIgnore testSourceDirectory useFile");

    /** The path of the module below the root, empty for the root itself. */
    final String module;

    private final long startedAt = System.currentTimeMillis();
    private final MavenProject project;
    private final MojoExecution execution;
    private final TestMojo mojo;
    private final Properties userProperties;

    Request(File root, MojoExecutionEvent event, TestMojo mojo) {
        this.project = event.getProject();
        this.execution = event.getExecution();
        this.mojo = mojo;
        this.userProperties = event.getSession().getUserProperties();
        this.module = module(root, project.getBasedir());
    }

    private static String module(File root, File basedir) {
        try {
            Path path = root.toPath().toRealPath().relativize(basedir.toPath().toRealPath());
            return path.toString().replace(File.separatorChar, '/');
        } catch (IOException e) {
            throw new IllegalStateException("cannot tell where " + basedir + " is", e);
        }
    }

    /** Equal for two executions that Surefire itself takes for one and the same. */
    String identity() {
        StringBuilder identity = new StringBuilder(module);
        for (Map.Entry<String, Object> field : mojo.fields().entrySet()) {
            identity.append('\n').append(field.getKey()).append('=').append(plain(field.getValue()));
        }
        return identity.toString();
    }

    /**
     * The VM names of the classes that the task would run.
     *
     * <p>Surefire scans for names. That no provider runs an abstract class shows only in the test JVM, so
     * those are taken out here: a class that never runs would otherwise seem to be left to run forever.
     */
    List<String> testClasses() {
        File directory = (File) mojo.get("testClassesDirectory");
        List<String> names = new ArrayList<>();
        if (!directory.exists() && list(mojo.get("dependenciesToScan")).isEmpty()) {
            return names;
        }
        for (String name : mojo.scan()) {
            String path = name.replace('.', '/');
            if (!ClassHead.isAbstract(new File(directory, path + ".class"))) {
                names.add(path);
            }
        }
        Collections.sort(names);
        return names;
    }

    Map<String, Object> members(List<String> testClasses, String runAll) throws Exception {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("format", 1);
        members.put("module", module);
        members.put("task", task());
        members.put("basedir", project.getBasedir());
        members.put("classpath", classPath());
        members.put("testClasses", testClasses);
        members.put("testSources", project.getTestCompileSourceRoots());
        members.put("runAll", runAll);
        members.put("reports", reports());
        members.put("startedAt", startedAt);
        members.put("javaHome", javaHome());
        members.put("jvmArgs", jvmArgs());
        members.put("systemProperties", systemProperties());
        members.put("environment", strings((Map<?, ?>) mojo.get("environmentVariables")));
        members.put("settings", settings());
        return members;
    }

    private String task() {
        String plugin = execution.getArtifactId().replaceAll("^maven-|-plugin$", "");
        return plugin + ":" + execution.getGoal() + "@" + execution.getExecutionId();
    }

    private Object reports() {
        return Boolean.TRUE.equals(mojo.get("disableXmlReport")) ? null : mojo.get("reportsDirectory");
    }

    /** The class path in the order that Surefire gives it to the test JVM. */
    private Collection<String> classPath() throws DependencyResolutionRequiredException {
        Set<String> elements = new LinkedHashSet<>();
        elements.add(mojo.get("testClassesDirectory").toString());
        elements.add(mainClasses());
        List<String> others = new ArrayList<>(project.getTestClasspathElements());
        others.remove(project.getBuild().getTestOutputDirectory());
        others.remove(project.getBuild().getOutputDirectory());
        others.removeAll(excludedDependencies());
        elements.addAll(others);
        for (Object element : list(mojo.get("additionalClasspathElements"))) {
            elements.addAll(Arrays.asList(element.toString().split(",")));
        }
        List<?> additional = list(mojo.get("additionalClasspathDependencies"));
        if (!additional.isEmpty()) {
            Object artifacts = mojo.callWith("resolveDependencies", List.class, additional);
            for (Object artifact : (Collection<?>) artifacts) {
                elements.add(((Artifact) artifact).getFile().getPath());
            }
        }
        return elements;
    }

    /** Failsafe runs against the packaged jar, unless told otherwise. */
    private String mainClasses() {
        Object path = mojo.call(mojo.has("getMainBuildPath") ? "getMainBuildPath" : "getClassesDirectory");
        return path.toString();
    }

    private Collection<String> excludedDependencies() {
        List<?> patterns = list(mojo.get("classpathDependencyExcludes"));
        String scope = mojo.text("classpathDependencyScopeExclude");
        Set<String> files = new HashSet<>();
        for (Artifact artifact : project.getArtifacts()) {
            boolean named = patterns.contains(artifact.getGroupId() + ":" + artifact.getArtifactId());
            if (artifact.getFile() != null && (named || artifact.getScope().equals(scope))) {
                files.add(artifact.getFile().getPath());
            }
        }
        return files;
    }

    /** The home of the JVM that runs the tests, or null if only Surefire could find it. */
    private String javaHome() throws IOException {
        String java = mojo.text("jvm");
        Object toolchain = java == null ? mojo.call("getToolchain") : null;
        if (toolchain != null) {
            java = (String) TestMojo.callWith(toolchain, "findTool", String.class, "java");
        }
        if (java == null) {
            return System.getProperty("java.home");
        }
        File program = new File(java);
        boolean found = program.isAbsolute() && program.exists();
        return found ? program.toPath().toRealPath().resolve("../..").normalize().toString() : null;
    }

    private List<String> jvmArgs() {
        String line = mojo.text("argLine");
        return line == null
                ? Collections.<String>emptyList()
                : ArgLine.split(ArgLine.bindLate(line, project.getProperties(), userProperties));
    }

    /** The system properties that the build gives to the tests; later ones win, as in Surefire. */
    private Map<String, String> systemProperties() throws IOException {
        Properties file = new Properties();
        if (mojo.get("systemPropertiesFile") instanceof File) {
            Path path = ((File) mojo.get("systemPropertiesFile")).toPath();
            try (InputStream in = Files.newInputStream(path)) {
                file.load(in);
            }
        }
        Map<String, String> properties = strings(file);
        properties.putAll(strings((Map<?, ?>) mojo.get("systemProperties")));
        properties.putAll(strings((Map<?, ?>) mojo.get("systemPropertyVariables")));
        if (!Boolean.FALSE.equals(mojo.get("promoteUserPropertiesToSystemProperties"))) {
            properties.putAll(strings(userProperties));
        }
        return properties;
    }

    private Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        for (Map.Entry<String, Object> field : mojo.fields().entrySet()) {
            String text = plain(field.getValue());
            if (text != null && !NOT_SETTINGS.contains(field.getKey())) {
                settings.put(field.getKey(), text.replace(project.getBasedir().getPath(), "${basedir}"));
            }
        }
        settings.put("plugin", execution.getArtifactId() + ":" + execution.getVersion());
        settings.put("pluginDependencies", pluginDependencies());
        return settings;
    }

    private String pluginDependencies() {
        List<String> names = new ArrayList<>();
        for (Dependency dependency : execution.getPlugin().getDependencies()) {
            names.add(
                    dependency.getGroupId()
                            + ":"
                            + dependency.getArtifactId()
                            + ":"
                            + dependency.getVersion());
        }
        return names.toString();
    }

    /** The text of a value that a build file can spell out, or null for a component of Maven. */
    private static String plain(Object value) {
        if (value instanceof String
                || value instanceof Number
                || value instanceof Boolean
                || value instanceof File) {
            return value.toString();
        }
        if (value instanceof Map) {
            Map<String, String> entries = new TreeMap<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                String text = entry.getValue() == null ? "" : plain(entry.getValue());
                if (text == null) {
                    return null;
                }
                entries.put(entry.getKey().toString(), text);
            }
            return entries.toString();
        }
        if (value instanceof Collection || value != null && value.getClass().isArray()) {
            List<String> elements = new ArrayList<>();
            for (Object element : list(value)) {
                elements.add(plain(element));
            }
            return elements.contains(null) ? null : elements.toString();
        }
        return null;
    }

    /** The elements of a parameter that is a list in some versions and an array in others. */
    private static List<?> list(Object value) {
        if (value instanceof Collection) {
            return new ArrayList<>((Collection<?>) value);
        }
        List<Object> elements = new ArrayList<>();
        for (int i = 0; value != null && i < Array.getLength(value); i++) {
            elements.add(Array.get(value, i));
        }
        return elements;
    }

    private static Set<String> words(String... lines) {
        return new HashSet<>(Arrays.asList(String.join(" ", lines).split(" ")));
    }

    private static Map<String, String> strings(Map<?, ?> map) {
        Map<String, String> strings = new TreeMap<>();
        if (map != null) {
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                Object value = entry.getValue();
                strings.put(entry.getKey().toString(), value == null ? "" : value.toString());
            }
        }
        return strings;
    }
}
