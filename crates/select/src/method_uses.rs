//! What single methods of test classes depend on.
//!
//! A method depends on what it used, on what all methods of its class share
//! (constructor, set-up, tear-down), and on what earlier tests used that left
//! state behind which it reads. Of its own class it depends on the frame and on
//! the methods that ran, so that an edit of one test leaves the others alone.

use std::collections::{BTreeMap, BTreeSet};

use fewest_model::{ClassName, Element, MethodKey, Walk};

use crate::jvm_run::{JvmRun, MethodRun, Numbers, TestRun};
use crate::left_state::LeftState;
use crate::uses::{Classes, Expansion, StaticField, TestUses, late_uses, left_state, supertypes};

/// Where a test method is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub class: ClassName,
    pub key: MethodKey,
}

/// What each method of each test depends on, in the order of the tests and of
/// their methods. `declared` tells where a method of a test class stands.
pub fn uses_of_methods<C: Classes>(
    run: &JvmRun,
    classes: &C,
    declared: impl Fn(&ClassName, &str) -> Option<Declared>,
) -> Vec<Vec<TestUses>> {
    let mut parts = Parts {
        run,
        classes,
        units: Vec::new(),
        writers: BTreeMap::new(),
        changers: BTreeMap::new(),
    };
    let mut places = BTreeMap::new();
    for (test, method) in in_order(run) {
        let own = &run.tests[test];
        let unit = match method {
            None if own.methods.is_empty() => parts.whole(own),
            None => parts.part(own, None),
            Some(method) => {
                let method = &own.methods[method];
                let mut unit = parts.part(own, Some(method));
                if let Some(Declared { class, key }) = declared(&own.class, &method.name) {
                    let lookup = Element::Lookup(own.class.clone(), key.clone());
                    let all = Element::Blocks(class.clone(), key.clone(), Walk::whole());
                    let method = Element::Method(class, key);
                    unit.uses.elements.extend([lookup, all, method]);
                }
                unit
            }
        };
        places.insert((test, method), parts.add(test, unit));
    }
    let methods_of = |(index, test): (usize, &TestRun)| {
        let place = |method| places[&(index, Some(method))];
        let uses_of = |method| {
            let mut uses = parts.units[place(method)].uses.clone();
            let late = test.late.iter();
            for (_, late) in late.filter(|(of, _)| of.is_none_or(|of| of == method)) {
                uses.inherit(&late_uses(run, test, late, classes));
            }
            uses
        };
        (0..test.methods.len()).map(uses_of).collect()
    };
    run.tests.iter().enumerate().map(methods_of).collect()
}

/// Tests and methods as they began; what methods share comes before them.
fn in_order(run: &JvmRun) -> Vec<(usize, Option<usize>)> {
    let mut places: Vec<(u32, usize, Option<usize>)> = Vec::new();
    for (index, test) in run.tests.iter().enumerate() {
        places.push((run.first_window(index), index, None));
        let methods = test.methods.iter().enumerate();
        places.extend(methods.map(|(at, method)| (method.first_window, index, Some(at))));
    }
    places.sort_unstable();
    places
        .into_iter()
        .map(|(_, test, method)| (test, method))
        .collect()
}

/// A method, what methods share, or a whole test.
struct Unit {
    test: usize,
    uses: TestUses,
    reads: BTreeSet<StaticField>,
    writes: BTreeSet<StaticField>,
    /// What it found and left in objects.
    left: LeftState,
    /// Fields of the test class that hold objects, which any use may change.
    objects: BTreeSet<StaticField>,
}

struct Parts<'a, C> {
    run: &'a JvmRun,
    classes: &'a C,
    units: Vec<Unit>,
    writers: BTreeMap<StaticField, BTreeSet<usize>>,
    changers: BTreeMap<StaticField, BTreeSet<usize>>,
}

impl<'a, C: Classes> Parts<'a, C> {
    fn whole(&self, test: &'a TestRun) -> Unit {
        let mut expansion = Expansion::new(self.run, self.classes);
        expansion.add_test(test);
        Unit {
            test: 0,
            uses: expansion.uses,
            reads: expansion.static_reads,
            writes: expansion.static_writes,
            left: left_state(self.run, &test.used, self.classes),
            objects: BTreeSet::new(),
        }
    }

    /// One method, or what all of them share.
    fn part(&self, test: &'a TestRun, method: Option<&MethodRun>) -> Unit {
        let own = method.map_or(&test.shared, |method| &method.used);
        let mut all = Expansion::new(self.run, self.classes);
        all.add_watches();
        all.add_part(test, &[&test.shared, own]);
        all.add_ambient();
        all.finish();
        if let Some(method) = method {
            all.uses.doubts.extend(test.doubts_of(method).cloned());
        }
        // What all share writes a field once, not once for each method.
        let mut alone = Expansion::new(self.run, self.classes);
        alone.add_part(test, &[own as &Numbers]);
        alone.finish();
        let family = self.family(&test.class);
        let is_own = |field: &StaticField| {
            field.class.outermost() == test.class || family.contains(&field.class)
        };
        let mut objects = alone.static_objects;
        objects.retain(is_own);
        Unit {
            test: 0,
            uses: all.uses,
            reads: alone.static_reads,
            writes: alone.static_writes,
            left: left_state(self.run, own, self.classes),
            objects,
        }
    }

    /// The supertypes of a class.
    fn family(&self, class: &ClassName) -> BTreeSet<ClassName> {
        let mut family = BTreeSet::new();
        let mut pending = vec![class.clone()];
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
    fn add(&mut self, test: usize, mut unit: Unit) -> usize {
        unit.test = test;
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
        earlier.extend((0..self.units.len()).filter(|&index| {
            let other = &self.units[index];
            other.test == test && !other.objects.is_disjoint(&unit.objects)
        }));
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
        self.units.push(unit);
        index
    }
}
