//! What a replay has found, one line of JSON per revision.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};

/// A line of results; `docs/reference/replay.md` tells of each member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line {
    Revision(Box<Revision>),
    Skipped(Skipped),
}

impl Line {
    pub fn revision(&self) -> &str {
        match self {
            Self::Revision(revision) => &revision.revision,
            Self::Skipped(skipped) => &skipped.revision,
        }
    }
}

/// A revision that could not be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    pub revision: String,
    pub subject: String,
    pub why: String,
}

/// How selections and times were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Every technique ran by itself, with its own store.
    #[default]
    Exact,
    /// The whole suite ran once and was recorded. What techniques that watch
    /// would have run was asked of one store for all, and their times follow
    /// from what each test took.
    Quick,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    pub revision: String,
    pub subject: String,
    /// Whether it is the first one, on which all stores are empty.
    pub first: bool,
    #[serde(default)]
    pub mode: Mode,
    pub compile_millis: u64,
    /// The whole suite; none if it was not asked for.
    pub full: Option<Suite>,
    /// Test classes that did not end the same way each time.
    pub unstable: Vec<String>,
    /// How many changes of each type there are since the revision before, in
    /// classes that tests use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<String, usize>,
    pub techniques: BTreeMap<String, Selection>,
}

/// The whole suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suite {
    /// From the start of the build tool to its end; the median of all runs. In
    /// quick mode tests were watched meanwhile.
    pub millis: u64,
    /// What the tests took by the build's reports.
    pub test_millis: u64,
    pub methods: u64,
    pub tests: Vec<String>,
    pub failed: Vec<String>,
    /// What each test class took, for estimates.
    #[serde(skip)]
    pub(crate) millis_of: BTreeMap<String, u64>,
    /// How many test methods each test class has.
    #[serde(skip)]
    pub(crate) methods_of: BTreeMap<String, u64>,
}

/// What one technique made of a revision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    /// How many test classes there are.
    pub tests: usize,
    pub selected: Vec<String>,
    /// Those of them of which methods were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_part: Vec<String>,
    /// How many test methods ran.
    #[serde(default)]
    pub methods: u64,
    /// From the request of the build to the answer.
    #[serde(default)]
    pub analysis_millis: Option<u64>,
    /// Whether the times are estimates from what each test took.
    #[serde(default)]
    pub estimated: bool,
    /// Analysis, execution and collection: the whole build under fewest, the
    /// median of all runs.
    pub aec_millis: u64,
    /// Analysis and execution: the same without collection.
    pub ae_millis: Option<u64>,
    /// What the selected tests took.
    pub test_millis: u64,
    pub failed: Vec<String>,
    /// Test classes that fail in the whole suite and were left out, or did not
    /// fail in the part that ran.
    pub missed: Vec<String>,
    /// How early each order would have shown a failure; only where there was
    /// one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub orders: BTreeMap<String, OrderResult>,
}

/// How early an order of the selected tests shows what is broken. Shares are
/// of the whole suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderResult {
    pub first_failure_millis: u64,
    /// Time to the first failure as a share of the suite's run time.
    pub first_failure: f64,
    pub apfd: f64,
    pub apfd_by_cost: f64,
}

impl Selection {
    pub fn share(&self) -> f64 {
        if self.tests == 0 {
            0.0
        } else {
            self.selected.len() as f64 / self.tests as f64
        }
    }
}

/// The lines that are there already; a last line that was cut short is none.
pub fn read(path: &Path) -> Result<Vec<Line>, FileError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(files::to("read", path))?,
    };
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(lines.collect())
}

/// Adds a line behind all others.
pub fn append(path: &Path, line: &impl Serialize) -> Result<(), FileError> {
    let write = || {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(files::to("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_back_and_one_cut_short_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        assert!(read(&path).unwrap().is_empty());
        let line = Line::Skipped(Skipped {
            revision: "abc".into(),
            subject: "broken".into(),
            why: "does not compile".into(),
        });
        append(&path, &line).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{}", &whole[..20])).unwrap();
        assert_eq!(read(&path).unwrap(), [line]);
    }
}
