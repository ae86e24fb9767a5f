//! Reduces a class to what can change behaviour, and that to 128 bits.
//!
//! A class is written out in a canonical form before it is hashed: constants
//! by what they say instead of where they stand, branch targets by the number
//! of the instruction, tables in the order that counts and sets in sorted
//! order. Debug information goes, so a moved line is no change.
//! `docs/reference/fingerprints.md` lists attribute by attribute what counts.
//!
//! Whoever takes the fingerprints of many classes keeps a [`Fingerprinter`]
//! per thread; [`fingerprint`] is for one.

mod annotation;
mod attribute;
mod canonical;
mod code;
mod fingerprinter;
mod head;
mod names;
mod symbols;

use fewest_model::{ClassName, Fingerprint, MethodKey};

pub(crate) use canonical::Canonical;
pub(crate) use code::{write_code_attributes, write_instruction};
pub use fingerprinter::Fingerprinter;
pub(crate) use fingerprinter::write_outside_of_code;
pub(crate) use symbols::{SymbolCache, Symbols};

use crate::read::{ClassFile, ReadError};

/// What counts beyond behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    pub debug_info: DebugInfo,
}

/// Whether line numbers, the name of the source file and the names of local
/// variables count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DebugInfo {
    #[default]
    Ignore,
    /// For projects whose tests read stack traces.
    Track,
}

/// The fingerprints of a class and its parts, with what comparing two versions
/// of a class hierarchy needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassFingerprints {
    pub name: ClassName,
    pub super_name: Option<ClassName>,
    pub interfaces: Vec<ClassName>,
    pub access: u16,
    /// What the class declares about itself and its fields.
    pub head: Fingerprint,
    /// The head and the signatures of the instance methods that take part in
    /// method lookup.
    pub shape: Fingerprint,
    /// The head and the set of methods.
    pub class: Fingerprint,
    /// The methods in the order of the class file.
    pub methods: Vec<MethodFingerprint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodFingerprint {
    pub key: MethodKey,
    pub access: u16,
    pub fingerprint: Fingerprint,
}

/// Takes the fingerprints of one class.
pub fn fingerprint(
    class: &ClassFile<'_>,
    options: Options,
) -> Result<ClassFingerprints, ReadError> {
    Fingerprinter::new(options).fingerprint(class)
}

/// The fingerprint of bytes as they are.
pub fn raw(bytes: &[u8]) -> Fingerprint {
    Fingerprint::of(bytes)
}
