//! Exit codes of fewest's own. A build's code is passed on as it is.
//!
//! They start where builds seldom go; see `docs/reference/exit-codes.md`.

use std::io::ErrorKind;
use std::process::ExitCode;

use fewest_run::{LastRunError, LaunchError, OutlookError, ProjectFileError};
use fewest_store::ReadError;
use fewest_trace::ReadTraceError;

use crate::input::InputError;

/// A documented exit code.
#[derive(Clone, Copy)]
pub(crate) struct Exit(u8);

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

/// `diff --exit-code` found differences.
pub(crate) const DIFFERENCES: Exit = Exit(1);
/// `doctor` found a problem.
pub(crate) const UNHEALTHY: Exit = Exit(1);
/// `init` found a project file.
pub(crate) const EXISTS: Exit = Exit(1);
/// `why` or `covers` was asked about a name that is not known, or there are no
/// records to answer from.
pub(crate) const NOT_FOUND: Exit = Exit(1);
/// Something that the command line names cannot be read.
pub(crate) const INPUT: Exit = Exit(66);
/// Fewest itself failed.
pub(crate) const FAILURE: Exit = Exit(70);
/// The project file is not understood; nothing was run.
pub(crate) const PROJECT_FILE: Exit = Exit(78);
/// The command that was to run could not be started, as shells have it.
pub(crate) const NOT_STARTED: Exit = Exit(126);
pub(crate) const NO_COMMAND: Exit = Exit(127);

/// The code for an error that ends the program.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    if error.is::<InputError>() || error.is::<ReadTraceError>() {
        return INPUT;
    }
    if let Some(LastRunError::None(_)) = error.downcast_ref() {
        return NOT_FOUND;
    }
    if error.is::<ProjectFileError>() {
        return PROJECT_FILE;
    }
    match error.downcast_ref() {
        Some(OutlookError::ProjectFile(_)) => return PROJECT_FILE,
        Some(OutlookError::Store(ReadError::Missing { .. })) => return NOT_FOUND,
        _ => {}
    }
    match error.downcast_ref() {
        Some(LaunchError::ProjectFile(_)) => PROJECT_FILE,
        Some(LaunchError::Maven(_)) => NO_COMMAND,
        Some(LaunchError::Start { source, .. }) if source.kind() == ErrorKind::NotFound => {
            NO_COMMAND
        }
        Some(LaunchError::Start { .. }) => NOT_STARTED,
        _ => FAILURE,
    }
}
