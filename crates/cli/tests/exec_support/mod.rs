//! Projects whose tests run in one JVM through `fewest exec`.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use fewest_testkit::{Finished, Jdk, TestProject, compile, maven_jar, maven_jars};
use serde_json::Value;

/// A project whose tests run in one JVM.
pub(crate) struct Project {
    pub(crate) folder: TestProject,
    sources: BTreeMap<&'static str, String>,
    jars: Vec<PathBuf>,
    pub(crate) command: Vec<&'static str>,
}

/// What one run told of each test: its outcome, or that it was left out.
pub(crate) type Told = BTreeMap<String, String>;

const CODE: &str = "public class Code {
    public static int one() { return 1; }
    public static int two() { return 2; }
    public static int up() { return 0; }
    static int state = 0;
    public static void leave(int value) { state = value; }
    public static int find() { return state; }
}";

impl Project {
    pub(crate) fn new(jars: Vec<PathBuf>, command: &[&'static str]) -> Self {
        Self {
            folder: TestProject::new(),
            sources: BTreeMap::from([("Code", CODE.to_owned())]),
            jars,
            command: command.to_vec(),
        }
    }

    pub(crate) fn write(&mut self, name: &'static str, source: &str) {
        self.sources.insert(name, source.to_owned());
    }

    pub(crate) fn edit(&mut self, name: &str, old: &str, new: &str) {
        let source = self.sources.get_mut(name).unwrap();
        assert!(source.contains(old), "{name} has no {old}");
        *source = source.replace(old, new);
    }

    fn class_path(&self) -> String {
        let mut entries = vec![self.folder.path("classes")];
        entries.extend(self.jars.iter().cloned());
        std::env::join_paths(entries)
            .unwrap()
            .into_string()
            .unwrap()
    }

    /// Compiles, runs all tests, and returns what the report tells.
    pub(crate) fn run(&self) -> Told {
        self.run_with(&[]).1
    }

    pub(crate) fn run_with(&self, options: &[&str]) -> (Finished, Told, Value) {
        let classes = self.folder.path("classes");
        let _ = fs::remove_dir_all(&classes);
        fs::create_dir_all(&classes).unwrap();
        let sources: Vec<(String, &str)> = self
            .sources
            .iter()
            .map(|(name, text)| (format!("{name}.java"), text.as_str()))
            .collect();
        let sources: Vec<(&str, &str)> = sources
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        let flags = ["--release", "8", "-Xlint:-options", "-proc:none"];
        compile(&Jdk::default(), &sources, &flags, &self.jars, &classes).unwrap();
        let report = self.folder.path("report.json");
        let _ = fs::remove_file(&report);
        let java = Jdk::default().java();
        let by_method = !options.contains(&"--entity");
        let finished = self
            .folder
            .run(env!("CARGO_BIN_EXE_fewest"))
            .args(["exec", "--report", "report.json"])
            .args(options.iter().copied())
            .args(
                by_method
                    .then_some(["--entity", "method"])
                    .into_iter()
                    .flatten(),
            )
            .args([
                "--",
                java.to_str().unwrap(),
                "-Xverify:all",
                "-cp",
                &self.class_path(),
            ])
            .args(self.command.iter().copied())
            .finish()
            .unwrap();
        let text = fs::read(&report)
            .unwrap_or_else(|_| panic!("no report: {}{}", finished.stdout, finished.stderr));
        let report: Value = serde_json::from_slice(&text).unwrap();
        let told = report["tests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|test| {
                let doubts = test["doubts"].as_array().unwrap();
                let word = match test["outcome"].as_str() {
                    Some(outcome) if doubts.is_empty() => outcome.to_owned(),
                    Some(outcome) => format!("{outcome}, doubts: {doubts:?}"),
                    None => test["verdict"].as_str().unwrap().to_owned(),
                };
                (test["test"].as_str().unwrap().to_owned(), word)
            })
            .collect();
        (finished, told, report)
    }

    pub(crate) fn fewest(&self, args: &[&str]) -> String {
        let finished = self
            .folder
            .run(env!("CARGO_BIN_EXE_fewest"))
            .args(args.iter().copied())
            .finish()
            .unwrap();
        format!("{}{}", finished.stdout, finished.stderr)
    }
}

pub(crate) fn told(tests: &[(&str, &str)]) -> Told {
    let pair = |(test, word): &(&str, &str)| ((*test).to_owned(), (*word).to_owned());
    tests.iter().map(pair).collect()
}

pub(crate) fn junit4() -> Vec<PathBuf> {
    maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap()
}

pub(crate) fn jupiter() -> Vec<PathBuf> {
    vec![maven_jar("org.junit.platform:junit-platform-console-standalone:1.9.3").unwrap()]
}

pub(crate) fn testng() -> Vec<PathBuf> {
    maven_jars(&[
        "org.testng:testng:7.5.1",
        "com.beust:jcommander:1.82",
        "org.slf4j:slf4j-api:1.7.36",
    ])
    .unwrap()
}
