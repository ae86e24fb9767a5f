//! Every case of `fixtures/safety/cases.json`, end to end through `fewest exec`.
//!
//! A case is a small program in two versions with JUnit 4 tests. The tests run
//! on the first version and are recorded; then the second version is put in
//! place, and the tests that its edit can break must run again. Controls are
//! edits that must not run anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_testkit::{Compilation, Javac, Jdk, TestProject, maven_jars};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    tests: Vec<String>,
    must_run: Vec<String>,
    release: u32,
    files: BTreeMap<String, FileText>,
    #[serde(default)]
    control: bool,
    /// The techniques that a control counts for, where not for all.
    control_for: Option<Vec<String>>,
    /// Configuration under which the case counts.
    needs: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FileText {
    Same(String),
    Edited {
        before: Option<String>,
        after: Option<String>,
    },
}

impl FileText {
    fn at(&self, version: Version) -> Option<&str> {
        match (self, version) {
            (Self::Same(text), _) => Some(text),
            (Self::Edited { before, .. }, Version::Before) => before.as_deref(),
            (Self::Edited { after, .. }, Version::After) => after.as_deref(),
        }
    }
}

#[derive(Clone, Copy)]
enum Version {
    Before,
    After,
}

const TECHNIQUES: [&str; 2] = ["file", "hybrid"];

#[derive(Deserialize)]
struct Report {
    tests: Vec<ReportedTest>,
}

#[derive(Deserialize)]
struct ReportedTest {
    test: String,
    verdict: String,
    doubts: Vec<String>,
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/safety/cases.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The class folders of all cases, before and after, made in one go.
fn compile(cases: &[Case], folder: &Path, jars: &[PathBuf]) {
    let mut jobs = Vec::new();
    for case in cases {
        for (version, name) in [(Version::Before, "before"), (Version::After, "after")] {
            let classes = folder.join(&case.name).join(name);
            fs::create_dir_all(&classes).unwrap();
            let mut job = Compilation::new()
                .options([
                    "--release".to_owned(),
                    case.release.to_string(),
                    "-g".to_owned(),
                ])
                .classpath(jars);
            for (path, text) in &case.files {
                let Some(text) = text.at(version) else {
                    continue;
                };
                if Path::new(path)
                    .extension()
                    .is_some_and(|kind| kind == "java")
                {
                    job = job.source(path, text);
                } else {
                    let path = classes.join(path);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                }
            }
            jobs.push((job, classes));
        }
    }
    let jobs = jobs.iter().map(|(job, classes)| (job, classes.as_path()));
    Javac::new(&Jdk::default()).compile_all(jobs).unwrap();
}

/// A project in which one case is played through.
struct Stage<'a> {
    case: &'a Case,
    project: TestProject,
    folder: PathBuf,
    jars: &'a [PathBuf],
}

impl Stage<'_> {
    /// Puts a version of the case in place.
    fn set(&self, version: &str) {
        let classes = self.project.path("classes");
        let _ = fs::remove_dir_all(&classes);
        copy(&self.folder.join(&self.case.name).join(version), &classes);
        for (key, value) in self.case.needs.iter().flatten() {
            self.project
                .write("fewest.toml", format!("{key} = \"{value}\"\n"));
        }
    }

    /// Runs the case's tests under a technique, and returns those that ran.
    fn run(&self, technique: &str) -> Result<BTreeSet<String>, String> {
        let mut classpath = vec![self.project.path("classes")];
        classpath.extend(self.jars.iter().cloned());
        let classpath = std::env::join_paths(classpath)
            .unwrap()
            .into_string()
            .unwrap();
        let report = self.project.path("report.json");
        let java = Jdk::default().java();
        let mut args: Vec<String> = ["exec", "--technique", technique, "--report"]
            .map(String::from)
            .to_vec();
        args.push(report.to_str().unwrap().into());
        args.push("--".into());
        args.push(java.to_str().unwrap().into());
        args.extend(
            [
                "-Xverify:all",
                "-cp",
                &classpath,
                "org.junit.runner.JUnitCore",
            ]
            .map(String::from),
        );
        args.extend(self.case.tests.iter().cloned());
        let finished = self
            .project
            .run(env!("CARGO_BIN_EXE_fewest"))
            .args(args)
            .finish()
            .map_err(|error| error.to_string())?;
        let text = fs::read(&report)
            .map_err(|_| format!("no report; {}{}", finished.stdout, finished.stderr))?;
        let report: Report = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        for test in &report.tests {
            if !test.doubts.is_empty() {
                return Err(format!("doubts about {}: {:?}", test.test, test.doubts));
            }
        }
        Ok(report
            .tests
            .into_iter()
            .filter(|t| t.verdict == "run")
            .map(|t| t.test)
            .collect())
    }

    /// What is wrong with the case, if anything.
    fn play(&self) -> Vec<String> {
        self.set("before");
        match self.run("hybrid") {
            Err(error) => return vec![format!("{}: first run: {error}", self.case.name)],
            Ok(ran) if ran.is_empty() => {
                return vec![format!("{}: the first run ran nothing", self.case.name)];
            }
            Ok(_) => {}
        }
        let (store, saved) = (self.project.path(".fewest"), self.project.path("saved"));
        fs::rename(&store, &saved).unwrap();
        self.set("after");
        let mut problems = Vec::new();
        for technique in TECHNIQUES {
            let _ = fs::remove_dir_all(&store);
            copy(&saved, &store);
            match self.run(technique) {
                Err(error) => problems.push(format!("{}: {technique}: {error}", self.case.name)),
                Ok(ran) => problems.extend(self.judge(technique, &ran)),
            }
        }
        problems
    }

    fn judge(&self, technique: &str, ran: &BTreeSet<String>) -> Option<String> {
        let name = &self.case.name;
        // A nested class belongs to the outermost one.
        let outermost = |test: &String| test.split('$').next().unwrap().to_owned();
        let missed: Vec<_> = self
            .case
            .must_run
            .iter()
            .map(outermost)
            .filter(|test| !ran.contains(test))
            .collect();
        if !missed.is_empty() {
            return Some(format!("{name}: {technique} MISSED {missed:?}"));
        }
        let counts = self.case.control
            && self
                .case
                .control_for
                .as_ref()
                .is_none_or(|f| f.iter().any(|f| f == technique));
        (counts && !ran.is_empty()).then(|| format!("{name}: {technique} selects {ran:?}"))
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn every_case_runs_what_its_edit_can_break() {
    let jars = maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap();
    let only = std::env::var("FEWEST_CASE").ok();
    let mut cases = cases();
    cases.retain(|case| only.as_ref().is_none_or(|only| case.name.contains(only)));
    assert!(!cases.is_empty(), "FEWEST_CASE names no case");
    let folder = tempfile::tempdir().unwrap();
    compile(&cases, folder.path(), &jars);

    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let stage = Stage {
                        case,
                        project: TestProject::new(),
                        folder: folder.path().to_owned(),
                        jars: &jars,
                    };
                    let found = stage.play();
                    problems.lock().unwrap().extend(found);
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(
        problems.is_empty(),
        "{} problems in {} cases:\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}
