//! How classes changed since tests were recorded: told by `fewest changes`, and
//! counted by `--coarsen`.

mod screens_support;

use std::collections::BTreeSet;

use fewest_store::Store;
use fewest_testkit::TestProject;
use screens_support::{Demo, NEGATED_OTHERWISE, filters, output, screen};
use serde_json::Value;

/// A method that no test calls.
const CONJUGATE: (&str, &str) = (
    "public Complex negate()",
    "public Complex conjugate() { return new Complex(re, -im); }\n    public Complex negate()",
);
const ALL: &str = "ASI,DSI,CSI,AI,DI,CI,ASM,DSM,CSM,AIM,DIM,CIM";

fn reversed((old, new): (&'static str, &'static str)) -> (&'static str, &'static str) {
    (new, old)
}

/// The tests that would run.
fn selected(demo: &Demo, technique: &str, coarsen: &str) -> BTreeSet<String> {
    let options = ["--technique", technique, "--coarsen", coarsen, "--json"];
    let told = demo.run().arg("select").args(options).finish().unwrap();
    assert_eq!(told.code(), Some(0), "{}", told.stderr);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let tests = told["tests"].as_array().unwrap().iter();
    tests
        .filter(|test| test["verdict"] == "run")
        .map(|test| test["test"].as_str().unwrap().replace("demo.", ""))
        .collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Takes from the store what classes consisted of, as if an older fewest had
/// made its records.
fn forget_parts(project: &TestProject) {
    let store = rusqlite::Connection::open(project.path(".fewest/store.db")).unwrap();
    assert!(store.execute("DELETE FROM class_parts", ()).unwrap() > 3);
}

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use super::*;

    #[test]
    fn changes_are_told_by_class_and_type() {
        let mut demo = Demo::new();
        demo.exec(&[]);
        let none = demo.fewest(&["changes", "--exit-code"]);
        demo.edit("Complex", NEGATED_OTHERWISE);
        demo.edit("Complex", CONJUGATE);
        let changes = demo.fewest(&["changes"]);
        let told = demo.fewest(&["changes", "--exit-code", "--json"]);
        let json: Value = serde_json::from_str(&told.stdout).unwrap();
        forget_parts(&demo.project);
        let unknown = demo.fewest(&["changes"]);
        demo.exec(&["--quiet"]);
        let after = demo.fewest(&["changes", "--exit-code"]);
        assert_eq!(output(&after), output(&none));
        assert_eq!(told.code(), Some(1));
        let mut settings = filters(demo.project.root());
        settings.add_filter(r"\d+ as they were", "[some] as they were");
        settings.bind(|| {
            insta::assert_snapshot!(output(&none), @r"
            nothing has changed since the tests were recorded
            classes: [some] as they were

            exit 0
            ");
            insta::assert_snapshot!(output(&changes), @r"
            demo
              ~ Complex
                  + Complex conjugate()  instance method added
                  ~ Complex negate()     instance method changed

            classes: 1 changed, [some] as they were
              1  CF   class file changed
              1  AIM  instance method added
              1  CIM  instance method changed

            exit 0
            ");
            insta::assert_json_snapshot!(json, { ".same" => "[some]" }, @r#"
            {
              "changes": [
                {
                  "class": "demo.Complex",
                  "type": "CF"
                },
                {
                  "class": "demo.Complex",
                  "method": "conjugate()Ldemo/Complex;",
                  "type": "AIM"
                },
                {
                  "class": "demo.Complex",
                  "method": "negate()Ldemo/Complex;",
                  "type": "CIM"
                }
              ],
              "counts": {
                "AIM": 1,
                "CF": 1,
                "CIM": 1
              },
              "format": 1,
              "same": "[some]",
              "unknown": []
            }
            "#);
            insta::assert_snapshot!(output(&unknown), @r"
            demo
              ~ Complex  class file changed

            classes: 1 changed, [some] as they were
              1  CF  class file changed
            what changed in 1 class is not known: the records are of an older fewest, or the class cannot be read

            exit 0
            ");
        });
    }

    #[test]
    fn a_coarsened_technique_lies_between_itself_and_file() {
        let mut demo = Demo::with(&[("PlainTest", "")]);
        // These records answer for all techniques that watch.
        demo.exec(&["--technique", "hybrid-block"]);
        let both = names(&["AddTest", "NegateTest"]);
        let negate = names(&["NegateTest"]);
        let cases = [
            (NEGATED_OTHERWISE, "CIM", &negate, &both),
            (NEGATED_OTHERWISE, "AIM,DIM,CI", &negate, &negate),
            (NEGATED_OTHERWISE, ALL, &negate, &both),
            (CONJUGATE, "AIM", &both, &both),
        ];
        for (edit, coarsen, plain, coarse) in cases {
            demo.edit("Complex", edit);
            for technique in ["hybrid", "hybrid-lookup", "hybrid-block"] {
                let without = selected(&demo, technique, "");
                let with = selected(&demo, technique, coarsen);
                let file = selected(&demo, "file", "");
                assert!(without.is_subset(&with), "{technique} {edit:?} {coarsen}");
                assert!(with.is_subset(&file), "{technique} {edit:?} {coarsen}");
                assert_eq!(&with, coarse, "{technique} {edit:?} {coarsen}");
            }
            assert_eq!(&selected(&demo, "hybrid", ""), plain);
            assert_eq!(selected(&demo, "file", coarsen), both);
            demo.edit("Complex", reversed(edit));
            assert!(selected(&demo, "hybrid", coarsen).is_empty());
        }
        // What is lost by looking at receivers is won back.
        demo.edit("Complex", CONJUGATE);
        assert!(selected(&demo, "hybrid-lookup", "").is_empty());
        assert_eq!(selected(&demo, "hybrid-lookup", "AIM,DIM"), both);
        assert_eq!(selected(&demo, "hybrid", ""), both);
        demo.edit("Complex", reversed(CONJUGATE));
        // Where it cannot be told how a class changed, it may have that way.
        demo.edit("Complex", NEGATED_OTHERWISE);
        forget_parts(&demo.project);
        assert_eq!(selected(&demo, "hybrid", ""), negate);
        assert_eq!(selected(&demo, "hybrid", "DSI"), both);
        demo.edit("Complex", reversed(NEGATED_OTHERWISE));
        assert!(selected(&demo, "hybrid", "DSI").is_empty());
    }

    #[test]
    fn a_run_follows_the_command_line_and_else_the_project_file() {
        let mut demo = Demo::new();
        demo.exec(&["--quiet"]);
        demo.edit("Complex", NEGATED_OTHERWISE);
        demo.project.write("fewest.toml", "coarsen = \"CIM\"\n");
        assert_eq!(selected(&demo, "hybrid", ""), names(&["NegateTest"]));
        assert!(output(&demo.fewest(&["select"])).contains("2 of 2"));
        let run = screen(&demo.exec(&["--verbose"]));
        assert!(run.contains("demo.AddTest ran: Complex changed"), "{run}");
    }
}

#[test]
fn without_records_there_is_nothing_to_tell_of() {
    let project = TestProject::new();
    let run = |args: &[&str]| {
        let run = project.run(env!("CARGO_BIN_EXE_fewest")).args(args);
        run.finish().unwrap()
    };
    filters(project.root()).bind(|| {
        insta::assert_snapshot!(screen(&run(&["changes"])), @r"
        fewest: there is no store at `[project]/.fewest/store.db`
        hint: run your tests once under `fewest mvn` or `fewest exec` to make one
        exit 1
        ");
    });
    let wrong = run(&["select", "--coarsen", "CIM,CF"]);
    assert_eq!(wrong.code(), Some(2));
    let says = "`CF` is no type of change to methods; there are ASI, DSI,";
    assert!(wrong.stderr.contains(says), "{}", wrong.stderr);
}

#[test]
fn without_a_test_that_passed_there_is_nothing_to_compare_with() {
    let project = TestProject::new();
    Store::open(&project.path(".fewest")).unwrap();
    let run = project.run(env!("CARGO_BIN_EXE_fewest")).arg("changes");
    insta::assert_snapshot!(screen(&run.finish().unwrap()), @r"
    fewest: no test has a record yet, so there is nothing to compare classes with
    exit 1
    ");
}
