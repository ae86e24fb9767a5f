//! The agent is a guest: whatever a program does, it runs as without us, and
//! the trace says what it can still be trusted for.

mod windows_support;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fewest_testkit::{Jdk, maven_jars};
use fewest_trace::{Event, read_file};
use windows_support::{Stage, agent_library, assert_same, trace_files};

const MAIN: &str = "org.junit.runner.JUnitCore";

fn junit() -> Vec<PathBuf> {
    maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap()
}

/// A loader that defines what it is given, under any name.
const LOADER: &str = "
    public class Loader extends ClassLoader {
        public Class<?> define(byte[] bytes) { return defineClass(null, bytes, 0, bytes.length); }
    }";

/// Reads a class file of the class path.
const BYTES: &str = "
    import java.io.*;
    public class Bytes {
        static byte[] of(Class<?> type) throws IOException {
            try (InputStream in = type.getResourceAsStream(type.getName() + \".class\")) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                byte[] buffer = new byte[8192];
                for (int n; (n = in.read(buffer)) > 0; ) out.write(buffer, 0, n);
                return out.toByteArray();
            }
        }
    }";

const ODD: &[&str] = &[
    LOADER,
    BYTES,
    "public class Victim { public int run() { return Mark.victim(); } }",
    // Each is refused, or not, by the JVM alone.
    "import org.junit.*;
    public class OddTest {
        private static String define(byte[] bytes) {
            try { return new Loader().define(bytes).getName(); } catch (LinkageError e) { return e.getClass().getName(); }
        }
        @Test public void rejects() throws Exception {
            byte[] bytes = Bytes.of(Victim.class);
            byte[] future = bytes.clone();
            future[7] = 120;
            System.out.println(define(future));
            byte[] noMagic = bytes.clone();
            noMagic[0] = 0;
            System.out.println(define(noMagic));
            for (int length : new int[] {0, 1, 9, 40, bytes.length / 2, bytes.length - 1}) {
                System.out.println(length == 0 ? \"-\" : define(java.util.Arrays.copyOf(bytes, length)));
            }
            for (int at = 8; at < bytes.length; at++) {
                byte[] changed = bytes.clone();
                changed[at] ^= 0x55;
                System.out.println(at + \" \" + define(changed));
            }
            System.out.println(define(bytes));
        }
    }",
    "public class NextTest { @org.junit.Test public void test() { Mark.next(); } }",
];

#[test]
fn class_files_that_the_jvm_refuses_are_refused_as_without_us() {
    let stage = Stage::new(ODD, &junit());
    for jdk in Jdk::old_and_new() {
        let plain = stage
            .plain(&jdk, MAIN)
            .args(["OddTest", "NextTest"])
            .finish()
            .unwrap();
        let traced = stage
            .traced(&jdk, MAIN)
            .args(["OddTest", "NextTest"])
            .finish()
            .unwrap();
        assert!(plain.success(), "{}", plain.stdout);
        assert_same(&plain, &traced);
        let watched = stage.watched(traced);
        assert!(watched.counts("NextTest", "next"));
        // The doubts are about the test that met such classes.
        let doubts = watched.doubts();
        assert!(!doubts.is_empty());
        assert!(!watched.summary().contains("doubt Some(NextTest)"));
        assert!(!watched.summary().contains("doubt None"));
    }
}

/// A source with a method as large as the JVM allows, but for a few bytes.
fn huge() -> String {
    // `n += n` is `iload_0; iload_0; iadd; istore_0`.
    format!(
        "public class Huge {{
            static int small() {{ return Mark.small(); }}
            static int huge(int n) {{ {} return n; }}
        }}",
        "n += n; ".repeat(65_530 / 4)
    )
}

#[test]
fn a_method_that_cannot_grow_is_left_alone_and_named() {
    let huge = huge();
    let test = "public class HugeTest { @org.junit.Test public void test() { Huge.small(); Huge.huge(1); } }";
    let stage = Stage::new(&[&huge, test], &junit());
    let watched = stage.watch(&Jdk::under_test(), MAIN, &["HugeTest"]);
    assert_eq!(watched.summary(), "HugeTest passed 1: small\nambient:\n");
    let huge = watched
        .classes()
        .find(|entry| entry.name.as_str() == "Huge")
        .unwrap();
    let blind: Vec<&str> = huge
        .blind
        .iter()
        .map(|&at| &*huge.methods[at as usize].name)
        .collect();
    assert_eq!(blind, ["huge"]);
}

const ENDS: &[&str] = &[
    "public class FirstTest { @org.junit.Test public void test() { Mark.first(); } }",
    "import org.junit.*;
    public class EndTest {
        @Test public void test() throws Exception {
            Mark.end();
            switch (System.getProperty(\"end\")) {
                case \"exit\": System.exit(7);
                case \"halt\": Runtime.getRuntime().halt(8);
                case \"wait\": Thread.sleep(600_000);
                case \"memory\":
                    java.util.List<long[]> all = new java.util.ArrayList<>();
                    while (true) all.add(new long[1_000_000]);
                case \"stack\": test();
            }
        }
    }",
    "public class LastTest { @org.junit.Test public void test() { Mark.last(); } }",
];

#[test]
fn a_jvm_that_ends_in_a_test_leaves_a_trace_of_what_was_before() {
    let stage = Stage::new(ENDS, &junit());
    let jdk = Jdk::under_test();
    for (end, code) in [("exit", 7), ("halt", 8)] {
        let option = format!("-Dend={end}");
        let run = stage.traced(&jdk, MAIN).jvm_args([option]);
        let finished = run
            .args(["FirstTest", "EndTest", "LastTest"])
            .finish()
            .unwrap();
        assert_eq!(finished.code(), Some(code), "{}", finished.stderr);
        let watched = stage.watched(finished);
        assert!(watched.counts("FirstTest", "first"));
        let summary = watched.summary();
        assert!(summary.contains("FirstTest passed 1:"), "{summary}");
        assert!(summary.contains("never closed: EndTest"), "{summary}");
        // HotSpot tells agents of its death also when it is halted.
        assert!(watched.trace.is_complete(), "{summary}");
    }
}

#[test]
fn running_out_of_heap_or_stack_is_the_tests_own_failure() {
    let stage = Stage::new(ENDS, &junit());
    for end in ["memory", "stack"] {
        let options = ["-Xmx64m".to_owned(), format!("-Dend={end}")];
        let run = stage.traced(&Jdk::under_test(), MAIN).jvm_args(options);
        let finished = run
            .args(["FirstTest", "EndTest", "LastTest"])
            .finish()
            .unwrap();
        assert_eq!(finished.stderr, "");
        let watched = stage.watched(finished);
        assert_eq!(
            watched.summary(),
            "\
EndTest failed 1: end
FirstTest passed 1: first
LastTest passed 1: last
ambient:
",
            "{end}"
        );
    }
}

/// Waits until a trace tells that `class` runs. Its first window is that in
/// which its runner is built.
fn wait_for_test(folder: &Path, class: &str) -> Option<()> {
    let until = Instant::now() + Duration::from_secs(100);
    while Instant::now() < until {
        for trace in trace_files(folder) {
            let is_open = |event: &&Event| matches!(event, Event::Opened(open) if open.class.as_str() == class);
            if read_file(&trace).is_ok_and(|trace| trace.events.iter().filter(is_open).count() == 2)
            {
                return Some(());
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

#[test]
fn a_killed_jvm_leaves_a_readable_trace() {
    let stage = Stage::new(ENDS, &junit());
    let folder = stage.project.path("agent");
    let run = stage
        .traced(&Jdk::under_test(), MAIN)
        .jvm_args(["-Dend=wait"])
        .args(["FirstTest", "EndTest", "LastTest"]);
    let child = std::thread::spawn(move || run.finish().unwrap());
    wait_for_test(&folder, "EndTest").expect("the second test begins");
    let trace = read_file(&trace_files(&folder)[0]).unwrap();
    let Some(Event::Jvm(jvm)) = trace.events.first() else {
        panic!("a trace begins with its JVM");
    };
    stage
        .project
        .run("sh")
        .args(["-c".to_owned(), format!("kill -9 {}", jvm.pid)])
        .succeed()
        .unwrap();
    let finished = child.join().unwrap();
    assert_eq!(finished.status.signal(), Some(9));
    let watched = stage.watched(finished);
    assert_eq!(
        watched.summary(),
        "\
EndTest passed 0:
FirstTest passed 1: first
LastTest passed 0:
ambient:
never closed: EndTest
the trace is cut
"
    );
}

#[test]
fn an_agent_that_cannot_start_changes_nothing() {
    let stage = Stage::new(&[ENDS[0]], &junit());
    let jdk = Jdk::under_test();
    let plain = stage
        .plain(&jdk, MAIN)
        .args(["FirstTest"])
        .finish()
        .unwrap();
    let agent = agent_library();
    let broken = stage.project.write("broken.conf", "what is this\n");
    let nowhere = stage
        .project
        .write("nowhere.conf", "folder=/proc/no/such/folder\n");
    for config in [
        String::new(),
        stage.project.path("absent.conf").display().to_string(),
        broken.display().to_string(),
        nowhere.display().to_string(),
    ] {
        let option = format!("-agentpath:{}={config}", agent.display());
        let run = stage
            .plain(&jdk, MAIN)
            .jvm_args([option])
            .args(["FirstTest"]);
        assert_same(&plain, &run.finish().unwrap());
    }
    // Whoever looks for the trace finds out why there is none.
    let note = stage.project.read("broken.failed");
    assert_eq!(
        note,
        "line 1 of the configuration is not understood: `what is this`"
    );
}

/// Defines classes of 1,000 methods each, as many as asked for, and runs them.
const MILLION: &[&str] = &[
    "import java.io.*;
    public class Maker {
        /** A class of static methods that do nothing, made byte by byte. */
        static byte[] make(String name, int methods) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeInt(48);
            out.writeShort(7 + methods);
            out.writeByte(1); out.writeUTF(name);
            out.writeByte(7); out.writeShort(1);
            out.writeByte(1); out.writeUTF(\"java/lang/Object\");
            out.writeByte(7); out.writeShort(3);
            out.writeByte(1); out.writeUTF(\"()V\");
            out.writeByte(1); out.writeUTF(\"Code\");
            for (int i = 0; i < methods; i++) { out.writeByte(1); out.writeUTF(\"m\" + i); }
            out.writeShort(0x21); out.writeShort(2); out.writeShort(4);
            out.writeShort(0); out.writeShort(0); out.writeShort(methods);
            for (int i = 0; i < methods; i++) {
                out.writeShort(9); out.writeShort(7 + i); out.writeShort(5); out.writeShort(1);
                out.writeShort(6); out.writeInt(13);
                out.writeShort(0); out.writeShort(0); out.writeInt(1); out.writeByte(0xb1);
                out.writeShort(0); out.writeShort(0);
            }
            out.writeShort(0);
            return bytes.toByteArray();
        }
    }",
    LOADER,
    "public class ManyTest {
        @org.junit.Test public void test() throws Exception {
            Loader loader = new Loader();
            int classes = Integer.getInteger(\"classes\");
            for (int c = 0; c < classes; c++) {
                Class<?> type = loader.define(Maker.make(\"Many\" + c, 1000));
                type.getMethod(\"m\" + c % 1000).invoke(null);
            }
            Mark.many();
        }
    }",
    "public class NextTest { @org.junit.Test public void test() { Mark.next(); } }",
    // A runner with as many tests as asked for.
    "import java.util.*; import org.junit.runner.*; import org.junit.runner.notification.*; import org.junit.runners.*;
    public class ManyRunner extends ParentRunner<Integer> {
        public ManyRunner(Class<?> type) throws Exception { super(type); }
        protected List<Integer> getChildren() {
            List<Integer> all = new ArrayList<>();
            for (int i = 0; i < Integer.getInteger(\"tests\"); i++) all.add(i);
            return all;
        }
        protected Description describeChild(Integer n) {
            return Description.createTestDescription(getTestClass().getJavaClass(), \"test\" + n);
        }
        protected void runChild(Integer n, RunNotifier notifier) {
            Description description = describeChild(n);
            notifier.fireTestStarted(description);
            Mark.oneOfMany();
            notifier.fireTestFinished(description);
        }
    }",
    "@org.junit.runner.RunWith(ManyRunner.class) public class ManyTestsTest {}",
];

/// Runs many generated methods and many tests in one JVM.
fn run_many(classes: usize, tests: u32) {
    let stage = Stage::new(MILLION, &junit());
    let options = [format!("-Dclasses={classes}"), format!("-Dtests={tests}")];
    let run = stage
        .traced(&Jdk::under_test(), MAIN)
        .jvm_args(["-Xmx1g"])
        .jvm_args(options);
    let finished = run
        .args(["ManyTest", "ManyTestsTest", "NextTest"])
        .finish()
        .unwrap();
    assert!(
        finished
            .stdout
            .contains(&format!("OK ({} tests)", tests + 2)),
        "{}",
        finished.stdout
    );
    let watched = stage.watched(finished);
    assert_eq!(
        watched.summary(),
        format!(
            "\
ManyTest passed 1: many
ManyTestsTest passed {tests}: oneOfMany
NextTest passed 1: next
ambient:
"
        )
    );
    let made: Vec<_> = watched
        .classes()
        .filter(|entry| entry.methods.len() == 1000)
        .collect();
    assert_eq!(made.len(), classes);
    // Each ran one of its methods, whichever holder its probe is in.
    for (number, entry) in made.iter().enumerate() {
        assert_eq!(
            watched.used(entry),
            [format!("m{}", number % 1000)],
            "{}",
            entry.name
        );
    }
}

#[test]
fn many_methods_and_many_tests_fit_into_one_jvm() {
    run_many(100, 100_000);
}

#[test]
#[ignore = "takes some 15 seconds with a debug build of the agent"]
fn a_million_methods_fit_into_one_jvm() {
    run_many(1000, 1000);
}

const ALLOCATING: &[&str] = &[
    "public class AllocateTest {
        static volatile Object sink;
        @org.junit.Test public void test() {
            for (int i = 0; i < 2_000_000; i++) { sink = new byte[100]; Mark.allocate(); }
            System.gc();
            Mark.afterCollection();
        }
    }",
    "public class NextTest { @org.junit.Test public void test() { Mark.next(); System.gc(); } }",
];

#[test]
fn every_garbage_collector_leaves_the_probes_readable() {
    let stage = Stage::new(ALLOCATING, &junit());
    let options: &[(u32, &[&str])] = &[
        (8, &["-XX:+UseSerialGC"]),
        (8, &["-XX:+UseParallelGC"]),
        (8, &["-XX:+UseConcMarkSweepGC"]),
        (8, &["-XX:+UseG1GC"]),
        (11, &["-XX:+UseSerialGC"]),
        (11, &["-XX:+UseConcMarkSweepGC"]),
        (11, &["-XX:+UseG1GC"]),
        (17, &["-XX:+UseSerialGC"]),
        (17, &["-XX:+UseParallelGC"]),
        (17, &["-XX:+UseG1GC"]),
        (17, &["-XX:+UseZGC"]),
        (17, &["-XX:+UseShenandoahGC"]),
        (21, &["-XX:+UseSerialGC"]),
        (21, &["-XX:+UseG1GC"]),
        (21, &["-XX:+UseZGC", "-XX:+ZGenerational"]),
        (25, &["-XX:+UseSerialGC"]),
        (25, &["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"]),
        (25, &["-XX:+UseZGC"]),
    ];
    let jdks = Jdk::old_and_new();
    for (feature, options) in options {
        let Some(jdk) = jdks.iter().find(|jdk| jdk.feature_version() == *feature) else {
            continue;
        };
        let run = stage
            .traced(jdk, MAIN)
            .jvm_args(["-Xmx200m"])
            .jvm_args(*options);
        let watched = stage.watched(run.args(["AllocateTest", "NextTest"]).finish().unwrap());
        assert!(watched.finished.success(), "{}", watched.finished.stdout);
        assert_eq!(
            watched.summary(),
            "AllocateTest passed 1: afterCollection allocate\nNextTest passed 1: next\nambient:\n",
            "{options:?} on {feature}"
        );
    }
}

/// Archives are made without the agent, and used with it.
#[test]
fn archives_of_classes_do_not_blind_us() {
    let stage = Stage::new(ALLOCATING, &junit());
    let expected = "NextTest passed 1: next\nambient:\n";
    let archive = stage.project.path("classes.jsa").display().to_string();
    let cache = stage.project.path("classes.aot").display().to_string();
    // The JVM refuses archives of folders, so the classes go into a jar.
    let jar = Jdk::default().home().join("bin/jar");
    stage
        .project
        .run(jar)
        .args(["cf", "classes.jar", "-C", "classes", "."])
        .succeed()
        .unwrap();
    let mut jars = junit();
    jars.insert(0, stage.project.path("classes.jar"));
    let run = |jdk: &Jdk, options: &[String]| {
        fewest_testkit::JavaRun::new(jdk, MAIN)
            .jvm_args(options)
            .classpath(&jars)
            .args(["NextTest"])
            .current_dir(stage.project.root())
            .timeout(Duration::from_secs(240))
            .finish()
            .unwrap()
    };
    let at_exit = |feature| {
        (
            feature,
            vec![format!("-XX:ArchiveClassesAtExit={archive}{feature}")],
            vec![format!("-XX:SharedArchiveFile={archive}{feature}")],
        )
    };
    let cases: Vec<(u32, Vec<String>, Vec<String>)> = vec![
        at_exit(17),
        at_exit(21),
        (
            25,
            vec![
                "-XX:+AutoCreateSharedArchive".into(),
                format!("-XX:SharedArchiveFile={archive}25"),
            ],
            vec![
                "-XX:+AutoCreateSharedArchive".into(),
                format!("-XX:SharedArchiveFile={archive}25"),
            ],
        ),
        (
            25,
            vec![format!("-XX:AOTCacheOutput={cache}")],
            vec![format!("-XX:AOTCache={cache}")],
        ),
    ];
    let mut jdks = Jdk::old_and_new();
    jdks.retain(|jdk| jdk.is_at_least(13, "an archive that is made at exit"));
    for (feature, first, second) in cases {
        let Some(jdk) = jdks.iter().find(|jdk| jdk.feature_version() == feature) else {
            continue;
        };
        let made = run(jdk, &first);
        assert!(made.success(), "{}\n{}", made.stdout, made.stderr);
        let file = second.last().unwrap().rsplit_once('=').unwrap().1;
        assert!(
            fs::metadata(file).is_ok_and(|file| file.len() > 100_000),
            "{first:?} made no archive"
        );
        let mut options = second.clone();
        options.push(stage.agent_option(&[]));
        let watched = stage.watched(run(jdk, &options));
        assert!(watched.finished.success(), "{}", watched.finished.stdout);
        assert_eq!(watched.finished.stderr, "", "{second:?}");
        assert_eq!(watched.summary(), expected, "{second:?} on {feature}");
    }
}
