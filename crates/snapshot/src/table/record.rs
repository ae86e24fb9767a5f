//! What a table says of one class.

use fewest_model::{Fingerprint, MethodKey};

use super::NONE;
use super::reader::Table;

/// A class that could be read.
///
/// | offset | content |
/// |---|---|
/// | 0 | declared name |
/// | 4 | superclass, or [`NONE`] |
/// | 8 | access flags, numbers of interfaces, fields and methods, `u16` each |
/// | 16 | head fingerprint |
/// | 32 | shape fingerprint |
/// | 48 | interfaces, 4 bytes each |
/// | … | fields, 8 bytes each: name and descriptor |
/// | … | methods, 28 bytes each, sorted by name and descriptor |
#[derive(Clone, Copy)]
pub(crate) struct ClassRecord<'a> {
    table: &'a Table,
    at: usize,
}

pub(super) const FIXED: usize = 48;
pub(super) const INTERFACE: usize = 4;
pub(super) const FIELD: usize = 8;
pub(super) const METHOD: usize = 28;

/// A method of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodRecord<'a> {
    pub(crate) name: &'a str,
    pub(crate) descriptor: &'a str,
    pub(crate) access: u16,
    pub(crate) fingerprint: Fingerprint,
}

impl<'a> ClassRecord<'a> {
    pub(super) fn new(table: &'a Table, at: usize) -> Self {
        Self { table, at }
    }

    /// The name that the class has in its own eyes.
    pub(crate) fn declared_name(self) -> &'a str {
        self.table.string(self.table.u32(self.at))
    }

    pub(crate) fn super_name(self) -> Option<&'a str> {
        let offset = self.table.u32(self.at + 4);
        (offset != NONE).then(|| self.table.string(offset))
    }

    pub(crate) fn access(self) -> u16 {
        self.table.u16(self.at + 8)
    }

    pub(crate) fn head(self) -> Fingerprint {
        self.table.fingerprint(self.at + 16)
    }

    pub(crate) fn shape(self) -> Fingerprint {
        self.table.fingerprint(self.at + 32)
    }

    pub(crate) fn interfaces(self) -> impl ExactSizeIterator<Item = &'a str> {
        (0..self.interface_count())
            .map(move |index| self.string_at(self.at + FIXED + index * INTERFACE))
    }

    /// Names and descriptors of the fields, in the order of the class file.
    pub(crate) fn fields(self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> {
        let start = self.at + FIXED + self.interface_count() * INTERFACE;
        (0..self.field_count()).map(move |index| {
            let at = start + index * FIELD;
            (self.string_at(at), self.string_at(at + 4))
        })
    }

    pub(crate) fn methods(self) -> impl ExactSizeIterator<Item = MethodRecord<'a>> {
        (0..self.method_count()).map(move |index| self.method_at(index))
    }

    pub(crate) fn method(self, key: &MethodKey) -> Option<MethodRecord<'a>> {
        let (mut low, mut high) = (0, self.method_count());
        let wanted = (&*key.name, &*key.descriptor);
        while low < high {
            let middle = low + (high - low) / 2;
            let method = self.method_at(middle);
            match (method.name, method.descriptor).cmp(&wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(method),
            }
        }
        None
    }

    /// The record as it is written.
    pub(super) fn bytes(self) -> &'a [u8] {
        let length = FIXED
            + self.interface_count() * INTERFACE
            + self.field_count() * FIELD
            + self.method_count() * METHOD;
        self.table.slice(self.at..self.at + length)
    }

    fn method_at(self, index: usize) -> MethodRecord<'a> {
        let at = self.at
            + FIXED
            + self.interface_count() * INTERFACE
            + self.field_count() * FIELD
            + index * METHOD;
        MethodRecord {
            name: self.string_at(at),
            descriptor: self.string_at(at + 4),
            access: self.table.u16(at + 8),
            fingerprint: self.table.fingerprint(at + 12),
        }
    }

    fn interface_count(self) -> usize {
        self.table.u16(self.at + 10) as usize
    }

    fn field_count(self) -> usize {
        self.table.u16(self.at + 12) as usize
    }

    fn method_count(self) -> usize {
        self.table.u16(self.at + 14) as usize
    }

    fn string_at(self, at: usize) -> &'a str {
        self.table.string(self.table.u32(at))
    }
}
