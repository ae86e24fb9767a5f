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
//! classes in one JVM, a fresh one for each mutant. A class with a fault lies on
//! disk only while the techniques are asked; for the tests it is put before the
//! others on the class path, so that several mutants can run at the same time.

mod jvm;
mod known;
mod pick;
mod runner;
mod suite;
mod workers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use fewest_classfile::mutate::plant;
use fewest_classfile::read::ClassFile;
use fewest_model::ClassName;
use fewest_order::Signature;
use fewest_run::{Outlook, OutlookError, Project, Standing};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::files::{self, FileError};
use crate::variant::Variant;
use jvm::{Desk, Outcome};
use known::Known;
pub use pick::Candidate;
use suite::Suite;
use workers::Workers;

/// What is to be planted, and how it is judged.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The compiled project. Class files in it are replaced for a moment, so it
    /// must be nobody's checkout.
    pub project: PathBuf,
    /// A store with records of the present classes for each technique; several
    /// may share one.
    pub stores: Vec<(Variant, PathBuf)>,
    pub count: usize,
    pub seed: u64,
    pub check: Check,
    /// How many JVMs run at the same time.
    pub jobs: usize,
    /// Where the program that runs tests, its results and its logs go.
    pub work: PathBuf,
    pub revision: Option<String>,
    /// Results of an earlier run with the same revision: its faults are planted
    /// again, and only the techniques are judged anew.
    pub known: Option<PathBuf>,
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
    #[error("`{}` has nothing of {what}", path.display())]
    NotKnown { path: PathBuf, what: String },
    #[error("`{}` tells of `{what}`, which these classes do not have", path.display())]
    OtherProject { path: PathBuf, what: String },
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
    /// The signature of its code, by which orders tell what is alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
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
    /// For each technique, what it knows of the tests that it would have run,
    /// without those that are new to it.
    #[serde(default)]
    pub uses: BTreeMap<String, Vec<UsesOfTest>>,
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

/// What a test uses of what has changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UsesOfTest {
    pub test: usize,
    /// How many elements it uses.
    pub total: usize,
    /// Which of them have changed, as numbers that mean the same for all tests
    /// of the mutant.
    pub changed: Vec<u32>,
}

/// The format of the lines.
pub const FORMAT: u32 = 1;

/// Reads lines of results. One that was cut short, or that a later version has
/// added, is none.
pub fn read(path: &Path) -> Result<Vec<Line>, FileError> {
    let text = files::read(path)?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines();
    Ok(lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

/// Plants mutants one after the other, and hands each line to `tell`.
pub fn run(
    settings: &Settings,
    mut tell: impl FnMut(&Line) -> Result<(), MutantError>,
) -> Result<(), MutantError> {
    let workers = Workers::new(settings.jobs, &settings.work);
    files::make_folder(&settings.work)?;
    let revision = settings.revision.as_deref();
    let known = settings.known.as_deref();
    let known = known.map(|path| Known::read(path, revision)).transpose()?;
    let known = known.as_ref();
    let (suite, set_aside) = suite_of(settings, known, &workers)?;
    let candidates = pick::candidates(&suite)?;
    let total = known.map_or(candidates.len(), |known| known.candidates);
    let picked = match known {
        Some(known) => known.pick(candidates)?,
        None => pick::pick(candidates, settings.count, settings.seed),
    };
    tell(&Line::Suite {
        format: FORMAT,
        revision: settings.revision.clone(),
        seed: known.map_or(settings.seed, |known| known.seed),
        check: known.map_or(settings.check, |known| known.check),
        techniques: settings.stores.iter().map(|(v, _)| v.name()).collect(),
        tests: suite.tests.iter().map(suite::Test::line).collect(),
        set_aside,
        candidates: total,
    })?;
    let stores = Mutex::new(());
    workers.each(
        &picked,
        |candidate, desk| {
            let ran = known.and_then(|known| known.ran(&candidate.mutant.id));
            try_mutant(settings, &suite, &stores, candidate, ran, desk)
        },
        |line| tell(&Line::Mutant(Box::new(line))),
    )
}

/// Drops what a file of results says of a revision: a run that was cut short
/// begins again.
pub(crate) fn forget(path: &Path, revision: &str) -> Result<(), FileError> {
    if !path.exists() {
        return Ok(());
    }
    let text = fs::read_to_string(path).map_err(files::to("read", path))?;
    let kept = without(&text, revision);
    if kept.len() < text.len() {
        let beside = path.with_extension("jsonl.new");
        files::write(&beside, kept)?;
        files::rename(&beside, path)?;
    }
    Ok(())
}

/// Mutants stand behind the suite that they belong to. A line that was cut
/// short is dropped with its revision, since nothing follows it there.
fn without(text: &str, revision: &str) -> String {
    let mut forgotten = false;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if let Ok(Line::Suite { revision: of, .. }) = serde_json::from_str(line) {
            forgotten = of.as_deref() == Some(revision);
        }
        if !forgotten {
            kept.push_str(line);
        }
    }
    kept
}

fn suite_of(
    settings: &Settings,
    known: Option<&Known>,
    workers: &Workers,
) -> Result<(Suite, Vec<SetAside>), MutantError> {
    let (variant, store) = settings.stores.first().ok_or(MutantError::NoTests)?;
    let (outlook, standings) = with_store(settings, store, || {
        let outlook = outlook(settings, variant)?;
        let standings = outlook.standings()?;
        Ok((outlook, standings))
    })?;
    let signatures = standings
        .into_iter()
        .map(|standing| (standing.test, standing.signature))
        .collect();
    let runner = runner::prepare(&settings.work, &outlook)?;
    match known {
        Some(known) => {
            let suite = suite::known(&outlook, &signatures, &runner, known)?;
            Ok((suite, known.set_aside.clone()))
        }
        None => suite::measure(&outlook, &signatures, &runner, workers),
    }
}

fn try_mutant(
    settings: &Settings,
    suite: &Suite,
    stores: &Mutex<()>,
    candidate: &Candidate,
    ran: Option<&Vec<TestRun>>,
    mut desk: Desk,
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
        uses: BTreeMap::new(),
        missed: BTreeMap::new(),
        not_planted: None,
    };
    // While one asks, the others wait: there is one checkout and one place for
    // stores. What a panic has left behind is put right by nobody, so it ends all.
    let asking = stores.lock().unwrap_or_else(PoisonError::into_inner);
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
    let asked = ask_techniques(settings, suite, &mut line);
    replace(&candidate.path, &original)?;
    drop(asking);
    asked?;
    desk.planted = Some(beside(&desk.folder, &mutant.class, &planted)?);
    line.ran = match ran {
        Some(ran) => ran.clone(),
        None => run_tests(settings, suite, candidate, &desk)?,
    };
    judge(suite, &desk, &mut line)?;
    Ok(line)
}

