//! Techniques that go by class files: no agent, and a report of the build is
//! all that is known of a run.

mod support;

use std::fs;
use std::path::PathBuf;

use fewest_build::{TaskAnswer, TaskRequest};
use fewest_model::ClassName;
use fewest_run::{Outlook, Project, RunEnd, RunSettings, ask, merge};
use fewest_select::Technique;
use fewest_testkit::{Compilation, Javac, Jdk};

/// A project with a test `p.ATest` that leads to `p.B` and from there to `p.C`.
struct Stage {
    root: tempfile::TempDir,
    runs: u64,
}

/// What a build was told.
struct Told {
    skip: Vec<ClassName>,
    jvm_args: Vec<String>,
    reasons: Vec<String>,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { root, runs: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn compile(&self, value: u32) {
        let sources = Compilation::new()
            .source("p/ATest.java", "package p; class ATest { B b; }")
            .source(
                "p/B.java",
                "package p; class B { int b() { return C.c(); } }",
            )
            .source(
                "p/C.java",
                format!("package p; class C {{ static int c() {{ return {value}; }} }}"),
            )
            .source(
                "p/Other.java",
                format!("package p; class Other {{ int o = {value}; }}"),
            );
        let classes = self.path("classes");
        fs::create_dir_all(&classes).unwrap();
        Javac::new(&Jdk::default())
            .compile(&sources, &classes)
            .unwrap();
    }

    /// Asks as a build does, and then has the test pass or fail.
    fn run(&mut self, technique: Technique, passes: bool) -> Told {
        self.runs += 1;
        let settings = self.settings(technique);
        let (run, task) = support::begin(&settings, &self.request());
        ask(&task).unwrap();
        let answer = TaskAnswer::read(&task).unwrap();
        let plan = support::plan(&task);
        if answer.skip.is_empty() {
            self.write_report(passes);
        }
        merge(
            &run,
            if passes {
                RunEnd::Succeeded
            } else {
                RunEnd::Failed
            },
        )
        .unwrap();
        run.remove().unwrap();
        let _ = fs::remove_dir_all(self.path("reports"));
        Told {
            skip: answer.skip,
            jvm_args: answer.jvm_args,
            reasons: plan.tests[0].reasons.clone(),
        }
    }

    fn write_report(&self, passes: bool) {
        let (failures, body) = if passes { (0, "") } else { (1, "<failure/>") };
        let report = format!(
            r#"<testsuite name="p.ATest" time="0.25" tests="1" errors="0" skipped="0" failures="{failures}">
  <testcase name="a" classname="p.ATest" time="0.25">{body}</testcase>
</testsuite>"#
        );
        fs::create_dir_all(self.path("reports")).unwrap();
        fs::write(self.path("reports/TEST-p.ATest.xml"), report).unwrap();
    }

    fn settings(&self, technique: Technique) -> RunSettings {
        RunSettings {
            technique,
            started_at: self.runs,
            ..support::settings(self.root.path())
        }
    }

    fn request(&self) -> TaskRequest {
        TaskRequest {
            reports: Some(self.path("reports")),
            ..support::request(self.root.path(), &["p/ATest"])
        }
    }
}

#[test]
fn a_report_is_enough_and_no_agent_is_loaded() {
    for technique in [Technique::Static, Technique::StaticFull] {
        let mut stage = Stage::new();
        stage.compile(1);
        let first = stage.run(technique, true);
        assert_eq!(first.reasons, ["no record names it"]);
        assert!(first.jvm_args.is_empty());
        assert_eq!(stage.run(technique, true).skip, ["p/ATest".into()]);
        stage.compile(2);
        let changed = stage.run(technique, true);
        assert_eq!(changed.reasons, ["ATest → B → C, which changed"]);
        assert_eq!(stage.run(technique, true).skip, ["p/ATest".into()]);
    }
}

#[test]
fn a_record_of_one_sort_does_not_answer_for_the_other() {
    let mut stage = Stage::new();
    stage.compile(1);
    stage.run(Technique::Static, true);
    let watched = stage.run(Technique::Hybrid, true);
    assert!(watched.skip.is_empty());
    assert_eq!(
        watched.reasons,
        ["its record was made without watching uses"]
    );
    // The static record still stands beside what was tried since.
    assert_eq!(
        stage.run(Technique::StaticFull, true).skip,
        ["p/ATest".into()]
    );
}

#[test]
fn what_failed_lately_runs_again_though_it_has_passed_since() {
    let mut stage = Stage::new();
    stage.compile(1);
    stage.run(Technique::StaticFull, false);
    let failed = stage.run(Technique::StaticFull, true);
    assert_eq!(failed.reasons, ["it failed when it last ran"]);
    let mut again = 0;
    while stage.run(Technique::StaticFull, true).skip.is_empty() {
        again += 1;
        assert!(again < 20, "it runs for ever");
    }
    // The first run failed, and it is one of the last ten until the twelfth.
    assert_eq!(again, 9);
    assert_eq!(stage.runs, 12);
}

#[test]
fn a_class_that_cannot_be_read_leaves_no_proof() {
    let mut stage = Stage::new();
    stage.compile(1);
    fs::write(stage.path("classes/p/C.class"), "no class").unwrap();
    stage.run(Technique::Static, true);
    let next = stage.run(Technique::Static, true);
    assert!(next.skip.is_empty());
    assert_eq!(
        next.reasons,
        [
            "its last run proved nothing: the class p.C cannot be read, \
             so what it leads to is not known"
        ]
    );
}

#[test]
fn a_test_whose_class_is_not_there_leaves_no_proof() {
    let mut stage = Stage::new();
    stage.compile(1);
    fs::remove_file(stage.path("classes/p/ATest.class")).unwrap();
    stage.run(Technique::Static, true);
    assert_eq!(
        stage.run(Technique::Static, true).reasons,
        ["its last run proved nothing: the class path does not have its class"]
    );
}

#[test]
fn a_test_covers_whatever_its_code_leads_to() {
    let mut stage = Stage::new();
    stage.compile(1);
    stage.run(Technique::Static, true);
    let outlook = Outlook::open(Project::at(stage.root.path()), None, None).unwrap();
    let covers = |class: &str, method: Option<&str>| {
        let tests = outlook.tests_that_use(&class.into(), method).unwrap();
        tests.len()
    };
    assert_eq!(covers("p/C", None), 1);
    assert_eq!(covers("p/C", Some("c")), 1);
    assert_eq!(covers("p/Other", None), 0);
    assert_eq!(covers("p/Other", Some("o")), 0);
}
