//! Class files: bytes in, values out.
//!
//! [`read`] takes a class file apart without copying it. On top of it,
//! `fingerprint` reduces a class to what can change behaviour, `changes`
//! compares two versions, `references` and `graph` say what a method names
//! and how control flows through it, `lines` which lines of its source it comes
//! from, `rewrite` puts code into methods, and `mutate` makes classes with a
//! fault.
//!
//! No I/O and no JVM: callers bring bytes. Bad bytes give a [`read::ReadError`]
//! with an offset, never a panic.

#![forbid(unsafe_code)]

pub mod annotations;
pub mod changes;
pub mod fingerprint;
pub mod graph;
pub mod lines;
pub mod mutate;
pub mod read;
pub mod references;
pub mod rewrite;
