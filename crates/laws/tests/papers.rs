//! The worked examples of the papers.

use std::collections::BTreeMap;

use fewest_laws::stage::{FINEST, Stage};
use fewest_laws::version::{Files, Workshop};
use fewest_select::Technique;

/// A program of one file per class, and edits of it: each a class and what
/// stands in its place.
struct Example {
    classes: &'static [(&'static str, &'static str)],
    tests: &'static [&'static str],
}

impl Example {
    fn files(&self, edit: Option<(&str, &str)>) -> Files {
        let mut files = Files::new();
        for (name, text) in self.classes {
            let text = match edit {
                Some((edited, new)) if edited == *name => new,
                _ => text,
            };
            files.insert(format!("{name}.java"), text.to_owned());
        }
        files
    }

    /// For each edit and technique the tests that run.
    fn selections(&self, edits: &[(&str, &str)]) -> Vec<BTreeMap<&'static str, Vec<String>>> {
        self.selections_from(None, edits)
    }

    /// The same, with an edit made before everything.
    fn selections_from(
        &self,
        before: Option<(&str, &str)>,
        edits: &[(&str, &str)],
    ) -> Vec<BTreeMap<&'static str, Vec<String>>> {
        let workshop = Workshop::new();
        let versions: Vec<Files> = std::iter::once(self.files(before))
            .chain(edits.iter().map(|edit| self.files(Some(*edit))))
            .collect();
        let names: Vec<String> = (0..versions.len()).map(|i| i.to_string()).collect();
        let jobs: Vec<_> = names.iter().map(String::as_str).zip(&versions).collect();
        let versions: Vec<_> = workshop
            .compile(&jobs, &[])
            .into_iter()
            .map(|version| version.unwrap())
            .collect();
        let tests: Vec<String> = self.tests.iter().map(|&test| test.to_owned()).collect();
        let stage = Stage::new(&workshop, FINEST);
        stage.put(&versions[0]);
        let recorded = stage.record(&tests);
        assert!(
            recorded.tests.iter().all(|test| test.recorded),
            "{recorded:?}"
        );
        let selection = |technique| stage.select(technique, &tests).into_keys().collect();
        // Records that the agent helped to make do not answer for static ones.
        let watched =
            |technique: &Technique| *technique != Technique::All && !technique.is_static();
        let techniques: Vec<Technique> = Technique::ALL.into_iter().filter(watched).collect();
        versions[1..]
            .iter()
            .map(|version| {
                stage.put(version);
                let each = techniques.iter();
                each.map(|&t| (t.name(), selection(t))).collect()
            })
            .collect()
    }
}

/// Figure 1 of the Ekstazi paper: `t1` and `t2` in `TestM`, `t3` and `t4` in
/// `TestP`; and each of the four in a class of its own, which stands for
/// selection by test method.
const EKSTAZI: Example = Example {
    classes: &[
        (
            "C",
            "class C { C() {} int m() { return 1; } int p() { return 0; } }",
        ),
        (
            "D",
            "class D extends C { D() {} @Override int p() { return 4; } }",
        ),
        (
            "TestM",
            "public class TestM {
                @org.junit.Test public void t1() { org.junit.Assert.assertEquals(1, new C().m()); }
                @org.junit.Test public void t2() { org.junit.Assert.assertEquals(1, new D().m()); }
            }",
        ),
        (
            "TestP",
            "public class TestP {
                @org.junit.Test public void t3() { org.junit.Assert.assertEquals(0, new C().p()); }
                @org.junit.Test public void t4() { org.junit.Assert.assertEquals(4, new D().p()); }
            }",
        ),
        (
            "T1",
            "public class T1 {
                @org.junit.Test public void t1() { org.junit.Assert.assertEquals(1, new C().m()); }
            }",
        ),
        (
            "T2",
            "public class T2 {
                @org.junit.Test public void t2() { org.junit.Assert.assertEquals(1, new D().m()); }
            }",
        ),
        (
            "T3",
            "public class T3 {
                @org.junit.Test public void t3() { org.junit.Assert.assertEquals(0, new C().p()); }
            }",
        ),
        (
            "T4",
            "public class T4 {
                @org.junit.Test public void t4() { org.junit.Assert.assertEquals(4, new D().p()); }
            }",
        ),
    ],
    tests: &["TestM", "TestP", "T1", "T2", "T3", "T4"],
};

