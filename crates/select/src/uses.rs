//! From what ran to what a test depends on.
//!
//! A trace says which methods ran and which things were looked at. This module
//! adds what follows from the code alone: the classes that those methods name,
//! supertypes, annotation types, and what the static initializers of used
//! classes needed, whenever they ran (design §4, "what counts as use").

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fewest_model::{ClassName, Element, MethodKey, Walk, Watch};
use fewest_trace::{FileStamp, Thing};

use crate::jvm_run::{JvmRun, Numbers, TestRun};
use crate::left_state::{Initializers, LeftState, is_of_framework};

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
    }
    all
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

/// Follows uses until nothing new appears.
pub(crate) struct Expansion<'a, C> {
    run: &'a JvmRun,
    classes: &'a C,
    test: Option<&'a ClassName>,
    /// The test class and the nested ones that have tests: they count by their
    /// frames where only one of their methods is meant. Empty where all is.
    frames: BTreeSet<ClassName>,
    pub(crate) uses: TestUses,
    pub(crate) static_reads: BTreeSet<StaticField>,
    pub(crate) static_writes: BTreeSet<StaticField>,
    pub(crate) static_objects: BTreeSet<StaticField>,
    /// Classes that are used, and those of them that count as a whole.
    pub(crate) touched: BTreeSet<ClassName>,
    whole: BTreeSet<ClassName>,
    executed: BTreeSet<(ClassName, MethodKey)>,
    /// Blocks that ran, besides those at the entries of methods.
    blocks: BTreeMap<(ClassName, MethodKey), BTreeSet<usize>>,
    /// Used classes whose consequences are still to be followed.
    pending: Vec<ClassName>,
}

impl<'a, C: Classes> Expansion<'a, C> {
    pub(crate) fn new(run: &'a JvmRun, classes: &'a C) -> Self {
        Self {
            run,
            classes,
            test: None,
            frames: BTreeSet::new(),
            uses: TestUses::default(),
            static_reads: BTreeSet::new(),
            static_writes: BTreeSet::new(),
            static_objects: BTreeSet::new(),
            touched: BTreeSet::new(),
            whole: BTreeSet::new(),
            executed: BTreeSet::new(),
            blocks: BTreeMap::new(),
            pending: Vec::new(),
        }
    }

