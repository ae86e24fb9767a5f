//! Which files are input of a test, and as what they count.
//!
//! The JVM's own file operations arrive here one by one, from class loading as
//! well as from tests ([`crate::jvmti`] puts itself in front of them). Most of
//! them are no news and are dropped early:
//!
//! - what the JDK, the operating system and the agent keep for themselves;
//! - what this JVM made, wrote or deleted before it looked at it. That holds
//!   for the whole run of the JVM, and for everything below a directory that it
//!   made. A look *before* the first write counts;
//! - jars of the class path that a class loader opens: their content counts by
//!   the classes and resources that are looked up. The same jar opened by a
//!   test counts as a file;
//! - the folders that a build tool keeps reports in;
//! - what whoever started the JVM handed over on its command line, as long as
//!   no test has begun.
//!
//! A file in a folder of the class path counts as the resource or class of its
//! name. The name says as much as the path, because records fingerprint a
//! resource in *every* entry of the class path that has it, and class loading
//! asks for the same names anyway; so it need not be known who asks.
//!
//! Paths are made absolute and normalised as text. Links stay as they are,
//! since a link that points elsewhere is a change; only links that this JVM
//! made are followed, because they will be gone when the next run looks.

mod loaders;
mod paths;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use fewest_model::ClassName;
use fewest_trace::{FileStamp, Thing};

use self::paths::{Normal, is_at_or_below, is_report, looks_random, name_of, normal, parent, text};

pub(crate) use self::loaders::{is_loader_opening, loader_has_opened, loader_opens};
pub(crate) use self::paths::{folders_of_jdk, path_of_url};

/// Beyond these numbers nothing more is remembered. Then files that the JVM
/// made count as input, and changing files get a new number at each look: more
/// work, nothing lost.
const MOST_MADE: usize = 100_000;
const MOST_STAMPS: usize = 50_000;
const MOST_LINKS: usize = 256;
const MOST_HELD_BACK: usize = 64;

/// What a look at a file means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Use(Thing),
    /// It counts only while a test is running; before, it is the business of
    /// whoever started the JVM.
    UseInTest(Thing),
}

/// The files that a JVM has to do with.
pub(crate) struct Files {
    surroundings: Surroundings,
    stamp_of: fn(&Path) -> FileStamp,
    /// What this JVM made or deleted, with everything below.
    made: HashSet<Normal>,
    /// Links that this JVM made, and where they lead.
    links: Vec<(Normal, Normal)>,
    /// How files were when they were first looked at.
    stamps: HashMap<Normal, (Arc<str>, FileStamp)>,
    /// Names that look drawn at random and that nobody has yet: `createTempFile`
    /// asks for them just before it makes the file.
    held_back: Vec<(Normal, Thing)>,
}

/// What the JVM was started with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) working_directory: Vec<u8>,
    /// Nothing at or below these paths is input.
    pub(crate) ignored: Vec<Vec<u8>>,
    pub(crate) class_path: Vec<Vec<u8>>,
    /// The words of the command line.
    pub(crate) command_line: Vec<Vec<u8>>,
}

