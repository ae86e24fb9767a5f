//! JVMs that run test classes, and are ended when one hangs.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fewest_build::TaskRequest;
use serde::{Deserialize, Serialize};

use super::MutantError;
use super::runner::Runner;
use crate::files;

/// How a test class ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Passed,
    Failed,
    /// It took far longer than without a fault, and was ended.
    TimedOut,
    /// Its JVM ended before it did.
    Crashed,
}

/// A test class to run.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) limit: Duration,
}

/// How a class ended, and after how many milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) millis: u64,
    pub(super) tests: u64,
}

/// The JVM of a task.
#[derive(Clone, Debug)]
pub(super) struct Jvm {
    request: TaskRequest,
    runner: Runner,
}

/// Where one run of classes keeps its files, and what is special about it.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    /// Nobody else uses it at the same time.
    pub(super) folder: PathBuf,
    /// Classes to find before those of the project.
    pub(super) planted: Option<PathBuf>,
    /// Where to write which classes are loaded.
    pub(super) log: Option<PathBuf>,
}

impl Desk {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            planted: None,
            log: None,
        }
    }
}

/// How often a JVM's results are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Enough for any JVM to start.
const START: Duration = Duration::from_secs(60);

/// How much of a class's limit is waited for. A fault that makes one class hang
/// tends to make others hang too.
#[derive(Clone, Copy, Debug)]
struct Patience {
    divisor: u32,
}

impl Patience {
    /// Halved by each class that has hung, down to an eighth.
    fn after(hung: usize) -> Self {
        Self {
            divisor: 1 << hung.min(3),
        }
    }

    fn with(self, job: &Job) -> Duration {
        job.limit / self.divisor
    }
}

impl Jvm {
    pub(super) fn new(request: &TaskRequest, runner: &Runner) -> Self {
        Self {
            request: request.clone(),
            runner: runner.clone(),
        }
    }

    /// Runs classes one after the other, in as few JVMs as possible: after
    /// one that hangs or ends its JVM, the rest run in another.
    pub(super) fn run(&self, jobs: &[Job], desk: &Desk) -> Result<Vec<Ended>, MutantError> {
        let mut ended: Vec<Ended> = Vec::new();
        while ended.len() < jobs.len() {
            let rest = &jobs[ended.len()..];
            let hung = ended.iter().filter(|e| e.outcome == Outcome::TimedOut);
            let patience = Patience::after(hung.count());
            ended.extend(self.run_once(rest, patience, desk)?);
        }
        Ok(ended)
    }

    /// Runs classes until one does not end by itself. At least one has ended
    /// afterwards.
    fn run_once(
        &self,
        jobs: &[Job],
        patience: Patience,
        desk: &Desk,
    ) -> Result<Vec<Ended>, MutantError> {
        let (list, results) = (desk.folder.join("classes"), desk.folder.join("results"));
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        files::write(&list, names.join("\n"))?;
        files::write(&results, "")?;
        let output = desk.folder.join("output.log");
        let out = File::create(&output).map_err(files::to("write", &output))?;
        let err = out.try_clone().map_err(files::to("write", &output))?;
        let mut command = self.command(desk);
        command.arg("MutantRunner").arg(&list).arg(&results);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(|source| MutantError::Start {
                program: command.get_program().into(),
                source,
            })?;
        let mut since = Instant::now();
        let mut seen = 0;
        loop {
            let gone = child.try_wait().map_err(files::to("wait for", &output))?;
            let said = fs::read_to_string(&results).map_err(files::to("read", &results))?;
            let lines = said.lines().count();
            if lines > seen {
                (seen, since) = (lines, Instant::now());
            }
            let mut ended = read(&said);
            let limit = match jobs.get(ended.len()) {
                Some(_) if seen == 0 => START,
                Some(job) => patience.with(job),
                None => LOOK,
            };
            let millis = since.elapsed().as_millis() as u64;
            let cut = |outcome| Ended {
                outcome,
                millis,
                tests: 0,
            };
            if gone.is_some() {
                if ended.len() < jobs.len() {
                    ended.push(cut(Outcome::Crashed));
                }
                return Ok(ended);
            }
            if since.elapsed() > limit {
                // Both fail only for a process that has ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                if ended.len() < jobs.len() {
                    ended.push(cut(Outcome::TimedOut));
                }
                return Ok(ended);
            }
            thread::sleep(LOOK);
        }
    }

    fn command(&self, desk: &Desk) -> Command {
        let request = &self.request;
        let java = request.java_home.as_ref().map(|home| home.join("bin/java"));
        let mut command = Command::new(java.unwrap_or_else(|| "java".into()));
        // A fault may allocate without end. The build's own limit wins.
        command.args(["-ea", "-Xmx1g"]);
        // A JVM that lives for seconds does not win back what its second
        // compiler costs.
        command.arg("-XX:TieredStopAtLevel=1");
        command.args(&request.jvm_args);
        if let Some(log) = &desk.log {
            command.arg(format!("-Xlog:class+load=info:file={}:none", log.display()));
        }
        for (name, value) in &request.system_properties {
            command.arg(format!("-D{name}={value}"));
        }
        let own = self.runner.class_path.iter();
        let class_path: Vec<&OsStr> = own
            .chain(&desk.planted)
            .chain(&request.classpath)
            .map(|entry| entry.as_os_str())
            .collect();
        command
            .arg("-cp")
            .arg(class_path.join(OsStr::new(":")))
            .envs(&request.environment)
            .current_dir(&request.basedir);
        command
    }
}

