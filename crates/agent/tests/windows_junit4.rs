//! What belongs to which test class in JUnit 3 and JUnit 4.

mod windows_support;

use std::path::PathBuf;

use fewest_testkit::{Jdk, maven_jars};
use windows_support::Stage;

const CORE: &[&str] = &[
    "import org.junit.*;
    public class PlainTest extends PlainBase {
        static { Mark.plainStatic(); }
        public PlainTest() { Mark.plainConstructor(); }
        @BeforeClass public static void up() { Mark.plainBeforeClass(); }
        @AfterClass public static void down() { Mark.plainAfterClass(); }
        @Before public void before() { Mark.plainBefore(); }
        @After public void after() { Mark.plainAfter(); }
        @Test public void one() { Mark.plainOne(); }
        @Test public void two() { Mark.plainTwo(); }
    }",
    "public abstract class PlainBase {
        @org.junit.Test public void inherited() { Mark.plainInherited(); }
    }",
    "import java.util.*; import org.junit.*; import org.junit.runners.Parameterized;
    @org.junit.runner.RunWith(Parameterized.class)
    public class ParamTest {
        static { Mark.paramStatic(); }
        public ParamTest(int n) { Mark.paramConstructor(); }
        @Parameterized.Parameters public static Collection<Object[]> data() {
            Mark.paramData();
            return Arrays.asList(new Object[] {1}, new Object[] {2});
        }
        @Test public void test() { Mark.paramTest(); }
    }",
    "@org.junit.Ignore public class IgnoredTest {
        static { Mark.ignoredStatic(); }
        @org.junit.Test public void test() { Mark.never(); }
    }",
    "import org.junit.*;
    public class PartIgnoredTest {
        @Ignore @Test public void off() { Mark.never(); }
        @Test public void on() { Mark.partIgnoredOn(); }
    }",
    "public class FailTest {
        @org.junit.Test public void bad() { Mark.failBad(); org.junit.Assert.fail(); }
        @org.junit.Test public void good() { Mark.failGood(); }
    }",
    "import org.junit.*;
    public class FailUpTest {
        @BeforeClass public static void up() { Mark.failUp(); throw new IllegalStateException(); }
        @Test public void test() { Mark.never(); }
    }",
    "import org.junit.*;
    public class FailDownTest {
        @AfterClass public static void down() { Mark.failDown(); throw new IllegalStateException(); }
        @Test public void test() { Mark.failDownTest(); }
    }",
    "public class FailNewTest {
        public FailNewTest() { Mark.failNew(); throw new IllegalStateException(); }
        @org.junit.Test public void test() { Mark.never(); }
    }",
    "public class EmptyTest { static { Mark.emptyStatic(); } }",
    "public class OldTest extends junit.framework.TestCase {
        static { Mark.oldStatic(); }
        public OldTest(String name) { super(name); Mark.oldConstructor(); }
        protected void setUp() { Mark.oldSetUp(); }
        public void testOne() { Mark.oldOne(); }
        public void testTwo() { Mark.oldTwo(); }
    }",
    "public class OldFailTest extends junit.framework.TestCase {
        public void testOne() { Mark.oldFailOne(); fail(); }
    }",
    "import junit.framework.*;
    public class OldAllTest {
        static { Mark.oldAllStatic(); }
        public static Test suite() {
            Mark.oldAllSuite();
            TestSuite suite = new TestSuite(\"all of them\");
            suite.addTestSuite(OldPartTest.class);
            return suite;
        }
    }",
    "public class OldPartTest extends junit.framework.TestCase {
        public OldPartTest() { Mark.oldPartConstructor(); }
        public void testPart() { Mark.oldPart(); }
    }",
    "import org.junit.runners.Suite;
    @org.junit.runner.RunWith(Suite.class)
    @Suite.SuiteClasses({PartTest.class, PartFailTest.class})
    public class AllTests {
        static { Mark.allStatic(); }
        @org.junit.BeforeClass public static void up() { Mark.allUp(); }
    }",
    "public class PartTest { @org.junit.Test public void test() { Mark.part(); } }",
    "public class PartFailTest { @org.junit.Test public void test() { Mark.partFail(); throw new Error(); } }",
];

