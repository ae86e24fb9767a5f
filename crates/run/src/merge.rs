//! Turns what the agents saw into records.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fewest_build::reports::{Reports, read_reports};
use fewest_build::{TaskAnswer, TaskRequest};
use fewest_model::{ClassName, Element, Fingerprint, Outcome, TestId, Version, Watch};
use fewest_select::class_graph::ClassGraph;
use fewest_select::jvm_run::JvmRun;
use fewest_select::method_uses::uses_of_methods;
use fewest_select::uses::{TestUses, uses_of_class, uses_of_jvm, uses_of_tests};
use fewest_select::{Entity, Technique};
use fewest_snapshot::Snapshot;
use fewest_store::{
    Ending, Environment, NewRun, Notice, OpenError, Pass, Reader, Record, RunId, Store, WriteError,
    Writer,
};
use fewest_trace::FileStamp;
use serde::Serialize;
use thiserror::Error;

use crate::ask::{class_path_print, take_snapshot, variables};
use crate::class_facts::SnapshotClasses;
use crate::coarsening::Coarsening;
use crate::environment::environment;
use crate::last::LastTask;
use crate::method_results::{MethodResult, Methods};
use crate::named_classes::SnapshotNames;
use crate::order_report::OrderReport;
use crate::plan::{LeftOut, Plan, PlannedMethod, PlannedTest};
use crate::project::Project;
use crate::run_folder::{RunFolder, RunFolderError, RunSettings, statistics_files};
use crate::test_methods::{TestClasses, TestMethods};
use crate::tests_of_task::outermost_classes;

#[derive(Debug, Error)]
pub enum MergeError {
    #[error(transparent)]
    Run(#[from] RunFolderError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The build came to its end and says that all is well.
    Succeeded,
    /// The build came to its end, and something in it failed.
    Failed,
    Interrupted,
}

/// What a run came to.
#[derive(Debug, Default)]
pub struct Merged {
    pub project: Project,
    pub technique: Technique,
    pub entity: Entity,
    pub coarsen: Coarsening,
    pub tests: Vec<TestReport>,
    /// In which order the tests ran, and how early it showed what is broken.
    pub order: OrderReport,
    /// What was answered to test JVMs that asked by themselves, and could not
    /// be printed then.
    pub lines: Vec<String>,
    /// Something about the store that the user should hear of.
    pub notice: Option<Notice>,
    /// Why there are fewer records than tests, in words.
    pub warnings: Vec<String>,
    /// How long it took to decide what runs, all tasks together.
    pub analysis_millis: u64,
}

/// The doubt about tests that ran without the agent because the user wants it.
pub const NOT_WATCHED: &str = "it was not watched";

/// The doubt about tests of which the class path has no class: nothing that
/// changes could ever be told.
pub(crate) const NO_CLASS: &str = "the class path does not have its class";

/// A test in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    pub test: String,
    pub module: String,
    /// "run", "skip", or "left-out" for one that should have run.
    pub verdict: &'static str,
    /// Why it did not run though it should.
    pub left_out: Option<LeftOut>,
    /// Its place in the order of the run, counted from one, where that was
    /// seen.
    pub place: Option<usize>,
    /// When it had ended, in milliseconds since 1970.
    #[serde(skip)]
    pub ended_at: Option<u64>,
    /// The place that it was to have in its task.
    #[serde(skip)]
    pub planned_place: Option<usize>,
    pub reasons: Vec<String>,
    /// Whether records proved that it need not run. It may have run all the
    /// same: in a shadow run, or because the user named it.
    pub proven: bool,
    /// `None` where it did not run.
    pub outcome: Option<Outcome>,
    pub millis: Option<u64>,
    /// Why its run made no record.
    pub doubts: Vec<String>,
    pub recorded: bool,
    /// Why the methods of this class are not told apart, though the user wants
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
}

/// How far a merge has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub doing: &'static str,
    pub done: usize,
    pub of: usize,
}

