//! Whether the methods of a test class can be told apart, and which they are.
//!
//! Told from class files alone. Only what is known to be safe is told apart:
//! whatever changes how a framework runs a class, or lets one test reach into
//! another, keeps the class whole. `docs/design/entities.md` lists the reasons.

mod annotations;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fewest_build::TaskRequest;
use fewest_classfile::annotations::{self as known, Annotation, AnnotationValue};
use fewest_classfile::read::{ClassFile, Member, ReadError, access};
use fewest_classfile::references::{MethodReferences, method_references};
use fewest_model::{ClassName, Fingerprint, MethodKey, TestId};
use fewest_select::method_uses::{Declared, DeclaredMethods};
use fewest_snapshot::Snapshot;

use self::annotations::{check_annotation, is_of_framework};
use crate::class_facts::may_change;

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

const TEST_CASE: &str = "junit/framework/TestCase";
const JUPITER_NESTED: &str = "org/junit/jupiter/api/Nested";

/// Looks at the test classes of one task.
pub(crate) struct TestClasses<'a> {
    snapshot: &'a Snapshot,
    request: &'a TaskRequest,
    command: &'a str,
    surroundings: OnceCell<Surroundings>,
}

/// What is not told by a test class itself. Most runs never ask.
struct Surroundings {
    /// The classes within an outermost one.
    nested: BTreeMap<ClassName, Vec<ClassName>>,
    /// Whether JUnit 5 is told to do something in another way.
    jupiter_settings: bool,
    /// The same of the order of nested classes.
    jupiter_class_order: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Framework {
    JUnit3,
    JUnit4,
    Jupiter,
    TestNg,
}

/// A class as far as it matters here.
struct Outline {
    name: ClassName,
    super_name: Option<ClassName>,
    interfaces: Vec<ClassName>,
    annotations: Vec<Annotation>,
    fields: Vec<Field>,
    methods: Vec<Method>,
}

impl Outline {
    fn is_nested_test(&self) -> bool {
        let mut classes = self.annotations.iter().map(|a| a.class.as_str());
        classes.any(|class| class == JUPITER_NESTED)
    }

    /// Whether each object of it belongs to one of another class.
    fn is_inner_of(&self, outer: &ClassName) -> bool {
        let of_outer = format!("(L{outer};");
        let constructors = || self.methods.iter().filter(|m| m.key.is_constructor());
        constructors().count() > 0
            && constructors().all(|method| method.key.descriptor.starts_with(&of_outer))
    }
}

struct Field {
    is_static: bool,
    is_final: bool,
    descriptor: String,
    annotations: Vec<Annotation>,
}

struct Method {
    key: MethodKey,
    member: Member,
    annotations: Vec<Annotation>,
    references: MethodReferences,
}

impl Method {
    fn is_test(&self, junit3: bool) -> bool {
        known::is_test(&self.member, &self.key, &self.annotations, junit3)
    }

    /// Whether it can override or be overridden.
    fn is_virtual(&self) -> bool {
        !self.member.is_static() && !self.member.is_private() && !self.key.name.starts_with('<')
    }

