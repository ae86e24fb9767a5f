//! Techniques: what a test used becomes a record, and records become verdicts.
//!
//! Two halves, both pure. [`jvm_run`] and [`uses`] turn the trace of a JVM into
//! the elements that each test used, and [`class_graph`] tells what a test leads
//! to without a run; [`verdict`] tells from what is current
//! whether a test need run, and why. The middle, fingerprints of elements and
//! the keeping of records, is others' work.

#![forbid(unsafe_code)]

pub mod class_graph;
mod entity;
mod expansion;
pub mod jvm_run;
mod left_state;
pub mod method_uses;
mod technique;
pub mod uses;
pub mod verdict;

pub use entity::{Entity, ParseEntityError};
pub use left_state::is_of_framework;
pub use technique::{ParseTechniqueError, Technique};