/// Keeps what a run told, and says what it came to.
pub fn merge(run: &RunFolder, end: RunEnd) -> Result<Merged, MergeError> {
    merge_telling(run, end, &mut |_| {})
}

/// The same, and tells how far it is. Large suites take seconds.
pub fn merge_telling(
    run: &RunFolder,
    end: RunEnd,
    tell: &mut dyn FnMut(Progress),
) -> Result<Merged, MergeError> {
    let settings = run.settings()?;
    let project = Project::at(&settings.root);
    let opened = Store::open(&project.folder())?;
    let mut store = opened.store;
    let mut merged = Merged {
        project: project.clone(),
        technique: settings.technique,
        entity: settings.entity,
        coarsen: settings.file.coarsen.clone(),
        notice: opened.notice,
        ..Merged::default()
    };
    let folders = run.tasks()?;
    let notes = folders.iter().map(PathBuf::as_path).chain([run.path()]);
    merged.warnings.extend(notes.filter_map(agent_note));
    let mut tasks = Vec::new();
    for (done, folder) in folders.iter().enumerate() {
        tell(Progress {
            doing: "reading what the tests used",
            done,
            of: folders.len(),
        });
        let Some(task) = Task::read(folder, &settings, end) else {
            continue;
        };
        if task.request.task == "exec"
            && let Ok(answer) = TaskAnswer::read(folder)
        {
            merged.lines.extend(answer.lines);
        }
        tasks.push(task);
    }
    let decided = tasks.iter().filter_map(|task| task.plan.analysis_millis);
    merged.analysis_millis = decided.sum();
    let followed = tasks.iter().filter_map(Task::order_was_followed).min();
    let mut writer = store.write()?;
    let number = writer.begin_run(&NewRun {
        started_at: settings.started_at as i64,
        revision: settings.revision.clone(),
        command: settings.command.clone(),
        technique: settings.technique.to_string(),
    })?;
    for task in &tasks {
        let reports = task.keep(&mut writer, number, &settings, tell)?;
        merged.tests.extend(reports);
    }
    merged.order = OrderReport::of(&settings.order, followed, &mut merged.tests);
    if end != RunEnd::Interrupted {
        let full = is_full(&tasks, &merged.tests, &project);
        writer.finish_run(number, now(), full)?;
    }
    writer.commit()?;
    for task in &tasks {
        // Only `why` and `select` miss it if this fails, and they say so.
        let _ = LastTask::keep(&project, &task.request, task.classes());
    }
    Ok(merged)
}

/// What an agent that could not start has left word of.
fn agent_note(folder: &Path) -> Option<String> {
    let note = fs::read_to_string(folder.join("agent.failed")).ok()?;
    Some(format!(
        "the agent did not start in a JVM, so nothing was learned there: {note}"
    ))
}

/// Whether a run ran every test that there is, as far as the store knows.
fn is_full(tasks: &[Task], tests: &[TestReport], project: &Project) -> bool {
    if tasks.is_empty()
        || tests.iter().any(|test| test.verdict != "run")
        || tasks.iter().any(|task| task.request.run_all.is_some())
    {
        return false;
    }
    let known = Reader::open(&project.folder()).and_then(|reader| reader.test_ids());
    known.is_ok_and(|known| known.iter().all(|test| has_run_or_is_gone(test, tasks)))
}

fn has_run_or_is_gone(test: &TestId, tasks: &[Task]) -> bool {
    let of_module = || {
        tasks
            .iter()
            .filter(|task| task.request.module == *test.module)
    };
    let gone = |task: &Task| task.snapshot.class(&test.class).is_none();
    of_module().any(|task| task.runs.contains_key(&test.class))
        || (of_module().next().is_some() && of_module().all(gone))
}

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis() as i64
}

/// A task that has run.
struct Task {
    entity: Entity,
    command: String,
    request: TaskRequest,
    plan: Plan,
    environment: Arc<Environment>,
    snapshot: Snapshot,
    runs: BTreeMap<ClassName, TestResult>,
    left_out: BTreeSet<ClassName>,
    /// The classes that the store was told the parts of.
    described: RefCell<HashSet<ClassName>>,
}

