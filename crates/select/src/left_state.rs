//! What a test leaves behind in objects that static fields hold.
//!
//! A `static final` map is written once and filled later: no `putstatic` tells
//! of it. Here a test counts as one that has changed the object behind a field
//! if, while it ran, a method read the field and another method that may change
//! such an object ran too. For a container of the JDK that is a method of the
//! class, or the nest, that read the field; for an object of the application's
//! it is a method of the object's class, its supertypes or its subtypes.

use std::collections::BTreeSet;

use fewest_model::{ClassName, MethodKey};

use crate::uses::{Held, MethodFacts, StaticField};

/// What was seen of one test.
#[derive(Debug, Default)]
pub(crate) struct LeftState {
    /// The fields that were read, what they hold, and the class that read them.
    read: BTreeSet<(StaticField, Held, ClassName)>,
    /// Classes whose methods may have changed a container.
    changing: BTreeSet<ClassName>,
    /// Arrays that are read where something is stored into an array.
    stored: BTreeSet<StaticField>,
}

impl LeftState {
    /// A method has run.
    pub(crate) fn note(&mut self, class: &ClassName, method: &MethodKey, facts: &MethodFacts) {
        // What an initializer makes of its class's fields comes to everybody
        // who uses the class.
        if method.is_static_initializer() {
            return;
        }
        if facts.changes_containers {
            self.changing.insert(class.clone());
        }
        for (field, held) in &facts.held {
            if is_of_framework(&field.class) {
                continue;
            }
            if *held == Held::Array && facts.stores_objects {
                self.stored.insert(field.clone());
            }
            let read = (field.clone(), held.clone(), class.clone());
            self.read.insert(read);
        }
    }

    /// The fields that were read and hold objects which can change.
    pub(crate) fn read(&self) -> impl Iterator<Item = &StaticField> {
        self.read.iter().map(|(field, ..)| field)
    }

    /// The fields whose objects may have changed.
    pub(crate) fn changed(
        &self,
        supertypes: impl Fn(&ClassName) -> Vec<ClassName>,
    ) -> BTreeSet<StaticField> {
        let nests: BTreeSet<ClassName> = self.changing.iter().map(ClassName::outermost).collect();
        let above_changing = with_supertypes(self.changing.iter().cloned(), &supertypes);
        let is_changed = |held: &Held, reader: &ClassName| match held {
            Held::Array => false,
            Held::Container => nests.contains(&reader.outermost()),
            Held::Object(class) => {
                above_changing.contains(class)
                    || !with_supertypes([class.clone()], &supertypes).is_disjoint(&self.changing)
            }
        };
        let mut changed = self.stored.clone();
        for (field, held, reader) in &self.read {
            if is_changed(held, reader) {
                changed.insert(field.clone());
            }
        }
        changed
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
            changes_containers: true,
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
    fn a_container_changes_by_the_nest_that_reads_it() {
        let read = || ("A$1", reads("A", Held::Container));
        assert_eq!(changed(&[read(), ("A$2", changes())]), ["A"]);
        assert!(changed(&[read(), ("B", changes())]).is_empty());
        assert!(changed(&[read()]).is_empty());
    }

    #[test]
    fn an_object_changes_by_methods_of_its_class_above_and_below() {
        let read = |class: &str| ("A", reads("A", Held::Object(class.into())));
        assert_eq!(changed(&[read("Sub"), ("Base", changes())]), ["A"]);
        assert_eq!(changed(&[read("Base"), ("Sub", changes())]), ["A"]);
        assert!(changed(&[read("Base"), ("A", changes())]).is_empty());
    }

    #[test]
    fn an_array_changes_where_it_is_read_and_something_is_stored() {
        let mut facts = reads("A", Held::Array);
        assert!(changed(&[("A", facts.clone()), ("A", changes())]).is_empty());
        facts.stores_objects = true;
        assert_eq!(changed(&[("A", facts)]), ["A"]);
    }

    #[test]
    fn what_initializers_and_frameworks_keep_joins_no_tests() {
        let mut state = LeftState::default();
        let initializer = MethodKey::new("<clinit>", "()V");
        let mut facts = reads("A", Held::Container);
        facts.changes_containers = true;
        state.note(&"A".into(), &initializer, &facts);
        assert!(state.changed(|_| Vec::new()).is_empty());
        let mut facts = reads("org/junit/A", Held::Container);
        facts.changes_containers = true;
        assert!(changed(&[("org/junit/A", facts)]).is_empty());
    }
}
