//! Gives each version its number.
//!
//! Versions lie in the file by *subject*: a class with everything that is part
//! of it, or one file, resource, variable or property. One row holds all
//! versions of a subject, so a transaction reads and writes each subject that
//! it meets once, and needs no index over versions.

use std::collections::BTreeMap;

use fewest_model::{Element, ElementKind, Fingerprint, Version};
use foldhash::HashMap;
use rusqlite::{Connection, OptionalExtension};

use crate::codec::{Malformed, Packer, Unpacker};
use crate::error::Fault;
use crate::record::VersionId;
use crate::sum::Sum;

/// The letter in front of a subject that is a class.
pub(crate) const CLASS: &str = "C ";

/// The subject's name and the rest of the element's name.
fn split(element: &Element) -> (String, String) {
    let member = match element {
        Element::Method(_, key) | Element::Lookup(_, key) | Element::Receiver(_, key) => {
            key.to_string()
        }
        Element::Blocks(_, key, walk) => format!("{key} {walk}"),
        _ => String::new(),
    };
    let subject = match element.class() {
        Some(class) => format!("{CLASS}{class}"),
        None => element.to_string(),
    };
    (subject, member)
}

/// The textual form of an element, from what [`split`] made of it.
pub(crate) fn join(subject: &str, kind: ElementKind, member: &str) -> String {
    match subject.strip_prefix(CLASS) {
        Some(class) if member.is_empty() => format!("{} {class}", kind.letter()),
        Some(class) => format!("{} {class}.{member}", kind.letter()),
        None => subject.to_owned(),
    }
}

pub(crate) fn subject_sum(name: &str, versions: &[u8]) -> i64 {
    Sum::of("subject").text(name).bytes(versions).finish()
}

/// One version in the row of its subject.
pub(crate) struct Entry<'a> {
    pub(crate) id: VersionId,
    pub(crate) kind: ElementKind,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) member: &'a str,
}

impl Entry<'_> {
    pub(crate) fn pack(&self, packer: &mut Packer) {
        packer.integer(u64::from(self.id.0));
        packer.byte(self.kind.letter() as u8);
        packer.fingerprint(&self.fingerprint);
        packer.text(self.member);
    }
}

/// The versions in the row of a subject.
pub(crate) struct Entries<'a>(Unpacker<'a>);

impl<'a> Entries<'a> {
    pub(crate) fn of(versions: &'a [u8]) -> Self {
        Self(Unpacker::new(versions))
    }

    fn entry(&mut self) -> Result<Entry<'a>, Malformed> {
        Ok(Entry {
            id: VersionId(self.0.small()?),
            kind: kind_of(self.0.byte()?).ok_or(Malformed)?,
            fingerprint: self.0.fingerprint()?,
            member: self.0.text()?,
        })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.entry())
    }
}

fn kind_of(letter: u8) -> Option<ElementKind> {
    ElementKind::ALL
        .into_iter()
        .find(|kind| kind.letter() as u8 == letter)
}

type Key = (ElementKind, Fingerprint, String);

/// A subject that this transaction has met.
#[derive(Debug, Default)]
struct Loaded {
    versions: Vec<u8>,
    known: HashMap<Key, VersionId>,
    changed: bool,
}

/// Numbers versions within one transaction.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    /// Ordered, so that equal transactions write equal files.
    subjects: BTreeMap<String, Loaded>,
    /// Most versions of a run are used by many tests, so nearly every question
    /// ends here. It took half of a merge with the standard library's hasher.
    seen: HashMap<Version, VersionId>,
}

impl Interner {
    /// The number of a version; `next` is the first number that is free.
    pub(crate) fn intern(
        &mut self,
        connection: &Connection,
        version: &Version,
        next: &mut u32,
    ) -> Result<VersionId, Fault> {
        if let Some(&id) = self.seen.get(version) {
            return Ok(id);
        }
        let (subject, member) = split(&version.element);
        let loaded = self.subject(connection, subject)?;
        let id = loaded.number(version.element.kind(), version.fingerprint, member, next);
        self.seen.insert(version.clone(), id);
        Ok(id)
    }

    fn subject(&mut self, connection: &Connection, name: String) -> Result<&mut Loaded, Fault> {
        use std::collections::btree_map::Entry::{Occupied, Vacant};
        Ok(match self.subjects.entry(name) {
            Occupied(entry) => entry.into_mut(),
            Vacant(entry) => {
                let loaded = Loaded::load(connection, entry.key())?;
                entry.insert(loaded)
            }
        })
    }

    /// Writes what is new.
    pub(crate) fn flush(&mut self, connection: &Connection) -> Result<(), Fault> {
        for (name, loaded) in &mut self.subjects {
            if loaded.changed {
                save_subject(connection, name, &loaded.versions)?;
                loaded.changed = false;
            }
        }
        Ok(())
    }

    /// Forgets everything, after the rows were changed by another hand.
    pub(crate) fn clear(&mut self) {
        self.subjects.clear();
        self.seen.clear();
    }
}

pub(crate) fn save_subject(
    connection: &Connection,
    name: &str,
    versions: &[u8],
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO subject (name, versions, sum) VALUES (?1, ?2, ?3) \
             ON CONFLICT (name) DO UPDATE SET versions = ?2, sum = ?3",
        )?
        .execute((name, versions, subject_sum(name, versions)))?;
    Ok(())
}

impl Loaded {
    fn load(connection: &Connection, name: &str) -> Result<Self, Fault> {
        let row = connection
            .prepare_cached("SELECT id, versions, sum FROM subject WHERE name = ?")?
            .query_row((name,), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?))
            })
            .optional()?;
        let Some((id, versions, sum)) = row else {
            return Ok(Self::default());
        };
        let mut loaded = Self {
            versions,
            ..Self::default()
        };
        if sum != subject_sum(name, &loaded.versions) {
            return Err(Fault::sum("subject", id));
        }
        for entry in Entries::of(&loaded.versions) {
            let entry = entry?;
            let key = (entry.kind, entry.fingerprint, entry.member.to_owned());
            loaded.known.insert(key, entry.id);
        }
        Ok(loaded)
    }

    fn number(
        &mut self,
        kind: ElementKind,
        fingerprint: Fingerprint,
        member: String,
        next: &mut u32,
    ) -> VersionId {
        let key = (kind, fingerprint, member);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = VersionId(*next);
        *next += 1;
        let mut packer = Packer::onto(std::mem::take(&mut self.versions));
        Entry {
            id,
            kind,
            fingerprint,
            member: &key.2,
        }
        .pack(&mut packer);
        self.versions = packer.finish();
        self.changed = true;
        self.known.insert(key, id);
        id
    }
}
