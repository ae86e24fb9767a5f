//! What single methods of test classes depend on.
//!
//! A method depends on what it used, on what all methods of its class share
//! (constructor, set-up, tear-down), and on what earlier tests used that left
//! state behind which it reads. Of its own class it depends on the frame and on
//! the methods that ran, so that an edit of one test leaves the others alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fewest_model::{ClassName, Element, MethodKey, Walk};

use crate::expansion::Expansion;
use crate::jvm_run::{JvmRun, MethodRun, Numbers, TestRun};
use crate::left_state::{Initializers, LeftState};
use crate::uses::{
    Classes, StaticField, TestUses, closing_uses, late_uses, left_state, supertypes,
};

/// Where a test method is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The class that it is a test of: the test class, or one nested in it.
    pub test: ClassName,
    /// The class that has it, which may be a superclass of the other.
    pub class: ClassName,
    pub key: MethodKey,
}

/// The methods of a test class by their names in it.
pub type DeclaredMethods = BTreeMap<Arc<str>, Declared>;

/// What each method of each test depends on, in the order of the tests and of
/// their methods. `declared` has the test classes whose methods are told apart.
pub fn uses_of_methods<C: Classes>(
    run: &JvmRun,
    classes: &C,
    declared: &BTreeMap<ClassName, DeclaredMethods>,
) -> Vec<Vec<TestUses>> {
    let mut parts = Parts::new(run, classes, declared);
    let mut places = BTreeMap::new();
    let mut stretch = 0;
    for part in in_order(run) {
        match part {
            Part::Shared(index) => {
                stretch = index;
                let unit = parts.shared(stretch);
                parts.add(unit);
            }
            Part::Method(test, index) => {
                let own = &run.tests[test];
                let method = &own.methods[index];
                let mut unit = parts.method(test, stretch, method);
                let methods = declared.get(&own.class);
                if let Some(place) = methods.and_then(|known| known.get(&method.name)) {
                    let Declared { test, class, key } = place.clone();
                    let lookup = Element::Lookup(test, key.clone());
                    let all = Element::Blocks(class.clone(), key.clone(), Walk::whole());
                    let method = Element::Method(class, key);
                    unit.uses.elements.extend([lookup, all, method]);
                }
                places.insert((test, index), parts.add(unit));
            }
        }
    }
    let methods_of = |(index, test): (usize, &TestRun)| {
        let place = |method| places[&(index, method)];
        let closing = closing_uses(run, test, classes);
        let uses_of = |method| {
            let mut uses = parts.units[place(method)].uses.clone();
            let late = test.late.iter();
            for (_, late) in late.filter(|(of, _)| of.is_none_or(|of| of == method)) {
                uses.inherit(&late_uses(run, test, late, classes));
            }
            uses.inherit(&closing);
            uses
        };
        (0..test.methods.len()).map(uses_of).collect()
    };
    run.tests.iter().enumerate().map(methods_of).collect()
}

/// Something that began at one time. The order is that of places in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// What the methods of a test share in one of its stretches, or all of
    /// it where methods were not told apart.
    Shared(usize),
    /// A method of a test.
    Method(usize, usize),
}

/// Parts as they began; what methods share comes before them.
fn in_order(run: &JvmRun) -> Vec<Part> {
    let stretches = run.stretches.iter().enumerate();
    let shared = stretches.map(|(index, stretch)| (stretch.first_window, Part::Shared(index)));
    let tests = run.tests.iter().enumerate();
    let methods = tests.flat_map(|(test, own)| {
        let methods = own.methods.iter().enumerate();
        methods.map(move |(index, method)| (method.first_window, Part::Method(test, index)))
    });
    let mut places: Vec<(u32, Part)> = shared.chain(methods).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, part)| part).collect()
}

/// What came of a part.
struct Unit {
    test: usize,
    /// The last stretch that had begun when it did.
    stretch: usize,
    /// Whether it is what methods share, and has inherited something.
    is_passed_on: bool,
    uses: TestUses,
    reads: BTreeSet<StaticField>,
    writes: BTreeSet<StaticField>,
    /// What it found and left in objects.
    left: LeftState,
    /// The classes that it used.
    touched: BTreeSet<ClassName>,
    /// Fields of the test class that hold objects, which any use may change.
    objects: BTreeSet<StaticField>,
}

struct Parts<'a, C> {
    run: &'a JvmRun,
    classes: &'a C,
    /// Of each test the classes that its methods are tests of.
    frames: Vec<BTreeSet<ClassName>>,
    units: Vec<Unit>,
    /// The units of each test.
    of_tests: Vec<Vec<usize>>,
    writers: BTreeMap<StaticField, BTreeSet<usize>>,
    changers: BTreeMap<StaticField, BTreeSet<usize>>,
    initializers: Initializers,
}

