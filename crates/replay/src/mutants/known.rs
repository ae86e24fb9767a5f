//! What an earlier run has found out about faults.
//!
//! Who finds a fault does not depend on techniques. When these have changed, or
//! others are to be judged, the faults are planted again and the techniques
//! asked, and the tests need not run once more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Candidate, Check, Line, MutantError, SetAside, SuiteTest, TestRun, read};

/// The results for one revision.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) path: PathBuf,
    pub(super) seed: u64,
    pub(super) check: Check,
    pub(super) tests: Vec<SuiteTest>,
    pub(super) set_aside: Vec<SetAside>,
    pub(super) candidates: usize,
    /// The faults, in their order.
    ids: Vec<String>,
    ran: BTreeMap<String, Vec<TestRun>>,
}

impl Known {
    pub(super) fn read(path: &Path, revision: Option<&str>) -> Result<Self, MutantError> {
        let mut known: Option<Self> = None;
        let mut is_wanted = false;
        for line in read(path)? {
            match line {
                Line::Suite {
                    revision: of,
                    seed,
                    check,
                    tests,
                    set_aside,
                    candidates,
                    ..
                } => {
                    is_wanted = known.is_none() && of.as_deref() == revision;
                    if is_wanted {
                        known = Some(Self {
                            path: path.to_owned(),
                            seed,
                            check,
                            tests,
                            set_aside,
                            candidates,
                            ids: Vec::new(),
                            ran: BTreeMap::new(),
                        });
                    }
                }
                Line::Mutant(mutant) if is_wanted && mutant.not_planted.is_none() => {
                    if let Some(known) = &mut known {
                        known.ids.push(mutant.id.clone());
                        known.ran.insert(mutant.id, mutant.ran);
                    }
                }
                Line::Mutant(_) => {}
            }
        }
        known.ok_or_else(|| MutantError::NotKnown {
            path: path.to_owned(),
            what: format!("revision {}", revision.unwrap_or("without a name")),
        })
    }

    /// The same faults among all that there are.
    pub(super) fn pick(&self, all: Vec<Candidate>) -> Result<Vec<Candidate>, MutantError> {
        let mut all: BTreeMap<String, Candidate> = all
            .into_iter()
            .map(|candidate| (candidate.mutant.id.clone(), candidate))
            .collect();
        let pick = |id: &String| all.remove(id).ok_or_else(|| self.has_another(id));
        self.ids.iter().map(pick).collect()
    }

    /// How the tests ended with a fault.
    pub(super) fn ran(&self, id: &str) -> Option<&Vec<TestRun>> {
        self.ran.get(id)
    }

    /// The file tells of something that is not there.
    pub(super) fn has_another(&self, what: &str) -> MutantError {
        MutantError::OtherProject {
            path: self.path.clone(),
            what: what.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(folder: &Path) -> PathBuf {
        let suite = |revision: &str| {
            json!({
                "kind": "suite", "format": 1, "revision": revision, "seed": 7, "check": "full",
                "techniques": [], "setAside": [], "candidates": 9,
                "tests": [{"test": "ATest", "module": "", "millis": 5}],
            })
        };
        let mutant = |id: &str, not_planted: Option<&str>| {
            json!({
                "kind": "mutant", "id": id, "operator": "call", "class": "p.X", "method": null,
                "line": null, "words": "x", "killers": [0], "inCompanyOnly": [], "selected": {},
                "ran": [{"test": 0, "outcome": "failed", "millis": 3}],
                "uses": {}, "missed": {}, "notPlanted": not_planted,
            })
        };
        let lines = [
            suite("one"),
            mutant("a", None),
            suite("two"),
            mutant("c", None),
            mutant("b", None),
            mutant("d", Some("too large")),
        ];
        let text = lines.map(|line| line.to_string()).join("\n");
        let path = folder.join("mutants.jsonl");
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn only_what_was_planted_in_the_same_revision_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let known = Known::read(&file(folder.path()), Some("two")).unwrap();
        assert_eq!(known.ids, ["c", "b"]);
        assert_eq!((known.seed, known.check), (7, Check::Full));
        assert_eq!(known.ran("b").unwrap()[0].millis, 3);
        assert!(known.ran("a").is_none());
    }

    #[test]
    fn a_revision_that_the_file_does_not_have_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path());
        let error = Known::read(&path, Some("three")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{}` has nothing of revision three", path.display())
        );
    }

    #[test]
    fn a_fault_that_the_classes_do_not_have_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let known = Known::read(&file(folder.path()), Some("two")).unwrap();
        let error = known.pick(Vec::new()).unwrap_err();
        assert!(error.to_string().contains("tells of `c`"), "{error}");
    }
}
