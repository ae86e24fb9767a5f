//! What a test leaves behind in objects that static fields hold.
//!
//! A `static final` map is written once and filled later: no `putstatic` tells
//! of it. Here a test counts as one that has changed the object behind a field
//! if, while it ran, a method changed what it read from the field, or gave it to
//! others, and another method that changes what it is given ran too. For a
//! container of the JDK that is a method of the class, or the nest, that read the
//! field; for an object of the application's it is a method of the object's
//! class, its supertypes or its subtypes.

use std::collections::{BTreeMap, BTreeSet};

use fewest_model::{ClassName, MethodKey};

use crate::jvm_run::JvmRun;
use crate::uses::{Classes, Held, MethodFacts, StaticField};

/// What was seen of one test.
#[derive(Debug, Default)]
pub(crate) struct LeftState {
    /// The fields that were read, and what they hold.
    read: BTreeSet<(StaticField, Held)>,
    /// The fields whose objects a method has changed that read them.
    changed: BTreeSet<StaticField>,
    /// The fields whose objects a method gave to others, and its class.
    handed_on: BTreeSet<(StaticField, ClassName)>,
    /// Classes whose methods have changed what they were given.
    changing: BTreeSet<ClassName>,
}

impl LeftState {
    /// What these methods find and leave.
    pub(crate) fn of<'a>(
        ran: impl Iterator<Item = (&'a ClassName, &'a MethodKey)>,
        classes: &impl Classes,
    ) -> Self {
        let mut state = Self::default();
        for (class, method) in ran {
            if let Some(facts) = classes.facts(class)
                && let Some(facts) = facts.methods.get(method)
            {
                state.note(class, method, facts);
            }
        }
        state.forget(|field| {
            let facts = classes.facts(&field.class);
            facts.is_some_and(|facts| facts.empty_arrays.contains(&field.name))
        });
        state
    }

    /// A method has run.
    fn note(&mut self, class: &ClassName, method: &MethodKey, facts: &MethodFacts) {
        if facts.changes_given {
            self.changing.insert(class.clone());
        }
        // What an initializer makes of its own class's fields comes to
        // everybody who uses the class.
        let is_initializer = method.is_static_initializer();
        let counts = |field: &&StaticField| {
            !(is_of_framework(&field.class) || is_initializer && field.class == *class)
        };
        let held = facts.held.iter().filter(|(field, _)| counts(&field));
        self.read.extend(held.cloned());
        let changed = facts.changed.iter().filter(counts);
        self.changed.extend(changed.cloned());
        let handed_on = facts.handed_on.iter().filter(counts);
        self.handed_on
            .extend(handed_on.map(|field| (field.clone(), class.clone())));
    }

    /// Leaves fields out in which nothing can be left.
    fn forget(&mut self, cannot_change: impl Fn(&StaticField) -> bool) {
        self.read.retain(|(field, _)| !cannot_change(field));
        self.changed.retain(|field| !cannot_change(field));
    }

    /// The fields that were read and hold objects which can change.
    pub(crate) fn read(&self) -> impl Iterator<Item = &StaticField> {
        self.read.iter().map(|(field, _)| field)
    }

    /// The fields whose objects may have changed.
    pub(crate) fn changed(
        &self,
        supertypes: impl Fn(&ClassName) -> Vec<ClassName>,
    ) -> BTreeSet<StaticField> {
        let nests: BTreeSet<ClassName> = self.changing.iter().map(ClassName::outermost).collect();
        let above_changing = with_supertypes(self.changing.iter().cloned(), &supertypes);
        let is_changed = |field: &StaticField, held: &Held| match held {
            Held::Array => false,
            Held::Container => self
                .handed_on
                .iter()
                .any(|(given, reader)| given == field && nests.contains(&reader.outermost())),
            Held::Object(class) => {
                above_changing.contains(class)
                    || !with_supertypes([class.clone()], &supertypes).is_disjoint(&self.changing)
            }
        };
        let mut changed = self.changed.clone();
        for (field, held) in &self.read {
            if !changed.contains(field) && is_changed(field, held) {
                changed.insert(field.clone());
            }
        }
        changed
    }
}

/// What static initializers found in objects that static fields of others hold.
///
/// Whoever uses a class has what its initializer made. Where that came from a
/// cache, the code that made it ran in the test that filled the cache, and in no
/// initializer.
pub(crate) struct Initializers(BTreeMap<ClassName, Found>);

struct Found {
    fields: BTreeSet<StaticField>,
    stretches_before: usize,
}

impl Initializers {
    pub(crate) fn new(run: &JvmRun, classes: &impl Classes) -> Self {
        let own = MethodKey::static_initializer();
        let found = run.initializers(classes).map(|(class, initializer)| {
            let called = initializer.used.probes.iter();
            let called = called.filter_map(|&probe| run.method(probe));
            let state = LeftState::of(called.chain([(class, &own)]), classes);
            let found = Found {
                fields: state.read().cloned().collect(),
                stretches_before: initializer.stretches_before,
            };
            (class.clone(), found)
        });
        Self(
            found
                .filter(|(_, found)| !found.fields.is_empty())
                .collect(),
        )
    }

    /// The fields that the initializers of these classes read, each with the
    /// number of stretches of tests that had begun by then.
    pub(crate) fn found<'a>(
        &'a self,
        classes: &'a BTreeSet<ClassName>,
    ) -> impl Iterator<Item = (&'a StaticField, usize)> {
        let found = self.0.iter().filter(|(class, _)| classes.contains(class));
        let with_number = |found: &'a Found| {
            let fields = found.fields.iter();
            fields.map(|field| (field, found.stretches_before))
        };
        found.flat_map(move |(_, found)| with_number(found))
    }
}

