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

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    pub revision: String,
    pub subject: String,
    /// Whether it is the first one, on which all stores are empty.
    pub first: bool,
    pub compile_millis: u64,
    /// The whole suite without fewest; none if it was not asked for.
    pub full: Option<Suite>,
    /// Test classes that did not end the same way each time.
    pub unstable: Vec<String>,
    pub techniques: BTreeMap<String, Selection>,
}

/// The whole suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suite {
    /// From the start of the build tool to its end; the median of all runs.
    pub millis: u64,
    /// What the tests took by the build's reports.
    pub test_millis: u64,
    pub methods: u64,
    pub tests: Vec<String>,
    pub failed: Vec<String>,
}

/// What one technique made of a revision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    /// How many test classes there are.
    pub tests: usize,
    pub selected: Vec<String>,
    /// Analysis, execution and collection: the whole build under fewest, the
    /// median of all runs.
    pub aec_millis: u64,
    /// Analysis and execution: the same without collection.
    pub ae_millis: Option<u64>,
    /// What the selected tests took.
    pub test_millis: u64,
    pub failed: Vec<String>,
    /// Test classes that fail in the whole suite and were left out.
    pub missed: Vec<String>,
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
