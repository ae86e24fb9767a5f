//! The tests of a project as they are without a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fewest_model::{ClassName, TestId};
use fewest_order::Signature;
use fewest_run::Outlook;

use super::jvm::{Desk, Ended, Job, Jvm, Outcome};
use super::known::Known;
use super::runner::Runner;
use super::workers::Workers;
use super::{MutantError, SetAside, SuiteTest, TestRun};

pub(super) struct Suite {
    pub(super) tests: Vec<Test>,
    /// The class folders without tests, in which faults are planted.
    pub(super) main_folders: BTreeSet<PathBuf>,
    jvms: Vec<Jvm>,
}

pub(super) struct Test {
    pub(super) id: TestId,
    /// The number of its JVM.
    task: usize,
    millis: u64,
    signature: Option<Signature>,
    /// The classes that it loads when it runs alone; unknown if the JVM could
    /// not tell.
    loaded: Option<BTreeSet<ClassName>>,
}

impl Test {
    pub(super) fn line(&self) -> SuiteTest {
        SuiteTest {
            test: self.id.to_string(),
            module: self.id.module.to_string(),
            millis: self.millis,
            signature: self.signature,
        }
    }

    pub(super) fn may_load(&self, class: &ClassName) -> bool {
        self.loaded
            .as_ref()
            .is_none_or(|loaded| loaded.contains(class))
    }

    fn job(&self) -> Job {
        Job {
            name: self.id.class.dotted(),
            // Faults make some tests slow that are not endless, and so does a busy
            // machine.
            limit: Duration::from_secs(60) + Duration::from_millis(10 * self.millis),
        }
    }
}

impl Suite {
    /// Runs tests by number, those of one task in one JVM.
    pub(super) fn run(&self, tests: &[usize], desk: &Desk) -> Result<Vec<TestRun>, MutantError> {
        let mut runs = Vec::new();
        for (task, jvm) in self.jvms.iter().enumerate() {
            let own = tests.iter().filter(|test| self.tests[**test].task == task);
            let own: Vec<usize> = own.copied().collect();
            let jobs: Vec<Job> = own.iter().map(|test| self.tests[*test].job()).collect();
            let ended = jvm.run(&jobs, desk)?;
            runs.extend(own.into_iter().zip(ended).map(|(test, ended)| TestRun {
                test,
                outcome: ended.outcome,
                millis: ended.millis,
            }));
        }
        Ok(runs)
    }
}

/// Long enough for any test class that is worth repeating for each mutant.
const WITHOUT_FAULT: Duration = Duration::from_secs(600);

/// Runs each test alone to see what it loads, and all together to see how long
/// each takes. What does not pass both ways says nothing about faults.
pub(super) fn measure(
    outlook: &Outlook,
    signatures: &BTreeMap<TestId, Signature>,
    runner: &Runner,
    workers: &Workers,
) -> Result<(Suite, Vec<SetAside>), MutantError> {
    let mut suite = Suite {
        tests: Vec::new(),
        main_folders: BTreeSet::new(),
        jvms: Vec::new(),
    };
    let mut set_aside = Vec::new();
    for (request, tests) in outlook.tasks() {
        let jvm = Jvm::new(request, runner);
        let task = suite.jvms.len();
        let classes: Vec<ClassName> = tests.iter().cloned().collect();
        let alone = workers.map(&classes, |class, desk| run_alone(&jvm, class, desk))?;
        let mut candidates = Vec::new();
        for (class, (ended, loaded)) in classes.into_iter().zip(alone) {
            let id = TestId::of_class(request.module.as_str(), class);
            match trouble(ended, "alone") {
                Some(why) => set_aside.push(aside(&id, why)),
                None => candidates.push(Test {
                    signature: signatures.get(&id).copied(),
                    id,
                    task,
                    millis: 0,
                    loaded,
                }),
            }
        }
        let jobs: Vec<Job> = candidates
            .iter()
            .map(|test| unlimited(&test.id.class))
            .collect();
        let ended = jvm.run(&jobs, &workers.desk(0)?)?;
        for (mut test, ended) in candidates.into_iter().zip(ended) {
            if let Some(why) = trouble(ended, "beside others") {
                set_aside.push(aside(&test.id, why));
            } else {
                test.millis = ended.millis;
                suite.tests.push(test);
            }
        }
        suite
            .main_folders
            .extend(main_folders(&request.classpath, tests));
        suite.jvms.push(jvm);
    }
    if suite.tests.is_empty() {
        return Err(MutantError::NoTests);
    }
    Ok((suite, set_aside))
}

