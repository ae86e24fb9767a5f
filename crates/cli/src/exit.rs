//! Exit codes of fewest's own. A build's code is passed on as it is.
//!
//! They start where builds seldom go; see `docs/reference/exit-codes.md`.

use std::process::ExitCode;

/// A documented exit code.
#[derive(Clone, Copy)]
pub(crate) struct Exit(u8);

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

/// Fewest itself failed.
pub(crate) const FAILURE: Exit = Exit(70);
