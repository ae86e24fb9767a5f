//! Brings the entries of a class path into the order in which the JVM searches
//! them, with those that manifests add.

use std::collections::{HashMap, HashSet};
#[cfg(unix)]
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use fewest_classfile::fingerprint::Options;
use rayon::prelude::*;

use crate::cache::Cache;
use crate::entry::{Entry, EntryKind};

/// Loads all entries of a class path.
pub(crate) fn load(
    class_path: &[PathBuf],
    root: &Path,
    cache: &Cache,
    options: Options,
) -> Vec<Entry> {
    let given: Vec<_> = class_path
        .iter()
        .map(|path| Step {
            path: normalize(&root.join(path)),
            folder: None,
        })
        .collect();
    let loaded = load_with_manifests(&given, cache, options);
    in_order(given, loaded)
}

/// One step on the class path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    path: PathBuf,
    /// A manifest says whether it means a folder; elsewhere the file system
    /// does.
    folder: Option<bool>,
}

impl Step {
    /// Whether the JVM would look into what is there.
    fn accepts(&self, kind: EntryKind) -> bool {
        match (self.folder, kind) {
            (Some(folder), EntryKind::Folder) => folder,
            (Some(folder), EntryKind::Jar) => !folder,
            _ => true,
        }
    }
}

/// Loads the entries, then those that their manifests name, until there are no
/// new ones.
fn load_with_manifests(given: &[Step], cache: &Cache, options: Options) -> HashMap<PathBuf, Entry> {
    let mut loaded: HashMap<PathBuf, Entry> = HashMap::new();
    let mut seen = HashSet::new();
    let mut wanted: Vec<PathBuf> = given.iter().map(|step| step.path.clone()).collect();
    loop {
        wanted.retain(|path| seen.insert(path.clone()));
        if wanted.is_empty() {
            return loaded;
        }
        let entries: Vec<_> = wanted
            .par_iter()
            .map(|path| Entry::load(path, cache, options))
            .collect();
        wanted = entries
            .iter()
            .flat_map(additions)
            .map(|step| step.path)
            .collect();
        loaded.extend(entries.into_iter().map(|entry| (entry.path.clone(), entry)));
    }
}

/// A jar's additions come right after it, and each entry counts where it is
/// met first, as in `jdk.internal.loader.URLClassPath`.
fn in_order(given: Vec<Step>, mut loaded: HashMap<PathBuf, Entry>) -> Vec<Entry> {
    let mut ordered = Vec::new();
    let mut open = given;
    open.reverse();
    while let Some(step) = open.pop() {
        if !loaded
            .get(&step.path)
            .is_some_and(|entry| step.accepts(entry.kind))
        {
            continue;
        }
        let Some(entry) = loaded.remove(&step.path) else {
            continue;
        };
        open.extend(additions(&entry).into_iter().rev());
        ordered.push(entry);
    }
    ordered
}

fn additions(entry: &Entry) -> Vec<Step> {
    let base = entry.path.parent().unwrap_or(Path::new(""));
    entry
        .table
        .meta()
        .class_path
        .iter()
        .filter_map(|url| resolve(base, url))
        .collect()
}

/// What a URL in a manifest means, or `None` if it is no file.
fn resolve(base: &Path, url: &str) -> Option<Step> {
    let path = match url.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            match rest.strip_prefix("//") {
                // After two slashes comes the name of a host, mostly none.
                Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
                None => rest,
            }
        }
        Some((scheme, _)) if scheme.len() > 1 && !scheme.contains('/') => return None,
        _ => url,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    if path.is_empty() {
        return None;
    }
    Some(Step {
        folder: Some(path.ends_with('/')),
        path: normalize(&base.join(percent_decode(path))),
    })
}

#[cfg(unix)]
fn os_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_path(bytes: Vec<u8>) -> PathBuf {
    let text = String::from_utf8_lossy(&bytes);
    // `/C:/lib` is how a URL writes a drive.
    let text = match text.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => &text[1..],
        _ => &text[..],
    };
    PathBuf::from(text)
}

fn percent_decode(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match after {
            [high, low, ..] if first == b'%' => hexadecimal(*high)
                .zip(hexadecimal(*low))
                .map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(first));
        rest = &after[if escaped.is_some() { 2 } else { 0 }..];
    }
    os_path(bytes)
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// Takes `.` and `..` out of a path by its text alone.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            Component::ParentDir if normal.has_root() => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_urls_become_paths() {
        let check = |url: &str, path: &str, folder: bool| {
            let step = resolve(Path::new("/p/lib"), url);
            let expected = Step {
                path: path.into(),
                folder: Some(folder),
            };
            assert_eq!(step, Some(expected), "{url}");
        };
        check("a.jar", "/p/lib/a.jar", false);
        check("../classes/", "/p/classes", true);
        check("file:/x/a%20b.jar", "/x/a b.jar", false);
        check("file:///x/gr%C3%BCn/", "/x/gr\u{fc}n", true);
        check("file:../a.jar", "/p/a.jar", false);
        check("100%.jar", "/p/lib/100%.jar", false);
        check("file://localhost/x.jar", "/x.jar", false);
        assert_eq!(resolve(Path::new("/p"), "https://x/a.jar"), None);
        assert_eq!(resolve(Path::new("/p"), "#"), None);
    }

    #[test]
    fn dots_leave_a_path() {
        let normal = |path: &str| normalize(Path::new(path));
        assert_eq!(normal("/a/./b/../c/"), Path::new("/a/c"));
        assert_eq!(normal("/../a"), Path::new("/a"));
        assert_eq!(normal("../a"), Path::new("../a"));
    }
}
