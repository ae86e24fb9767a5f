//! What passes between a build that is about to run tests and fewest.
//!
//! The build writes a [`TaskRequest`] into the folder of its task and gets a
//! [`TaskAnswer`]. Both carry a format number; a file of another format is an
//! error, and the caller then runs all tests.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fewest_model::ClassName;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The format of both files that this version reads and writes.
pub const FORMAT: u32 = 1;

/// One run of tests that a build is about to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    pub format: u32,
    /// The path of the module below the root, empty for the root itself.
    pub module: String,
    /// What runs the tests, as in `surefire:test@default-test`.
    pub task: String,
    pub basedir: PathBuf,
    /// The class path of the test JVM, in its order.
    pub classpath: Vec<PathBuf>,
    /// The classes that the task would run, if the build could tell.
    pub test_classes: Option<Vec<ClassName>>,
    /// The folders of the sources that the test classes were compiled from, as
    /// far as the build knows them.
    #[serde(default)]
    pub test_sources: Vec<PathBuf>,
    /// Why nothing may be left out, as when the user names the tests.
    #[serde(default)]
    pub run_all: Option<String>,
    /// Where the build will write `TEST-*.xml`, if it does.
    pub reports: Option<PathBuf>,
    /// Milliseconds since 1970. Reports from before are of another run.
    pub started_at: u64,
    /// The home of the JVM that will run the tests, if the build could tell.
    pub java_home: Option<PathBuf>,
    /// The arguments of that JVM, without ours.
    pub jvm_args: Vec<String>,
    /// The system properties that the build gives to the tests.
    pub system_properties: BTreeMap<String, String>,
    /// The environment variables that the build sets for the tests.
    pub environment: BTreeMap<String, String>,
    /// Everything else of the configuration that can change an outcome.
    pub settings: BTreeMap<String, String>,
}

/// What the build is to do about a [`TaskRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskAnswer {
    pub format: u32,
    /// The classes to leave out, each with those nested in it.
    pub skip: Vec<ClassName>,
    /// Test methods that the agent is to leave out, as `com/acme/FooTest#bar`.
    #[serde(default)]
    pub skip_methods: Vec<String>,
    /// The classes whose methods the agent is to tell apart, where it is not to
    /// do so with all.
    #[serde(default)]
    pub by_method: Vec<ClassName>,
    /// The classes that run, in the order in which they should. Classes that
    /// are not named come first; nothing named means any order.
    #[serde(default)]
    pub order: Vec<ClassName>,
    /// The arguments to add to the test JVM.
    pub jvm_args: Vec<String>,
    /// What to print, line by line.
    pub lines: Vec<String>,
}

impl TaskRequest {
    pub const FILE_NAME: &str = "request.json";

    pub fn read(task_folder: &Path) -> Result<Self, TaskFileError> {
        read(&task_folder.join(Self::FILE_NAME))
    }

    pub fn write(&self, task_folder: &Path) -> Result<(), TaskFileError> {
        write(&task_folder.join(Self::FILE_NAME), self)
    }
}

impl TaskAnswer {
    pub const FILE_NAME: &str = "answer.json";

    pub fn read(task_folder: &Path) -> Result<Self, TaskFileError> {
        read(&task_folder.join(Self::FILE_NAME))
    }

    pub fn write(&self, task_folder: &Path) -> Result<(), TaskFileError> {
        write(&task_folder.join(Self::FILE_NAME), self)
    }
}

#[derive(Debug, Error)]
#[error("`{path}`")]
pub struct TaskFileError {
    pub path: PathBuf,
    #[source]
    pub kind: TaskFileErrorKind,
}

#[derive(Debug, Error)]
pub enum TaskFileErrorKind {
    #[error("cannot be read or written")]
    Io(#[from] io::Error),
    #[error("is not what this file must hold")]
    Json(#[from] serde_json::Error),
    #[error("has format {0}, but only format {FORMAT} is known")]
    UnknownFormat(u32),
}

/// The part of a file that every format must have.
#[derive(Deserialize)]
struct Stamp {
    format: u32,
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, TaskFileError> {
    let parse = || {
        let text = fs::read(path)?;
        // The number comes first, since another format may lack what this one needs.
        match serde_json::from_slice::<Stamp>(&text)?.format {
            FORMAT => Ok(serde_json::from_slice(&text)?),
            format => Err(TaskFileErrorKind::UnknownFormat(format)),
        }
    };
    parse().map_err(|kind| TaskFileError {
        path: path.to_owned(),
        kind,
    })
}

/// Writes to a file beside, then renames: a reader sees all or nothing.
fn write(path: &Path, value: &impl Serialize) -> Result<(), TaskFileError> {
    let save = || {
        let text = serde_json::to_vec_pretty(value)?;
        let unfinished = path.with_extension("json.new");
        fs::write(&unfinished, text)?;
        Ok(fs::rename(&unfinished, path)?)
    };
    save().map_err(|kind| TaskFileError {
        path: path.to_owned(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> TaskAnswer {
        TaskAnswer {
            format: FORMAT,
            skip: vec!["com/acme/BarTest".into()],
            skip_methods: vec!["com/acme/FooTest#bar".into()],
            by_method: vec!["com/acme/FooTest".into()],
            order: vec!["com/acme/FooTest".into()],
            jvm_args: vec!["-agentpath:/a b.so".to_owned()],
            lines: vec!["core: \"1\" of 2".to_owned()],
        }
    }

    #[test]
    fn an_answer_reads_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        answer().write(folder.path()).unwrap();
        assert_eq!(TaskAnswer::read(folder.path()).unwrap(), answer());
    }

    #[test]
    fn an_answer_has_the_members_that_the_extension_looks_for() {
        insta::assert_json_snapshot!(answer(), @r#"
        {
          "format": 1,
          "skip": [
            "com/acme/BarTest"
          ],
          "skipMethods": [
            "com/acme/FooTest#bar"
          ],
          "byMethod": [
            "com/acme/FooTest"
          ],
          "order": [
            "com/acme/FooTest"
          ],
          "jvmArgs": [
            "-agentpath:/a b.so"
          ],
          "lines": [
            "core: \"1\" of 2"
          ]
        }
        "#);
    }

    #[test]
    fn another_format_is_refused_even_if_the_rest_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("request.json"), r#"{"format": 2}"#).unwrap();
        let error = TaskRequest::read(folder.path()).unwrap_err();
        assert!(matches!(error.kind, TaskFileErrorKind::UnknownFormat(2)));
    }

    #[test]
    fn a_missing_or_damaged_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = TaskRequest::read(folder.path()).unwrap_err();
        assert!(matches!(error.kind, TaskFileErrorKind::Io(_)));
        assert!(error.to_string().contains("request.json"));
        fs::write(folder.path().join("request.json"), r#"{"format": 1"#).unwrap();
        let error = TaskRequest::read(folder.path()).unwrap_err();
        assert!(matches!(error.kind, TaskFileErrorKind::Json(_)));
    }
}
