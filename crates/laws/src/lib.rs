//! The laws of selection, tried on programs that nobody wrote.
//!
//! [`program`] and [`generate`] make small Java programs with tests, [`edit`]
//! changes them, [`version`] compiles them and runs their tests without the
//! tool, and [`stage`] lets the tool record and select. [`rules`] says what must
//! hold between the two, and [`shrink`] makes what breaks a rule small.
//!
//! Only tests and the program that runs them for hours depend on it. Where the
//! machine lets it down it panics: a test has nothing else to do then.

#![forbid(unsafe_code)]

pub mod batch;
pub mod edit;
pub mod generate;
pub mod program;
mod render;
pub mod rules;
pub mod session;
pub mod shrink;
pub mod stage;
mod statics;
pub mod version;
