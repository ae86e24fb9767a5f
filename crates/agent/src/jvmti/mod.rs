//! The border to the JVM: all unsafe code of the agent.
//!
//! [`Jni`] and [`Jvmti`] wrap the few functions that the agent calls, so that
//! the rest of it is plain Rust. `exports` holds the functions that the JVM
//! calls; each guards against panics.

#![allow(
    unsafe_code,
    reason = "the JVM speaks C; everything that does so stands in this folder"
)]

mod env;
mod exports;
mod jni;
mod members;
mod natives;
mod probes;
mod statics;

pub(crate) use env::{Jvmti, Stack};
pub(crate) use jni::{Global, Jni, Local, StaticArray};
pub(crate) use natives::own_library;
pub(crate) use probes::ProbeArrays;
pub(crate) use statics::StaticFields;
