//! One entry of the class path, and the table that is known of it.

use std::fs;
use std::path::{Path, PathBuf};

use fewest_classfile::fingerprint::Options;
use rayon::prelude::*;

use crate::cache::Cache;
use crate::content::{Content, unknown_fingerprint};
use crate::stat::Stat;
use crate::table::{Builder, Location, Meta, Opaque, Table};
use crate::{folder, jar};

/// An entry of the class path as it is now.
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) kind: EntryKind,
    pub(crate) table: Table,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// There is nothing at that path, or nothing that the JVM would open.
    Missing,
    Folder,
    Jar,
}

impl Entry {
    pub(crate) fn load(path: &Path, cache: &Cache, options: Options) -> Self {
        let (kind, table) = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                (EntryKind::Folder, folder::load(path, cache, options))
            }
            Ok(metadata) if metadata.is_file() => {
                let stat = Stat::of(&metadata);
                (EntryKind::Jar, jar::load(path, stat, cache, options))
            }
            Ok(_) => (EntryKind::Missing, empty(path, None)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                (EntryKind::Missing, empty(path, None))
            }
            Err(error) => (EntryKind::Missing, empty(path, Some(&error))),
        };
        Self {
            path: path.to_owned(),
            kind,
            table,
        }
    }
}

/// The table of an entry that holds nothing, or nobody knows what.
fn empty(path: &Path, error: Option<&std::io::Error>) -> Table {
    let meta = Meta {
        path: key(path),
        opaque: error.map(Opaque::unreadable),
        ..Meta::default()
    };
    finish(Builder::new(), meta)
}

/// The name by which the cache knows an entry.
pub(crate) fn key(path: &Path) -> String {
    // Two paths that are no Unicode must not become the same text.
    path.to_str().map_or_else(
        || {
            path.as_os_str()
                .as_encoded_bytes()
                .escape_ascii()
                .to_string()
        },
        str::to_owned,
    )
}

/// A directory with its files, as seen by name and marks only.
#[derive(Debug, Default)]
pub(crate) struct FoundDirectory {
    pub(crate) name: String,
    pub(crate) explicit: bool,
    pub(crate) files: Vec<FoundFile>,
}

#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) name: String,
    pub(crate) location: Location,
    pub(crate) trusted: bool,
    /// The item of the older table that still says what the file holds.
    pub(crate) kept: Option<u32>,
}

/// Whether the older table says all there is to say of what was found.
pub(crate) fn is_unchanged(found: &[FoundDirectory], old: &Table) -> bool {
    found.len() == old.directory_count()
        && found.iter().map(|d| d.files.len()).sum::<usize>() == old.item_count()
        && found
            .iter()
            .zip(old.directories())
            .all(|(new, old)| new.name == old.name && new.explicit == old.explicit)
        && found
            .iter()
            .flat_map(|directory| &directory.files)
            .all(|file| file.kept.is_some())
}

/// Makes the table of what was found, and looks into the files of which the
/// older one says nothing.
///
/// `read` gives `None` for a file that has gone since it was found.
pub(crate) fn assemble(
    found: &mut [FoundDirectory],
    old: Option<&Table>,
    meta: Meta,
    read: impl Fn(&FoundDirectory, &FoundFile) -> Option<Content> + Sync,
) -> Table {
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    for directory in &mut *found {
        directory.files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    }
    let unknown: Vec<_> = found
        .iter()
        .flat_map(|directory| directory.files.iter().map(move |file| (directory, file)))
        .filter(|(_, file)| file.kept.is_none())
        .collect();
    let mut contents = unknown
        .par_iter()
        .map(|(directory, file)| read(directory, file))
        .collect::<Vec<_>>()
        .into_iter();

    let mut builder = old.map_or_else(Builder::new, Builder::over);
    for directory in &*found {
        builder.directory(&directory.name, directory.explicit);
        for file in &directory.files {
            if let (Some(old), Some(kept)) = (old, file.kept) {
                builder.copy(old.item(kept), &file.location, file.trusted);
            } else if let Some(content) = contents.next().flatten() {
                let trusted = file.trusted && content.was_seen();
                builder.item(&file.name, &file.location, trusted, &content);
            }
        }
    }
    finish(builder, meta)
}

fn finish(builder: Builder, meta: Meta) -> Table {
    let path = meta.path.clone();
    builder.finish(meta).unwrap_or_else(|error| {
        let meta = Meta {
            path,
            opaque: Some(Opaque {
                reason: error.to_string(),
                fingerprint: unknown_fingerprint(),
            }),
            ..Meta::default()
        };
        let empty = Builder::new().finish(meta);
        empty.expect("a table without items is small")
    })
}

impl Opaque {
    pub(crate) fn unreadable(error: &std::io::Error) -> Self {
        Self {
            reason: error.to_string(),
            fingerprint: unknown_fingerprint(),
        }
    }
}
