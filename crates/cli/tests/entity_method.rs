//! `--entity method` through `fewest exec`, with real test frameworks.

mod exec_support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use fewest_testkit::{maven_jar, maven_jars};
use serde_json::Value;

use crate::exec_support::{Project, junit4, jupiter, testng, told};

const JUNIT4_TEST: &str = "import org.junit.*;
public class ATest {
    @Before public void up() { Code.up(); }
    @Test public void one() { Assert.assertEquals(1, Code.one()); }
    @Test public void two() { Assert.assertEquals(2, Code.two()); }
    @Ignore @Test public void off() { }
}";

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use super::*;

    #[test]
    fn a_story_of_junit_4() {
        let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest"]);
        project.write("ATest", JUNIT4_TEST);
        let (first, all, _) = project.run_with(&[]);
        assert_eq!(
            all,
            told(&[
                ("ATest#one", "passed"),
                ("ATest#two", "passed"),
                ("ATest#off", "passed")
            ])
        );
        assert!(
            first
                .stderr
                .contains("3 test methods of 1 class run, 0 proven unaffected"),
            "{}",
            first.stderr
        );
        let none = told(&[
            ("ATest#one", "skip"),
            ("ATest#two", "skip"),
            ("ATest#off", "skip"),
        ]);
        assert_eq!(project.run(), none);

        project.edit("Code", "return 1", "return Math.abs(1)");
        let (run, one, _) = project.run_with(&[]);
        assert_eq!(
            one,
            told(&[
                ("ATest#one", "passed"),
                ("ATest#two", "skip"),
                ("ATest#off", "skip")
            ])
        );
        assert!(run.stdout.contains("OK (1 test)"), "{}", run.stdout);

        // What a test class does in a helper, or in one of its tests.
        project.edit(
            "ATest",
            "assertEquals(2, Code.two())",
            "assertTrue(2 == Code.two())",
        );
        let two = told(&[
            ("ATest#one", "skip"),
            ("ATest#two", "passed"),
            ("ATest#off", "skip"),
        ]);
        assert_eq!(project.run(), two);

        // Set-up belongs to all of them.
        project.edit("Code", "return 0", "return 7");
        let all_but_off = told(&[
            ("ATest#one", "passed"),
            ("ATest#two", "passed"),
            ("ATest#off", "skip"),
        ]);
        assert_eq!(project.run(), all_but_off);

        // So does a new set-up or tear-down, though no test has run it yet.
        project.edit("ATest", "@Before", "@After public void down() { } @Before");
        assert_eq!(project.run(), all);

        // A new test, one under a new name, one that is switched on.
        project.edit(
            "ATest",
            "@Ignore @Test",
            "@Test public void more() { } @Test",
        );
        project.edit("ATest", "void two", "void three");
        assert_eq!(
            project.run(),
            told(&[
                ("ATest#more", "passed"),
                ("ATest#off", "passed"),
                ("ATest#one", "skip"),
                ("ATest#three", "passed"),
            ])
        );

        // One that fails runs until it passes, and no other does.
        project.edit("Code", "return Math.abs(1)", "return 3");
        let failed = told(&[
            ("ATest#more", "skip"),
            ("ATest#off", "skip"),
            ("ATest#one", "failed"),
            ("ATest#three", "skip"),
        ]);
        assert_eq!(project.run(), failed);
        assert_eq!(project.run(), failed);
        let why = project.fewest(&["why", "ATest#one"]);
        assert!(why.contains("ATest#one would run"), "{why}");
        assert!(why.contains("it failed when it last ran"), "{why}");
        let select = project.fewest(&["select", "--entity", "method"]);
        assert!(select.contains("skip  ATest#three"), "{select}");
        assert!(
            select.contains("1 of 4 known test methods and whole classes would run"),
            "{select}"
        );
        let by_class = project.fewest(&["select"]);
        assert!(by_class.contains("run  ATest "), "{by_class}");
    }

    #[test]
    fn the_file_technique_runs_all_methods_of_a_test_class_that_changed() {
        let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest"]);
        project.write("ATest", JUNIT4_TEST);
        let file = ["--technique", "file"];
        project.run_with(&file);
        project.edit(
            "ATest",
            "assertEquals(2, Code.two())",
            "assertTrue(2 == Code.two())",
        );
        let (_, all, _) = project.run_with(&file);
        assert!(all.values().all(|word| word == "passed"), "{all:?}");
    }

    /// Each framework has its tests, and the same edits.
    fn check_framework(mut project: Project, test: &str) {
        project.write("ATest", test);
        let first = project.run();
        assert_eq!(
            first,
            told(&[("ATest#testOne", "passed"), ("ATest#testTwo", "passed")])
        );
        project.edit("Code", "return 1", "return Math.abs(1)");
        let (run, one, _) = project.run_with(&[]);
        assert_eq!(
            one,
            told(&[("ATest#testOne", "passed"), ("ATest#testTwo", "skip")]),
            "{}{}",
            run.stdout,
            run.stderr
        );
        project.edit("Code", "return 0", "return 7");
        let both = told(&[("ATest#testOne", "passed"), ("ATest#testTwo", "passed")]);
        assert_eq!(project.run(), both);
        project.edit("Code", "return 2;", "return 5;");
        let failed = told(&[("ATest#testOne", "skip"), ("ATest#testTwo", "failed")]);
        assert_eq!(project.run(), failed);
    }

    #[test]
    fn junit_3() {
        let jars = vec![maven_jar("junit:junit:3.8.1").unwrap()];
        check_framework(
            Project::new(jars, &["junit.textui.TestRunner", "ATest"]),
            "public class ATest extends junit.framework.TestCase {
                protected void setUp() { Code.up(); }
                public void testOne() { assertEquals(1, Code.one()); }
                public void testTwo() { assertEquals(2, Code.two()); }
            }",
        );
    }

    #[test]
    fn junit_4_as_old_as_4_10() {
        let jars = maven_jars(&["junit:junit:4.10", "org.hamcrest:hamcrest-core:1.3"]).unwrap();
        check_framework(
            Project::new(jars, &["org.junit.runner.JUnitCore", "ATest"]),
            "public class ATest {
                @org.junit.BeforeClass public static void up() { Code.up(); }
                @org.junit.Test public void testOne() { org.junit.Assert.assertEquals(1, Code.one()); }
                @org.junit.Test public void testTwo() { org.junit.Assert.assertEquals(2, Code.two()); }
            }",
        );
    }

    #[test]
    fn junit_5() {
        let main = "org.junit.platform.console.ConsoleLauncher";
        check_framework(
            Project::new(jupiter(), &[main, "-c", "ATest"]),
            "import org.junit.jupiter.api.*;
            class ATest {
                @AfterEach void up() { Code.up(); }
                @Test void testOne() { Assertions.assertEquals(1, Code.one()); }
                @Test void testTwo() { Assertions.assertEquals(2, Code.two()); }
            }",
        );
    }

    #[test]
    fn testng_7() {
        let main = "org.testng.TestNG";
        check_framework(
            Project::new(
                testng(),
                &[main, "-testclass", "ATest", "-usedefaultlisteners", "false"],
            ),
            "import org.testng.annotations.*;
            public class ATest {
                @BeforeMethod public void up() { Code.up(); }
                @Test public void testOne() { org.testng.Assert.assertEquals(Code.one(), 1); }
                @Test public void testTwo() { org.testng.Assert.assertEquals(Code.two(), 2); }
            }",
        );
    }

    #[test]
    fn methods_of_nested_classes_of_junit_5() {
        let main = "org.junit.platform.console.ConsoleLauncher";
        let mut project = Project::new(jupiter(), &[main, "-c", "ATest"]);
        project.write(
            "ATest",
            "import org.junit.jupiter.api.*; import static org.junit.jupiter.api.Assertions.*;
            class ATest {
                @Test void one() { assertEquals(1, Code.one()); }
                @Nested class In {
                    @BeforeEach void up() { Code.up(); }
                    @Test void one() { assertEquals(2, Code.two()); }
                    @Nested class Deep { void down() { }
                        @Test void find() { assertEquals(0, Code.find()); } }
                }
            }",
        );
        let told_of = |outer: &str, inner: &str, deep: &str| {
            told(&[
                ("ATest#one", outer),
                ("ATest$In#one", inner),
                ("ATest$In$Deep#find", deep),
            ])
        };
        let (first, all, _) = project.run_with(&[]);
        assert_eq!(all, told_of("passed", "passed", "passed"));
        let said = "3 test methods of 1 class run, 0 proven unaffected";
        assert!(first.stderr.contains(said), "{}", first.stderr);

        // One of them, in the code that it tests and in its own.
        project.edit("Code", "return 2", "return Math.abs(2)");
        project.edit("ATest", "assertEquals(0,", "assertSame(0,");
        assert_eq!(project.run(), told_of("skip", "passed", "passed"));

        // The set-up of a class counts for what is nested in it.
        project.edit("Code", "return 0", "return 7");
        assert_eq!(project.run(), told_of("skip", "passed", "passed"));

        // A method that becomes a tear-down has run in no test.
        project.edit("ATest", "void down", "@AfterEach void down");
        assert_eq!(project.run(), all);

        project.edit("Code", "Math.abs(2)", "3");
        assert_eq!(project.run(), told_of("skip", "failed", "skip"));
        let why = project.fewest(&["why", "ATest$In#one"]);
        assert!(why.starts_with("ATest$In#one would run"), "{why}");
        assert!(why.contains("it failed when it last ran"), "{why}");
    }

    #[test]
    fn a_test_inherits_what_left_the_state_that_it_finds_and_runs_with_it() {
        let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest"]);
        // JUnit 4 runs methods by the hash codes of their names: a before b.
        project.write(
            "ATest",
            "import org.junit.*;
            public class ATest {
                @Test public void a() { Code.leave(Code.one()); }
                @Test public void b() { Assert.assertEquals(1, Code.find()); }
                @Test public void c() { Code.two(); }
            }",
        );
        project.run();
        project.edit("Code", "return 1", "return Math.abs(1)");
        assert_eq!(
            project.run(),
            told(&[
                ("ATest#a", "passed"),
                ("ATest#b", "passed"),
                ("ATest#c", "skip")
            ])
        );
        // The reader alone has changed; it needs its writer.
        project.edit("Code", "{ return state; }", "{ return 0 + state; }");
        assert_eq!(
            project.run(),
            told(&[
                ("ATest#a", "passed"),
                ("ATest#b", "passed"),
                ("ATest#c", "skip")
            ])
        );
    }

    #[test]
    fn methods_inherit_what_left_the_state_that_their_set_up_finds() {
        let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest", "BTest"]);
        project.write(
            "ATest",
            "import org.junit.*;
            public class ATest {
                @Test public void a() { Code.leave(Code.one()); }
            }",
        );
        project.write(
            "BTest",
            "import org.junit.*;
            public class BTest {
                static int found;
                @BeforeClass public static void up() { found = Code.find(); }
                @Test public void b() { Assert.assertEquals(1, found); }
            }",
        );
        project.run();
        project.edit("Code", "return 1", "return Math.abs(1)");
        assert_eq!(
            project.run(),
            told(&[("ATest#a", "passed"), ("BTest#b", "passed")])
        );
    }

    #[test]
    fn objects_in_static_fields_of_the_test_class_tie_its_methods_together() {
        let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest"]);
        project.write(
            "ATest",
            "import org.junit.*;
            public class ATest {
                static final java.util.List<Integer> SEEN = new java.util.ArrayList<>();
                @Test public void a() { SEEN.add(Code.one()); }
                @Test public void b() { Assert.assertEquals(1, (int) SEEN.get(0)); }
                @Test public void c() { Code.two(); }
            }",
        );
        project.run();
        project.edit("Code", "return 1", "return Math.abs(1)");
        assert_eq!(
            project.run(),
            told(&[
                ("ATest#a", "passed"),
                ("ATest#b", "passed"),
                ("ATest#c", "skip")
            ])
        );
    }

    #[test]
    fn a_failure_that_all_methods_share_concerns_all_of_them() {
        let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest"]);
        let source = JUNIT4_TEST.replace(
            "@Before public",
            "@AfterClass public static void down() { if (Code.find() != 0) throw new Error(); } @Before public",
        );
        project.write("ATest", &source);
        project.run();
        project.edit("Code", "int state = 0", "int state = 1");
        let failed: Vec<String> = project.run().into_values().collect();
        assert_eq!(failed, ["failed", "failed", "failed"]);
        let again: Vec<String> = project.run().into_values().collect();
        assert_eq!(again, ["failed", "failed", "failed"]);
        project.edit("Code", "int state = 1", "int state = 0");
        assert!(
            project
                .run()
                .values()
                .all(|word| word == "passed" || word == "skip")
        );
    }

    #[test]
    fn by_class_and_by_method_know_of_each_other() {
        let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest"]);
        project.write("ATest", JUNIT4_TEST);
        project.run();
        let (_, by_class, _) = project.run_with(&["--entity", "class"]);
        assert_eq!(by_class, told(&[("ATest", "skip")]));
        project.edit("Code", "return 1", "return 3");
        let one = told(&[
            ("ATest#one", "failed"),
            ("ATest#two", "skip"),
            ("ATest#off", "skip"),
        ]);
        assert_eq!(project.run(), one);
        project.edit("Code", "return 3", "return 1");
        // The old record holds again, but a method failed since.
        let (_, by_class, _) = project.run_with(&["--entity", "class"]);
        assert_eq!(by_class, told(&[("ATest", "passed")]));
        project.edit("Code", "return 2", "return 4");
        let (_, by_class, _) = project.run_with(&["--entity", "class"]);
        assert_eq!(by_class, told(&[("ATest", "failed")]));
        project.edit("Code", "return 4", "return 2");
        assert!(project.run().values().all(|word| word == "passed"));
    }

    /// The reasons by which classes of a project stay whole.
    fn reasons(project: &Project) -> BTreeMap<String, BTreeSet<String>> {
        let (run, _, report) = project.run_with(&[]);
        let whole = report["whole"].as_object().unwrap();
        assert!(
            whole.is_empty() || run.stderr.contains(" whole: "),
            "{}",
            run.stderr
        );
        let names = |list: &Value| -> BTreeSet<String> {
            let list = list.as_array().unwrap().iter();
            list.map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        whole
            .iter()
            .map(|(why, list)| (why.clone(), names(list)))
            .collect()
    }

    fn check_reasons(mut project: Project, cases: &[(&'static str, &str, &str)]) {
        let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, reason, source) in cases {
            project.write(name, source);
            expected
                .entry((*reason).to_owned())
                .or_default()
                .insert((*name).to_owned());
        }
        assert_eq!(reasons(&project), expected);
    }

    #[test]
    fn reasons_by_which_classes_of_junit_4_and_3_stay_whole() {
        let command = [
            "org.junit.runner.JUnitCore",
            "ParamTest",
            "OrderTest",
            "StaticTest",
            "CallTest",
            "EnclosedTest",
            "OverTest",
            "ReflectTest",
            "SuiteTest",
            "RunTest",
        ];
        check_reasons(
            Project::new(junit4(), &command),
            &[
                (
                    "ParamTest",
                    "a runner or an extension of its own runs it",
                    "import org.junit.*; import java.util.*;
                    @org.junit.runner.RunWith(org.junit.runners.Parameterized.class)
                    public class ParamTest {
                        @org.junit.runners.Parameterized.Parameters
                        public static List<Object[]> data() { return Arrays.asList(new Object[]{1}, new Object[]{2}); }
                        public ParamTest(int i) { }
                        @Test public void a() { }
                    }",
                ),
                (
                    "OrderTest",
                    "its methods run in an order of their own",
                    "import org.junit.*;
                    @FixMethodOrder(org.junit.runners.MethodSorters.NAME_ASCENDING)
                    public class OrderTest { @Test public void a() { } @Test public void b() { } }",
                ),
                (
                    "StaticTest",
                    "its methods write a static field of it",
                    "public class StaticTest { static int n;
                        @org.junit.Test public void a() { n++; } @org.junit.Test public void b() { } }",
                ),
                (
                    "CallTest",
                    "its tests are called by other code of it",
                    "public class CallTest {
                        @org.junit.Test public void a() { b(); } @org.junit.Test public void b() { } }",
                ),
                (
                    "EnclosedTest",
                    "it has nested test classes that cannot be told apart",
                    "public class EnclosedTest {
                        @org.junit.Test public void a() { }
                        public static class Inner { @org.junit.Test public void b() { } } }",
                ),
                (
                    "OverTest",
                    "a test overrides what is no test, or the other way round",
                    "public class OverTest extends Base { @org.junit.Test public void help() { } }
                    class Base { public void help() { } @org.junit.Test public void a() { help(); } }",
                ),
                (
                    "ReflectTest",
                    "it looks at methods by reflection",
                    "public class ReflectTest {
                        @org.junit.Test public void a() throws Exception { getClass().getMethod(\"b\"); }
                        @org.junit.Test public void b() { } }",
                ),
                (
                    "SuiteTest",
                    "it makes its suite itself",
                    "import junit.framework.*;
                    public class SuiteTest extends TestCase {
                        public static Test suite() { return new TestSuite(SuiteTest.class); }
                        public void testA() { } }",
                ),
                (
                    "RunTest",
                    "a runner or an extension of its own runs it",
                    "public class RunTest extends junit.framework.TestCase {
                        protected void runTest() throws Throwable { super.runTest(); }
                        public void testA() { } }",
                ),
            ],
        );
    }

    #[test]
    fn reasons_by_which_classes_of_junit_5_stay_whole() {
        let main = "org.junit.platform.console.ConsoleLauncher";
        let command = [
            main,
            "-c",
            "ParamTest",
            "-c",
            "DynamicTest",
            "-c",
            "OrderTest",
            "-c",
            "InstanceTest",
            "-c",
            "NestTest",
            "-c",
            "ExtendTest",
            "-c",
            "NameTest",
            "-c",
            "FaceTest",
            "-c",
            "MetaTest",
        ];
        check_reasons(
            Project::new(jupiter(), &command),
            &[
                (
                    "ParamTest",
                    "its tests are parameterised, repeated or made while they run",
                    "class ParamTest { @org.junit.jupiter.api.Test void a() { }
                        @org.junit.jupiter.params.ParameterizedTest
                        @org.junit.jupiter.params.provider.ValueSource(ints = {1, 2}) void b(int i) { } }",
                ),
                (
                    "DynamicTest",
                    "its tests are parameterised, repeated or made while they run",
                    "import org.junit.jupiter.api.*;
                    class DynamicTest { @TestFactory java.util.List<org.junit.jupiter.api.DynamicTest> a() {
                        return java.util.Collections.singletonList(org.junit.jupiter.api.DynamicTest.dynamicTest(\"x\", () -> { })); } }",
                ),
                (
                    "OrderTest",
                    "its methods run in an order of their own",
                    "import org.junit.jupiter.api.*;
                    @TestMethodOrder(MethodOrderer.MethodName.class)
                    class OrderTest { @Test void a() { } @Test void b() { } }",
                ),
                (
                    "InstanceTest",
                    "its methods share one instance",
                    "import org.junit.jupiter.api.*;
                    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
                    class InstanceTest { int n; @Test void a() { n++; } @Test void b() { } }",
                ),
                (
                    "NestTest",
                    "it has nested test classes that cannot be told apart",
                    "import org.junit.jupiter.api.*;
                    class NestTest extends Nests { @Test void a() { } }
                    class Nests { @Nested class In { @Test void b() { } } }",
                ),
                (
                    "ExtendTest",
                    "a runner or an extension of its own runs it",
                    "import org.junit.jupiter.api.*; import org.junit.jupiter.api.extension.*;
                    @ExtendWith(ExtendTest.Own.class)
                    class ExtendTest { @Test void a() { }
                        static class Own implements BeforeEachCallback { public void beforeEach(ExtensionContext c) { } } }",
                ),
                (
                    "NameTest",
                    "two of its tests have one name",
                    "import org.junit.jupiter.api.*;
                    class NameTest { @Test void a() { } @Test void a(TestInfo info) { } }",
                ),
                (
                    "FaceTest",
                    "it inherits tests or set-up from an interface",
                    "import org.junit.jupiter.api.*;
                    class FaceTest implements Face { @Test void a() { } }
                    interface Face { @Test default void b() { } }",
                ),
                (
                    "MetaTest",
                    "its annotation @Own is one of a framework",
                    "import org.junit.jupiter.api.*; import java.lang.annotation.*;
                    class MetaTest { @Own void a() { } @Test void b() { } }
                    @Test @Retention(RetentionPolicy.RUNTIME) @interface Own { }",
                ),
            ],
        );
    }

    #[test]
    fn junit_5_that_is_told_to_run_methods_otherwise_or_in_parallel_keeps_classes_whole() {
        let main = "org.junit.platform.console.ConsoleLauncher";
        let test = "import org.junit.jupiter.api.*;
            class ATest { static { }
                @Test void a() throws Exception { Thread.sleep(300); }
                @Test void b() throws Exception { Thread.sleep(300); } }";
        let lifecycle = "junit.jupiter.testinstance.lifecycle.default=per_class";
        let mut project = Project::new(jupiter(), &[main, "-c", "ATest", "--config", lifecycle]);
        project.write("ATest", test);
        let expected =
            |why: &str| BTreeMap::from([(why.to_owned(), BTreeSet::from(["ATest".to_owned()]))]);
        assert_eq!(
            reasons(&project),
            expected("settings of JUnit change how its methods run")
        );
        project.command = vec![
            main,
            "-c",
            "ATest",
            "--config",
            "junit.jupiter.execution.parallel.enabled=true",
            "--config",
            "junit.jupiter.execution.parallel.mode.default=concurrent",
            "--config",
            "junit.jupiter.execution.parallel.config.strategy=fixed",
            "--config",
            "junit.jupiter.execution.parallel.config.fixed.parallelism=2",
        ];
        let _ = fs::remove_dir_all(project.folder.path(".fewest"));
        assert_eq!(
            reasons(&project),
            expected("its methods run at the same time")
        );
    }

    #[test]
    fn reasons_by_which_classes_of_testng_stay_whole() {
        let classes = "FieldTest,DependTest,DataTest,AllTest";
        let command = [
            "org.testng.TestNG",
            "-testclass",
            classes,
            "-usedefaultlisteners",
            "false",
        ];
        check_reasons(
            Project::new(testng(), &command),
            &[
                (
                    "FieldTest",
                    "its methods share one instance",
                    "public class FieldTest { int n; @org.testng.annotations.Test public void a() { n++; } }",
                ),
                (
                    "DependTest",
                    "its methods run in an order of their own",
                    "import org.testng.annotations.*;
                    public class DependTest { @Test public void a() { } @Test(dependsOnMethods = \"a\") public void b() { } }",
                ),
                (
                    "DataTest",
                    "its tests are parameterised, repeated or made while they run",
                    "import org.testng.annotations.*;
                    public class DataTest { @DataProvider public Object[][] d() { return new Object[][] {{1}}; }
                        @Test(dataProvider = \"d\") public void a(int i) { } }",
                ),
                (
                    "AllTest",
                    "all of its public methods are tests",
                    "@org.testng.annotations.Test public class AllTest { public void a() { } }",
                ),
            ],
        );
    }
}
