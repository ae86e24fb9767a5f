//! JVMs and other programs that a test starts count for that test.

mod support;

use std::collections::BTreeMap;

use fewest_testkit::{Finished, JavaRun, Jdk};
use fewest_trace::{Event, Jvm, ParentWindows};
use support::{Suite, Traced, assert_same};

/// Reads a file, starts a JVM of its own if asked to, and ends with code 3.
const CHILD: &str = r#"
    import java.nio.file.*;
    public class Child {
        public static void main(String[] args) throws Exception {
            Files.readAllBytes(Paths.get("data/" + args[0] + ".txt"));
            System.out.println(args[0]);
            if (args.length > 1) System.exit(Start.java(args[1]) == 3 ? 3 : 1);
            System.exit(3);
        }
    }"#;

/// Starts [`CHILD`] in various ways. Whatever it prints to its standard error
/// is a mistake of the agent's.
const START: &str = r#"
    import java.io.*; import java.util.*;
    public class Start {
        static int java(String... args) throws Exception {
            return finish(new ProcessBuilder(command(Collections.emptyList(), args)));
        }
        static List<String> command(List<String> options, String... args) {
            List<String> command = new ArrayList<>();
            command.add(System.getProperty("java.home") + "/bin/java");
            command.addAll(options);
            command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path"), "Child"));
            command.addAll(Arrays.asList(args));
            return command;
        }
        static int finish(ProcessBuilder builder) throws Exception {
            builder.redirectErrorStream(true);
            Process process = builder.start();
            process.getOutputStream().close();
            BufferedReader in = new BufferedReader(new InputStreamReader(process.getInputStream()));
            StringBuilder said = new StringBuilder();
            for (String line; (line = in.readLine()) != null; ) said.append(line).append(';');
            if (!said.toString().matches("(one|two|three|four|five);")) {
                throw new AssertionError(said.toString());
            }
            return process.waitFor();
        }
    }"#;

/// Starts a JVM with all tests, as a build tool does.
const TOOL: &str = r#"
    public class Tool {
        public static void main(String[] args) throws Exception {
            java.util.List<String> command = new java.util.ArrayList<>();
            command.add(System.getProperty("java.home") + "/bin/java");
            command.addAll(java.util.Arrays.asList("-cp", System.getProperty("java.class.path")));
            command.add("org.junit.runner.JUnitCore");
            command.addAll(java.util.Arrays.asList(args));
            System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
        }
    }"#;

const OTHERS: &[(&str, &str)] = &[
    ("Child.java", CHILD),
    ("Start.java", START),
    ("Tool.java", TOOL),
];

const TESTS: &[(&str, &str)] = &[
    ("OneTest", r#"assertEquals(3, Start.java("one"));"#),
    (
        "EnvironmentTest",
        r#"ProcessBuilder builder = new ProcessBuilder(
                Start.command(Collections.<String>emptyList(), "two"));
           builder.environment().put("X", "y");
           assertEquals(3, Start.finish(builder));"#,
    ),
    (
        "SameArgumentsTest",
        r#"List<String> options = java.lang.management.ManagementFactory.getRuntimeMXBean()
               .getInputArguments();
           assertEquals(3, Start.finish(new ProcessBuilder(Start.command(options, "three"))));"#,
    ),
    (
        "GrandchildTest",
        r#"List<String> command = Start.command(Collections.<String>emptyList(), "four", "five");
           Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
           assertEquals("four", new BufferedReader(
               new InputStreamReader(process.getInputStream())).readLine());
           assertEquals(3, process.waitFor());"#,
    ),
];

fn suite() -> Suite {
    let suite = Suite::new(TESTS, OTHERS);
    for name in ["one", "two", "three", "four", "five"] {
        suite.project.write(format!("data/{name}.txt"), name);
    }
    suite
}

fn jvm(trace: &Traced) -> &Jvm {
    match &trace.events[0] {
        Event::Jvm(jvm) => jvm,
        other => panic!("{other:?}"),
    }
}

/// The JVM with the tests, and for each file that a child read the windows
/// that the child belongs to.
fn family(suite: &Suite) -> (String, Traced, BTreeMap<String, ParentWindows>) {
    let mut traces = suite.traces();
    let top = traces
        .iter()
        .find(|(_, trace)| jvm(trace).parent.is_none())
        .map(|(name, _)| name.clone())
        .expect("one JVM has no parent");
    let tests = traces.remove(&top).unwrap();
    let mut children = BTreeMap::new();
    for trace in traces.into_values() {
        let parent = jvm(&trace).parent.clone().expect("one JVM has tests");
        for line in trace.ambient() {
            if let Some(file) = line.strip_prefix("file data/") {
                children.insert(file.to_owned(), parent.clone());
            }
        }
    }
    (top, tests, children)
}