fn with_supertypes(
    classes: impl IntoIterator<Item = ClassName>,
    supertypes: impl Fn(&ClassName) -> Vec<ClassName>,
) -> BTreeSet<ClassName> {
    let mut all = BTreeSet::new();
    let mut queue: Vec<ClassName> = classes.into_iter().collect();
    while let Some(class) = queue.pop() {
        if all.insert(class.clone()) {
            queue.extend(supertypes(&class));
        }
    }
    all
}

/// Whether a class belongs to a test framework.
///
/// Frameworks keep what they find out about classes, for every test alike, and
/// count in static fields while they run one test what they read for the next
/// one. That would join all tests, and none of them sees it. What they look at
/// is in the record of each test that they look at it for, and their jars are
/// part of the environment.
pub fn is_of_framework(class: &ClassName) -> bool {
    const PACKAGES: [&str; 8] = [
        "org/junit/",
        "junit/",
        "org/testng/",
        "org/spockframework/",
        "org/hamcrest/",
        "org/mockito/",
        "org/easymock/",
        "net/bytebuddy/",
    ];
    PACKAGES
        .iter()
        .any(|package| class.as_str().starts_with(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(class: &str) -> StaticField {
        StaticField {
            class: class.into(),
            name: "HELD".into(),
        }
    }

    fn reads(owner: &str, held: Held) -> MethodFacts {
        MethodFacts {
            held: vec![(field(owner), held)],
            ..MethodFacts::default()
        }
    }

    fn changes() -> MethodFacts {
        MethodFacts {
            changes_given: true,
            ..MethodFacts::default()
        }
    }

    /// The owners of the changed fields after these methods have run. `Sub`
    /// extends `Base`.
    fn changed(ran: &[(&str, MethodFacts)]) -> Vec<String> {
        let mut state = LeftState::default();
        for (index, (class, facts)) in ran.iter().enumerate() {
            let method = MethodKey::new(format!("m{index}"), "()V");
            state.note(&ClassName::new(*class), &method, facts);
        }
        let supertypes = |class: &ClassName| match class.as_str() {
            "Sub" => vec!["Base".into()],
            _ => Vec::new(),
        };
        let changed = state.changed(supertypes);
        changed.iter().map(|f| f.class.to_string()).collect()
    }

    #[test]
    fn a_container_changes_by_who_reads_it() {
        let mut facts = reads("A", Held::Container);
        assert!(changed(&[("A", facts.clone())]).is_empty());
        facts.changed = vec![field("A")];
        assert_eq!(changed(&[("B", facts)]), ["A"]);
    }

    #[test]
    fn a_container_changes_by_the_nest_that_hands_it_on() {
        let mut facts = reads("A", Held::Container);
        let read = ("A$1", facts.clone());
        assert!(changed(&[read, ("A$2", changes())]).is_empty());
        facts.handed_on = vec![field("A")];
        let handed_on = || ("A$1", facts.clone());
        assert_eq!(changed(&[handed_on(), ("A$2", changes())]), ["A"]);
        assert!(changed(&[handed_on(), ("B", changes())]).is_empty());
        assert!(changed(&[handed_on()]).is_empty());
    }

    #[test]
    fn an_object_changes_by_methods_of_its_class_above_and_below() {
        let read = |class: &str| ("A", reads("A", Held::Object(class.into())));
        assert_eq!(changed(&[read("Sub"), ("Base", changes())]), ["A"]);
        assert_eq!(changed(&[read("Base"), ("Sub", changes())]), ["A"]);
        assert!(changed(&[read("Base"), ("A", changes())]).is_empty());
    }

    #[test]
    fn an_array_changes_by_who_reads_it() {
        let mut facts = reads("A", Held::Array);
        facts.handed_on = vec![field("A")];
        assert!(changed(&[("A", facts.clone()), ("A", changes())]).is_empty());
        facts.changed = vec![field("A")];
        assert_eq!(changed(&[("A", facts)]), ["A"]);
    }

    #[test]
    fn an_array_without_elements_is_forgotten() {
        let mut facts = reads("A", Held::Array);
        facts.changed = vec![field("A")];
        let mut state = LeftState::default();
        state.note(&"A".into(), &MethodKey::new("m", "()V"), &facts);
        state.forget(|field| field.class.as_str() == "A");
        assert!(state.changed(|_| Vec::new()).is_empty());
        assert_eq!(state.read().count(), 0);
    }

    #[test]
    fn an_initializer_changes_what_other_classes_hold() {
        let mut facts = reads("A", Held::Container);
        facts.changed = vec![field("A")];
        let changed_by = |class: &str| {
            let mut state = LeftState::default();
            state.note(&class.into(), &MethodKey::static_initializer(), &facts);
            (state.read().count(), state.changed(|_| Vec::new()).len())
        };
        assert_eq!(changed_by("A"), (0, 0));
        assert_eq!(changed_by("B"), (1, 1));
    }

    #[test]
    fn what_frameworks_keep_joins_no_tests() {
        let mut facts = reads("org/junit/A", Held::Container);
        facts.changed = vec![field("org/junit/A")];
        assert!(changed(&[("org/junit/A", facts)]).is_empty());
    }
}
