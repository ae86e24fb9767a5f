//! What classes and methods name.

use std::collections::BTreeMap;
use std::fmt::Write;

use fewest_classfile::read::ClassFile;
use fewest_classfile::references::{MethodReferences, Outline, References, references};
use fewest_model::ClassName;

use crate::fixture::{Files, Program, compile};

const SOURCE: &str = r#"
import java.lang.annotation.*;
import java.util.*;
import java.util.function.*;

@Retention(RetentionPolicy.RUNTIME) @interface Seen { Class<?> value() default Object.class; }
@interface Unseen {}
class Base { static int counter; static void reset() {} int size; void grow() {} }
interface Shrinks { default void shrink() {} }
class Derived extends Base implements Shrinks {}
class Given {} class Taken {} class Made {} class Thrown extends RuntimeException {} class Told {}

@Seen(Told.class)
class A extends Derived implements Comparable<Given> {
    @Unseen List<Taken> field;
    public int compareTo(Given other) { return 0; }
    void statics() { counter = counter + 1; Derived.reset(); Derived.counter = 2; }
    Object creates() { return new Made[3][]; }
    boolean asks(Object o) { return o instanceof Given[] || (Taken) o == null; }
    Class<?> literal() { return Made[].class; }
    void catches() { try { grow(); } catch (Thrown e) { shrink(); } }
    Function<Given, Taken> lambda() { return given -> null; }
    Supplier<Made> reference() { return Made::new; }
    Given describes(Given given) { return describes(null); }
    Class<?> byName() throws Exception { return Class.forName("p.Hidden"); }
    Class<?> byNameWithLoader() throws Exception {
        return Class.forName("[Lp.Hidden$Inner;", false, A.class.getClassLoader());
    }
    Class<?> byLoader(ClassLoader loader) throws Exception { return loader.loadClass("q.Hidden"); }
    Class<?> notByConstant(String s) throws Exception { "p.NotLoaded".length(); if (s == null) s = "x"; return Class.forName(s); }
}
"#;

fn fixture() -> Files {
    let options = &["--release", "17"];
    let mut compiled = compile(&[Program {
        source: SOURCE,
        options,
    }]);
    compiled.remove(0)
}

fn references_of_a() -> References {
    let files = fixture();
    references(&ClassFile::read(&files["A.class"]).unwrap()).unwrap()
}

fn method<'a>(references: &'a References, name: &str) -> &'a MethodReferences {
    let found = references
        .methods
        .iter()
        .find(|(key, _)| &*key.name == name);
    &found.expect("a method of that name").1
}

fn names<'a>(names: impl IntoIterator<Item = &'a ClassName>) -> String {
    let names: Vec<_> = names.into_iter().map(ClassName::as_str).collect();
    names.join(" ")
}

#[test]
fn instructions_name_classes() {
    let references = references_of_a();
    let classes = |name| names(&method(&references, name).classes);
    assert_eq!(classes("creates"), "Made");
    assert_eq!(classes("asks"), "Given Taken");
    assert_eq!(classes("literal"), "Made");
    assert_eq!(classes("catches"), "A Thrown");
    assert_eq!(classes("describes"), "A");
    assert_eq!(
        classes("reference"),
        "Made java/lang/invoke/LambdaMetafactory"
    );
}

#[test]
fn descriptors_are_kept_apart() {
    let references = references_of_a();
    let described = |name| names(&method(&references, name).described);
    assert_eq!(described("describes"), "Given");
    assert!(described("lambda").contains("Given"));
    assert!(described("lambda").contains("Taken"));
}

