//! Plants faults in compiled classes, and sees which tests find them and which
//! of those each technique would have run.
//!
//! Every test that finds a fault has to be selected. Truth comes from running
//! tests, not from what fewest knows of them: either the whole suite
//! ([`Check::Full`]), or every test that loads the class with the fault when it
//! runs alone in a JVM of its own ([`Check::Loaded`]), since what never loads a
//! class cannot behave otherwise when the class does.
//!
//! No build tool runs here. The class path and the JVM are those of the last
//! build, as the store keeps them, and a small program runs the tests, many
//! classes in one JVM, a fresh one for each mutant.

mod jvm;
mod pick;
mod runner;
mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fewest_classfile::mutate::plant;
use fewest_classfile::read::ClassFile;
use fewest_run::{Outlook, OutlookError, Prediction, Project};
use fewest_select::Technique;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::files::{self, FileError};
use jvm::Outcome;
pub use pick::Candidate;
use suite::Suite;

/// What is to be planted, and how it is judged.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The compiled project. Class files in it are replaced while tests run,
    /// so it must be nobody's checkout.
    pub project: PathBuf,
    /// A store with records of the present classes for each technique.
    pub stores: Vec<(Technique, PathBuf)>,
    pub count: usize,
    pub seed: u64,
    pub check: Check,
    /// Where the program that runs tests, its results and its logs go.
    pub work: PathBuf,
    pub revision: Option<String>,
}

/// Which tests are run to learn who finds a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Those that load the class when they run alone.
    #[default]
    Loaded,
    /// All.
    Full,
}

impl FromStr for Check {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "loaded" => Ok(Self::Loaded),
            "full" => Ok(Self::Full),
            _ => Err(format!("`{text}` is no check; there are loaded and full")),
        }
    }
}

