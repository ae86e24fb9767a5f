//! The current set: what each element's content is now.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fewest_classfile::fingerprint::{Fingerprinter, Options};
use fewest_classfile::read::ClassFile;
use fewest_model::{ClassName, Element, Fingerprint, MethodKey, Walk};
use thiserror::Error;

use crate::cache::Cache;
use crate::class_view::{ClassView, Origin};
use crate::entry::{Entry, EntryKind};
use crate::files::Files;
use crate::graphs::Graphs;
use crate::lookup::Outlines;
use crate::settings::Settings;
use crate::stat::Stat;
use crate::table::{Item, Location};
use crate::{class_path, folder, jar, lookup};

/// The versions that a checkout has now.
///
/// It is taken once and then only answers questions. Files beside the class
/// path are looked at when they are asked for; [`Snapshot::save`] keeps what
/// was learned of them.
pub struct Snapshot {
    settings: Settings,
    cache: Cache,
    entries: Vec<Entry>,
    places: HashMap<Box<str>, Vec<Place>>,
    /// The entries that could not be looked into.
    opaque: Vec<(usize, Fingerprint)>,
    files: Files,
    outlines: Outlines,
    graphs: Graphs,
}

/// A directory in an entry of the class path, under the name that the JVM has
/// for it.
#[derive(Clone, Copy, Debug)]
struct Place {
    entry: usize,
    directory: usize,
}

/// Something that could not be read. Whoever depends on it should run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// A file, a jar, or an entry of a jar.
    pub place: String,
    pub reason: String,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", self.place, self.reason)
    }
}

/// Why the bytes of a class are not to be had.
#[derive(Debug, Error)]
pub enum ClassBytesError {
    #[error("class `{0}` is not on the class path")]
    Absent(ClassName),
    #[error("failed to read `{place}`")]
    Unreadable {
        place: String,
        #[source]
        source: io::Error,
    },
    #[error("`{place}` has changed since the snapshot was taken")]
    Changed { place: String },
}

fn options(settings: &Settings) -> Options {
    Options {
        debug_info: settings.debug_info,
    }
}

