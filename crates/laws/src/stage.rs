//! A project on which versions of code are put, recorded and judged.
//!
//! It does what a build tool does with fewest: a request before the tests, the
//! agent in their JVM, and the traces merged afterwards. No process of fewest
//! is started for it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fewest_build::{TaskAnswer, TaskRequest};
use fewest_model::{ClassName, Element};
use fewest_run::{
    Plan, Project, RunEnd, RunFolder, RunSettings, TestReport, ask, cache_folder, merge,
    unpack_agent,
};
use fewest_select::Technique;
use fewest_store::{Reader, VersionId};
use fewest_testkit::{JavaRun, TestProject};
use serde_json::json;

use crate::version::{SHORT_RUN, Seen, Version, Workshop, seen};

pub struct Stage<'a> {
    workshop: &'a Workshop,
    project: TestProject,
    agent: PathBuf,
    /// The technique that records are made under. One of the finest serves all.
    recording: Technique,
    runs: Cell<u64>,
}

/// The technique whose records can answer for the most others.
pub const FINEST: Technique = Technique::HybridBlock;

/// The tests that would run, each with the reasons.
pub type Selection = BTreeMap<String, Vec<String>>;

/// What a recorded run came to.
#[derive(Debug)]
pub struct Recorded {
    pub seen: Seen,
    pub tests: Vec<TestReport>,
}

/// Something of the environment that is not as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    Same,
    OtherArguments,
    OtherJdk,
    OtherSetting,
    OtherProperty,
}

impl Surroundings {
    pub const OTHERS: [Self; 4] = [
        Self::OtherArguments,
        Self::OtherJdk,
        Self::OtherSetting,
        Self::OtherProperty,
    ];
}

impl<'a> Stage<'a> {
    pub fn new(workshop: &'a Workshop, recording: Technique) -> Self {
        Self {
            workshop,
            project: TestProject::new(),
            agent: unpack_agent(&cache_folder()).expect("the agent can be unpacked"),
            recording,
            runs: Cell::new(0),
        }
    }

