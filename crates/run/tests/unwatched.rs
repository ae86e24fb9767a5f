//! Tests that a build ran and that no agent saw.

mod support;

use std::fs;
use std::path::Path;

use fewest_build::TaskRequest;
use fewest_model::Outcome;
use fewest_run::{Merged, NOT_WATCHED, RunEnd, RunSettings, merge};

const REPORT: &str = r#"<testsuite name="p.ATest" time="0.25" tests="1" errors="0" skipped="0" failures="0">
  <testcase name="a" classname="p.ATest" time="0.25"/>
</testsuite>"#;

/// Merges a run of which only the build's report is left.
fn merge_report(root: &Path, collect: bool) -> Merged {
    let reports = root.join("reports");
    fs::create_dir_all(&reports).unwrap();
    fs::write(reports.join("TEST-p.ATest.xml"), REPORT).unwrap();
    let settings = RunSettings {
        collect,
        ..support::settings(root)
    };
    let request = TaskRequest {
        classpath: Vec::new(),
        reports: Some(reports),
        ..support::request(root, &["p/ATest"])
    };
    let (run, task) = support::begin(&settings, &request);
    fs::write(task.join("agent.failed"), "no such library").unwrap();
    merge(&run, RunEnd::Succeeded).unwrap()
}

#[test]
fn a_test_that_the_agent_did_not_see_is_told_and_proves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let merged = merge_report(root.path(), true);
    let [test] = merged.tests.as_slice() else {
        panic!("one test: {merged:?}")
    };
    assert_eq!((test.test.as_str(), test.verdict), ("p.ATest", "run"));
    assert_eq!(
        (test.outcome, test.millis),
        (Some(Outcome::Passed), Some(250))
    );
    assert!(!test.recorded);
    assert_eq!(test.doubts[0], "the agent did not see it run");
    assert_eq!(
        merged.warnings,
        ["the agent did not start in a JVM, so nothing was learned there: no such library"]
    );
}

#[test]
fn a_test_that_was_not_to_be_watched_proves_nothing_and_is_no_surprise() {
    let root = tempfile::tempdir().unwrap();
    let merged = merge_report(root.path(), false);
    assert_eq!(merged.tests[0].doubts, [NOT_WATCHED]);
    assert!(!merged.tests[0].recorded);
}