impl Snapshot {
    /// Goes through the class path. Entries that are not there count as empty.
    pub fn take(class_path: &[PathBuf], settings: Settings) -> Self {
        let options = options(&settings);
        let cache = Cache::open(settings.cache.as_deref(), options);
        let entries = class_path::load(class_path, &settings.root, &cache, options);
        let opaque = entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| {
                let opaque = entry.table.meta().opaque.as_ref()?;
                Some((index, opaque.fingerprint))
            })
            .collect();
        Self {
            places: places(&entries, settings.feature_version),
            files: Files::new(&settings.root),
            outlines: Outlines::default(),
            graphs: Graphs::default(),
            settings,
            cache,
            entries,
            opaque,
        }
    }

    /// The class that the JVM would load under this name.
    pub fn class(&self, name: &ClassName) -> Option<ClassView<'_>> {
        self.find_class(name).map(|(_, view)| view)
    }

    /// All classes that the JVM could load, sorted by name.
    pub fn classes(&self) -> impl Iterator<Item = ClassView<'_>> {
        // What a jar keeps for other releases of Java goes by another name.
        let kept_apart = |name: &str| name.starts_with("META-INF/");
        let packages = self.places.iter().filter(|(name, _)| !kept_apart(name));
        let mut packages: Vec<_> = packages.collect();
        packages.sort_unstable_by_key(|(name, _)| *name);
        packages
            .into_iter()
            .flat_map(|(package, places)| self.classes_of(package, places))
    }

    /// Everything that the class path holds under a name, in its order.
    pub fn resource(&self, name: &str) -> Fingerprint {
        let name = name.trim_end_matches('/');
        let mut found = match plain_path(name) {
            Some(path) if path == name => self.find_resource(name),
            // A folder resolves `a/../b`, a jar has it under that very name or
            // not at all.
            path => {
                let in_folders = path.map(|path| self.find_resource(&path));
                let kind = |entry: usize| self.entries[entry].kind;
                let mut found = in_folders.unwrap_or_default();
                found.retain(|(entry, _)| kind(*entry) == EntryKind::Folder);
                let in_jars = self.find_resource(name).into_iter();
                found.extend(in_jars.filter(|(entry, _)| kind(*entry) == EntryKind::Jar));
                found
            }
        };
        found.sort_by_key(|(entry, _)| *entry);
        let fingerprint = if found.is_empty() {
            Fingerprint::ABSENT
        } else {
            Fingerprint::combine(b"resource", found.into_iter().map(|(_, print)| print))
        };
        self.behind_everything(fingerprint)
    }

    /// The class that declares a field which code names as one of `class`;
    /// `class` itself where that cannot be told.
    pub fn field_owner(&self, class: &ClassName, field: &MethodKey) -> ClassName {
        lookup::field_owner(self, &self.outlines, class, field)
    }

    /// What an element's content is now, or [`Fingerprint::ABSENT`].
    pub fn fingerprint(&self, element: &Element) -> Fingerprint {
        match element {
            Element::Class(name) | Element::Whole(name) | Element::Reachable(name) => {
                self.of_class(name, ClassView::class)
            }
            Element::Head(name) => self.of_class(name, ClassView::head),
            Element::Shape(name) | Element::Overrides(name) => {
                self.of_class(name, ClassView::shape)
            }
            Element::Frame(name) => self.of_class(name, |view| self.frame(view)),
            Element::Method(name, key) => self.of_class(name, |view| {
                view.method(key)
                    .map_or(Fingerprint::ABSENT, |method| method.fingerprint)
            }),
            Element::Blocks(name, key, walk) => self.blocks(name, key, walk),
            Element::Lookup(name, key) | Element::Receiver(name, key) => {
                lookup::lookup(self, &self.outlines, name, key)
            }
            Element::Resource(name) => self.resource(name),
            Element::File(name) => self.files.file(name, &self.cache),
            Element::Listing(name) => self.files.listing(name),
            Element::Matches(pattern) => self.files.matches(pattern),
            Element::Variable(name) => of_setting(&self.settings.variables, name),
            Element::Property(name) => of_setting(&self.settings.properties, name),
            Element::Watched(watch) => Fingerprint::of(watch.name().as_bytes()),
        }
    }

    /// The part of a method that a walk meets.
    fn blocks(&self, name: &ClassName, key: &MethodKey, walk: &Walk) -> Fingerprint {
        let whole = || self.fingerprint(&Element::Method(name.clone(), key.clone()));
        let methods = self.graphs.of_class(self, self.options(), name);
        methods
            .and_then(|methods| methods.get(key)?.fingerprint_of(walk))
            .unwrap_or_else(whole)
    }

    /// The walk through a method over the blocks that ran; over all of it
    /// where its code cannot be looked into, or its blocks lead to each other
    /// in another way than `flow` stands for.
    pub fn walk(
        &self,
        name: &ClassName,
        key: &MethodKey,
        executed: &BTreeSet<usize>,
        flow: u32,
    ) -> Walk {
        let methods = self.graphs.of_class(self, self.options(), name);
        let graph = methods.as_ref().and_then(|methods| methods.get(key));
        graph
            .filter(|graph| graph.flow() == flow)
            .map_or_else(Walk::whole, |graph| graph.walk(executed))
    }

    fn options(&self) -> Options {
        options(&self.settings)
    }

    /// What a test class is apart from its tests. Where that cannot be told,
    /// all of the class counts.
    fn frame(&self, view: &ClassView<'_>) -> Fingerprint {
        let bytes = self.class_bytes(view.name()).ok();
        let frame = bytes.and_then(|bytes| {
            let class = ClassFile::read(&bytes).ok()?;
            let junit3 = self.extends(view, "junit/framework/TestCase");
            Fingerprinter::new(self.options())
                .frame(&class, junit3)
                .ok()
        });
        frame.unwrap_or_else(|| view.class())
    }

    /// Whether a class has another one among its superclasses.
    pub fn extends(&self, view: &ClassView<'_>, superclass: &str) -> bool {
        const DEEPEST: usize = 100;
        let mut above = view.super_name();
        for _ in 0..DEEPEST {
            let Some(name) = above else { return false };
            if name.as_str() == superclass {
                return true;
            }
            above = self.class(&name).and_then(|view| view.super_name());
        }
        false
    }

    /// The bytes that the fingerprints of a class were taken of.
    pub fn class_bytes(&self, name: &ClassName) -> Result<Vec<u8>, ClassBytesError> {
        let view = self
            .class(name)
            .ok_or_else(|| ClassBytesError::Absent(name.clone()))?;
        let unreadable = |source| ClassBytesError::Unreadable {
            place: view.origin().to_string(),
            source,
        };
        match (view.origin(), view.item.location()) {
            (Origin::File(path), Location::File(stat)) => {
                let (now, bytes) = read_with_stat(&path).map_err(unreadable)?;
                if now != stat {
                    let place = path.display().to_string();
                    return Err(ClassBytesError::Changed { place });
                }
                Ok(bytes)
            }
            (Origin::Jar(path, _), Location::Zipped(zipped)) => {
                // The checksum tells if the jar is another one by now.
                jar::read_entry(path, &zipped).map_err(unreadable)
            }
            _ => Err(ClassBytesError::Absent(name.clone())),
        }
    }

    /// Everything that could not be read.
    pub fn doubts(&self) -> Vec<Doubt> {
        self.entries.iter().flat_map(doubts_of).collect()
    }

    /// The entries of the class path in the order in which the JVM searches
    /// them, those that manifests add included.
    pub fn entries(&self) -> impl Iterator<Item = &Path> {
        self.entries.iter().map(|entry| &*entry.path)
    }

    /// What went wrong with the cache. The next snapshot takes longer then.
    pub fn cache_problems(&self) -> Vec<String> {
        self.cache.problems()
    }

    /// Keeps for the next run what was learned of files beside the class path.
    pub fn save(&self) {
        self.files.save(&self.cache);
    }

    /// A fingerprint that holds only as long as the entries that could not be
    /// looked into stay the same.
    pub(crate) fn behind_everything(&self, fingerprint: Fingerprint) -> Fingerprint {
        self.behind(self.entries.len(), fingerprint)
    }

    /// The same, for something found in the given entry.
    fn behind(&self, entry: usize, fingerprint: Fingerprint) -> Fingerprint {
        let mut before = self
            .opaque
            .iter()
            .take_while(|(index, _)| *index <= entry)
            .map(|(_, opaque)| *opaque)
            .peekable();
        if before.peek().is_none() {
            return fingerprint;
        }
        Fingerprint::combine(b"behind", before.chain([fingerprint]))
    }

    fn of_class<'a>(
        &'a self,
        name: &ClassName,
        part: impl Fn(&ClassView<'a>) -> Fingerprint,
    ) -> Fingerprint {
        let Some((entry, view)) = self.find_class(name) else {
            return self.behind_everything(Fingerprint::ABSENT);
        };
        let fingerprint = if view.is_misplaced() {
            let declared = view.declared_name();
            let declared = Fingerprint::of(declared.as_str().as_bytes());
            Fingerprint::combine(b"misplaced", [declared, view.class()])
        } else {
            part(&view)
        };
        self.behind(entry, fingerprint)
    }

    /// The files and directories under a name, with the entries they are in.
    fn find_resource(&self, name: &str) -> Vec<(usize, Fingerprint)> {
        let (directory, file) = split(name);
        let files = self
            .find(directory, file)
            .map(|(place, item)| (place.entry, item.fingerprint()));
        let mut last = None;
        let directories = self.places_of(name).filter_map(|place| {
            let first = last.replace(place.entry) != Some(place.entry);
            let explicit = first && self.directory(place).explicit;
            explicit.then(|| (place.entry, Fingerprint::combine(b"directory", [])))
        });
        files.chain(directories).collect()
    }

    fn find_class(&self, name: &ClassName) -> Option<(usize, ClassView<'_>)> {
        let (package, simple) = split(name.as_str());
        let file = format!("{simple}.class");
        let (place, item) = self.find(package, &file).next()?;
        Some((place.entry, self.view(name.clone(), place, item)))
    }

    fn view<'a>(&'a self, name: ClassName, place: Place, item: Item<'a>) -> ClassView<'a> {
        ClassView {
            name,
            entry: &self.entries[place.entry],
            directory: self.directory(place).name,
            item,
        }
    }

    fn classes_of<'a>(&'a self, package: &str, places: &'a [Place]) -> Vec<ClassView<'a>> {
        let mut found = HashMap::new();
        for &place in places {
            let table = &self.entries[place.entry].table;
            for index in self.directory(place).items {
                let item = table.item(index);
                if let Some(simple) = item.name().strip_suffix(".class") {
                    found.entry(simple).or_insert((place, item));
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by_key(|(simple, _)| *simple);
        found
            .into_iter()
            .map(|(simple, (place, item))| self.view(join(package, simple), place, item))
            .collect()
    }

    /// The items under a name, at most one of each entry.
    fn find<'a>(&'a self, directory: &str, file: &str) -> impl Iterator<Item = (Place, Item<'a>)> {
        let mut last = None;
        self.places_of(directory).filter_map(move |place| {
            if last == Some(place.entry) {
                return None;
            }
            let table = &self.entries[place.entry].table;
            let item = table.find_item(&self.directory(place).items, file)?;
            last = Some(place.entry);
            Some((place, item))
        })
    }

    fn places_of(&self, directory: &str) -> impl Iterator<Item = Place> + use<'_> {
        self.places.get(directory).into_iter().flatten().copied()
    }

    fn directory(&self, place: Place) -> crate::table::Directory<'_> {
        self.entries[place.entry].table.directory(place.directory)
    }
}

