//! Keeps tables between runs.
//!
//! Each table is a file of its own, named after the path of its class-path
//! entry, so that the modules of a build share what they have in common and a
//! change rewrites little. A file appears by renaming, whole or not at all;
//! readers and writers need no lock, and the last writer wins. A file that is
//! damaged, foreign, or of another format is as good as none.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fewest_classfile::fingerprint::Options;
use fewest_model::Fingerprint;

use crate::content::Content;
use crate::stat::{Stamp, Stat};
use crate::table::{FORMAT, Table};

const MAGIC: [u8; 8] = *b"fewestct";
/// Magic, format, scheme, and the checksum of the rest.
const HEADER: usize = 8 + 4 + 16 + 16;

pub(crate) struct Cache {
    folder: Option<PathBuf>,
    scheme: Fingerprint,
    stamp: Stamp,
    problems: Mutex<Vec<String>>,
}

impl Cache {
    /// Opens the cache, or says why there is none and goes without.
    pub(crate) fn open(folder: Option<&Path>, options: Options) -> Self {
        let mut cache = Self {
            folder: None,
            scheme: scheme(options),
            stamp: Stamp::NEVER,
            problems: Mutex::new(Vec::new()),
        };
        let Some(folder) = folder else {
            return cache;
        };
        match fs::create_dir_all(folder).and_then(|()| Stamp::now_in(folder)) {
            Ok(stamp) => {
                cache.folder = Some(folder.to_owned());
                cache.stamp = stamp;
            }
            Err(error) => cache.problem(folder, &error),
        }
        cache
    }

    /// A cache that believes it was opened at the given moment.
    #[cfg(test)]
    pub(crate) fn at(folder: &Path, stamp: Stamp) -> Self {
        Self {
            stamp,
            ..Self::open(Some(folder), Options::default())
        }
    }

    /// Whether what is learned now of a file with these marks may be used
    /// again next time.
    pub(crate) fn trusts(&self, stat: &Stat) -> bool {
        self.stamp.trusts(stat)
    }

    pub(crate) fn load(&self, path: &str) -> Option<Table> {
        let mut file = File::open(self.file(path)?).ok()?;
        let mut header = [0; HEADER];
        file.read_exact(&mut header).ok()?;
        let mut body = Vec::new();
        file.read_to_end(&mut body).ok()?;
        if header != self.header(&body) {
            return None;
        }
        Table::from_bytes(body).filter(|table| table.meta().path == path)
    }

    /// Writes a table. That this fails costs time in the next run, nothing
    /// else.
    pub(crate) fn save(&self, table: &Table) {
        let (Some(folder), Some(file)) = (&self.folder, self.file(&table.meta().path)) else {
            return;
        };
        if let Err(error) = self.write(folder, &file, table.bytes()) {
            self.problem(&file, &error);
        }
    }

    /// What went wrong with the cache.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.problems
            .lock()
            .map(|problems| problems.clone())
            .unwrap_or_default()
    }

    fn write(&self, folder: &Path, file: &Path, body: &[u8]) -> io::Result<()> {
        let mut temporary = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(folder)?;
        temporary.write_all(&self.header(body))?;
        temporary.write_all(body)?;
        // Not synced: after a power failure the checksum tells, and the table
        // is made anew.
        temporary.persist(file)?;
        Ok(())
    }

    fn file(&self, path: &str) -> Option<PathBuf> {
        let name = Fingerprint::of(format!("{} {path}", self.scheme).as_bytes());
        Some(self.folder.as_ref()?.join(format!("{name}.table")))
    }

    fn header(&self, body: &[u8]) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        header[12..28].copy_from_slice(self.scheme.as_bytes());
        header[28..].copy_from_slice(Fingerprint::of(body).as_bytes());
        header
    }

    fn problem(&self, place: &Path, error: &io::Error) {
        if let Ok(mut problems) = self.problems.lock() {
            problems.push(format!("cannot write `{}`: {error}", place.display()));
        }
    }
}

/// How fingerprints are taken: by which release of this tool, with which
/// options, and, so that no forgotten version number lets old and new ones
/// meet, what the fingerprints of a certain class are.
fn scheme(options: Options) -> Fingerprint {
    let text = format!(
        "{} {options:?} {:?}",
        env!("CARGO_PKG_VERSION"),
        Content::of("A.class", A_CLASS, options)
    );
    Fingerprint::of(text.as_bytes())
}

/// `class A { void m() { return; } }`, with a line number.
const A_CLASS: &[u8] = b"\xCA\xFE\xBA\xBE\0\0\0\x34\0\x09\
    \x01\0\x01A\
    \x07\0\x01\
    \x01\0\x10java/lang/Object\
    \x07\0\x03\
    \x01\0\x01m\
    \x01\0\x03()V\
    \x01\0\x04Code\
    \x01\0\x0FLineNumberTable\
    \0\x20\0\x02\0\x04\0\0\0\0\
    \0\x01\0\0\0\x05\0\x06\0\x01\
    \0\x07\0\0\0\x19\0\0\0\x01\0\0\0\x01\xB1\0\0\0\x01\
    \0\x08\0\0\0\x06\0\x01\0\0\0\x01\
    \0\0";
