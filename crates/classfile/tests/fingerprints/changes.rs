//! Edits and the changes that they are, case by case.
//!
//! A case's text is the whole difference between two versions, as
//! `compare_sets` tells it.

use std::collections::BTreeSet;
use std::fmt::Write;

use fewest_classfile::changes::{ChangeType, compare_sets};
use fewest_classfile::fingerprint::Options;

use crate::fixture::{Program, compile, fingerprints};

struct Case {
    name: &'static str,
    before: &'static str,
    after: &'static str,
    options: &'static [&'static str],
    changes: &'static str,
}

const RELEASE: &[&str] = &["--release", "17"];

const fn case(
    name: &'static str,
    before: &'static str,
    after: &'static str,
    changes: &'static str,
) -> Case {
    Case {
        name,
        before,
        after,
        options: RELEASE,
        changes,
    }
}

const FILES: &[Case] = &[
    case(
        "a class comes",
        "class A {}",
        "class A {} class B {}",
        "AF B",
    ),
    case(
        "a class goes",
        "class A {} class B {}",
        "class A {}",
        "DF B",
    ),
];

const HEADS: &[Case] = &[
    case(
        "fields in another order, which reflection shows",
        "class A { int a; int b; }",
        "class A { int b; int a; }",
        "CH A, CF A",
    ),
    case(
        "a field of another type",
        "class A { int f; }",
        "class A { long f; }",
        "CH A, CF A",
    ),
    case(
        "the value of a constant",
        "class A { static final int F = 1; }",
        "class A { static final int F = 2; }",
        "CH A, CF A",
    ),
    case(
        "a constant that users have copied",
        "class A { static final String F = \"x\"; } class B { String m() { return A.F; } }",
        "class A { static final String F = \"y\"; } class B { String m() { return A.F; } }",
        "CH A, CF A, CF B, CIM B.m()Ljava/lang/String;",
    ),
    case(
        "an annotation on a field",
        "import java.lang.annotation.*;
         @Retention(RetentionPolicy.RUNTIME) @interface P { int value(); }
         class A { @P(1) int f; }",
        "import java.lang.annotation.*;
         @Retention(RetentionPolicy.RUNTIME) @interface P { int value(); }
         class A { @P(2) int f; }",
        "CH A, CF A",
    ),
    case(
        "an annotation on a type",
        "import java.lang.annotation.*; import java.util.*;
         @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.RUNTIME) @interface P {}
         class A { List<String> f; }",
        "import java.lang.annotation.*; import java.util.*;
         @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.RUNTIME) @interface P {}
         class A { List<@P String> f; }",
        "CH A, CF A",
    ),
    case(
        "an annotation on the class",
        "import java.lang.annotation.*;
         @Retention(RetentionPolicy.RUNTIME) @interface P { String[] value(); }
         @P({\"a\", \"b\"}) class A {}",
        "import java.lang.annotation.*;
         @Retention(RetentionPolicy.RUNTIME) @interface P { String[] value(); }
         @P({\"b\", \"a\"}) class A {}",
        "CH A, CF A",
    ),
    case(
        "a type argument of the superclass",
        "class T<X> {} class A extends T<String> {}",
        "class T<X> {} class A extends T<Integer> {}",
        "CH A, CF A",
    ),
    case(
        "a field's type argument",
        "class A { java.util.List<String> f; }",
        "class A { java.util.List<Integer> f; }",
        "CH A, CF A",
    ),
    case(
        "a marker interface",
        "interface M {} class A {}",
        "interface M {} class A implements M {}",
        "CH A, CF A",
    ),
    case(
        "interfaces in another order",
        "interface M {} interface N {} class A implements M, N {}",
        "interface M {} interface N {} class A implements N, M {}",
        "CH A, CF A",
    ),
    case(
        "a class becomes final",
        "class A {}",
        "final class A {}",
        "CH A, CF A",
    ),
    case(
        "another superclass",
        "class A { int m() { return 1; } } class B { int m() { return 2; } } class C extends A {}",
        "class A { int m() { return 1; } } class B { int m() { return 2; } } class C extends B {}",
        "CH C, CF C, CI C.<init>()V, LC C.m()I",
    ),
    case(
        "one more permitted subclass",
        "sealed interface S permits A {} record A() implements S {} record B() {}",
        "sealed interface S permits A, B {} record A() implements S {} record B() implements S {}",
        "CH B, CF B, CH S, CF S",
    ),
    case(
        "an annotation on a record's component alone",
        "import java.lang.annotation.*;
         @Target(ElementType.RECORD_COMPONENT) @Retention(RetentionPolicy.RUNTIME) @interface P {}
         record A(int f) {}",
        "import java.lang.annotation.*;
         @Target(ElementType.RECORD_COMPONENT) @Retention(RetentionPolicy.RUNTIME) @interface P {}
         record A(@P int f) {}",
        "CH A, CF A",
    ),
    case(
        "a nested class comes",
        "class A {}",
        "class A { static class B {} }",
        "CH A, CF A, AF A$B",
    ),
    case(
        "a nested class of another class is only named",
        "class A { Object m(java.util.Map<?, ?> x) { return null; } }",
        "class A { Object m(java.util.Map<?, ?> x) { return x.entrySet().iterator().next().getKey(); } }",
        "CF A, CIM A.m(Ljava/util/Map;)Ljava/lang/Object;",
    ),
];

const INITIALIZERS: &[Case] = &[
    case(
        "a static initializer comes",
        "class A { static int f; }",
        "class A { static int f = 5; }",
        "CH A, CF A, ASI A.<clinit>()V",
    ),
    case(
        "a static initializer goes",
        "class A { static int f = 5; }",
        "class A { static int f; }",
        "CH A, CF A, DSI A.<clinit>()V",
    ),
    case(
        "a static initializer changes",
        "class A { static int f = 5; }",
        "class A { static int f = 6; }",
        "CF A, CSI A.<clinit>()V",
    ),
    case(
        "a constructor comes",
        "class A { A() {} }",
        "class A { A() {} A(int i) {} }",
        "CF A, AI A.<init>(I)V",
    ),
    case(
        "a constructor goes",
        "class A { A() {} A(int i) {} }",
        "class A { A() {} }",
        "CF A, DI A.<init>(I)V",
    ),
    case(
        "the digits of a number change places in a constructor",
        "class A { int f; A() { f = 12; } }",
        "class A { int f; A() { f = 21; } }",
        "CF A, CI A.<init>()V",
    ),
    case(
        "an instance field's initializer is in every constructor",
        "class A { int f = 1; A() {} A(int i) {} }",
        "class A { int f = 2; A() {} A(int i) {} }",
        "CF A, CI A.<init>()V, CI A.<init>(I)V",
    ),
];

const METHODS: &[Case] = &[
    case(
        "a static method comes",
        "class A {}",
        "class A { static void s() {} }",
        "CF A, ASM A.s()V",
    ),
    case(
        "a static method goes",
        "class A { static void s() {} }",
        "class A {}",
        "CF A, DSM A.s()V, LC A.s()V",
    ),
    case(
        "a static method changes",
        "class A { static int s() { return 1; } }",
        "class A { static int s() { return 2; } }",
        "CF A, CSM A.s()I",
    ),
    case(
        "an instance method comes",
        "class A {}",
        "class A { void m() {} }",
        "CF A, AIM A.m()V",
    ),
    case(
        "an instance method goes",
        "class A { void m() {} }",
        "class A {}",
        "CF A, DIM A.m()V, LC A.m()V",
    ),
    case(
        "an instance method changes",
        "class A { String m() { return \"x\"; } }",
        "class A { String m() { return \"y\"; } }",
        "CF A, CIM A.m()Ljava/lang/String;",
    ),
    case(
        "a method becomes static",
        "class A { void m() {} }",
        "class A { static void m() {} }",
        "CF A, DIM A.m()V, ASM A.m()V, LC A.m()V",
    ),
    case(
        "a method becomes synchronized",
        "class A { void m() {} }",
        "class A { synchronized void m() {} }",
        "CF A, CIM A.m()V",
    ),
    case(
        "a declared exception",
        "class A { void m() {} }",
        "class A { void m() throws java.io.IOException {} }",
        "CF A, CIM A.m()V",
    ),
    case(
        "the default of an annotation",
        "@interface P { int value() default 1; }",
        "@interface P { int value() default 2; }",
        "CF P, CIM P.value()I",
    ),
    case(
        "an annotation on a parameter",
        "class A { void m(int p, int q) {} }",
        "class A { void m(@Deprecated int p, int q) {} }",
        "CF A, CIM A.m(II)V",
    ),
    case(
        "a method's type argument",
        "class A { void m(java.util.List<String> p) {} }",
        "class A { void m(java.util.List<Integer> p) {} }",
        "CF A, CIM A.m(Ljava/util/List;)V",
    ),
    Case {
        name: "a parameter's name where it is kept",
        before: "class A { void m(int p) {} }",
        after: "class A { void m(int q) {} }",
        options: &["-parameters"],
        changes: "CF A, CIM A.m(I)V",
    },
    case(
        "the text between the parts of a concatenation",
        "class A { String m(int i) { return \"a\" + i + \"b\"; } }",
        "class A { String m(int i) { return \"a\" + i + \"c\"; } }",
        "CF A, CIM A.m(I)Ljava/lang/String;",
    ),
    case(
        "the body of a lambda",
        "class A { Runnable m() { return () -> System.gc(); } }",
        "class A { Runnable m() { return () -> System.exit(1); } }",
        "CF A, CSM A.lambda$m$0()V",
    ),
    case(
        "the method that a reference names",
        "class A { Runnable m() { return System::gc; } }",
        "class A { Runnable m() { return System::runFinalization; } }",
        "CF A, CIM A.m()Ljava/lang/Runnable;",
    ),
    case(
        "the key of a switch",
        "class A { int m(int i) { switch (i) { case 1: return 1; case 500: return 2; default: return 3; } } }",
        "class A { int m(int i) { switch (i) { case 1: return 1; case 501: return 2; default: return 3; } } }",
        "CF A, CIM A.m(I)I",
    ),
    case(
        "where a switch goes",
        "class A { int m(int i) { switch (i) { case 1: case 2: return 1; case 3: return 2; } return 3; } }",
        "class A { int m(int i) { switch (i) { case 1: return 1; case 2: case 3: return 2; } return 3; } }",
        "CF A, CIM A.m(I)I",
    ),
    case(
        "what is caught",
        "class A { void m() { try { m(); } catch (IllegalStateException e) {} } }",
        "class A { void m() { try { m(); } catch (IllegalArgumentException e) {} } }",
        "CF A, CIM A.m()V",
    ),
    case(
        "where catching starts",
        "class A { void m() { m(); try { m(); m(); } catch (Error e) {} } }",
        "class A { void m() { try { m(); m(); m(); } catch (Error e) {} } }",
        "CF A, CIM A.m()V",
    ),
    case(
        "an annotation within the code",
        "import java.lang.annotation.*;
         @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.RUNTIME) @interface P {}
         class A { Object m(Object o) { return (String) o; } }",
        "import java.lang.annotation.*;
         @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.RUNTIME) @interface P {}
         class A { Object m(Object o) { return (@P String) o; } }",
        "CF A, CIM A.m(Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    case(
        "a number against the same bits of another type",
        "class A { float m() { return 2.5f; } }",
        "class A { float m() { return -2.5f; } }",
        "CF A, CIM A.m()F",
    ),
    case(
        "an overload moves the callers that are compiled again",
        "class A { void f(Object o) {} void m() { f(\"\"); } }",
        "class A { void f(Object o) {} void f(String s) {} void m() { f(\"\"); } }",
        "CF A, AIM A.f(Ljava/lang/String;)V, CIM A.m()V",
    ),
];

const LOOKUPS: &[Case] = &[
    case(
        "an override comes",
        "class A { int m() { return 1; } } class B extends A {} class C extends B {}",
        "class A { int m() { return 1; } } class B extends A { int m() { return 2; } } class C extends B {}",
        "CF B, AIM B.m()I, LC B.m()I, LC C.m()I",
    ),
    case(
        "an override goes",
        "class A { int m() { return 1; } } class B extends A { int m() { return 2; } }",
        "class A { int m() { return 1; } } class B extends A {}",
        "CF B, DIM B.m()I, LC B.m()I",
    ),
    case(
        "a default method comes in between",
        "interface I { default int m() { return 1; } } interface J extends I {} class C implements J {}",
        "interface I { default int m() { return 1; } }
         interface J extends I { default int m() { return 2; } } class C implements J {}",
        "LC C.m()I, CF J, AIM J.m()I, LC J.m()I",
    ),
    case(
        "a default method stays behind a superclass",
        "interface I {} class A { public int m() { return 1; } } class C extends A implements I {}",
        "interface I { default int m() { return 2; } } class A { public int m() { return 1; } }
         class C extends A implements I {}",
        "CF I, AIM I.m()I",
    ),
    case(
        "a method of Object is overridden",
        "class A {} class B extends A {}",
        "class A { public String toString() { return \"A\"; } } class B extends A {}",
        "CF A, AIM A.toString()Ljava/lang/String;, LC A.toString()Ljava/lang/String;, \
         LC B.toString()Ljava/lang/String;",
    ),
    case(
        "a class outside of the set may have the method",
        "class A extends java.util.ArrayList<String> {}",
        "class A extends java.util.ArrayList<String> { public int size() { return 0; } }",
        "CF A, AIM A.size()I, LC A.size()I",
    ),
    case(
        "a static method is hidden",
        "class A { static int s() { return 1; } } class B extends A {}",
        "class A { static int s() { return 1; } } class B extends A { static int s() { return 2; } }",
        "CF B, ASM B.s()I, LC B.s()I",
    ),
    case(
        "a method becomes visible to overriders in other packages",
        "class A { int m() { return 1; } } class B extends A { public int m() { return 2; } }",
        "class A { public int m() { return 1; } } class B extends A { public int m() { return 2; } }",
        "CF A, CIM A.m()I, LC A.m()I, LC B.m()I",
    ),
    case(
        "a class comes in between",
        "class A { int m() { return 1; } } class C extends A {}",
        "class A { int m() { return 1; } } class B extends A { int m() { return 2; } } class C extends B {}",
        "AF B, CH C, CF C, CI C.<init>()V, LC C.m()I",
    ),
    case(
        "a private method overrides nothing",
        "class A { void n() {} } class B extends A {}",
        "class A { void n() {} } class B extends A { private void m() {} }",
        "CF B, AIM B.m()V",
    ),
];

fn check(cases: &[Case]) {
    let programs: Vec<_> = cases
        .iter()
        .flat_map(|case| [case.before, case.after].map(|source| (source, case.options)))
        .map(|(source, options)| Program { source, options })
        .collect();
    let compiled = compile(&programs);
    let mut wrong = String::new();
    for (case, files) in cases.iter().zip(compiled.chunks(2)) {
        let [old, new] =
            [&files[0], &files[1]].map(|files| fingerprints(files, Options::default()));
        let changes: Vec<_> = compare_sets(&old, &new)
            .iter()
            .map(ToString::to_string)
            .collect();
        let changes = changes.join(", ");
        if changes != case.changes {
            let _ = writeln!(
                wrong,
                "{}\n  expected {}\n  found    {changes}",
                case.name, case.changes
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn classes_come_and_go() {
    check(FILES);
}

#[test]
fn heads_change() {
    check(HEADS);
}

#[test]
fn initializers_come_go_and_change() {
    check(INITIALIZERS);
}

#[test]
fn methods_come_go_and_change() {
    check(METHODS);
}

#[test]
fn lookups_end_elsewhere() {
    check(LOOKUPS);
}

#[test]
fn another_class_file_version_is_another_head() {
    let source = "class A { int m() { return 1; } }";
    let programs = ["11", "17"].map(|release| ["--release", release]);
    let programs = programs
        .each_ref()
        .map(|options| Program { source, options });
    let sets: Vec<_> = compile(&programs)
        .iter()
        .map(|files| fingerprints(files, Options::default()))
        .collect();
    let changes: Vec<_> = compare_sets(&sets[0], &sets[1])
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(changes, ["CH A", "CF A"]);
}

#[test]
fn every_change_type_has_a_case() {
    let cases = [FILES, HEADS, INITIALIZERS, METHODS, LOOKUPS];
    let shown: BTreeSet<&str> = cases
        .iter()
        .flat_map(|cases| cases.iter())
        .flat_map(|case| case.changes.split(", "))
        .filter_map(|change| change.split(' ').next())
        .collect();
    for kind in ChangeType::ALL {
        assert!(shown.contains(kind.name()), "no case for {kind}");
    }
}
