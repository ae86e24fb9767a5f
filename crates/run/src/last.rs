//! The last request in which each test took part.
//!
//! Kept so that verdicts can be given without a build: `fewest why` and `fewest
//! select` need the class path and the environment that only a build knows.
//! Nothing is decided by them that a build acts on.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fewest_build::TaskRequest;
use fewest_model::{ClassName, Fingerprint};

use crate::project::Project;

/// A request that a build has made, and the tests it was the last one for.
#[derive(Debug)]
pub(crate) struct LastTask {
    pub(crate) request: TaskRequest,
    pub(crate) tests: BTreeSet<ClassName>,
    folder: PathBuf,
}

const TESTS: &str = "tests.json";

impl LastTask {
    /// All that are kept, in the order of their modules.
    pub(crate) fn all(project: &Project) -> Vec<Self> {
        let entries = fs::read_dir(place(project)).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        folders.into_iter().filter_map(Self::read).collect()
    }

    fn read(folder: PathBuf) -> Option<Self> {
        Some(Self {
            request: TaskRequest::read(&folder).ok()?,
            tests: serde_json::from_slice(&fs::read(folder.join(TESTS)).ok()?).ok()?,
            folder,
        })
    }

    /// The request as one for exactly its tests.
    pub(crate) fn request_of_tests(&self) -> TaskRequest {
        TaskRequest {
            test_classes: Some(self.tests.iter().cloned().collect()),
            ..self.request.clone()
        }
    }

    /// Keeps a request as the last one of its tests, and drops what it replaces.
    pub(crate) fn keep(
        project: &Project,
        request: &TaskRequest,
        tests: BTreeSet<ClassName>,
    ) -> io::Result<()> {
        if tests.is_empty() {
            return Ok(());
        }
        let folder = place(project).join(name(request));
        for mut older in Self::all(project) {
            if older.request.module != request.module || older.folder == folder {
                continue;
            }
            let before = older.tests.len();
            older.tests.retain(|test| !tests.contains(test));
            if older.tests.is_empty() {
                fs::remove_dir_all(&older.folder)?;
            } else if older.tests.len() < before {
                write_tests(&older.folder, &older.tests)?;
            }
        }
        fs::create_dir_all(&folder)?;
        request.write(&folder).map_err(io::Error::other)?;
        let mut tests = tests;
        // The same request for other tests, as when a user names a few of them.
        if let Some(same) = Self::read(folder.clone()) {
            tests.extend(same.tests);
        }
        write_tests(&folder, &tests)
    }
}

fn place(project: &Project) -> PathBuf {
    project.folder().join("last")
}

/// A name that says the module and is the same for requests that ask from the
/// same point of view.
fn name(request: &TaskRequest) -> String {
    let mut same = request.clone();
    same.started_at = 0;
    same.test_classes = None;
    same.run_all = None;
    let text = serde_json::to_vec(&same).unwrap_or_default();
    let module = match request.module.as_str() {
        "" => "root",
        module => module,
    };
    let module: String = module
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    format!("{module}-{}", &Fingerprint::of(&text).to_string()[..8])
}

fn write_tests(folder: &Path, tests: &BTreeSet<ClassName>) -> io::Result<()> {
    let half = folder.join("tests.json.new");
    fs::write(&half, serde_json::to_vec(tests)?)?;
    fs::rename(half, folder.join(TESTS))
}

#[cfg(test)]
mod tests {
    use fewest_build::FORMAT;

    use super::*;

    fn request(module: &str, class_path: &str) -> TaskRequest {
        TaskRequest {
            format: FORMAT,
            module: module.into(),
            task: "exec".into(),
            basedir: PathBuf::new(),
            classpath: vec![class_path.into()],
            test_classes: None,
            test_sources: Vec::new(),
            run_all: None,
            reports: None,
            started_at: 1,
            java_home: None,
            jvm_args: Vec::new(),
            system_properties: std::collections::BTreeMap::new(),
            environment: std::collections::BTreeMap::new(),
            settings: std::collections::BTreeMap::new(),
        }
    }

    fn classes(names: &[&str]) -> BTreeSet<ClassName> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn each_test_is_found_with_the_last_request_that_it_took_part_in() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::at(folder.path());
        let keep = |module: &str, class_path: &str, tests: &[&str]| {
            LastTask::keep(&project, &request(module, class_path), classes(tests)).unwrap();
        };
        let kept = || -> Vec<(String, PathBuf, BTreeSet<ClassName>)> {
            let mut all: Vec<_> = LastTask::all(&project)
                .into_iter()
                .map(|last| {
                    let path = last.request.classpath[0].clone();
                    (last.request.module, path, last.tests)
                })
                .collect();
            all.sort();
            all
        };
        keep("a/b", "x", &["A", "B"]);
        keep("", "x", &["A"]);
        keep("a/b", "y", &["B", "C"]);
        assert_eq!(
            kept(),
            [
                (String::new(), "x".into(), classes(&["A"])),
                ("a/b".into(), "x".into(), classes(&["A"])),
                ("a/b".into(), "y".into(), classes(&["B", "C"])),
            ]
        );
        keep("a/b", "y", &["A"]);
        keep("", "x", &[]);
        assert_eq!(
            kept(),
            [
                (String::new(), "x".into(), classes(&["A"])),
                ("a/b".into(), "y".into(), classes(&["A", "B", "C"])),
            ]
        );
    }
}
