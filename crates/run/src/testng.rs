//! Test classes that TestNG does not let stand alone.
//!
//! A test may depend on groups or methods of other classes, and fails or is
//! skipped where those are not there. A set-up for the whole suite may stand
//! in any class, and does not happen where that class is left out. JUnit knows
//! nothing of the kind.

use std::collections::{BTreeMap, BTreeSet};

use fewest_build::TaskRequest;
use fewest_classfile::read::{
    Annotation, Attribute, AttributeKind, ClassFile, ElementValue, ReadError, read_annotations,
};
use fewest_model::ClassName;
use fewest_select::verdict::{RunReason, Verdict};
use fewest_snapshot::Snapshot;

use crate::tests_of_task::Judged;

const DEPENDS: &str = "TestNG tests that run depend on other classes";
const SHARED: &str = "it holds a TestNG set-up for all tests";

/// Lets run what those that run need. Where tests are left out inside of the
/// JVM, the agent sees to this itself, and set-ups happen all the same.
pub(crate) fn add_needed(judged: &mut [Judged], request: &TaskRequest, snapshot: &Snapshot) {
    let runs = judged.iter().filter(|test| test.verdict.is_run()).count();
    if runs > 0 && runs < judged.len() {
        add_by_ties(judged, &ties_of(request, snapshot));
    }
}

/// Whether tests of a task are tied to each other, so that none of those that
/// should run can be left out.
pub(crate) fn are_tied(request: &TaskRequest, snapshot: &Snapshot) -> bool {
    let ties = ties_of(request, snapshot);
    ties.values()
        .any(|ties| ties.depends || !ties.shared.is_empty())
}

/// The ties of each outermost class, none where TestNG is not there.
fn ties_of(request: &TaskRequest, snapshot: &Snapshot) -> BTreeMap<ClassName, Ties> {
    let mut ties: BTreeMap<ClassName, Ties> = BTreeMap::new();
    let annotation = ClassName::new("org/testng/annotations/Test");
    if request.task == "exec" || snapshot.class(&annotation).is_none() {
        return ties;
    }
    for class in request.test_classes.iter().flatten() {
        let of_class = Ties::of(class, snapshot);
        ties.entry(class.outermost()).or_default().add(of_class);
    }
    ties
}

fn add_by_ties(judged: &mut [Judged], ties: &BTreeMap<ClassName, Ties>) {
    let mut have = BTreeSet::new();
    for test in judged.iter().filter(|test| test.verdict.is_run()) {
        have.extend(ties.get(&test.class).iter().flat_map(|ties| &ties.shared));
    }
    for test in judged.iter_mut().filter(|test| !test.verdict.is_run()) {
        // One class brings a set-up that it shares with others by inheritance.
        let shared = ties.get(&test.class).map(|ties| &ties.shared);
        if shared.is_some_and(|shared| shared.iter().any(|class| !have.contains(class))) {
            have.extend(shared.into_iter().flatten());
            run(test, SHARED);
        }
    }
    let depends = |test: &Judged| ties.get(&test.class).is_some_and(|ties| ties.depends);
    if judged
        .iter()
        .any(|test| test.verdict.is_run() && depends(test))
    {
        let left = judged.iter_mut().filter(|test| !test.verdict.is_run());
        left.for_each(|test| run(test, DEPENDS));
    }
}

fn run(test: &mut Judged, why: &str) {
    test.verdict = Verdict::Run(RunReason::Needed { why: why.into() });
    for method in &mut test.methods {
        method.verdict = test.verdict.clone();
    }
}

/// What ties a test class to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ties {
    /// Whether it depends on groups, or on methods of other classes. Doubt
    /// counts as yes.
    depends: bool,
    /// The class and its superclasses, as far as they hold a set-up or a
    /// listener for all tests.
    shared: BTreeSet<ClassName>,
}

impl Ties {
    fn of(class: &ClassName, snapshot: &Snapshot) -> Self {
        let mut ties = Self::default();
        let mut dependencies = Vec::new();
        let mut family = BTreeSet::new();
        let mut next = Some(class.clone());
        while let Some(name) = next {
            // Superclasses that are not on the class path are the JDK's.
            let Some(view) = snapshot.class(&name) else {
                break;
            };
            let read = snapshot.class_bytes(&name).ok();
            let facts = read.and_then(|bytes| Facts::read(&bytes).ok());
            let facts = facts.unwrap_or_else(Facts::unknown);
            ties.depends |= facts.depends_on_groups;
            dependencies.extend(facts.depends_on_methods);
            if facts.is_shared {
                ties.shared.insert(name.clone());
            }
            next = view.super_name();
            // A class that cannot be read has no superclass, and a circle ends.
            if !family.insert(name.dotted()) {
                break;
            }
        }
        // A name without a class is one of the class's own.
        let is_foreign = |method: &String| {
            let class = method.rsplit_once('.').map(|(class, _)| class);
            class.is_some_and(|class| !family.contains(class))
        };
        ties.depends |= dependencies.iter().any(is_foreign);
        ties
    }

