//! Turns what the agents saw into records.
//!
//! Each task is read ([`task`], [`traces`]), doubted ([`doubts`]) and kept
//! ([`keep`]); what did not run is told of too ([`left_out`]).

mod doubts;
mod keep;
mod left_out;
mod task;
mod test_report;
mod traces;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fewest_build::TaskAnswer;
use fewest_model::TestId;
use fewest_select::{Entity, Technique};
use fewest_store::{NewRun, Notice, OpenError, Reader, Store, WriteError};
use thiserror::Error;

use self::task::Task;
pub use self::test_report::TestReport;
use crate::coarsening::Coarsening;
use crate::last::LastTask;
use crate::order_report::OrderReport;
use crate::project::Project;
use crate::run_folder::{RunFolder, RunFolderError};

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
        || tests
            .iter()
            .any(|test| test.verdict != "run" || test.methods.is_some())
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
