//! What is known of one entry of the class path, as a block of bytes.
//!
//! The block is what the cache file holds and what answers questions: nothing
//! is decoded before somebody asks for it, so that a hundred thousand classes
//! with a million methods cost one read.
//!
//! All numbers are little-endian. The sections follow one another:
//!
//! | section | content |
//! |---|---|
//! | lengths | four `u32`: the lengths of the next four sections |
//! | meta | [`Meta`] as JSON |
//! | directories | 16 bytes each, sorted by name: name, first item, count, flags |
//! | items | 60 bytes each, sorted by name within their directory |
//! | records | one per class, see [`ClassRecord`] |
//! | strings | a `u32` length and the text, each referred to by its offset |

mod builder;
mod reader;
mod record;

use fewest_model::Fingerprint;
use serde::{Deserialize, Serialize};

pub(crate) use builder::Builder;
pub(crate) use reader::{Directory, Item, Table};
pub(crate) use record::{ClassRecord, MethodRecord};

use crate::stat::Stat;

/// Raise it when the layout or the meaning of a table changes.
pub(crate) const FORMAT: u32 = 1;

const LENGTHS: usize = 16;
const DIRECTORY: usize = 16;
const ITEM: usize = 60;
const NONE: u32 = u32::MAX;

/// The directory is there by itself, not only as a part of its files' names.
const EXPLICIT: u32 = 1;

const IS_CLASS: u32 = 1;
const IS_DOUBTFUL: u32 = 2;
const IS_TRUSTED: u32 = 4;

/// What is known of an entry as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// The path of the entry.
    pub(crate) path: String,
    /// The marks of the jar file, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stat: Option<Stat>,
    /// Whether the marks would betray any later edit.
    #[serde(default)]
    pub(crate) trusted: bool,
    /// Some of the entry could not be read, so that nobody knows what it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opaque: Option<Opaque>,
    #[serde(default)]
    pub(crate) multi_release: bool,
    /// The manifest's `Class-Path`, as it is written there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) class_path: Vec<String>,
    /// How many bytes of text the table had when none of them was idle.
    #[serde(default)]
    pub(crate) texts: u64,
}

/// Why an entry cannot be looked into, and a fingerprint that changes whenever
/// its content may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opaque {
    pub(crate) reason: String,
    pub(crate) fingerprint: Fingerprint,
}

/// Where the bytes of an item are, with the marks by which they are known
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    File(Stat),
    Zipped(Zipped),
}

/// An entry of a jar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zipped {
    pub(crate) size: u64,
    pub(crate) crc: u32,
    pub(crate) method: u16,
    pub(crate) compressed_size: u64,
    /// Offset of the local header in the jar.
    pub(crate) offset: u64,
}

impl Location {
    const LENGTH: usize = 32;

    fn write(&self, out: &mut Vec<u8>) {
        let words = match self {
            Self::File(stat) => [
                stat.size,
                stat.modified as u64,
                stat.changed as u64,
                stat.inode,
            ],
            Self::Zipped(zipped) => [
                zipped.size,
                zipped.crc as u64 | (zipped.method as u64) << 32,
                zipped.compressed_size,
                zipped.offset,
            ],
        };
        for word in words {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}
