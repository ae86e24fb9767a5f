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

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use fewest_model::ClassName;
use fewest_trace::{FileStamp, Thing};

/// Beyond these numbers nothing more is remembered. Then files that the JVM
/// made count as input, and changing files get a new number at each look: more
/// work, nothing lost.
const MOST_MADE: usize = 100_000;
const MOST_STAMPS: usize = 50_000;
const MOST_LINKS: usize = 256;
const MOST_HELD_BACK: usize = 64;

thread_local! {
    /// How many calls of class loaders that open jars this thread is inside of.
    static LOADER_CALLS: Cell<u32> = const { Cell::new(0) };
}

/// A class loader begins to open a jar on this thread.
pub(crate) fn loader_opens() {
    LOADER_CALLS.set(LOADER_CALLS.get() + 1);
}

/// A class loader has opened a jar on this thread, or failed to.
pub(crate) fn loader_has_opened() {
    LOADER_CALLS.set(LOADER_CALLS.get().saturating_sub(1));
}

/// Whether this thread is opening a jar for a class loader.
pub(crate) fn is_loader_opening() -> bool {
    LOADER_CALLS.get() > 0
}

/// So many digits in a row stand in names that were drawn at random.
const DIGITS_OF_A_RANDOM_NAME: usize = 8;

/// An absolute path without `.`, `..` and double slashes.
type Normal = Vec<u8>;

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

/// Whether a path is a folder for reports or lies in one. Surefire asks for it
/// from within the JVM before the first test, and makes it afterwards.
fn is_report(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/')
        .any(|part| part == b"surefire-reports" || part == b"failsafe-reports")
}

fn looks_random(name: &[u8]) -> bool {
    name.split(|byte| !byte.is_ascii_digit())
        .any(|digits| digits.len() >= DIGITS_OF_A_RANDOM_NAME)
}

fn is_at_or_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || folder == b"/")
}

fn parent(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/');
    &path[..end.unwrap_or(0)]
}

fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// The path as seen from `directory`, which is normal itself.
fn normal(directory: &[u8], path: &[u8]) -> Normal {
    let mut normal = Vec::with_capacity(directory.len() + path.len() + 1);
    if !path.starts_with(b"/") && directory != b"/" {
        normal.extend(directory);
    }
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => normal.truncate(parent(&normal).len()),
            part => {
                normal.push(b'/');
                normal.extend(part);
            }
        }
    }
    if normal.is_empty() {
        normal.push(b'/');
    }
    normal
}

fn text(path: &[u8]) -> Arc<str> {
    String::from_utf8_lossy(path).into()
}

/// The folders that a JDK keeps its own files in: its home, and wherever the
/// settings lie that a distribution has put elsewhere and linked to.
pub(crate) fn folders_of_jdk(home: &Path) -> Vec<Vec<u8>> {
    const LINKED: [&str; 5] = [
        "conf/net.properties",
        "conf/security/java.security",
        "lib/net.properties",
        "lib/security/java.security",
        "lib/security/cacerts",
    ];
    let links = LINKED.iter().filter_map(|name| {
        let file = home.join(name).canonicalize().ok()?;
        file.parent().map(Path::to_path_buf)
    });
    [Some(home.to_path_buf()), home.canonicalize().ok()]
        .into_iter()
        .flatten()
        .chain(links)
        .map(|folder| folder.into_os_string().into_encoded_bytes())
        .collect()
}

