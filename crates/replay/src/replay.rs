//! One walk through a history.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fewest_model::Outcome;
use fewest_select::Technique;
use thiserror::Error;

use crate::files::{self, FileError};
use crate::git::{GitError, Repository};
use crate::maven::{BuildError, Maven, ReportedTest};
use crate::mutants::{self, MutantError};
use crate::results::{self, Line, Revision, Selection, Skipped, Suite};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A folder of the user's checkout, in which Maven would be started.
    pub directory: PathBuf,
    /// A range as git takes it, or the last so many commits.
    pub range: Range,
    pub techniques: Vec<Technique>,
    /// How often each time is taken; the median counts.
    pub runs: usize,
    /// How often the whole suite runs to find unstable tests.
    pub stability: usize,
    /// Whether the whole suite runs at all.
    pub full: bool,
    /// Whether runs without collection are measured too.
    pub without_collection: bool,
    pub mutants: usize,
    pub seed: u64,
    pub check: mutants::Check,
    /// How many JVMs run tests with faults at the same time.
    pub jobs: usize,
    /// Go on where a replay into the same folder has ended.
    pub resume: bool,
    /// Where the clone, the stores and the results are.
    pub work: PathBuf,
    /// This program.
    pub fewest: PathBuf,
    pub maven_args: Vec<String>,
    pub fewest_options: Vec<String>,
}

#[derive(Clone, Debug)]
pub enum Range {
    Commits(String),
    Last(usize),
}

#[derive(Debug, Error)]
pub enum ReplayError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Mutants(#[from] MutantError),
    #[error("no commit is in the range")]
    NoCommits,
    #[error("`{}` holds the results of another replay; add --resume to go on with it, or name another folder with --work", .0.display())]
    Occupied(PathBuf),
}

/// Is told how a replay goes on.
pub trait Watcher {
    fn begins(&mut self, number: usize, of: usize, revision: &str, left: Option<Duration>);
    fn says(&mut self, line: &str);
}

/// A walk that can begin.
pub struct Replay {
    settings: Settings,
    user: Repository,
    clone: Repository,
    maven: Maven,
}

impl Replay {
    pub const RESULTS: &str = "results.jsonl";
    pub const MUTANTS: &str = "mutants.jsonl";

    /// Makes the clone, or finds the one of the replay that is resumed.
    pub fn new(settings: Settings) -> Result<Self, ReplayError> {
        let user = Repository::at(&settings.directory);
        let tree = settings.work.join("tree");
        if settings.work.join(Self::RESULTS).exists() && !settings.resume {
            return Err(ReplayError::Occupied(settings.work.clone()));
        }
        files::make_folder(&settings.work.join("logs"))?;
        let (top, within) = user.top()?;
        let clone = if tree.join(".git").exists() {
            Repository::at(&tree)
        } else {
            Repository::at(&top).clone_to(&tree)?
        };
        let maven = Maven {
            folder: tree.join(within),
            fewest: settings.fewest.clone(),
            args: settings.maven_args.clone(),
            options: settings.fewest_options.clone(),
            logs: settings.work.join("logs"),
        };
        Ok(Self {
            settings,
            user,
            clone,
            maven,
        })
    }