impl Files {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        Self::with_stamps(surroundings, FileStamp::of)
    }

    fn with_stamps(mut surroundings: Surroundings, stamp_of: fn(&Path) -> FileStamp) -> Self {
        let directory = normal(b"/", &surroundings.working_directory);
        for paths in [&mut surroundings.ignored, &mut surroundings.class_path] {
            for path in paths {
                *path = normal(&directory, path);
            }
        }
        surroundings.working_directory = directory;
        Self {
            surroundings,
            stamp_of,
            made: HashSet::new(),
            links: Vec::new(),
            stamps: HashMap::new(),
            held_back: Vec::new(),
        }
    }

    /// Whether so many files were looked at that no more are remembered.
    pub(crate) fn is_full(&self) -> bool {
        self.stamps.len() >= MOST_STAMPS
    }

    /// A class loader has come upon another entry of the class path.
    pub(crate) fn add_to_class_path(&mut self, path: &[u8]) {
        let path = self.normal(path);
        if !self.surroundings.class_path.contains(&path) {
            self.surroundings.class_path.push(path);
        }
    }

    /// A file is read, or asked about. `by_loader` says that a class loader
    /// opens a jar.
    pub(crate) fn look(&mut self, path: &[u8], by_loader: bool) -> Option<Finding> {
        let path = self.foreign(path)?;
        if let Some(entry) = self.class_path_entry(&path) {
            let name = &path[entry.len()..];
            return match name.strip_prefix(b"/") {
                Some(name) => Some(Finding::Use(self.look_below_entry(&path, name))),
                None if by_loader || self.stamp(&path).1 == FileStamp::Directory => None,
                None => Some(Finding::UseInTest(self.file(&path))),
            };
        }
        let thing = self.file(&path);
        if self.is_on_command_line(&path) {
            return Some(Finding::UseInTest(thing));
        }
        if self.is_random_and_absent(&path, &thing) {
            self.held_back.push((path, thing));
            return None;
        }
        Some(Finding::Use(thing))
    }

    /// A file is opened for reading; a directory is so to be listed.
    pub(crate) fn open(&mut self, path: &[u8], by_loader: bool) -> Option<Finding> {
        let foreign = self.foreign(path)?;
        if self.stamp(&foreign).1 == FileStamp::Directory {
            return self.list(path);
        }
        self.look(path, by_loader)
    }

    /// The path is made canonical. That tells about links only, so a path
    /// without any does not count.
    pub(crate) fn resolve(&mut self, path: &[u8]) -> Option<Finding> {
        let normal = self.foreign(path)?;
        let canonical = std::fs::canonicalize(OsStr::from_bytes(&normal)).ok()?;
        if canonical.as_os_str().as_bytes() == normal {
            return None;
        }
        self.look(path, true)
    }

    /// A program is told of a path, which may be no path at all.
    pub(crate) fn look_if_there(&mut self, path: &[u8]) -> Option<Finding> {
        let normal = self.foreign(path)?;
        if self.stamp(&normal).1 == FileStamp::Absent {
            return None;
        }
        self.look(path, false)
    }

    /// The names in a directory are read.
    pub(crate) fn list(&mut self, path: &[u8]) -> Option<Finding> {
        let path = self.foreign(path)?;
        Some(Finding::Use(Thing::Listing(text(&path))))
    }

    /// A path was written to, created, deleted or moved away.
    pub(crate) fn made(&mut self, path: &[u8]) {
        let path = self.normal(path);
        self.held_back.retain(|(held, _)| *held != path);
        self.links.retain(|(link, _)| *link != path);
        if self.made.len() < MOST_MADE && !self.is_made(&path) {
            self.made.insert(path);
        }
    }

    /// A symbolic link was made.
    pub(crate) fn linked(&mut self, link: &[u8], target: &[u8]) {
        let link = self.normal(link);
        let target = normal(parent(&link), target);
        if self.links.len() < MOST_LINKS {
            self.links.push((link, target));
        }
    }

    /// What was held back and is still absent for all that is known.
    pub(crate) fn take_held_back(&mut self) -> impl Iterator<Item = Thing> + use<> {
        std::mem::take(&mut self.held_back)
            .into_iter()
            .map(|(_, thing)| thing)
    }

    /// The normal form of a path that may be input.
    fn foreign(&self, path: &[u8]) -> Option<Normal> {
        let path = self.normal(path);
        let ignored = &self.surroundings.ignored;
        if ignored.iter().any(|ignored| is_at_or_below(&path, ignored)) || is_report(&path) {
            return None;
        }
        let path = self.follow_own_links(path);
        (!self.is_made(&path)).then_some(path)
    }

    fn normal(&self, path: &[u8]) -> Normal {
        normal(&self.surroundings.working_directory, path)
    }

    fn follow_own_links(&self, mut path: Normal) -> Normal {
        // Links may lead to links, and in a circle.
        for _ in 0..8 {
            let found = self.links.iter().rev();
            let Some((link, target)) = found
                .into_iter()
                .find(|(link, _)| is_at_or_below(&path, link))
            else {
                break;
            };
            path = [target, &path[link.len()..]].concat();
        }
        path
    }

    fn is_made(&self, path: &[u8]) -> bool {
        if self.made.is_empty() {
            return false;
        }
        let ends = path.iter().enumerate().skip(1);
        let above = ends.filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        above
            .chain([path.len()])
            .any(|end| self.made.contains(&path[..end]))
    }

    /// The innermost entry of the class path that a path is at or below.
    fn class_path_entry(&self, path: &[u8]) -> Option<&Normal> {
        let entries = self.surroundings.class_path.iter();
        entries
            .filter(|entry| is_at_or_below(path, entry))
            .max_by_key(|entry| entry.len())
    }

    fn look_below_entry(&mut self, path: &[u8], name: &[u8]) -> Thing {
        if let Some(class) = name.strip_suffix(b".class") {
            let class = String::from_utf8_lossy(class);
            return Thing::Named(ClassName::new(class.into_owned()));
        }
        match self.stamp(path).1 {
            FileStamp::Directory => self.file(path),
            _ => Thing::Resource(text(name)),
        }
    }

    fn file(&mut self, path: &[u8]) -> Thing {
        let (path, stamp) = self.stamp(path);
        Thing::File { path, stamp }
    }

    fn stamp(&mut self, path: &[u8]) -> (Arc<str>, FileStamp) {
        if let Some(known) = self.stamps.get(path) {
            return known.clone();
        }
        let stamp = (self.stamp_of)(Path::new(OsStr::from_bytes(path)));
        let known = (text(path), stamp);
        if self.stamps.len() < MOST_STAMPS {
            self.stamps.insert(path.to_vec(), known.clone());
        }
        known
    }

    fn is_on_command_line(&self, path: &[u8]) -> bool {
        let name = name_of(path);
        self.surroundings.command_line.iter().any(|word| {
            let word = word.strip_prefix(b"@").unwrap_or(word);
            word == path || word == name
        })
    }

    fn is_random_and_absent(&self, path: &[u8], thing: &Thing) -> bool {
        let absent = matches!(thing, Thing::File { stamp, .. } if *stamp == FileStamp::Absent);
        absent && self.held_back.len() < MOST_HELD_BACK && looks_random(name_of(path))
    }
}