    /// What one of a test's methods uses, or what all of them share.
    pub(crate) fn add_part<'n>(
        &mut self,
        test: &'a TestRun,
        frames: &BTreeSet<ClassName>,
        parts: impl IntoIterator<Item = &'n Numbers>,
    ) {
        self.test = Some(&test.class);
        self.frames.clone_from(frames);
        for class in frames {
            self.add_whole(class);
        }
        for numbers in parts {
            self.add_numbers(numbers);
        }
    }

    /// What a test used in one stretch.
    pub(crate) fn add_test(&mut self, test: &'a TestRun, used: &Numbers) {
        self.test = Some(&test.class);
        self.uses.doubts.extend(test.doubts.iter().cloned());
        self.add_watches();
        self.add_whole(&test.class);
        self.add_numbers(used);
        self.add_ambient();
        self.finish();
    }

    pub(crate) fn finish(&mut self) {
        while let Some(class) = self.pending.pop() {
            self.follow(&class);
        }
        if self.run.jvm.blocks {
            self.add_blocks();
        }
    }

    pub(crate) fn add_watches(&mut self) {
        let watched = [
            (Watch::Uses, true),
            (Watch::Receivers, self.run.jvm.receivers),
            // Without receivers it could not answer what asks for blocks.
            (Watch::Blocks, self.run.jvm.blocks && self.run.jvm.receivers),
        ];
        for (watch, _) in watched.into_iter().filter(|(_, on)| *on) {
            self.add(Element::Watched(watch));
        }
    }

    fn add_numbers(&mut self, numbers: &Numbers) {
        let run = self.run;
        for &probe in &numbers.probes {
            self.pass(probe);
        }
        for &thing in &numbers.things {
            if let Some(thing) = run.thing(thing) {
                self.add_thing(thing);
            }
        }
    }

    /// What ran outside of all tests counts for each of them, except what
    /// makes or describes another test class: frameworks do that up front, and
    /// look at what it inherits. A test's own class and all above it count as a
    /// whole anyway.
    /// Other methods of a test class are set-up for many, as `@BeforeSuite`.
    pub(crate) fn add_ambient(&mut self) {
        let run = self.run;
        for &probe in &run.ambient.probes {
            if let Some((class, method)) = run.method(probe)
                && !((method.is_constructor() || method.is_static_initializer())
                    && self.is_another_test(class))
            {
                self.pass(probe);
            }
        }
        for thing in run
            .ambient
            .things
            .iter()
            .filter_map(|&thing| run.thing(thing))
        {
            match thing {
                // Looking at a test class loads what its signatures name.
                // Whatever of that is really used is seen when it is.
                Thing::Defined(_) => {}
                Thing::Named(class) if self.classes.facts(class).is_some() => {}
                Thing::Named(class) | Thing::Reflected(class)
                    if self.is_another_test(class) || self.is_for_frameworks(class) => {}
                thing => self.add_thing(thing),
            }
        }
    }

    fn is_another_test(&self, class: &ClassName) -> bool {
        self.run.is_test(class) && self.test.is_none_or(|test| class.outermost() != *test)
    }

    /// Whether a class speaks to a test framework, as an abstract class with
    /// tests does: frameworks look at it for each test class below it.
    fn is_for_frameworks(&self, class: &ClassName) -> bool {
        self.classes.facts(class).is_some_and(|facts| {
            let mut named = facts.annotation_types.iter().chain(&facts.supertypes);
            named.any(is_of_framework)
        })
    }

    fn add_thing(&mut self, thing: &Thing) {
        match thing {
            Thing::Reflected(class) => self.add_whole(class),
            Thing::Named(class) | Thing::Defined(class) => self.touch(class),
            Thing::Resource(name) => self.add(Element::Resource(name.clone())),
            Thing::File { path, stamp } => {
                self.uses.files.entry(path.clone()).or_insert(*stamp);
            }
            Thing::Listing(path) => {
                self.uses.listings.insert(path.clone());
            }
            Thing::Variable(name) => self.add(Element::Variable(name.clone())),
            Thing::Property(name) => self.add(Element::Property(name.clone())),
            Thing::Receiver { class, probe } => {
                self.touch(class);
                if let Some((_, method)) = self.run.method(*probe)
                    && self.classes.facts(class).is_some()
                {
                    self.add(Element::Receiver(class.clone(), method.clone()));
                }
            }
            Thing::Program(program) => {
                self.uses.doubts.push(format!(
                    "it started `{program}`, which cannot be looked into"
                ));
            }
        }
    }

    pub(crate) fn add(&mut self, element: Element) {
        self.uses.elements.insert(element);
    }

    /// Somebody has come by a probe.
    fn pass(&mut self, probe: u32) {
        let Some(place) = self.run.place(probe) else {
            return;
        };
        self.execute(place.class, place.method);
        if let Some(block) = place.block {
            let method = (place.class.clone(), place.method.clone());
            self.blocks.entry(method).or_default().insert(block);
        }
    }

    /// The executed part of each method that ran.
    fn add_blocks(&mut self) {
        for (class, method) in std::mem::take(&mut self.executed) {
            if self.classes.facts(&class).is_none() {
                continue;
            }
            let key = (class, method);
            let mut executed = self.blocks.remove(&key).unwrap_or_default();
            executed.insert(0);
            let (class, method) = key;
            let walk = match self.flow(&class, &method) {
                Some(flow) => self.classes.walk(&class, &method, &executed, flow),
                None => Walk::whole(),
            };
            self.add(Element::Blocks(class, method, walk));
        }
    }

    /// How the blocks of a method led to each other in the JVM, if that is one
    /// way only and they all had probes.
    fn flow(&self, class: &ClassName, method: &MethodKey) -> Option<u32> {
        let mut flow = None;
        for entry in self.run.entries(class) {
            let at = entry.methods.iter().position(|key| key == method)?;
            let blocks = entry.blocks.get(at).filter(|blocks| blocks.probed)?;
            if entry.blind.contains(&(at as u16)) || flow.is_some_and(|flow| flow != blocks.flow) {
                return None;
            }
            flow = Some(blocks.flow);
        }
        flow
    }

    /// A method has run.
    fn execute(&mut self, class: &ClassName, method: &MethodKey) {
        if !self.executed.insert((class.clone(), method.clone())) {
            return;
        }
        self.touch(class);
        let Some(facts) = self.classes.facts(class) else {
            return;
        };
        self.add(Element::Method(class.clone(), method.clone()));
        let Some(facts) = facts.methods.get(method) else {
            return;
        };
        facts.classes.iter().for_each(|class| self.touch(class));
        for (class, member) in &facts.inherited {
            self.add(Element::Lookup(class.clone(), member.clone()));
        }
        self.static_reads.extend(facts.static_reads.iter().cloned());
        // What an initializer writes in its own class every user of it
        // inherits anyway.
        let counts =
            |field: &&StaticField| !method.is_static_initializer() || field.class != *class;
        let written = facts.static_writes.iter().filter(counts);
        self.static_writes.extend(written.cloned());
        let objects = facts.static_objects.iter().filter(counts);
        self.static_objects.extend(objects.cloned());
    }

    /// Whether a class is one that a single method is of.
    fn is_framed(&self, class: &ClassName) -> bool {
        self.frames.contains(class)
    }

    /// A class is used.
    fn touch(&mut self, class: &ClassName) {
        if is_jdk_class(class) || !self.touched.insert(class.clone()) {
            return;
        }
        self.add(Element::Class(class.clone()));
        if self.is_framed(class) {
            self.add(Element::Frame(class.clone()));
        } else {
            self.add(Element::Shape(class.clone()));
            if self.run.jvm.receivers {
                self.add(Element::Head(class.clone()));
            }
        }
        if self.frames.is_empty() && self.test.is_some_and(|test| class.outermost() == *test) {
            self.add_whole(class);
        }
        self.pending.push(class.clone());
    }

    /// A class is used in a way that shows all of it.
    fn add_whole(&mut self, class: &ClassName) {
        if is_jdk_class(class) || !self.whole.insert(class.clone()) {
            return;
        }
        // Frameworks look at all of a test class for each of its methods.
        if !self.is_framed(class) {
            self.add(Element::Whole(class.clone()));
        }
        self.touch(class);
        for supertype in self.supertypes(class) {
            self.add_whole(&supertype);
        }
    }

    fn supertypes(&self, class: &ClassName) -> Vec<ClassName> {
        match self.classes.facts(class) {
            Some(facts) => facts.supertypes.clone(),
            // No file defines it: a mock, a proxy, a script.
            None => self
                .run
                .entries(class)
                .flat_map(|e| e.supertypes.iter().cloned())
                .collect(),
        }
    }

    /// Code without probes, that of the JDK, may call methods of a class that
    /// override its own, and a method that is added may come to be one.
    fn add_calls_from_outside(&mut self, class: &ClassName) {
        let mut known = BTreeSet::new();
        let mut pending = vec![class.clone()];
        let mut called = Vec::new();
        let mut any = false;
        while let Some(class) = pending.pop() {
            match self.classes.facts(&class) {
                Some(facts) => {
                    if known.insert(class) {
                        any |= facts.starts_with_defaults;
                        pending.extend(facts.supertypes.iter().cloned());
                    }
                }
                None => match called_by_the_jdk(&class) {
                    Some(methods) => called.extend(methods),
                    None => any = true,
                },
            }
        }
        if any {
            for class in known {
                self.add(Element::Overrides(class));
            }
        } else {
            for method in called {
                self.add(Element::Receiver(class.clone(), method));
            }
        }
    }

    /// Everything that the use of a class brings with it.
    fn follow(&mut self, class: &ClassName) {
        let run = self.run;
        match self.classes.facts(class) {
            Some(facts) => {
                facts
                    .supertypes
                    .iter()
                    .for_each(|supertype| self.touch(supertype));
                facts
                    .annotation_types
                    .iter()
                    .for_each(|annotation| self.add_whole(annotation));
            }
            None => {
                for supertype in self.supertypes(class) {
                    self.add_whole(&supertype);
                }
            }
        }
        if run.jvm.receivers {
            self.add_calls_from_outside(class);
        }
        for entry in run.entries(class) {
            for method in entry
                .blind
                .iter()
                .filter_map(|&at| entry.methods.get(at as usize))
            {
                self.execute(class, method);
            }
        }
        if let Some(initializer) = run.initializers.get(class) {
            self.execute(class, &MethodKey::static_initializer());
            self.add_numbers(&initializer.used);
        }
    }
}

