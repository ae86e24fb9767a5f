//! What people read: values in, text out.
//!
//! Each screen is a module with one function that takes plain values and gives
//! the whole text. Nothing here prints, asks the terminal, or reads a file.

#![forbid(unsafe_code)]

mod diff;
mod fingerprints;
mod numbers;
mod signature;
mod style;
mod table;

pub use diff::{Diff, diff_screen};
pub use fingerprints::{FingerprintedClass, fingerprints_screen};
pub use numbers::{counted, grouped};
pub use signature::{java_type, method_signature};
pub use style::{Colour, Style};
pub use table::Table;

/// How much of a long list a screen shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// What fits on a few screens, with a line that says how much is missing.
    Short,
    All,
}