#[derive(Debug, Error)]
pub enum MutantError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Outlook(#[from] OutlookError),
    #[error("failed to read the store")]
    Store(#[from] fewest_run::StoreReadError),
    #[error("there is no record of any test, so nothing can be judged")]
    NoTests,
    #[error("could not {what}: {said}")]
    Tool { what: &'static str, said: String },
    #[error("failed to start `{}`", program.display())]
    Start {
        program: PathBuf,
        source: std::io::Error,
    },
    #[error("failed to write a line of results")]
    Line(#[from] serde_json::Error),
}

/// A line of results; `docs/reference/mutants.md` tells of each member.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Line {
    Suite {
        format: u32,
        revision: Option<String>,
        seed: u64,
        check: Check,
        techniques: Vec<String>,
        tests: Vec<SuiteTest>,
        set_aside: Vec<SetAside>,
        /// How many mutants there are to choose from.
        candidates: usize,
    },
    Mutant(Box<MutantLine>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuiteTest {
    pub test: String,
    pub module: String,
    /// How long it took in company, without a fault.
    pub millis: u64,
}

/// A test that says nothing about faults.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetAside {
    pub test: String,
    pub why: String,
}

/// One mutant. Tests are numbers in the suite's list.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MutantLine {
    pub id: String,
    pub operator: String,
    pub class: String,
    pub method: Option<String>,
    pub line: Option<u16>,
    pub words: String,
    /// What ran, and how it ended.
    pub ran: Vec<TestRun>,
    /// The tests that find it.
    pub killers: Vec<usize>,
    /// Tests that failed beside others, but not alone: what another test left
    /// behind failed them, so they are not among the killers.
    pub in_company_only: Vec<usize>,
    /// What each technique would have run.
    pub selected: BTreeMap<String, Vec<usize>>,
    /// The killers that a technique would have left out.
    pub missed: BTreeMap<String, Vec<usize>>,
    /// Why there is no such class file, if there is none.
    pub not_planted: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct TestRun {
    pub test: usize,
    pub outcome: Outcome,
    pub millis: u64,
}

/// The format of the lines.
pub const FORMAT: u32 = 1;

/// Plants mutants one after the other, and hands each line to `tell`.
pub fn run(
    settings: &Settings,
    mut tell: impl FnMut(&Line) -> Result<(), MutantError>,
) -> Result<(), MutantError> {
    files::make_folder(&settings.work)?;
    let (suite, set_aside) = suite_of(settings)?;
    let candidates = pick::candidates(&suite)?;
    let total = candidates.len();
    let picked = pick::spread(candidates, settings.count, settings.seed);
    tell(&Line::Suite {
        format: FORMAT,
        revision: settings.revision.clone(),
        seed: settings.seed,
        check: settings.check,
        techniques: settings.stores.iter().map(|(t, _)| t.to_string()).collect(),
        tests: suite.tests.iter().map(suite::Test::line).collect(),
        set_aside,
        candidates: total,
    })?;
    for candidate in picked {
        let line = try_mutant(settings, &suite, &candidate)?;
        tell(&Line::Mutant(Box::new(line)))?;
    }
    Ok(())
}

fn suite_of(settings: &Settings) -> Result<(Suite, Vec<SetAside>), MutantError> {
    let (technique, store) = settings.stores.first().ok_or(MutantError::NoTests)?;
    let outlook = with_store(settings, store, || {
        let project = Project::at(&settings.project);
        Ok(Outlook::open(project, Some(*technique), None)?)
    })?;
    let runner = runner::prepare(&settings.work, &outlook)?;
    suite::measure(&outlook, &runner, &settings.work)
}

fn try_mutant(
    settings: &Settings,
    suite: &Suite,
    candidate: &Candidate,
) -> Result<MutantLine, MutantError> {
    let mutant = &candidate.mutant;
    let mut line = MutantLine {
        id: mutant.id.clone(),
        operator: mutant.operator.to_string(),
        class: mutant.class.dotted(),
        method: mutant.method.as_ref().map(ToString::to_string),
        line: mutant.line,
        words: mutant.words.clone(),
        ran: Vec::new(),
        killers: Vec::new(),
        in_company_only: Vec::new(),
        selected: BTreeMap::new(),
        missed: BTreeMap::new(),
        not_planted: None,
    };
    let original = files::read(&candidate.path)?;
    let planted = ClassFile::read(&original)
        .map_err(|error| error.to_string())
        .and_then(|class| plant(&class, mutant).map_err(|error| error.to_string()));
    let planted = match planted {
        Ok(planted) => planted,
        Err(error) => {
            line.not_planted = Some(error);
            return Ok(line);
        }
    };
    replace(&candidate.path, &planted)?;
    let judged = judge(settings, suite, candidate, &mut line);
    replace(&candidate.path, &original)?;
    judged.map(|()| line)
}

fn judge(
    settings: &Settings,
    suite: &Suite,
    candidate: &Candidate,
    line: &mut MutantLine,
) -> Result<(), MutantError> {
    for (technique, store) in &settings.stores {
        let selected = with_store(settings, store, || selected(settings, *technique, suite))?;
        line.selected.insert(technique.to_string(), selected);
    }
    let class = &candidate.mutant.class;
    let loads = |test: &usize| suite.tests[*test].may_load(class);
    let tests = (0..suite.tests.len())
        .filter(|test| settings.check == Check::Full || loads(test))
        .collect::<Vec<_>>();
    line.ran = suite.run(&tests)?;
    let failed = line.ran.iter().filter(|run| run.outcome != Outcome::Passed);
    for test in failed.map(|run| run.test).collect::<Vec<_>>() {
        let everywhere = line.selected.values().all(|tests| tests.contains(&test));
        // Only where it matters is it worth another JVM.
        let alone = everywhere || suite.run(&[test])?[0].outcome != Outcome::Passed;
        if alone {
            line.killers.push(test);
        } else {
            line.in_company_only.push(test);
        }
    }
    for (technique, selected) in &line.selected {
        let missed = line.killers.iter().filter(|test| !selected.contains(test));
        line.missed
            .insert(technique.clone(), missed.copied().collect());
    }
    Ok(())
}

/// What a technique would run now. A test that it does not know would run.
fn selected(
    settings: &Settings,
    technique: Technique,
    suite: &Suite,
) -> Result<Vec<usize>, MutantError> {
    let outlook = Outlook::open(Project::at(&settings.project), Some(technique), None)?;
    let wanted: BTreeSet<_> = suite.tests.iter().map(|test| test.id.clone()).collect();
    let left_out: BTreeSet<_> = outlook
        .forecasts(&wanted)?
        .into_iter()
        .filter(|forecast| forecast.prediction == Prediction::Skip)
        .map(|forecast| forecast.test)
        .collect();
    let tests = suite.tests.iter().enumerate();
    Ok(tests
        .filter(|(_, test)| !left_out.contains(&test.id))
        .map(|(number, _)| number)
        .collect())
}

/// Does something while a store lies where the project's store does.
fn with_store<T>(
    settings: &Settings,
    store: &Path,
    action: impl FnOnce() -> Result<T, MutantError>,
) -> Result<T, MutantError> {
    let place = Project::at(&settings.project).folder();
    files::remove_folder(&place)?;
    files::rename(store, &place)?;
    let result = action();
    files::rename(&place, store)?;
    result
}

/// Puts a new file in the place of another, which no stat can take for it.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let beside = path.with_extension("class.new");
    files::write(&beside, bytes)?;
    fs::rename(&beside, path).map_err(files::to("replace", path))
}
