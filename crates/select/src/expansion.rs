//! Follows what ran to everything that it needs, until nothing new appears.

use std::collections::{BTreeMap, BTreeSet};

use fewest_model::{ClassName, Element, MethodKey, Walk, Watch};
use fewest_trace::Thing;

use crate::jvm_run::{JvmRun, Numbers, TestRun};
use crate::uses::{Classes, StaticField, TestUses};

/// What is used, and what is still to be followed.
pub(crate) struct Expansion<'a, C> {
    run: &'a JvmRun,
    classes: &'a C,
    pub(crate) test: Option<&'a ClassName>,
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

    pub(crate) fn add_numbers(&mut self, numbers: &Numbers) {
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
        self.add_outside(&self.run.ambient);
    }

    pub(crate) fn add_outside(&mut self, outside: &Numbers) {
        let run = self.run;
        for &probe in &outside.probes {
            if let Some((class, method)) = run.method(probe)
                && !((method.is_constructor() || method.is_static_initializer())
                    && self.is_another_test(class))
            {
                self.pass(probe);
            }
        }
        let things = outside.things.iter();
        for thing in things.filter_map(|&thing| run.thing(thing)) {
            match thing {
                // Looking at a test class loads what its signatures name.
                // Whatever of that is really used is seen when it is.
                Thing::Defined(_) => {}
                Thing::Named(class) if self.classes.facts(class).is_some() => {}
                Thing::Named(class) | Thing::Reflected(class)
                    if self.is_another_test(class) || self.is_for_junit(class) => {}
                thing => self.add_thing(thing),
            }
        }
    }

    fn is_another_test(&self, class: &ClassName) -> bool {
        self.run.is_test(class) && self.test.is_none_or(|test| class.outermost() != *test)
    }

    /// Whether a class speaks to `JUnit`, as an abstract class with tests does:
    /// `JUnit` looks at it for each test class below it, and at what is nested
    /// in it. What it says concerns no others. `TestNG` is another matter: with
    /// `@BeforeSuite` any class sets up all tests.
    fn is_for_junit(&self, class: &ClassName) -> bool {
        let is_own = |above: &ClassName| above.outermost() == class.outermost();
        self.classes.facts(class).is_some_and(|facts| {
            let mut above = facts.supertypes.iter();
            facts.annotation_types.iter().any(is_of_junit)
                || above.any(|above| above.as_str() == "junit/framework/TestCase")
        }) && !self.whole.iter().any(is_own)
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
    pub(crate) fn add_whole(&mut self, class: &ClassName) {
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
        if let Some(initializer) = run.initializer(class, self.classes) {
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

/// Whether an annotation of `JUnit` concerns its class and those below it. Those
/// of suites concern others.
fn is_of_junit(annotation: &ClassName) -> bool {
    let name = annotation.as_str();
    name.starts_with("org/junit/") && !name.starts_with("org/junit/platform/")
}

/// Classes of the JDK are part of the environment. A name that is wrongly
/// taken for one of the JDK's would be a hole, so only packages that nobody
/// else may define are.
pub(crate) fn is_jdk_class(class: &ClassName) -> bool {
    ["java/", "jdk/", "sun/"]
        .iter()
        .any(|prefix| class.as_str().starts_with(prefix))
}
