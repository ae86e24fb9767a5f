//! What belongs to which test class on the JUnit Platform.

mod windows_support;

use std::path::PathBuf;

use fewest_testkit::{Jdk, maven_jar, maven_jars};
use windows_support::Stage;

fn console(version: &str) -> Vec<PathBuf> {
    let name = format!("org.junit.platform:junit-platform-console-standalone:{version}");
    vec![maven_jar(&name).unwrap()]
}

const MAIN: &str = "org.junit.platform.console.ConsoleLauncher";

/// The versions that run on the JDK under test, by those of the platform.
fn versions<'a>(all: &[&'a str]) -> Vec<&'a str> {
    let jdk = Jdk::under_test();
    let runs = |version: &&str| !version.starts_with("6.") || jdk.is_at_least(17, "JUnit 6");
    all.iter().copied().filter(runs).collect()
}

/// The console's arguments, which got subcommands with 1.10.
fn arguments<'a>(version: &str, classes: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let old = ["1.0.", "1.2.", "1.3.", "1.9."]
        .iter()
        .any(|old| version.starts_with(old));
    let mut arguments = if old {
        vec!["--disable-ansi-colors"]
    } else {
        vec!["execute", "--disable-banner", "--disable-ansi-colors"]
    };
    arguments.extend(classes.iter().flat_map(|class| ["-c", class]));
    arguments.extend(more);
    arguments
}

