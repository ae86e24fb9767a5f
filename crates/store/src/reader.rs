//! Reading the store while others may write it.
//!
//! A reader sees what was committed when it was opened and nothing later.
//! Whatever it cannot make sense of is an error, which its caller treats as
//! doubt; damage is also remembered in the folder, so that the next one who
//! writes sets the file aside.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fewest_model::TestId;
use roaring::RoaringBitmap;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, ffi};

use crate::codec::unpack_texts;
use crate::error::{Fault, ReadError};
use crate::files::{Files, Lock};
use crate::ledger::Ledger;
use crate::open::Header;
use crate::record::{Event, Events, NewRun, Run, RunId, Sequence};
use crate::schema::{self, SCHEMA_VERSION};
use crate::sum::Sum;

/// How long a reader waits for one who repairs, or for the log to be restored
/// after a crash.
const PATIENCE: Duration = Duration::from_secs(30);

/// A view of the store at one moment.
#[derive(Debug)]
pub struct Reader {
    // The lock must outlive the connection.
    pub(crate) connection: Connection,
    files: Files,
    /// What the file looked like when it was opened without locks, as it must
    /// be in a folder where SQLite can make none.
    stamp: Option<Stamp>,
    _lock: Lock,
}

impl Reader {
    /// Opens the store in a folder. The folder may be read-only.
    pub fn open(folder: &Path) -> Result<Self, ReadError> {
        let files = Files::new(folder);
        let path = files.database();
        let io_error = |source| ReadError::Io {
            path: files.database(),
            source,
        };
        if !path.try_exists().map_err(io_error)? {
            return Err(ReadError::Missing { path });
        }
        let lock = files
            .lock_shared(PATIENCE)
            .map_err(io_error)?
            .ok_or_else(|| io_error(std::io::ErrorKind::TimedOut.into()))?;
        if let Some(what) = files.suspicion() {
            return Err(ReadError::Damaged { path, what });
        }
        let header = files
            .header()
            .map_err(io_error)?
            .ok_or_else(|| ReadError::Missing { path: path.clone() })?;
        match Header::parse(&header) {
            Err(what) => {
                let what = what.to_owned();
                return Err(ReadError::Damaged { path, what });
            }
            Ok(header) => check_version(&path, header.version)?,
        }
        let (connection, stamp) = connect(&files)?;
        let reader = Self {
            connection,
            files,
            stamp,
            _lock: lock,
        };
        let version = reader.guarded(schema::version)?;
        check_version(&path, version)?;
        if version < SCHEMA_VERSION {
            let found = version;
            return Err(ReadError::Older { path, found });
        }
        Ok(reader)
    }

