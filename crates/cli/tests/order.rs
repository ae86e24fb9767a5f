//! Orders, budgets, shards and reruns, from the command line to the tests that
//! ran.

mod screens_support;

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use fewest_testkit::{Finished, TestProject};
use screens_support::Demo;
use serde_json::Value;

fn report(demo: &Demo) -> Value {
    serde_json::from_slice(&fs::read(demo.project.path("r.json")).unwrap()).unwrap()
}

/// The tests with a verdict, by their simple names.
fn with(report: &Value, verdict: &str) -> Vec<String> {
    let tests = report["tests"].as_array().unwrap().iter();
    tests
        .filter(|test| test["verdict"] == verdict)
        .map(|test| test["test"].as_str().unwrap().replace("demo.", ""))
        .collect()
}

fn says(finished: &Finished, text: &str) {
    assert!(finished.stderr.contains(text), "{}", finished.stderr);
}

/// Tests that start JVMs carry `jvm` in their names.
mod jvm {
    use super::*;

    #[test]
    fn what_a_budget_leaves_out_stays_due_and_can_be_run_again() {
        let mut demo = Demo::new();
        assert_eq!(demo.exec(&[]).code(), Some(0));
        demo.edit(
            "Complex",
            ("final int re, im;", "final int re, im, more = 1;"),
        );
        let cut = demo.exec(&["--budget", "1-test", "--report", "r.json"]);
        says(&cut, "1 test class over the budget, still due: ");
        let first = report(&demo);
        assert_eq!(with(&first, "run").len(), 1);
        let due = with(&first, "left-out");
        assert_eq!(due.len(), 1);

        let again = demo.fewest(&["rerun", "--report", "r.json"]);
        assert_eq!(again.code(), Some(0), "{}", again.stderr);
        assert_eq!(with(&report(&demo), "run"), due);
        says(
            &demo.fewest(&["rerun"]),
            "nothing failed and nothing was left out last time",
        );
        demo.exec(&["--report", "r.json"]);
        assert!(with(&report(&demo), "run").is_empty());
    }

    #[test]
    fn a_run_in_the_background_keeps_to_the_budget() {
        let mut demo = Demo::new();
        demo.exec(&[]);
        demo.edit(
            "Complex",
            ("final int re, im;", "final int re, im, more = 1;"),
        );
        demo.exec(&["--background", "--budget", "1-test"]);
        let select = || demo.fewest(&["select"]).stdout;
        let mut seen = select();
        for _ in 0..1000 {
            if !seen.contains("2 of 2 known test classes would run") {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
            seen = select();
        }
        let one = "1 of 2 known test classes would run";
        assert!(seen.contains(one), "{seen}");
    }

    #[test]
    fn shards_share_the_known_tests_and_a_plan_shows_how() {
        let mut demo = Demo::with(&[("LastTest", "new Complex(1, 1).negate();")]);
        demo.exec(&[]);
        demo.edit(
            "Complex",
            ("final int re, im;", "final int re, im, more = 1;"),
        );
        let listed = |seed: &str| {
            let list = demo.fewest(&["select", "--order", "random", "--seed", seed]);
            assert!(list.stdout.contains("3 of 3 known test classes would run"));
            let lines = list.stdout.lines().take(3);
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let orders: BTreeSet<Vec<String>> = ["1", "2", "3", "4"].map(listed).into();
        assert!(orders.len() > 1, "{orders:?}");

        let plan = demo.fewest(&["shard-plan", "--shards", "2", "--json"]);
        let plan: Value = serde_json::from_str(&plan.stdout).unwrap();
        // The first shard's run makes records, by which the second would split anew.
        let mut all = Vec::new();
        for index in 0..2 {
            let planned = plan["shards"][index]["tests"].as_array().unwrap().iter();
            let planned: Vec<String> = planned
                .map(|test| test["test"].as_str().unwrap().replace("demo.", ""))
                .collect();
            let shard = format!("{}/2", index + 1);
            if index == 0 {
                demo.exec(&["--shard", &shard, "--report", "r.json"]);
                assert_eq!(with(&report(&demo), "run"), planned);
            }
            all.extend(planned);
        }
        all.sort();
        assert_eq!(all, ["AddTest", "LastTest", "NegateTest"]);
    }

    #[test]
    fn the_first_failure_is_told() {
        let mut demo = Demo::new();
        demo.exec(&[]);
        demo.edit("Complex", ("(-re, -im)", "(re, im)"));
        let failed = demo.exec(&["--report", "r.json"]);
        assert_eq!(failed.code(), Some(1));
        says(&failed, "the first of 1 test class");
        let report = report(&demo);
        let first = &report["order"]["firstFailure"];
        assert_eq!(first["test"], "demo.NegateTest");
        assert_eq!((&first["place"], &first["of"]), (&1.into(), &1.into()));
        assert_eq!(first["placeShare"], 0.5);
    }
}

#[test]
fn files_of_any_language_are_put_in_order() {
    let project = TestProject::new();
    fs::create_dir_all(project.path("tests/deep/.hidden")).unwrap();
    for number in 0..20 {
        let text = format!(
            "def test_{number}():\n    assert f({}) == 1\n",
            "x".repeat(number)
        );
        let path = project.path(format!("tests/deep/t{number:02}.py"));
        fs::write(path, text).unwrap();
    }
    fs::write(project.path("tests/deep/.hidden/no.py"), "no").unwrap();
    let order = |args: &[&str]| {
        let run = project.run(env!("CARGO_BIN_EXE_fewest")).arg("order");
        run.args(args).finish().unwrap()
    };
    for algorithm in [
        "fast-pw",
        "fast-one",
        "fast-log",
        "fast-sqrt",
        "fast-all",
        "random",
    ] {
        let one = order(&["--algorithm", algorithm, "--seed", "1", "tests"]).stdout;
        let same = order(&["--algorithm", algorithm, "--seed", "1", "tests"]).stdout;
        let other = order(&["--algorithm", algorithm, "--seed", "2", "tests"]).stdout;
        assert_eq!(one, same);
        assert_ne!(one, other);
        let mut files: Vec<&str> = one.lines().collect();
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), 20);
        assert!(files[0].ends_with("tests/deep/t00.py"));
    }
    let json: Value = serde_json::from_str(&order(&["--json", "tests"]).stdout).unwrap();
    assert_eq!(json["algorithm"], "fast-pw");
    assert_eq!(json["order"].as_array().unwrap().len(), 20);
    let smart = order(&["--algorithm", "smart", "tests"]);
    assert!(smart.stderr.contains("goes by what is known of past runs"));
    let missing = order(&["nowhere"]);
    assert_eq!(missing.code(), Some(66));
    assert!(missing.stderr.contains("hint: give files with tests"));
}
