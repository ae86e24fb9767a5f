//! From what ran to what a test depends on.
//!
//! A trace says which methods ran and which things were looked at. This module
//! adds what follows from the code alone: the classes that those methods name,
//! supertypes, annotation types, and what the static initializers of used
//! classes needed, whenever they ran (design §4, "what counts as use").

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fewest_model::{ClassName, Element, MethodKey, Walk, Watch};
use fewest_trace::FileStamp;

use crate::expansion::Expansion;
use crate::jvm_run::{JvmRun, Numbers, TestRun};
use crate::left_state::{Initializers, LeftState};

/// What must be known of a class to tell what using it means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassFacts {
    /// The superclass and the interfaces.
    pub supertypes: Vec<ClassName>,
    /// Types of the annotations that are kept at run time, on the class and
    /// on its members.
    pub annotation_types: Vec<ClassName>,
    pub methods: BTreeMap<MethodKey, MethodFacts>,
    /// Whether it is an interface with a static initializer: that runs with
    /// those of its classes as soon as it has a default method.
    pub starts_with_defaults: bool,
    /// Static fields that hold arrays without elements, always.
    pub empty_arrays: BTreeSet<Arc<str>>,
}

/// What the code of a method names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodFacts {
    pub classes: Vec<ClassName>,
    /// Members that are looked up in the named class and found above it.
    pub inherited: Vec<(ClassName, MethodKey)>,
    pub static_reads: Vec<StaticField>,
    pub static_writes: Vec<StaticField>,
    /// Those of both that hold objects which may change.
    pub static_objects: Vec<StaticField>,
    /// Static fields that it reads and whose object can change.
    pub held: Vec<(StaticField, Held)>,
    /// Those of them whose object it changes.
    pub changed: Vec<StaticField>,
    /// Those of them whose object it gives to others, who may change it.
    pub handed_on: Vec<StaticField>,
    /// Whether it changes containers that come from a parameter, an object's
    /// field, or a call.
    pub changes_given: bool,
}

/// What stands behind a static field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Held {
    /// A container of the JDK, or an array of them.
    Container,
    /// An array of other objects.
    Array,
    /// An object of a class that is none of the JDK's.
    Object(ClassName),
}

/// A static field, by the class that declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StaticField {
    pub class: ClassName,
    pub name: Arc<str>,
}

/// The classes of a class path.
pub trait Classes {
    /// `None` for a class that the class path does not have.
    fn facts(&self, class: &ClassName) -> Option<Arc<ClassFacts>>;

    /// The walk over the blocks of a method that ran. `flow` is how its blocks
    /// led to each other in the JVM; where they do not do so in its file, and
    /// so do not mean the same, all of the method counts.
    fn walk(
        &self,
        class: &ClassName,
        method: &MethodKey,
        executed: &BTreeSet<usize>,
        flow: u32,
    ) -> Walk;
}

/// What a test depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestUses {
    pub elements: BTreeSet<Element>,
    /// Files, by the absolute path, as they were when they were looked at.
    pub files: BTreeMap<Arc<str>, FileStamp>,
    /// Directories that were listed, by the absolute path.
    pub listings: BTreeSet<Arc<str>>,
    /// Why this is no proof.
    pub doubts: Vec<String>,
}

