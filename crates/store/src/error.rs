//! What can go wrong, and telling damage from trouble around the store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use fewest_model::TestId;
use rusqlite::ErrorCode;
use rusqlite::ffi;
use thiserror::Error;

use crate::codec::Malformed;
use crate::record::RunId;

/// The process that writes the store while another one waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub process: u32,
    pub program: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.process, self.program)
    }
}

fn holder_or_unknown(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), Holder::to_string)
}

/// Why a store could not be opened for writing.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error(
        "the store `{}` has format {found}, this fewest knows formats up to {supported}: \
         use a newer fewest, or move the file away to start anew",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: u32,
        supported: u32,
    },
    #[error(
        "the store `{}` is in use by {} and needs repair: try again when that has ended",
        path.display(),
        holder_or_unknown(holder.as_ref())
    )]
    Busy {
        path: PathBuf,
        holder: Option<Holder>,
    },
    #[error("no space left for the store `{}`", path.display())]
    DiskFull {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("failed to prepare `{}`", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("failed to open the store `{}`", path.display())]
    Database {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

/// Why a store could not be read. Each of them is a doubt: everything runs.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error("there is no store at `{}`", path.display())]
    Missing { path: PathBuf },
    #[error(
        "the store `{}` has format {found}, this fewest knows formats up to {supported}: \
         use a newer fewest, or move the file away to start anew",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: u32,
        supported: u32,
    },
    #[error(
        "the store `{}` has the older format {found}: the next run that may write it brings it up to date",
        path.display()
    )]
    Older { path: PathBuf, found: u32 },
    #[error("the store `{}` is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("the store `{}` changed while it was read from a read-only folder", path.display())]
    Changed { path: PathBuf },
    #[error(
        "the store `{}` has an unfinished log that cannot be read from a read-only folder",
        path.display()
    )]
    PendingLog { path: PathBuf },
    #[error("failed to read `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("failed to read the store `{}`", path.display())]
    Database {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

/// Why something could not be written. Nothing of the transaction is kept.
#[derive(Debug, Error)]
pub enum WriteError {
    #[error(
        "the store `{}` is being written by {}",
        path.display(),
        holder_or_unknown(holder.as_ref())
    )]
    Busy {
        path: PathBuf,
        holder: Option<Holder>,
    },
    #[error("no space left for the store `{}`", path.display())]
    DiskFull {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the store `{}` is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("a record of `{test}` that uses nothing would leave it out for ever")]
    NothingUsed { test: TestId },
    #[error("a record of `{test}` uses a version that this transaction did not number")]
    UnknownVersion { test: TestId },
    #[error("the store knows no run {}", run.0)]
    UnknownRun { run: RunId },
    #[error("the store `{}` has used up its numbers: move it away to start anew", path.display())]
    Exhausted { path: PathBuf },
    #[error("an earlier failure made this transaction void")]
    Void,
    #[error("failed to write the store `{}`", path.display())]
    Database {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

/// A failure inside this crate, before it is known what was being done.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error("{0}")]
    Damaged(String),
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Damaged(malformed.to_string())
    }
}

impl Fault {
    pub(crate) fn on_read(self, path: &Path) -> ReadError {
        let path = path.to_owned();
        match (self.damage(), self) {
            (Some(what), _) | (None, Self::Damaged(what)) => ReadError::Damaged { path, what },
            (None, Self::Sql(source)) => ReadError::Database { path, source },
        }
    }

    pub(crate) fn on_write(self, path: &Path, holder: Option<Holder>) -> WriteError {
        let path = path.to_owned();
        let (busy, full) = (self.is_busy(), self.is_disk_full());
        match (self.damage(), self) {
            (Some(what), _) | (None, Self::Damaged(what)) => WriteError::Damaged { path, what },
            (None, Self::Sql(_)) if busy => WriteError::Busy { path, holder },
            (None, Self::Sql(source)) if full => WriteError::DiskFull { path, source },
            (None, Self::Sql(source)) => WriteError::Database { path, source },
        }
    }

    pub(crate) fn sum(table: &str, row: i64) -> Self {
        Self::Damaged(format!("row {row} of `{table}` does not match its sum"))
    }

    /// What is broken, if the file is; `None` means trouble around it.
    pub(crate) fn damage(&self) -> Option<String> {
        match self {
            Self::Damaged(what) => Some(what.clone()),
            Self::Sql(error) => is_damage(error).then(|| error.to_string()),
        }
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Sql(error) if matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        ))
    }

    pub(crate) fn is_disk_full(&self) -> bool {
        let Self::Sql(rusqlite::Error::SqliteFailure(error, _)) = self else {
            return false;
        };
        // The index of the log is a file of its own, and making it larger
        // fails with a code of its own.
        error.code == ErrorCode::DiskFull || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE
    }
}

/// Whether an error means that the file does not hold what it must.
///
/// The statements of this crate are fixed and tested, so one that does not fit
/// the tables, finds a value of another type or breaks a constraint has met a
/// broken file.
fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(error, _) => {
            matches!(
                error.code,
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
            ) || [ffi::SQLITE_ERROR, ffi::SQLITE_IOERR_SHORT_READ].contains(&error.extended_code)
        }
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::QueryReturnedNoRows => true,
        _ => false,
    }
}