impl<'a, C: Classes> Parts<'a, C> {
    fn new(
        run: &'a JvmRun,
        classes: &'a C,
        declared: &BTreeMap<ClassName, DeclaredMethods>,
    ) -> Self {
        let frames = |test: &TestRun| {
            let methods = declared.get(&test.class).into_iter().flatten();
            let classes = methods.map(|(_, declared)| declared.test.clone());
            classes.chain([test.class.clone()]).collect()
        };
        Self {
            run,
            classes,
            frames: run.tests.iter().map(frames).collect(),
            units: Vec::new(),
            of_tests: vec![Vec::new(); run.tests.len()],
            writers: BTreeMap::new(),
            changers: BTreeMap::new(),
            initializers: Initializers::new(run, classes),
        }
    }

    /// What methods share in a stretch of their test, or all of the stretch
    /// where methods were not told apart.
    fn shared(&self, index: usize) -> Unit {
        let stretch = &self.run.stretches[index];
        let test = &self.run.tests[stretch.test];
        if !test.methods.is_empty() {
            let unit = self.part(stretch.test, index, &stretch.shared);
            return Unit {
                is_passed_on: true,
                ..unit
            };
        }
        let mut expansion = Expansion::new(self.run, self.classes);
        expansion.add_test(test, &stretch.used);
        Unit {
            test: stretch.test,
            stretch: index,
            is_passed_on: true,
            uses: expansion.uses,
            reads: expansion.static_reads,
            writes: expansion.static_writes,
            left: left_state(self.run, &stretch.used, self.classes),
            touched: expansion.touched,
            objects: BTreeSet::new(),
        }
    }

    fn method(&self, test: usize, stretch: usize, method: &'a MethodRun) -> Unit {
        let mut unit = self.part(test, stretch, &method.used);
        let doubts = self.run.tests[test].doubts_of(method);
        unit.uses.doubts.extend(doubts.cloned());
        unit
    }

    /// One method, or what all of them share.
    fn part(&self, index: usize, stretch: usize, own: &'a Numbers) -> Unit {
        let test = &self.run.tests[index];
        let frames = &self.frames[index];
        let stretches = self.run.stretches_of(index);
        let shared = stretches.map(|stretch| &stretch.shared);
        let mut all = Expansion::new(self.run, self.classes);
        all.add_watches();
        all.add_part(test, frames, shared.chain([own]));
        all.add_ambient();
        all.finish();
        // What all share writes a field once, not once for each method.
        let mut alone = Expansion::new(self.run, self.classes);
        alone.add_part(test, frames, [own]);
        alone.finish();
        let family = self.family(frames);
        let is_own = |field: &StaticField| {
            field.class.outermost() == test.class || family.contains(&field.class)
        };
        let mut objects = alone.static_objects;
        objects.retain(is_own);
        Unit {
            test: index,
            stretch,
            is_passed_on: false,
            uses: all.uses,
            reads: alone.static_reads,
            writes: alone.static_writes,
            left: left_state(self.run, own, self.classes),
            touched: all.touched,
            objects,
        }
    }

    /// The supertypes of classes.
    fn family(&self, classes: &BTreeSet<ClassName>) -> BTreeSet<ClassName> {
        let mut family = BTreeSet::new();
        let mut pending: Vec<ClassName> = classes.iter().cloned().collect();
        while let Some(class) = pending.pop() {
            let facts = self.classes.facts(&class);
            for supertype in facts.iter().flat_map(|facts| &facts.supertypes) {
                if family.insert(supertype.clone()) {
                    pending.push(supertype.clone());
                }
            }
        }
        family
    }

    /// Lets a unit inherit from those before it, and adds it to them.
    fn add(&mut self, mut unit: Unit) -> usize {
        let test = unit.test;
        // What a test sets back when it ends its own methods can still see.
        let is_left = |field: &StaticField, writer: usize| {
            let writer = self.units[writer].test;
            writer == test || !self.run.is_kept(&self.run.tests[writer], field)
        };
        let read = unit.reads.iter();
        let written = read.filter_map(|field| Some((field, self.writers.get(field)?)));
        let written = written.flat_map(|(field, writers)| {
            let writers = writers.iter();
            writers.filter(move |writer| is_left(field, **writer))
        });
        let found = unit.left.read();
        let changed = found.filter_map(|field| self.changers.get(field)).flatten();
        let mut earlier: BTreeSet<usize> = written.chain(changed).copied().collect();
        for (field, before) in self.initializers.found(&unit.touched) {
            let changed = self.changers.get(field).into_iter().flatten();
            earlier.extend(changed.filter(|&&other| self.units[other].stretch < before));
        }
        let is_tied =
            |other: &Unit| other.is_passed_on || !other.objects.is_disjoint(&unit.objects);
        let of_test = self.of_tests[test].iter();
        earlier.extend(of_test.filter(|&&other| is_tied(&self.units[other])));
        unit.is_passed_on &= !earlier.is_empty();
        for index in earlier {
            unit.uses.inherit(&self.units[index].uses);
        }
        let index = self.units.len();
        for field in &unit.writes {
            self.writers.entry(field.clone()).or_default().insert(index);
        }
        for field in unit.left.changed(|class| supertypes(class, self.classes)) {
            self.changers.entry(field).or_default().insert(index);
        }
        self.of_tests[test].push(index);
        self.units.push(unit);
        index
    }
}