/// Where each directory is, in the order of the class path. Within a
/// multi-release jar the newest version that the JDK may see comes first.
fn places(entries: &[Entry], feature_version: u32) -> HashMap<Box<str>, Vec<Place>> {
    let mut places: HashMap<Box<str>, Vec<Place>> = HashMap::new();
    for (entry, loaded) in entries.iter().enumerate() {
        let mut names = names(loaded, feature_version);
        names.sort_by_key(|(version, _, _)| std::cmp::Reverse(*version));
        for (_, name, directory) in names {
            let place = Place { entry, directory };
            match places.get_mut(name) {
                Some(known) => known.push(place),
                None => {
                    places.insert(name.into(), vec![place]);
                }
            }
        }
    }
    places
}

/// The names of an entry's directories with the version for which they count,
/// 0 for all. A versioned directory has two names.
fn names(entry: &Entry, feature_version: u32) -> Vec<(u32, &str, usize)> {
    let directories = || entry.table.directories().enumerate();
    let versioned = directories()
        .filter(|_| entry.kind == EntryKind::Jar && entry.table.meta().multi_release)
        .filter_map(|(index, directory)| {
            let (version, name) = versioned_name(directory.name)?;
            (version <= feature_version).then_some((version, name, index))
        });
    let plain = directories().map(|(index, directory)| (0, directory.name, index));
    versioned.chain(plain).collect()
}