#[test]
fn static_fields_are_read_and_written() {
    let references = references_of_a();
    let statics = method(&references, "statics");
    let owners = |uses: Vec<_>| {
        let uses = uses.into_iter();
        let uses = uses.map(|member: &fewest_classfile::references::MemberUse| {
            format!("{}.{}", member.owner, member.member.name)
        });
        uses.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(owners(statics.static_reads().collect()), "A.counter");
    assert_eq!(
        owners(statics.static_writes().collect()),
        "A.counter Derived.counter"
    );
}

#[test]
fn members_are_declared_where_the_jvm_finds_them() {
    let files = fixture();
    let outlines: BTreeMap<ClassName, Outline> = files
        .values()
        .map(|bytes| {
            let class = ClassFile::read(bytes).unwrap();
            (class.name(), Outline::of(&class).unwrap())
        })
        .collect();
    let references = references_of_a();
    // Of `Comparable` nothing is known, and interfaces come early in the
    // search for fields and late in that for methods.
    let mut found = String::new();
    for name in ["statics", "catches"] {
        for member in &method(&references, name).members {
            let resolution = member.resolve(|name| outlines.get(name));
            let _ = writeln!(
                found,
                "{:?} {}.{} in {} or {}",
                member.kind,
                member.owner,
                member.member.name,
                names(&resolution.found),
                names(&resolution.unknown)
            );
        }
    }
    let expected = "\
GetStatic A.counter in Base or java/lang/Comparable
PutStatic A.counter in Base or java/lang/Comparable
PutStatic Derived.counter in Base or 
InvokeStatic Derived.reset in Base or 
InvokeVirtual A.grow in Base or 
InvokeVirtual A.shrink in Shrinks or java/lang/Comparable
";
    assert_eq!(found, expected);
}

#[test]
fn strings_name_classes_that_are_loaded_by_name() {
    let references = references_of_a();
    let by_name = |name| names(&method(&references, name).by_name);
    assert_eq!(by_name("byName"), "p/Hidden");
    assert_eq!(by_name("byNameWithLoader"), "p/Hidden$Inner");
    assert_eq!(by_name("byLoader"), "q/Hidden");
    assert_eq!(by_name("notByConstant"), "");
}

#[test]
fn a_class_names_what_it_declares() {
    let references = references_of_a();
    assert_eq!(names(&references.class.annotations), "Seen");
    let named = &references.class.named;
    for name in [
        "Derived",
        "java/lang/Comparable",
        "Given",
        "Taken",
        "Told",
        "Seen",
        "Unseen",
    ] {
        assert!(named.contains(&ClassName::new(name)), "{name}");
    }
    for name in ["A", "Thrown"] {
        assert!(!named.contains(&ClassName::new(name)), "{name}");
    }
}

/// Table I of the FEST paper: how code can depend on a class `E2`, by relation.
const RELATIONS: [(&str, &str); 11] = [
    ("generalization", "class E1 extends E2 {}"),
    ("realization", "class E1 implements E2.I {}"),
    ("dependency, argument", "class E1 { void m(E2 e) {} }"),
    (
        "dependency, name",
        "class E1 { Class<?> m() throws Exception { return Class.forName(\"E2\"); } }",
    ),
    (
        "dependency, cast",
        "class E1 { boolean m(Object o) { return (E2) o == null; } }",
    ),
    (
        "dependency, instance",
        "class E1 { int m() { return new E2().value(); } }",
    ),
    ("association, member", "class E1 { E2 e; }"),
    (
        "association, call",
        "class E1 extends Holder { int m() { return e.value(); } }",
    ),
    (
        "association, initializer",
        "class E1 { int f = E2.constant(); }",
    ),
    ("aggregation", "class E1 { E1(E2 e) {} }"),
    (
        "composition",
        "class E1 { private final E2 part = new E2(); }",
    ),
];

#[test]
fn each_relation_of_uml_names_the_other_class() {
    let shared = "class E2 { interface I {} int value() { return 1; } \
                  static int constant() { return 2; } } class Holder { E2 e; }";
    let sources = RELATIONS.map(|(_, code)| format!("{shared} {code}"));
    let programs: Vec<Program<'_>> = sources
        .iter()
        .map(|source| Program {
            source,
            options: &["--release", "17"],
        })
        .collect();
    for ((relation, _), files) in RELATIONS.iter().zip(compile(&programs)) {
        let class = ClassFile::read(&files["E1.class"]).unwrap();
        let found = references(&class).unwrap();
        let named = found.classes();
        assert!(
            named.iter().any(|name| name.outermost().as_str() == "E2"),
            "{relation}: {}",
            names(named)
        );
        let other = ClassFile::read(&files["E2.class"]).unwrap();
        let back = references(&other).unwrap();
        assert!(
            !back.classes().contains(&ClassName::new("E1")),
            "{relation} has a direction"
        );
    }
}
