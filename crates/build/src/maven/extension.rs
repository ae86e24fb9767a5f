//! The jar that fewest brings along for Maven.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fewest_model::Fingerprint;
use tempfile::NamedTempFile;
use thiserror::Error;

const JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/maven-extension.jar"));

#[derive(Debug, Error)]
#[error("failed to unpack the Maven extension to `{path}`")]
pub struct UnpackError {
    pub path: PathBuf,
    #[source]
    source: io::Error,
}

/// Puts the extension into a cache folder and returns its path.
///
/// The name follows the content, so versions of fewest live side by side, and
/// a file that is there already is not touched while a build may be using it.
pub fn unpack_extension(cache: &Path) -> Result<PathBuf, UnpackError> {
    let path = cache.join(format!("maven-extension-{}.jar", Fingerprint::of(JAR)));
    if fs::read(&path).is_ok_and(|bytes| bytes == JAR) {
        return Ok(path);
    }
    let unpack = || {
        fs::create_dir_all(cache)?;
        let mut file = NamedTempFile::new_in(cache)?;
        file.write_all(JAR)?;
        file.persist(&path)?;
        Ok(())
    };
    match unpack() {
        Ok(()) => Ok(path),
        Err(source) => Err(UnpackError { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_twice_gives_the_same_file_and_a_damaged_one_is_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("new folder");
        let path = unpack_extension(&folder).unwrap();
        assert_eq!(unpack_extension(&folder).unwrap(), path);
        fs::write(&path, b"half").unwrap();
        assert_eq!(unpack_extension(&folder).unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), JAR);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_cache_that_cannot_be_made_is_an_error_that_names_the_file() {
        let cache = NamedTempFile::new().unwrap();
        let error = unpack_extension(cache.path()).unwrap_err();
        assert!(error.to_string().contains("maven-extension-"));
    }
}
