//! Which tests of a task a change set can affect.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fewest_build::TaskRequest;
use fewest_classfile::lines::SourceLines;
use fewest_classfile::read::ClassFile;
use fewest_model::ClassName;
use fewest_select::class_graph::ClassGraph;
use fewest_select::verdict::{RunReason, Verdict};
use fewest_snapshot::{Origin, Snapshot};

use super::change_set::{ChangeSet, FileChange};
use super::patch::{Dropped, Hunk, Patch};
use crate::merge::NO_CLASS;
use crate::named_classes::SnapshotNames;
use crate::settings::ProjectFile;

/// The tests that must run, each with the reason.
pub(crate) enum Affected {
    /// What changed may affect any of them.
    Everything(String),
    Tests(BTreeMap<ClassName, RunReason>),
}

impl Affected {
    pub(crate) fn of(
        set: &ChangeSet,
        file: &ProjectFile,
        request: &TaskRequest,
        snapshot: &Snapshot,
        tests: &BTreeSet<ClassName>,
    ) -> Self {
        let changed = match Changed::of(set, &request.basedir, snapshot) {
            Ok(changed) => changed,
            Err(why) => return Self::Everything(why),
        };
        let mut reasons = changed.tests(snapshot, tests);
        for test in tests {
            let mut inputs = file.inputs_of(test);
            if let Some(pattern) = inputs.find(|pattern| set.touches(pattern)) {
                let why = format!("one of its inputs `{}` changed", pattern.as_str());
                let reason = RunReason::Needed { why };
                reasons.entry(test.clone()).or_insert(reason);
            }
        }
        Self::Tests(reasons)
    }

    pub(crate) fn verdict(&self, test: &ClassName) -> Verdict {
        let reason = match self {
            Self::Everything(why) => Some(RunReason::Unknown { doubt: why.clone() }),
            Self::Tests(tests) => tests.get(test).cloned(),
        };
        reason.map_or(Verdict::Skip { record: 0 }, Verdict::Run)
    }
}

/// The classes that changed.
#[derive(Default)]
struct Changed {
    classes: BTreeSet<ClassName>,
    /// Types that may be gone. Whoever named one may now mean another of the
    /// same simple name, so all of these count.
    dropped: BTreeSet<String>,
}

impl Changed {
    /// The classes that a change set stands for, or why everything must run.
    fn of(set: &ChangeSet, basedir: &Path, snapshot: &Snapshot) -> Result<Self, String> {
        if set.files.is_empty() {
            return Ok(Self::default());
        }
        let classes = SourceClasses::of(set, snapshot);
        let mut changed = Self {
            classes: classes.of_unknown_source.clone(),
            dropped: BTreeSet::new(),
        };
        for (path, change) in &set.files {
            let since = || format!("`{path}` changed since {}", set.revision);
            let copied = || {
                let since = since();
                format!("{since}, and other classes may have copied its constants")
            };
            match change {
                _ if path.ends_with("module-info.java") => return Err(since()),
                FileChange::Other => {
                    let since = since();
                    return Err(format!("{since}, and what that can affect is not known"));
                }
                FileChange::Removed {
                    may_drop_constant: true,
                    ..
                } => return Err(copied()),
                FileChange::Removed { types, .. } => changed.dropped.extend(types.clone()),
                FileChange::Added | FileChange::Edited(_) if is_package_info(path) => {
                    changed.classes.extend(package_infos(path));
                }
                FileChange::Added | FileChange::Edited(_) => {
                    let of_file = classes.of_file(path);
                    if of_file.is_empty() && is_below(&set.top.join(path), basedir) {
                        let since = since();
                        return Err(format!("{since}, and no class is known to come from it"));
                    }
                    let hit = match change {
                        FileChange::Edited(patch) => {
                            changed.dropped.extend(patch.dropped_types.clone());
                            of_patch(patch, &of_file)
                        }
                        _ => of_whole_file(&of_file),
                    };
                    changed.classes.extend(hit.ok_or_else(copied)?);
                }
            }
        }
        Ok(changed)
    }

    fn is_changed(&self, class: &ClassName) -> bool {
        let simple = class.as_str().rsplit('/').next().unwrap_or_default();
        self.classes.contains(class) || simple.split('$').any(|part| self.dropped.contains(part))
    }

    fn tests(
        &self,
        snapshot: &Snapshot,
        tests: &BTreeSet<ClassName>,
    ) -> BTreeMap<ClassName, RunReason> {
        let names = SnapshotNames(snapshot);
        let mut graph = ClassGraph::new(&names);
        let chains = graph.affected(tests, |class| self.is_changed(class));
        let mut reasons: BTreeMap<ClassName, RunReason> = chains
            .into_iter()
            .map(|(test, chain)| (test, RunReason::Reaches { chain, count: 1 }))
            .collect();
        for test in tests {
            if snapshot.class(test).is_none() {
                let doubt = NO_CLASS.to_owned();
                reasons.insert(test.clone(), RunReason::Unknown { doubt });
            } else if !reasons.contains_key(test)
                && let Some(class) = graph.reach(test).unreadable.first()
            {
                let class = class.dotted();
                let doubt =
                    format!("the class {class} cannot be read, so what it leads to is not known");
                reasons.insert(test.clone(), RunReason::Unknown { doubt });
            }
        }
        reasons
    }
}

/// The classes that come from one file.
type OfFile<'a> = Vec<(&'a ClassName, &'a SourceLines)>;

