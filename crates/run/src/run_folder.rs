//! The folder of one run: its settings, and a folder for each task in it.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use fewest_select::{Entity, Technique};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::order_settings::OrderSettings;
use crate::project::Project;
use crate::settings::ProjectFile;
use crate::since::ChangeSet;

/// What holds for a whole run. Written before the build starts; everything
/// that takes part reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct RunSettings {
    pub root: PathBuf,
    pub technique: Technique,
    /// What is left out or run as one.
    #[serde(default)]
    pub entity: Entity,
    /// What the project file said when the run began, unless the command line
    /// said otherwise.
    #[serde(default)]
    pub file: ProjectFile,
    /// In which order the tests go, and which part of them.
    #[serde(default)]
    pub order: OrderSettings,
    /// What changed since a revision, where that is what selection goes by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<ChangeSet>,
    /// Whether everything runs because the project wants that every so often.
    #[serde(default)]
    pub full_run_due: bool,
    /// Whether only trouble is worth a line.
    #[serde(default)]
    pub quiet: bool,
    /// Whether the tests' JVMs are watched.
    pub collect: bool,
    /// Whether nothing is left out, and only told what would have been.
    pub shadow: bool,
    /// The agent's library, unpacked.
    pub agent: PathBuf,
    pub revision: Option<String>,
    /// Milliseconds since 1970.
    pub started_at: u64,
    pub command: String,
}

/// A folder below `.fewest/runs`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

#[derive(Debug, Error)]
#[error("failed to use the run's folder `{}`", path.display())]
pub struct RunFolderError {
    path: PathBuf,
    source: io::Error,
}

const SETTINGS: &str = "run.json";
/// Locked for as long as a run goes on in the background. A lock, unlike the
/// number of a process, cannot be another's.
const BACKGROUND: &str = "background";

/// The mark of a run in the background, as long as this lives.
#[derive(Debug)]
pub(crate) struct BackgroundMark(#[expect(dead_code, reason = "held for its lock")] File);

impl RunFolder {
    /// Makes a new folder that no other run has.
    pub fn create(project: &Project, settings: &RunSettings) -> Result<Self, RunFolderError> {
        let name = format!("{}-{}", settings.started_at, std::process::id());
        let path = project.folder().join("runs").join(name);
        let make = || {
            project.prepare()?;
            create_private(&path)?;
            fs::write(path.join(SETTINGS), serde_json::to_vec(settings)?)
        };
        make().map_err(|source| RunFolderError {
            path: path.clone(),
            source,
        })?;
        Ok(Self { path })
    }

    /// Makes a folder outside of a project whose own cannot be written to.
    pub fn create_elsewhere(settings: &RunSettings) -> Result<Self, RunFolderError> {
        let name = format!("fewest-{}-{}", settings.started_at, std::process::id());
        let path = std::env::temp_dir().join(name);
        let make = || {
            // Not where somebody else has prepared a place for us.
            DirBuilder::new().mode(0o700).create(&path)?;
            fs::write(path.join(SETTINGS), serde_json::to_vec(settings)?)
        };
        make().map_err(|source| RunFolderError {
            path: path.clone(),
            source,
        })?;
        Ok(Self { path })
    }

    /// Marks the run as one that goes on in the background.
    pub(crate) fn mark_background(&self) -> Result<BackgroundMark, RunFolderError> {
        let mark = || {
            let file = File::create(self.path.join(BACKGROUND))?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            Ok(BackgroundMark(file))
        };
        mark().map_err(|source| RunFolderError {
            path: self.path.clone(),
            source,
        })
    }

    /// Whether the run goes on in the background.
    pub fn is_in_background(&self) -> bool {
        let Ok(file) = File::open(self.path.join(BACKGROUND)) else {
            return false;
        };
        flock(&file, FlockOperation::NonBlockingLockShared).is_err()
    }

    /// Asks a run in the background to end. What it has learned is kept.
    pub(crate) fn end_background(&self) {
        if self.is_in_background()
            && let Some(pid) = process_of(&self.path).and_then(|pid| Pid::from_raw(pid as i32))
        {
            // It may have come to its own end.
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// The process that carries out the run.
    pub fn process(&self) -> Option<u32> {
        process_of(&self.path)
    }

    /// Whether it lies where a later run looks for leftovers.
    pub(crate) fn is_in(&self, project: &Project) -> bool {
        self.path.starts_with(project.folder())
    }

    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn settings(&self) -> Result<RunSettings, RunFolderError> {
        let read = || {
            Ok(serde_json::from_slice(&fs::read(
                self.path.join(SETTINGS),
            )?)?)
        };
        read().map_err(|source| RunFolderError {
            path: self.path.clone(),
            source,
        })
    }

    /// The folders of the tasks, in the order of their names.
    pub fn tasks(&self) -> Result<Vec<PathBuf>, RunFolderError> {
        let read = || {
            let mut tasks = Vec::new();
            for entry in fs::read_dir(&self.path)? {
                let path = entry?.path();
                if path.is_dir() {
                    tasks.push(path);
                }
            }
            tasks.sort();
            Ok(tasks)
        };
        read().map_err(|source| RunFolderError {
            path: self.path.clone(),
            source,
        })
    }

    /// Removes the folder once all that it told has been kept.
    pub fn remove(self) -> Result<(), RunFolderError> {
        fs::remove_dir_all(&self.path).map_err(|source| RunFolderError {
            path: self.path,
            source,
        })
    }

    /// The folders of runs that were interrupted before they were merged.
    /// Those of runs that still go on are left to them.
    pub fn leftovers(project: &Project) -> Vec<Self> {
        let all = Self::all(project).into_iter();
        all.filter(|folder| !is_running(&folder.path)).collect()
    }

    /// The folders of runs that still go on.
    pub fn running(project: &Project) -> Vec<Self> {
        let all = Self::all(project).into_iter();
        all.filter(|folder| is_running(&folder.path)).collect()
    }

    fn all(project: &Project) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(project.folder().join("runs")) else {
            return Vec::new();
        };
        let mut folders: Vec<_> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        folders.sort();
        folders.into_iter().map(Self::at).collect()
    }
}

/// The files by which Surefire was told the order of a task's tests. It looks
/// for them in the module's own folder.
pub(crate) fn statistics_files(task: &Path) -> BTreeSet<PathBuf> {
    let files = fs::read_to_string(task.join("statistics-file")).unwrap_or_default();
    let is_statistics = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with(".surefire-"))
    };
    files
        .lines()
        .map(PathBuf::from)
        .filter(is_statistics)
        .collect()
}

/// Makes a folder for one's own eyes: environment variables are written there.
fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The process that made a run's folder.
fn process_of(folder: &Path) -> Option<u32> {
    let name = folder.file_name()?.to_string_lossy();
    name.rsplit('-').next()?.parse().ok()
}

/// Whether the process that made a run's folder is alive.
fn is_running(folder: &Path) -> bool {
    let pid = process_of(folder);
    pid.is_some_and(|pid| Path::new("/proc").join(pid.to_string()).exists())
}
