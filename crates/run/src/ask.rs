//! Tells a build which tests it can leave out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fewest_agent::{Config, MethodWindows};
use fewest_build::{FORMAT, TaskAnswer, TaskFileError, TaskRequest};
use fewest_model::{ClassName, Fingerprint, Outcome};
use fewest_order::Algorithm;
use fewest_select::verdict::{RunReason, Verdict};
use fewest_select::{Entity, Technique};
use fewest_snapshot::{Settings, Snapshot};
use fewest_store::{ReadError, Reader, RunId};
use thiserror::Error;

use crate::arrange::arrange;
use crate::environment::{environment, feature_version};
use crate::in_words::in_words;
use crate::plan::{Plan, PlannedMethod, PlannedTest};
use crate::project::Project;
use crate::run_folder::{RunFolder, RunFolderError, RunSettings};
use crate::settings::ProjectFile;
use crate::signatures::Signing;
use crate::since::Affected;
use crate::task_line::{left_out_lines, task_line, task_name};
use crate::test_methods::TestClasses;
use crate::testng;
use crate::tests_of_task::{
    Judged, JudgedMethod, OrderFacts, Rules, judge_tests, outermost_classes,
};

#[derive(Debug, Error)]
pub enum AskError {
    #[error(transparent)]
    Task(#[from] TaskFileError),
    #[error(transparent)]
    Run(#[from] RunFolderError),
    #[error("the task folder `{}` is in no run", .0.display())]
    NoRun(PathBuf),
    #[error("failed to write into `{}`", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// Answers the request in a task folder.
pub fn ask(task_folder: &Path) -> Result<(), AskError> {
    let started = Instant::now();
    let request = TaskRequest::read(task_folder)?;
    let run = task_folder
        .parent()
        .ok_or_else(|| AskError::NoRun(task_folder.to_owned()))?;
    let settings = RunFolder::at(run).settings()?;
    let algorithm = settings.order.by.algorithm();
    let signing = algorithm
        .is_some_and(Algorithm::needs_signatures)
        .then(|| Signing::begin(&Project::at(&settings.root), &request));
    let variables = variables(&request);
    let snapshot = take_snapshot(&request, &settings.root, &settings.file, &variables);
    let mut lines = Vec::new();
    let judged = judge_all(&request, &settings, &snapshot, &variables).unwrap_or_else(|error| {
        // Without a readable store there is no proof: everything runs.
        if !matches!(error, ReadError::Missing { .. }) {
            lines.push(format!("fewest: everything runs, since {error}"));
        }
        without_store(&request, &settings, &snapshot, &error)
    });
    let may_skip = !settings.shadow && request.run_all.is_none();
    let signatures = signing.map(|signing| {
        let classes = judged.iter().filter(|test| test.verdict.is_run());
        signing.end(&snapshot, classes.map(|test| &test.class))
    });
    let tied = may_skip && settings.order.leaves_out() && testng::are_tied(&request, &snapshot);
    if tied {
        lines.push(format!(
            "{}: TestNG ties its tests to each other, so all that should run do",
            task_name(&request)
        ));
    }
    let order = if may_skip && !tied {
        settings.order.clone()
    } else {
        settings.order.of_everything()
    };
    let arranged = arrange(&request, &order, &judged, signatures.as_ref());
    let mut plan = make_plan(&judged, &snapshot, variables);
    plan.add(&arranged);
    if !settings.collect {
        // Nobody is there to leave out single methods.
        plan.run_classes_whole();
    }
    let skip_methods = if may_skip {
        methods_to_skip(&plan)
    } else {
        Vec::new()
    };
    let by_method = plan.classes_by_method();
    let skip = if may_skip {
        plan.tests
            .iter()
            .filter(|test| !test.run || test.left_out.is_some())
            .map(|test| test.class.clone())
            .collect()
    } else {
        Vec::new()
    };
    if !settings.quiet {
        lines.extend(task_line(&request, &judged));
        lines.extend(left_out_lines(&request, &order, &arranged));
    }
    let write = |source| AskError::Write {
        path: task_folder.to_owned(),
        source,
    };
    plan.analysis_millis = Some(started.elapsed().as_millis() as u64);
    plan.write(task_folder).map_err(write)?;
    let jvm_args = if settings.collect && !settings.technique.is_static() {
        vec![agent_argument(task_folder, &settings, &by_method).map_err(write)?]
    } else {
        Vec::new()
    };
    TaskAnswer {
        format: FORMAT,
        skip,
        skip_methods,
        by_method,
        order: plan.order,
        jvm_args,
        lines,
    }
    .write(task_folder)?;
    snapshot.save();
    Ok(())
}

/// What the class path of a task holds now.
pub(crate) fn take_snapshot(
    request: &TaskRequest,
    root: &Path,
    file: &ProjectFile,
    variables: &BTreeMap<String, String>,
) -> Snapshot {
    let feature = feature_version(request.java_home.as_deref());
    let mut settings = Settings::new(root, feature).with_cache(Project::at(root).snapshot_cache());
    settings.debug_info = file.debug_info();
    settings.variables = variables.clone();
    settings.properties = request.system_properties.clone();
    Snapshot::take(&request.classpath, settings)
}

/// The environment variables that the tests would see.
pub(crate) fn variables(request: &TaskRequest) -> BTreeMap<String, String> {
    let mut variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    variables.extend(request.environment.clone());
    variables
}

fn judge_all(
    request: &TaskRequest,
    settings: &RunSettings,
    snapshot: &Snapshot,
    variables: &BTreeMap<String, String>,
) -> Result<Vec<Judged>, ReadError> {
    let reader = Reader::open(&Project::at(&settings.root).folder())?;
    let ledger = reader.ledger(Some(&request.module))?;
    let environment = environment(request, snapshot, &settings.file, variables);
    let classes = TestClasses::new(snapshot, request, &settings.command);
    let rules = Rules {
        technique: settings.technique,
        since: settings.since.as_ref(),
        file: &settings.file,
        full_run_due: settings.full_run_due,
        recent_runs: recent_runs(&reader, settings.technique, &settings.file)?,
        nearness: settings
            .order
            .by
            .algorithm()
            .is_some_and(Algorithm::needs_nearness),
        entity: settings.entity,
        methods: (!settings.technique.is_static()).then_some(&classes),
    };
    Ok(judge_tests(
        request,
        &rules,
        &environment,
        snapshot,
        &ledger,
    ))
}

/// The first of the runs that are recent enough for a failure to count, where
/// the technique runs again what failed lately.
pub(crate) fn recent_runs(
    reader: &Reader,
    technique: Technique,
    file: &ProjectFile,
) -> Result<Option<RunId>, ReadError> {
    if technique != Technique::StaticFull {
        return Ok(None);
    }
    let count = usize::try_from(file.recent_failures()).unwrap_or(usize::MAX);
    Ok(reader.runs(count)?.last().map(|run| run.id))
}

/// Every test runs where there is no store to speak for it, unless it is known
/// what changed and nothing has been recorded yet.
fn without_store(
    request: &TaskRequest,
    settings: &RunSettings,
    snapshot: &Snapshot,
    error: &ReadError,
) -> Vec<Judged> {
    let classes = outermost_classes(request.test_classes.as_deref().unwrap_or_default());
    let is_new = matches!(error, ReadError::Missing { .. });
    let since = settings.since.as_ref().filter(|_| is_new);
    let affected =
        since.map(|changes| Affected::of(changes, &settings.file, request, snapshot, &classes));
    let reason = if is_new {
        RunReason::NoRecord { doubts: Vec::new() }
    } else {
        RunReason::Unknown {
            doubt: error.to_string(),
        }
    };
    let verdict = |class: &ClassName| match &affected {
        Some(affected) if !settings.file.always_runs(class) => affected.verdict(class),
        _ => Verdict::Run(reason.clone()),
    };
    let judged = |class: &ClassName| Judged {
        class: class.clone(),
        verdict: verdict(class),
        millis: None,
        facts: OrderFacts::default(),
        methods: Vec::new(),
        whole: None,
    };
    classes.iter().map(judged).collect()
}

fn make_plan(judged: &[Judged], snapshot: &Snapshot, variables: BTreeMap<String, String>) -> Plan {
    let tests = judged
        .iter()
        .map(|test| PlannedTest {
            class: test.class.clone(),
            run: test.verdict.is_run(),
            left_out: None,
            reasons: reasons(&test.verdict),
            millis: test.millis,
            methods: test.methods.iter().map(planned_method).collect(),
            whole: test.whole.clone(),
        })
        .collect();
    Plan {
        tests,
        order: Vec::new(),
        class_path: class_path_print(snapshot).to_string(),
        entries: Some(snapshot.entries().map(Path::to_owned).collect()),
        variables: Some(variables),
        analysis_millis: None,
    }
}

fn planned_method(method: &JudgedMethod) -> PlannedMethod {
    PlannedMethod {
        name: method.name.clone(),
        run: method.verdict.is_run(),
        reasons: reasons(&method.verdict),
        millis: method.millis,
    }
}

/// The methods to leave out of classes of which others run.
fn methods_to_skip(plan: &Plan) -> Vec<String> {
    let run = plan.tests.iter().filter(|test| test.run);
    run.flat_map(|test| {
        let left_out = test.methods.iter().filter(|method| !method.run);
        left_out.map(|method| format!("{}#{}", test.class, method.name))
    })
    .collect()
}

/// Stands for every class of a class path.
pub(crate) fn class_path_print(snapshot: &Snapshot) -> Fingerprint {
    Fingerprint::combine(b"class path", snapshot.classes().map(|class| class.class()))
}

/// A verdict in words.
pub(crate) fn reasons(verdict: &Verdict) -> Vec<String> {
    let Verdict::Run(reason) = verdict else {
        return Vec::new();
    };
    match reason {
        RunReason::EverythingRuns => vec!["the technique runs everything".into()],
        RunReason::Listed => vec!["the project lists it as one that always runs".into()],
        RunReason::FullRunDue => vec!["a full run is due".into()],
        RunReason::NoRecord { doubts } if doubts.is_empty() => vec!["no record names it".into()],
        RunReason::NoRecord { doubts } => doubts
            .iter()
            .map(|doubt| format!("its last run proved nothing: {doubt}"))
            .collect(),
        RunReason::LastOutcome { outcome } => vec![
            match outcome {
                Outcome::Failed => "it failed when it last ran",
                Outcome::Unfinished => "it did not come to its end when it last ran",
                Outcome::Flaky => "it passed only on a retry when it last ran",
                Outcome::Skipped => {
                    "it gave up on an assumption, or a part of it did, when it last ran"
                }
                Outcome::Passed => "it passed",
            }
            .into(),
        ],
        RunReason::Environment { changes } => changes.clone(),
        RunReason::FailedLately { runs } => {
            vec![format!("it failed in one of the last {runs} runs")]
        }
        RunReason::Reaches { chain, count } => {
            let names: Vec<&str> = chain.iter().map(ClassName::simple).collect();
            let mut words = vec![format!("{}, which changed", names.join(" → "))];
            words.extend(and_more(count.saturating_sub(1)));
            words
        }
        RunReason::Changed { elements, count } => {
            let mut words: Vec<String> = elements
                .iter()
                .map(|element| format!("{} changed", in_words(element)))
                .collect();
            let more = count.saturating_sub(words.len() as u64);
            words.extend(and_more(more));
            words
        }
        RunReason::Needed { why: reason } | RunReason::Unknown { doubt: reason } => {
            vec![reason.clone()]
        }
    }
}

fn and_more(more: u64) -> Option<String> {
    (more > 0).then(|| format!("and {more} more"))
}

/// The argument that loads the agent into the JVM of a task.
fn agent_argument(
    task_folder: &Path,
    settings: &RunSettings,
    by_method: &[ClassName],
) -> std::io::Result<String> {
    let config = Config {
        folder: task_folder.to_owned(),
        things: true,
        receivers: settings.technique.watches_receivers(),
        blocks: settings.technique.watches_blocks(),
        methods: match settings.entity {
            Entity::Class if by_method.is_empty() => MethodWindows::None,
            Entity::Class => MethodWindows::Listed,
            Entity::Method => MethodWindows::All,
        },
        ..Config::default()
    };
    let path = task_folder.join("agent.conf");
    std::fs::write(&path, config.to_text())?;
    Ok(format!(
        "-agentpath:{}={}",
        settings.agent.display(),
        path.display()
    ))
}