fn window_of(trace: &Traced, class: &str) -> Vec<u32> {
    let windows = trace.events.iter().filter_map(|event| match event {
        Event::Opened(open) if open.class.as_str() == class => Some(open.window),
        _ => None,
    });
    windows.collect()
}

fn assert_children_belong_to_their_tests(suite: &Suite) {
    let (top, tests, children) = family(suite);
    for (file, class) in [
        ("one.txt", "OneTest"),
        ("two.txt", "EnvironmentTest"),
        ("three.txt", "SameArgumentsTest"),
        ("four.txt", "GrandchildTest"),
        ("five.txt", "GrandchildTest"),
    ] {
        let parent = children
            .get(file)
            .unwrap_or_else(|| panic!("{file}: {children:?}"));
        assert_eq!(parent.trace, top, "{file}");
        // The windows of what holds all test classes are open too.
        let among = |class| {
            let windows = window_of(&tests, class);
            parent.windows.iter().any(|window| windows.contains(window))
        };
        for (other, _) in TESTS {
            assert_eq!(among(other), *other == class, "{file}: {parent:?}");
        }
        let used = tests.of_test(class);
        assert!(
            !used.iter().any(|line| line.starts_with("program")),
            "{used:?}"
        );
    }
    assert_eq!(children.len(), 5);
}

fn run(run: JavaRun) -> Finished {
    run.finish().unwrap()
}

#[test]
fn a_jvm_that_a_test_starts_belongs_to_the_windows_of_the_test() {
    for jdk in Jdk::old_and_new() {
        let suite = suite();
        let plain = run(suite.plain(&jdk));
        assert!(plain.success(), "JDK {}: {}", jdk.version(), plain.stdout);
        let traced = run(suite.traced(&jdk));
        assert_same(&plain, &traced);
        assert_children_belong_to_their_tests(&suite);
    }
}

#[test]
fn an_agent_in_the_environment_is_not_loaded_twice() {
    for jdk in Jdk::old_and_new() {
        let suite = suite();
        let option = suite.agent_option();
        // A child would say that it picked up the variable, and fail its test.
        let traced = run(suite.plain(&jdk).env("JAVA_TOOL_OPTIONS", &option));
        assert!(traced.success(), "JDK {}: {}", jdk.version(), traced.stdout);
        assert_children_belong_to_their_tests(&suite);
    }
}

fn tool(suite: &Suite, jdk: &Jdk) -> JavaRun {
    JavaRun::new(jdk, "Tool")
        .jvm_args([suite.agent_option()])
        .classpath([suite.project.path("classes")])
        .classpath(support::junit())
        .current_dir(suite.project.root())
        .args(TESTS.iter().map(|(name, _)| *name))
}

#[test]
fn a_jvm_without_tests_hands_the_agent_on_as_it_is() {
    for jdk in Jdk::old_and_new() {
        let suite = suite();
        let finished = run(tool(&suite, &jdk));
        assert!(finished.success(), "{}{}", finished.stdout, finished.stderr);
        assert_children_belong_to_their_tests(&suite);
    }
}

#[test]
fn another_program_is_named_with_the_files_it_is_told_of() {
    let tests = [
        (
            "ProgramTest",
            r#"Process process = new ProcessBuilder("cat", "-u", "one.txt", "no.txt")
                   .directory(new File("data")).start();
               process.waitFor();"#,
        ),
        (
            "ScriptTest",
            r#"assertEquals(0, new ProcessBuilder("./data/tool.sh").start().waitFor());"#,
        ),
        ("QuietTest", "assertTrue(true);"),
    ];
    for jdk in Jdk::old_and_new() {
        let suite = Suite::new(&tests, &[]);
        suite.project.write("data/one.txt", "1");
        let script = suite.project.write("data/tool.sh", "#!/bin/sh\nexit 0\n");
        fewest_testkit::Run::new("chmod")
            .arg("+x")
            .arg(script)
            .succeed()
            .unwrap();
        let plain = run(suite.plain(&jdk));
        let traced = run(suite.traced(&jdk));
        assert!(plain.success(), "{}", plain.stdout);
        assert_same(&plain, &traced);
        let trace = suite.trace();
        // Since Java 17 the JDK looks for a logger when it starts a program.
        let lines = |class| -> Vec<String> {
            let lines = trace.of_test(class).into_iter();
            lines.filter(|line| !line.contains("Logger")).collect()
        };
        assert_eq!(lines("ProgramTest"), ["file data/one.txt", "program cat"]);
        assert_eq!(
            lines("ScriptTest"),
            ["file data/tool.sh", "program ./data/tool.sh"]
        );
        assert_eq!(lines("QuietTest"), Vec::<String>::new());
    }
}