/// A test that is about to be written.
struct Kept<'a> {
    id: TestId,
    outcome: Outcome,
    millis: u64,
    uses: &'a TestUses,
    doubts: Vec<String>,
}

/// What the tests of a JVM depend on, and each of their methods.
struct JvmUses {
    tests: Vec<TestUses>,
    methods: Vec<Vec<TestUses>>,
}

fn methods_of_jvm(
    run: &JvmRun,
    classes: &SnapshotClasses<'_>,
    methods: &TestClasses<'_>,
) -> Vec<Vec<TestUses>> {
    let apart = |class: &ClassName| match methods.methods(class) {
        TestMethods::Apart(methods) => Some((class.clone(), methods)),
        TestMethods::Whole(_) => None,
    };
    let declared = run.tests.iter().filter_map(|test| apart(&test.class));
    uses_of_methods(run, classes, &declared.collect())
}

/// What a test class came to in all JVMs of a task.
#[derive(Default)]
struct TestResult {
    outcome: Option<Outcome>,
    millis: u64,
    /// When it had ended, in milliseconds since 1970, if an agent saw it.
    ended_at: Option<u64>,
    /// In which of the task's JVMs.
    jvm: usize,
    tests: u32,
    /// Whether it was offered to the framework, which found no test in it.
    empty: bool,
    uses: TestUses,
    /// How many of the doubts come from traces, by which methods have their own.
    doubts_of_traces: usize,
    methods: Methods,
}