/// What every version from 5.0 on has.
const FIRST: &[&str] = &[
    "import org.junit.jupiter.api.*; import org.junit.jupiter.api.extension.*;
    @ExtendWith(PlainExtension.class)
    public class PlainTest extends PlainBase implements Contract {
        static { Mark.plainStatic(); }
        public PlainTest() { Mark.plainConstructor(); }
        @BeforeAll static void up() { Mark.plainBeforeAll(); }
        @AfterAll static void down() { Mark.plainAfterAll(); }
        @BeforeEach void before() { Mark.plainBefore(); }
        @AfterEach void after() { Mark.plainAfter(); }
        @Test void one() { Mark.plainOne(); }
        @Nested class Inner {
            Inner() { Mark.innerConstructor(); }
            @Test void test() { Mark.inner(); }
            @Nested class Innermost { @Test void test() { Mark.innermost(); } }
        }
    }",
    "public abstract class PlainBase {
        @org.junit.jupiter.api.Test void inherited() { Mark.plainInherited(); }
    }",
    "public interface Contract {
        @org.junit.jupiter.api.Test default void contract() { Mark.contract(); }
    }",
    "import org.junit.jupiter.api.extension.*;
    public class PlainExtension implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, ExecutionCondition, TestInstancePostProcessor {
        static { Mark.extensionStatic(); }
        public void beforeAll(ExtensionContext c) { Mark.extensionBeforeAll(); }
        public void afterAll(ExtensionContext c) { Mark.extensionAfterAll(); }
        public void beforeEach(ExtensionContext c) { Mark.extensionBeforeEach(); }
        public void postProcessTestInstance(Object o, ExtensionContext c) { Mark.extensionInstance(); }
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext c) {
            Mark.extensionCondition();
            return ConditionEvaluationResult.enabled(\"\");
        }
    }",
    "import java.util.stream.Stream; import org.junit.jupiter.api.*;
    import org.junit.jupiter.params.ParameterizedTest; import org.junit.jupiter.params.provider.*;
    public class ParamTest {
        static Stream<Integer> data() { Mark.paramData(); return Stream.of(1, 2); }
        @ParameterizedTest @MethodSource(\"data\") void inside(int n) { Mark.paramInside(); }
        @ParameterizedTest @ArgumentsSource(Provider.class) void outside(int n) { Mark.paramOutside(); }
        @RepeatedTest(2) void repeated() { Mark.repeated(); }
    }",
    "import java.util.stream.Stream; import org.junit.jupiter.api.extension.*; import org.junit.jupiter.params.provider.*;
    public class Provider implements ArgumentsProvider {
        public Stream<? extends Arguments> provideArguments(ExtensionContext c) {
            Mark.provider();
            return Stream.of(3).map(n -> () -> new Object[] {n});
        }
    }",
    "import java.util.stream.Stream; import org.junit.jupiter.api.*;
    public class DynamicsTest {
        @TestFactory Stream<DynamicNode> dynamic() {
            Mark.dynamicFactory();
            return Stream.of(
                DynamicTest.dynamicTest(\"a\", () -> Mark.dynamicA()),
                DynamicContainer.dynamicContainer(\"c\", Stream.of(DynamicTest.dynamicTest(\"b\", () -> Mark.dynamicB()))));
        }
    }",
    "import java.util.*; import java.util.stream.Stream; import org.junit.jupiter.api.*; import org.junit.jupiter.api.extension.*;
    public class TemplateTest {
        @TestTemplate @ExtendWith(Twice.class) void test() { Mark.template(); }
        static class Twice implements TestTemplateInvocationContextProvider {
            public boolean supportsTestTemplate(ExtensionContext c) { return true; }
            public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext c) {
                Mark.templateContexts();
                return Stream.of(new TestTemplateInvocationContext() {}, new TestTemplateInvocationContext() {});
            }
        }
    }",
    "import org.junit.jupiter.api.*;
    public class FailTest {
        @Test void bad() { Mark.failBad(); Assertions.fail(\"\"); }
        @Test void good() { Mark.failGood(); }
    }",
    "import org.junit.jupiter.api.*;
    public class FailUpTest {
        @BeforeAll static void up() { Mark.failUp(); throw new IllegalStateException(); }
        @Test void test() { Mark.never(); }
    }",
    "public class FailStaticTest {
        static { Mark.failStatic(); if (true) throw new IllegalStateException(); }
        @org.junit.jupiter.api.Test void test() { Mark.never(); }
    }",
    "import org.junit.jupiter.api.*;
    @Disabled public class DisabledTest {
        static { Mark.never(); }
        @Test void test() { Mark.never(); }
    }",
    "import org.junit.jupiter.api.*;
    public class PartDisabledTest {
        @Test void on() { Mark.partDisabledOn(); }
        @Nested class Inner { @Disabled @Test void off() { Mark.never(); } }
    }",
    "import org.junit.jupiter.api.*;
    public class AssumeTest {
        @Test void no() { Mark.assumeNo(); Assumptions.assumeTrue(false); }
        @Test void yes() { Mark.assumeYes(); }
    }",
];

const FIRST_CLASSES: &[&str] = &[
    "PlainTest",
    "ParamTest",
    "DynamicsTest",
    "TemplateTest",
    "FailTest",
    "FailUpTest",
    "FailStaticTest",
    "DisabledTest",
    "PartDisabledTest",
    "AssumeTest",
];

const VERSIONS: &[&str] = &["1.0.3", "1.2.0", "1.3.2", "1.9.3", "1.13.4", "6.0.1"];

#[test]
fn jupiter_from_5_0_to_6() {
    let mut stage = Stage::new(FIRST, &console("1.0.3"));
    for version in versions(VERSIONS) {
        stage.set_jars(&console(version));
        let arguments = arguments(version, FIRST_CLASSES, &[]);
        let watched = match version {
            "1.0.3" | "6.0.1" => stage.watch(&Jdk::under_test(), MAIN, &arguments),
            _ => stage.trace(&Jdk::under_test(), MAIN, &arguments),
        };
        assert_eq!(
            watched.summary(),
            "\
AssumeTest skipped 2: assumeNo assumeYes
DisabledTest passed 1:
DynamicsTest passed 2: dynamicA dynamicB dynamicFactory
FailStaticTest failed 1: failStatic
FailTest failed 2: failBad failGood
FailUpTest failed 0: failUp
ParamTest passed 5: paramData paramInside paramOutside provider repeated
PartDisabledTest passed 2: partDisabledOn
PlainTest passed 5: contract extensionAfterAll extensionBeforeAll extensionBeforeEach \
            extensionCondition extensionInstance extensionStatic inner innerConstructor innermost \
            plainAfter plainAfterAll plainBefore plainBeforeAll plainConstructor plainInherited \
            plainOne plainStatic
TemplateTest passed 2: template templateContexts
ambient:
",
            "Platform {version}"
        );
    }
}

#[test]
fn jupiter_leaves_classes_out() {
    let mut stage = Stage::new(FIRST, &console("1.0.3"));
    let out = [
        "PlainTest",
        "ParamTest",
        "DynamicsTest",
        "TemplateTest",
        "FailTest",
        "FailStaticTest",
        "DisabledTest",
    ];
    for version in versions(&["1.0.3", "1.2.0", "1.3.2", "6.0.1"]) {
        stage.set_jars(&console(version));
        let arguments = arguments(version, FIRST_CLASSES, &["--reports-dir", "reports"]);
        let watched = stage.leave_out(&Jdk::under_test(), MAIN, &arguments, &out);
        // The windows of those that did not run come from the vintage engine,
        // which looks whether it is responsible.
        assert_eq!(
            watched.summary(),
            "\
AssumeTest skipped 2: assumeNo assumeYes
DisabledTest passed 0 left-out:
DynamicsTest passed 0 left-out:
FailStaticTest passed 0 left-out:
FailTest passed 0 left-out:
FailUpTest failed 0: failUp
ParamTest passed 0 left-out:
PartDisabledTest passed 2: partDisabledOn
PlainTest passed 0 left-out:
TemplateTest passed 0 left-out:
ambient:
",
            "Platform {version}"
        );
        let said = &watched.finished.stdout;
        assert!(said.contains("2 tests successful"), "{said}");
        assert!(said.contains("0 tests failed"), "{said}");
        // Reports take silence for success, so they are told.
        let report = stage.project.read("reports/TEST-junit-jupiter.xml");
        let skipped = "parent was skipped: fewest: nothing that it uses has changed";
        assert!(report.matches(skipped).count() >= 9, "{report}");
    }
}

const LATER: &[&str] = &[
    "import org.junit.jupiter.api.*; import org.junit.jupiter.api.extension.*;
    public class RegisteredTest {
        @RegisterExtension static final BeforeAllCallback CLASS = context -> Mark.registeredAll();
        @RegisterExtension final BeforeEachCallback each = context -> Mark.registeredEach();
        @Test void test() { Mark.registered(); }
    }",
    "import java.time.Duration; import org.junit.jupiter.api.*;
    public class PreemptiveTest {
        @Test void test() {
            Assertions.assertTimeoutPreemptively(Duration.ofMinutes(1), () -> { Mark.preemptive(); });
        }
    }",
    "import org.junit.Test; import org.junit.runners.Parameterized;
    @org.junit.runner.RunWith(Parameterized.class)
    public class OldParamTest {
        static { Mark.oldParamStatic(); }
        public OldParamTest(int n) {}
        @Parameterized.Parameters public static java.util.Collection<Object[]> data() {
            Mark.oldParamData();
            return java.util.Arrays.asList(new Object[] {1}, new Object[] {2});
        }
        @Test public void test() { Mark.oldParam(); }
    }",
    "public class OldFailTest {
        @org.junit.BeforeClass public static void up() { Mark.oldFailUp(); throw new Error(); }
        @org.junit.Test public void test() {}
    }",
    "@org.junit.Ignore public class OldIgnoredTest { @org.junit.Test public void test() {} }",
    "public class OldPlainTest extends junit.framework.TestCase {
        public void testOne() { Mark.oldPlain(); }
    }",
];

const LATER_CLASSES: &[&str] = &[
    "RegisteredTest",
    "PreemptiveTest",
    "OldParamTest",
    "OldFailTest",
    "OldIgnoredTest",
    "OldPlainTest",
];

fn with_junit_4(version: &str) -> Vec<PathBuf> {
    let mut jars = console(version);
    jars.extend(maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap());
    jars
}

#[test]
fn extensions_and_the_vintage_engine() {
    let mut stage = Stage::new(LATER, &with_junit_4("1.3.2"));
    for version in versions(&["1.3.2", "6.0.1"]) {
        stage.set_jars(&with_junit_4(version));
        let arguments = arguments(version, LATER_CLASSES, &[]);
        let watched = stage.watch(&Jdk::under_test(), MAIN, &arguments);
        assert_eq!(
            watched.summary(),
            "\
OldFailTest failed 0: oldFailUp
OldIgnoredTest passed 2:
OldParamTest passed 2: oldParam oldParamData oldParamStatic
OldPlainTest passed 1: oldPlain
PreemptiveTest passed 1: preemptive
RegisteredTest passed 1: registered registeredAll registeredEach
ambient:
",
            "Platform {version}"
        );
        let out = [
            "OldParamTest",
            "OldFailTest",
            "OldPlainTest",
            "RegisteredTest",
        ];
        let watched = stage.leave_out(&Jdk::under_test(), MAIN, &arguments, &out);
        // The vintage engine asks for parameters while it looks for tests.
        assert_eq!(
            watched.summary(),
            "\
OldFailTest passed 0 left-out:
OldIgnoredTest passed 2:
OldParamTest passed 0 left-out: oldParamData oldParamStatic
OldPlainTest passed 0 left-out:
PreemptiveTest passed 1: preemptive
RegisteredTest passed 0 left-out:
ambient:
",
            "Platform {version}"
        );
        let said = &watched.finished.stdout;
        assert!(
            said.contains("1 tests successful") && said.contains("0 tests failed"),
            "{said}"
        );
    }
}

const PARALLEL: &[&str] = &[
    "import org.junit.jupiter.api.*;
    public class OneTest {
        @BeforeAll static void up() throws Exception { Mark.oneUp(); Meet.meet(); }
        @Test void a() { Mark.oneA(); }
        @Test void b() { Mark.oneB(); }
        @AfterAll static void down() { Mark.oneDown(); }
    }",
    "import org.junit.jupiter.api.*;
    public class TwoTest {
        @BeforeAll static void up() throws Exception { Mark.twoUp(); Meet.meet(); }
        @Test void a() { Mark.twoA(); Assertions.fail(\"\"); }
        @Test void b() { Mark.twoB(); }
    }",
    "import org.junit.jupiter.api.*;
    public class ThreeTest {
        @Test void a() { Mark.threeA(); }
        @Disabled @Test void b() { Mark.never(); }
    }",
    "public class Meet {
        static final java.util.concurrent.CyclicBarrier BARRIER = new java.util.concurrent.CyclicBarrier(2);
        static void meet() throws Exception { BARRIER.await(1, java.util.concurrent.TimeUnit.MINUTES); }
    }",
];

#[test]
fn parallel_classes_share_what_ran_at_the_same_time() {
    let mut stage = Stage::new(PARALLEL, &console("1.3.2"));
    let parallel = [
        "--config=junit.jupiter.execution.parallel.enabled=true",
        "--config=junit.jupiter.execution.parallel.mode.default=concurrent",
        "--config=junit.jupiter.execution.parallel.config.strategy=fixed",
        "--config=junit.jupiter.execution.parallel.config.fixed.parallelism=4",
        "--details=none",
    ];
    for version in versions(&["1.3.2", "1.13.4", "6.0.1"]) {
        stage.set_jars(&console(version));
        let arguments = arguments(version, &["OneTest", "TwoTest", "ThreeTest"], &parallel);
        let watched = stage.trace(&Jdk::under_test(), MAIN, &arguments);
        assert_eq!(
            watched.outcomes(),
            "OneTest passed 2\nThreeTest passed 2\nTwoTest failed 2\nambient\n",
            "Platform {version}"
        );
        for mark in ["oneUp", "oneA", "oneB", "oneDown"] {
            assert!(watched.counts("OneTest", mark), "{mark}");
        }
        for mark in ["twoUp", "twoA", "twoB"] {
            assert!(watched.counts("TwoTest", mark), "{mark}");
        }
        assert!(watched.counts("ThreeTest", "threeA"));
    }
}

const SUITE: &[&str] = &[
    "import org.junit.platform.suite.api.*;
    @Suite @SelectClasses({PartTest.class, PartFailTest.class, OldPartTest.class})
    public class AllTests {}",
    "import org.junit.jupiter.api.*;
    public class PartTest { @Test void test() { Mark.part(); } @Nested class Inner { @Test void test() {} } }",
    "public class PartFailTest { @org.junit.jupiter.api.Test void test() { throw new Error(); } }",
    "public class OldPartTest { @org.junit.Test public void test() { Mark.oldPart(); } }",
];

#[test]
fn a_suite_of_the_platform_has_a_window_and_its_parts_have_theirs() {
    let mut stage = Stage::new(SUITE, &with_junit_4("1.9.3"));
    let versions = versions(&["1.9.3", "6.0.1"]);
    for version in &versions {
        stage.set_jars(&with_junit_4(version));
        let arguments = arguments(version, &["AllTests"], &[]);
        let watched = stage.watch(&Jdk::under_test(), MAIN, &arguments);
        assert_eq!(
            watched.summary(),
            "\
AllTests failed 0: oldPart part
OldPartTest passed 1: oldPart
PartFailTest failed 1:
PartTest passed 2: part
ambient:
",
            "Platform {version}"
        );
    }
    let newest = versions.last().expect("1.9.3 runs on every JDK");
    let arguments = arguments(newest, &["AllTests"], &[]);
    let out = ["PartTest", "OldPartTest"];
    let watched = stage.leave_out(&Jdk::under_test(), MAIN, &arguments, &out);
    assert_eq!(
        watched.summary(),
        "\
AllTests failed 0:
OldPartTest passed 0 left-out:
PartFailTest failed 1:
PartTest passed 0 left-out:
ambient:
doubt Some(AllTests): a part of it was left out
doubt Some(AllTests): a part of it was left out
"
    );
}

/// The platform lets it through when memory runs out, and tells nobody how the
/// test ended.
#[test]
fn a_test_that_ends_the_launcher_is_unfinished() {
    let sources = [
        "import org.junit.jupiter.api.*;
        public class EarlyTest { @Test void test() { Mark.early(); } }",
        "import org.junit.jupiter.api.*;
        public class GreedyTest {
            @Test void test() { Mark.greedy(); throw new OutOfMemoryError(); }
        }",
    ];
    for version in versions(&["1.3.2", "1.9.3", "6.0.1"]) {
        let stage = Stage::new(&sources, &console(version));
        let arguments = arguments(version, &["EarlyTest", "GreedyTest"], &[]);
        let watched = stage.trace(&Jdk::under_test(), MAIN, &arguments);
        assert_eq!(
            watched.summary(),
            "\
EarlyTest passed 1: early
GreedyTest unfinished 0: greedy
ambient:
",
            "Platform {version}"
        );
    }
}
