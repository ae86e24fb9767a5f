//! Walks a folder of classes and resources.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use fewest_classfile::fingerprint::Options;
use fewest_model::Fingerprint;
use rayon::prelude::*;

use crate::cache::Cache;
use crate::content::{Content, hash_file, is_class_file};
use crate::entry::{FoundDirectory, FoundFile, assemble, is_unchanged, key};
use crate::stat::Stat;
use crate::table::{Location, Meta, Opaque, Table};

/// Files up to this size are read in one go.
const SMALL: u64 = 1 << 20;

pub(crate) fn load(root: &Path, cache: &Cache, options: Options) -> Table {
    let key = key(root);
    let old = cache.load(&key).filter(|table| table.meta().stat.is_none());
    let mut scan = Scan::of(root, old.as_ref(), cache);
    match old {
        Some(old)
            if scan.opaque.is_none()
                && old.meta().opaque.is_none()
                && is_unchanged(&scan.directories, &old) =>
        {
            old
        }
        old => {
            let meta = Meta {
                path: key,
                opaque: scan.opaque.take(),
                ..Meta::default()
            };
            let table = assemble(
                &mut scan.directories,
                old.as_ref(),
                meta,
                |directory, file| read(root, directory, file, options),
            );
            cache.save(&table);
            table
        }
    }
}

/// Where a directory or a file is.
pub(crate) fn path_of(root: &Path, directory: &str, file: &str) -> PathBuf {
    let mut path = root.to_owned();
    if !directory.is_empty() {
        path.push(directory);
    }
    path.push(file);
    path
}

fn read(
    root: &Path,
    directory: &FoundDirectory,
    file: &FoundFile,
    options: Options,
) -> Option<Content> {
    let Location::File(stat) = file.location else {
        return None;
    };
    if file.name.contains(char::REPLACEMENT_CHARACTER) {
        // The name may have been no Unicode, and then no path leads back.
        let marks = format!("{stat:?}");
        let reason = "its name is not Unicode".to_owned();
        return Some(Content::doubtful(
            &file.name,
            Fingerprint::of(marks.as_bytes()),
            reason,
        ));
    }
    let path = path_of(root, &directory.name, &file.name);
    let content = if stat.size <= SMALL || is_class_file(&file.name) {
        fs::read(&path).map(|bytes| Content::of(&file.name, &bytes, options))
    } else {
        hash_file(&path).map(Content::Resource)
    };
    match content {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        content => Some(content.unwrap_or_else(|error| Content::unreadable(&file.name, &error))),
    }
}

/// What a walk saw: names and marks.
#[derive(Default)]
struct Scan {
    directories: Vec<FoundDirectory>,
    opaque: Option<Opaque>,
}

impl Scan {
    /// Goes level by level, each level in parallel.
    fn of(root: &Path, old: Option<&Table>, cache: &Cache) -> Self {
        let mut scan = Self::default();
        let mut level = vec![String::new()];
        while !level.is_empty() {
            let listed: Vec<_> = level
                .par_iter()
                .map(|directory| list(root, directory, old, cache))
                .collect();
            level.clear();
            for listed in listed {
                match listed {
                    Ok((found, below)) => {
                        scan.directories.push(found);
                        level.extend(below);
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => scan.opaque = Some(Opaque::unreadable(&error)),
                }
            }
        }
        scan.directories
            .sort_unstable_by(|a, b| a.name.cmp(&b.name));
        scan
    }
}

/// Lists one directory; returns its files and the names of the directories
/// below it.
fn list(
    root: &Path,
    name: &str,
    old: Option<&Table>,
    cache: &Cache,
) -> io::Result<(FoundDirectory, Vec<String>)> {
    let known = old.and_then(|table| Some((table, table.find_directory(name)?)));
    let mut directory = FoundDirectory {
        name: name.to_owned(),
        explicit: true,
        files: Vec::with_capacity(known.as_ref().map_or(0, |(_, known)| known.items.len())),
    };
    let mut below = Vec::new();
    for entry in fs::read_dir(root.join(name))? {
        let entry = entry?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let metadata = match metadata(&entry) {
            Ok(Seen::Directory { linked }) => {
                let child = join(name, &file_name);
                if !linked || !leads_back(root, &child) {
                    below.push(child);
                }
                continue;
            }
            Ok(Seen::File(metadata)) => metadata,
            Ok(Seen::Nothing) => continue,
            Err(error) => return Err(error),
        };
        let stat = Stat::of(&metadata);
        let location = Location::File(stat);
        let kept = known.as_ref().and_then(|(table, known)| {
            table
                .find_item(&known.items, &file_name)
                .filter(|item| item.is_trusted() && item.location() == location)
                .map(|item| item.index)
        });
        directory.files.push(FoundFile {
            name: file_name,
            location,
            trusted: cache.trusts(&stat),
            kept,
        });
    }
    Ok((directory, below))
}

enum Seen {
    File(fs::Metadata),
    Directory {
        linked: bool,
    },
    /// It has gone meanwhile, is a broken link, or something that cannot be
    /// read like a file.
    Nothing,
}

/// Looks at what a name stands for, without a system call for directories.
fn metadata(entry: &DirEntry) -> io::Result<Seen> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return Ok(Seen::Directory { linked: false });
    }
    let metadata = if kind.is_file() {
        entry.metadata()
    } else if kind.is_symlink() {
        fs::metadata(entry.path())
    } else {
        return Ok(Seen::Nothing);
    };
    match metadata {
        Ok(metadata) if metadata.is_dir() => Ok(Seen::Directory { linked: true }),
        Ok(metadata) if metadata.is_file() => Ok(Seen::File(metadata)),
        Ok(_) => Ok(Seen::Nothing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Seen::Nothing),
        // A link that leads to itself leads nowhere.
        Err(_) if kind.is_symlink() => Ok(Seen::Nothing),
        Err(error) => Err(error),
    }
}

/// Whether a linked directory is one of those on the way to it, so that
/// walking into it would never end.
fn leads_back(root: &Path, name: &str) -> bool {
    let Ok(target) = fs::canonicalize(root.join(name)) else {
        return true;
    };
    Path::new(name)
        .ancestors()
        .skip(1)
        .any(|ancestor| fs::canonicalize(root.join(ancestor)).is_ok_and(|path| path == target))
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::Stamp;

    /// Tells the cache something false about `x.txt`, with the marks that the
    /// file really has, and asks what a walk makes of it.
    fn walk_after_a_lie(stamp: Stamp) -> Fingerprint {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("classes");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("x.txt"), "truth").unwrap();
        let cache = Cache::at(&folder.path().join("cache"), stamp);
        let mut scan = Scan::of(&root, None, &cache);
        let meta = Meta {
            path: key(&root),
            ..Meta::default()
        };
        let lie = |_: &_, _: &_| Some(Content::Resource(Fingerprint::of(b"lie")));
        cache.save(&assemble(&mut scan.directories, None, meta, lie));
        load(&root, &cache, Options::default())
            .item(0)
            .fingerprint()
    }

    #[test]
    fn a_file_with_the_marks_it_had_is_not_read() {
        assert_eq!(walk_after_a_lie(Stamp::ALWAYS), Fingerprint::of(b"lie"));
    }

    #[test]
    fn a_file_that_was_young_when_it_was_read_is_read_again() {
        assert_eq!(walk_after_a_lie(Stamp::NEVER), Fingerprint::of(b"truth"));
    }
}
