//! Children with a time limit.
//!
//! A test must end even when the program it started does not. [`Run`] takes
//! both output streams as they come, so that a chatty child never blocks on a
//! full pipe, and kills the child when its time is over.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(3);
/// A grandchild may keep the pipes open after the child's end; its output is
/// not waited for longer than this.
const PIPE_GRACE: Duration = Duration::from_secs(5);

/// One program to run to its end.
#[derive(Debug)]
pub struct Run {
    command: Command,
    timeout: Duration,
}

impl Run {
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self {
            command,
            timeout: DEFAULT_TIMEOUT,
        }
    }

    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.command.env_remove(name);
        self
    }

    #[must_use]
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// After this time the child is killed; two minutes unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs the program to its end, whatever its exit code.
    pub fn finish(mut self) -> Result<Finished, RunError> {
        let started = Instant::now();
        let mut child = self.command.spawn().map_err(|source| self.lost(source))?;
        let stdout = Capture::start(child.stdout.take());
        let stderr = Capture::start(child.stderr.take());
        let status = wait_until(&mut child, started + self.timeout);
        let (stdout, stderr) = (stdout.text(), stderr.text());
        match status.map_err(|source| self.lost(source))? {
            Some(status) => Ok(Finished {
                command: self.to_string(),
                status,
                stdout,
                stderr,
            }),
            None => Err(RunError::TimedOut {
                command: self.to_string(),
                after: self.timeout,
                stdout,
                stderr,
            }),
        }
    }

    /// Runs the program and takes any end but success as an error.
    pub fn succeed(self) -> Result<Finished, RunError> {
        let finished = self.finish()?;
        if finished.success() {
            Ok(finished)
        } else {
            Err(RunError::Failed(Box::new(finished)))
        }
    }

    fn lost(&self, source: io::Error) -> RunError {
        RunError::Lost {
            command: self.to_string(),
            source,
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command.get_program().to_string_lossy())?;
        for argument in self.command.get_args() {
            write!(f, " {}", argument.to_string_lossy())?;
        }
        Ok(())
    }
}

/// `None` when the time was over and the child has been killed.
fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// A thread that empties one pipe.
struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl Capture {
    fn start(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = mpsc::channel();
        let shared = Arc::clone(&bytes);
        thread::spawn(move || {
            if let Some(pipe) = pipe {
                drain(pipe, &shared);
            }
            // Nobody listens any more when the grace period is over.
            let _ = end.send(());
        });
        Self { bytes, ended }
    }

    fn text(self) -> String {
        // A timeout only means that a grandchild still holds the pipe.
        let _ = self.ended.recv_timeout(PIPE_GRACE);
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn drain(mut pipe: impl Read, into: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 8192];
    while let Ok(read @ 1..) = pipe.read(&mut chunk) {
        into.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(&chunk[..read]);
    }
}

/// A child that came to its own end.
#[derive(Clone, Debug)]
pub struct Finished {
    pub command: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// `None` when a signal ended the child.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

#[derive(Error)]
pub enum RunError {
    #[error("could not run `{command}`")]
    Lost {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error(
        "`{command}` did not end within {after:?} and was killed\n\
         --- stdout\n{stdout}\n--- stderr\n{stderr}"
    )]
    TimedOut {
        command: String,
        after: Duration,
        stdout: String,
        stderr: String,
    },
    #[error(
        "`{}` failed ({})\n--- stdout\n{}\n--- stderr\n{}",
        .0.command, .0.status, .0.stdout, .0.stderr
    )]
    Failed(Box<Finished>),
}

readable_debug!(RunError);

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Run {
        Run::new("sh").args(["-c", script])
    }

    #[test]
    fn both_streams_and_the_exit_code_come_back() {
        let finished = shell("echo out; echo err >&2; exit 7").finish().unwrap();
        assert_eq!(finished.code(), Some(7));
        assert_eq!(finished.stdout, "out\n");
        assert_eq!(finished.stderr, "err\n");
    }

    #[test]
    fn output_larger_than_a_pipe_does_not_block_the_child() {
        let finished = shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2")
            .finish()
            .unwrap();
        assert_eq!(finished.stdout.len(), 1_000_000);
        assert_eq!(finished.stderr.len(), 1_000_000);
    }

    #[test]
    fn a_child_that_does_not_end_is_killed_and_its_output_kept() {
        let error = shell("echo $$; exec sleep 600")
            .timeout(Duration::from_millis(500))
            .finish()
            .unwrap_err();
        let RunError::TimedOut { stdout, .. } = error else {
            panic!("{error}");
        };
        let process = Path::new("/proc").join(stdout.trim());
        assert!(!process.exists(), "{} lives on", process.display());
    }

    #[test]
    fn a_grandchild_that_holds_the_pipe_is_not_waited_for() {
        let finished = shell("echo before; sleep 600 & echo $!").finish().unwrap();
        let mut lines = finished.stdout.lines();
        assert_eq!(lines.next(), Some("before"));
        let grandchild = lines.next().unwrap();
        // `kill` is part of every shell; a program of that name may be absent.
        shell(&format!("kill {grandchild}")).succeed().unwrap();
    }

    #[test]
    fn succeed_shows_what_a_failing_child_said() {
        let error = shell("echo the reason >&2; exit 1").succeed().unwrap_err();
        assert!(error.to_string().contains("the reason"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let error = Run::new("no-such-program").arg("x").finish().unwrap_err();
        assert_eq!(error.to_string(), "could not run `no-such-program x`");
    }

    #[test]
    fn environment_and_folder_reach_the_child() {
        let folder = tempfile::tempdir().unwrap();
        let finished = shell("echo $GREETING; pwd -P")
            .env("GREETING", "hello")
            .current_dir(folder.path())
            .succeed()
            .unwrap();
        let folder = folder.path().canonicalize().unwrap();
        assert_eq!(finished.stdout, format!("hello\n{}\n", folder.display()));
    }
}
