//! Looks things up in a table.

use std::cmp::Ordering;
use std::ops::Range;

use fewest_model::Fingerprint;

use super::record::ClassRecord;
use super::{
    DIRECTORY, EXPLICIT, IS_CLASS, IS_DOUBTFUL, IS_TRUSTED, ITEM, LENGTHS, Location, Meta, Zipped,
};
use crate::stat::Stat;

/// See the [module](super).
///
/// Offsets within a table are believed: it was either built here a moment ago,
/// or comes from a file whose checksum was right.
pub(crate) struct Table {
    bytes: Vec<u8>,
    meta: Meta,
    directories: Range<usize>,
    items: Range<usize>,
    records: usize,
    strings: usize,
    /// Whether items are entries of a jar.
    zipped: bool,
}

impl Table {
    /// Takes over the bytes of a table, or `None` if they are none.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let mut end = LENGTHS;
        let mut section = |index: usize| {
            let length = bytes.get(index * 4..index * 4 + 4)?;
            let start = end;
            end = start.checked_add(u32::from_le_bytes(length.try_into().ok()?) as usize)?;
            (end <= bytes.len()).then_some(start..end)
        };
        let (meta, directories) = (section(0)?, section(1)?);
        let (items, records) = (section(2)?, section(3)?);
        let meta: Meta = serde_json::from_slice(&bytes[meta]).ok()?;
        Some(Self {
            zipped: meta.stat.is_some(),
            meta,
            directories,
            items,
            records: records.start,
            strings: records.end,
            bytes,
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.meta
    }

    pub(crate) fn directory_count(&self) -> usize {
        self.directories.len() / DIRECTORY
    }

    pub(crate) fn item_count(&self) -> usize {
        self.items.len() / ITEM
    }

    pub(crate) fn directory(&self, index: usize) -> Directory<'_> {
        let at = self.directories.start + index * DIRECTORY;
        let first = self.u32(at + 4);
        Directory {
            name: self.string(self.u32(at)),
            items: first..first + self.u32(at + 8),
            explicit: self.u32(at + 12) & EXPLICIT != 0,
        }
    }

    pub(crate) fn directories(&self) -> impl Iterator<Item = Directory<'_>> {
        (0..self.directory_count()).map(|index| self.directory(index))
    }

    pub(crate) fn find_directory(&self, name: &str) -> Option<Directory<'_>> {
        let name_at =
            |index: usize| self.string(self.u32(self.directories.start + index * DIRECTORY));
        let index = search(0..self.directory_count(), |index| name_at(index).cmp(name))?;
        Some(self.directory(index))
    }

    pub(crate) fn item(&self, index: u32) -> Item<'_> {
        Item {
            table: self,
            index,
            at: self.items.start + index as usize * ITEM,
        }
    }

    /// Finds an item by the name that it has within its directory.
    pub(crate) fn find_item(&self, items: &Range<u32>, name: &str) -> Option<Item<'_>> {
        let range = items.start as usize..items.end as usize;
        let index = search(range, |index| self.item(index as u32).name().cmp(name))?;
        Some(self.item(index as u32))
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    pub(super) fn fingerprint(&self, at: usize) -> Fingerprint {
        Fingerprint::from_bytes(self.array(at))
    }

    pub(super) fn string(&self, offset: u32) -> &str {
        let start = self.strings + offset as usize + 4;
        let length = self.u32(start - 4) as usize;
        // Text goes in as text and the checksum vouches for it. Were it
        // broken, an empty name would match nothing.
        str::from_utf8(&self.bytes[start..start + length]).unwrap_or_default()
    }

    pub(super) fn strings(&self) -> &[u8] {
        &self.bytes[self.strings..]
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[at..at + N]);
        array
    }
}

fn search(range: Range<usize>, compare: impl Fn(usize) -> Ordering) -> Option<usize> {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some(middle),
        }
    }
    None
}

/// A directory of the entry.
#[derive(Clone, Debug)]
pub(crate) struct Directory<'a> {
    /// With slashes, without one at either end; the top one is empty.
    pub(crate) name: &'a str,
    pub(crate) items: Range<u32>,
    pub(crate) explicit: bool,
}

/// A file of a folder or of a jar.
#[derive(Clone, Copy)]
pub(crate) struct Item<'a> {
    table: &'a Table,
    pub(crate) index: u32,
    at: usize,
}

impl<'a> Item<'a> {
    /// The name within the directory.
    pub(crate) fn name(self) -> &'a str {
        self.table.string(self.name_offset())
    }

    pub(crate) fn is_class(self) -> bool {
        self.flags() & IS_CLASS != 0
    }

    /// Whether the location would betray any later edit.
    pub(crate) fn is_trusted(self) -> bool {
        self.flags() & IS_TRUSTED != 0
    }

    /// The class fingerprint of a class that could be read, else that of the
    /// bytes.
    pub(crate) fn fingerprint(self) -> Fingerprint {
        self.table.fingerprint(self.at + 12 + Location::LENGTH)
    }

    /// Why the item could not be read.
    pub(crate) fn doubt(self) -> Option<&'a str> {
        (self.flags() & IS_DOUBTFUL != 0).then(|| self.table.string(self.record_offset()))
    }

    /// What is known of a class that could be read.
    pub(crate) fn class(self) -> Option<ClassRecord<'a>> {
        (self.flags() & (IS_CLASS | IS_DOUBTFUL) == IS_CLASS).then(|| {
            ClassRecord::new(
                self.table,
                self.table.records + self.record_offset() as usize,
            )
        })
    }

    pub(crate) fn location(self) -> Location {
        let at = self.at + 12;
        let [first, second, third, fourth] = [at, at + 8, at + 16, at + 24];
        if self.table.zipped {
            let marks = self.table.u64(second);
            Location::Zipped(Zipped {
                size: self.table.u64(first),
                crc: marks as u32,
                method: (marks >> 32) as u16,
                compressed_size: self.table.u64(third),
                offset: self.table.u64(fourth),
            })
        } else {
            Location::File(Stat {
                size: self.table.u64(first),
                modified: self.table.u64(second) as i64,
                changed: self.table.u64(third) as i64,
                inode: self.table.u64(fourth),
            })
        }
    }

    fn flags(self) -> u32 {
        self.table.u32(self.at + 4)
    }

    pub(super) fn name_offset(self) -> u32 {
        self.table.u32(self.at)
    }

    pub(super) fn record_offset(self) -> u32 {
        self.table.u32(self.at + 8)
    }
}
