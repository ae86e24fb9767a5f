//! Folders and files, with errors that name them.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

#[derive(Debug, Error)]
#[error("failed to {action} `{}`", path.display())]
pub struct FileError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Adds what was tried to an error.
pub fn to(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError {
        action,
        path,
        source,
    }
}

pub fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(to("make the folder", path))
}

pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), FileError> {
    fs::write(path, content).map_err(to("write", path))
}

pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(to("read", path))
}

pub fn rename(from: &Path, target: &Path) -> Result<(), FileError> {
    fs::rename(from, target).map_err(to("move", from))
}

/// Locks a file, which is made if need be, for as long as it is open. `None` if
/// somebody else has it.
pub fn lock(path: &Path) -> Result<Option<File>, FileError> {
    let file = File::create(path).map_err(to("write", path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(to("lock", path)(error)),
    }
}

/// Removes a folder, if it is there.
pub fn remove_folder(path: &Path) -> Result<(), FileError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(to("remove the folder", path)(error))
        }
        _ => Ok(()),
    }
}

/// Copies a folder with all that is in it.
pub fn copy_folder(from: &Path, target: &Path) -> Result<(), FileError> {
    make_folder(target)?;
    for entry in fs::read_dir(from).map_err(to("list", from))? {
        let entry = entry.map_err(to("list", from))?;
        let (path, target) = (entry.path(), target.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(to("copy", &path))?;
        }
    }
    Ok(())
}