impl Task {
    /// `None` for a folder in which no tests ran.
    fn read(folder: &Path, settings: &RunSettings, end: RunEnd) -> Option<Self> {
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

    fn read_traces(&mut self, folder: &Path) {
        let mut runs: BTreeMap<String, JvmRun> = BTreeMap::new();
        let mut unreadable = Vec::new();
        for path in trace_files(folder) {
            match fewest_trace::read_file(&path) {
                Ok(trace) => {
                    let name = path
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    runs.insert(name, JvmRun::new(trace));
                }
                Err(error) => unreadable.push(error.to_string()),
            }
        }
        let classes = SnapshotClasses::new(&self.snapshot);
        let methods = (self.entity == Entity::Method)
            .then(|| TestClasses::new(&self.snapshot, &self.request, &self.command));
        let mut uses: BTreeMap<&str, JvmUses> = BTreeMap::new();
        for (name, run) in runs.iter().filter(|(_, run)| run.jvm.parent.is_none()) {
            let of_jvm = JvmUses {
                tests: uses_of_tests(run, &classes),
                methods: methods
                    .as_ref()
                    .map(|methods| methods_of_jvm(run, &classes, methods))
                    .unwrap_or_default(),
            };
            uses.insert(name, of_jvm);
        }
        for child in runs.values() {
            unreadable.extend(add_child(child, &runs, &mut uses, &classes).err());
        }
        for (jvm, (name, mut of_jvm)) in uses.into_iter().enumerate() {
            let run = &runs[name];
            self.left_out.extend(run.left_out.iter().cloned());
            let mut common: Vec<String> = run.doubts.iter().chain(&unreadable).cloned().collect();
            if !run.complete {
                common.push("its JVM did not end in an orderly way".into());
            }
            for (index, (test, uses)) in run.tests.iter().zip(&mut of_jvm.tests).enumerate() {
                uses.doubts.extend(common.iter().cloned());
                let result = self.runs.entry(test.class.clone()).or_default();
                result.outcome = result.outcome.max(Some(test.outcome));
                result.millis += test.millis;
                result.ended_at = result.ended_at.max(Some(test.ended_at));
                result.jvm = jvm;
                result.tests += test.tests;
                result.uses.inherit(uses);
                if let Some(methods) = of_jvm.methods.get_mut(index) {
                    result.methods.add(test, methods, &common);
                }
            }
        }
        for (class, result) in &mut self.runs {
            result.doubts_of_traces = result.uses.doubts.len();
            if let Some(methods) = &methods {
                result.methods.judge(methods.methods(class), result.tests);
            }
        }
        // Frameworks tell of the beginning and the end of what is left out, too.
        let left_out = &self.left_out;
        self.runs.retain(|class, result| {
            result.tests > 0 || result.outcome != Some(Outcome::Passed) || !left_out.contains(class)
        });
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
    fn order_was_followed(&self) -> Option<bool> {
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
    fn classes(&self) -> BTreeSet<ClassName> {
        match &self.request.test_classes {
            Some(classes) => outermost_classes(classes),
            None => self.runs.keys().chain(&self.left_out).cloned().collect(),
        }
    }

    /// What nobody watched proves nothing; there is no other doubt about it.
    fn doubt_everything(&mut self) {
        for result in self.runs.values_mut() {
            result.uses.doubts = vec![NOT_WATCHED.into()];
            result.doubts_of_traces = 0;
        }
    }

    /// Takes out what the project does not want to count, the reports that the
    /// build writes, which are a result of the run, and the files by which it
    /// was told an order.
    fn drop_ignored_files(&mut self, settings: &RunSettings, own: &BTreeSet<PathBuf>) {
        let reports = self.request.reports.clone();
        let counts = |path: &Arc<str>| {
            let is_report = |reports: &PathBuf| Path::new(&**path).starts_with(reports);
            !settings.file.ignores(&relative(path, &settings.root))
                && !reports.as_ref().is_some_and(is_report)
                && !own.contains(Path::new(&**path))
        };
        for result in self.runs.values_mut() {
            for uses in result.methods.uses_mut().chain([&mut result.uses]) {
                uses.files.retain(|path, _| counts(path));
                uses.listings.retain(counts);
            }
        }
    }

    /// What changed while the tests ran proves nothing: its fingerprint is
    /// taken now, and the tests may have seen it before.
    fn doubt_changes(&mut self) {
        let moved = self.plan.class_path != class_path_print(&self.snapshot).to_string();
        let since = UNIX_EPOCH + Duration::from_millis(self.request.started_at);
        let entries = &self.request.classpath;
        for result in self.runs.values_mut() {
            let mut changed = Vec::new();
            if moved {
                changed.push("class files changed while the tests ran".to_owned());
            }
            for (path, stamp) in &result.uses.files {
                // What was not there is recorded as such, whatever came later.
                if *stamp != FileStamp::Absent && FileStamp::of(Path::new(&**path)) != *stamp {
                    changed.push(format!("the file {path} changed while the test ran"));
                }
            }
            for path in &result.uses.listings {
                if is_younger(Path::new(&**path), since) {
                    changed.push(format!("the directory {path} changed while the tests ran"));
                }
            }
            for element in &result.uses.elements {
                if let Element::Resource(name) = element
                    && entries
                        .iter()
                        .any(|entry| is_younger(&resource_file(entry, name), since))
                {
                    changed.push(format!("the resource {name} changed while the tests ran"));
                }
            }
            result.uses.doubts.extend(changed);
        }
    }

    /// Writes outcomes and records, and tells of each test.
    fn keep(
        &self,
        writer: &mut Writer<'_>,
        run: RunId,
        settings: &RunSettings,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<TestReport>, WriteError> {
        let mut reports = Vec::new();
        let places = self.plan.order.iter().enumerate();
        let places: BTreeMap<_, _> = places.map(|(place, class)| (class, place)).collect();
        for (done, (class, result)) in self.runs.iter().enumerate() {
            tell(Progress {
                doing: "recording test classes",
                done,
                of: self.runs.len(),
            });
            let id = TestId::of_class(self.request.module.as_str(), class.clone());
            // A class that only holds others, a suite, is no test of its own.
            let Some(outcome) = result
                .outcome
                .filter(|outcome| result.tests > 0 || result.empty || *outcome != Outcome::Passed)
            else {
                continue;
            };
            // A framework's name for all tests of a JVM together, cut short.
            if result.tests == 0 && self.snapshot.class(class).is_none() {
                continue;
            }
            let mut kept = Kept {
                id,
                outcome,
                millis: result.millis,
                uses: &result.uses,
                doubts: result.uses.doubts.clone(),
            };
            // A class of which a part was left out has not passed as a whole.
            let partial = self.is_partial(class, result) || result.methods.is_partial();
            if partial && kept.doubts.is_empty() {
                kept.doubts.push("methods of it were left out".into());
            }
            let apart = result.methods.apart();
            let outcome = if apart.is_some() && partial {
                result.methods.shared_outcome
            } else {
                outcome
            };
            kept.outcome = outcome;
            let mut recorded = false;
            if apart.is_none() || !partial || !outcome.is_evidence() {
                recorded = self.keep_test(writer, run, settings, &kept)?;
            }
            if result.empty {
                continue;
            }
            let planned = self.plan.test(class);
            if let Some(methods) = apart {
                for (name, method) in methods {
                    reports.push(self.keep_method(writer, run, settings, class, name, method)?);
                }
                continue;
            }
            reports.push(TestReport {
                test: class.dotted(),
                module: self.request.module.clone(),
                verdict: "run",
                left_out: None,
                place: None,
                ended_at: result.ended_at,
                planned_place: places.get(class).copied(),
                reasons: planned.map_or_else(
                    || vec!["no record names it".into()],
                    |planned| planned.reasons.clone(),
                ),
                proven: planned.is_some_and(|planned| !planned.run),
                outcome: Some(outcome),
                millis: Some(result.millis),
                doubts: kept.doubts,
                recorded,
                whole: result.methods.why_whole().map(str::to_owned),
            });
        }
        reports.extend(self.skipped());
        Ok(reports)
    }

    /// Whether some of a class's methods were left out.
    fn is_partial(&self, class: &ClassName, result: &TestResult) -> bool {
        self.plan.test(class).is_some_and(|planned| {
            let left_out = |method: &PlannedMethod| {
                planned.run && !method.run && !result.methods.has_run(&method.name)
            };
            planned.methods.iter().any(left_out)
        })
    }

    /// Writes how a test ended, and its record if there may be one.
    fn keep_test(
        &self,
        writer: &mut Writer<'_>,
        run: RunId,
        settings: &RunSettings,
        kept: &Kept<'_>,
    ) -> Result<bool, WriteError> {
        let (at, outcome) = (now(), kept.outcome);
        let millis = u32::try_from(kept.millis).unwrap_or(u32::MAX);
        let recorded = outcome.is_evidence() && kept.doubts.is_empty();
        let ending = Ending {
            outcome,
            at,
            millis,
            run,
        };
        writer.add_outcome(&kept.id, ending)?;
        if recorded {
            let record = Record {
                pass: Pass {
                    test: kept.id.clone(),
                    environment: self.environment.clone(),
                    made_at: at,
                    millis,
                    revision: settings.revision.as_deref().map(Arc::from),
                },
                uses: self.versions(&kept.id.class, kept.uses, settings),
            };
            writer.add_record(&record)?;
            self.describe(writer, &record.uses)?;
        } else {
            writer.set_doubts(&kept.id, &kept.doubts)?;
        }
        Ok(recorded)
    }

    fn method_id(&self, class: &ClassName, name: &Arc<str>) -> TestId {
        TestId {
            method: Some(name.clone()),
            ..TestId::of_class(self.request.module.as_str(), class.clone())
        }
    }

    fn keep_method(
        &self,
        writer: &mut Writer<'_>,
        run: RunId,
        settings: &RunSettings,
        class: &ClassName,
        name: &Arc<str>,
        method: &MethodResult,
    ) -> Result<TestReport, WriteError> {
        let result = &self.runs[class];
        let mut doubts = method.uses.doubts.clone();
        let later = result.uses.doubts.get(result.doubts_of_traces..);
        doubts.extend(later.unwrap_or_default().iter().cloned());
        let kept = Kept {
            id: self.method_id(class, name),
            outcome: method.outcome.max(result.methods.shared_outcome),
            millis: method.millis,
            uses: &method.uses,
            doubts,
        };
        let recorded = self.keep_test(writer, run, settings, &kept)?;
        let planned = self.plan.test(class).and_then(|test| test.method(name));
        Ok(TestReport {
            test: kept.id.to_string(),
            module: self.request.module.clone(),
            verdict: "run",
            left_out: None,
            // Orders are of classes.
            place: None,
            ended_at: None,
            planned_place: None,
            reasons: planned.map_or_else(
                || vec!["no record names it".into()],
                |planned| planned.reasons.clone(),
            ),
            proven: planned.is_some_and(|planned| !planned.run),
            outcome: Some(kept.outcome),
            millis: Some(kept.millis),
            doubts: kept.doubts,
            recorded,
            whole: None,
        })
    }

    /// Keeps what the classes consist of that a test used, once each.
    fn describe(
        &self,
        writer: &mut Writer<'_>,
        uses: &BTreeSet<Version>,
    ) -> Result<(), WriteError> {
        let mut described = self.described.borrow_mut();
        for version in uses {
            let (Element::Class(name) | Element::Reachable(name)) = &version.element else {
                continue;
            };
            if described.contains(name) {
                continue;
            }
            described.insert(name.clone());
            if let Some(class) = self.snapshot.class(name)
                && class.doubt().is_none()
            {
                writer.describe(version, &class.fingerprints())?;
            }
        }
        Ok(())
    }

    fn skipped(&self) -> impl Iterator<Item = TestReport> {
        // Where the build could not say which tests it has, the plan is about
        // all that are known, and only what was met and left out counts.
        let of_this_task = self.request.test_classes.is_some();
        let planned = self
            .plan
            .tests
            .iter()
            .filter(|test| of_this_task && (!test.run || test.left_out.is_some()))
            .map(|test| &test.class);
        let classes: BTreeSet<&ClassName> = planned.chain(&self.left_out).collect();
        let whole = classes
            .into_iter()
            .filter(|class| !self.runs.contains_key(*class))
            .flat_map(|class| self.left_out_of(class, |_| true));
        let parts = self.runs.iter().flat_map(|(class, result)| {
            let partial = self.is_partial(class, result);
            let missing = |method: &PlannedMethod| {
                partial && !method.run && !result.methods.has_run(&method.name)
            };
            self.left_out_of(class, missing)
                .into_iter()
                .filter(|test| test.test.contains('#'))
        });
        whole.chain(parts)
    }

    /// A class that was left out, or those methods of it that were.
    fn left_out_of(
        &self,
        class: &ClassName,
        is_out: impl Fn(&PlannedMethod) -> bool,
    ) -> Vec<TestReport> {
        let planned = self.plan.test(class);
        let left_out = planned.and_then(|test| test.left_out);
        let report = |test: String, millis: Option<u32>| TestReport {
            test,
            module: self.request.module.clone(),
            verdict: if left_out.is_some() {
                "left-out"
            } else {
                "skip"
            },
            left_out,
            place: None,
            ended_at: None,
            planned_place: None,
            reasons: Vec::new(),
            proven: left_out.is_none(),
            outcome: None,
            millis: millis.map(u64::from),
            doubts: Vec::new(),
            recorded: false,
            whole: None,
        };
        let methods = planned.map(|test| &*test.methods).unwrap_or_default();
        if !methods.is_empty() && left_out.is_none() {
            let methods = methods.iter().filter(|method| is_out(method));
            return methods
                .map(|method| {
                    let id = self.method_id(class, &method.name);
                    report(id.to_string(), method.millis)
                })
                .collect();
        }
        vec![TestReport {
            reasons: planned.map(|test| test.reasons.clone()).unwrap_or_default(),
            whole: planned.and_then(|test| test.whole.clone()),
            ..report(class.dotted(), planned.and_then(|test| test.millis))
        }]
    }

    /// The versions of everything that a test used.
    fn versions(
        &self,
        class: &ClassName,
        uses: &TestUses,
        settings: &RunSettings,
    ) -> BTreeSet<Version> {
        let relative = |path: &Arc<str>| relative(path, &settings.root);
        let absent = |path: &Arc<str>| Version {
            element: Element::File(relative(path)),
            fingerprint: Fingerprint::ABSENT,
        };
        let (missing, found): (Vec<_>, Vec<_>) = uses
            .files
            .iter()
            .partition(|(_, stamp)| **stamp == FileStamp::Absent);
        let files = found
            .into_iter()
            .map(|(path, _)| Element::File(relative(path)));
        let listings = uses
            .listings
            .iter()
            .map(|path| Element::Listing(relative(path)));
        uses.elements
            .iter()
            .cloned()
            .chain(files)
            .chain(listings)
            .chain(declared_inputs(class, settings))
            .map(|element| Version {
                fingerprint: self.snapshot.fingerprint(&element),
                element,
            })
            .chain(missing.into_iter().map(|(path, _)| absent(path)))
            .collect()
    }
}

/// A path as elements have it: from the root on, where it is below.
fn relative(path: &Arc<str>, root: &Path) -> Arc<str> {
    match Path::new(&**path).strip_prefix(root) {
        Ok(below) => below.to_string_lossy().into(),
        Err(_) => path.clone(),
    }
}

/// The files that the project file names for a test: which there are, and what
/// each of them holds.
fn declared_inputs(class: &ClassName, settings: &RunSettings) -> Vec<Element> {
    let mut elements = Vec::new();
    for pattern in settings.file.inputs_of(class) {
        elements.push(Element::Matches(pattern.as_str().into()));
        // Where the search fails, the element above has no version that holds.
        let files = pattern.files_below(&settings.root).unwrap_or_default();
        elements.extend(files.into_iter().map(|file| Element::File(file.into())));
    }
    elements
}

/// A JVM that a test started counts for the test. Says what is wrong if the
/// test cannot be found.
fn add_child(
    child: &JvmRun,
    runs: &BTreeMap<String, JvmRun>,
    uses: &mut BTreeMap<&str, JvmUses>,
    classes: &SnapshotClasses<'_>,
) -> Result<(), String> {
    // A child may have children of its own: go up to the JVM that has tests.
    let Some(mut parent) = child.jvm.parent.as_ref() else {
        return Ok(());
    };
    while let Some(above) = runs
        .get(&parent.trace)
        .and_then(|run| run.jvm.parent.as_ref())
    {
        parent = above;
    }
    let lost = || "a JVM that a test started cannot be told to a test".to_owned();
    let run = runs.get(&parent.trace).ok_or_else(lost)?;
    let tests = uses.get_mut(parent.trace.as_str()).ok_or_else(lost)?;
    let mut added = uses_of_jvm(child, classes);
    let entries = &child.jvm.class_path;
    if entries
        .iter()
        .any(|entry| !classes.has_entry(Path::new(entry)))
    {
        added
            .doubts
            .push("it started a JVM with another class path".into());
    }
    for window in &parent.windows {
        let index = run.test_of_window(*window).ok_or_else(lost)?;
        tests.tests[index].inherit(&added);
        let methods = tests.methods.get_mut(index).into_iter().flatten();
        let own = run.method_of_window(*window);
        for (at, method) in methods.enumerate() {
            if own.is_none_or(|own| own == at) {
                method.inherit(&added);
            }
        }
    }
    Ok(())
}

fn trace_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "trace")
        })
        .collect();
    files.sort();
    files
}

/// The file that holds a resource of a class path entry: its own in a folder,
/// the jar itself in a jar.
fn resource_file(entry: &Path, name: &str) -> PathBuf {
    if entry.is_dir() {
        entry.join(name)
    } else {
        entry.to_owned()
    }
}

/// Whether a file or directory was changed after a point in time.
fn is_younger(path: &Path, since: SystemTime) -> bool {
    fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| modified > since)
}
