//! Whether the methods of a test class can be told apart, and which they are.
//!
//! Told from class files alone. Only what is known to be safe is told apart:
//! whatever changes how a framework runs a class, or lets one test reach into
//! another, keeps the class whole. `docs/design/entities.md` lists the reasons.

mod annotations;
mod checks;
mod outline;
mod surroundings;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use fewest_build::TaskRequest;
use fewest_classfile::annotations::AnnotationValue;
use fewest_model::{ClassName, TestId};
use fewest_select::method_uses::{Declared, DeclaredMethods};
use fewest_snapshot::Snapshot;

use self::annotations::{check_annotation, is_of_framework};
use self::checks::{
    Framework, check_code, check_junit3, check_nested, check_overrides, check_testng, framework,
};
use self::outline::{Method, Outline, enclosing, is_foreign};
use self::surroundings::Surroundings;

/// The methods of a test class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TestMethods {
    /// By name, with the place where each is declared.
    Apart(DeclaredMethods),
    /// Why they cannot be told apart.
    Whole(String),
}

const RUNNER: &str = "a runner or an extension of its own runs it";
const PARAMETERS: &str = "its tests are parameterised, repeated or made while they run";
const ORDER: &str = "its methods run in an order of their own";
const INSTANCE: &str = "its methods share one instance";
const NESTED: &str = "it has nested test classes that cannot be told apart";
const UNKNOWN: &str = "it has no tests that can be told by its class file";
const UNREADABLE: &str = "its class file cannot be read";
const STATIC: &str = "its methods write a static field of it";
const CALLS: &str = "its tests are called by other code of it";
const NAMES: &str = "two of its tests have one name";
const OVERRIDES: &str = "a test overrides what is no test, or the other way round";
const REFLECTION: &str = "it looks at methods by reflection";
const SUITE: &str = "it makes its suite itself";
const SETTINGS: &str = "settings of JUnit change how its methods run";
const FRAMEWORKS: &str = "its tests are of several frameworks";

/// Looks at the test classes of one task.
pub(crate) struct TestClasses<'a> {
    snapshot: &'a Snapshot,
    request: &'a TaskRequest,
    command: &'a str,
    surroundings: OnceCell<Surroundings>,
}

