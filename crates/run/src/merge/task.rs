//! A task that has run: what its traces and the build's reports come to.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use fewest_build::TaskRequest;
use fewest_build::reports::{Reports, read_reports};
use fewest_model::{ClassName, Element, Outcome, Watch};
use fewest_select::Entity;
use fewest_select::class_graph::ClassGraph;
use fewest_select::uses::{TestUses, uses_of_class};
use fewest_snapshot::Snapshot;
use fewest_store::Environment;

use super::{NO_CLASS, RunEnd};
use crate::ask::{take_snapshot, variables};
use crate::class_facts::SnapshotClasses;
use crate::environment::environment;
use crate::method_results::Methods;
use crate::named_classes::SnapshotNames;
use crate::plan::{Plan, PlannedTest};
use crate::run_folder::{RunSettings, statistics_files};
use crate::tests_of_task::outermost_classes;

/// A task that has run.
pub(super) struct Task {
    pub(super) entity: Entity,
    pub(super) command: String,
    pub(super) request: TaskRequest,
    pub(super) plan: Plan,
    pub(super) environment: Arc<Environment>,
    pub(super) snapshot: Snapshot,
    pub(super) runs: BTreeMap<ClassName, TestResult>,
    pub(super) left_out: BTreeSet<ClassName>,
    /// The classes that the store was told the parts of.
    pub(super) described: RefCell<HashSet<ClassName>>,
}

/// What a test class came to in all JVMs of a task.
#[derive(Default)]
pub(super) struct TestResult {
    pub(super) outcome: Option<Outcome>,
    pub(super) millis: u64,
    /// When it had ended, in milliseconds since 1970, if an agent saw it.
    pub(super) ended_at: Option<u64>,
    /// In which of the task's JVMs.
    pub(super) jvm: usize,
    pub(super) tests: u32,
    /// Whether it was offered to the framework, which found no test in it.
    pub(super) empty: bool,
    pub(super) uses: TestUses,
    /// How many of the doubts come from traces, by which methods have their own.
    pub(super) doubts_of_traces: usize,
    pub(super) methods: Methods,
}

impl Task {
    /// `None` for a folder in which no tests ran.
    pub(super) fn read(folder: &Path, settings: &RunSettings, end: RunEnd) -> Option<Self> {
        let mut request = TaskRequest::read(folder).ok()?;
        let plan = Plan::read(folder).unwrap_or_default();
        if let Some(entries) = &plan.entries {
            request.classpath.clone_from(entries);
        }
        let own = || variables(&request);
        let variables = plan.variables.clone().unwrap_or_else(own);
        let snapshot = take_snapshot(&request, &settings.root, &settings.file, &variables);
        let environment = environment(&request, &snapshot, &settings.file, &variables);
        let environment = Arc::new(environment);
        let mut task = Self {
            entity: settings.entity,
            command: settings.command.clone(),
            request,
            plan,
            environment,
            snapshot,
            runs: BTreeMap::new(),
            left_out: BTreeSet::new(),
            described: RefCell::default(),
        };
        task.read_traces(&folder.join("traces"));
        task.read_reports(settings);
        // A JVM that died before its first test leaves no word of the classes
        // it was to run, but the build fails then.
        if end == RunEnd::Succeeded {
            task.add_empty_classes();
        }
        if settings.technique.is_static() {
            task.go_by_class_files();
        }
        task.drop_ignored_files(settings, &statistics_files(folder));
        task.doubt_changes();
        if !settings.collect {
            task.doubt_everything();
        }
        Some(task)
    }

