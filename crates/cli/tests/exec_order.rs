//! The order of tests inside of `fewest exec`, for each framework whose runner
//! takes classes from a list.

use std::fs;
use std::path::PathBuf;

use fewest_testkit::{Finished, Jdk, TestProject, compile, maven_jars};
use serde_json::Value;

const TESTS: [&str; 5] = ["ATest", "BTest", "CTest", "DTest", "ETest"];

/// A project of test classes that tell when they run.
struct Stage {
    project: TestProject,
    jars: Vec<PathBuf>,
}

impl Stage {
    fn new(annotation: &str, jars: &[&str]) -> Self {
        let stage = Self {
            project: TestProject::new(),
            jars: maven_jars(jars).unwrap(),
        };
        let sources: Vec<(String, String)> = TESTS
            .iter()
            .map(|name| {
                let source = format!(
                    "package p; public class {name} {{ @{annotation} public void t() {{ \
                     System.out.println(\"ran {name}\"); }} }}"
                );
                (format!("p/{name}.java"), source)
            })
            .collect();
        let sources: Vec<(&str, &str)> = sources
            .iter()
            .map(|(path, source)| (path.as_str(), source.as_str()))
            .collect();
        let classes = stage.project.path("classes");
        fs::create_dir_all(&classes).unwrap();
        compile(&Jdk::default(), &sources, &[], &stage.jars, &classes).unwrap();
        stage
    }

    fn exec(&self, options: &[&str], line: &[&str]) -> Finished {
        let mut path = vec![PathBuf::from("classes")];
        path.extend(self.jars.iter().cloned());
        let run = self
            .project
            .run(env!("CARGO_BIN_EXE_fewest"))
            .env_remove("JAVA_TOOL_OPTIONS")
            .args(["exec", "--technique", "all", "--report", "r.json"])
            .args(options)
            .arg("--")
            .arg(Jdk::default().java())
            .arg("-cp")
            .arg(std::env::join_paths(path).unwrap())
            .args(line);
        let finished = run.finish().unwrap();
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        finished
    }

    fn followed(&self) -> Value {
        let report = fs::read(self.project.path("r.json")).unwrap();
        serde_json::from_slice::<Value>(&report).unwrap()["order"]["followed"].clone()
    }

    /// Runs with several seeds, and returns the orders that came out.
    fn orders(&self, line: &[&str]) -> Vec<Vec<String>> {
        self.exec(&[], line);
        ["1", "2"]
            .map(|seed| ran(&self.exec(&["--order", "random", "--seed", seed], line)))
            .to_vec()
    }
}

/// The tests in the order in which they ran.
fn ran(finished: &Finished) -> Vec<String> {
    let lines = finished.stdout.lines();
    lines
        // JUnit 4 prints a dot before each test, without a new line.
        .filter_map(|line| Some(line.split_once("ran ")?.1.to_owned()))
        .collect()
}

fn assert_two_orders_of_all(orders: &[Vec<String>]) {
    assert_ne!(orders[0], orders[1]);
    for order in orders {
        let mut names = order.clone();
        names.sort();
        assert_eq!(names, TESTS);
    }
}

/// Tests that start JVMs carry `jvm` in their names.
mod jvm {
    use super::*;

    #[test]
    fn junit_4_runs_the_classes_of_its_command_line_in_the_wanted_order() {
        let jars = ["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"];
        let stage = Stage::new("org.junit.Test", &jars);
        let line = "org.junit.runner.JUnitCore p.ATest p.BTest p.CTest p.DTest p.ETest";
        let line: Vec<&str> = line.split(' ').collect();
        assert_two_orders_of_all(&stage.orders(&line));
        assert_eq!(stage.followed(), true);
    }

    #[test]
    fn testng_runs_the_classes_of_its_command_line_in_the_wanted_order() {
        let jars = [
            "org.testng:testng:7.5.1",
            "com.beust:jcommander:1.82",
            "org.slf4j:slf4j-api:1.7.36",
        ];
        let stage = Stage::new("org.testng.annotations.Test", &jars);
        let line = [
            "org.testng.TestNG",
            // They write pages for browsers.
            "-usedefaultlisteners",
            "false",
            "-testclass",
            "p.ATest,p.BTest,p.CTest,p.DTest,p.ETest",
        ];
        assert_two_orders_of_all(&stage.orders(&line));
        assert_eq!(stage.followed(), true);
    }

    #[test]
    fn engines_of_the_junit_platform_run_classes_in_the_wanted_order() {
        let jars = ["org.junit.platform:junit-platform-console-standalone:1.9.3"];
        let stage = Stage::new("org.junit.jupiter.api.Test", &jars);
        let main = "org.junit.platform.console.ConsoleLauncher";
        let line = [main, "--scan-classpath", "classes"];
        assert_two_orders_of_all(&stage.orders(&line));
        assert_eq!(stage.followed(), true);

        // The build's own wish goes first, and the report says so.
        let own = "junit.jupiter.testclass.order.default=\
                   org.junit.jupiter.api.ClassOrderer$ClassName";
        let line = [main, "--scan-classpath", "classes", "--config", own];
        let random = stage.exec(&["--order", "random", "--seed", "1"], &line);
        assert_eq!(ran(&random), TESTS);
        assert_eq!(stage.followed(), false);
        assert!(
            random.stderr.contains("the build has its own"),
            "{}",
            random.stderr
        );
    }
}
