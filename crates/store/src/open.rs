//! Opening a store for writing, whatever lies in its folder.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::error::{Fault, OpenError, ReadError, WriteError};
use crate::files::{Files, Lock};
use crate::reader::Reader;
use crate::schema::{self, APPLICATION_ID, STEPS, Step};
use crate::writer::Writer;

/// How much the store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Records of one test in one environment. Each stands for a state of the
    /// code that the test passed in: enough to go back and forth between a few
    /// branches without running again.
    pub records_per_environment: usize,
    /// Records of one test in all environments. Every upgrade of a JDK or a
    /// framework makes a new environment, and old ones seldom come back.
    pub records_per_test: usize,
    /// Events in the history of one test.
    pub events: usize,
    pub runs: usize,
    /// Dropped records after which unused versions are looked for. The search
    /// reads every record, so it also waits until a quarter of them are new.
    pub dropped: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            records_per_environment: 8,
            records_per_test: 24,
            events: 50,
            runs: 1000,
            dropped: 256,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub limits: Limits,
    /// How long to wait for another process.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            patience: Duration::from_secs(30),
        }
    }
}

/// Something about the store that the user should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// There was no store.
    Created,
    /// The store had an older format.
    Migrated { from: u32, to: u32 },
    /// The store was damaged; it lies at `path`, and a new one was made.
    SetAside { path: PathBuf, what: String },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created => write!(f, "there was no store; a new one was made"),
            Self::Migrated { from, to } => {
                write!(f, "the store was brought from format {from} to {to}")
            }
            Self::SetAside { path, what } => write!(
                f,
                "the store was damaged ({what}); it was set aside as `{}` and a new one was made",
                path.display()
            ),
        }
    }
}

/// A store that is sound, and what had to be done for that.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    pub notice: Option<Notice>,
}

/// A store that may be written.
#[derive(Debug)]
pub struct Store {
    // Fields are dropped in this order, and the lock must outlive the
    // connection: closing it may delete the log.
    pub(crate) connection: Connection,
    pub(crate) files: Files,
    pub(crate) limits: Limits,
    _lock: Lock,
}

impl Store {
    /// Opens the store in a folder, making the folder and the store as needed.
    pub fn open(folder: &Path) -> Result<Opened, OpenError> {
        Self::open_with(folder, Options::default())
    }

    pub fn open_with(folder: &Path, options: Options) -> Result<Opened, OpenError> {
        open_with_steps(folder, options, STEPS)
    }

    /// Begins to write. Waits for another process that writes.
    pub fn write(&mut self) -> Result<Writer<'_>, WriteError> {
        Writer::begin(self)
    }

    /// A view of what is committed now.
    pub fn read(&self) -> Result<Reader, ReadError> {
        Reader::open(self.files.folder())
    }
}

/// How often to begin again when other processes change what was found.
const ATTEMPTS: usize = 8;

/// What lies where the store should be.
enum Finding {
    Sound(Connection),
    Nothing,
    Older { connection: Connection, found: u32 },
    Damaged(String),
}

fn open_with_steps(folder: &Path, options: Options, steps: &[Step]) -> Result<Opened, OpenError> {
    let files = Files::new(folder);
    let opening = Opening {
        files: &files,
        options,
        steps,
    };
    fs::create_dir_all(folder).map_err(|source| opening.folder_error(source))?;
    let mut notice = None;
    for _ in 0..ATTEMPTS {
        let lock = opening.lock(Files::lock_shared)?;
        if let Finding::Sound(connection) = opening.inspect()? {
            let store = Store {
                connection,
                files,
                limits: options.limits,
                _lock: lock,
            };
            return Ok(Opened { store, notice });
        }
        drop(lock);
        // Another process may have done the work in between, so what is to be
        // done is found out again under the lock.
        let _alone = opening.lock(Files::lock_alone)?;
        notice = opening.repair()?.or(notice);
    }
    Err(opening.busy())
}

struct Opening<'a> {
    files: &'a Files,
    options: Options,
    steps: &'a [Step],
}

