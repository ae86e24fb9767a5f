//! The current set: the versions that a checkout has now.
//!
//! [`Snapshot::take`] goes through a class path as the JVM would: folders and
//! jars in order, the first one that has a class wins, jars bring more entries
//! by their manifests, and multi-release jars answer for the JDK in use.
//! [`Snapshot::fingerprint`] then says what an element's content is now.
//!
//! Each entry of the class path becomes a [`table`], a compact block of bytes
//! that is also its cache file. While the file system says that nothing moved,
//! the block is used as it was written; nothing is opened but the block itself.
//!
//! Taking a snapshot cannot fail. What cannot be read is kept as a [`Doubt`]
//! that says so, and has a fingerprint that changes when it does.
//!
//! Nothing here knows of tests.

#![forbid(unsafe_code)]

mod cache;
mod class_path;
mod class_view;
mod content;
mod entry;
mod files;
mod folder;
mod graphs;
mod jar;
mod lookup;
mod manifest;
mod pattern;
mod settings;
mod snapshot;
mod stat;
mod table;

pub use class_view::{ClassView, MethodView, Origin};
pub use pattern::{FilePattern, PatternError};
pub use settings::Settings;
pub use snapshot::{ClassBytesError, Doubt, Snapshot};