    /// Everything that selection needs: of one module, or of all.
    pub fn ledger(&self, module: Option<&str>) -> Result<Ledger<'_>, ReadError> {
        self.guarded(|_| Ledger::load(self, module))
    }

    /// The history of a test, newest first.
    pub fn history(&self, test: &TestId) -> Result<Vec<Event>, ReadError> {
        self.guarded(|connection| match TestRow::find(connection, test)? {
            Some(row) => Ok(Events::of(&row.history).collect::<Result<_, _>>()?),
            None => Ok(Vec::new()),
        })
    }

    /// Why the last run of a test made no record.
    pub fn doubts(&self, test: &TestId) -> Result<Vec<String>, ReadError> {
        self.guarded(|connection| match TestRow::find(connection, test)? {
            Some(row) => Ok(unpack_texts(&row.doubts)?),
            None => Ok(Vec::new()),
        })
    }

    pub fn run(&self, id: RunId) -> Result<Option<Run>, ReadError> {
        self.guarded(|connection| Ok(RunRow::load(connection, id)?.map(|row| row.into_run(id))))
    }

    /// The newest runs, newest first.
    pub fn runs(&self, limit: usize) -> Result<Vec<Run>, ReadError> {
        self.guarded(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT id FROM run ORDER BY id DESC LIMIT ?")?;
            let ids = statement.query_map((limit as i64,), |row| row.get(0))?;
            ids.map(|id| {
                let id = RunId(id?);
                let row = RunRow::load(connection, id)?;
                Ok(row.ok_or_else(|| Fault::sum("run", id.0))?.into_run(id))
            })
            .collect()
        })
    }

    /// How many runs began after the last one that ran every test to its end.
    /// `None` if there was no such run.
    pub fn runs_since_full(&self) -> Result<Option<u64>, ReadError> {
        self.guarded(|connection| {
            let full: Option<i64> = connection.query_row(
                "SELECT max(id) FROM run WHERE full AND finished_at IS NOT NULL",
                (),
                |row| row.get(0),
            )?;
            let Some(full) = full else { return Ok(None) };
            let count: i64 =
                connection.query_row("SELECT count(*) FROM run WHERE id > ?", (full,), |row| {
                    row.get(0)
                })?;
            Ok(Some(count as u64))
        })
    }

    /// Reads every row and checks its sum. For `doctor`; selection checks what
    /// it reads by itself.
    pub fn verify(&self) -> Result<(), ReadError> {
        let ledger = self.ledger(None)?;
        let mut known = RoaringBitmap::new();
        for subject in ledger.versions().subjects() {
            for version in subject.versions() {
                known.insert(version.id.0);
                ledger.class_of(&version)?;
            }
        }
        for record in ledger.records() {
            let uses = ledger.uses(record)?;
            self.guarded(|_| match (uses - &known).min() {
                Some(lost) => Err(Fault::Damaged(format!("version {lost} is lost"))),
                None => Ok(()),
            })?;
        }
        self.runs(usize::MAX >> 1).map(|_| ())
    }

    /// Runs a job and says what its failure means.
    pub(crate) fn guarded<T>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, ReadError> {
        let result = job(&self.connection);
        if let Some(stamp) = &self.stamp
            && Stamp::of(&self.files) != Some(*stamp)
        {
            let path = self.files.database();
            return Err(ReadError::Changed { path });
        }
        result.map_err(|fault| {
            let error = fault.on_read(&self.files.database());
            if let ReadError::Damaged { what, .. } = &error {
                self.files.suspect(what);
            }
            error
        })
    }
}

fn check_version(path: &Path, found: u32) -> Result<(), ReadError> {
    if found <= SCHEMA_VERSION {
        return Ok(());
    }
    Err(ReadError::Newer {
        path: path.to_owned(),
        found,
        supported: SCHEMA_VERSION,
    })
}

/// Opens the database and fixes the moment that is seen.
fn connect(files: &Files) -> Result<(Connection, Option<Stamp>), ReadError> {
    let path = files.database();
    match connect_to(&path, false) {
        Ok(connection) => Ok((connection, None)),
        // SQLite keeps its locks in a file beside the log, and cannot make one
        // in a folder that is read-only.
        Err(fault) if cannot_make_files(&fault) => connect_read_only(files),
        Err(fault) => Err(fault.on_read(&path)),
    }
}

/// Reads a database that no log belongs to, without any lock. With a log, the
/// database alone may be older than what was committed or lie between two
/// states.
fn connect_read_only(files: &Files) -> Result<(Connection, Option<Stamp>), ReadError> {
    let path = files.database();
    let Some(stamp) = Stamp::of(files) else {
        return Err(ReadError::PendingLog { path });
    };
    let connection = connect_to(&path, true).map_err(|fault| fault.on_read(&path))?;
    Ok((connection, Some(stamp)))
}

fn connect_to(path: &Path, immutable: bool) -> Result<Connection, Fault> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if immutable {
        flags |= OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable_uri(path), flags)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "cache_size", -32_768)?;
    // The snapshot is taken by the first read.
    connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
    Ok(connection)
}

fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}

fn cannot_make_files(fault: &Fault) -> bool {
    let Fault::Sql(rusqlite::Error::SqliteFailure(error, _)) = fault else {
        return false;
    };
    [ffi::SQLITE_CANTOPEN, ffi::SQLITE_READONLY].contains(&(error.extended_code & 0xff))
        || fault.is_disk_full()
}