/// The path of a `file:` URL, whose path part is given.
pub(crate) fn path_of_url(path: &str) -> Option<Vec<u8>> {
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME_FILE: FileStamp = FileStamp::File {
        size: 3,
        modified_nanos: 7,
    };

    /// Names say what the files are.
    fn stamp(path: &Path) -> FileStamp {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains("absent") {
            FileStamp::Absent
        } else if name.contains('.') {
            SOME_FILE
        } else {
            FileStamp::Directory
        }
    }

    fn files() -> Files {
        let bytes = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        Files::with_stamps(
            Surroundings {
                working_directory: b"/project".to_vec(),
                ignored: bytes(&["/jdk/", "/proc"]),
                class_path: bytes(&["target/classes", "/m2/lib.jar"]),
                command_line: bytes(&["java", "Main", "settings.tmp", "@/tmp/words.txt"]),
            },
            stamp,
        )
    }

    fn file(path: &str, stamp: FileStamp) -> Finding {
        let path = path.into();
        Finding::Use(Thing::File { path, stamp })
    }

    #[test]
    fn paths_are_absolute_and_plain() {
        for (path, expected) in [
            ("a/b", "/project/a/b"),
            ("./a//b/", "/project/a/b"),
            ("../x/./y", "/x/y"),
            ("/a/../../b", "/b"),
            ("", "/project"),
            ("/", "/"),
        ] {
            let normal = normal(b"/project", path.as_bytes());
            assert_eq!(String::from_utf8(normal).unwrap(), expected, "{path}");
        }
        assert_eq!(normal(b"/", b"a"), b"/a");
    }

    #[test]
    fn a_file_counts_with_its_stamp_found_or_not() {
        let mut files = files();
        assert_eq!(
            files.look(b"data/x.txt", false),
            Some(file("/project/data/x.txt", SOME_FILE))
        );
        assert_eq!(
            files.look(b"absent", false),
            Some(file("/project/absent", FileStamp::Absent))
        );
    }

    #[test]
    fn what_belongs_to_the_jdk_and_the_system_does_not_count() {
        let mut files = files();
        assert_eq!(files.look(b"/jdk/lib/modules", false), None);
        assert_eq!(files.look(b"/jdk", false), None);
        assert_eq!(files.list(b"/proc/self"), None);
        assert!(files.look(b"/jdk-other/x.txt", false).is_some());
        assert_eq!(files.look(b"target/surefire-reports", false), None);
    }

    #[test]
    fn what_the_jvm_wrote_first_is_no_input_nor_what_is_below_it() {
        let mut files = files();
        files.made(b"out/result.txt");
        files.made(b"/tmp/made");
        assert_eq!(files.look(b"out/result.txt", false), None);
        assert_eq!(files.open(b"/tmp/made", false), None);
        assert_eq!(files.list(b"/tmp/made/inner"), None);
        assert_eq!(files.look(b"/tmp/made/inner/absent", false), None);
        assert!(files.look(b"out/result.txt2", false).is_some());
        assert!(files.list(b"out").is_some());
    }

    #[test]
    fn what_was_looked_at_before_it_was_written_has_counted() {
        let mut files = files();
        assert!(files.look(b"data/x.txt", false).is_some());
        files.made(b"data/x.txt");
        assert_eq!(files.look(b"data/x.txt", false), None);
    }

    #[test]
    fn a_random_name_counts_only_if_nobody_makes_the_file() {
        let mut files = files();
        assert_eq!(files.look(b"/tmp/absent12345678901", false), None);
        assert_eq!(files.look(b"/tmp/absent99999999999", false), None);
        files.made(b"/tmp/absent12345678901");
        let left: Vec<Thing> = files.take_held_back().collect();
        assert_eq!(
            left,
            [Thing::File {
                path: "/tmp/absent99999999999".into(),
                stamp: FileStamp::Absent
            }]
        );
        assert_eq!(files.take_held_back().count(), 0);
    }

    #[test]
    fn a_directory_that_is_opened_is_listed() {
        let listing = Some(Finding::Use(Thing::Listing("/project/data".into())));
        assert_eq!(files().open(b"data", false), listing);
        assert_eq!(files().list(b"data/"), listing);
        assert!(matches!(
            files().open(b"data/x.txt", false),
            Some(Finding::Use(Thing::File { .. }))
        ));
    }

    #[test]
    fn files_of_the_class_path_count_by_their_names() {
        let mut files = files();
        assert_eq!(
            files.look(b"/project/target/classes/p/x.txt", false),
            Some(Finding::Use(Thing::Resource("p/x.txt".into())))
        );
        assert_eq!(
            files.look(b"target/classes/p/A.class", false),
            Some(Finding::Use(Thing::Named(ClassName::new("p/A"))))
        );
        assert_eq!(
            files.look(b"target/classes/p", false),
            Some(file("/project/target/classes/p", FileStamp::Directory))
        );
        assert_eq!(files.look(b"target/classes", false), None);
    }

    #[test]
    fn a_jar_of_the_class_path_counts_when_a_test_opens_it() {
        let mut files = files();
        assert_eq!(files.look(b"/m2/lib.jar", true), None);
        assert!(matches!(
            files.look(b"/m2/lib.jar", false),
            Some(Finding::UseInTest(Thing::File { .. }))
        ));
        assert!(matches!(
            files.look(b"/m2/plugin.jar", true),
            Some(Finding::Use(Thing::File { .. }))
        ));
        files.add_to_class_path(b"/m2/plugin.jar");
        assert_eq!(files.look(b"/m2/plugin.jar", true), None);
    }

    #[test]
    fn files_from_the_command_line_count_only_for_tests() {
        let mut files = files();
        for path in [&b"/tmp/settings.tmp"[..], b"/tmp/words.txt"] {
            assert!(matches!(
                files.look(path, false),
                Some(Finding::UseInTest(_))
            ));
        }
    }

    #[test]
    fn links_that_the_jvm_made_lead_to_what_they_stand_for() {
        let mut files = files();
        files.made(b"/tmp/made");
        files.linked(b"/tmp/made/link", b"/project/data");
        files.linked(b"/tmp/made/other", b"link");
        assert_eq!(
            files.look(b"/tmp/made/other/x.txt", false),
            Some(file("/project/data/x.txt", SOME_FILE))
        );
        files.linked(b"/tmp/loop", b"loop");
        assert!(files.look(b"/tmp/loop", false).is_some());
    }

    #[test]
    fn a_jdk_has_its_home_and_what_its_settings_are_linked_to() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, elsewhere) = (root.join("jdk"), root.join("etc"));
        std::fs::create_dir_all(home.join("conf")).unwrap();
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("net.properties"), "").unwrap();
        let link = home.join("conf/net.properties");
        std::os::unix::fs::symlink(elsewhere.join("net.properties"), link).unwrap();
        let folders = folders_of_jdk(&home);
        for folder in [home, elsewhere] {
            assert!(folders.contains(&folder.into_os_string().into_encoded_bytes()));
        }
    }

    #[test]
    fn urls_are_decoded() {
        assert_eq!(path_of_url("/a%20b/").unwrap(), b"/a b/");
        assert_eq!(path_of_url("file:/a.jar!/"), None);
        assert_eq!(path_of_url("/a%2"), None);
    }
}