    /// Another project with the same records and nothing else.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        let other = Self::new(self.workshop, self.recording);
        copy(
            &self.project.path(".fewest"),
            &other.project.path(".fewest"),
        );
        other
    }

    /// Puts a version in place of the one before.
    pub fn put(&self, version: &Version) {
        for part in ["classes", "data"] {
            let _ = fs::remove_dir_all(self.project.path(part));
            copy(&version.folder.join(part), &self.project.path(part));
        }
    }

    /// Puts some packages of another version over the present one.
    pub fn put_packages(&self, version: &Version, packages: &[String]) {
        for package in packages {
            for part in ["classes", "data"] {
                let place = Path::new(part).join(package);
                let _ = fs::remove_dir_all(self.project.path(&place));
                copy(&version.folder.join(&place), &self.project.path(&place));
            }
        }
    }

    /// Adds or replaces one file.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.project.write(path, content);
    }

    /// The tests that would run now.
    pub fn select(&self, technique: Technique, tests: &[String]) -> Selection {
        self.select_in(Surroundings::Same, technique, tests)
    }

    pub fn select_in(
        &self,
        surroundings: Surroundings,
        technique: Technique,
        tests: &[String],
    ) -> Selection {
        let (run, task) = self.begin(surroundings, technique, tests);
        let plan = fs::read(task.join("plan.json")).expect("an answer has a plan");
        let plan: Plan = serde_json::from_slice(&plan).expect("a plan is readable");
        run.remove().expect("the run's folder can be removed");
        plan.tests
            .into_iter()
            .filter(|test| test.run)
            .map(|test| (test.class.dotted(), test.reasons))
            .collect()
    }

    /// Runs test classes in one JVM, in this order, and keeps what they used.
    pub fn record(&self, tests: &[String]) -> Recorded {
        self.record_then(tests, RunEnd::Succeeded, |_| ())
    }

    /// The same, with something that happens to the traces before they are read.
    pub fn record_then(&self, tests: &[String], end: RunEnd, then: impl FnOnce(&Path)) -> Recorded {
        let (run, task) = self.begin(Surroundings::Same, self.recording, tests);
        let answer = TaskAnswer::read(&task).expect("an answer is readable");
        let finished = JavaRun::new(&self.workshop.jdk, "org.junit.runner.JUnitCore")
            .jvm_args(answer.jvm_args)
            .jvm_args(SHORT_RUN)
            .classpath(self.class_path())
            .args(tests)
            .current_dir(self.project.root())
            .finish()
            .expect("a JVM runs");
        then(&task.join("traces"));
        let end = match end {
            RunEnd::Succeeded if !finished.success() => RunEnd::Failed,
            end => end,
        };
        let merged = merge(&run, end).expect("the store takes the records");
        run.remove().expect("the run's folder can be removed");
        Recorded {
            seen: seen(&finished.stdout),
            tests: merged.tests,
        }
    }

    /// Keeps what class files tell of tests that a build reports as passed. No
    /// JVM is needed for it.
    pub fn record_passed(&self, tests: &[String]) -> Recorded {
        let (run, _) = self.begin(Surroundings::Same, self.recording, tests);
        for test in tests {
            self.project.write(
                format!("reports/TEST-{test}.xml"),
                format!(
                    r#"<testsuite name="{test}" time="0.1" tests="1" errors="0" skipped="0" failures="0">
  <testcase name="t" classname="{test}" time="0.1"/>
</testsuite>"#
                ),
            );
        }
        let merged = merge(&run, RunEnd::Succeeded).expect("the store takes the records");
        run.remove().expect("the run's folder can be removed");
        Recorded {
            seen: Seen::new(),
            tests: merged.tests,
        }
    }

    /// What the newest record of each test holds.
    pub fn records(&self) -> BTreeMap<String, BTreeSet<Element>> {
        let folder = Project::at(self.project.root()).folder();
        let reader = Reader::open(&folder).expect("a store");
        let ledger = reader.ledger(None).expect("a readable store");
        let uses = |test| {
            let newest = ledger.records_of(test).first()?;
            let uses = ledger.uses(newest).expect("a readable record");
            let element = |number| {
                let version = ledger.versions().get(VersionId(number))?;
                version.element().ok()
            };
            Some(uses.iter().filter_map(element).collect())
        };
        ledger
            .tests()
            .iter()
            .filter_map(|test| Some((test.id.class.dotted(), uses(test)?)))
            .collect()
    }

    fn class_path(&self) -> Vec<PathBuf> {
        let classes = [self.project.path("classes")].into_iter();
        classes
            .chain(self.workshop.libraries.iter().cloned())
            .collect()
    }

    /// Asks as a build tool would before it runs tests.
    fn begin(
        &self,
        surroundings: Surroundings,
        technique: Technique,
        tests: &[String],
    ) -> (RunFolder, PathBuf) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.expect("a clock after 1970").as_millis() as u64;
        // A run's folder is named after its start, and several may begin in one
        // millisecond.
        self.runs.set(self.runs.get() + 1);
        let changed = |what| {
            if surroundings == what {
                json!({ "law": "broken" })
            } else {
                json!({})
            }
        };
        let java_home = match surroundings {
            Surroundings::OtherJdk => self.project.root().to_owned(),
            _ => self.workshop.jdk.home().to_owned(),
        };
        // Where JVMs are watched, they tell how tests ended.
        let is_static = self.recording.is_static();
        let reports = is_static.then(|| self.project.path("reports"));
        let jvm_args = match surroundings {
            Surroundings::OtherArguments => vec!["-ea"],
            _ => vec![],
        };
        // Both are read as a build's own files are, so that fields which
        // this crate has no opinion on take their defaults.
        let settings: RunSettings = serde_json::from_value(json!({
            "root": self.project.root(),
            "technique": technique,
            "collect": true,
            "shadow": false,
            "agent": self.agent,
            "revision": null,
            "startedAt": now + self.runs.get(),
            "command": "laws",
        }))
        .expect("settings of a run");
        let classes: Vec<ClassName> = tests.iter().map(|test| class_name(test)).collect();
        let request: TaskRequest = serde_json::from_value(json!({
            "format": fewest_build::FORMAT,
            "module": "",
            "task": "laws",
            "basedir": self.project.root(),
            "classpath": self.class_path(),
            "testClasses": classes,
            "reports": reports,
            "startedAt": now,
            "javaHome": java_home,
            "jvmArgs": jvm_args,
            "systemProperties": changed(Surroundings::OtherProperty),
            "environment": {},
            "settings": changed(Surroundings::OtherSetting),
        }))
        .expect("a request");
        let project = Project::at(self.project.root());
        let run = RunFolder::create(&project, &settings).expect("a folder for the run");
        let task = run.path().join("0001-laws");
        fs::create_dir(&task).expect("a folder for the task");
        request.write(&task).expect("a request can be written");
        ask(&task).expect("every request has an answer");
        (run, task)
    }
}

fn class_name(dotted: &str) -> ClassName {
    ClassName::new(dotted.replace('.', "/").as_str())
}

fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else {
        return;
    };
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in entries.flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}
