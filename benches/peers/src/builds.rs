//! One build: its command, its time, and how the tests in it ended.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail};
use fewest_build::reports::read_reports;
use fewest_model::Outcome;
use fewest_replay::files;

use crate::results::{Suite, Time};
use crate::tools::{Collect, Tool, modules};

/// How the project is built.
#[derive(Clone, Debug)]
pub(crate) struct Builds {
    /// The folder of the project.
    pub(crate) project: PathBuf,
    /// The program that wraps Maven.
    pub(crate) fewest: PathBuf,
    /// What the user adds to every call of Maven.
    pub(crate) args: Vec<String>,
    /// Where outputs go.
    pub(crate) logs: PathBuf,
}

impl Builds {
    /// Compiles everything from nothing.
    pub(crate) fn compile(&self) -> Result<()> {
        let mut command = Command::new("mvn");
        command.args(["-B", "-q"]).args(&self.args);
        command.args(["clean", "test-compile"]);
        self.run(command, "compile")?;
        Ok(())
    }

    /// Runs what a tool finds necessary.
    pub(crate) fn test(&self, tool: Tool, collect: Collect) -> Result<(Time, Suite)> {
        // What is in these folders afterwards was written by this build.
        for module in modules(&self.project)? {
            files::remove_folder(&self.project.join(module).join(REPORTS))?;
        }
        let mut command = if tool.is_ours() {
            let mut command = Command::new(&self.fewest);
            command.arg("mvn").args(tool.options(collect)).arg("--");
            command
        } else {
            Command::new("mvn")
        };
        command.args(["-B", "-q"]).args(&self.args);
        // A failing test must not keep those of later modules from running.
        command.arg("-Dmaven.test.failure.ignore=true");
        command.args(tool.goal(collect));
        let name = match collect {
            Collect::Now => tool.name().to_owned(),
            Collect::Off => format!("{}-off", tool.name()),
        };
        let time = self.run(command, &name)?;
        Ok((time, self.suite()?))
    }

    fn suite(&self) -> Result<Suite> {
        let mut suite = Suite::default();
        for module in modules(&self.project)? {
            let folder = self.project.join(module).join(REPORTS);
            if !folder.is_dir() {
                continue;
            }
            let reports = read_reports(&folder, SystemTime::UNIX_EPOCH)?;
            if let Some(damaged) = reports.damaged.into_iter().next() {
                return Err(damaged.into());
            }
            for (class, report) in reports.classes {
                if matches!(report.outcome, Outcome::Failed | Outcome::Unfinished) {
                    suite.failed.insert(class.dotted());
                }
                suite.tests.insert(class.dotted());
            }
        }
        Ok(suite)
    }

    fn run(&self, mut command: Command, name: &str) -> Result<Time> {
        let log = self.logs.join(format!("{name}.log"));
        let write = || format!("failed to write `{}`", log.display());
        let out = File::create(&log).with_context(write)?;
        let err = out.try_clone().with_context(write)?;
        let program = command.get_program().to_string_lossy().into_owned();
        let processor = processor_millis();
        let started = Instant::now();
        let status = command
            .current_dir(&self.project)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .status()
            .with_context(|| format!("failed to start `{program}`"))?;
        let time = Time {
            millis: started.elapsed().as_millis() as u64,
            processor_millis: processor_millis()
                .zip(processor)
                .map(|(after, before)| after - before),
        };
        if !status.success() {
            bail!(
                "`{program}` for {name} ended with {status}: {}",
                first_error(&log)
            );
        }
        Ok(time)
    }
}

const REPORTS: &str = "target/surefire-reports";

/// The first error in an output of Maven, which says most.
fn first_error(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().find(|line| line.contains("ERROR"));
    line.unwrap_or("it printed no error").trim().to_owned()
}

/// What all children that have ended took of the processors. Linux tells it in
/// hundredths of a second; elsewhere there is none.
fn processor_millis() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    children_ticks(&text).map(|ticks| ticks * 10)
}

/// `cutime` and `cstime` of proc(5). The second field may hold anything, so
/// fields are counted from its end.
fn children_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_stands_in_the_sixteenth_and_seventeenth_field() {
        let stat = "42 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 130 7 20 0 1";
        assert_eq!(children_ticks(stat), Some(137));
        assert_eq!(children_ticks("42 (x) S 1"), None);
    }
}