    fn is_annotated(&self, names: &[&str]) -> bool {
        let mut classes = self.annotations.iter().map(|a| a.class.as_str());
        classes.any(|class| names.contains(&class))
    }
}

impl Surroundings {
    fn of(snapshot: &Snapshot, request: &TaskRequest, command: &str) -> Self {
        let mut nested: BTreeMap<ClassName, Vec<ClassName>> = BTreeMap::new();
        for class in snapshot.classes() {
            let name = class.name();
            if name.as_str().contains('$') {
                nested
                    .entry(name.outermost())
                    .or_default()
                    .push(name.clone());
            }
        }
        Self {
            nested,
            jupiter_settings: jupiter_is_told(&HOW_METHODS_RUN, snapshot, request, command),
            jupiter_class_order: jupiter_is_told(&[CLASS_ORDER], snapshot, request, command),
        }
    }
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
        let unreadable = || UNREADABLE.to_owned();
        let bytes = self.snapshot.class_bytes(class).map_err(|_| unreadable())?;
        let read = || -> Result<Outline, ReadError> {
            let file = ClassFile::read(&bytes)?;
            let mut fields = Vec::new();
            for field in file.fields() {
                fields.push(Field {
                    is_static: field.is_static(),
                    is_final: field.access & access::FINAL != 0,
                    descriptor: file
                        .pool
                        .text(field.descriptor, field.offset + 4)?
                        .into_owned(),
                    annotations: known::of_member(&file, field)?,
                });
            }
            let mut methods = Vec::new();
            for method in file.methods() {
                methods.push(Method {
                    key: file.method_key(method)?,
                    member: method.clone(),
                    annotations: known::of_member(&file, method)?,
                    references: method_references(&file, method)?,
                });
            }
            Ok(Outline {
                name: file.name(),
                super_name: file.super_name(),
                interfaces: file.interface_names()?,
                annotations: known::of_class(&file)?,
                fields,
                methods,
            })
        };
        read().map_err(|_| unreadable())
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

/// The class that another one is nested in, by its name.
fn enclosing(class: &ClassName) -> Option<ClassName> {
    let (outer, _) = class.as_str().rsplit_once('$')?;
    Some(outer.into())
}

fn is_foreign(class: &ClassName) -> bool {
    let name = class.as_str();
    name == TEST_CASE
        || ["java/", "jdk/", "kotlin/"]
            .iter()
            .any(|p| name.starts_with(p))
}

/// Which framework runs a class.
fn framework(parts: &[Vec<Outline>]) -> Result<Framework, String> {
    let outlines = || parts.iter().flatten();
    let mut annotations = outlines().flat_map(|outline| &outline.annotations);
    if annotations.any(|a| a.class.as_str() == "org/testng/annotations/Test") {
        return Err("all of its public methods are tests".into());
    }
    let top = parts.first().and_then(|chain| chain.last());
    if top
        .and_then(|top| top.super_name.as_ref())
        .is_some_and(|n| n.as_str() == TEST_CASE)
    {
        return Ok(Framework::JUnit3);
    }
    let has = |name: &str| {
        let mut methods = outlines().flat_map(|outline| &outline.methods);
        methods.any(|method| method.is_annotated(&[name]))
    };
    let found = [
        (has("org/junit/Test"), Framework::JUnit4),
        (has("org/junit/jupiter/api/Test"), Framework::Jupiter),
        (has("org/testng/annotations/Test"), Framework::TestNg),
    ];
    let mut found = found
        .into_iter()
        .filter(|(has, _)| *has)
        .map(|(_, framework)| framework);
    match (found.next(), found.next()) {
        (Some(framework), None) => Ok(framework),
        (Some(_), Some(_)) => Err(FRAMEWORKS.into()),
        (None, _) => {
            // A class whose tests are all of a special kind has a better reason.
            let mut methods = outlines().flat_map(|outline| &outline.methods);
            methods.try_for_each(|m| m.annotations.iter().try_for_each(check_annotation))?;
            outlines()
                .flat_map(|o| &o.annotations)
                .try_for_each(check_annotation)?;
            Err(UNKNOWN.into())
        }
    }
}

/// Nested classes have tests only as JUnit 5 has them: each object within one of
/// the class around it, which has tests itself or holds others that have.
fn check_nested(
    parts: &[Vec<Outline>],
    nested: &[Outline],
    framework: Framework,
) -> Result<(), String> {
    let holders: BTreeSet<&ClassName> = parts.iter().map(|chain| &chain[0].name).collect();
    for outline in nested {
        let is_part = framework == Framework::Jupiter
            && outline.is_nested_test()
            && enclosing(&outline.name)
                .is_some_and(|outer| holders.contains(&outer) && outline.is_inner_of(&outer));
        let methods = outline
            .methods
            .iter()
            .flat_map(|method| &method.annotations);
        let mut all = outline.annotations.iter().chain(methods);
        let is_test_case = outline
            .super_name
            .as_ref()
            .is_some_and(|n| n.as_str() == TEST_CASE);
        if !is_part && (is_test_case || all.any(|annotation| is_of_framework(&annotation.class))) {
            return Err(NESTED.into());
        }
    }
    Ok(())
}

/// What the code of a test class does to its own tests.
fn check_code(parts: &[Vec<Outline>], nested: &[Outline], junit3: bool) -> Result<(), String> {
    const LOOKS: [&str; 5] = [
        "getMethod",
        "getMethods",
        "getDeclaredMethod",
        "getDeclaredMethods",
        "getEnclosingMethod",
    ];
    const ONCE: [&str; 6] = [
        "org/junit/BeforeClass",
        "org/junit/AfterClass",
        "org/junit/jupiter/api/BeforeAll",
        "org/junit/jupiter/api/AfterAll",
        "org/testng/annotations/BeforeClass",
        "org/testng/annotations/AfterClass",
    ];
    let outlines = || parts.iter().flatten().chain(nested);
    let own: BTreeSet<&ClassName> = outlines().map(|o| &o.name).collect();
    let methods = || outlines().flat_map(|outline| &outline.methods);
    let tests: BTreeSet<&MethodKey> = methods()
        .filter(|method| method.is_test(junit3))
        .map(|method| &method.key)
        .collect();
    for method in methods() {
        let once = &*method.key.name == "<clinit>" || method.is_annotated(&ONCE);
        let references = &method.references;
        if !once
            && references
                .static_writes()
                .any(|write| own.contains(&write.owner))
        {
            return Err(STATIC.into());
        }
        for member in &references.members {
            if member.kind.is_field() {
                continue;
            }
            if own.contains(&member.owner) && tests.contains(&member.member) {
                return Err(CALLS.into());
            }
            if member.owner.as_str() == "java/lang/Class" && LOOKS.contains(&&*member.member.name) {
                return Err(REFLECTION.into());
            }
        }
    }
    Ok(())
}

fn check_junit3(chain: &[Outline]) -> Result<(), String> {
    const RUNNING: [&str; 7] = [
        "run",
        "runBare",
        "runTest",
        "createResult",
        "getName",
        "setName",
        "countTestCases",
    ];
    for method in chain.iter().flat_map(|outline| &outline.methods) {
        if &*method.key.name == "suite" && method.member.is_static() {
            return Err(SUITE.into());
        }
        if RUNNING.contains(&&*method.key.name) && method.is_virtual() {
            return Err(RUNNER.into());
        }
    }
    Ok(())
}

/// TestNG makes one instance of a class for all of its methods.
fn check_testng(chain: &[Outline]) -> Result<(), String> {
    for outline in chain {
        let shared =
            |field: &Field| !field.is_static && (!field.is_final || may_change(&field.descriptor));
        if outline.fields.iter().any(shared) {
            return Err(INSTANCE.into());
        }
        for method in &outline.methods {
            if method.is_test(false) && !method.key.descriptor.starts_with("()") {
                return Err(PARAMETERS.into());
            }
        }
    }
    Ok(())
}

fn check_overrides(chain: &[Outline], junit3: bool) -> Result<(), String> {
    let mut known: BTreeMap<&MethodKey, bool> = BTreeMap::new();
    for method in chain.iter().flat_map(|outline| &outline.methods) {
        let is_test = method.is_test(junit3);
        if method.is_virtual() && *known.entry(&method.key).or_insert(is_test) != is_test {
            return Err(OVERRIDES.into());
        }
    }
    Ok(())
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

/// Settings of JUnit 5 that change how the methods of a class run.
const HOW_METHODS_RUN: [&str; 3] = [
    "testinstance.lifecycle",
    "testmethod.order",
    "extensions.autodetection",
];
const CLASS_ORDER: &str = "testclass.order";

/// Whether somebody makes such a setting.
fn jupiter_is_told(
    keys: &[&str],
    snapshot: &Snapshot,
    request: &TaskRequest,
    command: &str,
) -> bool {
    const FILE: &str = "junit-platform.properties";
    let tells = |text: &str| keys.iter().any(|key| text.contains(key));
    let properties = request.system_properties.iter();
    let settings = request.settings.iter();
    if tells(command)
        || request.jvm_args.iter().any(|arg| tells(arg))
        || properties
            .chain(settings)
            .any(|(name, value)| tells(name) || tells(value))
    {
        return true;
    }
    if snapshot.resource(FILE) == Fingerprint::ABSENT {
        return false;
    }
    let texts: Vec<String> = snapshot
        .entries()
        .map(|entry: &Path| entry.join(FILE))
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    // Within a jar it is not looked for.
    texts.is_empty() || texts.iter().any(|text| tells(text))
}