impl Opening<'_> {
    fn lock(
        &self,
        lock: fn(&Files, Duration) -> io::Result<Option<Lock>>,
    ) -> Result<Lock, OpenError> {
        lock(self.files, self.options.patience)
            .map_err(|source| self.folder_error(source))?
            .ok_or_else(|| self.busy())
    }

    fn repair(&self) -> Result<Option<Notice>, OpenError> {
        match self.inspect()? {
            Finding::Sound(_) => Ok(None),
            Finding::Nothing => {
                self.create()?;
                Ok(Some(Notice::Created))
            }
            Finding::Damaged(what) => self.replace(what).map(Some),
            Finding::Older { connection, found } => self.migrate(connection, found).map(Some),
        }
    }

    fn inspect(&self) -> Result<Finding, OpenError> {
        let Some(header) = self
            .files
            .header()
            .map_err(|source| self.folder_error(source))?
        else {
            return Ok(Finding::Nothing);
        };
        if let Some(what) = self.files.suspicion() {
            return Ok(Finding::Damaged(what));
        }
        // A store of a newer fewest must stay as it is to the last byte, so
        // its header is read before SQLite may touch the file.
        match Header::parse(&header) {
            Err(what) => return Ok(Finding::Damaged(what.to_owned())),
            Ok(header) => self.refuse_newer(header.version)?,
        }
        if self.is_cut_within_page(&header) {
            return Ok(Finding::Damaged("its last page is cut short".to_owned()));
        }
        self.inspect_database().or_else(|fault| match fault {
            InspectFault::Refused(error) => Err(error),
            InspectFault::Fault(fault) => match fault.damage() {
                Some(what) => Ok(Finding::Damaged(what)),
                None => Err(self.database_error(fault)),
            },
        })
    }

    fn inspect_database(&self) -> Result<Finding, InspectFault> {
        let connection = connect(&self.files.database(), self.options.patience)?;
        let found = schema::version(&connection)?;
        if found > self.newest() {
            // The newer version stands in the log, which must stay as well.
            connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
                .map_err(Fault::from)?;
            self.refuse_newer(found).map_err(InspectFault::Refused)?;
        }
        let verdict: String = connection
            .pragma_query_value(None, "quick_check", |row| row.get(0))
            .map_err(Fault::from)?;
        if verdict != "ok" {
            return Ok(Finding::Damaged(verdict));
        }
        Ok(if found < self.newest() {
            Finding::Older { connection, found }
        } else {
            Finding::Sound(connection)
        })
    }

    /// SQLite takes zeros for what is missing from the last page. While there
    /// is a log, the file may be on its way to its length.
    fn is_cut_within_page(&self, header: &[u8]) -> bool {
        let page = match header[16..18] {
            [0, 1] => 65_536,
            [high, low] => u64::from(high) << 8 | u64::from(low),
            _ => return true,
        };
        !self.files.has_log()
            && fs::metadata(self.files.database())
                .is_ok_and(|file| page == 0 || file.len() % page != 0)
    }

    fn newest(&self) -> u32 {
        self.steps.len() as u32
    }

    fn refuse_newer(&self, found: u32) -> Result<(), OpenError> {
        if found <= self.newest() {
            return Ok(());
        }
        Err(OpenError::Newer {
            path: self.files.database(),
            found,
            supported: self.newest(),
        })
    }

    /// Makes the database under another name first, so that a process killed
    /// half-way leaves nothing that looks like a damaged store.
    fn create(&self) -> Result<(), OpenError> {
        self.files
            .clear_for_new()
            .map_err(|source| self.folder_error(source))?;
        self.draft().map_err(|fault| self.database_error(fault))?;
        self.files
            .place_draft()
            .map_err(|source| self.folder_error(source))
    }

    fn draft(&self) -> Result<(), Fault> {
        let mut connection = connect(&self.files.draft(), self.options.patience)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        schema::migrate(&mut connection, self.steps)?;
        // Closing moves everything from the log into the file, and says so if
        // it cannot.
        connection.close().map_err(|(_, error)| Fault::from(error))
    }

    fn replace(&self, what: String) -> Result<Notice, OpenError> {
        let path = self
            .files
            .set_aside(&what)
            .map_err(|source| self.folder_error(source))?;
        self.create()?;
        Ok(Notice::SetAside { path, what })
    }

    fn migrate(&self, mut connection: Connection, from: u32) -> Result<Notice, OpenError> {
        match schema::migrate(&mut connection, self.steps) {
            Ok(()) => Ok(Notice::Migrated {
                from,
                to: self.newest(),
            }),
            Err(fault) => match fault.damage() {
                Some(what) => {
                    drop(connection);
                    self.replace(what)
                }
                None => Err(self.database_error(fault)),
            },
        }
    }

    fn busy(&self) -> OpenError {
        OpenError::Busy {
            path: self.files.database(),
            holder: self.files.holder(),
        }
    }

    fn folder_error(&self, source: io::Error) -> OpenError {
        let path = self.files.folder().to_owned();
        if source.kind() == io::ErrorKind::StorageFull {
            let source = source.into();
            return OpenError::DiskFull { path, source };
        }
        OpenError::Folder { path, source }
    }

    fn database_error(&self, fault: Fault) -> OpenError {
        let path = self.files.database();
        let full = fault.is_disk_full();
        match fault {
            fault if fault.is_busy() => self.busy(),
            Fault::Sql(source) if full => OpenError::DiskFull {
                path,
                source: source.into(),
            },
            Fault::Sql(source) => OpenError::Database { path, source },
            Fault::Damaged(what) => OpenError::Folder {
                path,
                source: io::Error::new(io::ErrorKind::InvalidData, what),
            },
        }
    }
}