/// What each test of a JVM depends on, in the order of its tests.
///
/// A test that reads a static field which an earlier test has written and not
/// set back, or whose object it has changed, inherits what the earlier one used
/// while it ran: its outcome may come from there. So does a test that uses a
/// class whose initializer has read such a field, in whichever test. What a thread does that
/// outlives its test counts for that test, and for the test that runs then: it
/// is the latter that leaves it to others.
pub fn uses_of_tests(run: &JvmRun, classes: &impl Classes) -> Vec<TestUses> {
    let mut by_stretch: Vec<TestUses> = Vec::with_capacity(run.stretches.len());
    let mut writers: BTreeMap<StaticField, BTreeSet<usize>> = BTreeMap::new();
    let mut changers: BTreeMap<StaticField, BTreeSet<usize>> = BTreeMap::new();
    let initializers = Initializers::new(run, classes);
    for (index, stretch) in run.stretches.iter().enumerate() {
        let test = &run.tests[stretch.test];
        let mut expansion = Expansion::new(run, classes);
        expansion.add_test(test, &stretch.used);
        let left = left_state(run, &stretch.used, classes);
        let written = expansion
            .static_reads
            .iter()
            .filter_map(|field| writers.get(field));
        let changed = left.read().filter_map(|field| changers.get(field));
        let mut earlier: BTreeSet<usize> = written.chain(changed).flatten().copied().collect();
        for (field, before) in initializers.found(&expansion.touched) {
            let changed = changers.get(field).into_iter();
            earlier.extend(changed.flat_map(|stretches| stretches.range(..before)));
        }
        let mut uses = expansion.uses;
        for earlier in earlier {
            uses.inherit(&by_stretch[earlier]);
        }
        let written = expansion.static_writes.into_iter();
        for field in written.filter(|field| !run.is_kept(test, field)) {
            writers.entry(field).or_default().insert(index);
        }
        for field in left.changed(|class| supertypes(class, classes)) {
            changers.entry(field).or_default().insert(index);
        }
        by_stretch.push(uses);
    }
    let mut all = vec![TestUses::default(); run.tests.len()];
    for (stretch, mut uses) in run.stretches.iter().zip(by_stretch) {
        let known = &mut all[stretch.test];
        uses.inherit(&std::mem::take(known));
        *known = uses;
    }
    for (test, uses) in run.tests.iter().zip(&mut all) {
        for late in test.late.values() {
            uses.inherit(&late_uses(run, test, late, classes));
        }
        uses.inherit(&closing_uses(run, test, classes));
    }
    all
}

/// What ran after the last test had ended. It counts for each test, as it may
/// break the build. But it hands on nothing of what it found: no test comes
/// after it, and when a test changes that had left something to it, that test
/// runs and so does this again.
pub(crate) fn closing_uses(run: &JvmRun, test: &TestRun, classes: &impl Classes) -> TestUses {
    let mut expansion = Expansion::new(run, classes);
    expansion.test = Some(&test.class);
    expansion.add_outside(&run.closing);
    expansion.finish();
    expansion.uses
}

/// What was used after a test had ended.
pub(crate) fn late_uses(
    run: &JvmRun,
    test: &TestRun,
    late: &Numbers,
    classes: &impl Classes,
) -> TestUses {
    let mut expansion = Expansion::new(run, classes);
    expansion.test = Some(&test.class);
    expansion.add_numbers(late);
    expansion.finish();
    expansion.uses
}

/// What a test finds and leaves in objects. Only what ran while it did counts:
/// an initializer that ran for another test finds and changes nothing again.
pub(crate) fn left_state(run: &JvmRun, used: &Numbers, classes: &impl Classes) -> LeftState {
    LeftState::of(used.probes.iter().filter_map(|&p| run.method(p)), classes)
}

pub(crate) fn supertypes(class: &ClassName, classes: &impl Classes) -> Vec<ClassName> {
    let facts = classes.facts(class);
    facts.map_or_else(Vec::new, |facts| facts.supertypes.clone())
}

/// What a whole JVM used: a child of a test counts for it as one.
pub fn uses_of_jvm(run: &JvmRun, classes: &impl Classes) -> TestUses {
    let mut expansion = Expansion::new(run, classes);
    expansion.add_numbers(&run.ambient);
    expansion.add_numbers(&run.closing);
    for stretch in &run.stretches {
        expansion.add_numbers(&stretch.used);
    }
    for late in run.tests.iter().flat_map(|test| test.late.values()) {
        expansion.add_numbers(late);
    }
    expansion.finish();
    let mut uses = expansion.uses;
    uses.doubts.extend(run.doubts.iter().cloned());
    if !run.complete {
        uses.doubts
            .push("a JVM that it started did not end in an orderly way".into());
    }
    uses
}