/// Methods that the JDK may call on objects of a class, by the class or
/// interface of the JDK that has them. Types that are not here may call any.
const CALLED_BY_THE_JDK: &[(&str, &[(&str, &str)])] = &[
    (
        "java/lang/Object",
        &[
            ("equals", "(Ljava/lang/Object;)Z"),
            ("hashCode", "()I"),
            ("toString", "()Ljava/lang/String;"),
            ("clone", "()Ljava/lang/Object;"),
            ("finalize", "()V"),
        ],
    ),
    ("java/lang/Record", &[]),
    // What it does not make final stands above.
    ("java/lang/Enum", &[]),
    ("java/io/Serializable", &[]),
    ("java/lang/Cloneable", &[]),
    ("java/util/RandomAccess", &[]),
    (
        "java/lang/annotation/Annotation",
        &[("annotationType", "()Ljava/lang/Class;")],
    ),
    ("java/lang/Runnable", &[("run", "()V")]),
    (
        "java/util/concurrent/Callable",
        &[("call", "()Ljava/lang/Object;")],
    ),
    (
        "java/lang/Comparable",
        &[("compareTo", "(Ljava/lang/Object;)I")],
    ),
    ("java/lang/AutoCloseable", &[("close", "()V")]),
    ("java/io/Closeable", &[("close", "()V")]),
];

