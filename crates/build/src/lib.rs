//! Between fewest and the tools that build JVM projects.
//!
//! A build asks, through files, which of its tests it may leave out
//! ([`TaskRequest`], [`TaskAnswer`]); [`maven`] starts Maven so that it does;
//! [`reports`] reads how the tests ended. How the answer comes about is no
//! business of this crate.

#![forbid(unsafe_code)]

pub mod maven;
pub mod reports;
mod task;

pub use task::{FORMAT, TaskAnswer, TaskFileError, TaskFileErrorKind, TaskRequest};
