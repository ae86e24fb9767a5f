//! What keeps a class whole, told from its outline and those of its nested classes.

use std::collections::{BTreeMap, BTreeSet};

use fewest_model::{ClassName, MethodKey};

use super::annotations::{check_annotation, is_of_framework};
use super::outline::{Field, Outline, TEST_CASE, enclosing};
use super::{
    CALLS, FRAMEWORKS, INSTANCE, NESTED, OVERRIDES, PARAMETERS, REFLECTION, RUNNER, STATIC, SUITE,
    UNKNOWN,
};
use crate::class_facts::may_change;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    JUnit3,
    JUnit4,
    Jupiter,
    TestNg,
}

/// Which framework runs a class.
pub(super) fn framework(parts: &[Vec<Outline>]) -> Result<Framework, String> {
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
pub(super) fn check_nested(
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
pub(super) fn check_code(
    parts: &[Vec<Outline>],
    nested: &[Outline],
    junit3: bool,
) -> Result<(), String> {
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

pub(super) fn check_junit3(chain: &[Outline]) -> Result<(), String> {
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
pub(super) fn check_testng(chain: &[Outline]) -> Result<(), String> {
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

pub(super) fn check_overrides(chain: &[Outline], junit3: bool) -> Result<(), String> {
    let mut known: BTreeMap<&MethodKey, bool> = BTreeMap::new();
    for method in chain.iter().flat_map(|outline| &outline.methods) {
        let is_test = method.is_test(junit3);
        if method.is_virtual() && *known.entry(&method.key).or_insert(is_test) != is_test {
            return Err(OVERRIDES.into());
        }
    }
    Ok(())
}
