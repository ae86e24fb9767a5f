//! The walk along a history: every tool on every revision.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fewest_replay::files;
use fewest_replay::git::Repository;
use fewest_replay::results::append;

use crate::builds::Builds;
use crate::results::{Line, Outcome, Revision, Skipped, Suite, Time, missed, unstable};
use crate::tools::{Collect, Tool};

pub(crate) struct Walk {
    pub(crate) clone: Repository,
    pub(crate) builds: Builds,
    pub(crate) tools: Vec<Tool>,
    /// How often Maven runs the whole suite.
    pub(crate) plain_runs: usize,
    pub(crate) without_collection: bool,
    pub(crate) work: PathBuf,
}

impl Walk {
    pub(crate) const RESULTS: &str = "results.jsonl";

    /// Measures the commits that have no line yet, and returns all lines.
    pub(crate) fn go(&self, commits: &[String]) -> Result<Vec<Line>> {
        let path = self.work.join(Self::RESULTS);
        let mut lines = read(&path)?;
        let mut before: Option<String> = None;
        for (number, commit) in commits.iter().enumerate() {
            if let Some(line) = lines.iter().find(|line| line.revision() == commit) {
                if matches!(line, Line::Revision(_)) {
                    before = Some(commit.clone());
                }
                continue;
            }
            eprintln!("{} of {}: {commit}", number + 1, commits.len());
            let line = self.revision(number, commit, before.as_deref())?;
            append(&path, &line)?;
            if let Line::Revision(revision) = &line {
                tell(revision);
                if let Some(before) = before.replace(commit.clone()) {
                    files::remove_folder(&self.memories(&before))?;
                }
            }
            lines.push(line);
        }
        Ok(lines)
    }

    /// What all tools know after a commit.
    fn memories(&self, commit: &str) -> PathBuf {
        self.work.join("memories").join(commit)
    }

    fn revision(&self, number: usize, commit: &str, before: Option<&str>) -> Result<Line> {
        self.clone.check_out(commit)?;
        let subject = self.clone.subject(commit)?;
        if let Err(error) = self.builds.compile() {
            eprintln!("  skipped: {error}");
            return Ok(Line::Skipped(Skipped {
                revision: commit.to_owned(),
                subject,
                why: error.to_string(),
            }));
        }
        let after = self.memories(commit);
        files::remove_folder(&after)?;
        files::make_folder(&after)?;
        let mut revision = Revision {
            revision: commit.to_owned(),
            subject,
            first: before.is_none(),
            ..Revision::default()
        };
        let mut plain: Vec<(Time, Suite)> = Vec::new();
        for turn in self.in_turn(number) {
            if turn == Tool::Plain {
                plain.push(self.builds.test(Tool::Plain, Collect::Off)?);
                continue;
            }
            let known = before.map(|before| self.memories(before).join(turn.name()));
            let outcome = self
                .measure(turn, known.as_deref(), &after.join(turn.name()))
                .unwrap_or_else(|error| Outcome {
                    broke: Some(format!("{error:#}")),
                    ..Outcome::default()
                });
            revision.tools.insert(turn, outcome);
        }
        conclude(&mut revision, plain);
        Ok(Line::Revision(Box::new(revision)))
    }

    /// Another tool comes first at each revision, so that none is always the
    /// one that finds the caches warm; Maven's own runs stand between them.
    fn in_turn(&self, number: usize) -> Vec<Tool> {
        let mut turns = self.tools.clone();
        for run in 0..self.plain_runs {
            let place = run * turns.len() / self.plain_runs;
            turns.insert(place, Tool::Plain);
        }
        let by = number % turns.len().max(1);
        turns.rotate_left(by);
        turns
    }

    /// Runs a tool on what it knew after the revision before, and keeps what it
    /// knows then.
    fn measure(&self, tool: Tool, known: Option<&Path>, kept: &Path) -> Result<Outcome> {
        let project = &self.builds.project;
        let known = known.filter(|known| known.is_dir());
        let ae = if self.without_collection && known.is_some() && tool.can_leave_collection() {
            tool.remind(project, known)?;
            Some(self.builds.test(tool, Collect::Off)?.0)
        } else {
            None
        };
        tool.remind(project, known)?;
        let (aec, suite) = self.builds.test(tool, Collect::Now)?;
        tool.keep(project, kept)?;
        Ok(Outcome {
            selected: suite.tests.into_iter().collect(),
            failed: suite.failed.into_iter().collect(),
            aec,
            ae,
            ..Outcome::default()
        })
    }
}

/// Puts Maven's own runs together, and tells what the tools missed.
fn conclude(revision: &mut Revision, plain: Vec<(Time, Suite)>) {
    let (times, suites): (Vec<Time>, Vec<Suite>) = plain.into_iter().unzip();
    revision.plain = Time::mean(&times);
    revision.unstable = unstable(&suites);
    if let Some(suite) = suites.into_iter().next() {
        revision.tests = suite.tests.into_iter().collect();
        revision.failed = suite.failed.into_iter().collect();
    }
    let misses: BTreeMap<Tool, Vec<String>> = revision
        .tools
        .iter()
        .filter(|(_, outcome)| outcome.broke.is_none())
        .map(|(tool, outcome)| (*tool, missed(revision, &outcome.selected)))
        .collect();
    for (tool, missed) in misses {
        if let Some(outcome) = revision.tools.get_mut(&tool) {
            outcome.missed = missed;
        }
    }
}

fn tell(revision: &Revision) {
    let plain = revision.plain.millis;
    eprintln!("  {} test classes in {plain} ms", revision.tests.len());
    for (tool, outcome) in &revision.tools {
        match &outcome.broke {
            Some(why) => eprintln!("  {}: broke: {why}", tool.name()),
            None => eprintln!(
                "  {}: {} in {} ms, {} missed",
                tool.name(),
                outcome.selected.len(),
                outcome.aec.millis,
                outcome.missed.len()
            ),
        }
    }
}

/// The lines that are there already.
fn read(path: &Path) -> Result<Vec<Line>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text =
        fs::read_to_string(path).with_context(|| format!("failed to read `{}`", path.display()))?;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Ok(line) = serde_json::from_str(line) else {
            bail!(
                "line {} of `{}` is no result; remove it to have its revision measured again",
                number + 1,
                path.display()
            );
        };
        lines.push(line);
    }
    Ok(lines)
}
