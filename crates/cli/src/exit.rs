//! Exit codes of fewest's own. A build's code is passed on as it is.
//!
//! They start where builds seldom go; see `docs/reference/exit-codes.md`.

use std::process::ExitCode;

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
/// Something that the command line names cannot be read.
pub(crate) const INPUT: Exit = Exit(66);
/// Fewest itself failed.
pub(crate) const FAILURE: Exit = Exit(70);

/// The code for an error that ends the program.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    if error.is::<InputError>() {
        INPUT
    } else {
        FAILURE
    }
}
