//! Files and directories that tests look at beside the class path.

use std::collections::BTreeMap;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use fewest_model::{Fingerprint, Hasher};

use crate::cache::Cache;
use crate::content::{hash_file, unknown_fingerprint};
use crate::pattern::FilePattern;
use crate::stat::Stat;
use crate::table::{Builder, Location, Meta, Table};

pub(crate) struct Files {
    root: PathBuf,
    /// What earlier runs learned, loaded when the first file is asked for.
    known: OnceLock<Option<Table>>,
    learned: Mutex<BTreeMap<FileKey, Learned>>,
}

/// The directory, and the name in it.
type FileKey = (String, String);

#[derive(Clone, Copy)]
struct Learned {
    stat: Stat,
    trusted: bool,
    fingerprint: Fingerprint,
}

impl Files {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            known: OnceLock::new(),
            learned: Mutex::default(),
        }
    }

    /// The content of a file. A link counts with its target's name, so that
    /// pointing it elsewhere is a change.
    pub(crate) fn file(&self, name: &str, cache: &Cache) -> Fingerprint {
        let path = self.root.join(name);
        let result = fs::symlink_metadata(&path).and_then(|metadata| {
            if !metadata.is_symlink() {
                return self.content(&path, cache);
            }
            let target = fs::read_link(&path)?;
            let content = absent_if_missing(self.content(&path, cache))?;
            let target = Fingerprint::of(target.as_os_str().as_encoded_bytes());
            Ok(Fingerprint::combine(b"link", [target, content]))
        });
        known_or_unknown(result)
    }

    /// The names in a directory, each with what it stands for.
    pub(crate) fn listing(&self, name: &str) -> Fingerprint {
        let path = self.root.join(name);
        match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => tag(b"not a directory"),
            _ => known_or_unknown(list(&path)),
        }
    }

    /// The names of all files that a pattern matches. What they hold is for
    /// others to ask.
    pub(crate) fn matches(&self, pattern: &str) -> Fingerprint {
        let names = FilePattern::new(pattern)
            .map_err(io::Error::other)
            .and_then(|pattern| pattern.files_below(&self.root));
        known_or_unknown(names.map(|names| {
            let names = names.iter().map(|name| Fingerprint::of(name.as_bytes()));
            Fingerprint::combine(b"matches", names)
        }))
    }

    /// Keeps what was learned for the next run.
    pub(crate) fn save(&self, cache: &Cache) {
        let Ok(mut learned) = self.learned.lock() else {
            return;
        };
        if learned.is_empty() {
            return;
        }
        let mut all = self.known(cache).map(remembered).unwrap_or_default();
        all.append(&mut learned);
        let mut builder = Builder::new();
        let mut last = None;
        for ((directory, name), file) in &all {
            if last != Some(directory) {
                builder.directory(directory, true);
                last = Some(directory);
            }
            let location = Location::File(file.stat);
            builder.item(
                name,
                &location,
                file.trusted,
                &crate::content::Content::Resource(file.fingerprint),
            );
        }
        let meta = Meta {
            path: self.key(),
            ..Meta::default()
        };
        if let Ok(table) = builder.finish(meta) {
            cache.save(&table);
        }
    }

    /// The content of what a path leads to.
    fn content(&self, path: &Path, cache: &Cache) -> io::Result<Fingerprint> {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            return Ok(tag(b"directory"));
        }
        if !metadata.is_file() {
            // Reading a pipe or a device would wait or never end.
            return Ok(tag(b"neither file nor directory"));
        }
        let stat = Stat::of(&metadata);
        let Some(key) = file_key(path) else {
            return hash_file(path);
        };
        if let Some(fingerprint) = self.recall(&key, stat, cache) {
            return Ok(fingerprint);
        }
        let fingerprint = hash_file(path)?;
        if let Ok(mut learned) = self.learned.lock() {
            let file = Learned {
                stat,
                trusted: cache.trusts(&stat),
                fingerprint,
            };
            learned.insert(key, file);
        }
        Ok(fingerprint)
    }

    fn recall(
        &self,
        (directory, name): &FileKey,
        stat: Stat,
        cache: &Cache,
    ) -> Option<Fingerprint> {
        let table = self.known(cache)?;
        let item = table.find_item(&table.find_directory(directory)?.items, name)?;
        (item.is_trusted() && item.location() == Location::File(stat)).then(|| item.fingerprint())
    }

    fn known(&self, cache: &Cache) -> Option<&Table> {
        self.known.get_or_init(|| cache.load(&self.key())).as_ref()
    }

    fn key(&self) -> String {
        format!("files seen from {}", self.root.display())
    }
}

fn file_key(path: &Path) -> Option<FileKey> {
    let directory = path.parent()?.to_str()?;
    let name = path.file_name()?.to_str()?;
    Some((directory.to_owned(), name.to_owned()))
}

fn remembered(table: &Table) -> BTreeMap<FileKey, Learned> {
    let mut all = BTreeMap::new();
    for directory in table.directories() {
        for item in directory.items.clone().map(|index| table.item(index)) {
            let Location::File(stat) = item.location() else {
                continue;
            };
            let file = Learned {
                stat,
                trusted: item.is_trusted(),
                fingerprint: item.fingerprint(),
            };
            all.insert((directory.name.to_owned(), item.name().to_owned()), file);
        }
    }
    all
}

fn list(path: &Path) -> io::Result<Fingerprint> {
    let mut names = fs::read_dir(path)?
        .map(|entry| {
            let entry = entry?;
            Ok((entry.file_name(), kind_letter(entry.file_type()?)))
        })
        .collect::<io::Result<Vec<_>>>()?;
    names.sort();
    let mut hasher = Hasher::default();
    hasher.update(b"listing");
    for (name, kind) in names {
        let name = name.as_encoded_bytes();
        hasher.update(&(name.len() as u32).to_le_bytes());
        hasher.update(name);
        hasher.update(&[kind]);
    }
    Ok(hasher.finish())
}

fn kind_letter(kind: FileType) -> u8 {
    if kind.is_dir() {
        b'd'
    } else if kind.is_file() {
        b'f'
    } else if kind.is_symlink() {
        b'l'
    } else {
        b'o'
    }
}

fn tag(text: &[u8]) -> Fingerprint {
    Fingerprint::combine(text, [])
}

fn absent_if_missing(result: io::Result<Fingerprint>) -> io::Result<Fingerprint> {
    match result {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(Fingerprint::ABSENT)
        }
        result => result,
    }
}

fn known_or_unknown(result: io::Result<Fingerprint>) -> Fingerprint {
    absent_if_missing(result).unwrap_or_else(|_| unknown_fingerprint())
}