/// The classes that have ended, from what the program has written so far.
fn read(said: &str) -> Vec<Ended> {
    // The last line may be half written.
    let whole = said.rfind('\n').map_or("", |end| &said[..end]);
    let ended = whole.lines().filter_map(|line| line.strip_prefix("end "));
    ended
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1).map(str::parse::<u64>);
            let mut number = || words.next()?.ok();
            let (millis, tests, failed) = (number()?, number()?, number()?);
            let outcome = if failed == 0 {
                Outcome::Passed
            } else {
                Outcome::Failed
            };
            Some(Ended {
                outcome,
                millis,
                tests,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program in the place of the JVM, for which a class `Hang` never ends
    /// and a class `Crash` is its end.
    const JAVA: &str = r#"#!/bin/sh
        for last; do list=$results; results=$last; done
        while read -r name || [ -n "$name" ]; do
            echo "start $name" >> "$results"
            case $name in
                Hang) exec sleep 600 ;;
                Crash) exit 1 ;;
                Fail) echo "end $name 5 1 1" >> "$results" ;;
                *) echo "end $name 5 1 0" >> "$results" ;;
            esac
        done < "$list"
        echo done >> "$results"
    "#;

    fn jvm(folder: &Path) -> Jvm {
        use std::os::unix::fs::PermissionsExt;
        fs::create_dir(folder.join("bin")).unwrap();
        let java = folder.join("bin/java");
        fs::write(&java, JAVA).unwrap();
        fs::set_permissions(&java, fs::Permissions::from_mode(0o755)).unwrap();
        let request = TaskRequest {
            format: fewest_build::FORMAT,
            module: String::new(),
            task: "exec".into(),
            basedir: folder.to_owned(),
            classpath: Vec::new(),
            test_classes: None,
            test_sources: Vec::new(),
            run_all: None,
            reports: None,
            started_at: 1,
            java_home: Some(folder.to_owned()),
            jvm_args: Vec::new(),
            system_properties: std::collections::BTreeMap::new(),
            environment: std::collections::BTreeMap::new(),
            settings: std::collections::BTreeMap::new(),
        };
        let runner = Runner {
            class_path: Vec::new(),
        };
        Jvm::new(&request, &runner)
    }

    #[test]
    fn what_hangs_or_ends_its_jvm_is_told_and_the_rest_runs_in_another() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = ["Good", "Hang", "Fail", "Crash", "Good"].map(|name| Job {
            name: name.to_owned(),
            limit: Duration::from_secs(1),
        });
        let ended = jvm(folder.path())
            .run(&jobs, &Desk::new(folder.path()))
            .unwrap();
        let outcomes: Vec<Outcome> = ended.iter().map(|ended| ended.outcome).collect();
        assert_eq!(
            outcomes,
            [
                Outcome::Passed,
                Outcome::TimedOut,
                Outcome::Failed,
                Outcome::Crashed,
                Outcome::Passed
            ]
        );
    }

    #[test]
    fn patience_shrinks_with_each_class_that_hangs_and_never_runs_out() {
        let job = Job {
            name: "Slow".into(),
            limit: Duration::from_secs(80),
        };
        let seconds = [0, 1, 2, 3, 4, 100].map(|hung| Patience::after(hung).with(&job).as_secs());
        assert_eq!(seconds, [80, 40, 20, 10, 10, 10]);
    }

    #[test]
    fn results_are_read_as_far_as_they_are_written() {
        let said = "start a.B\nend a.B 12 3 0\nstart a.C\nend a.C 4 1 1\nstart a.D\nend a.D 5";
        let ended: Vec<_> = read(said)
            .iter()
            .map(|ended| (ended.outcome, ended.millis))
            .collect();
        assert_eq!(ended, [(Outcome::Passed, 12), (Outcome::Failed, 4)]);
        assert!(read("start a.B").is_empty());
    }
}
