//! Where the search for a member ends.
//!
//! The search knows the classes of the class path. Those of the JDK are
//! outside: a JDK is part of a record's environment, so where a search leaves
//! the class path, the same JDK ends it in the same place. Only the way out
//! counts, and what else the class path offers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use fewest_classfile::references::{
    Declarations, Outline, Resolution, resolve_field, resolve_method,
};
use fewest_model::{ClassName, Fingerprint, MethodKey};

use crate::class_view::ClassView;
use crate::snapshot::Snapshot;

/// What searches have learned of classes. A superclass is met again and again.
#[derive(Default)]
pub(crate) struct Outlines(Mutex<HashMap<ClassName, Option<Arc<Outline>>>>);

impl Outlines {
    /// What a search needs to know of a class, or `None` for one that it
    /// cannot look into.
    fn get(&self, snapshot: &Snapshot, name: &ClassName) -> Option<Arc<Outline>> {
        if let Some(known) = self.0.lock().ok()?.get(name) {
            return known.clone();
        }
        let outline = snapshot
            .class(name)
            .filter(|view| !view.is_misplaced())
            .and_then(|view| outline(&view))
            .map(Arc::new);
        let mut known = self.0.lock().ok()?;
        known.insert(name.clone(), outline.clone());
        outline
    }
}

fn outline(view: &ClassView<'_>) -> Option<Outline> {
    let record = view.record()?;
    let fields = record.fields();
    Some(Outline {
        access: view.access(),
        super_name: view.super_name(),
        interfaces: view.interfaces().collect(),
        // Flags of fields play no part in a search.
        fields: fields
            .map(|(name, descriptor)| (MethodKey::new(name, descriptor), 0))
            .collect(),
        methods: view
            .methods()
            .map(|method| (method.key(), method.access))
            .collect::<BTreeMap<_, _>>(),
    })
}

/// The fingerprint of the place where the search for a member of `class` ends.
///
/// A descriptor that starts with a colon is that of a field.
pub(crate) fn lookup(
    snapshot: &Snapshot,
    outlines: &Outlines,
    class: &ClassName,
    member: &MethodKey,
) -> Fingerprint {
    let outline = |name: &ClassName| outlines.get(snapshot, name);
    let resolution = match member.descriptor.strip_prefix(':') {
        Some(descriptor) => {
            let field = MethodKey::new(member.name.clone(), descriptor);
            resolve_field(class, &field, outline)
        }
        None if member.is_constructor() => own(class, member, outline(class).as_deref()),
        None => resolve_method(class, member, Declarations::All, outline),
    };
    let found = resolution.found.iter().map(end_in);
    let unknown = resolution
        .unknown
        .iter()
        .map(|name| way_out(snapshot, name));
    Fingerprint::combine(b"lookup", found.chain(unknown))
}

/// The class that declares a field which code names as one of `class`; `class`
/// itself where that cannot be told.
pub(crate) fn field_owner(
    snapshot: &Snapshot,
    outlines: &Outlines,
    class: &ClassName,
    field: &MethodKey,
) -> ClassName {
    let resolution = resolve_field(class, field, |name| outlines.get(snapshot, name));
    let mut found = resolution.found.into_iter();
    found.next().unwrap_or_else(|| class.clone())
}

/// A constructor is not inherited.
fn own(class: &ClassName, member: &MethodKey, outline: Option<&Outline>) -> Resolution {
    let mut resolution = Resolution::default();
    match outline {
        None => resolution.unknown.push(class.clone()),
        Some(outline) if outline.methods.contains_key(member) => {
            resolution.found.push(class.clone());
        }
        Some(_) => {}
    }
    resolution
}

fn end_in(class: &ClassName) -> Fingerprint {
    Fingerprint::combine(b"in", [Fingerprint::of(class.as_str().as_bytes())])
}

/// A class that the search could not look into, and where it may have ended.
fn way_out(snapshot: &Snapshot, class: &ClassName) -> Fingerprint {
    let name = Fingerprint::of(class.as_str().as_bytes());
    let content = snapshot
        .class(class)
        .map_or(Fingerprint::ABSENT, |view| view.class());
    let outside = Fingerprint::combine(b"outside", [name, content]);
    snapshot.behind_everything(outside)
}