/// By what a change of the file is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// `None` if there is a log, or if it cannot be told.
    fn of(files: &Files) -> Option<Self> {
        if files.has_log() {
            return None;
        }
        let metadata = fs::metadata(files.database()).ok()?;
        Some(Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

/// How the method of a test stands in its column: a whole class has none, and
/// a column of a unique key cannot be null.
pub(crate) fn method_column(test: &TestId) -> String {
    match &test.method {
        Some(method) => format!("#{method}"),
        None => String::new(),
    }
}

/// A row of `test`.
pub(crate) struct TestRow {
    pub(crate) row: i64,
    pub(crate) doubts: Vec<u8>,
    pub(crate) history: Vec<u8>,
}

impl TestRow {
    pub(crate) fn find(connection: &Connection, test: &TestId) -> Result<Option<Self>, Fault> {
        let found = connection
            .prepare_cached(
                "SELECT id, doubts, history, sum FROM test \
                 WHERE module = ? AND class = ? AND method = ?",
            )?
            .query_row(
                (&*test.module, test.class.as_str(), method_column(test)),
                |row| {
                    let found = Self {
                        row: row.get(0)?,
                        doubts: row.get(1)?,
                        history: row.get(2)?,
                    };
                    Ok((found, row.get(3)?))
                },
            )
            .optional()?;
        let Some((found, sum)) = found else {
            return Ok(None);
        };
        if Self::sum(found.row, test, &found.doubts, &found.history) == sum {
            Ok(Some(found))
        } else {
            Err(Fault::sum("test", found.row))
        }
    }

    pub(crate) fn sum(row: i64, test: &TestId, doubts: &[u8], history: &[u8]) -> i64 {
        Sum::of("test")
            .integer(row)
            .text(&test.module)
            .text(test.class.as_str())
            .text(&method_column(test))
            .bytes(doubts)
            .bytes(history)
            .finish()
    }
}

/// A row of `record`.
#[derive(Debug)]
pub(crate) struct RecordRow {
    pub(crate) id: i64,
    pub(crate) test: i64,
    pub(crate) environment: i64,
    pub(crate) sequence: Sequence,
    pub(crate) made_at: i64,
    pub(crate) millis: u32,
    pub(crate) revision: Option<Arc<str>>,
    pub(crate) uses_sum: i64,
}

impl RecordRow {
    /// The columns that [`RecordRow::parse`] takes.
    pub(crate) const COLUMNS: &str = "record.id, record.test, record.environment, \
         record.sequence, record.made_at, record.millis, record.revision, record.uses_sum, \
         record.sum";

    pub(crate) fn parse(row: &Row<'_>) -> Result<Self, Fault> {
        let revision = row.get_ref(6)?.as_str_or_null();
        let record = Self {
            id: row.get(0)?,
            test: row.get(1)?,
            environment: row.get(2)?,
            sequence: Sequence(row.get::<_, i64>(3)? as u64),
            made_at: row.get(4)?,
            millis: row.get(5)?,
            revision: revision.map_err(rusqlite::Error::from)?.map(Arc::from),
            uses_sum: row.get(7)?,
        };
        if record.sum() == row.get::<_, i64>(8)? {
            Ok(record)
        } else {
            Err(Fault::sum("record", record.id))
        }
    }

    /// The sum leaves out the number of the row, which SQLite gives when the
    /// sum is already written; the uses, found by that number, have their own.
    fn sum(&self) -> i64 {
        Sum::of("record")
            .integer(self.test)
            .integer(self.environment)
            .integer(self.sequence.0 as i64)
            .integer(self.made_at)
            .integer(i64::from(self.millis))
            .optional(self.revision.as_deref())
            .integer(self.uses_sum)
            .finish()
    }

    pub(crate) fn of_test(connection: &Connection, test: i64) -> Result<Vec<Self>, Fault> {
        let columns = Self::COLUMNS;
        let mut statement =
            connection.prepare_cached(&format!("SELECT {columns} FROM record WHERE test = ?"))?;
        let mut rows = statement.query((test,))?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            records.push(Self::parse(row)?);
        }
        Ok(records)
    }

    pub(crate) fn insert(&mut self, connection: &Connection, uses: &[u8]) -> Result<(), Fault> {
        connection
            .prepare_cached(
                "INSERT INTO record \
                 (test, environment, sequence, made_at, millis, revision, uses_sum, sum) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute((
                self.test,
                self.environment,
                self.sequence.0 as i64,
                self.made_at,
                self.millis,
                self.revision.as_deref(),
                self.uses_sum,
                self.sum(),
            ))?;
        self.id = connection.last_insert_rowid();
        connection
            .prepare_cached("INSERT INTO uses (record, versions) VALUES (?, ?)")?
            .execute((self.id, uses))?;
        Ok(())
    }

    /// Writes everything but the uses.
    pub(crate) fn update(&self, connection: &Connection) -> Result<(), Fault> {
        connection
            .prepare_cached(
                "UPDATE record SET sequence = ?, made_at = ?, millis = ?, revision = ?, sum = ? \
                 WHERE id = ?",
            )?
            .execute((
                self.sequence.0 as i64,
                self.made_at,
                self.millis,
                self.revision.as_deref(),
                self.sum(),
                self.id,
            ))?;
        Ok(())
    }

    pub(crate) fn packed_uses(&self, connection: &Connection) -> Result<Vec<u8>, Fault> {
        connection
            .prepare_cached("SELECT versions FROM uses WHERE record = ?")?
            .query_row((self.id,), |row| row.get(0))
            .optional()?
            .ok_or_else(|| lost_uses(self.id))
    }
}