const CORE_CLASSES: &[&str] = &[
    "PlainTest",
    "ParamTest",
    "IgnoredTest",
    "PartIgnoredTest",
    "FailTest",
    "FailUpTest",
    "FailDownTest",
    "FailNewTest",
    "EmptyTest",
    "OldTest",
    "OldFailTest",
    "OldAllTest",
    "AllTests",
];

/// `JUnitCore` initializes all classes before it asks for their runners, so
/// static initializers are ambient, and inherited by the users of the class.
const CORE_SUMMARY: &str = "\
AllTests failed 0: allStatic allUp part partFail
EmptyTest failed 1: emptyStatic
FailDownTest failed 1: failDown failDownTest
FailNewTest failed 1: failNew
FailTest failed 2: failBad failGood
FailUpTest failed 0: failUp
IgnoredTest passed 1: ignoredStatic
OldAllTest passed 0: oldAllStatic oldAllSuite oldPartConstructor
OldFailTest failed 1: oldFailOne
OldPartTest passed 1: oldPart oldPartConstructor
OldTest passed 2: oldConstructor oldOne oldSetUp oldStatic oldTwo
ParamTest passed 2: paramConstructor paramData paramStatic paramTest
PartFailTest failed 1: partFail
PartIgnoredTest passed 2: partIgnoredOn
PartTest passed 1: part
PlainTest passed 3: plainAfter plainAfterClass plainBefore plainBeforeClass plainConstructor plainInherited plainOne plainStatic plainTwo
ambient: allStatic emptyStatic ignoredStatic oldAllStatic oldStatic paramStatic plainStatic
";

fn junit(version: &str) -> Vec<PathBuf> {
    let junit = format!("junit:junit:{version}");
    maven_jars(&[&junit, "org.hamcrest:hamcrest-core:1.3"]).unwrap()
}

const CORE_MAIN: &str = "org.junit.runner.JUnitCore";

#[test]
fn junit_4_from_4_4_to_4_13() {
    let mut stage = Stage::new(CORE, &junit("4.4"));
    for version in ["4.4", "4.8.2", "4.12", "4.13.2"] {
        stage.set_jars(&junit(version));
        let watched = stage.watch(&Jdk::under_test(), CORE_MAIN, CORE_CLASSES);
        assert_eq!(watched.summary(), CORE_SUMMARY, "JUnit {version}");
    }
}

/// `@Parameters` and static initializers are the framework's to run before it
/// asks for the class; constructors and tests do not run.
#[test]
fn junit_4_leaves_classes_out() {
    let mut stage = Stage::new(CORE, &junit("4.4"));
    let out = [
        "PlainTest",
        "ParamTest",
        "OldTest",
        "FailTest",
        "PartFailTest",
        "OldPartTest",
    ];
    let classes = [
        "PlainTest",
        "ParamTest",
        "PartIgnoredTest",
        "FailTest",
        "OldTest",
        "OldAllTest",
        "AllTests",
    ];
    for version in ["4.4", "4.13.2"] {
        stage.set_jars(&junit(version));
        let watched = stage.leave_out(&Jdk::under_test(), CORE_MAIN, &classes, &out);
        assert_eq!(
            watched.summary(),
            "\
AllTests passed 0: allStatic allUp part
FailTest passed 0 left-out:
OldAllTest passed 0: oldAllStatic oldAllSuite oldPartConstructor
OldPartTest passed 0 left-out: oldPartConstructor
OldTest passed 0 left-out: oldConstructor oldStatic
ParamTest passed 0 left-out: paramData paramStatic
PartFailTest passed 0 left-out:
PartIgnoredTest passed 2: partIgnoredOn
PartTest passed 1: part
PlainTest passed 0 left-out: plainStatic
ambient: allStatic oldAllStatic oldStatic paramStatic plainStatic
doubt Some(AllTests): a part of it was left out
",
            "JUnit {version}"
        );
        assert!(watched.finished.stdout.contains("OK (2 tests)"));
        assert_eq!(watched.finished.stderr, "");
    }
}