/// Takes `META-INF/versions/11/p/q` apart into 11 and `p/q`.
fn versioned_name(directory: &str) -> Option<(u32, &str)> {
    let rest = directory.strip_prefix("META-INF/versions/")?;
    let (version, name) = rest.split_once('/').unwrap_or((rest, ""));
    let version = version.parse().ok().filter(|version| *version >= 9)?;
    // What stands below META-INF has no versions.
    (name != "META-INF" && !name.starts_with("META-INF/")).then_some((version, name))
}

fn doubts_of(entry: &Entry) -> Vec<Doubt> {
    let opaque = entry.table.meta().opaque.iter().map(|opaque| Doubt {
        place: entry.path.display().to_string(),
        reason: opaque.reason.clone(),
    });
    let items = entry.table.directories().flat_map(|directory| {
        directory.items.clone().filter_map(move |index| {
            let item = entry.table.item(index);
            let reason = item.doubt()?.to_owned();
            let path = folder::path_of(Path::new(""), directory.name, item.name());
            let place = match entry.kind {
                EntryKind::Jar => format!("{}!/{}", entry.path.display(), path.display()),
                _ => entry.path.join(path).display().to_string(),
            };
            Some(Doubt { place, reason })
        })
    });
    opaque.chain(items).collect()
}

fn read_with_stat(path: &Path) -> io::Result<(Stat, Vec<u8>)> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((Stat::of(&file.metadata()?), bytes))
}

/// One of the settings by name, or all of them for `*`.
fn of_setting(settings: &BTreeMap<String, String>, name: &str) -> Fingerprint {
    // Shells set these anew for every command; no test can mean them.
    const FLEETING: [&str; 4] = ["_", "SHLVL", "PWD", "OLDPWD"];
    if name != "*" {
        return of_text(settings.get(name));
    }
    let lasting = settings
        .iter()
        .filter(|(name, _)| !FLEETING.contains(&name.as_str()))
        .flat_map(|(name, value)| [name, value].map(|text| Fingerprint::of(text.as_bytes())));
    Fingerprint::combine(b"all settings", lasting)
}

fn of_text(text: Option<&String>) -> Fingerprint {
    text.map_or(Fingerprint::ABSENT, |text| Fingerprint::of(text.as_bytes()))
}

/// A path without `.`, `..` and empty parts, or `None` if it leads out of the
/// folder.
fn plain_path(path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The directory and the file of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(package: &str, simple: &str) -> ClassName {
    if package.is_empty() {
        ClassName::new(simple)
    } else {
        ClassName::new(format!("{package}/{simple}"))
    }
}

#[cfg(test)]
mod setting_tests {
    use super::*;

    #[test]
    fn a_star_stands_for_all_settings_that_last() {
        let settings = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let of = |pairs| of_setting(&settings(pairs), "*");
        assert_eq!(
            of(&[("A", "1"), ("SHLVL", "1")]),
            of(&[("A", "1"), ("SHLVL", "2")])
        );
        assert_ne!(of(&[("A", "1")]), of(&[("A", "2")]));
        assert_ne!(of(&[("A", "1")]), of(&[("A", "1"), ("B", "")]));
    }
}