enum InspectFault {
    Refused(OpenError),
    Fault(Fault),
}

impl From<Fault> for InspectFault {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn connect(path: &Path, patience: Duration) -> Result<Connection, Fault> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(patience)?;
    // One commit ends a run, so the price of waiting for the disk is small.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "cache_size", -65_536)?;
    Ok(connection)
}

/// What the first 100 bytes of a SQLite file say; see "The Database Header"
/// in SQLite's description of its file format.
pub(crate) struct Header {
    pub(crate) version: u32,
}

impl Header {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        if bytes.is_empty() {
            return Err("it is empty");
        }
        if !bytes.starts_with(b"SQLite format 3\0") {
            return Err("it is not a database");
        }
        if bytes.len() < 100 {
            return Err("its header is cut short");
        }
        let number = |at: usize| {
            bytes[at..]
                .first_chunk()
                .map(|&four| u32::from_be_bytes(four))
        };
        match (number(60), number(68)) {
            (Some(version), Some(APPLICATION_ID)) => Ok(Self { version }),
            _ => Err("it belongs to another program"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use fewest_classfile::fingerprint::ClassFingerprints;
    use fewest_model::{ClassName, Element, Fingerprint, TestId, Version};
    use tempfile::tempdir;

    use super::*;
    use crate::{Environment, Pass, Record, VersionId};

    const OLDER: &[Step] = STEPS;
    const NEWER: &[Step] = &[STEPS[0], STEPS[1], |connection| {
        connection.execute_batch("ALTER TABLE test ADD COLUMN colour TEXT DEFAULT 'red'")?;
        Ok(())
    }];
    const FAILING: &[Step] = &[STEPS[0], STEPS[1], NEWER[2], |connection| {
        connection.execute_batch("CREATE TABLE half (id INTEGER)")?;
        Err(Fault::Sql(rusqlite::Error::InvalidQuery))
    }];

    fn open(folder: &Path, steps: &[Step]) -> Result<Opened, OpenError> {
        open_with_steps(folder, Options::default(), steps)
    }

    fn test() -> TestId {
        TestId::of_class("", ClassName::new("p/T"))
    }

    fn make_older(folder: &Path) {
        let mut store = open(folder, OLDER).unwrap().store;
        let mut writer = store.write().unwrap();
        writer.set_doubts(&test(), &["x".to_owned()]).unwrap();
        writer.commit().unwrap();
    }

    fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    #[test]
    fn an_older_store_is_brought_up_to_date_with_what_it_holds() {
        let folder = tempdir().unwrap();
        make_older(folder.path());
        let opened = open(folder.path(), NEWER).unwrap();
        assert_eq!(opened.notice, Some(Notice::Migrated { from: 2, to: 3 }));
        let colour: String = opened
            .store
            .connection
            .query_row("SELECT colour FROM test WHERE class = 'p/T'", (), |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(colour, "red");
        drop(opened);
        assert_eq!(open(folder.path(), NEWER).unwrap().notice, None);
    }

    #[test]
    fn a_store_without_parts_of_classes_keeps_its_records_and_gets_parts_from_then_on() {
        let folder = tempdir().unwrap();
        let version = Version {
            element: Element::Class("p/A".into()),
            fingerprint: Fingerprint::of(b"1"),
        };
        let record = Record {
            pass: Pass {
                test: test(),
                environment: Arc::new(Environment::from_iter([("jdk", "17")])),
                made_at: 1,
                millis: 2,
                revision: None,
            },
            uses: BTreeSet::from([version.clone()]),
        };
        let mut older = open(folder.path(), &STEPS[..1]).unwrap().store;
        let mut writer = older.write().unwrap();
        writer.add_record(&record).unwrap();
        writer.commit().unwrap();
        drop(older);
        let opened = open(folder.path(), STEPS).unwrap();
        assert_eq!(opened.notice, Some(Notice::Migrated { from: 1, to: 2 }));
        let mut store = opened.store;
        let class = ClassFingerprints {
            name: "p/A".into(),
            super_name: Some("java/lang/Object".into()),
            interfaces: Vec::new(),
            access: 1,
            head: Fingerprint::of(b"head"),
            shape: Fingerprint::of(b"shape"),
            class: version.fingerprint,
            methods: Vec::new(),
        };
        let parts = |store: &Store| {
            let reader = store.read().unwrap();
            let ledger = reader.ledger(None).unwrap();
            let all = ledger.uses(&ledger.records()[0]).unwrap();
            let used = VersionId(all.min().unwrap());
            ledger.class_of(&ledger.versions().get(used).unwrap())
        };
        assert_eq!(parts(&store).unwrap(), None);
        let mut writer = store.write().unwrap();
        writer.describe(&version, &class).unwrap();
        writer.commit().unwrap();
        assert_eq!(parts(&store).unwrap(), Some(class));
    }

    #[test]
    fn a_store_of_version_zero_gets_all_steps() {
        let folder = tempdir().unwrap();
        let connection = Connection::open(folder.path().join("store.db")).unwrap();
        connection
            .pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        drop(connection);
        let mut opened = open(folder.path(), STEPS).unwrap();
        assert_eq!(
            opened.notice,
            Some(Notice::Migrated {
                from: 0,
                to: schema::SCHEMA_VERSION
            })
        );
        let mut writer = opened.store.write().unwrap();
        writer.set_doubts(&test(), &["y".to_owned()]).unwrap();
        writer.commit().unwrap();
        assert_eq!(opened.store.read().unwrap().doubts(&test()).unwrap(), ["y"]);
    }

    #[test]
    fn steps_are_taken_all_or_none() {
        let folder = tempdir().unwrap();
        make_older(folder.path());
        let error = open(folder.path(), FAILING).unwrap_err();
        assert!(matches!(error, OpenError::Database { .. }), "{error:?}");
        let store = open(folder.path(), OLDER).unwrap();
        assert_eq!(store.notice, None);
        let tables: i64 = store
            .store
            .connection
            .query_row(
                "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%half%' OR sql LIKE '%colour%'",
                (),
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(tables, 0);
        assert_eq!(store.store.read().unwrap().doubts(&test()).unwrap(), ["x"]);
    }

    #[test]
    fn a_newer_store_is_left_as_it_is_to_the_last_byte() {
        let folder = tempdir().unwrap();
        make_older(folder.path());
        drop(open(folder.path(), NEWER).unwrap());
        let before = contents(folder.path());
        let error = open(folder.path(), OLDER).unwrap_err();
        assert!(
            matches!(
                error,
                OpenError::Newer {
                    found: 3,
                    supported: 2,
                    ..
                }
            ),
            "{error:?}"
        );
        assert!(error.to_string().contains("use a newer fewest"), "{error}");
        let error = Reader::open(folder.path()).unwrap_err();
        assert!(
            matches!(error, ReadError::Newer { found: 3, .. }),
            "{error:?}"
        );
        assert_eq!(contents(folder.path()), before);
    }

    #[test]
    fn a_newer_version_that_stands_in_the_log_is_noticed() {
        let folder = tempdir().unwrap();
        make_older(folder.path());
        // Somebody else who has the store open keeps the log from being moved
        // into the file when the migration is done.
        let other = Connection::open(folder.path().join("store.db")).unwrap();
        schema::version(&other).unwrap();
        let newer = open(folder.path(), NEWER).unwrap().store;
        // What a process leaves that is killed right after the migration.
        let killed = tempdir().unwrap();
        for (path, bytes) in contents(folder.path()) {
            fs::write(killed.path().join(path.file_name().unwrap()), bytes).unwrap();
        }
        drop((newer, other));
        let of = |name| fs::read(killed.path().join(name)).unwrap();
        let (database, log) = (of("store.db"), of("store.db-wal"));
        assert_eq!(Header::parse(&database[..100]).unwrap().version, 2);
        assert!(!log.is_empty());
        for _ in 0..2 {
            let error = open(killed.path(), OLDER).unwrap_err();
            assert!(
                matches!(error, OpenError::Newer { found: 3, .. }),
                "{error:?}"
            );
            let error = Reader::open(killed.path()).unwrap_err();
            assert!(
                matches!(error, ReadError::Newer { found: 3, .. }),
                "{error:?}"
            );
        }
        assert_eq!((of("store.db"), of("store.db-wal")), (database, log));
    }

    #[test]
    fn an_older_store_cannot_be_read_before_it_is_brought_up_to_date() {
        let folder = tempdir().unwrap();
        drop(open(folder.path(), &[]).unwrap());
        let error = Reader::open(folder.path()).unwrap_err();
        assert!(
            matches!(error, ReadError::Older { found: 0, .. }),
            "{error:?}"
        );
    }
}
