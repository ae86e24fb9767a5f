//! What a class and the code of its methods name.
//!
//! A method's references need no run to be known: whoever runs the method
//! depends on the classes its instructions name and on where the search for
//! the members it names ends. [`resolve_method`] and [`resolve_field`] find
//! that place. What only descriptors, signatures and annotations name is kept
//! apart, for techniques that do not run anything.

mod class;
mod descriptor;
mod flow;
mod lookup;
mod method;
mod origins;
mod stack;
mod state;

use std::collections::BTreeSet;

use fewest_model::{ClassName, MethodKey};

pub use lookup::{Declarations, Outline, Resolution, resolve_field, resolve_method};
pub use method::references as method_references;
pub use origins::{StateUse, empty_arrays, state_uses};
pub use state::Holder;

use crate::read::{ClassFile, MemberReference, ReadError, decode_modified_utf8};

/// The references of a class and of each of its methods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    pub class: ClassReferences,
    /// In the order of the class file.
    pub methods: Vec<(MethodKey, MethodReferences)>,
}

impl References {
    /// Every class that the class names in whatever way: what it extends, what
    /// it declares, and all that its code mentions.
    pub fn classes(&self) -> BTreeSet<&ClassName> {
        let in_code = self.methods.iter().flat_map(|(_, method)| {
            method
                .classes
                .iter()
                .chain(&method.described)
                .chain(&method.by_name)
        });
        self.class.named.iter().chain(in_code).collect()
    }
}

/// What a class names outside of its methods' code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassReferences {
    /// Everything in supertypes, descriptors, signatures, exceptions,
    /// annotations, nests, inner classes, records and permitted subclasses.
    pub named: BTreeSet<ClassName>,
    /// Types of the annotations that are visible at run time, on the class, its
    /// members and their types. Whoever touches the class depends on them.
    pub annotations: BTreeSet<ClassName>,
}

/// What the code of a method names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodReferences {
    /// Classes that instructions name: created, cast to, asked for, caught, or
    /// owners of members. Arrays count as what they hold.
    pub classes: BTreeSet<ClassName>,
    /// Classes in descriptors of members and call sites. The virtual machine
    /// need not load them to run the method.
    pub described: BTreeSet<ClassName>,
    /// Fields and methods by the class that the code names.
    pub members: BTreeSet<MemberUse>,
    /// Classes that constant strings name in `Class.forName` and `loadClass`.
    pub by_name: BTreeSet<ClassName>,
}

impl MethodReferences {
    pub fn static_reads(&self) -> impl Iterator<Item = &MemberUse> {
        self.of_kind(UseKind::GetStatic)
    }

    pub fn static_writes(&self) -> impl Iterator<Item = &MemberUse> {
        self.of_kind(UseKind::PutStatic)
    }

    fn of_kind(&self, kind: UseKind) -> impl Iterator<Item = &MemberUse> {
        self.members
            .iter()
            .filter(move |member| member.kind == kind)
    }
}

/// A member that code names, and what it does with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberUse {
    pub kind: UseKind,
    /// The class that the code names. A supertype may declare the member.
    pub owner: ClassName,
    pub member: MethodKey,
    /// Whether the owner is named as an interface.
    pub interface: bool,
}

impl MemberUse {
    fn new(kind: UseKind, member: &MemberReference<'_>) -> Self {
        Self {
            kind,
            owner: ClassName::new(decode_modified_utf8(member.class)),
            member: MethodKey::new(
                decode_modified_utf8(member.name),
                decode_modified_utf8(member.descriptor),
            ),
            interface: member.interface,
        }
    }

    /// Finds the class that declares the member.
    pub fn resolve<O: std::borrow::Borrow<Outline>>(
        &self,
        lookup: impl Fn(&ClassName) -> Option<O>,
    ) -> Resolution {
        if self.kind.is_field() {
            resolve_field(&self.owner, &self.member, lookup)
        } else if self.member.is_constructor() {
            Resolution {
                // A constructor is not inherited.
                found: vec![self.owner.clone()],
                unknown: Vec::new(),
            }
        } else {
            resolve_method(&self.owner, &self.member, Declarations::All, lookup)
        }
    }
}

/// What code does with a member. Method handles count as the instruction that
/// they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseKind {
    GetStatic,
    PutStatic,
    GetField,
    PutField,
    InvokeStatic,
    InvokeSpecial,
    InvokeVirtual,
    InvokeInterface,
}

impl UseKind {
    pub fn is_field(self) -> bool {
        matches!(
            self,
            Self::GetStatic | Self::PutStatic | Self::GetField | Self::PutField
        )
    }
}

/// Collects what a class and its methods name.
pub fn references(class: &ClassFile<'_>) -> Result<References, ReadError> {
    let mut methods = Vec::with_capacity(class.methods().len());
    for method in class.methods() {
        methods.push((
            class.method_key(method)?,
            method::references(class, method)?,
        ));
    }
    Ok(References {
        class: class::references(class)?,
        methods,
    })
}
