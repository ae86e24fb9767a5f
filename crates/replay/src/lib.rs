//! Walks a repository's history and measures what fewest would have left out.
//!
//! A [`Replay`] works in a clone of its own, so neither the user's checkout nor
//! the user's store is touched. Every revision is built once; then the whole
//! suite and each technique run on it, each technique with its own store, or,
//! in quick mode, the whole suite once for all. What comes out is a line of
//! JSON per revision ([`results`]), from which [`tables`] are made at any time.
//!
//! [`mutants`] plants faults in the compiled classes of a revision, to have
//! failures that a selection must find, and [`orders`] tells how early each
//! order of the tests finds them.

#![forbid(unsafe_code)]
#![expect(
    clippy::cast_precision_loss,
    reason = "milliseconds and numbers of tests are far below 2^52"
)]

mod exact;
pub mod files;
pub mod git;
mod judging;
mod maven;
pub mod mutants;
pub mod orders;
mod planting;
mod quick;
mod replay;
pub mod results;
mod settings;
pub mod tables;
mod variant;

pub use files::FileError;
pub use git::GitError;
pub use maven::BuildError;
pub use replay::{Replay, ReplayError, Watcher};
pub use settings::{Range, Settings};
pub use variant::{Variant, each_type};
