//! Writes a table, item by item.

use std::collections::HashMap;

use fewest_model::{ClassName, Fingerprint};
use thiserror::Error;

use super::reader::{Item, Table};
use super::record::{ClassRecord, MethodRecord};
use super::{EXPLICIT, IS_CLASS, IS_DOUBTFUL, IS_TRUSTED, ITEM, LENGTHS, Location, Meta, NONE};
use crate::content::{ClassContent, Content};

/// Directories and items must come in the order of their names.
pub(crate) struct Builder {
    directories: Vec<u8>,
    items: Vec<u8>,
    records: Vec<u8>,
    strings: Vec<u8>,
    interned: HashMap<Box<str>, u32>,
    /// Whether the strings begin with those of the table that items are copied
    /// from, so that offsets mean the same in both.
    shares_strings: bool,
}

#[derive(Debug, Error)]
#[error("more than 4 GiB are known of it")]
pub(crate) struct TooLarge;

/// Texts that no item needs any more are dropped once there may be this many
/// bytes of them.
const WASTE: usize = 1 << 20;

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            directories: Vec::new(),
            items: Vec::new(),
            records: Vec::new(),
            strings: Vec::new(),
            interned: HashMap::new(),
            shares_strings: false,
        }
    }

    /// Starts with the texts of an older table, which makes copying its items
    /// cheap: one changed class in a hundred thousand then costs little more
    /// than copying the table.
    pub(crate) fn over(old: &Table) -> Self {
        let mut builder = Self::new();
        let texts = old.strings();
        let needed = old.meta().texts as usize;
        if texts.len() <= needed * 2 + WASTE {
            builder.strings.extend_from_slice(texts);
            builder.shares_strings = true;
        }
        builder
    }

    pub(crate) fn directory(&mut self, name: &str, explicit: bool) {
        let name = self.string(name);
        let first = (self.items.len() / ITEM) as u32;
        for word in [name, first, 0, if explicit { EXPLICIT } else { 0 }] {
            self.directories.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Adds an item to the last directory.
    pub(crate) fn item(
        &mut self,
        name: &str,
        location: &Location,
        trusted: bool,
        content: &Content,
    ) {
        let (flags, record, fingerprint) = match content {
            Content::Resource(fingerprint) => (0, NONE, *fingerprint),
            Content::Class(class) => (IS_CLASS, self.class(class), class.fingerprints.class),
            Content::Doubtful(doubtful) => {
                let kind = if doubtful.is_class { IS_CLASS } else { 0 };
                let reason = self.string(&doubtful.reason);
                (kind | IS_DOUBTFUL, reason, doubtful.fingerprint)
            }
        };
        let name = self.string(name);
        self.push_item(name, flags, record, location, trusted, fingerprint);
    }

    /// Adds an item of the older table to the last directory.
    pub(crate) fn copy(&mut self, item: Item<'_>, location: &Location, trusted: bool) {
        let name = self.copied_string(item.name_offset(), item.name());
        let mut flags = 0;
        let mut record = NONE;
        if item.is_class() {
            flags |= IS_CLASS;
        }
        if let Some(reason) = item.doubt() {
            flags |= IS_DOUBTFUL;
            record = self.copied_string(item.record_offset(), reason);
        } else if let Some(class) = item.class() {
            record = self.copied_class(class);
        }
        self.push_item(name, flags, record, location, trusted, item.fingerprint());
    }

    pub(crate) fn finish(self, mut meta: Meta) -> Result<Table, TooLarge> {
        if !self.shares_strings {
            meta.texts = self.strings.len() as u64;
        }
        let meta = serde_json::to_vec(&meta).expect("plain values can be written as JSON");
        let sections = [&meta, &self.directories, &self.items, &self.records];
        let length = LENGTHS + sections.iter().map(|s| s.len()).sum::<usize>() + self.strings.len();
        let mut bytes = Vec::with_capacity(length);
        for section in sections {
            let length = u32::try_from(section.len()).map_err(|_| TooLarge)?;
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        u32::try_from(self.strings.len()).map_err(|_| TooLarge)?;
        for section in sections {
            bytes.extend_from_slice(section);
        }
        bytes.extend_from_slice(&self.strings);
        Ok(Table::from_bytes(bytes).expect("the sections were just written"))
    }

    fn push_item(
        &mut self,
        name: u32,
        flags: u32,
        record: u32,
        location: &Location,
        trusted: bool,
        fingerprint: Fingerprint,
    ) {
        let flags = if trusted { flags | IS_TRUSTED } else { flags };
        for word in [name, flags, record] {
            self.items.extend_from_slice(&word.to_le_bytes());
        }
        location.write(&mut self.items);
        self.items.extend_from_slice(fingerprint.as_bytes());
        let count = self.directories.len() - 8;
        let last = self.directories[count..].first_chunk_mut();
        let count: &mut [u8; 4] = last.expect("a directory comes before its items");
        *count = (u32::from_le_bytes(*count) + 1).to_le_bytes();
    }

    fn class(&mut self, class: &ClassContent) -> u32 {
        let fingerprints = &class.fingerprints;
        let mut methods: Vec<_> = fingerprints
            .methods
            .iter()
            .map(|method| MethodRecord {
                name: &method.key.name,
                descriptor: &method.key.descriptor,
                access: method.access,
                fingerprint: method.fingerprint,
            })
            .collect();
        methods.sort_by_key(|method| (method.name, method.descriptor));
        self.record(&Parts {
            declared_name: fingerprints.name.as_str(),
            super_name: fingerprints.super_name.as_ref().map(ClassName::as_str),
            access: fingerprints.access,
            head: fingerprints.head,
            shape: fingerprints.shape,
            interfaces: fingerprints
                .interfaces
                .iter()
                .map(ClassName::as_str)
                .collect(),
            fields: class.fields.iter().map(|(n, d)| (&**n, &**d)).collect(),
            methods,
        })
    }

    fn copied_class(&mut self, class: ClassRecord<'_>) -> u32 {
        if self.shares_strings {
            let offset = self.records.len() as u32;
            self.records.extend_from_slice(class.bytes());
            return offset;
        }
        self.record(&Parts {
            declared_name: class.declared_name(),
            super_name: class.super_name(),
            access: class.access(),
            head: class.head(),
            shape: class.shape(),
            interfaces: class.interfaces().collect(),
            fields: class.fields().collect(),
            methods: class.methods().collect(),
        })
    }

    fn record(&mut self, parts: &Parts<'_>) -> u32 {
        let offset = self.records.len() as u32;
        let mut words = vec![
            self.string(parts.declared_name),
            parts.super_name.map_or(NONE, |name| self.string(name)),
        ];
        push_words(&mut self.records, &words);
        for count in [
            parts.access,
            parts.interfaces.len() as u16,
            parts.fields.len() as u16,
            parts.methods.len() as u16,
        ] {
            self.records.extend_from_slice(&count.to_le_bytes());
        }
        self.records.extend_from_slice(parts.head.as_bytes());
        self.records.extend_from_slice(parts.shape.as_bytes());
        words.clear();
        words.extend(parts.interfaces.iter().map(|name| self.string(name)));
        for (name, descriptor) in &parts.fields {
            words.extend([self.string(name), self.string(descriptor)]);
        }
        push_words(&mut self.records, &words);
        for method in &parts.methods {
            let words = [
                self.string(method.name),
                self.string(method.descriptor),
                method.access as u32,
            ];
            push_words(&mut self.records, &words);
            self.records
                .extend_from_slice(method.fingerprint.as_bytes());
        }
        offset
    }

    fn copied_string(&mut self, offset: u32, text: &str) -> u32 {
        if self.shares_strings {
            offset
        } else {
            self.string(text)
        }
    }

    fn string(&mut self, text: &str) -> u32 {
        if let Some(&offset) = self.interned.get(text) {
            return offset;
        }
        let offset = self.strings.len() as u32;
        let length = text.len() as u32;
        self.strings.extend_from_slice(&length.to_le_bytes());
        self.strings.extend_from_slice(text.as_bytes());
        self.interned.insert(text.into(), offset);
        offset
    }
}

/// A class record that is about to be written.
struct Parts<'a> {
    declared_name: &'a str,
    super_name: Option<&'a str>,
    access: u16,
    head: Fingerprint,
    shape: Fingerprint,
    interfaces: Vec<&'a str>,
    fields: Vec<(&'a str, &'a str)>,
    methods: Vec<MethodRecord<'a>>,
}

fn push_words(out: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
}
