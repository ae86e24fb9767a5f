//! Other agents work beside ours, whichever comes first.

mod windows_support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fewest_testkit::{Finished, JavaRun, Jdk, maven_jar, maven_jars};
use windows_support::{Stage, Watched};

const MAIN: &str = "org.junit.runner.JUnitCore";

fn junit() -> Vec<PathBuf> {
    maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap()
}

/// Runs with both orders of the agents' options.
fn in_both_orders(
    stage: &Stage,
    jdk: &Jdk,
    other: &[String],
    main: &str,
    args: &[&str],
) -> [Watched; 2] {
    [true, false].map(|ours_first| {
        let ours = stage.agent_option(&[]);
        let mut options = other.to_vec();
        options.insert(if ours_first { 0 } else { other.len() }, ours);
        let run = stage
            .plain(jdk, main)
            .jvm_args(options)
            .args(args.iter().copied());
        stage.watched(run.finish().unwrap())
    })
}

fn assert_ok(finished: &Finished) {
    assert!(
        finished.success(),
        "{}\n{}",
        finished.stdout,
        finished.stderr
    );
}

const COVERED: &[&str] = &[
    "public class Shape {
        interface Named { default String name() { return kind() + \"!\"; } String kind(); }
        enum Kind { ROUND { int corners() { return 0; } }, SQUARE; int corners() { return 4; } }
        final Kind kind;
        Shape(Kind kind) { this.kind = kind; }
        int corners() {
            switch (kind) {
                case ROUND: return 0;
                case SQUARE: return kind.corners();
                default: throw new IllegalStateException();
            }
        }
        static int never(int n) { return n > 0 ? n : -n; }
        Runnable later() { return () -> System.getProperty(\"x\"); }
    }",
    "import org.junit.*;
    public class ShapeTest {
        @Test public void square() { Mark.square(); Assert.assertEquals(4, new Shape(Shape.Kind.SQUARE).corners()); }
        @Test public void lambda() { new Shape(Shape.Kind.ROUND).later().run(); }
        @Test public void name() { Assert.assertEquals(\"x!\", ((Shape.Named) () -> \"x\").name()); }
        @Test public void reflection() {
            // Instrumentation that shows would break this.
            for (java.lang.reflect.Field field : Shape.class.getDeclaredFields()) {
                if (!field.isSynthetic()) Assert.assertEquals(\"kind\", field.getName());
            }
        }
    }",
];

/// Class names with their ids and probes, as JaCoCo's own library reads them.
const READER: &str = "
    import java.io.*; import org.jacoco.core.data.*;
    public class Reader {
        public static void main(String[] args) throws Exception {
            ExecutionDataReader reader = new ExecutionDataReader(new FileInputStream(args[0]));
            reader.setSessionInfoVisitor(info -> {});
            reader.setExecutionDataVisitor(data -> {
                StringBuilder probes = new StringBuilder();
                for (boolean probe : data.getProbes()) probes.append(probe ? 1 : 0);
                System.out.println(data.getName() + \" \" + data.getId() + \" \" + probes);
            });
            reader.read();
        }
    }";

fn coverage(stage: &Stage, jdk: &Jdk, exec: &Path) -> BTreeMap<String, String> {
    let run = JavaRun::new(jdk, "Reader")
        .classpath([stage.project.path("classes")])
        .classpath(maven_jars(&["org.jacoco:org.jacoco.core:0.8.13"]).unwrap())
        .args([exec.as_os_str()])
        .succeed()
        .unwrap();
    let lines = run.stdout.lines().filter_map(|line| line.split_once(' '));
    // The agent asks the framework's objects which test they stand for.
    lines
        .filter(|(name, _)| !name.starts_with("org/junit/") && !name.starts_with("junit/"))
        .map(|(name, rest)| (name.to_owned(), rest.to_owned()))
        .collect()
}

#[test]
fn jacoco_covers_the_same_with_and_without_us() {
    let mut sources = COVERED.to_vec();
    sources.push(READER);
    let mut jars = junit();
    jars.extend(maven_jars(&["org.jacoco:org.jacoco.core:0.8.13"]).unwrap());
    let stage = Stage::new(&sources, &jars);
    let jacoco = maven_jar("org.jacoco:org.jacoco.agent:0.8.13:runtime").unwrap();
    for jdk in Jdk::old_and_new() {
        let exec = stage.project.path("jacoco.exec");
        let option = format!(
            "-javaagent:{}=destfile={},append=false",
            jacoco.display(),
            exec.display()
        );
        let plain = stage
            .plain(&jdk, MAIN)
            .jvm_args([&option])
            .args(["ShapeTest"]);
        assert_ok(&plain.finish().unwrap());
        let expected = coverage(&stage, &jdk, &exec);
        assert!(expected.contains_key("Shape$Kind"), "{expected:?}");
        fs::remove_file(&exec).unwrap();
        for watched in in_both_orders(&stage, &jdk, &[option], MAIN, &["ShapeTest"]) {
            assert_ok(&watched.finished);
            // Where JaCoCo comes first, its own method is one of the class.
            let summary = watched.summary().replace("$jacocoInit ", "");
            assert_eq!(summary, "ShapeTest passed 4: square\nambient:\n");
            // The second order has overwritten the data of the first.
            let found = coverage(&stage, &jdk, &exec);
            assert_eq!(found, expected, "JDK {}", jdk.feature_version());
        }
    }
}

const MOCKED: &[&str] = &[
    "public class Service {
        private final String name;
        public Service(String name) { Mark.serviceNew(); this.name = name; }
        public String name() { Mark.serviceName(); return name; }
        public static String shared() { Mark.serviceShared(); return \"shared\"; }
    }",
    "import static org.mockito.Mockito.*; import org.junit.*; import org.mockito.*;
    public class BeforeTest {
        @Test public void real() { Assert.assertEquals(\"a\", new Service(\"a\").name()); Service.shared(); }
    }",
    "import static org.mockito.Mockito.*; import org.junit.*; import org.mockito.*;
    public class MockTest {
        @Test public void mocks() {
            Service service = mock(Service.class);
            when(service.name()).thenReturn(\"mocked\");
            Assert.assertEquals(\"mocked\", service.name());
            try (MockedStatic<Service> statics = mockStatic(Service.class)) {
                statics.when(Service::shared).thenReturn(\"other\");
                Assert.assertEquals(\"other\", Service.shared());
            }
            try (MockedConstruction<Service> made = mockConstruction(Service.class)) {
                new Service(\"x\");
                Assert.assertEquals(1, made.constructed().size());
            }
        }
    }",
    "import org.junit.*;
    public class AfterTest {
        @Test public void real() { Assert.assertEquals(\"b\", new Service(\"b\").name()); Service.shared(); }
    }",
];

/// Mockito retransforms `Service` between two tests that use it for real.
#[test]
fn mockito_mocks_and_our_probes_stay() {
    let mut jars = junit();
    jars.extend(
        maven_jars(&[
            "org.mockito:mockito-core:5.20.0",
            "net.bytebuddy:byte-buddy:1.17.7",
            "net.bytebuddy:byte-buddy-agent:1.17.7",
            "org.objenesis:objenesis:3.3",
        ])
        .unwrap(),
    );
    let stage = Stage::with_options(&Jdk::default(), MOCKED, &jars, &["--release", "11"]);
    let classes = ["BeforeTest", "MockTest", "AfterTest"];
    let expected = "\
AfterTest passed 1: serviceName serviceNew serviceShared
BeforeTest passed 1: serviceName serviceNew serviceShared
MockTest passed 1:
ambient:
";
    let jdks: Vec<Jdk> = Jdk::old_and_new()
        .into_iter()
        .filter(|jdk| jdk.is_at_least(11, "Mockito 5"))
        .collect();
    let Some(newest) = jdks.last() else { return };
    for jdk in &jdks {
        let watched = stage.trace(jdk, MAIN, &classes);
        assert_ok(&watched.finished);
        assert_eq!(watched.summary(), expected);
        let numbers: Vec<_> = watched
            .classes()
            .filter(|entry| entry.name.as_str() == "Service")
            .collect();
        assert!(
            numbers
                .iter()
                .all(|entry| entry.first_probe == numbers[0].first_probe)
        );
    }
    let mockito = maven_jar("org.mockito:mockito-core:5.20.0").unwrap();
    let option = format!("-javaagent:{}", mockito.display());
    for watched in in_both_orders(&stage, newest, &[option], MAIN, &classes) {
        assert_ok(&watched.finished);
        assert_eq!(watched.summary(), expected);
    }
}

const REDEFINED: &[&str] = &[
    "public class Greeting { public String text() { Mark.greeting(); return \"hello\"; } }",
    "import net.bytebuddy.*; import net.bytebuddy.agent.ByteBuddyAgent; import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;
    import net.bytebuddy.implementation.FixedValue; import static net.bytebuddy.matcher.ElementMatchers.named; import org.junit.*;
    public class RedefineTest {
        @Test public void redefines() throws Exception {
            Assert.assertEquals(\"hello\", new Greeting().text());
            ByteBuddyAgent.install();
            ClassReloadingStrategy strategy = ClassReloadingStrategy.fromInstalledAgent();
            new ByteBuddy().redefine(Greeting.class).method(named(\"text\")).intercept(FixedValue.value(\"bye\"))
                .make().load(Greeting.class.getClassLoader(), strategy);
            Assert.assertEquals(\"bye\", new Greeting().text());
            strategy.reset(Greeting.class);
            Assert.assertEquals(\"hello\", new Greeting().text());
        }
    }",
    "import org.junit.*;
    public class LaterTest { @Test public void test() { Assert.assertEquals(\"hello\", new Greeting().text()); } }",
];

#[test]
fn byte_buddy_redefines_a_loaded_class() {
    let mut jars = junit();
    jars.extend(
        maven_jars(&[
            "net.bytebuddy:byte-buddy:1.17.7",
            "net.bytebuddy:byte-buddy-agent:1.17.7",
        ])
        .unwrap(),
    );
    let stage = Stage::new(REDEFINED, &jars);
    let run = stage
        .traced(&Jdk::under_test(), MAIN)
        .args(["RedefineTest", "LaterTest"]);
    let watched = stage.watched(run.finish().unwrap());
    assert_ok(&watched.finished);
    assert_eq!(
        watched.summary(),
        "LaterTest passed 1: greeting\nRedefineTest passed 1: greeting\nambient:\n"
    );
}

const OWN_AGENT: &[&str] = &[
    // Retransforms everything that is loaded, and everything that comes, and
    // makes a lasting change: a constant becomes another.
    "import java.lang.instrument.*; import java.security.ProtectionDomain;
    public class OwnAgent implements ClassFileTransformer {
        static Instrumentation instrumentation;
        public static void premain(String options, Instrumentation given) {
            instrumentation = given;
            given.addTransformer(new OwnAgent(), true);
        }
        public byte[] transform(ClassLoader loader, String name, Class<?> again, ProtectionDomain domain, byte[] bytes) {
            if (name == null || !name.equals(\"Greeting\")) return null;
            byte[] changed = bytes.clone();
            for (int i = 0; i + 5 <= changed.length; i++) {
                if (new String(changed, i, 5, java.nio.charset.StandardCharsets.ISO_8859_1).equals(\"hello\")) {
                    changed[i] = 'j';
                }
            }
            return changed;
        }
        static void retransformAll() {
            for (Class<?> type : instrumentation.getAllLoadedClasses()) {
                if (instrumentation.isModifiableClass(type) && !type.getName().startsWith(\"java.\")
                    && !type.getName().startsWith(\"jdk.\") && !type.getName().startsWith(\"sun.\")) {
                    try { instrumentation.retransformClasses(type); }
                    catch (UnmodifiableClassException e) { throw new AssertionError(e); }
                }
            }
        }
    }",
    "public class Greeting { public String text() { Mark.greeting(); return \"hello\"; } }",
    "import org.junit.*;
    public class OneTest {
        @Test public void test() {
            Assert.assertEquals(\"jello\", new Greeting().text());
            OwnAgent.retransformAll();
            Assert.assertEquals(\"jello\", new Greeting().text());
        }
    }",
    "import org.junit.*;
    public class TwoTest { @Test public void test() { Mark.two(); Assert.assertEquals(\"jello\", new Greeting().text()); } }",
];

#[test]
fn an_agent_that_retransforms_everything_leaves_our_probes() {
    let stage = Stage::new(OWN_AGENT, &junit());
    let manifest = "Premain-Class: OwnAgent\nCan-Retransform-Classes: true\n";
    stage.project.write("manifest", manifest);
    let jdk = Jdk::under_test();
    let jar = jdk.home().join("bin/jar");
    stage
        .project
        .run(jar)
        .args([
            "cfm",
            "own-agent.jar",
            "manifest",
            "-C",
            "classes",
            "OwnAgent.class",
        ])
        .succeed()
        .unwrap();
    let option = format!(
        "-javaagent:{}",
        stage.project.path("own-agent.jar").display()
    );
    for watched in in_both_orders(&stage, &jdk, &[option], MAIN, &["OneTest", "TwoTest"]) {
        assert_ok(&watched.finished);
        assert_eq!(
            watched.summary(),
            "OneTest passed 1: greeting\nTwoTest passed 1: greeting two\nambient:\n"
        );
    }
}
