//! What the tests of the other crates share.
//!
//! Real class files come from a real compiler, real jars from Maven Central,
//! and rewritten classes are judged by a real JVM. This crate finds those tools
//! ([`Jdk`]), compiles fixture sources ([`Javac`]), brings jars
//! ([`maven_jars`]), runs children with a time limit ([`Run`], [`JavaRun`]) and
//! gives each test its own folder ([`TestProject`]). Work that costs a JVM start
//! is kept below the target folder and done once.
//!
//! Only tests and benchmarks depend on it. It reads neither class files nor
//! archives: what those mean is the business of the crates under test.

#![forbid(unsafe_code)]

#[macro_use]
mod readable;
mod cache;
mod corpus;
mod java_run;
mod javac;
mod jdk;
mod maven;
mod process;
mod project;

pub use cache::{CacheError, cache_dir};
pub use corpus::{ClassCorpus, CorpusClass, CorpusError};
pub use java_run::JavaRun;
pub use javac::{Compilation, CompileError, Javac, compile};
pub use jdk::Jdk;
pub use maven::{Coordinates, MavenError, maven_jar, maven_jars};
pub use process::{Finished, Run, RunError};
pub use project::TestProject;