/// What each class tells of its source, as far as that matters.
struct SourceClasses {
    /// Classes in packages in which something changed.
    classes: Vec<(ClassName, SourceLines)>,
    /// Classes of the project that come from none of its files: generated ones,
    /// and those that do not tell. They may follow from any change.
    of_unknown_source: BTreeSet<ClassName>,
}

impl SourceClasses {
    fn of(set: &ChangeSet, snapshot: &Snapshot) -> Self {
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for path in set.files.keys() {
            folders.extend(folder_ends(path));
        }
        let sources: BTreeSet<&str> = set.sources.iter().flat_map(|s| ends(s)).collect();
        let mut found = Self {
            classes: Vec::new(),
            of_unknown_source: BTreeSet::new(),
        };
        for view in snapshot.classes() {
            let is_own = matches!(view.origin(), Origin::File(_));
            let name = view.name();
            let is_near = folders.contains(package(name));
            if !is_own && !is_near {
                continue;
            }
            let bytes = snapshot.class_bytes(name).ok();
            let lines = bytes.and_then(|bytes| {
                let class = ClassFile::read(&bytes).ok()?;
                SourceLines::of(&class).ok()
            });
            let source = lines.as_ref().and_then(|lines| source_path(name, lines));
            let is_known = source.is_some_and(|source| sources.contains(&*source));
            match lines {
                Some(lines) if is_known || !is_own => {
                    if is_near {
                        found.classes.push((name.clone(), lines));
                    }
                }
                _ => {
                    found.of_unknown_source.insert(name.clone());
                }
            }
        }
        found
    }

    /// The classes that a file was compiled to. A class that does not tell its
    /// file may be one of any in its package.
    fn of_file(&self, path: &str) -> OfFile<'_> {
        let ends: BTreeSet<&str> = ends(path).collect();
        let folders: BTreeSet<&str> = folder_ends(path).collect();
        let classes = self.classes.iter().map(|(name, lines)| (name, lines));
        classes
            .filter(|(name, lines)| match source_path(name, lines) {
                Some(source) => ends.contains(&*source),
                None => folders.contains(package(name)),
            })
            .collect()
    }
}

/// Where a class says that it comes from, below the folder of sources.
fn source_path(name: &ClassName, lines: &SourceLines) -> Option<String> {
    let file = lines.file.as_ref()?;
    Some(match package(name) {
        "" => file.clone(),
        package => format!("{package}/{file}"),
    })
}

/// The classes that changed lines belong to. `None` if values that other
/// classes have copied may have changed.
fn of_patch(patch: &Patch, of_file: &OfFile<'_>) -> Option<BTreeSet<ClassName>> {
    if of_file
        .iter()
        .any(|(_, lines)| lines.has_code_without_lines)
    {
        return of_whole_file(of_file);
    }
    let mut changed = BTreeSet::new();
    for hunk in &patch.hunks {
        match owners(hunk, of_file) {
            Some(owners) => changed.extend(owners),
            None if may_drop_constant(hunk, of_file) => return None,
            None => changed.extend(of_whole_file(of_file)?),
        }
    }
    // A type that is gone was part of the file, not of a method.
    if !patch.dropped_types.is_empty() {
        changed.extend(of_whole_file(of_file)?);
    }
    Some(changed)
}

fn may_drop_constant(hunk: &Hunk, of_file: &OfFile<'_>) -> bool {
    match hunk.dropped {
        Dropped::Nothing => false,
        Dropped::Value => of_file.iter().any(|(_, lines)| lines.is_interface),
        Dropped::StaticValue => true,
    }
}

fn of_whole_file(of_file: &OfFile<'_>) -> Option<BTreeSet<ClassName>> {
    let mut classes = of_file.iter();
    let may_be_copied = classes.any(|(_, lines)| lines.has_constants);
    (!may_be_copied).then(|| of_file.iter().map(|(name, _)| (*name).clone()).collect())
}

/// The classes whose code alone a hunk has changed. `None` if it reaches
/// beyond code.
fn owners(hunk: &Hunk, of_file: &OfFile<'_>) -> Option<BTreeSet<ClassName>> {
    let those = |owns: &dyn Fn(&SourceLines) -> bool| {
        let owners = of_file.iter().filter(|(_, lines)| owns(lines));
        let owners: BTreeSet<ClassName> = owners.map(|(name, _)| (*name).clone()).collect();
        (!owners.is_empty()).then_some(owners)
    };
    if hunk.new.is_empty() {
        return those(&|lines| lines.goes_on_after(hunk.line));
    }
    let mut owners = BTreeSet::new();
    for (line, &is_plain) in (hunk.line..).zip(&hunk.new) {
        owners.extend(those(&|lines| {
            lines.is_within_method(line) || is_plain && lines.has_code_on(line)
        })?);
    }
    Some(owners)
}

fn package(class: &ClassName) -> &str {
    class
        .as_str()
        .rsplit_once('/')
        .map_or("", |(package, _)| package)
}

/// A path, and what is left of it when folders before it are taken away: where
/// sources begin is not known.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let after_slash = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    std::iter::once(path).chain(after_slash)
}

/// The packages that a file may be in by its folder.
fn folder_ends(path: &str) -> impl Iterator<Item = &str> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    ends(folder).chain([""])
}

fn is_package_info(path: &str) -> bool {
    path.rsplit('/').next() == Some("package-info.java")
}

/// The class of a package's annotations, for each package that it may be. The
/// class may be gone, or never have been there.
fn package_infos(path: &str) -> impl Iterator<Item = ClassName> {
    let packages = folder_ends(path).filter(|package| !package.is_empty());
    packages.map(|package| ClassName::new(format!("{package}/package-info")))
}

fn is_below(file: &Path, folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    file.starts_with(folder)
}
