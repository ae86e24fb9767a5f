//! What is expensive to make and the same in every run.
//!
//! Entries are folders below the target folder. Each is made beside its place
//! and renamed into it, so a reader meets a whole entry or none, whoever was
//! killed meanwhile.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;
use thiserror::Error;

#[derive(Error)]
#[error("could not use the cache at `{}`", path.display())]
pub struct CacheError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

readable_debug!(CacheError);

impl CacheError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self { path, source }
    }
}

/// The folder `fewest-testkit` in cargo's target folder.
pub fn cache_dir() -> PathBuf {
    target_dir().join("fewest-testkit")
}

/// Cargo marks its target folder with `CACHEDIR.TAG`, and test binaries lie
/// below it. This holds however the folder was chosen, while `CARGO_TARGET_DIR`
/// may be unset or relative to a folder that the test does not know.
fn target_dir() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|exe| {
            exe.ancestors()
                .find(|folder| folder.join("CACHEDIR.TAG").is_file())
                .map(Path::to_path_buf)
        })
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"))
}

/// The entry `name`, made by `make` unless it is there. Whoever asks meanwhile
/// waits instead of doing the same work.
pub(crate) fn make_once<E: From<CacheError>>(
    name: &str,
    make: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<PathBuf, E> {
    let entry = cache_dir().join(name);
    if entry.is_dir() {
        return Ok(entry);
    }
    let _lock = Lock::take(name)?;
    if !entry.is_dir() {
        let fresh = workspace()?;
        make(fresh.path())?;
        publish(fresh.path(), &entry)?;
    }
    Ok(entry)
}

/// A new folder beside the entries, removed when dropped.
pub(crate) fn workspace() -> Result<TempDir, CacheError> {
    let folder = cache_dir().join("work");
    fs::create_dir_all(&folder)
        .and_then(|()| tempfile::tempdir_in(&folder))
        .map_err(CacheError::at(&folder))
}

/// Moves a finished folder to its place. Equal names mean equal content, so the
/// folder of whoever came first stays.
pub(crate) fn publish(fresh: &Path, entry: &Path) -> Result<(), CacheError> {
    let moved =
        fs::create_dir_all(entry.parent().unwrap_or(entry)).and_then(|()| fs::rename(fresh, entry));
    match moved {
        Err(_) if entry.is_dir() => Ok(()),
        other => other.map_err(CacheError::at(entry)),
    }
}

/// Held by one process at a time; the system frees it when the holder ends.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(name: &str) -> Result<Self, CacheError> {
        let path = cache_dir()
            .join("locks")
            .join(name.replace(['/', ':'], "_"));
        Self::take_file(&path).map_err(CacheError::at(&path))
    }

    fn take_file(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        let file = File::create(path)?;
        // A signal may interrupt the waiting.
        while let Err(error) = flock(&file, FlockOperation::LockExclusive) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        Ok(Self { _file: file })
    }
}

/// Names an entry by all that went into it. Each part has its length in front,
/// so that moving a letter from one part to the next makes another key.
#[derive(Default)]
pub(crate) struct Key(blake3::Hasher);

impl Key {
    pub(crate) fn part(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The content of a file, or of all files below a folder with their names.
    pub(crate) fn tree(&mut self, path: &Path) -> Result<(), CacheError> {
        self.tree_below(path).map_err(CacheError::at(path))
    }

    fn tree_below(&mut self, path: &Path) -> io::Result<()> {
        if !path.is_dir() {
            self.part(fs::read(path)?);
            return Ok(());
        }
        let mut children = fs::read_dir(path)?
            .map(|child| child.map(|child| child.path()))
            .collect::<io::Result<Vec<_>>>()?;
        children.sort();
        self.part(children.len().to_le_bytes());
        for child in children {
            self.part(child.file_name().unwrap_or_default().as_encoded_bytes());
            self.tree_below(&child)?;
        }
        Ok(())
    }

    pub(crate) fn name(&self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}

/// Copies all files below `from` to the same places below `to`.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), CacheError> {
    fs::create_dir_all(to).map_err(CacheError::at(to))?;
    for child in fs::read_dir(from).map_err(CacheError::at(from))? {
        let child = child.map_err(CacheError::at(from))?.path();
        let target = to.join(child.file_name().unwrap_or_default());
        if child.is_dir() {
            copy_tree(&child, &target)?;
        } else {
            fs::copy(&child, &target).map_err(CacheError::at(&target))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn unique_name(test: &str) -> String {
        format!("tests/{test}-{}", std::process::id())
    }

    #[test]
    fn many_who_ask_at_once_make_an_entry_once() {
        let name = unique_name("once");
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let entry = make_once::<CacheError>(&name, |folder| {
                        made.fetch_add(1, Ordering::SeqCst);
                        let file = folder.join("whole");
                        fs::write(&file, "x").map_err(CacheError::at(&file))
                    });
                    assert!(entry.unwrap().join("whole").is_file());
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        fs::remove_dir_all(cache_dir().join(&name)).unwrap();
    }

    #[test]
    fn an_entry_whose_making_failed_is_absent_and_made_again() {
        let name = unique_name("failed");
        let entry = cache_dir().join(&name);
        let failure = make_once::<CacheError>(&name, |folder| {
            fs::write(folder.join("half"), "x").unwrap();
            Err(CacheError::at(folder)(io::Error::other("on purpose")))
        });
        assert!(failure.is_err());
        assert!(!entry.exists());
        make_once::<CacheError>(&name, |_| Ok(())).unwrap();
        assert!(entry.is_dir());
        fs::remove_dir_all(entry).unwrap();
    }

    #[test]
    fn the_first_of_two_equal_entries_stays() {
        let entry = cache_dir().join(unique_name("first"));
        for content in ["first", "second"] {
            let fresh = workspace().unwrap();
            fs::write(fresh.path().join("file"), content).unwrap();
            publish(fresh.path(), &entry).unwrap();
        }
        assert_eq!(fs::read_to_string(entry.join("file")).unwrap(), "first");
        fs::remove_dir_all(entry).unwrap();
    }

    #[test]
    fn a_letter_that_moves_to_the_next_part_changes_the_key() {
        let key = |parts: [&str; 2]| {
            let mut key = Key::default();
            for part in parts {
                key.part(part);
            }
            key.name()
        };
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_eq!(key(["ab", "c"]), key(["ab", "c"]));
    }

    #[test]
    fn the_key_of_a_folder_sees_names_and_contents() {
        let folder = tempfile::tempdir().unwrap();
        let key = || {
            let mut key = Key::default();
            key.tree(folder.path()).unwrap();
            key.name()
        };
        fs::create_dir(folder.path().join("p")).unwrap();
        fs::write(folder.path().join("p/A"), "1").unwrap();
        let first = key();
        fs::write(folder.path().join("p/A"), "2").unwrap();
        let edited = key();
        fs::rename(folder.path().join("p/A"), folder.path().join("p/B")).unwrap();
        let renamed = key();
        assert_ne!(first, edited);
        assert_ne!(edited, renamed);
    }
}
