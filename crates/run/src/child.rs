//! The build as a child of this process.
//!
//! A user's Ctrl-C is for the build. This process outlives it, so that what the
//! build has done until then is kept.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

/// How a child ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// The signal by which this process was asked to end meanwhile.
    pub(crate) interrupted_by: Option<i32>,
}

/// Starts a command and waits for its end, whatever signals come.
pub(crate) fn run_to_end(command: &mut Command) -> io::Result<Ended> {
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let last = AtomicI32::new(0);
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            for origin in signals.forever() {
                last.store(origin.signal, Ordering::Relaxed);
                // What a terminal sends reaches the child by itself; what
                // somebody sends to this process alone must be passed on.
                if origin.process.is_some()
                    && let Some(signal) = Signal::from_named_raw(origin.signal)
                {
                    let _ = kill_process(pid, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        status
    })?;
    let last = last.into_inner();
    Ok(Ended {
        status,
        interrupted_by: (last != 0).then_some(last),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// A signal is for the whole process, and so for the children of all tests
    /// that run at that time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    #[test]
    fn a_signal_to_this_process_reaches_the_child_and_does_not_end_us() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let this = std::process::id();
        let mut command = Command::new("sh");
        // The child asks its parent to end, and ends when that is passed on.
        command.args([
            "-c",
            &format!("trap 'exit 7' TERM; kill -TERM {this}; while :; do sleep 0.05; done"),
        ]);
        let ended = run_to_end(&mut command).unwrap();
        assert_eq!(ended.status.code(), Some(7));
        assert_eq!(ended.interrupted_by, Some(SIGTERM));
    }

    #[test]
    fn without_a_signal_there_is_nothing_but_the_status() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = run_to_end(Command::new("sh").args(["-c", "exit 3"])).unwrap();
        assert_eq!(ended.status.code(), Some(3));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = run_to_end(&mut Command::new("no-such-program")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
