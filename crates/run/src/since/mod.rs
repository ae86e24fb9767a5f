//! `--since REV`: what changed, by the word of version control.
//!
//! [`ChangeSet`] asks git at the start of a run; [`Affected`] tells for each
//! task which of its tests that can affect. Records play no part in it: that
//! the tests were fine at the revision is the user's word.

mod affected;
mod change_set;
mod patch;

pub(crate) use affected::Affected;
pub use change_set::{ChangeSet, ChangeSetError};
