//! How classes have changed since tests were recorded with them.

use std::collections::{BTreeMap, BTreeSet};

use fewest_classfile::changes::{Change, ChangeType, ClassSet, compare_sets};
use fewest_classfile::fingerprint::ClassFingerprints;
use fewest_model::{ClassName, Element, ElementKind, Fingerprint};
use fewest_snapshot::Snapshot;
use fewest_store::{KnownTest, KnownVersion, Ledger, ReadError, VersionId};
use roaring::RoaringBitmap;

/// The changes of the classes that tests use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassChanges {
    /// Sorted by class.
    pub changes: BTreeSet<Change>,
    /// The classes that are as they were.
    pub same: BTreeSet<ClassName>,
    /// Changed classes of which it is not known what in them has changed.
    pub unknown: BTreeSet<ClassName>,
}

impl ClassChanges {
    /// Adds what another task sees. A class that changed for one has changed.
    pub(crate) fn add(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.unknown.extend(other.unknown);
        self.same.extend(other.same);
        for change in &self.changes {
            self.same.remove(&change.class);
        }
    }
}

/// Compares each class with what it was when the last test that uses it was
/// recorded. `None` if no test has a record.
pub(crate) fn class_changes<'l>(
    ledger: &'l Ledger<'_>,
    tests: impl Iterator<Item = &'l KnownTest>,
    snapshot: &Snapshot,
) -> Result<Option<ClassChanges>, ReadError> {
    let Some(recorded) = recorded_classes(ledger, tests)? else {
        return Ok(None);
    };
    let mut told = ClassChanges::default();
    let (mut old, mut new) = (ClassSet::new(), ClassSet::new());
    for (class, version) in recorded {
        let now = current(snapshot, &class);
        if snapshot.fingerprint(&Element::Class(class.clone())) == version.fingerprint {
            if let Some(now) = now {
                old.insert(class.clone(), now.clone());
                new.insert(class.clone(), now);
            }
            told.same.insert(class);
            continue;
        }
        let was = ledger.class_of(&version)?;
        let is_absent = version.fingerprint == Fingerprint::ABSENT;
        match (was, now) {
            (Some(was), Some(now)) => {
                old.insert(class.clone(), was);
                new.insert(class, now);
            }
            (None, Some(now)) if is_absent => {
                new.insert(class, now);
            }
            (Some(was), None) if snapshot.class(&class).is_none() => {
                old.insert(class, was);
            }
            _ => {
                let kind = if is_absent {
                    ChangeType::AF
                } else if snapshot.class(&class).is_none() {
                    ChangeType::DF
                } else {
                    told.unknown.insert(class.clone());
                    ChangeType::CF
                };
                told.changes.insert(Change {
                    class,
                    kind,
                    member: None,
                });
            }
        }
    }
    told.changes.extend(compare_sets(&old, &new));
    for change in &told.changes {
        told.same.remove(&change.class);
    }
    Ok(Some(told))
}

/// A class as it is, if it can be read.
fn current(snapshot: &Snapshot, class: &ClassName) -> Option<ClassFingerprints> {
    let view = snapshot.class(class)?;
    view.doubt().is_none().then(|| view.fingerprints())
}

/// The version of each class that the last recorded test which uses it used.
fn recorded_classes<'l>(
    ledger: &'l Ledger<'_>,
    tests: impl Iterator<Item = &'l KnownTest>,
) -> Result<Option<BTreeMap<ClassName, KnownVersion<'l>>>, ReadError> {
    let mut records: Vec<_> = tests
        .filter_map(|test| ledger.records_of(test).first())
        .collect();
    if records.is_empty() {
        return Ok(None);
    }
    records.sort_by_key(|record| std::cmp::Reverse(record.sequence));
    let mut versions_of: BTreeMap<ClassName, Vec<u32>> = BTreeMap::new();
    let mut open = RoaringBitmap::new();
    for subject in ledger.versions().subjects() {
        for version in subject.versions() {
            if let Some(class) = class_of(&version) {
                open.insert(version.id.0);
                versions_of.entry(class).or_default().push(version.id.0);
            }
        }
    }
    let mut recorded = BTreeMap::new();
    for record in records {
        for id in ledger.uses(record)? & &open {
            let Some(version) = ledger.versions().get(VersionId(id)) else {
                continue;
            };
            let Some(class) = class_of(&version) else {
                continue;
            };
            // What older records used of this class does not count any more.
            for id in &versions_of[&class] {
                open.remove(*id);
            }
            recorded.entry(class).or_insert(version);
        }
    }
    Ok(Some(recorded))
}

/// The class, for the versions that records have of all classes they use.
fn class_of(version: &KnownVersion<'_>) -> Option<ClassName> {
    matches!(version.kind, ElementKind::Class | ElementKind::Reachable)
        .then(|| version.whole_class())?
}
