//! All classes of a JDK, as input for tests that want very many of them.
//!
//! The runtime image has its own format, which only a JVM reads well. A small
//! Java program copies it once into one plain file.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::cache::{self, CacheError, Key};
use crate::{Jdk, Run, RunError};

const DUMPER: &str = include_str!("../java/DumpModules.java");
/// The first feature release whose `java` runs a source file.
const FIRST_SOURCE_LAUNCHER: u32 = 11;

/// Class files in memory, sorted by name.
pub struct ClassCorpus {
    bytes: Vec<u8>,
    index: Vec<(Range<usize>, Range<usize>)>,
}

/// One class file of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorpusClass<'a> {
    /// The module and the path in it, as `java.base/java/lang/Object.class`.
    pub name: &'a str,
    pub bytes: &'a [u8],
}

#[derive(Error)]
pub enum CorpusError {
    #[error("JDK {0} has no runtime image that this crate can read; 11 is the oldest")]
    TooOld(u32),
    #[error("could not copy the runtime image")]
    Dump(#[from] RunError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("could not access `{}`", path.display())]
    Access {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("corpus `{}` is damaged at offset {offset}; delete it", path.display())]
    Damaged { path: PathBuf, offset: usize },
}

readable_debug!(CorpusError);

impl ClassCorpus {
    pub(crate) fn of(jdk: &Jdk) -> Result<Self, CorpusError> {
        if jdk.feature_version() < FIRST_SOURCE_LAUNCHER {
            return Err(CorpusError::TooOld(jdk.feature_version()));
        }
        let mut key = Key::default();
        key.part(jdk.key());
        key.part(DUMPER);
        let name = format!("modules/{}-{}", jdk.feature_version(), key.name());
        let entry = cache::make_once(&name, |folder| dump(jdk, folder))?;
        Self::open(&entry.join("classes"))
    }

    fn open(path: &Path) -> Result<Self, CorpusError> {
        let bytes = fs::read(path).map_err(access(path))?;
        let index = index(&bytes).map_err(|offset| CorpusError::Damaged {
            path: path.to_path_buf(),
            offset,
        })?;
        Ok(Self { bytes, index })
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub fn classes(&self) -> impl ExactSizeIterator<Item = CorpusClass<'_>> {
        self.index.iter().map(|(name, class)| CorpusClass {
            name: str::from_utf8(&self.bytes[name.clone()]).expect("`index` has checked the name"),
            bytes: &self.bytes[class.clone()],
        })
    }

    /// Writes each class to a file of its own below a folder.
    pub fn extract(&self, folder: &Path) -> Result<(), CorpusError> {
        for class in self.classes() {
            let path = folder.join(class.name);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(access(parent))?;
            fs::write(&path, class.bytes).map_err(access(&path))?;
        }
        Ok(())
    }
}

fn dump(jdk: &Jdk, folder: &Path) -> Result<(), CorpusError> {
    let source = folder.join("DumpModules.java");
    fs::write(&source, DUMPER).map_err(access(&source))?;
    Run::new(jdk.java())
        .arg(&source)
        .arg(folder.join("classes"))
        .timeout(Duration::from_secs(300))
        .succeed()?;
    Ok(())
}

fn access(path: &Path) -> impl FnOnce(io::Error) -> CorpusError {
    let path = path.to_path_buf();
    move |source| CorpusError::Access { path, source }
}

/// Where names and classes lie, or the offset where the file makes no sense.
#[expect(
    clippy::type_complexity,
    reason = "the pair of ranges is private to this file"
)]
fn index(bytes: &[u8]) -> Result<Vec<(Range<usize>, Range<usize>)>, usize> {
    let mut entries = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        let name = block(bytes, offset).ok_or(offset)?;
        str::from_utf8(&bytes[name.clone()]).map_err(|_| offset)?;
        let class = block(bytes, name.end).ok_or(name.end)?;
        offset = class.end;
        entries.push((name, class));
    }
    Ok(entries)
}

/// The bytes behind a length of four bytes.
fn block(bytes: &[u8], offset: usize) -> Option<Range<usize>> {
    let length = bytes.get(offset..)?.first_chunk::<4>()?;
    let start = offset + length.len();
    let end = start.checked_add(u32::from_be_bytes(*length) as usize)?;
    (end <= bytes.len()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_cut_short_is_damaged_and_not_just_shorter() {
        let whole = b"\0\0\0\x01A\0\0\0\x02xy\0\0\0\x01B\0\0\0\x01z";
        assert_eq!(index(whole), Ok(vec![(4..5, 9..11), (15..16, 20..21)]));
        assert_eq!(index(&whole[..20]), Err(16));
        assert_eq!(index(&whole[..13]), Err(11));
    }

    #[test]
    fn jvm_writes_every_class_of_every_jdk() {
        for jdk in Jdk::all() {
            let corpus = jdk.modules().unwrap();
            assert!(corpus.len() > 20_000, "{} classes", corpus.len());
            assert!(
                corpus
                    .classes()
                    .all(|class| class.bytes.starts_with(b"\xca\xfe\xba\xbe"))
            );
            assert!(corpus.classes().map(|class| class.name).is_sorted());
            for name in [
                "java.base/java/lang/Object.class",
                "java.base/module-info.class",
            ] {
                assert!(corpus.classes().any(|class| class.name == name), "{name}");
            }
        }
    }

    #[test]
    fn a_corpus_extracts_to_the_same_bytes() {
        let bytes = b"\0\0\0\x09m/p/A.cla\0\0\0\x02xy".to_vec();
        let index = index(&bytes).unwrap();
        let folder = tempfile::tempdir().unwrap();
        ClassCorpus { bytes, index }.extract(folder.path()).unwrap();
        assert_eq!(fs::read(folder.path().join("m/p/A.cla")).unwrap(), b"xy");
    }
}
