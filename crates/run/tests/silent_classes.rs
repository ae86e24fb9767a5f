//! Classes that a build took for tests and no framework ran.

mod support;

use std::fs;
use std::path::Path;

use fewest_model::{ClassName, Fingerprint, Outcome, TestId};
use fewest_run::{Plan, PlannedTest, Project, RunEnd, merge};
use fewest_snapshot::{Settings, Snapshot};
use fewest_store::Reader;
use fewest_trace::{Event, Jvm, Uses, WindowClose, WindowOpen, Writer};

/// Merges a run in which a test class ran and passed, and `p/Silent` was
/// planned and never heard of. Says whether `p/Silent` has a record now.
fn silent_is_recorded(ran: &str, end: RunEnd) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let classes = root.join("classes");
    fs::create_dir_all(classes.join("p")).unwrap();
    fs::write(classes.join("p/Silent.class"), "any bytes").unwrap();
    let snapshot = Snapshot::take(std::slice::from_ref(&classes), Settings::new(root, 8));
    let request = support::request(root, &["p/ATest", "p/Silent"]);
    let (run, task) = support::begin(&support::settings(root), &request);
    fs::create_dir(task.join("traces")).unwrap();
    let planned = |class: &str| PlannedTest {
        left_out: None,
        methods: Vec::new(),
        whole: None,
        class: class.into(),
        run: true,
        reasons: Vec::new(),
        millis: None,
    };
    let plan = Plan {
        order: Vec::new(),
        tests: vec![planned("p/ATest"), planned("p/Silent")],
        class_path: Fingerprint::combine(
            b"class path",
            snapshot.classes().map(|class| class.class()),
        )
        .to_string(),
        ..Plan::default()
    };
    fs::write(task.join("plan.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
    write_trace(&task.join("traces/1.trace"), ran);
    merge(&run, end).unwrap();

    let reader = Reader::open(&Project::at(root).folder()).unwrap();
    let ledger = reader.ledger(Some("core")).unwrap();
    ledger
        .test(&TestId::of_class("core", "p/Silent".into()))
        .is_some_and(|test| !ledger.records_of(test).is_empty())
}

fn write_trace(path: &Path, ran: &str) {
    let mut writer = Writer::new(fs::File::create(path).unwrap());
    let events = [
        Event::Jvm(Jvm::default()),
        Event::Opened(WindowOpen {
            window: 0,
            class: ClassName::new(ran),
            method: None,
            at: 0,
        }),
        Event::Closed(WindowClose {
            window: 0,
            outcome: Outcome::Passed,
            millis: 1,
            tests: 1,
            uses: Uses::default(),
            lingers: false,
        }),
        Event::End { unseen: Vec::new() },
    ];
    for event in &events {
        writer.add(event).unwrap();
    }
    writer.flush().unwrap();
}

#[test]
fn a_class_without_tests_is_remembered_when_all_went_well() {
    assert!(silent_is_recorded("p/ATest", RunEnd::Succeeded));
}

#[test]
fn a_class_may_be_silent_because_its_jvm_died() {
    assert!(!silent_is_recorded("p/ATest", RunEnd::Failed));
    assert!(!silent_is_recorded("p/ATest", RunEnd::Interrupted));
}

#[test]
fn a_class_may_be_silent_because_it_is_a_suite_of_others() {
    assert!(!silent_is_recorded("p/OnlyInASuite", RunEnd::Succeeded));
}
