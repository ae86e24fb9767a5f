//! What selection asks about classes, answered from a snapshot.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use fewest_classfile::read::{ClassFile, access};
use fewest_classfile::references::{
    Holder, MemberUse, MethodReferences, StateUse, empty_arrays, references, state_uses,
};
use fewest_model::{ClassName, MethodKey, Walk};
use fewest_select::is_of_framework;
use fewest_select::uses::{ClassFacts, Classes, Held, MethodFacts, StaticField};
use fewest_snapshot::Snapshot;

/// The classes of a snapshot. Facts are read once for each class asked for.
pub(crate) struct SnapshotClasses<'a> {
    snapshot: &'a Snapshot,
    known: RefCell<HashMap<ClassName, Option<Arc<ClassFacts>>>>,
}

impl<'a> SnapshotClasses<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            known: RefCell::default(),
        }
    }

    /// Whether a class path entry is among those of the snapshot.
    pub(crate) fn has_entry(&self, entry: &Path) -> bool {
        self.snapshot.entries().any(|known| known == entry)
    }

    fn read(&self, name: &ClassName) -> Option<ClassFacts> {
        let view = self.snapshot.class(name)?;
        // A class that cannot be read has one fingerprint for all its parts;
        // using it at all depends on every byte of it.
        let Ok(bytes) = self.snapshot.class_bytes(name) else {
            return Some(ClassFacts::default());
        };
        let read = ClassFile::read(&bytes).and_then(|class| {
            Ok((
                references(&class)?,
                state_uses(&class)?,
                empty_arrays(&class)?,
            ))
        });
        let Ok((references, states, empty_arrays)) = read else {
            return Some(ClassFacts::default());
        };
        let supertypes = view
            .super_name()
            .into_iter()
            .chain(view.interfaces())
            .collect();
        let initializer = MethodKey::static_initializer();
        let starts_with_defaults =
            view.access() & access::INTERFACE != 0 && view.method(&initializer).is_some();
        Some(ClassFacts {
            supertypes,
            starts_with_defaults,
            empty_arrays,
            annotation_types: references.class.annotations.into_iter().collect(),
            methods: references
                .methods
                .into_iter()
                .zip(&states)
                .map(|((key, references), state)| (key, self.method_facts(references, state)))
                .collect(),
        })
    }

    fn method_facts(&self, references: MethodReferences, state: &StateUse) -> MethodFacts {
        let field = |member: &MemberUse| StaticField {
            class: self.snapshot.field_owner(&member.owner, &member.member),
            name: member.member.name.clone(),
        };
        MethodFacts {
            static_reads: references
                .static_reads()
                .filter(|member| !is_of_framework(&member.owner))
                .map(field)
                .collect(),
            static_writes: references
                .static_writes()
                .filter(|member| !is_of_framework(&member.owner))
                .map(field)
                .collect(),
            held: references
                .static_reads()
                .filter_map(|member| Some((field(member), held(&member.member.descriptor)?)))
                .collect(),
            changed: state.changed.iter().map(field).collect(),
            handed_on: state.handed_on.iter().map(field).collect(),
            changes_given: state.changes_given,
            static_objects: references
                .static_reads()
                .chain(references.static_writes())
                .filter(|member| may_change(&member.member.descriptor))
                .map(field)
                .collect(),
            inherited: references
                .members
                .iter()
                .filter(|member| self.is_inherited(member))
                .map(|member| (member.owner.clone(), member.member.clone()))
                .collect(),
            classes: references
                .classes
                .into_iter()
                .chain(references.by_name)
                .collect(),
        }
    }

    /// Whether a method is named by a class that does not declare it. Fields
    /// are part of their class's head, so a field that comes to hide another
    /// is a change of a class that is used anyway.
    fn is_inherited(&self, member: &MemberUse) -> bool {
        !member.kind.is_field()
            && !member.member.is_constructor()
            && self
                .snapshot
                .class(&member.owner)
                .is_some_and(|owner| owner.method(&member.member).is_none())
    }
}

fn held(descriptor: &str) -> Option<Held> {
    Some(match Holder::of(descriptor)? {
        Holder::Container => Held::Container,
        Holder::Array => Held::Array,
        Holder::Object(class) => Held::Object(class),
    })
}

/// Whether an object of a field's type may change, so that one test can leave
/// something in it for another. Of the types that cannot, or in which nothing
/// is kept that a test looks at, those are listed that tests like to have in
/// static fields.
pub(crate) fn may_change(descriptor: &str) -> bool {
    const LASTING: [&str; 17] = [
        "java/lang/String",
        "java/lang/Class",
        "java/lang/Integer",
        "java/lang/Long",
        "java/lang/Short",
        "java/lang/Byte",
        "java/lang/Character",
        "java/lang/Boolean",
        "java/lang/Double",
        "java/lang/Float",
        "java/math/BigInteger",
        "java/math/BigDecimal",
        "java/util/regex/Pattern",
        "java/util/UUID",
        "java/nio/charset/Charset",
        "java/util/logging/Logger",
        "org/slf4j/Logger",
    ];
    let descriptor = descriptor.trim_start_matches(':');
    if descriptor.starts_with('[') {
        return true;
    }
    let class = descriptor
        .strip_prefix('L')
        .and_then(|name| name.strip_suffix(';'));
    class.is_some_and(|class| !LASTING.contains(&class) && !class.starts_with("java/time/"))
}

impl Classes for SnapshotClasses<'_> {
    fn facts(&self, class: &ClassName) -> Option<Arc<ClassFacts>> {
        if let Some(known) = self.known.borrow().get(class) {
            return known.clone();
        }
        let facts = self.read(class).map(Arc::new);
        self.known.borrow_mut().insert(class.clone(), facts.clone());
        facts
    }

    fn walk(
        &self,
        class: &ClassName,
        method: &MethodKey,
        executed: &BTreeSet<usize>,
        flow: u32,
    ) -> Walk {
        self.snapshot.walk(class, method, executed, flow)
    }
}