/// The methods that the JDK may call on objects of one of its types.
fn called_by_the_jdk(class: &ClassName) -> Option<impl Iterator<Item = MethodKey>> {
    let (_, methods) = CALLED_BY_THE_JDK
        .iter()
        .find(|(name, _)| *name == class.as_str())?;
    let key = |(name, descriptor): &(&str, &str)| MethodKey::new(*name, *descriptor);
    Some(methods.iter().map(key))
}

/// Classes of the JDK are part of the environment. A name that is wrongly
/// taken for one of the JDK's would be a hole, so only packages that nobody
/// else may define are.
pub(crate) fn is_jdk_class(class: &ClassName) -> bool {
    ["java/", "jdk/", "sun/"]
        .iter()
        .any(|prefix| class.as_str().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use fewest_model::Outcome;
    use fewest_trace::{ClassEntry, Event, Trace, Uses, WindowClose, WindowOpen};

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
            let base = ClassFacts {
                annotation_types: vec!["org/junit/Test".into()],
                ..ClassFacts::default()
            };
            let test = ClassFacts {
                supertypes: vec!["Base".into()],
                ..ClassFacts::default()
            };
            let known = [
                ("Code", code),
                ("Other", other),
                ("Base", base),
                ("BTest", test),
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
                things: vec![1, 2, 3],
            },
        };
        let things = [
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
        assert_eq!(whole(0), ["ATest", "Other"]);
        assert_eq!(whole(1), ["BTest", "Base", "Other", "org/junit/Test"]);
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
}
