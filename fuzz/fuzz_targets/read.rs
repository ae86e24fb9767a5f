//! Any bytes may come in as a class file.
//!
//! ```sh
//! cargo +nightly fuzz run read fuzz/corpus/read fuzz/seeds/read -- -timeout=10
//! ```
//!
//! The first folder takes what the fuzzer finds and is not kept in git; the
//! second holds the seeds, which `fuzz/make-seeds` compiles.

#![no_main]

#[path = "../../crates/classfile/tests/rewrite_support/exercise.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::do_everything(bytes));
