//! Compares two versions of a class, or of a folder of classes.
//!
//! The vocabulary is that of `HyRTS`; `docs/reference/fingerprints.md` says where
//! the meaning differs. Selection does not need it, since a test's record
//! names the versions it used: it is for reports, experiments and people.

mod change_type;
mod lookups;

use std::collections::BTreeMap;
use std::fmt;

use fewest_model::{ClassName, Fingerprint, MethodKey};

pub use change_type::{ChangeType, ParseChangeTypeError};

use crate::fingerprint::{ClassFingerprints, MethodFingerprint};
use crate::read::access;

/// One difference between two versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub class: ClassName,
    pub kind: ChangeType,
    /// The method, where one changed; for a lookup, the one looked for.
    pub member: Option<MethodKey>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.class)?;
        match &self.member {
            Some(member) => write!(f, ".{member}"),
            None => Ok(()),
        }
    }
}

/// Classes by name.
pub type ClassSet = BTreeMap<ClassName, ClassFingerprints>;

/// The changes from one version of a class to another: of the head, of the
/// file, then of methods in the order of their names.
pub fn compare(old: &ClassFingerprints, new: &ClassFingerprints) -> Vec<Change> {
    let mut changes = Vec::new();
    if old.class == new.class {
        return changes;
    }
    let mut push = |kind, member| {
        changes.push(Change {
            class: new.name.clone(),
            kind,
            member,
        });
    };
    if old.head != new.head {
        push(ChangeType::CH, None);
    }
    push(ChangeType::CF, None);
    let (old, new) = (by_key(&old.methods), by_key(&new.methods));
    for (key, before) in &old {
        match new.get(key) {
            None => push(before.kind.deleted(), Some(key.method.clone())),
            Some(after) if after.content != before.content => {
                push(before.kind.changed(), Some(key.method.clone()));
            }
            Some(_) => {}
        }
    }
    for (key, after) in &new {
        if !old.contains_key(key) {
            push(after.kind.added(), Some(key.method.clone()));
        }
    }
    // Stable, so that the head and the file stay in front.
    changes.sort_by(|a, b| a.member.cmp(&b.member));
    changes
}

/// The changes from one set of classes to another, sorted by class, with the
/// lookups that end elsewhere now.
pub fn compare_sets(old: &ClassSet, new: &ClassSet) -> Vec<Change> {
    let mut changes = Vec::new();
    let whole = |class: &ClassName, kind| Change {
        class: class.clone(),
        kind,
        member: None,
    };
    for (name, before) in old {
        match new.get(name) {
            Some(after) => changes.extend(compare(before, after)),
            None => changes.push(whole(name, ChangeType::DF)),
        }
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        changes.push(whole(name, ChangeType::AF));
    }
    changes.extend(lookups::changed_lookups(old, new));
    changes.sort_by(|a, b| a.class.cmp(&b.class));
    changes
}

/// A method, told apart also by whether it is static: one that becomes static
/// goes and another comes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    method: &'a MethodKey,
    is_static: bool,
}

struct Content {
    kind: MethodKind,
    /// More than one only in a file that no JVM would load.
    content: Vec<Fingerprint>,
}

fn by_key(methods: &[MethodFingerprint]) -> BTreeMap<Key<'_>, Content> {
    let mut by_key = BTreeMap::new();
    for method in methods {
        let key = Key {
            method: &method.key,
            is_static: method.access & access::STATIC != 0,
        };
        let entry = by_key.entry(key).or_insert_with(|| Content {
            kind: MethodKind::of(method),
            content: Vec::new(),
        });
        entry.content.push(method.fingerprint);
        entry.content.sort_unstable();
    }
    by_key
}

#[derive(Clone, Copy)]
enum MethodKind {
    StaticInitializer,
    Constructor,
    Static,
    Instance,
}

impl MethodKind {
    fn of(method: &MethodFingerprint) -> Self {
        if method.key.is_static_initializer() {
            Self::StaticInitializer
        } else if method.key.is_constructor() {
            Self::Constructor
        } else if method.access & access::STATIC != 0 {
            Self::Static
        } else {
            Self::Instance
        }
    }

    fn added(self) -> ChangeType {
        match self {
            Self::StaticInitializer => ChangeType::ASI,
            Self::Constructor => ChangeType::AI,
            Self::Static => ChangeType::ASM,
            Self::Instance => ChangeType::AIM,
        }
    }

    fn deleted(self) -> ChangeType {
        match self {
            Self::StaticInitializer => ChangeType::DSI,
            Self::Constructor => ChangeType::DI,
            Self::Static => ChangeType::DSM,
            Self::Instance => ChangeType::DIM,
        }
    }

    fn changed(self) -> ChangeType {
        match self {
            Self::StaticInitializer => ChangeType::CSI,
            Self::Constructor => ChangeType::CI,
            Self::Static => ChangeType::CSM,
            Self::Instance => ChangeType::CIM,
        }
    }
}
