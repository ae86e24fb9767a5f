//! Builds of one revision: Maven by itself, and Maven under fewest.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use fewest_build::reports::{ClassReport, ReadReportError, read_reports};
use fewest_model::{Outcome, TestId};
use fewest_select::Entity;
use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

use crate::files::{self, FileError};
use crate::results::Suite;
use crate::variant::Variant;

#[derive(Debug, Error)]
pub enum BuildError {
    #[error("failed to start `{program}`")]
    Start { program: String, source: io::Error },
    #[error("`{line}` ended with {status}; its output is in `{}`", log.display())]
    Failed {
        line: String,
        status: String,
        log: PathBuf,
    },
    #[error("fewest wrote a report that cannot be read")]
    Report(#[from] serde_json::Error),
    #[error("the build's reports of tests cannot be read")]
    Reports(#[from] ReadReportError),
    #[error(transparent)]
    File(#[from] FileError),
}

/// How to build the project.
#[derive(Clone, Debug)]
pub(crate) struct Maven {
    /// The folder of the project.
    pub(crate) folder: PathBuf,
    /// The program that wraps Maven.
    pub(crate) fewest: PathBuf,
    /// What the user adds to every call of Maven.
    pub(crate) args: Vec<String>,
    /// What the user adds to every call of fewest.
    pub(crate) options: Vec<String>,
    pub(crate) entity: Option<Entity>,
    /// Where outputs go.
    pub(crate) logs: PathBuf,
}

/// A test of fewest's report, as far as it counts here.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReportedTest {
    /// A class, or `class#method`.
    pub(crate) test: String,
    pub(crate) module: String,
    pub(crate) verdict: String,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) millis: Option<u64>,
    /// Which methods ran of a class that ran in part.
    #[serde(default)]
    pub(crate) methods: Option<IgnoredAny>,
}

impl ReportedTest {
    pub(crate) fn class(&self) -> &str {
        class_of(&self.test)
    }

    pub(crate) fn ran(&self) -> bool {
        self.verdict == "run"
    }

    pub(crate) fn failed(&self) -> bool {
        matches!(self.outcome, Some(Outcome::Failed | Outcome::Unfinished))
    }
}

/// The class of a test that may be a method, of a nested class even.
pub(crate) fn class_of(test: &str) -> &str {
    let class = TestId::class_of(test).dotted();
    test.get(..class.len()).unwrap_or(test)
}

/// A build under fewest.
#[derive(Debug, Default)]
pub(crate) struct UnderFewest {
    pub(crate) millis: u64,
    pub(crate) analysis_millis: Option<u64>,
    pub(crate) tests: Vec<ReportedTest>,
    /// How many test methods of each class ran, by the build's own reports.
    pub(crate) methods_of: BTreeMap<String, u64>,
}

/// Whether a run under fewest leaves tests out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Out,
    Nothing,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    tests: Vec<ReportedTest>,
    analysis_millis: Option<u64>,
}

impl Maven {
    /// Compiles everything from nothing.
    pub(crate) fn compile(&self) -> Result<Duration, BuildError> {
        let mut command = self.plain();
        command.args(["clean", "test-compile"]);
        self.run(command, "compile")
    }

    /// Runs the whole suite without fewest.
    pub(crate) fn full_suite(&self) -> Result<Suite, BuildError> {
        let since = SystemTime::now();
        let mut command = self.plain();
        command.args(TEST);
        let time = self.run(command, "full")?;
        let mut suite = Suite {
            millis: time.as_millis() as u64,
            ..Suite::default()
        };
        for (class, report) in self.reports(since)? {
            if matches!(report.outcome, Outcome::Failed | Outcome::Unfinished) {
                suite.failed.push(class.clone());
            }
            suite.test_millis += report.millis;
            suite.methods += cases(&report);
            suite.millis_of.insert(class.clone(), report.millis);
            suite.methods_of.insert(class.clone(), cases(&report));
            suite.tests.push(class);
        }
        Ok(suite)
    }