#[test]
fn figures_1_and_2_of_the_ekstazi_paper_in_a_jvm() {
    let edits = [
        // "changes only the body of the method D.p"
        (
            "D",
            "class D extends C { D() {} @Override int p() { return Math.abs(-4); } }",
        ),
        // "could add a method m in class D (that overrides C.m)"
        (
            "D",
            "class D extends C { D() {} @Override int m() { return 1; }
             @Override int p() { return 4; } }",
        ),
        (
            "C",
            "class C { C() {} int m() { return Math.abs(-1); } int p() { return 0; } }",
        ),
    ];
    let selections = EKSTAZI.selections(&edits);

    let body = &selections[0];
    assert_eq!(body["file"], ["T2", "T4", "TestM", "TestP"]);
    assert_eq!(body["hybrid"], ["T4", "TestP"]);

    let override_added = &selections[1];
    assert_eq!(override_added["file"], ["T2", "T4", "TestM", "TestP"]);
    // The paper's unsafe technique would run none; t2 may change.
    assert_eq!(override_added["hybrid"], ["T2", "T4", "TestM", "TestP"]);

    let superclass = &selections[2];
    assert_eq!(
        superclass["file"],
        ["T1", "T2", "T3", "T4", "TestM", "TestP"],
        "who depends on D depends on C"
    );
    assert_eq!(superclass["hybrid"], ["T1", "T2", "TestM"]);
}

/// Figure 1 of the `HyRTS` paper.
const HYRTS: Example = Example {
    classes: &[
        (
            "A",
            "class A { A() {} int m1() { return 1; } static int m2() { return 2; } }",
        ),
        (
            "B",
            "class B extends A { B() {} static int m2() { return 3; } }",
        ),
        (
            "T1",
            "public class T1 { @org.junit.Test public void t() { A a = new A(); a.m1(); } }",
        ),
        (
            "T2",
            "public class T2 { @org.junit.Test public void t() { A.m2(); } }",
        ),
        (
            "T3",
            "public class T3 { @org.junit.Test public void t() { A b = new B(); b.m1(); } }",
        ),
        (
            "T4",
            "public class T4 { @org.junit.Test public void t() { B.m2(); } }",
        ),
    ],
    tests: &["T1", "T2", "T3", "T4"],
};

#[test]
fn figure_1_and_table_1_of_the_hyrts_paper_in_a_jvm() {
    let edits = [
        // "When A.m2() is changed in the next revision, only test T2 needs to be
        // selected"
        (
            "A",
            "class A { A() {} int m1() { return 1; } static int m2() { return 22; } }",
        ),
        // "when B.m1() is added … the truly impacted test T3"
        (
            "B",
            "class B extends A { B() {} int m1() { return 11; } static int m2() { return 3; } }",
        ),
    ];
    let selections = HYRTS.selections(&edits);

    let changed = &selections[0];
    assert_eq!(changed["hybrid"], ["T2"]);
    // T4 too: Table 1 leaves A out of T4's files, though B's superclass is loaded
    // and may come to matter.
    assert_eq!(changed["file"], ["T1", "T2", "T3", "T4"]);

    let instance_added = &selections[1];
    assert_eq!(instance_added["file"], ["T3", "T4"]);
    // HyRTS-F takes an added instance method for a change of the class, so T4
    // runs as well; hybrid-lookup is the one that tells them apart.
    assert_eq!(instance_added["hybrid"], ["T3", "T4"]);
    if let Some(lookup) = instance_added.get("hybrid-lookup") {
        assert_eq!(lookup, &["T3"]);
    }
}

#[test]
fn table_1_with_b_m2_added_in_a_jvm() {
    // The figure has B.m2() already, so the version before is made without it.
    let without = ("B", "class B extends A { B() {} }");
    let with = HYRTS.classes[1];
    let selections = HYRTS.selections_from(Some(without), &[with]);
    // The paper names T3 and T4 as what the file level selects; T4 is the test
    // whose outcome changes.
    assert_eq!(selections[0]["file"], ["T3", "T4"]);
    assert_eq!(selections[0]["hybrid"], ["T4"]);
}
