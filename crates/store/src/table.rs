//! All versions that a ledger knows, in few allocations.

use std::ops::Range;
use std::sync::OnceLock;

use fewest_model::{ClassName, Element, ElementKind, Fingerprint, ParseElementError};
use roaring::RoaringBitmap;

use crate::codec::Malformed;
use crate::intern::{CLASS, Entries, join};
use crate::record::VersionId;

/// Versions in columns, those of one subject side by side.
#[derive(Debug, Default)]
pub struct VersionTable {
    /// The names of subjects and the members of versions, one after another.
    text: String,
    subjects: Vec<SubjectRow>,
    ids: Vec<VersionId>,
    kinds: Vec<ElementKind>,
    fingerprints: Vec<Fingerprint>,
    /// Where the member of each version lies in the text.
    members: Vec<Span>,
    /// Where each number is, sorted by number, made when the first is asked for.
    places: OnceLock<Vec<(VersionId, Place)>>,
}

#[derive(Debug)]
struct SubjectRow {
    name: Span,
    /// The first version; they end where the next subject's begin.
    first: u32,
}

/// A piece of the text, in eight bytes.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    subject: u32,
    version: u32,
}

/// A class with everything that is part of it, or one thing that is no class.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    table: &'a VersionTable,
    row: u32,
}

/// One version of the table.
#[derive(Clone, Copy, Debug)]
pub struct KnownVersion<'a> {
    pub id: VersionId,
    pub kind: ElementKind,
    pub fingerprint: Fingerprint,
    /// Name and descriptor of a method or of a member looked up; else empty.
    pub member: &'a str,
    subject: &'a str,
}

impl VersionTable {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The subjects, in the order in which they were first met.
    pub fn subjects(&self) -> impl ExactSizeIterator<Item = Subject<'_>> {
        (0..self.subjects.len() as u32).map(|row| Subject { table: self, row })
    }

    /// The version with a number. `None` for a number that means nothing here;
    /// it can never be current.
    pub fn get(&self, id: VersionId) -> Option<KnownVersion<'_>> {
        let places = self.places.get_or_init(|| self.places());
        let index = places.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        let place = places[index].1;
        let subject = Subject {
            table: self,
            row: place.subject,
        };
        Some(subject.version(place.version as usize))
    }

    fn places(&self) -> Vec<(VersionId, Place)> {
        let mut places = Vec::with_capacity(self.ids.len());
        for subject in self.subjects() {
            places.extend(subject.range().map(|version| {
                let place = Place {
                    subject: subject.row,
                    version: version as u32,
                };
                (self.ids[version], place)
            }));
        }
        places.sort_unstable_by_key(|&(id, _)| id);
        places
    }

    /// Adds the versions of one subject, of those that are wanted.
    pub(crate) fn add(
        &mut self,
        name: &str,
        versions: &[u8],
        wanted: Option<&RoaringBitmap>,
    ) -> Result<(), Malformed> {
        let first = self.ids.len() as u32;
        let name = self.add_text(name)?;
        for entry in Entries::of(versions) {
            let entry = entry?;
            if wanted.is_some_and(|wanted| !wanted.contains(entry.id.0)) {
                continue;
            }
            let member = self.add_text(entry.member)?;
            self.ids.push(entry.id);
            self.kinds.push(entry.kind);
            self.fingerprints.push(entry.fingerprint);
            self.members.push(member);
        }
        if self.ids.len() as u32 > first {
            self.subjects.push(SubjectRow { name, first });
        } else {
            self.text.truncate(name.start as usize);
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<Span, Malformed> {
        let start = u32::try_from(self.text.len()).map_err(|_| Malformed)?;
        let length = u32::try_from(text.len()).map_err(|_| Malformed)?;
        self.text.push_str(text);
        Ok(Span { start, length })
    }

    fn text(&self, span: Span) -> &str {
        let start = span.start as usize;
        &self.text[start..start + span.length as usize]
    }
}

impl<'a> Subject<'a> {
    /// The class that this is, in VM form.
    pub fn class(&self) -> Option<&'a str> {
        self.name().strip_prefix(CLASS)
    }

    /// The versions of all elements of this subject, in the order of writing:
    /// those of one element that was seen with several contents are all there.
    pub fn versions(&self) -> impl ExactSizeIterator<Item = KnownVersion<'a>> + use<'a> {
        let subject = *self;
        self.range().map(move |version| subject.version(version))
    }

    /// The letter of a kind and the name.
    fn name(&self) -> &'a str {
        self.table.text(self.table.subjects[self.row as usize].name)
    }

    fn range(&self) -> Range<usize> {
        let subjects = &self.table.subjects;
        let row = self.row as usize;
        let end = subjects
            .get(row + 1)
            .map_or(self.table.ids.len(), |next| next.first as usize);
        subjects[row].first as usize..end
    }

    fn version(&self, version: usize) -> KnownVersion<'a> {
        KnownVersion {
            id: self.table.ids[version],
            kind: self.table.kinds[version],
            fingerprint: self.table.fingerprints[version],
            member: self.table.text(self.table.members[version]),
            subject: self.name(),
        }
    }
}

impl KnownVersion<'_> {
    /// The textual form of the element.
    pub fn text(&self) -> String {
        join(self.subject, self.kind, self.member)
    }

    pub fn element(&self) -> Result<Element, ParseElementError> {
        self.text().parse()
    }

    /// The class, where this is a version of all of it.
    pub fn whole_class(&self) -> Option<ClassName> {
        use ElementKind::{Class, Reachable, Whole};
        matches!(self.kind, Class | Reachable | Whole)
            .then(|| self.subject.strip_prefix(CLASS).map(ClassName::new))?
    }

    /// Whether both are versions of one element.
    pub fn is_same_element(&self, other: &Self) -> bool {
        (self.kind, self.member, self.subject) == (other.kind, other.member, other.subject)
    }
}
