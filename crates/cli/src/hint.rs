//! What to do about an error.

use std::io;

use fewest_run::{LastRunError, LaunchError, OutlookError, ProjectFileError};
use fewest_store::ReadError;

use crate::input::InputError;

/// The next step for someone who has met this error, if there is one to name.
pub(crate) fn of(error: &anyhow::Error) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<InputError>() {
        return Some(error.hint());
    }
    if let Some(LastRunError::None(_)) = error.downcast_ref() {
        return Some("run your tests once under `fewest mvn` or `fewest exec`");
    }
    if let Some(error) = error.downcast_ref::<LaunchError>() {
        return of_launch(error);
    }
    match error.downcast_ref::<OutlookError>() {
        Some(OutlookError::Store(error)) => of_store(error),
        Some(OutlookError::ProjectFile(_)) => Some(PROJECT_FILE),
        // It says by itself what to do.
        Some(OutlookError::Since(_)) => None,
        None if error.is::<ProjectFileError>() => Some(PROJECT_FILE),
        None => error.downcast_ref::<ReadError>().and_then(of_store),
    }
}

const PROJECT_FILE: &str =
    "`docs/reference/configuration.md` describes every key; `fewest init` writes an example";

fn of_launch(error: &LaunchError) -> Option<&'static str> {
    match error {
        LaunchError::ProjectFile(_) => Some(PROJECT_FILE),
        LaunchError::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Some("is it installed, and on the PATH?")
        }
        LaunchError::Maven(_) => Some("install Maven, or use `fewest exec` for another build tool"),
        _ => None,
    }
}

fn of_store(error: &ReadError) -> Option<&'static str> {
    match error {
        ReadError::Missing { .. } => {
            Some("run your tests once under `fewest mvn` or `fewest exec` to make one")
        }
        ReadError::Damaged { .. } => {
            Some("the next run sets it aside, runs everything and makes a new one")
        }
        _ => None,
    }
}
