//! The file that the agent writes and the store reads.
//!
//! One JVM writes one trace, event by event, and never goes back. Every event
//! stands in a frame with its length and checksum, so a trace can be read up
//! to the last whole event whatever ended its JVM. A trace without a final
//! [`Event::End`] was cut: what it says is true, but it may not say all.

#![forbid(unsafe_code)]

mod deltas;
mod event;
mod reader;
mod writer;

pub use event::{
    ClassEntry, Event, FileStamp, Jvm, MethodBlocks, MethodStatements, ParentWindows, Thing, Uses,
    WindowClose, WindowOpen,
};
pub use reader::{ReadTraceError, ReadTraceErrorKind, Trace, read, read_file};
pub use writer::Writer;

/// The first bytes of every trace.
const MAGIC: &[u8; 8] = b"fewtrace";

/// The version of the format. A reader takes its own version only: traces
/// live for the length of a run, so nothing older is worth reading.
pub const FORMAT: u16 = 3;
