//! Starts Maven with the extension that asks before each run of tests.

mod command;
mod extension;
mod project;

pub use command::{Invocation, MavenBuild, MavenError, Surroundings};
pub use extension::{UnpackError, unpack_extension};