    /// Runs the suite under fewest.
    pub(crate) fn under_fewest(
        &self,
        variant: &Variant,
        collect: &str,
        leave: Leave,
    ) -> Result<UnderFewest, BuildError> {
        let report = self.logs.join("report.json");
        let _ = fs::remove_file(&report);
        let since = SystemTime::now();
        let mut command = Command::new(&self.fewest);
        if leave == Leave::Nothing {
            command.arg("shadow");
        }
        command.args(["mvn", "--technique", variant.technique.name()]);
        command.args(["--collect", collect]);
        if !variant.coarsen.is_empty() {
            command.args(["--coarsen", &variant.coarsen.to_string()]);
        }
        if let Some(entity) = self.entity {
            command.args(["--entity", entity.name()]);
        }
        command
            .arg("--report")
            .arg(&report)
            .args(&self.options)
            .arg("--")
            .args(self.common())
            .args(TEST);
        let time = self.run(command, &format!("{}-{collect}", variant.name()))?;
        // A build in which no test was to run has none to report.
        let told: Report = match fs::read(&report) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Report::default(),
            Err(error) => return Err(files::to("read", &report)(error).into()),
        };
        let reports = self.reports(since)?;
        Ok(UnderFewest {
            millis: time.as_millis() as u64,
            analysis_millis: told.analysis_millis,
            tests: told.tests,
            methods_of: reports
                .into_iter()
                .map(|(class, report)| (class, cases(&report)))
                .collect(),
        })
    }

    /// What the build's own reports tell of the test classes that ran since.
    fn reports(&self, since: SystemTime) -> Result<BTreeMap<String, ClassReport>, BuildError> {
        let mut folders = Vec::new();
        report_folders(&self.folder, &mut folders)?;
        let mut classes = BTreeMap::new();
        for folder in folders {
            // File systems keep coarser times than clocks do.
            let reports = read_reports(&folder, since - Duration::from_secs(1))?;
            let named = reports.classes.into_iter();
            classes.extend(named.map(|(class, report)| (class.dotted(), report)));
        }
        Ok(classes)
    }

    fn plain(&self) -> Command {
        let wrapper = self.folder.join("mvnw");
        let program = if wrapper.exists() {
            wrapper
        } else {
            "mvn".into()
        };
        let mut command = Command::new(program);
        command.args(self.common());
        command
    }

    fn common(&self) -> impl Iterator<Item = OsString> {
        let own = ["-B", "-q"].map(OsString::from).into_iter();
        own.chain(self.args.iter().map(OsString::from))
    }

    fn run(&self, mut command: Command, name: &str) -> Result<Duration, BuildError> {
        let log = self.logs.join(format!("{name}.log"));
        let out = File::create(&log).map_err(files::to("write", &log))?;
        let err = out.try_clone().map_err(files::to("write", &log))?;
        let program = command.get_program().to_string_lossy().into_owned();
        let started = Instant::now();
        let status = command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .status()
            .map_err(|source| BuildError::Start {
                program: program.clone(),
                source,
            })?;
        let time = started.elapsed();
        if status.success() {
            return Ok(time);
        }
        let words = command.get_args().map(|word| word.to_string_lossy());
        Err(BuildError::Failed {
            line: format!("{program} {}", words.collect::<Vec<_>>().join(" ")),
            status: status.to_string(),
            log,
        })
    }
}

fn cases(report: &ClassReport) -> u64 {
    let cases = report.cases;
    u64::from(cases.passed + cases.failed + cases.flaky + cases.skipped)
}

/// A failing test must not keep the tests of later modules from running.
const TEST: [&str; 2] = ["-Dmaven.test.failure.ignore=true", "test"];

/// The folders of Surefire's reports below a folder, each module's own.
fn report_folders(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), FileError> {
    let reports = folder.join("target/surefire-reports");
    if reports.is_dir() {
        found.push(reports);
    }
    let mut modules: BTreeMap<OsString, PathBuf> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(files::to("list", folder))? {
        let entry = entry.map_err(files::to("list", folder))?;
        let skipped = ["target", "src", ".git", ".fewest"];
        let name = entry.file_name();
        if entry.path().is_dir() && !skipped.iter().any(|skipped| name == *skipped) {
            modules.insert(name, entry.path());
        }
    }
    for module in modules.values() {
        report_folders(module, found)?;
    }
    Ok(())
}