/// A folder with one class in it.
fn beside(folder: &Path, class: &ClassName, bytes: &[u8]) -> Result<PathBuf, FileError> {
    let planted = folder.join("planted");
    files::remove_folder(&planted)?;
    let file = planted.join(format!("{class}.class"));
    files::make_folder(file.parent().unwrap_or(&planted))?;
    files::write(&file, bytes)?;
    Ok(planted)
}

/// What each technique would run now.
fn ask_techniques(
    settings: &Settings,
    suite: &Suite,
    line: &mut MutantLine,
) -> Result<(), MutantError> {
    for (variant, store) in &settings.stores {
        let standings = with_store(settings, store, || {
            Ok(outlook(settings, variant)?.standings()?)
        })?;
        let (selected, uses) = selected(standings, suite);
        line.selected.insert(variant.name(), selected);
        line.uses.insert(variant.name(), uses);
    }
    Ok(())
}

/// Runs the tests with the fault.
fn run_tests(
    settings: &Settings,
    suite: &Suite,
    candidate: &Candidate,
    desk: &Desk,
) -> Result<Vec<TestRun>, MutantError> {
    let class = &candidate.mutant.class;
    let loads = |test: &usize| suite.tests[*test].may_load(class);
    let tests = (0..suite.tests.len())
        .filter(|test| settings.check == Check::Full || loads(test))
        .collect::<Vec<_>>();
    suite.run(&tests, desk)
}

/// Tells who finds the fault and who would have been left out.
fn judge(suite: &Suite, desk: &Desk, line: &mut MutantLine) -> Result<(), MutantError> {
    let failed = line.ran.iter().filter(|run| run.outcome != Outcome::Passed);
    for test in failed.map(|run| run.test).collect::<Vec<_>>() {
        let everywhere = line.selected.values().all(|tests| tests.contains(&test));
        // Only where it matters is it worth another JVM.
        let alone = everywhere || suite.run(&[test], desk)?[0].outcome != Outcome::Passed;
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

fn outlook(settings: &Settings, variant: &Variant) -> Result<Outlook, MutantError> {
    let project = Project::at(&settings.project);
    let outlook = Outlook::open(project, Some(variant.technique), None)?;
    Ok(outlook.coarsened(Some(variant.coarsen.clone())))
}

/// What a technique would run now, and why. A test that it does not know would
/// run.
fn selected(standings: Vec<Standing>, suite: &Suite) -> (Vec<usize>, Vec<UsesOfTest>) {
    let mut standings: BTreeMap<_, _> = standings
        .into_iter()
        .map(|standing| (standing.test.clone(), standing))
        .collect();
    let (mut selected, mut all_uses) = (Vec::new(), Vec::new());
    for (number, test) in suite.tests.iter().enumerate() {
        let standing = standings.remove(&test.id);
        if standing.as_ref().is_some_and(|standing| !standing.runs) {
            continue;
        }
        selected.push(number);
        if let Some(uses) = standing.and_then(|standing| standing.uses) {
            all_uses.push(UsesOfTest {
                test: number,
                total: uses.total,
                changed: uses.changed,
            });
        }
    }
    (selected, all_uses)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(revision: &str) -> String {
        let line = Line::Suite {
            format: FORMAT,
            revision: Some(revision.to_owned()),
            seed: 1,
            check: Check::Loaded,
            techniques: Vec::new(),
            tests: Vec::new(),
            set_aside: Vec::new(),
            candidates: 0,
        };
        serde_json::to_string(&line).unwrap() + "\n"
    }

    #[test]
    fn a_revision_that_was_cut_short_is_forgotten_and_others_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mutants.jsonl");
        forget(&path, "two").unwrap();
        assert!(!path.exists());
        let one = suite("one") + "{\"kind\":\"mutant\",\"id\":\"a\"}\n";
        let two = suite("two") + "{\"kind\":\"mutant\",\"id\":\"b\"}\n{\"kind\":\"mut";
        fs::write(&path, format!("{one}{two}")).unwrap();
        forget(&path, "three").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{one}{two}"));
        forget(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), one);
    }
}