/// The suite as an earlier run has measured it. Which classes a test loads is
/// not known then.
pub(super) fn known(
    outlook: &Outlook,
    signatures: &BTreeMap<TestId, Signature>,
    runner: &Runner,
    known: &Known,
) -> Result<Suite, MutantError> {
    let mut main_folders = BTreeSet::new();
    let mut jvms = Vec::new();
    let mut tasks = BTreeMap::new();
    for (request, tests) in outlook.tasks() {
        for class in tests {
            let id = TestId::of_class(request.module.as_str(), class.clone());
            tasks.insert(id.to_string(), (id, jvms.len()));
        }
        main_folders.extend(self::main_folders(&request.classpath, tests));
        jvms.push(Jvm::new(request, runner));
    }
    let mut test = |of: &SuiteTest| -> Result<Test, MutantError> {
        let (id, task) = tasks
            .remove(&of.test)
            .ok_or_else(|| known.has_another(&of.test))?;
        Ok(Test {
            signature: signatures.get(&id).copied(),
            id,
            task,
            millis: of.millis,
            loaded: None,
        })
    };
    Ok(Suite {
        tests: known
            .tests
            .iter()
            .map(&mut test)
            .collect::<Result<_, _>>()?,
        main_folders,
        jvms,
    })
}

/// How a test ends alone in a JVM, and which classes it loads there.
fn run_alone(
    jvm: &Jvm,
    class: &ClassName,
    mut desk: Desk,
) -> Result<(Ended, Option<BTreeSet<ClassName>>), MutantError> {
    let log = desk.folder.join("loaded.log");
    let _ = fs::remove_file(&log);
    desk.log = Some(log.clone());
    let ended = jvm.run(&[unlimited(class)], &desk)?[0];
    Ok((ended, fs::read_to_string(&log).ok().map(|log| loaded(&log))))
}

fn unlimited(class: &ClassName) -> Job {
    Job {
        name: class.dotted(),
        limit: WITHOUT_FAULT,
    }
}

fn aside(id: &TestId, why: String) -> SetAside {
    SetAside {
        test: id.to_string(),
        why,
    }
}

fn trouble(ended: Ended, how: &str) -> Option<String> {
    match ended.outcome {
        Outcome::Passed if ended.tests == 0 => {
            Some("nothing in it is run by the JUnit platform".to_owned())
        }
        Outcome::Passed => None,
        Outcome::Failed => Some(format!("it fails {how} without a fault")),
        Outcome::TimedOut => Some(format!("it does not end {how} without a fault")),
        Outcome::Crashed => Some(format!("it ends its JVM {how} without a fault")),
    }
}

/// Class names from a JVM's log: `com.acme.Foo source: file:/…`.
fn loaded(log: &str) -> BTreeSet<ClassName> {
    let names = log.lines().filter_map(|line| line.split(' ').next());
    names.map(ClassName::from_dotted).collect()
}

/// The folders of a class path that hold none of the tests.
fn main_folders(class_path: &[PathBuf], tests: &BTreeSet<ClassName>) -> Vec<PathBuf> {
    let holds_tests = |folder: &Path| {
        tests
            .iter()
            .any(|test| folder.join(format!("{test}.class")).is_file())
    };
    let folders = class_path.iter().filter(|entry| entry.is_dir());
    folders
        .filter(|folder| !holds_tests(folder))
        .cloned()
        .collect()
}