pub(crate) fn lost_uses(record: i64) -> Fault {
    Fault::Damaged(format!("record {record} has lost its uses"))
}

pub(crate) fn uses_sum(packed: &[u8]) -> i64 {
    Sum::of("uses").bytes(packed).finish()
}

pub(crate) fn unpack_uses(record: i64, packed: &[u8], sum: i64) -> Result<RoaringBitmap, Fault> {
    if uses_sum(packed) != sum {
        return Err(Fault::sum("uses", record));
    }
    RoaringBitmap::deserialize_from(packed)
        .map_err(|error| Fault::Damaged(format!("the uses of record {record}: {error}")))
}

/// A row of `run`.
pub(crate) struct RunRow {
    pub(crate) begun: NewRun,
    pub(crate) finished_at: Option<i64>,
    pub(crate) full: bool,
}

impl RunRow {
    fn sum(&self) -> i64 {
        Sum::of("run")
            .integer(self.begun.started_at)
            .optional(self.begun.revision.as_deref())
            .text(&self.begun.command)
            .text(&self.begun.technique)
            .integer(i64::from(self.finished_at.is_some()))
            .integer(self.finished_at.unwrap_or_default())
            .integer(i64::from(self.full))
            .finish()
    }

    pub(crate) fn load(connection: &Connection, id: RunId) -> Result<Option<Self>, Fault> {
        let found = connection
            .prepare_cached(
                "SELECT started_at, finished_at, revision, command, technique, full, sum \
                 FROM run WHERE id = ?",
            )?
            .query_row((id.0,), |row| {
                let run = Self {
                    begun: NewRun {
                        started_at: row.get(0)?,
                        revision: row.get(2)?,
                        command: row.get(3)?,
                        technique: row.get(4)?,
                    },
                    finished_at: row.get(1)?,
                    full: row.get(5)?,
                };
                Ok((run, row.get::<_, i64>(6)?))
            })
            .optional()?;
        match found {
            Some((run, sum)) if run.sum() == sum => Ok(Some(run)),
            Some(_) => Err(Fault::sum("run", id.0)),
            None => Ok(None),
        }
    }

    pub(crate) fn insert(&self, connection: &Connection) -> Result<RunId, Fault> {
        connection
            .prepare_cached(
                "INSERT INTO run \
                 (started_at, finished_at, revision, command, technique, full, sum) \
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute((
                self.begun.started_at,
                self.finished_at,
                &self.begun.revision,
                &self.begun.command,
                &self.begun.technique,
                self.full,
                self.sum(),
            ))?;
        Ok(RunId(connection.last_insert_rowid()))
    }

    pub(crate) fn update(&self, connection: &Connection, id: RunId) -> Result<(), Fault> {
        connection
            .prepare_cached("UPDATE run SET finished_at = ?, full = ?, sum = ? WHERE id = ?")?
            .execute((self.finished_at, self.full, self.sum(), id.0))?;
        Ok(())
    }

    fn into_run(self, id: RunId) -> Run {
        Run {
            id,
            begun: self.begun,
            finished_at: self.finished_at,
            full: self.full,
        }
    }
}