    /// The build's reports have a word too: the worse of the two counts.
    fn read_reports(&mut self, settings: &RunSettings) {
        let Some(folder) = &self.request.reports else {
            return;
        };
        let since = UNIX_EPOCH + Duration::from_millis(self.request.started_at);
        let reports = read_reports(folder, since).unwrap_or_else(|error| Reports {
            damaged: vec![error],
            ..Reports::default()
        });
        for (class, report) in &reports.classes {
            let result = self.runs.entry(class.clone()).or_default();
            if result.outcome.is_none() {
                let cases = report.cases;
                result.tests = cases.passed + cases.skipped + cases.flaky + cases.failed;
                result.millis = report.millis;
                if !settings.technique.is_static() {
                    let doubt = "the agent did not see it run".into();
                    result.uses.doubts.push(doubt);
                }
            }
            // Reports do not tell a test that is switched off from one that gave
            // up on an assumption; the agent does.
            if report.outcome != Outcome::Skipped || result.outcome.is_none() {
                result.outcome = result.outcome.max(Some(report.outcome));
            }
            result.methods.add_problems(&report.problems);
        }
        for result in self.runs.values_mut() {
            for error in &reports.damaged {
                result.uses.doubts.push(error.to_string());
            }
        }
        for (class, result) in &mut self.runs {
            if result.tests > 0 && !reports.classes.contains_key(class) {
                result
                    .uses
                    .doubts
                    .push("the build's reports do not name it".into());
            }
        }
    }

    /// Classes that the build took for tests and the framework did not: as long
    /// as they are as they are, no JVM need be started to find that out again.
    /// Only where everything else ran to its end and passed: a build that
    /// stops at the first failure has not offered the rest.
    fn add_empty_classes(&mut self) {
        let passed = |result: &TestResult| {
            result.outcome == Some(Outcome::Passed) && result.uses.doubts.is_empty()
        };
        // A class that the build did not plan to run was run by another one, a
        // suite: which of the silent classes is that suite cannot be told.
        let all_planned = self
            .runs
            .keys()
            .all(|class| self.plan.test(class).is_some());
        if self.request.run_all.is_some()
            || self.runs.is_empty()
            || !all_planned
            || !self.runs.values().all(passed)
        {
            return;
        }
        let classes = SnapshotClasses::new(&self.snapshot);
        let due = |test: &&PlannedTest| test.run && test.left_out.is_none();
        for test in self.plan.tests.iter().filter(due) {
            self.runs
                .entry(test.class.clone())
                .or_insert_with(|| TestResult {
                    outcome: Some(Outcome::Passed),
                    empty: true,
                    uses: uses_of_class(&test.class, &classes),
                    ..TestResult::default()
                });
        }
    }

    /// Puts what the code of each test leads to in the place of what was seen,
    /// if anything was.
    fn go_by_class_files(&mut self) {
        let names = SnapshotNames(&self.snapshot);
        let mut graph = ClassGraph::new(&names);
        for (class, result) in &mut self.runs {
            let reach = graph.reach(class);
            let doubts = reach.unreadable.iter().map(|class| {
                let class = class.dotted();
                format!("the class {class} cannot be read, so what it leads to is not known")
            });
            let mut uses = TestUses {
                elements: reach
                    .classes
                    .iter()
                    .cloned()
                    .map(Element::Reachable)
                    .chain([Element::Watched(Watch::ClassFiles)])
                    .collect(),
                doubts: std::mem::take(&mut result.uses.doubts),
                ..TestUses::default()
            };
            uses.doubts.extend(doubts);
            if self.snapshot.class(class).is_none() {
                uses.doubts.push(NO_CLASS.into());
            }
            result.uses = uses;
        }
    }

    /// Whether the tests of each JVM ended in the order in which they were to
    /// run. `None` where no order was wanted, or too little was seen to tell.
    pub(super) fn order_was_followed(&self) -> Option<bool> {
        let mut seen: Vec<(usize, u64, usize)> = Vec::new();
        for (place, class) in self.plan.order.iter().enumerate() {
            let ran = |result: &&TestResult| result.tests > 0;
            if let Some(result) = self.runs.get(class).filter(ran) {
                // Within a millisecond nobody can tell, and the place decides.
                seen.push((result.jvm, result.ended_at?, place));
            }
        }
        seen.sort_unstable();
        let in_order = seen.is_sorted_by_key(|(jvm, _, place)| (*jvm, *place));
        (seen.len() > 1).then_some(in_order)
    }

    /// The tests that took part in it.
    pub(super) fn classes(&self) -> BTreeSet<ClassName> {
        match &self.request.test_classes {
            Some(classes) => outermost_classes(classes),
            None => self.runs.keys().chain(&self.left_out).cloned().collect(),
        }
    }
}
