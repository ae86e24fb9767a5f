//! Builds of one revision: Maven by itself, and Maven under fewest.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use fewest_build::reports::{ReadReportError, read_reports};
use fewest_model::Outcome;
use serde::Deserialize;
use thiserror::Error;

use crate::files::{self, FileError};
use crate::results::Suite;

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
    /// Where outputs go.
    pub(crate) logs: PathBuf,
}

/// A test of fewest's report, as far as it counts here.
#[derive(Debug, Deserialize)]
pub(crate) struct ReportedTest {
    pub(crate) test: String,

    pub(crate) verdict: String,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) millis: Option<u64>,
}

#[derive(Deserialize)]
struct Report {
    tests: Vec<ReportedTest>,
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
        let mut folders = Vec::new();
        report_folders(&self.folder, &mut folders)?;
        for folder in folders {
            // File systems keep coarser times than clocks do.
            let reports = read_reports(&folder, since - Duration::from_secs(1))?;
            for (class, report) in reports.classes {
                let failed = matches!(report.outcome, Outcome::Failed | Outcome::Unfinished);
                suite.tests.push(class.dotted());
                if failed {
                    suite.failed.push(class.dotted());
                }
                suite.test_millis += report.millis;
                suite.methods += u64::from(
                    report.cases.passed
                        + report.cases.failed
                        + report.cases.flaky
                        + report.cases.skipped,
                );
            }
        }
        suite.tests.sort();
        suite.failed.sort();
        Ok(suite)
    }

    /// Runs the suite under fewest.
    pub(crate) fn under_fewest(
        &self,
        technique: &str,
        collect: &str,
    ) -> Result<(Duration, Vec<ReportedTest>), BuildError> {
        let report = self.logs.join("report.json");
        let _ = fs::remove_file(&report);
        let mut command = Command::new(&self.fewest);
        command
            .args(["mvn", "--technique", technique, "--collect", collect])
            .arg("--report")
            .arg(&report)
            .args(&self.options)
            .arg("--")
            .args(self.common())
            .args(TEST);
        let time = self.run(command, &format!("{technique}-{collect}"))?;
        // A build in which no test was to run has none to report.
        let tests = match fs::read(&report) {
            Ok(bytes) => serde_json::from_slice::<Report>(&bytes)?.tests,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(files::to("read", &report)(error).into()),
        };
        Ok((time, tests))
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