    /// Measures all revisions that have no result yet, and returns all lines.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Vec<Line>, ReplayError> {
        let path = self.settings.work.join(Self::RESULTS);
        let mut lines = results::read(&path)?;
        let commits = self.commits()?;
        let mut measured: Option<String> = None;
        let started = Instant::now();
        let mut done = 0;
        for (number, commit) in commits.iter().enumerate() {
            if let Some(line) = lines.iter().find(|line| line.revision() == commit) {
                if matches!(line, Line::Revision(_)) {
                    measured = Some(commit.clone());
                }
                continue;
            }
            let left = (done > 0).then(|| {
                let rest = commits.len() - number;
                started.elapsed() * rest as u32 / done
            });
            watcher.begins(number + 1, commits.len(), commit, left);
            done += 1;
            let line = match self.measure(commit, measured.as_deref(), watcher) {
                Ok(revision) => Line::Revision(Box::new(revision)),
                // The build's trouble is this revision's alone.
                Err(ReplayError::Build(error)) => {
                    watcher.says(&format!("skipped: {error}"));
                    Line::Skipped(Skipped {
                        revision: commit.clone(),
                        subject: self.user.subject(commit)?,
                        why: error.to_string(),
                    })
                }
                Err(error) => return Err(error),
            };
            results::append(&path, &line)?;
            if matches!(line, Line::Revision(_)) {
                // Only now the older stores are not needed any more.
                if let Some(before) = measured.replace(commit.clone()) {
                    files::remove_folder(&self.stores(&before))?;
                }
            }
            lines.push(line);
        }
        lines.retain(|line| commits.iter().any(|commit| commit == line.revision()));
        Ok(lines)
    }

    fn commits(&self) -> Result<Vec<String>, ReplayError> {
        let commits = match &self.settings.range {
            Range::Commits(range) => self.user.commits(&[range], &[])?,
            Range::Last(count) => {
                let most = format!("--max-count={count}");
                self.user.commits(&[&most, "HEAD"], &[])?
            }
        };
        if commits.is_empty() {
            return Err(ReplayError::NoCommits);
        }
        Ok(commits)
    }

    /// The stores as they are after a revision.
    fn stores(&self, revision: &str) -> PathBuf {
        self.settings.work.join("stores").join(revision)
    }

    fn measure(
        &self,
        commit: &str,
        before: Option<&str>,
        watcher: &mut dyn Watcher,
    ) -> Result<Revision, ReplayError> {
        self.clone.check_out(commit)?;
        let mut revision = Revision {
            revision: commit.to_owned(),
            subject: self.user.subject(commit)?,
            first: before.is_none(),
            compile_millis: self.maven.compile()?.as_millis() as u64,
            ..Revision::default()
        };
        if self.settings.full {
            self.full_suite(&mut revision)?;
        }
        let after = self.stores(commit);
        files::remove_folder(&after)?;
        files::make_folder(&after)?;
        for technique in self.in_turn(commit) {
            let before = before.map(|before| self.stores(before).join(technique.name()));
            let store = after.join(technique.name());
            let mut selection = self.select(technique, before.as_deref(), &store)?;
            if let Some(full) = &revision.full {
                selection.missed = missed(full, &selection.selected, &revision.unstable);
            }
            for test in &selection.missed {
                watcher.says(&format!("{technique} would have missed {test}"));
            }
            revision
                .techniques
                .insert(technique.name().to_owned(), selection);
        }
        if self.settings.mutants > 0 {
            self.plant(commit, &after, watcher)?;
        }
        Ok(revision)
    }

    /// Techniques in another order for each revision, so that none is always
    /// the one that finds the caches warm.
    fn in_turn(&self, commit: &str) -> Vec<Technique> {
        let mut techniques = self.settings.techniques.clone();
        let turn = commit.bytes().map(usize::from).sum::<usize>();
        let by = turn % techniques.len().max(1);
        techniques.rotate_left(by);
        techniques
    }

    fn full_suite(&self, revision: &mut Revision) -> Result<(), ReplayError> {
        let times = self.settings.runs.max(self.settings.stability).max(1);
        let mut suites: Vec<Suite> = Vec::new();
        for _ in 0..times {
            suites.push(self.maven.full_suite()?);
        }
        revision.unstable = unstable(&suites);
        let millis = median(suites.iter().map(|suite| suite.millis).collect());
        let mut suite = suites.swap_remove(0);
        suite.millis = millis;
        revision.full = Some(suite);
        Ok(())
    }

    /// Runs a technique on what the revision before has left, and keeps what it
    /// leaves in `after`.
    fn select(
        &self,
        technique: Technique,
        before: Option<&Path>,
        after: &Path,
    ) -> Result<Selection, ReplayError> {
        let place = self.maven.folder.join(".fewest");
        let start_over = || {
            files::remove_folder(&place)?;
            match before {
                Some(before) => files::copy_folder(before, &place),
                None => Ok(()),
            }
        };
        let name = technique.name();
        let mut without = Vec::new();
        let mut with = Vec::new();
        let mut tests = Vec::new();
        for _ in 0..self.settings.runs.max(1) {
            if before.is_some() && self.settings.without_collection {
                start_over()?;
                let (time, _) = self.maven.under_fewest(name, "off")?;
                without.push(time.as_millis() as u64);
            }
            start_over()?;
            let (time, reported) = self.maven.under_fewest(name, "now")?;
            with.push(time.as_millis() as u64);
            tests = reported;
        }
        if !place.exists() {
            files::make_folder(&place)?;
        }
        files::rename(&place, after)?;
        Ok(selection(tests, median(with), without))
    }

    fn plant(
        &self,
        commit: &str,
        stores: &Path,
        watcher: &mut dyn Watcher,
    ) -> Result<(), ReplayError> {
        let settings = mutants::Settings {
            project: self.maven.folder.clone(),
            stores: self
                .settings
                .techniques
                .iter()
                .map(|technique| (*technique, stores.join(technique.name())))
                .collect(),
            count: self.settings.mutants,
            seed: self.settings.seed,
            check: self.settings.check,
            jobs: self.settings.jobs,
            work: self.settings.work.join("mutants"),
            revision: Some(commit.to_owned()),
        };
        let path = self.settings.work.join(Self::MUTANTS);
        let mut killed: BTreeMap<bool, usize> = BTreeMap::new();
        let result = mutants::run(&settings, |line| {
            if let mutants::Line::Mutant(mutant) = line {
                *killed.entry(!mutant.killers.is_empty()).or_default() += 1;
                for (technique, missed) in &mutant.missed {
                    if !missed.is_empty() {
                        let count = missed.len();
                        let words = &mutant.words;
                        watcher.says(&format!("{technique} misses {count} of “{words}”"));
                    }
                }
            }
            Ok(results::append(&path, line)?)
        });
        let (dead, alive) = (
            killed.get(&true).copied().unwrap_or(0),
            killed.get(&false).copied().unwrap_or(0),
        );
        match result {
            Err(MutantError::NoTests) => watcher.says("no test to plant mutants for"),
            result => result?,
        }
        watcher.says(&format!("{dead} mutants killed, {alive} survived"));
        Ok(())
    }
}

