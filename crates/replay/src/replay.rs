//! One walk through a history.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fewest_run::{OutlookError, StoreReadError};
use thiserror::Error;

use crate::files::{self, FileError};
use crate::git::{GitError, Repository};
use crate::maven::{BuildError, Maven, ReportedTest, UnderFewest};
use crate::mutants::{self, MutantError};
use crate::results::{self, Line, Mode, Revision, Selection, Skipped, Suite};
use crate::settings::{Range, Settings};
use crate::variant::Variant;

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
    #[error(transparent)]
    Outlook(#[from] OutlookError),
    #[error("failed to read the store")]
    Store(#[from] StoreReadError),
    #[error("no commit is in the range, or none of it touches the paths")]
    NoCommits,
    #[error("`{}` holds the results of another replay; add --resume to go on with it, or name another folder with --work", .0.display())]
    Occupied(PathBuf),
    #[error("another replay works in `{}`; wait for it, or name another folder with --work", .0.display())]
    InUse(PathBuf),
}

/// Is told how a replay goes on.
pub trait Watcher {
    fn begins(&mut self, number: usize, of: usize, revision: &str, left: Option<Duration>);
    fn says(&mut self, line: &str);
}

/// A walk that can begin.
pub struct Replay {
    pub(crate) settings: Settings,
    user: Repository,
    clone: Repository,
    pub(crate) maven: Maven,
    /// Held for as long as the replay lives, so that no other one works in the
    /// same folder.
    _lock: File,
}

impl Replay {
    pub const RESULTS: &str = "results.jsonl";
    pub const MUTANTS: &str = "mutants.jsonl";

    /// Makes the clone, or finds the one of the replay that is resumed.
    pub fn new(settings: Settings) -> Result<Self, ReplayError> {
        // They are needed only when a revision has been built, which takes long.
        if let Some(known) = &settings.known_mutants {
            mutants::read(known)?;
        }
        let user = Repository::at(&settings.directory);
        let tree = settings.work.join("tree");
        if settings.work.join(Self::RESULTS).exists() && !settings.resume {
            return Err(ReplayError::Occupied(settings.work.clone()));
        }
        files::make_folder(&settings.work.join("logs"))?;
        let lock = files::lock(&settings.work.join("lock"))?
            .ok_or_else(|| ReplayError::InUse(settings.work.clone()))?;
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
            entity: settings.entity,
            logs: settings.work.join("logs"),
        };
        Ok(Self {
            settings,
            user,
            clone,
            maven,
            _lock: lock,
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
        let paths = &self.settings.paths;
        let commits = match &self.settings.range {
            Range::Commits(range) => self.user.commits(&[range], paths)?,
            Range::Last(count) => {
                let most = format!("--max-count={count}");
                self.user.commits(&[&most, "HEAD"], paths)?
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
            mode: self.settings.mode,
            compile_millis: self.maven.compile()?.as_millis() as u64,
            ..Revision::default()
        };
        let after = self.stores(commit);
        files::remove_folder(&after)?;
        files::make_folder(&after)?;
        let stores = Stores {
            before: before.map(|before| self.stores(before)),
            after,
        };
        match self.settings.mode {
            Mode::Exact => self.measure_exactly(&mut revision, &stores)?,
            Mode::Quick => self.measure_quickly(&mut revision, &stores)?,
        }
        self.see_changes(&mut revision, &stores)?;
        self.compare_orders(&mut revision, &stores)?;
        for (name, selection) in &mut revision.techniques {
            if let Some(full) = &revision.full {
                selection.missed = missed(full, selection, &revision.unstable);
            }
            for test in &selection.missed {
                watcher.says(&format!("{name} would have missed {test}"));
            }
        }
        if self.settings.mutants > 0 || self.settings.known_mutants.is_some() {
            self.plant(commit, &stores, watcher)?;
        }
        Ok(revision)
    }

    /// Whether what a variant knows is in a store that it shares with others.
    pub(crate) fn shares_store(&self, variant: &Variant) -> bool {
        self.settings.mode == Mode::Quick && !variant.technique.is_static()
    }

    /// The name of a variant's store.
    pub(crate) fn store_of(&self, variant: &Variant) -> String {
        if self.shares_store(variant) {
            "shared".to_owned()
        } else {
            variant.name()
        }
    }
}

/// What is known before a revision and after it, a store for each name.
pub(crate) struct Stores {
    before: Option<PathBuf>,
    after: PathBuf,
}

impl Stores {
    pub(crate) fn before(&self, name: &str) -> Option<PathBuf> {
        self.before.as_ref().map(|before| before.join(name))
    }

    pub(crate) fn after(&self, name: &str) -> PathBuf {
        self.after.join(name)
    }
}

/// What a build under fewest ran.
pub(crate) fn selection(run: &UnderFewest) -> Selection {
    let names = |tests: BTreeSet<&str>| tests.into_iter().map(str::to_owned).collect();
    let ran = || run.tests.iter().filter(|test| test.ran());
    let all: BTreeSet<&str> = run.tests.iter().map(ReportedTest::class).collect();
    let selected: BTreeSet<&str> = ran().map(ReportedTest::class).collect();
    let failed = ran().filter(|test| test.failed());
    let left_out: BTreeSet<&str> = run
        .tests
        .iter()
        .filter(|test| !test.ran() || test.methods.is_some())
        .map(ReportedTest::class)
        .collect();
    Selection {
        tests: all.len(),
        methods: selected
            .iter()
            .filter_map(|class| run.methods_of.get(*class))
            .sum(),
        analysis_millis: run.analysis_millis,
        test_millis: ran().filter_map(|test| test.millis).sum(),
        failed: names(failed.map(ReportedTest::class).collect()),
        in_part: names(selected.intersection(&left_out).copied().collect()),
        selected: names(selected),
        ..Selection::default()
    }
}

/// The failing tests that were left out, or that did not fail in the part that
/// ran, but for those that fail by chance.
fn missed(full: &Suite, selection: &Selection, unstable: &[String]) -> Vec<String> {
    let found = |test: &String| {
        selection.selected.contains(test)
            && (!selection.in_part.contains(test) || selection.failed.contains(test))
    };
    let failed = full.failed.iter();
    failed
        .filter(|test| !found(test) && !unstable.contains(test))
        .cloned()
        .collect()
}

/// The tests that failed in some of the runs, but not in all.
pub(crate) fn unstable(suites: &[Suite]) -> Vec<String> {
    let all: BTreeSet<&String> = suites.iter().flat_map(|suite| &suite.failed).collect();
    all.into_iter()
        .filter(|test| suites.iter().any(|suite| !suite.failed.contains(test)))
        .cloned()
        .collect()
}

pub(crate) fn median(mut values: Vec<u64>) -> u64 {
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
        let unstable = ["C".to_owned()];
        let selection = Selection {
            selected: vec!["B".to_owned()],
            ..Selection::default()
        };
        assert_eq!(missed(&full, &selection, &unstable), ["A"]);
    }

    #[test]
    fn a_failing_test_that_ran_in_part_is_missed_unless_that_part_failed() {
        use fewest_model::Outcome::{Failed, Passed, Skipped};

        let test = |test: &str, verdict: &str, outcome, in_part: bool| ReportedTest {
            test: test.to_owned(),
            module: String::new(),
            verdict: verdict.to_owned(),
            outcome,
            millis: None,
            methods: in_part.then_some(serde::de::IgnoredAny),
        };
        let run = UnderFewest {
            tests: vec![
                test("A", "run", Some(Skipped), true),
                test("B", "run", Some(Failed), true),
                test("C#a", "run", Some(Passed), false),
                test("C#b", "skip", None, false),
                test("D", "run", Some(Passed), false),
            ],
            ..UnderFewest::default()
        };
        let full = suite(&["A", "B", "C", "D"]);
        assert_eq!(missed(&full, &selection(&run), &[]), ["A", "C"]);
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
