//! Where the objects come from that code changes.
//!
//! A test can find in an object behind a static field what an earlier test has
//! left there. To see this without a probe, the values of a method are followed
//! through its stack and its locals ([`follow`]): what is read from a static
//! field, what comes from outside of the method, and what it has made itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::MemberUse;
use super::flow::follow;
use crate::read::opcode as op;
use crate::read::{ClassFile, ReadError, access, decode_modified_utf8};

/// What a method does to objects that it has not made. Fields are as the code
/// reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateUse {
    /// Static fields whose objects it changes.
    pub changed: BTreeSet<MemberUse>,
    /// Static fields whose objects it gives to others, who may change them.
    pub handed_on: BTreeSet<MemberUse>,
    /// Whether it changes a container that comes from a parameter, an object's
    /// field, or a call.
    pub changes_given: bool,
}

/// What each method of a class does to objects that it has not made, in the
/// order of the class file.
pub fn state_uses(class: &ClassFile<'_>) -> Result<Vec<StateUse>, ReadError> {
    let mut found = Vec::with_capacity(class.methods().len());
    for method in class.methods() {
        found.push(follow(class, method, &BTreeSet::new())?);
    }
    // A method of the class that gives away only what it has made, or what the
    // thread has for itself, is as good as making it at the place of the call.
    let mut makers = BTreeSet::new();
    for (method, (_, returned)) in class.methods().iter().zip(&found) {
        if returned.is_none() {
            makers.insert(class.method_key(method)?);
        }
    }
    for (method, (state, _)) in class.methods().iter().zip(&mut found) {
        if state.changes_given && !makers.is_empty() {
            *state = follow(class, method, &makers)?.0;
        }
    }
    Ok(found.into_iter().map(|(state, _)| state).collect())
}

/// The static final fields that the class's initializer sets to arrays without
/// elements: nothing can be left in them.
pub fn empty_arrays(class: &ClassFile<'_>) -> Result<BTreeSet<Arc<str>>, ReadError> {
    let mut empty = BTreeSet::new();
    for method in class.methods() {
        if class.method_key(method)?.is_static_initializer()
            && let Some(code) = class.code(method)?
        {
            let instructions = code.instructions().collect::<Result<Vec<_>, _>>()?;
            for three in instructions.windows(3) {
                if let [length, array, put] = three
                    && length.opcode == op::ICONST_0
                    && matches!(array.opcode, op::NEWARRAY | op::ANEWARRAY)
                    && put.opcode == op::PUTSTATIC
                    && let Some(index) = put.constant()
                {
                    let at = code.offset + put.pc as usize;
                    let field = class.pool.member(index, at)?;
                    empty.insert(Arc::from(decode_modified_utf8(field.name)));
                }
            }
        }
    }
    for field in class.fields() {
        if field.access & access::FINAL == 0 {
            let name = class.pool.utf8(field.name, field.offset)?;
            empty.remove(&*decode_modified_utf8(name));
        }
    }
    Ok(empty)
}

/// A set of places that an object may come from: the first bit stands for
/// everything outside of the method, the others for static fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origins(pub(super) u128);

impl Origins {
    /// Made by the method itself.
    pub(super) const NONE: Self = Self(0);
    /// From a parameter, an object's field, or a call.
    pub(super) const GIVEN: Self = Self(1);
    pub(super) const ANY: Self = Self(u128::MAX);

    pub(super) fn field(number: usize) -> Self {
        // Whoever reads so many fields gets no fine answer.
        if number < 127 {
            Self(2 << number)
        } else {
            Self::ANY
        }
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