fn selection(tests: Vec<ReportedTest>, aec_millis: u64, without: Vec<u64>) -> Selection {
    let mut selection = Selection {
        tests: tests.len(),
        aec_millis,
        ae_millis: (!without.is_empty()).then(|| median(without)),
        ..Selection::default()
    };
    for test in tests.into_iter().filter(|test| test.verdict == "run") {
        selection.test_millis += test.millis.unwrap_or(0);
        if matches!(test.outcome, Some(Outcome::Failed | Outcome::Unfinished)) {
            selection.failed.push(test.test.clone());
        }
        selection.selected.push(test.test);
    }
    selection
}

/// The failing tests that were left out, but for those that fail by chance.
fn missed(full: &Suite, selected: &[String], unstable: &[String]) -> Vec<String> {
    let failed = full.failed.iter();
    failed
        .filter(|test| !selected.contains(test) && !unstable.contains(test))
        .cloned()
        .collect()
}

/// The tests that failed in some of the runs, but not in all.
fn unstable(suites: &[Suite]) -> Vec<String> {
    let all: BTreeSet<&String> = suites.iter().flat_map(|suite| &suite.failed).collect();
    all.into_iter()
        .filter(|test| suites.iter().any(|suite| !suite.failed.contains(test)))
        .cloned()
        .collect()
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    match values.len() {
        0 => 0,
        count if count % 2 == 1 => values[count / 2],
        count => u64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(failed: &[&str]) -> Suite {
        Suite {
            failed: failed.iter().map(|&test| test.to_owned()).collect(),
            ..Suite::default()
        }
    }

    #[test]
    fn a_failing_test_that_was_left_out_is_missed_unless_it_fails_by_chance() {
        let full = suite(&["A", "B", "C"]);
        let (selected, unstable) = (["B".to_owned()], ["C".to_owned()]);
        assert_eq!(missed(&full, &selected, &unstable), ["A"]);
    }

    #[test]
    fn a_test_that_fails_now_and_then_is_unstable() {
        let suites = [suite(&["A", "B"]), suite(&["A"]), suite(&["A", "C"])];
        assert_eq!(unstable(&suites), ["B", "C"]);
        assert!(unstable(&suites[..1]).is_empty());
    }

    #[test]
    fn an_even_number_of_times_has_the_middle_of_two_as_median() {
        assert_eq!(median(vec![4, 1, 2, 9]), 3);
        assert_eq!(median(vec![5, 1, 2]), 2);
        assert_eq!(median(Vec::new()), 0);
    }
}
