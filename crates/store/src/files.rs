//! The files in the store's folder, and who may move them.
//!
//! SQLite guards what is inside the database. What it cannot guard is the
//! database's own name: a process that still has the old file open would
//! delete the log of the new one. So everybody who has the store open holds
//! `store.lock` shared, and whoever puts a file in place or sets one aside
//! holds it alone.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::error::Holder;

const DATABASE: &str = "store.db";
/// How often a lock that is held by another process is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// The names of the files in a store's folder.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    folder: PathBuf,
}

/// Held as long as the store is open.
#[derive(Debug)]
pub(crate) struct Lock {
    /// Closing the file gives the lock back. A folder that cannot be written
    /// and has no lock file needs none: nobody can move files in it.
    _file: Option<File>,
}

impl Files {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join(DATABASE)
    }

    /// Where a new database is made before it gets its name.
    pub(crate) fn draft(&self) -> PathBuf {
        self.folder.join("store.db.new")
    }

    /// Whether a log holds what may not be in the database yet.
    pub(crate) fn has_log(&self) -> bool {
        fs::metadata(with_suffix(&self.database(), "-wal")).is_ok_and(|log| log.len() > 0)
    }

    fn lock_file(&self) -> PathBuf {
        self.folder.join("store.lock")
    }

    /// Names the process that writes.
    fn holder_file(&self) -> PathBuf {
        self.folder.join("store.writer")
    }

    /// Says that somebody found the store damaged while reading it.
    fn suspicion_file(&self) -> PathBuf {
        self.folder.join("store.suspect")
    }

    pub(crate) fn lock_shared(&self, patience: Duration) -> io::Result<Option<Lock>> {
        let path = self.lock_file();
        let open = || {
            OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .open(&path)
        };
        let file = match open().or_else(|error| File::open(&path).map_err(|_| error)) {
            Ok(file) => file,
            Err(error) if is_read_only(&error) => return Ok(Some(Lock { _file: None })),
            Err(error) => return Err(error),
        };
        acquire(file, File::try_lock_shared, patience)
    }

    pub(crate) fn lock_alone(&self, patience: Duration) -> io::Result<Option<Lock>> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(self.lock_file())?;
        acquire(file, File::try_lock, patience)
    }

    /// Leaves the name of this process for those who wait. That it cannot be
    /// written changes nothing but the wording of their message.
    pub(crate) fn write_holder(&self) {
        let program = std::env::current_exe()
            .ok()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .unwrap_or_default();
        let _ = fs::write(
            self.holder_file(),
            format!("{} {program}", std::process::id()),
        );
    }

    pub(crate) fn remove_holder(&self) {
        let _ = fs::remove_file(self.holder_file());
    }

    pub(crate) fn holder(&self) -> Option<Holder> {
        let text = fs::read_to_string(self.holder_file()).ok()?;
        let (process, program) = text.split_once(' ')?;
        Some(Holder {
            process: process.parse().ok()?,
            program: program.to_owned(),
        })
    }

    /// Remembers damage for the next one who opens the store for writing.
    /// Where nothing can be written, each reader finds the damage anew.
    pub(crate) fn suspect(&self, what: &str) {
        let _ = fs::write(self.suspicion_file(), what);
    }

    pub(crate) fn suspicion(&self) -> Option<String> {
        let bytes = fs::read(self.suspicion_file()).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Moves the database away together with its log.
    ///
    /// The log goes first: one that stayed behind would be replayed into the
    /// next database. The suspicion goes last, so that a process killed half-way
    /// leaves the rest of the work to the next one.
    pub(crate) fn set_aside(&self, what: &str) -> io::Result<PathBuf> {
        self.suspect(what);
        let aside = self.unused_name();
        for suffix in ["-wal", "-shm"] {
            rename_if_there(
                &with_suffix(&self.database(), suffix),
                &with_suffix(&aside, suffix),
            )?;
        }
        rename_if_there(&self.database(), &aside)?;
        remove_if_there(&self.suspicion_file())?;
        Ok(aside)
    }

    fn unused_name(&self) -> PathBuf {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut millis = now.as_millis();
        loop {
            let path = self.folder.join(format!("{DATABASE}.damaged-{millis}"));
            if !path.exists() {
                return path;
            }
            millis += 1;
        }
    }

    /// Removes what a killed process or a hand left where a new database goes.
    pub(crate) fn clear_for_new(&self) -> io::Result<()> {
        for base in [self.draft(), self.database()] {
            for suffix in ["-wal", "-shm", "-journal"] {
                remove_if_there(&with_suffix(&base, suffix))?;
            }
        }
        remove_if_there(&self.suspicion_file())?;
        remove_if_there(&self.draft())
    }

    /// Gives a finished draft the database's name.
    pub(crate) fn place_draft(&self) -> io::Result<()> {
        fs::rename(self.draft(), self.database())?;
        // The new name must outlast a power cut as well. Not every platform
        // can synchronise a folder, and then there is nothing more to do.
        if let Ok(folder) = File::open(&self.folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// The first bytes of the database, or `None` if there is none.
    pub(crate) fn header(&self) -> io::Result<Option<Vec<u8>>> {
        let mut header = Vec::new();
        match File::open(self.database()) {
            Ok(file) => file.take(100).read_to_end(&mut header)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(header))
    }
}

pub(crate) fn is_read_only(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
    )
}

/// `None` means that the patience was not enough.
fn acquire(
    file: File,
    attempt: fn(&File) -> Result<(), TryLockError>,
    patience: Duration,
) -> io::Result<Option<Lock>> {
    let start = Instant::now();
    loop {
        match attempt(&file) {
            Ok(()) => return Ok(Some(Lock { _file: Some(file) })),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() >= patience => return Ok(None),
            Err(TryLockError::WouldBlock) => thread::sleep(RETRY),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    if_there(fs::rename(from, to))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    if_there(fs::remove_file(path))
}

fn if_there(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
