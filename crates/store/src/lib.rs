//! Records, outcomes and runs of a project, kept on SQLite.
//!
//! The store keeps what others learned: which versions a test used when it
//! passed, how each test ended, and which runs there were. It does not know
//! how a record is made, and it does not decide which tests run.
//!
//! [`Store::open`] gives the one who writes a sound store, whatever lies in the
//! folder; [`Reader::open`] gives everybody else a view that a writer cannot
//! disturb. `docs/reference/store.md` describes the file and its guarantees.

#![forbid(unsafe_code)]
#![expect(clippy::doc_markdown, reason = "SQLite is a name, not code")]

mod class_parts;
mod codec;
mod environment;
mod error;
mod files;
mod intern;
mod ledger;
mod open;
mod overview;
mod reader;
mod record;
mod schema;
mod sum;
mod table;
mod writer;

pub use environment::{Environment, EnvironmentChange};
pub use error::{Holder, OpenError, ReadError, WriteError};
pub use ledger::{KnownRecord, KnownTest, Ledger};
pub use open::{Limits, Notice, Opened, Options, Store};
pub use overview::Overview;
pub use reader::Reader;
pub use record::{Ending, Event, NewRun, Pass, Record, Run, RunId, Sequence, VersionId};
pub use schema::SCHEMA_VERSION;
pub use table::{KnownVersion, Subject, VersionTable};
pub use writer::{Added, Collected, Writer};
