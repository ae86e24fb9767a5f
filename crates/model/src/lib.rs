//! The words of fewest: ids and plain values that every other crate speaks in.
//!
//! Nothing here reads a file or knows the JVM. Names are kept as the virtual
//! machine writes them (`com/acme/Foo`); [`ClassName::dotted`] converts at the
//! edge, where people read them.

#![forbid(unsafe_code)]

mod element;
mod fingerprint;
mod name;
mod test;

pub use element::{Element, ElementKind, ParseElementError, Version, Walk, Watch};
pub use fingerprint::{Fingerprint, Hasher, ParseFingerprintError};
pub use name::{ClassName, MethodKey};
pub use test::{Outcome, TestId};
