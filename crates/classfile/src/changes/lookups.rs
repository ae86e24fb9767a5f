//! Lookups that end in another class than before.

use std::collections::{BTreeMap, BTreeSet};

use fewest_model::{ClassName, MethodKey};

use super::{Change, ChangeType, ClassSet};
use crate::read::access;
use crate::references::{Declarations, Outline, Resolution, resolve_method};

/// Flags that decide whether a declaration takes part in a search and what
/// overrides it.
const DISPATCH_FLAGS: u16 =
    access::PUBLIC | access::PRIVATE | access::PROTECTED | access::STATIC | access::ABSTRACT;

/// For which class and method the search now ends elsewhere, where it ended
/// somewhere before.
///
/// Only classes of both sets are asked, and only methods for which something
/// on their way changed. The search goes along superclasses and
/// superinterfaces; for classes outside of the sets see [`Resolution`].
pub(super) fn changed_lookups(old: &ClassSet, new: &ClassSet) -> Vec<Change> {
    let (old, new) = (outlines(old), outlines(new));
    let causes = causes(&old, &new);
    if causes.is_empty() {
        return Vec::new();
    }
    let mut changes = Vec::new();
    for class in affected(&causes, &old, &new) {
        for method in candidates(&class, &causes, &old, &new) {
            let before = end(&old, &class, &method);
            if before.is_nowhere() {
                continue;
            }
            if before != end(&new, &class, &method)
                || visibility_changed(&class, &method, &causes, &old)
            {
                changes.push(Change {
                    class: class.clone(),
                    kind: ChangeType::LC,
                    member: Some(method),
                });
            }
        }
    }
    changes
}

type Outlines = BTreeMap<ClassName, Outline>;

fn outlines(classes: &ClassSet) -> Outlines {
    let outline = |(name, class): (&ClassName, _)| (name.clone(), Outline::from(class));
    classes.iter().map(outline).collect()
}

fn end(classes: &Outlines, class: &ClassName, method: &MethodKey) -> Resolution {
    resolve_method(class, method, Declarations::Inheritable, |name| {
        classes.get(name)
    })
}

/// Why lookups that pass a class may end elsewhere.
struct Cause {
    /// The class came, went, or has other supertypes: any method may be hit.
    hierarchy: bool,
    /// Methods that came, went, or are visible in another way.
    methods: BTreeSet<MethodKey>,
    /// Those of them that are there before and after.
    visibility: BTreeSet<MethodKey>,
}

fn causes(old: &Outlines, new: &Outlines) -> BTreeMap<ClassName, Cause> {
    let names: BTreeSet<&ClassName> = old.keys().chain(new.keys()).collect();
    let cause = |name: &ClassName| match (old.get(name), new.get(name)) {
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) => Some(Cause::between(before, after)),
        (before, after) => before.or(after).map(Cause::whole),
    };
    names
        .into_iter()
        .filter_map(|name| Some((name.clone(), cause(name)?)))
        .filter(|(_, cause)| cause.hierarchy || !cause.methods.is_empty())
        .collect()
}

impl Cause {
    fn whole(class: &Outline) -> Self {
        Self {
            hierarchy: true,
            methods: class.methods.keys().cloned().collect(),
            visibility: BTreeSet::new(),
        }
    }

    fn between(before: &Outline, after: &Outline) -> Self {
        let differs = |key: &&MethodKey| {
            let flags = |class: &Outline| class.methods.get(*key).map(|f| f & DISPATCH_FLAGS);
            flags(before) != flags(after)
        };
        let keys = before.methods.keys().chain(after.methods.keys());
        let methods: BTreeSet<MethodKey> = keys
            .filter(|key| !key.is_constructor() && !key.is_static_initializer())
            .filter(differs)
            .cloned()
            .collect();
        let both = |key: &&MethodKey| {
            before.methods.contains_key(*key) && after.methods.contains_key(*key)
        };
        Self {
            hierarchy: before.super_name != after.super_name
                || before.interfaces != after.interfaces,
            visibility: methods.iter().filter(both).cloned().collect(),
            methods,
        }
    }
}

/// Classes of both sets that have a cause at or above them, before or after.
fn affected(
    causes: &BTreeMap<ClassName, Cause>,
    old: &Outlines,
    new: &Outlines,
) -> BTreeSet<ClassName> {
    let mut below: BTreeMap<&ClassName, Vec<&ClassName>> = BTreeMap::new();
    for (name, outline) in old.iter().chain(new) {
        for above in supertypes(outline) {
            below.entry(above).or_default().push(name);
        }
    }
    let mut reached: BTreeSet<&ClassName> = causes.keys().collect();
    let mut queue: Vec<&ClassName> = causes.keys().collect();
    while let Some(name) = queue.pop() {
        for &subtype in below.get(name).into_iter().flatten() {
            if reached.insert(subtype) {
                queue.push(subtype);
            }
        }
    }
    reached
        .into_iter()
        .filter(|name| old.contains_key(*name) && new.contains_key(*name))
        .cloned()
        .collect()
}

/// The methods whose search from `class` may end elsewhere.
fn candidates(
    class: &ClassName,
    causes: &BTreeMap<ClassName, Cause>,
    old: &Outlines,
    new: &Outlines,
) -> BTreeSet<MethodKey> {
    let mut above = closure(class, old);
    above.extend(closure(class, new));
    let mut methods = BTreeSet::new();
    for cause in above.iter().filter_map(|name| causes.get(name)) {
        methods.extend(cause.methods.iter().cloned());
    }
    let moved = |name: &ClassName| causes.get(name).is_some_and(|cause| cause.hierarchy);
    if above.iter().any(moved) {
        let outlines = above.iter().filter_map(|name| old.get(name));
        methods.extend(outlines.flat_map(|outline| outline.methods.keys().cloned()));
    }
    methods.retain(|key| !key.is_constructor() && !key.is_static_initializer());
    methods
}

/// Whether a declaration on the way from `class` is visible in another way, so
/// that what overrides it is no longer the same.
fn visibility_changed(
    class: &ClassName,
    method: &MethodKey,
    causes: &BTreeMap<ClassName, Cause>,
    old: &Outlines,
) -> bool {
    let above = closure(class, old);
    let mut causes = above.iter().filter_map(|name| causes.get(name));
    causes.any(|cause| cause.visibility.contains(method))
}

/// The class and all its supertypes.
fn closure(class: &ClassName, classes: &Outlines) -> BTreeSet<ClassName> {
    let mut all = BTreeSet::from([class.clone()]);
    let mut queue = vec![class.clone()];
    while let Some(name) = queue.pop() {
        for above in classes.get(&name).into_iter().flat_map(supertypes) {
            if all.insert(above.clone()) {
                queue.push(above.clone());
            }
        }
    }
    all
}

fn supertypes(class: &Outline) -> impl Iterator<Item = &ClassName> {
    class.super_name.iter().chain(&class.interfaces)
}