/// What it depends on that a class holds no tests: all that it is.
pub fn uses_of_class(class: &ClassName, classes: &impl Classes) -> TestUses {
    let run = JvmRun::default();
    let mut expansion = Expansion::new(&run, classes);
    expansion.test = Some(class);
    for watch in [Watch::Uses, Watch::Receivers, Watch::Blocks] {
        expansion.add(Element::Watched(watch));
    }
    expansion.add_whole(class);
    expansion.finish();
    expansion.uses
}

impl TestUses {
    /// Adds everything that another test or JVM depends on.
    pub fn inherit(&mut self, other: &Self) {
        self.elements.extend(other.elements.iter().cloned());
        for (path, stamp) in &other.files {
            self.files.entry(path.clone()).or_insert(*stamp);
        }
        self.listings.extend(other.listings.iter().cloned());
        for doubt in &other.doubts {
            if !self.doubts.contains(doubt) {
                self.doubts.push(doubt.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use fewest_model::Outcome;
    use fewest_trace::{ClassEntry, Event, Thing, Trace, Uses, WindowClose, WindowOpen};

    use super::*;

    /// `Code` with methods that write, read, change and find what static
    /// fields hold, and `Other`; `BTest` extends the abstract test class `Base`.
    struct Known(HashMap<&'static str, Arc<ClassFacts>>);

    const WRITE: u32 = 0;
    const READ: u32 = 1;
    const FILL: u32 = 2;
    const FIND: u32 = 3;
    const INITIALIZE: u32 = 4;
    const OTHER: u32 = 10;

    const CODE: u32 = 1;

    const SUREFIRE_UNDER_TEST: &str = "org/apache/maven/surefire/UnderTest";

    fn method(name: &str) -> MethodKey {
        MethodKey::new(name, "()V")
    }

    fn methods() -> [MethodKey; 5] {
        let initializer = MethodKey::static_initializer();
        let [write, read, fill, find] = ["write", "read", "fill", "find"].map(method);
        [write, read, fill, find, initializer]
    }

    impl Known {
        fn new() -> Self {
            let field = |name: &str| StaticField {
                class: "Fields".into(),
                name: name.into(),
            };
            let map = || vec![(field("map"), Held::Container)];
            let [write, read, fill, find, initializer] = methods();
            let mut code = ClassFacts::default();
            let mut add = |method, facts| code.methods.insert(method, facts);
            add(
                write,
                MethodFacts {
                    static_writes: vec![field("number")],
                    ..MethodFacts::default()
                },
            );
            add(
                read,
                MethodFacts {
                    static_reads: vec![field("number")],
                    ..MethodFacts::default()
                },
            );
            add(
                fill,
                MethodFacts {
                    held: map(),
                    changed: vec![field("map")],
                    ..MethodFacts::default()
                },
            );
            add(
                find,
                MethodFacts {
                    held: map(),
                    ..MethodFacts::default()
                },
            );
            add(
                initializer,
                MethodFacts {
                    held: map(),
                    ..MethodFacts::default()
                },
            );
            let mut other = ClassFacts::default();
            other.methods.insert(method("run"), MethodFacts::default());
            let with_annotation = |annotation: &str| ClassFacts {
                annotation_types: vec![annotation.into()],
                ..ClassFacts::default()
            };
            let suite = with_annotation("org/testng/annotations/BeforeSuite");
            let test = ClassFacts {
                supertypes: vec!["Base".into()],
                ..ClassFacts::default()
            };
            let known = [
                ("Code", code),
                ("Other", other),
                ("Base", with_annotation("org/junit/Test")),
                ("Base$Inner", with_annotation("org/junit/Test")),
                ("Suite", suite),
                ("BTest", test),
                (SUREFIRE_UNDER_TEST, ClassFacts::default()),
            ];
            Self(known.map(|(name, facts)| (name, Arc::new(facts))).into())
        }
    }

    impl Classes for Known {
        fn facts(&self, class: &ClassName) -> Option<Arc<ClassFacts>> {
            self.0.get(class.as_str()).cloned()
        }

        fn walk(&self, _: &ClassName, _: &MethodKey, _: &BTreeSet<usize>, _: u32) -> Walk {
            Walk::whole()
        }
    }

    fn class(id: u32, name: &str, first_probe: u32, methods: Vec<MethodKey>) -> Event {
        Event::Class(ClassEntry {
            id,
            name: name.into(),
            first_probe,
            methods,
            supertypes: Vec::new(),
            blind: Vec::new(),
            blocks: Vec::new(),
            statements: Vec::new(),
        })
    }

    /// A window of a test class in which these probes were passed.
    fn window(number: u32, class: &str, probes: &[u32]) -> [Event; 2] {
        let opened = WindowOpen {
            window: number,
            class: class.into(),
            method: None,
            at: 0,
        };
        let closed = WindowClose {
            window: number,
            outcome: Outcome::Passed,
            millis: 1,
            tests: 1,
            uses: Uses {
                probes: probes.to_vec(),
                things: Vec::new(),
            },
            lingers: false,
        };
        [Event::Opened(opened), Event::Closed(closed)]
    }

    /// The tests that depend on `Other.run()`.
    fn users_of_other(events: impl IntoIterator<Item = Event>) -> Vec<String> {
        let classes = [
            class(CODE, "Code", 0, methods().into()),
            class(2, "Other", OTHER, vec![method("run")]),
        ];
        let events = classes.into_iter().chain(events).collect();
        let run = JvmRun::new(Trace {
            events,
            cut_at: None,
        });
        let uses = uses_of_tests(&run, &Known::new());
        let other = Element::Method("Other".into(), method("run"));
        let tests = run.tests.iter().zip(uses);
        let by_other = tests.filter(|(_, uses)| uses.elements.contains(&other));
        by_other.map(|(test, _)| test.class.to_string()).collect()
    }

    #[test]
    fn frameworks_look_at_classes_up_front_and_others_at_what_they_use() {
        let reflected = |id, class: &str| Event::Thing {
            id,
            thing: Thing::Reflected(class.into()),
        };
        let looked_at = Event::Ambient {
            uses: Uses {
                probes: Vec::new(),
                things: vec![1, 2, 3, 4, 5],
            },
        };
        let things = [
            reflected(4, "Base$Inner"),
            reflected(5, "Suite"),
            reflected(1, "Other"),
            reflected(2, "Base"),
            reflected(3, "BTest"),
        ];
        let [a, b] = [window(0, "ATest", &[]), window(1, "BTest", &[])];
        let events = things.into_iter().chain([looked_at]).chain(a).chain(b);
        let trace = Trace {
            events: events.collect(),
            cut_at: None,
        };
        let uses = uses_of_tests(&JvmRun::new(trace), &Known::new());
        let whole = |test: usize| -> Vec<&str> {
            let elements = uses[test].elements.iter();
            let whole = elements.filter_map(|element| match element {
                Element::Whole(class) => Some(class.as_str()),
                _ => None,
            });
            whole.collect()
        };
        let suite = ["Suite", "org/testng/annotations/BeforeSuite"];
        assert_eq!(whole(0), ["ATest", "Other", suite[0], suite[1]]);
        let of_b = [
            "BTest",
            "Base",
            "Base$Inner",
            "Other",
            suite[0],
            "org/junit/Test",
            suite[1],
        ];
        assert_eq!(whole(1), of_b);
    }

    #[test]
    fn a_test_inherits_from_those_that_ran_before_it() {
        let write = || window(0, "ATest", &[WRITE, OTHER]);
        let read = || window(1, "BTest", &[READ]);
        assert_eq!(
            users_of_other(write().into_iter().chain(read())),
            ["ATest", "BTest"]
        );
        assert_eq!(users_of_other(read().into_iter().chain(write())), ["ATest"]);
    }

    #[test]
    fn what_runs_after_the_last_test_counts_for_all_and_hands_on_nothing() {
        let outside = |probe| Event::Ambient {
            uses: Uses {
                probes: vec![probe],
                things: Vec::new(),
            },
        };
        let write = || window(0, "ATest", &[WRITE, OTHER]).into_iter();
        let nothing = || window(1, "BTest", &[]);
        let between = write().chain([outside(READ)]).chain(nothing());
        assert_eq!(users_of_other(between), ["ATest", "BTest"]);
        let after = write().chain(nothing()).chain([outside(READ)]);
        assert_eq!(users_of_other(after), ["ATest"]);
        let used_then = nothing().into_iter().chain([outside(OTHER)]);
        assert_eq!(users_of_other(used_then), ["BTest"]);
    }

    #[test]
    fn being_made_first_is_not_running_first() {
        let made = [window(0, "ATest", &[]), window(1, "BTest", &[])];
        let ran = [
            window(2, "BTest", &[WRITE, OTHER]),
            window(3, "ATest", &[READ]),
        ];
        let all = made.into_iter().chain(ran).flatten();
        assert_eq!(users_of_other(all), ["ATest", "BTest"]);
        let made = [window(0, "ATest", &[]), window(1, "BTest", &[WRITE, OTHER])];
        let ran = [window(2, "ATest", &[READ])];
        let all = made.into_iter().chain(ran).flatten();
        assert_eq!(users_of_other(all), ["ATest", "BTest"]);
    }

    #[test]
    fn what_an_initializer_finds_comes_to_all_who_use_its_class() {
        let initialized = || Event::Initialized {
            class: CODE,
            uses: Uses {
                probes: vec![INITIALIZE],
                things: Vec::new(),
            },
        };
        let fill = || window(0, "ATest", &[FILL, OTHER]);
        // `WRITE` has nothing to do with the map.
        let uses_class = || window(1, "BTest", &[WRITE]);
        let before = [initialized()]
            .into_iter()
            .chain(fill())
            .chain(uses_class());
        assert_eq!(users_of_other(before), ["ATest"]);
        let after = fill()
            .into_iter()
            .chain([initialized()])
            .chain(uses_class());
        assert_eq!(users_of_other(after), ["ATest", "BTest"]);
        let finds = fill().into_iter().chain(window(1, "BTest", &[FIND]));
        assert_eq!(users_of_other(finds), ["ATest", "BTest"]);
    }

    #[test]
    fn what_happened_while_surefire_was_initialized_counts_for_those_who_did_it() {
        const START: u32 = 20;
        let initialized_in_a_test = |name: &str| {
            let initialized = Event::Initialized {
                class: 3,
                uses: Uses {
                    probes: vec![OTHER],
                    things: Vec::new(),
                },
            };
            let classes = [class(3, name, START, vec![method("start")])];
            let events = classes.into_iter().chain([initialized]);
            events
                .chain(window(0, "ATest", &[START, OTHER]))
                .chain(window(1, "BTest", &[START]))
        };
        let surefire = initialized_in_a_test("org/apache/maven/surefire/booter/Ping");
        assert_eq!(users_of_other(surefire), ["ATest"]);
        // Other launchers have not been seen to do so.
        for other in ["org/apache/maven/Library", "org/gradle/Worker"] {
            let initialized = initialized_in_a_test(other);
            assert_eq!(users_of_other(initialized), ["ATest", "BTest"], "{other}");
        }
        let under_test = initialized_in_a_test(SUREFIRE_UNDER_TEST);
        assert_eq!(users_of_other(under_test), ["ATest", "BTest"]);
    }
}