#[test]
fn junit_3_by_its_own_runner() {
    let sources = CORE.iter().copied();
    let sources: Vec<&str> = sources
        .filter(|source| source.contains("class Old"))
        .collect();
    let main = "junit.textui.TestRunner";
    let jdk = Jdk::under_test();
    let mut stage = Stage::new(&sources, &junit("3.8.1"));
    let single = stage.watch(&jdk, main, &["OldTest"]).summary();
    assert_eq!(
        single,
        "\
OldTest passed 2: oldConstructor oldOne oldSetUp oldStatic oldTwo
ambient: oldStatic
"
    );
    let failing = stage.watch(&jdk, main, &["OldFailTest"]).summary();
    assert_eq!(failing, "OldFailTest failed 1: oldFailOne\nambient:\n");
    for version in ["3.8.1", "4.13.2"] {
        stage.set_jars(&junit(version));
        let all = stage.watch(&jdk, main, &["OldAllTest"]).summary();
        assert_eq!(
            all,
            "\
OldPartTest passed 1: oldPart oldPartConstructor
ambient: oldAllStatic oldAllSuite
"
        );
        let watched = stage.leave_out(&jdk, main, &["OldAllTest"], &["OldPartTest"]);
        assert_eq!(
            watched.summary(),
            "\
OldPartTest passed 0 left-out: oldPartConstructor
ambient: oldAllStatic oldAllSuite
"
        );
        assert!(watched.finished.stdout.contains("OK (0 tests)"));
    }
}