impl<'a> TestClasses<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, request: &'a TaskRequest, command: &'a str) -> Self {
        Self {
            snapshot,
            request,
            command,
            surroundings: OnceCell::new(),
        }
    }

    fn surroundings(&self) -> &Surroundings {
        self.surroundings
            .get_or_init(|| Surroundings::of(self.snapshot, self.request, self.command))
    }

    /// The methods of a test class, if they can be told apart.
    pub(crate) fn methods(&self, class: &ClassName) -> TestMethods {
        match self.tell_apart(class) {
            Ok(methods) => TestMethods::Apart(methods),
            Err(why) => TestMethods::Whole(why),
        }
    }

    fn tell_apart(&self, class: &ClassName) -> Result<DeclaredMethods, String> {
        let nested = self.nested_in(class, |_| true)?;
        let mut parts = vec![self.chain(class)?];
        for outline in nested.iter().filter(|outline| outline.is_nested_test()) {
            parts.push(self.chain(&outline.name)?);
        }
        let framework = framework(&parts)?;
        let junit3 = framework == Framework::JUnit3;
        if framework == Framework::Jupiter
            && (self.surroundings().jupiter_settings
                || (parts.len() > 1 && self.surroundings().jupiter_class_order))
        {
            return Err(SETTINGS.into());
        }
        check_nested(&parts, &nested, framework)?;
        for chain in &parts {
            for outline in chain {
                self.check_annotations(outline)?;
            }
            self.check_inherited_classes(chain)?;
            self.check_interfaces(chain)?;
            check_overrides(chain, junit3)?;
        }
        check_code(&parts, &nested, junit3)?;
        match framework {
            Framework::JUnit3 => check_junit3(&parts[0])?,
            Framework::TestNg => check_testng(&parts[0])?,
            Framework::JUnit4 | Framework::Jupiter => {}
        }
        tests(class, &parts, framework)
    }

    /// The classes within an outermost one.
    fn nested_in(
        &self,
        outermost: &ClassName,
        is_meant: impl Fn(&ClassName) -> bool,
    ) -> Result<Vec<Outline>, String> {
        let names = self
            .surroundings()
            .nested
            .get(outermost)
            .into_iter()
            .flatten();
        names
            .filter(|name| is_meant(name))
            .map(|name| self.outline(name))
            .collect()
    }

    /// JUnit 5 runs nested classes that a superclass has, too.
    fn check_inherited_classes(&self, chain: &[Outline]) -> Result<(), String> {
        for above in chain.iter().skip(1) {
            let is_own = |name: &ClassName| enclosing(name).as_ref() == Some(&above.name);
            let own = self.nested_in(&above.name.outermost(), is_own)?;
            if own.iter().any(Outline::is_nested_test) {
                return Err(NESTED.into());
            }
        }
        Ok(())
    }

    /// A class and its superclasses, as far as they are not a framework's or
    /// the JDK's.
    fn chain(&self, class: &ClassName) -> Result<Vec<Outline>, String> {
        let mut chain = vec![self.outline(class)?];
        while let Some(above) = chain.last().and_then(|outline| outline.super_name.clone()) {
            if is_foreign(&above) {
                break;
            }
            if chain.iter().any(|known| known.name == above) {
                return Err(UNREADABLE.into());
            }
            chain.push(self.outline(&above)?);
        }
        Ok(chain)
    }

    fn outline(&self, class: &ClassName) -> Result<Outline, String> {
        let bytes = self.snapshot.class_bytes(class).ok();
        let outline = bytes.and_then(|bytes| Outline::read(&bytes).ok());
        outline.ok_or_else(|| UNREADABLE.to_owned())
    }

    fn check_annotations(&self, outline: &Outline) -> Result<(), String> {
        let fields = outline.fields.iter().flat_map(|field| &field.annotations);
        let methods = outline
            .methods
            .iter()
            .flat_map(|method| &method.annotations);
        for annotation in outline.annotations.iter().chain(fields).chain(methods) {
            check_annotation(annotation)?;
            if !is_of_framework(&annotation.class) {
                self.check_meta_annotations(&annotation.class)?;
            }
        }
        Ok(())
    }

    /// Annotations of one's own may carry those of a framework.
    fn check_meta_annotations(&self, annotation: &ClassName) -> Result<(), String> {
        let mut known = BTreeSet::from([annotation.clone()]);
        let mut pending = vec![annotation.clone()];
        while let Some(class) = pending.pop() {
            // One that is not there has no effect.
            if is_foreign(&class) || self.snapshot.class(&class).is_none() {
                continue;
            }
            for above in self.outline(&class)?.annotations {
                if is_of_framework(&above.class) {
                    check_annotation(&above)?;
                    return Err(format!(
                        "its annotation @{} is one of a framework",
                        class.simple()
                    ));
                }
                if known.insert(above.class.clone()) {
                    pending.push(above.class);
                }
            }
        }
        Ok(())
    }

    fn check_interfaces(&self, chain: &[Outline]) -> Result<(), String> {
        let mut known = BTreeSet::new();
        let mut pending: Vec<ClassName> = chain
            .iter()
            .flat_map(|outline| outline.interfaces.clone())
            .collect();
        while let Some(interface) = pending.pop() {
            if is_foreign(&interface) || !known.insert(interface.clone()) {
                continue;
            }
            let outline = self.outline(&interface)?;
            let methods = outline
                .methods
                .iter()
                .flat_map(|method| &method.annotations);
            let mut all = outline.annotations.iter().chain(methods);
            if all.any(|annotation| is_of_framework(&annotation.class)) {
                return Err("it inherits tests or set-up from an interface".into());
            }
            pending.extend(outline.interfaces);
        }
        Ok(())
    }
}

fn tests(
    class: &ClassName,
    parts: &[Vec<Outline>],
    framework: Framework,
) -> Result<DeclaredMethods, String> {
    let mut tests = DeclaredMethods::new();
    for chain in parts {
        let test = &chain[0].name;
        for outline in chain {
            for method in &outline.methods {
                if !method.is_test(framework == Framework::JUnit3) || is_off(method) {
                    continue;
                }
                let declared = Declared {
                    test: test.clone(),
                    class: outline.name.clone(),
                    key: method.key.clone(),
                };
                let name = TestId::method_in(class, test, &method.key.name).ok_or(NESTED)?;
                let first = tests.entry(name.into()).or_insert(declared);
                if first.key != method.key {
                    return Err(NAMES.into());
                }
            }
        }
    }
    if tests.is_empty() {
        return Err(UNKNOWN.into());
    }
    Ok(tests)
}

/// TestNG passes over such a test in silence.
fn is_off(method: &Method) -> bool {
    method
        .annotations
        .iter()
        .any(|annotation| annotation.value("enabled") == Some(&AnnotationValue::Boolean(false)))
}
