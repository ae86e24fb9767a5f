//! The library that test JVMs load with `-agentpath`.
//!
//! It rewrites classes as they load, so that each method tells when it runs,
//! listens where test frameworks begin and end tests, and writes down who used
//! what ([`fewest_trace`]). It decides nothing: which tests to leave out is
//! somebody else's to say.
//!
//! It is a guest. Whatever goes wrong in here, the user's program runs as it
//! would without, and the trace says that it proves nothing.

#![deny(unsafe_code)]

mod agent;
mod ask;
mod assemble;
mod children;
mod config;
mod files;
mod frameworks;
mod gate;
mod holder;
mod hooks;
mod instrument;
mod jvmti;
mod known;
mod ledger;
mod methods;
mod output;
mod registry;
mod reorder;
mod settings;
mod threads;
mod uses;

pub use config::{Config, ConfigError, MethodWindows};
