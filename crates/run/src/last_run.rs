//! The last run, kept for `fewest rerun`: its command, and what it left undone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;

use fewest_model::{Outcome, TestId};
use fewest_select::Technique;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::coarsening::Coarsening;
use crate::merge::{Merged, TestReport};
use crate::order_settings::OrderBy;
use crate::plan::LeftOut;
use crate::project::Project;

const FORMAT: u32 = 1;
const FILE_NAME: &str = "last-run.json";

/// What runs the tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// Maven, with these arguments.
    Maven(Vec<OsString>),
    /// A command and its arguments.
    Command(Vec<OsString>),
}

/// How a run was started, and which tests failed or were left out in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastRun {
    format: u32,
    pub target: Target,
    pub directory: PathBuf,
    pub technique: Technique,
    #[serde(default)]
    pub coarsen: Coarsening,
    pub order: OrderBy,
    pub seed: u64,
    pub due: BTreeSet<TestId>,
}

#[derive(Debug, Error)]
pub enum LastRunError {
    #[error("no run is known that could be repeated: there is no `{}`", .0.display())]
    None(PathBuf),
    #[error("failed to use `{}`", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("`{}` has format {format}, but only format {FORMAT} is known", path.display())]
    UnknownFormat { path: PathBuf, format: u32 },
}

impl LastRun {
    pub fn of(target: Target, directory: PathBuf, merged: &Merged) -> Self {
        Self {
            format: FORMAT,
            target,
            directory,
            technique: merged.technique,
            coarsen: merged.coarsen.clone(),
            order: merged.order.by.parse().unwrap_or_default(),
            seed: merged.order.seed,
            due: merged
                .tests
                .iter()
                .filter(|test| is_due(test))
                .map(id)
                .collect(),
        }
    }

    pub fn read(project: &Project) -> Result<Self, LastRunError> {
        let path = project.folder().join(FILE_NAME);
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => LastRunError::None(path.clone()),
            _ => LastRunError::File {
                path: path.clone(),
                source,
            },
        })?;
        let last: Self = serde_json::from_slice(&bytes).map_err(|error| LastRunError::File {
            path: path.clone(),
            source: error.into(),
        })?;
        match last.format {
            FORMAT => Ok(last),
            format => Err(LastRunError::UnknownFormat { path, format }),
        }
    }

    /// Writes to a file beside, then renames: a reader sees all or nothing.
    pub fn keep(&self, project: &Project) -> Result<(), LastRunError> {
        let path = project.folder().join(FILE_NAME);
        let write = || {
            let half = path.with_extension(format!("{}.new", std::process::id()));
            fs::write(&half, serde_json::to_vec_pretty(self)?)?;
            fs::rename(half, &path)
        };
        write().map_err(|source| LastRunError::File {
            path: path.clone(),
            source,
        })
    }
}

/// Whether a test failed, or was left out on this machine's account.
fn is_due(test: &TestReport) -> bool {
    test.left_out == Some(LeftOut::Budget)
        || matches!(test.outcome, Some(Outcome::Failed | Outcome::Unfinished))
}

fn id(test: &TestReport) -> TestId {
    TestId::of_class(test.module.as_str(), TestId::class_of(&test.test))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_failed_makes_its_class_due() {
        let failed = |test: &str| TestReport {
            test: test.into(),
            module: "m".into(),
            outcome: Some(Outcome::Failed),
            ..TestReport::default()
        };
        let due = TestId::of_class("m", "p/ATest".into());
        for test in ["p.ATest", "p.ATest#a", "p.ATest$In#a"] {
            assert!(is_due(&failed(test)));
            assert_eq!(id(&failed(test)), due);
        }
    }
}
