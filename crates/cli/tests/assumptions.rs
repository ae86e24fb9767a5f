//! Classes of which some tests give up on an assumption, through `fewest exec`:
//! they are judged by method, though classes are what is left out or run.

mod exec_support;

use std::fs;

use serde_json::{Value, json};

use crate::exec_support::{Project, junit4, jupiter, testng, told};

const JUNIT4_TEST: &str = "import org.junit.*;
public class ATest {
    @Test public void gaveUp() {
        Assume.assumeTrue(new java.io.File(\"there\").exists());
        Assert.assertEquals(0, Code.up());
    }
    @Test public void one() { Assert.assertEquals(1, Code.one()); }
    @Test public void two() { Assert.assertEquals(2, Code.two()); }
    @Ignore @Test public void off() { }
}";

const BY_CLASS: [&str; 2] = ["--entity", "class"];

fn by_junit4(test: &str) -> Project {
    let mut project = Project::new(junit4(), &["org.junit.runner.JUnitCore", "ATest"]);
    project.write("ATest", test);
    project
}

/// How the class ended, and which of its tests ran if not all did.
fn run(project: &Project) -> (String, Option<Vec<String>>) {
    let (finished, told, report) = project.run_with(&BY_CLASS);
    assert_eq!(told.len(), 1, "{told:?}{}", finished.stderr);
    assert!(!finished.stderr.contains("whole"), "{}", finished.stderr);
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let ran = report["tests"][0].get("methods").map(|m| names(&m["run"]));
    let (test, word) = told.into_iter().next().unwrap();
    assert_eq!(test, "ATest");
    (word, ran)
}

fn all(word: &str) -> (String, Option<Vec<String>>) {
    (word.to_owned(), None)
}

fn only(word: &str, methods: &[&str]) -> (String, Option<Vec<String>>) {
    let methods = methods.iter().map(|&name| name.to_owned()).collect();
    (word.to_owned(), Some(methods))
}

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use super::*;

    #[test]
    fn only_what_gave_up_runs_again_until_it_passes() {
        let mut project = by_junit4(JUNIT4_TEST);
        // The first run shows that a test gives up, the second one is watched
        // method by method.
        assert_eq!(run(&project), all("skipped"));
        assert_eq!(run(&project), all("skipped"));
        let (finished, _, report) = project.run_with(&BY_CLASS);
        let expected = json!({"run": ["gaveUp"], "skip": ["off", "one", "two"]});
        assert_eq!(report["tests"][0]["methods"], expected);
        assert!(
            finished.stderr.contains("1 run (1 in part), 0 proven"),
            "{}",
            finished.stderr
        );
        let why = project.fewest(&["why", "ATest"]);
        insta::assert_snapshot!(why.split("  last runs").next().unwrap(), @r"
        ATest would run
          because    it gave up on an assumption, or a part of it did, when it last ran
          runs       gaveUp
          proven     off, one, two
          recorded   only method by method
        ");
        let select = project.fewest(&["select"]);
        assert!(
            select.contains("only gaveUp of its tests, 3 others are proven"),
            "{select}"
        );

        // What the others use runs them too, and shows what is broken in them.
        project.edit("Code", "return 1", "return Math.abs(1)");
        assert_eq!(run(&project), only("skipped", &["gaveUp", "one"]));
        project.edit("Code", "return 2", "return 5");
        assert_eq!(run(&project), only("failed", &["gaveUp", "two"]));
        // What failed runs again, and so does a test that is new.
        project.edit("Code", "return 5", "return 2");
        let new = "@Test public void three() { Assert.fail(); } @Test public void two";
        project.edit("ATest", "@Test public void two", new);
        assert_eq!(run(&project), only("failed", &["gaveUp", "three", "two"]));

        // The assumption holds: the class has a record again, and is left out.
        project.edit("ATest", "Assert.fail();", "");
        fs::write(project.folder.path("there"), "").unwrap();
        assert_eq!(run(&project), only("passed", &["gaveUp", "three"]));
        assert_eq!(run(&project), all("passed"));
        assert_eq!(run(&project), all("skip"));
        project.edit("Code", "return 2", "return 5");
        assert_eq!(run(&project), all("failed"));
    }

    #[test]
    fn what_gives_up_in_junit_5_runs_again_alone() {
        let main = "org.junit.platform.console.ConsoleLauncher";
        let mut project = Project::new(jupiter(), &[main, "-c", "ATest"]);
        let test = "import org.junit.jupiter.api.*;
            class ATest {
                @Test void gaveUp() { Assumptions.assumeTrue(Code.one() == 7); }
                @Test void up() { Code.up(); }
                @Test void two() { Assertions.assertEquals(2, Code.two()); }
            }";
        project.write("ATest", test);
        assert_eq!(run(&project), all("skipped"));
        assert_eq!(run(&project), all("skipped"));
        assert_eq!(run(&project), only("skipped", &["gaveUp"]));
        project.edit("Code", "return 2", "return 5");
        assert_eq!(run(&project), only("failed", &["gaveUp", "two"]));
    }

    #[test]
    fn what_gives_up_in_testng_runs_again_alone() {
        let main = "org.testng.TestNG";
        let mut project = Project::new(
            testng(),
            &[main, "-testclass", "ATest", "-usedefaultlisteners", "false"],
        );
        let test = "import org.testng.annotations.*;
            public class ATest {
                @Test public void gaveUp() { throw new org.testng.SkipException(\"no\"); }
                @Test public void two() { org.testng.Assert.assertEquals(Code.two(), 2); }
            }";
        project.write("ATest", test);
        assert_eq!(run(&project), all("skipped"));
        assert_eq!(run(&project), all("skipped"));
        assert_eq!(run(&project), only("skipped", &["gaveUp"]));
    }

    #[test]
    fn by_class_and_by_method_know_of_what_gave_up() {
        let mut project = by_junit4(JUNIT4_TEST);
        assert_eq!(run(&project), all("skipped"));
        let all_run = [
            ("ATest#gaveUp", "skipped"),
            ("ATest#off", "passed"),
            ("ATest#one", "passed"),
            ("ATest#two", "passed"),
        ];
        assert_eq!(project.run(), told(&all_run));
        assert_eq!(run(&project), only("skipped", &["gaveUp"]));
        // A test that is no longer there does not count.
        project.edit("ATest", "@Test public void gaveUp", "public void gaveUp");
        assert_eq!(run(&project), all("passed"));
        assert_eq!(run(&project), all("skip"));
    }

    #[test]
    fn a_parameterised_class_runs_whole_and_nobody_complains() {
        let test = "import org.junit.*; import org.junit.runners.*; import java.util.*;
            @org.junit.runner.RunWith(Parameterized.class)
            public class ATest {
                @Parameterized.Parameters
                public static List<Object[]> data() { return Arrays.asList(new Object[]{1}, new Object[]{7}); }
                final int n;
                public ATest(int n) { this.n = n; }
                @Test public void one() { Assume.assumeTrue(Code.one() == n); }
            }";
        let mut project = by_junit4(test);
        for _ in 0..3 {
            assert_eq!(run(&project), all("skipped"));
        }
        project.edit("ATest", "Assume.assumeTrue(Code.one() == n)", "Code.one()");
        assert_eq!(run(&project), all("passed"));
    }
}