const NEWER: &[&str] = &[
    "import org.junit.*; import org.junit.rules.*; import org.junit.runner.Description; import org.junit.runners.model.Statement;
    public class RuleTest {
        @ClassRule public static final ExternalResource CLASS_RULE = new ExternalResource() {
            protected void before() { Mark.ruleBeforeClass(); }
            protected void after() { Mark.ruleAfterClass(); }
        };
        @Rule public final TestRule rule = new TestRule() {
            public Statement apply(Statement base, Description description) {
                Mark.ruleApply();
                return base;
            }
        };
        @Rule public final TestName name = new TestName();
        @Test public void test() { Mark.ruleTest(); }
    }",
    "import org.junit.Test; import org.junit.experimental.runners.Enclosed;
    @org.junit.runner.RunWith(Enclosed.class)
    public class EnclosedTest {
        public static class One { @Test public void test() { Mark.enclosedOne(); } }
        public static class Two {
            static { Mark.enclosedTwoStatic(); }
            @Test public void test() { Mark.enclosedTwo(); }
        }
    }",
    "import org.junit.experimental.theories.*;
    @org.junit.runner.RunWith(Theories.class)
    public class TheoryTest {
        @DataPoints public static int[] points() { Mark.theoryPoints(); return new int[] {1, 2}; }
        @Theory public void theory(int n) { Mark.theory(); }
    }",
    "import org.junit.runner.*; import org.junit.runner.notification.*;
    public class OwnRunner extends Runner {
        private final Class<?> type;
        public OwnRunner(Class<?> type) { Mark.ownBuild(); this.type = type; }
        public Description getDescription() {
            Description all = Description.createSuiteDescription(type);
            all.addChild(Description.createTestDescription(type, \"own\"));
            return all;
        }
        public void run(RunNotifier notifier) {
            Mark.ownRun();
            Description test = Description.createTestDescription(type, \"own\");
            notifier.fireTestStarted(test);
            new OwnTest().anything();
            notifier.fireTestFinished(test);
        }
    }",
    "@org.junit.runner.RunWith(OwnRunner.class)
    public class OwnTest { void anything() { Mark.ownTest(); } }",
    // It gives itself and its tests names that are no classes.
    "import org.junit.runner.*; import org.junit.runner.notification.*; import org.junit.runners.*;
    public class FeatureRunner extends ParentRunner<String> {
        public FeatureRunner(Class<?> type) throws Exception { super(type); }
        protected java.util.List<String> getChildren() { return java.util.Arrays.asList(\"a\", \"b\"); }
        protected Description describeChild(String child) {
            return Description.createTestDescription(\"Feature\", child, child);
        }
        protected void runChild(String child, RunNotifier notifier) {
            notifier.fireTestStarted(describeChild(child));
            Mark.feature();
            if (child.equals(\"b\")) notifier.fireTestFailure(new Failure(describeChild(child), new Error()));
            notifier.fireTestFinished(describeChild(child));
        }
    }",
    "@org.junit.runner.RunWith(FeatureRunner.class) public class FeatureTest {}",
    "import org.junit.*; import org.junit.rules.Timeout;
    public class TimeoutTest {
        @Test(timeout = 60000) public void test() { Mark.timeoutTest(); }
        @Test(timeout = 60000) public void other() throws Exception {
            Thread thread = new Thread(() -> Mark.timeoutThread());
            thread.start();
            thread.join();
        }
    }",
    "import org.junit.*;
    public class AssumeTest {
        @Test public void no() { Mark.assumeNo(); Assume.assumeTrue(false); }
        @Test public void yes() { Mark.assumeYes(); }
    }",
    "import org.junit.*;
    public class AssumeUpTest {
        @BeforeClass public static void up() { Assume.assumeTrue(false); }
        @Test public void yes() { Mark.never(); }
    }",
    "import org.junit.runner.*; import org.junit.experimental.ParallelComputer;
    public class Parallel {
        public static void main(String[] args) throws Exception {
            Result result = JUnitCore.runClasses(ParallelComputer.classes(), AllTests.class, OtherTest.class);
            System.exit(result.getFailureCount());
        }
    }",
    "import org.junit.runners.Suite;
    @org.junit.runner.RunWith(Suite.class) @Suite.SuiteClasses({PartTest.class, PartFailTest.class})
    public class AllTests {}",
    "public class PartTest { @org.junit.Test public void test() { Mark.part(); } }",
    "public class PartFailTest { @org.junit.Test public void test() { throw new Error(); } }",
    "public class OtherTest { @org.junit.Test public void test() { Mark.other(); } }",
];

const NEWER_CLASSES: &[&str] = &[
    "RuleTest",
    "EnclosedTest",
    "TheoryTest",
    "OwnTest",
    "FeatureTest",
    "TimeoutTest",
    "AssumeTest",
    "AssumeUpTest",
];

/// A thread with a time limit hands over the test's result before it ends, so
/// the next test may have begun by then, and counts for both.
fn without_late(summary: &str) -> String {
    let words = summary.split_inclusive([' ', '\n']);
    words.filter(|word| !word.starts_with("late-")).collect()
}

#[test]
fn rules_and_runners_of_junit_4() {
    let mut stage = Stage::new(NEWER, &junit("4.12"));
    for version in ["4.12", "4.13.2"] {
        stage.set_jars(&junit(version));
        let watched = stage.watch(&Jdk::under_test(), CORE_MAIN, NEWER_CLASSES);
        assert_eq!(
            without_late(&watched.summary()),
            "\
AssumeTest skipped 2: assumeNo assumeYes
AssumeUpTest skipped 0:
EnclosedTest passed 2: enclosedOne enclosedTwo enclosedTwoStatic
FeatureTest failed 2: feature
OwnTest passed 1: ownBuild ownRun ownTest
RuleTest passed 1: ruleAfterClass ruleApply ruleBeforeClass ruleTest
TheoryTest passed 1: theory theoryPoints
TimeoutTest passed 2: timeoutTest timeoutThread
ambient:
",
            "JUnit {version}"
        );
    }
    let out = ["RuleTest", "EnclosedTest", "OwnTest", "FeatureTest"];
    let watched = stage.leave_out(&Jdk::under_test(), CORE_MAIN, NEWER_CLASSES, &out);
    assert_eq!(
        without_late(&watched.summary()),
        "\
AssumeTest skipped 2: assumeNo assumeYes
AssumeUpTest skipped 0:
EnclosedTest passed 0 left-out:
FeatureTest passed 0 left-out:
OwnTest passed 0 left-out: ownBuild
RuleTest passed 0 left-out:
TheoryTest passed 1: theory theoryPoints
TimeoutTest passed 2: timeoutTest timeoutThread
ambient:
"
    );
}

#[test]
fn a_failure_in_a_parallel_suite_is_one_of_the_suite() {
    let stage = Stage::new(NEWER, &junit("4.13.2"));
    let watched = stage.watch(&Jdk::under_test(), "Parallel", &[]);
    assert_eq!(
        watched.outcomes(),
        "\
AllTests failed 0
OtherTest passed 1
PartFailTest failed 1
PartTest passed 1
ambient
"
    );
    assert!(watched.counts("AllTests", "part") && watched.counts("PartTest", "part"));
    assert!(watched.counts("OtherTest", "other"));
}
