//! Edits that must leave every fingerprint as it was.

use fewest_classfile::changes::compare_sets;
use fewest_classfile::fingerprint::{DebugInfo, Options};

use crate::fixture::{Program, compile, fingerprints};

const G: &[&str] = &["-g"];

struct Case {
    name: &'static str,
    before: Program<'static>,
    after: Program<'static>,
}

const fn case(name: &'static str, before: &'static str, after: &'static str) -> Case {
    Case {
        name,
        before: Program {
            source: before,
            options: G,
        },
        after: Program {
            source: after,
            options: G,
        },
    }
}

const BRANCHES: &str = "class A {
    int f = 3;
    String m(int i, Object o) {
        for (int k = 0; k < i; k++) {
            switch (k) { case 1: f++; break; case 2: f += 1000; break; case 900: return \"x\" + k; }
        }
        try { o.notify(); } catch (IllegalStateException e) { return e.getMessage(); }
        finally { f = 7; }
        Runnable r = () -> System.out.println(o);
        r.run();
        return \"constant\";
    }
}";

const CASES: &[Case] = &[
    case(
        "comments and blank lines",
        "class A { int m() { return 1; } }",
        "// A comment.\n\nclass A {\n\n\n /** More. */ int m() {\n // Here, too.\n return 1; } }",
    ),
    case(
        "a local variable gets another name",
        "class A { int m(int p) { int a = p; return a; } }",
        "class A { int m(int q) { int b = q; return b; } }",
    ),
    case(
        "methods in another order",
        "class A { int m() { return n(\"x\"); } int n(String s) { return 2; } static void o() {} }",
        "class A { static void o() {} int n(String s) { return 2; } int m() { return n(\"x\"); } }",
    ),
    case(
        "annotations in another order",
        "import java.lang.annotation.*;
         @Retention(RetentionPolicy.RUNTIME) @interface P { int value(); }
         @Retention(RetentionPolicy.RUNTIME) @interface Q {}
         @P(1) @Q class A { @P(2) @Q int f; @P(3) @Q void m(@P(4) @Q int p) {} }",
        "import java.lang.annotation.*;
         @Retention(RetentionPolicy.RUNTIME) @interface P { int value(); }
         @Retention(RetentionPolicy.RUNTIME) @interface Q {}
         @Q @P(1) class A { @Q @P(2) int f; @Q @P(3) void m(@Q @P(4) int p) {} }",
    ),
    case(
        "annotations that are not kept at run time",
        "@interface P { int value(); }
         @P(1) class A { @P(1) int f; @P(1) void m(@P(1) int p) {} }",
        "@interface P { int value(); }
         @P(2) class A { int f; void m(@P(2) int p) {} }",
    ),
    case(
        "a comment that says deprecated",
        "class A { int f; void m() {} }",
        "/** @deprecated */ class A { /** @deprecated */ int f; /** @deprecated */ void m() {} }",
    ),
    Case {
        name: "without debug information",
        before: Program {
            source: BRANCHES,
            options: G,
        },
        after: Program {
            source: BRANCHES,
            options: &["-g:none"],
        },
    },
];

#[test]
fn edits_that_no_program_can_see_change_nothing() {
    let programs: Vec<_> = CASES
        .iter()
        .flat_map(|case| [case.before, case.after])
        .collect();
    let compiled = compile(&programs);
    for (case, files) in CASES.iter().zip(compiled.chunks(2)) {
        assert_ne!(
            files[0], files[1],
            "{}: the compiler sees no edit",
            case.name
        );
        let sets = [&files[0], &files[1]].map(|files| fingerprints(files, Options::default()));
        assert_eq!(compare_sets(&sets[0], &sets[1]), [], "{}", case.name);
        for (name, old) in &sets[0] {
            let new = &sets[1][name];
            assert_eq!(
                (old.head, old.shape),
                (new.head, new.shape),
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn debug_information_counts_when_it_is_tracked() {
    let track = Options {
        debug_info: DebugInfo::Track,
    };
    let edits = [
        (
            "class A { int m() { return 1; } }",
            "class A {\nint m() { return 1; } }",
        ),
        (
            "class A { int m(int p) { return p; } }",
            "class A { int m(int q) { return q; } }",
        ),
    ];
    let programs: Vec<_> = edits
        .iter()
        .flat_map(|&(before, after)| [before, after])
        .map(|source| Program { source, options: G })
        .collect();
    for files in compile(&programs).chunks(2) {
        let [old, new] = [&files[0], &files[1]].map(|files| fingerprints(files, track));
        assert!(!compare_sets(&old, &new).is_empty());
    }
    // The name of the source file is in the head.
    let files = &compile(&programs[..1])[0];
    let ignored = fingerprints(files, Options::default());
    let tracked = fingerprints(files, track);
    let heads = |set: &fewest_classfile::changes::ClassSet| {
        set.values().map(|class| class.head).collect::<Vec<_>>()
    };
    assert_ne!(heads(&ignored), heads(&tracked));
}
