//! What belongs to which test class in TestNG.

mod windows_support;

use std::path::PathBuf;

use fewest_testkit::{Jdk, maven_jars};
use windows_support::{Stage, Watched};

const MAIN: &str = "org.testng.TestNG";

fn testng(version: &str) -> Vec<PathBuf> {
    let commander = match version {
        "6.14.3" => "com.beust:jcommander:1.72",
        "7.5.1" => "com.beust:jcommander:1.82",
        _ => "org.jcommander:jcommander:1.83",
    };
    let testng = format!("org.testng:testng:{version}");
    maven_jars(&[
        &testng,
        commander,
        "org.slf4j:slf4j-api:1.7.36",
        "org.apache-extras.beanshell:bsh:2.0b6",
    ])
    .unwrap()
}

const SOURCES: &[&str] = &[
    "import org.testng.annotations.*;
    public class PlainTest extends PlainBase {
        static { Mark.plainStatic(); }
        public PlainTest() { Mark.plainConstructor(); }
        @BeforeSuite public void suite() { Mark.beforeSuite(); }
        @BeforeTest public void beforeTest() { Mark.beforeTest(); }
        @AfterSuite public void afterSuite() { Mark.afterSuite(); }
        @BeforeClass public void up() { Mark.plainBeforeClass(); }
        @AfterClass public void down() { Mark.plainAfterClass(); }
        @BeforeMethod public void before() { Mark.plainBefore(); }
        @AfterMethod public void after() { Mark.plainAfter(); }
        @Test public void one() { Mark.plainOne(); }
    }",
    "public class PlainBase { @org.testng.annotations.Test public void inherited() { Mark.plainInherited(); } }",
    "import org.testng.annotations.*;
    public class DataTest {
        @DataProvider public Object[][] data() { Mark.data(); return new Object[][] {{1}, {2}}; }
        @Test(dataProvider = \"data\") public void test(int n) { Mark.dataTest(); }
        @Test(dataProvider = \"more\", dataProviderClass = Provider.class) public void more(int n) { Mark.dataMore(); }
    }",
    "public class Provider {
        @org.testng.annotations.DataProvider public static Object[][] more() { Mark.provider(); return new Object[][] {{1}}; }
    }",
    "import org.testng.annotations.*;
    public class FailTest {
        @Test public void bad() { Mark.failBad(); throw new Error(); }
        @Test public void good() { Mark.failGood(); }
    }",
    "import org.testng.annotations.*;
    public class FailUpTest {
        @BeforeClass public void up() { Mark.failUp(); throw new Error(); }
        @Test public void test() { Mark.never(); }
    }",
    "import org.testng.annotations.*;
    public class SkipTest {
        @Test public void skips() { Mark.skips(); throw new org.testng.SkipException(\"\"); }
        @Test public void runs() { Mark.runs(); }
    }",
    "import org.testng.annotations.*;
    public class DisabledTest { @Test(enabled = false) public void off() { Mark.never(); } @Test public void on() { Mark.on(); } }",
    "import org.testng.annotations.*;
    public class TimeTest {
        @Test(timeOut = 60000) public void test() { Mark.timeTest(); }
        @Test(invocationCount = 3, threadPoolSize = 2) public void pool() { Mark.timePool(); }
    }",
    "import org.testng.annotations.*;
    public class GroupTest {
        @BeforeGroups(\"g\") public void group() { Mark.group(); }
        @Test(groups = \"g\") public void test() { Mark.groupTest(); }
    }",
];

const CLASSES: &[&str] = &[
    "PlainTest",
    "DataTest",
    "FailTest",
    "FailUpTest",
    "SkipTest",
    "DisabledTest",
    "TimeTest",
    "GroupTest",
];

const VERSIONS: &[&str] = &["6.14.3", "7.5.1", "7.11.0"];

/// The versions that run on the JDK under test.
fn versions<'a>(all: &[&'a str]) -> Vec<&'a str> {
    let jdk = Jdk::under_test();
    let runs = |version: &&str| *version != "7.11.0" || jdk.is_at_least(11, "TestNG 7.11");
    all.iter().copied().filter(runs).collect()
}

fn run_classes(stage: &Stage, classes: &[&str], more: &[&str]) -> Watched {
    let classes = classes.join(",");
    let mut arguments = vec!["-testclass", &classes, "-usedefaultlisteners", "false"];
    arguments.extend(more);
    if more.is_empty() {
        stage.watch(&Jdk::under_test(), MAIN, &arguments)
    } else {
        // What parallel tests print comes in any order.
        stage.trace(&Jdk::under_test(), MAIN, &arguments)
    }
}

/// What several classes share counts for all; so does whatever else runs at
/// the same time, as `timePool` may.
fn without_chance(summary: &str) -> String {
    summary.replace("beforeTest group timePool", "beforeTest group")
}

#[test]
fn testng_6_and_7() {
    let mut stage = Stage::new(SOURCES, &testng("6.14.3"));
    for version in versions(VERSIONS) {
        stage.set_jars(&testng(version));
        let watched = run_classes(&stage, CLASSES, &[]);
        assert_eq!(
            without_chance(&watched.summary()),
            "\
DataTest passed 3: data dataMore dataTest provider
DisabledTest passed 1: on
FailTest failed 2: failBad failGood
FailUpTest failed 1: failUp
GroupTest passed 1: group groupTest
PlainTest passed 2: plainAfter plainAfterClass plainBefore plainBeforeClass plainConstructor \
            plainInherited plainOne plainStatic
SkipTest skipped 2: runs skips
TimeTest passed 4: timePool timeTest
ambient: afterSuite beforeSuite beforeTest group
",
            "TestNG {version}"
        );
    }
}

#[test]
fn testng_in_parallel() {
    let mut stage = Stage::new(SOURCES, &testng("6.14.3"));
    for version in versions(VERSIONS) {
        let by = match version {
            "7.5.1" => "classes",
            _ => "methods",
        };
        stage.set_jars(&testng(version));
        let watched = run_classes(&stage, CLASSES, &["-parallel", by, "-threadcount", "3"]);
        assert_eq!(
            watched.outcomes(),
            "\
DataTest passed 3
DisabledTest passed 1
FailTest failed 2
FailUpTest failed 1
GroupTest passed 1
PlainTest passed 2
SkipTest skipped 2
TimeTest passed 4
ambient
",
            "TestNG {version}"
        );
        for mark in [
            "plainStatic",
            "plainConstructor",
            "plainBeforeClass",
            "plainOne",
        ] {
            assert!(watched.counts("PlainTest", mark), "{mark} in {version}");
        }
        assert!(watched.counts("DataTest", "provider") && watched.counts("DataTest", "dataMore"));
    }
}

/// Instances of all classes are made, and what is set up for all runs, before
/// there is a class to leave out.
#[test]
fn testng_leaves_classes_out() {
    let mut stage = Stage::new(SOURCES, &testng("6.14.3"));
    let classes = CLASSES.join(",");
    let arguments = ["-testclass", &classes, "-usedefaultlisteners", "false"];
    let out = [
        "PlainTest",
        "DataTest",
        "FailTest",
        "FailUpTest",
        "TimeTest",
    ];
    for version in versions(VERSIONS) {
        stage.set_jars(&testng(version));
        let watched = stage.leave_out(&Jdk::under_test(), MAIN, &arguments, &out);
        assert_eq!(
            watched.summary(),
            "\
DataTest passed 0 left-out:
DisabledTest passed 1: on
FailTest passed 0 left-out:
FailUpTest passed 0 left-out:
GroupTest passed 1: group groupTest
PlainTest passed 0 left-out: plainConstructor plainStatic
SkipTest skipped 2: runs skips
TimeTest passed 0 left-out:
ambient: afterSuite beforeSuite beforeTest group
",
            "TestNG {version}"
        );
        let said = &watched.finished.stdout;
        assert!(said.contains("Total tests run: 4,"), "{said}");
        assert!(said.contains("Failures: 0, Skips: 1"), "{said}");
    }
}

const DEPENDENT: &[&str] = &[
    "import org.testng.annotations.*;
    public class FirstTest { @Test(groups = \"g\") public void first() { Mark.first(); } }",
    "import org.testng.annotations.*;
    public class ByGroupTest { @Test(dependsOnGroups = \"g\") public void test() { Mark.byGroup(); } }",
    "import org.testng.annotations.*;
    public class ByMethodTest { @Test(dependsOnMethods = \"FirstTest.first\") public void test() { Mark.byMethod(); } }",
    "import org.testng.annotations.*;
    public class WithinTest {
        @Test public void a() { Mark.withinA(); }
        @Test(dependsOnMethods = \"a\") public void b() { Mark.withinB(); }
    }",
];

/// TestNG would not run the tests that depend on what was left out.
#[test]
fn testng_runs_everything_where_classes_depend_on_each_other() {
    let mut stage = Stage::new(DEPENDENT, &testng("6.14.3"));
    for version in versions(&["6.14.3", "7.11.0"]) {
        stage.set_jars(&testng(version));
        for (dependent, mark) in [("ByGroupTest", "byGroup"), ("ByMethodTest", "byMethod")] {
            let classes = format!("FirstTest,{dependent}");
            let arguments = ["-testclass", &classes, "-usedefaultlisteners", "false"];
            let watched = stage.leave_out(&Jdk::under_test(), MAIN, &arguments, &["FirstTest"]);
            assert!(watched.counts("FirstTest", "first"), "TestNG {version}");
            assert!(watched.counts(dependent, mark), "TestNG {version}");
        }
        let arguments = [
            "-testclass",
            "FirstTest,WithinTest",
            "-usedefaultlisteners",
            "false",
        ];
        let watched = stage.leave_out(&Jdk::under_test(), MAIN, &arguments, &["FirstTest"]);
        assert_eq!(
            watched.summary(),
            "\
FirstTest passed 0 left-out:
WithinTest passed 2: withinA withinB
ambient:
",
            "TestNG {version}"
        );
    }
}