    fn add(&mut self, other: Self) {
        self.depends |= other.depends;
        self.shared.extend(other.shared);
    }
}

/// What the annotations in one class file say.
#[derive(Default)]
struct Facts {
    depends_on_groups: bool,
    depends_on_methods: Vec<String>,
    is_shared: bool,
}

impl Facts {
    fn unknown() -> Self {
        Self {
            depends_on_groups: true,
            is_shared: true,
            ..Self::default()
        }
    }

    fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let class = ClassFile::read(bytes)?;
        let mut facts = Self::default();
        facts.add_attributes(&class, class.attributes())?;
        for method in class.methods() {
            facts.add_attributes(&class, class.attributes_of(method))?;
        }
        Ok(facts)
    }

    fn add_attributes(
        &mut self,
        class: &ClassFile<'_>,
        attributes: &[Attribute<'_>],
    ) -> Result<(), ReadError> {
        for attribute in attributes {
            if attribute.kind == AttributeKind::RuntimeVisibleAnnotations {
                for annotation in read_annotations(&mut attribute.cursor())? {
                    self.add_annotation(class, &annotation)?;
                }
            }
        }
        Ok(())
    }

    fn add_annotation(
        &mut self,
        class: &ClassFile<'_>,
        annotation: &Annotation,
    ) -> Result<(), ReadError> {
        let from = annotation.offset;
        let descriptor = class.pool.text(annotation.type_descriptor, from)?;
        let name = descriptor
            .strip_prefix("Lorg/testng/annotations/")
            .and_then(|name| name.strip_suffix(';'));
        let Some(name) = name else {
            return Ok(());
        };
        self.is_shared |= matches!(
            name,
            "BeforeSuite"
                | "AfterSuite"
                | "BeforeTest"
                | "AfterTest"
                | "BeforeGroups"
                | "AfterGroups"
                | "Listeners"
                | "ObjectFactory"
        );
        for (element, value) in &annotation.elements {
            let ElementValue::Array(values) = value else {
                continue;
            };
            match &*class.pool.text(*element, from)? {
                "dependsOnGroups" => self.depends_on_groups |= !values.is_empty(),
                "dependsOnMethods" => {
                    for value in values {
                        if let ElementValue::Constant { index, .. } = value {
                            let name = class.pool.text(*index, from)?;
                            self.depends_on_methods.push(name.into_owned());
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(class: &str, runs: bool) -> Judged {
        Judged {
            methods: Vec::new(),
            whole: None,
            class: class.into(),
            verdict: if runs {
                Verdict::Run(RunReason::Listed)
            } else {
                Verdict::Skip { record: 0 }
            },
            millis: None,
            facts: crate::tests_of_task::OrderFacts::default(),
        }
    }

    /// The tests that run in the end. Tests are given by name with what ties
    /// them; those in capitals run anyway.
    fn running(tests: &[(&str, bool, &[&str])]) -> String {
        let mut all: Vec<Judged> = tests
            .iter()
            .map(|(name, ..)| judged(name, *name == name.to_uppercase()))
            .collect();
        let ties = tests.iter().map(|(name, depends, shared)| {
            let shared = shared.iter().map(|&class| class.into()).collect();
            let depends = *depends;
            (ClassName::new(*name), Ties { depends, shared })
        });
        add_by_ties(&mut all, &ties.collect());
        let run = all.iter().filter(|test| test.verdict.is_run());
        run.map(|test| test.class.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_class_that_depends_on_others_runs_with_all_of_them() {
        assert_eq!(running(&[("A", true, &[]), ("b", false, &[])]), "A b");
        assert_eq!(running(&[("A", false, &[]), ("b", true, &[])]), "A");
    }

    #[test]
    fn a_set_up_for_all_comes_with_one_class_that_holds_it() {
        let alone = [
            ("A", false, &[][..]),
            ("b", false, &["Base"]),
            ("c", false, &["Base"]),
        ];
        assert_eq!(running(&alone), "A b");
        let inherited = [("A", false, &["Base"][..]), ("b", false, &["Base"])];
        assert_eq!(running(&inherited), "A");
    }

    #[test]
    fn a_class_that_comes_along_brings_what_it_needs() {
        let chain = [
            ("A", false, &[][..]),
            ("b", true, &["Setup"]),
            ("c", false, &[]),
        ];
        assert_eq!(running(&chain), "A b c");
    }

    #[test]
    fn a_class_that_cannot_be_read_is_tied_to_all() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("A.class"), "no class").unwrap();
        let settings = fewest_snapshot::Settings::new(folder.path(), 8);
        let snapshot = Snapshot::take(&[folder.path().to_owned()], settings);
        let ties = Ties::of(&"A".into(), &snapshot);
        assert!(ties.depends && ties.shared.contains(&ClassName::new("A")));
    }
}
