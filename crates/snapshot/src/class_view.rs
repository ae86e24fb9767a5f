//! A class as the class path resolves it.

use std::fmt;
use std::path::{Path, PathBuf};

use fewest_classfile::fingerprint::{ClassFingerprints, MethodFingerprint};
use fewest_model::{ClassName, Fingerprint, MethodKey};

use crate::entry::{Entry, EntryKind};
use crate::folder;
use crate::table::{ClassRecord, Item, MethodRecord};

/// A class as the class path resolves it.
#[derive(Clone)]
pub struct ClassView<'a> {
    pub(crate) name: ClassName,
    pub(crate) entry: &'a Entry,
    /// The directory within the entry, which a multi-release jar may hide.
    pub(crate) directory: &'a str,
    pub(crate) item: Item<'a>,
}

/// A method of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodView<'a> {
    pub name: &'a str,
    pub descriptor: &'a str,
    pub access: u16,
    pub fingerprint: Fingerprint,
}

/// Where a class comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    File(PathBuf),
    /// A jar, and the path within it.
    Jar(&'a Path, String),
}

impl<'a> ClassView<'a> {
    /// The name under which the class path has the class.
    pub fn name(&self) -> &ClassName {
        &self.name
    }

    /// The name that the class has in its own eyes. When it is another one,
    /// the JVM refuses to load the class from here.
    pub fn declared_name(&self) -> ClassName {
        match self.record() {
            Some(record) => ClassName::new(record.declared_name()),
            None => self.name.clone(),
        }
    }

    pub fn is_misplaced(&self) -> bool {
        self.record()
            .is_some_and(|record| record.declared_name() != self.name.as_str())
    }

    /// Why the class could not be read. It then has one fingerprint for all
    /// its parts, that of its bytes, and no methods.
    pub fn doubt(&self) -> Option<&'a str> {
        self.item.doubt()
    }

    /// What the class declares about itself and its fields.
    pub fn head(&self) -> Fingerprint {
        self.record()
            .map_or(self.item.fingerprint(), ClassRecord::head)
    }

    /// The head and the signatures of the instance methods that take part in
    /// method lookup.
    pub fn shape(&self) -> Fingerprint {
        self.record()
            .map_or(self.item.fingerprint(), ClassRecord::shape)
    }

    /// The head and the set of methods.
    pub fn class(&self) -> Fingerprint {
        self.item.fingerprint()
    }

    pub fn access(&self) -> u16 {
        self.record().map_or(0, ClassRecord::access)
    }

    pub fn super_name(&self) -> Option<ClassName> {
        self.record()?.super_name().map(ClassName::new)
    }

    pub fn interfaces(&self) -> impl Iterator<Item = ClassName> + use<'a> {
        self.record()
            .into_iter()
            .flat_map(ClassRecord::interfaces)
            .map(ClassName::new)
    }

    /// The methods, sorted by name and descriptor.
    pub fn methods(&self) -> impl Iterator<Item = MethodView<'a>> + use<'a> {
        self.record()
            .into_iter()
            .flat_map(ClassRecord::methods)
            .map(MethodView::from)
    }

    pub fn method(&self, key: &MethodKey) -> Option<MethodView<'a>> {
        self.record()?.method(key).map(MethodView::from)
    }

    /// All that was learned of the class, as a value of its own. Methods are
    /// sorted by name and descriptor.
    pub fn fingerprints(&self) -> ClassFingerprints {
        let methods = self.methods().map(|method| MethodFingerprint {
            key: method.key(),
            access: method.access,
            fingerprint: method.fingerprint,
        });
        ClassFingerprints {
            name: self.declared_name(),
            super_name: self.super_name(),
            interfaces: self.interfaces().collect(),
            access: self.access(),
            head: self.head(),
            shape: self.shape(),
            class: self.class(),
            methods: methods.collect(),
        }
    }

    pub fn origin(&self) -> Origin<'a> {
        let entry: &'a Entry = self.entry;
        let file = self.item.name();
        match entry.kind {
            EntryKind::Jar if self.directory.is_empty() => {
                Origin::Jar(&entry.path, file.to_owned())
            }
            EntryKind::Jar => Origin::Jar(&entry.path, format!("{}/{file}", self.directory)),
            _ => Origin::File(folder::path_of(&entry.path, self.directory, file)),
        }
    }

    pub(crate) fn record(&self) -> Option<ClassRecord<'a>> {
        self.item.class()
    }
}

impl MethodView<'_> {
    pub fn key(&self) -> MethodKey {
        MethodKey::new(self.name, self.descriptor)
    }
}

impl<'a> From<MethodRecord<'a>> for MethodView<'a> {
    fn from(record: MethodRecord<'a>) -> Self {
        Self {
            name: record.name,
            descriptor: record.descriptor,
            access: record.access,
            fingerprint: record.fingerprint,
        }
    }
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Jar(jar, entry) => write!(f, "{}!/{entry}", jar.display()),
        }
    }
}
