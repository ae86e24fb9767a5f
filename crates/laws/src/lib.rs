//! What selection must keep to, tried on whole programs.
//!
//! [`version`] compiles programs and runs their tests without the tool, and
//! [`stage`] lets the tool record and select.
//!
//! Only tests depend on it. Where the machine lets it down it panics: a test has
//! nothing else to do then.

#![forbid(unsafe_code)]

pub mod stage;
pub mod version;
