//! A build under fewest, from the first line to the last.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fewest_agent::{Config, MethodWindows};
use fewest_build::maven::{Invocation, MavenBuild, MavenError, Surroundings, unpack_extension};
use fewest_model::TestId;
use fewest_order::{Budget, Shard};
use fewest_select::{Entity, Technique};
use fewest_store::{Overview, ReadError, Reader};
use thiserror::Error;

use crate::agent_library::unpack_agent;
use crate::child::run_to_end;
use crate::coarsening::Coarsening;
use crate::merge::{MergeError, Merged, Progress, RunEnd, merge, merge_telling};
use crate::order_settings::{OrderBy, OrderSettings};
use crate::project::{Project, cache_folder};
use crate::run_folder::{BackgroundMark, RunFolder, RunFolderError, RunSettings, statistics_files};
use crate::settings::{ProjectFile, ProjectFileError};
use crate::since::{ChangeSet, ChangeSetError};

/// What the user asks of a run.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct LaunchOptions {
    /// The project file's word or the default where there is none.
    pub technique: Option<Technique>,
    /// The revision whose difference to the checkout says what changed.
    pub since: Option<String>,
    /// As for the technique.
    pub entity: Option<Entity>,
    /// As for the technique.
    pub coarsen: Option<Coarsening>,
    /// The project file's word or the default where there is none.
    pub order: Option<OrderBy>,
    pub seed: Option<u64>,
    /// Whether all tests are put in order before those are dropped that do not
    /// run.
    pub order_all_first: bool,
    pub budget: Option<Budget>,
    pub shard: Option<Shard>,
    /// The only tests that are to run.
    pub only: Option<BTreeSet<TestId>>,
    /// Runs everything and tells what would have been left out.
    pub shadow: bool,
    /// Whether the tests' JVMs are watched; otherwise nothing is learned.
    pub collect: bool,
    /// Only trouble is worth a line.
    pub quiet: bool,
    /// Where the build's output goes, if not to the user.
    pub log: Option<PathBuf>,
    /// The run goes on while the user does something else: it makes way for
    /// any other.
    pub background: bool,
}

#[derive(Debug, Error)]
pub enum LaunchError {
    #[error(transparent)]
    Extension(#[from] fewest_build::maven::UnpackError),
    #[error(transparent)]
    Maven(#[from] MavenError),
    #[error(transparent)]
    ProjectFile(#[from] ProjectFileError),
    #[error(transparent)]
    Since(#[from] ChangeSetError),
    #[error(transparent)]
    Folder(#[from] RunFolderError),
    #[error("failed to start `{program}`")]
    Start { program: String, source: io::Error },
    #[error("failed to find this program's own file")]
    OwnProgram(#[source] io::Error),
    #[error("failed to write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("no command was given")]
    NoCommand,
}

/// How a build ended under fewest.
#[derive(Debug)]
pub struct Launched {
    pub status: ExitStatus,
    /// The signal by which the user asked for an early end.
    pub interrupted_by: Option<i32>,
    /// What the run came to, unless the store could not take it.
    pub merged: Result<Merged, MergeError>,
}

/// A run that is about to begin.
pub struct Launch {
    folder: RunFolder,
    settings: RunSettings,
    command: Command,
    _background: Option<BackgroundMark>,
    /// What the user should know before the build starts.
    pub warnings: Vec<String>,
    /// What the store holds, or why that cannot be told.
    pub overview: Result<Overview, ReadError>,
}

impl Launch {
    /// Prepares Maven with the user's arguments.
    pub fn of_maven(
        options: &LaunchOptions,
        directory: &Path,
        args: &[OsString],
    ) -> Result<Self, LaunchError> {
        let invocation = Invocation {
            directory: directory.to_owned(),
            args: args.to_owned(),
        };
        let build = MavenBuild::plan(&invocation, &Surroundings::of_this_process())?;
        let extension = unpack_extension(&cache_folder())?;
        let line = words("mvn", args);
        let mut launch = Self::prepare(options, &Project::at(&build.root), &line)?;
        launch.command = build.command(&extension, &own_program()?, launch.folder.path());
        launch.divert_output(options)?;
        Ok(launch)
    }

    /// Prepares any command; the agent reaches its JVMs through the environment.
    pub fn of_command(
        options: &LaunchOptions,
        directory: &Path,
        command: &[OsString],
    ) -> Result<Self, LaunchError> {
        let (program, args) = command.split_first().ok_or(LaunchError::NoCommand)?;
        let line = words(&program.to_string_lossy(), args);
        let mut launch = Self::prepare(options, &Project::around(directory), &line)?;
        let mut command = Command::new(program);
        if launch.settings.collect {
            let agent = launch.agent_argument()?;
            if is_java(program) {
                // On the command line the JVM need not announce it.
                command.arg(agent);
            } else {
                let users = std::env::var("JAVA_TOOL_OPTIONS").unwrap_or_default();
                command.env("JAVA_TOOL_OPTIONS", format!("{users} {agent}").trim());
            }
        }
        command.args(args).current_dir(directory);
        launch.command = command;
        launch.divert_output(options)?;
        Ok(launch)
    }

    fn prepare(
        options: &LaunchOptions,
        project: &Project,
        command: &str,
    ) -> Result<Self, LaunchError> {
        let mut file = ProjectFile::load(&project.root)?;
        if let Some(coarsen) = &options.coarsen {
            file.coarsen = coarsen.clone();
        }
        let technique = options.technique.or(file.technique).unwrap_or_default();
        let since = options.since.as_deref();
        let since = since
            .map(|revision| ChangeSet::since(revision, technique, &project.root, &file))
            .transpose()?;
        let mut warnings = Vec::new();
        if !options.background {
            warnings.extend(end_background_runs(project));
        }
        let recovered = recover(project);
        if recovered > 0 {
            let runs = if recovered == 1 { "run" } else { "runs" };
            warnings.push(format!(
                "kept what {recovered} interrupted {runs} had learned"
            ));
        }
        let agent = unpack_agent(&cache_folder()).unwrap_or_else(|error| {
            warnings.push(format!(
                "nothing is learned from this run: {error}: {}",
                source(&error)
            ));
            PathBuf::new()
        });
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let settings = RunSettings {
            revision: project.revision(),
            root: project.root.clone(),
            technique,
            since,
            // What is told without running anything is told of classes.
            entity: if technique.is_static() {
                Entity::Class
            } else {
                options.entity.or(file.entity).unwrap_or_default()
            },
            order: OrderSettings {
                by: options.order.or(file.order).unwrap_or_default(),
                seed: options.seed.or(file.seed).unwrap_or_default(),
                all_first: options.order_all_first,
                budget: options.budget,
                shard: options.shard,
                only: options.only.clone(),
            },
            full_run_due: is_full_run_due(project, &file),
            file,
            quiet: options.quiet,
            collect: options.collect && !agent.as_os_str().is_empty(),
            agent,
            shadow: options.shadow,
            started_at: since_1970.as_millis() as u64,
            command: command.to_owned(),
        };
        let folder = RunFolder::create(project, &settings).or_else(|error| {
            warnings.push(format!(
                "nothing is learned from this run: {error}: {}",
                source(&error)
            ));
            RunFolder::create_elsewhere(&settings)
        })?;
        let mark = options.background.then(|| folder.mark_background());
        Ok(Self {
            _background: mark.transpose()?,
            folder,
            settings,
            command: Command::new(""),
            warnings,
            overview: Reader::open(&project.folder()).and_then(|reader| reader.overview()),
        })
    }

    /// Where the project's store and logs lie.
    pub fn project_folder(&self) -> PathBuf {
        Project::at(&self.settings.root).folder()
    }

    pub fn technique(&self) -> Technique {
        self.settings.technique
    }

    pub fn entity(&self) -> Entity {
        self.settings.entity
    }

    /// Whether the tests' JVMs are watched.
    pub fn collects(&self) -> bool {
        self.settings.collect
    }

    /// Whether everything runs because the project wants that every so often.
    pub fn is_full_run_due(&self) -> bool {
        self.settings.full_run_due
    }

    /// The JVM argument for builds that nobody asks on behalf of: each test
    /// JVM asks by itself.
    fn agent_argument(&self) -> Result<String, LaunchError> {
        let config = Config {
            folder: self.folder.path().to_owned(),
            program: Some(own_program()?),
            things: !self.settings.technique.is_static(),
            receivers: self.settings.technique.watches_receivers(),
            blocks: self.settings.technique.watches_blocks(),
            methods: match self.settings.entity {
                Entity::Class => MethodWindows::Listed,
                Entity::Method => MethodWindows::All,
            },
            ..Config::default()
        };
        let path = self.folder.path().join("agent.conf");
        fs::write(&path, config.to_text()).map_err(|source| LaunchError::Write {
            path: path.clone(),
            source,
        })?;
        Ok(format!(
            "-agentpath:{}={}",
            self.settings.agent.display(),
            path.display()
        ))
    }

    fn divert_output(&mut self, options: &LaunchOptions) -> Result<(), LaunchError> {
        let Some(path) = &options.log else {
            return Ok(());
        };
        let divert = || {
            let file = File::create(path)?;
            Ok((file.try_clone()?, file))
        };
        let (out, err) = divert().map_err(|source| LaunchError::Write {
            path: path.clone(),
            source,
        })?;
        self.command.stdout(out).stderr(err);
        Ok(())
    }

    /// Runs the build, and keeps what it told. `tell` hears how far that is,
    /// when the build has ended and nobody else writes to the terminal.
    pub fn run(mut self, tell: &mut dyn FnMut(Progress)) -> Result<Launched, LaunchError> {
        let ended = run_to_end(&mut self.command).map_err(|source| {
            // Nothing has run that could be worth keeping.
            let _ = self.folder.clone().remove();
            LaunchError::Start {
                program: self.command.get_program().to_string_lossy().into_owned(),
                source,
            }
        })?;
        let end = match ended.interrupted_by {
            Some(_) => RunEnd::Interrupted,
            None if ended.status.success() => RunEnd::Succeeded,
            None => RunEnd::Failed,
        };
        remove_statistics(&self.folder);
        let merged = merge_telling(&self.folder, end, tell);
        if merged.is_ok() || !self.folder.is_in(&Project::at(&self.settings.root)) {
            let _ = self.folder.remove();
        }
        Ok(Launched {
            status: ended.status,
            interrupted_by: ended.interrupted_by,
            merged,
        })
    }
}

fn words(program: &str, args: &[OsString]) -> String {
    let mut line = program.to_owned();
    for arg in args {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

fn is_java(program: &OsString) -> bool {
    Path::new(program)
        .file_name()
        .is_some_and(|name| name == "java")
}

fn own_program() -> Result<PathBuf, LaunchError> {
    std::env::current_exe().map_err(LaunchError::OwnProgram)
}

/// What an error came from, for a line that holds both.
fn source(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(String::new, ToString::to_string)
}

/// Whether the project wants everything to run this time. Where it cannot be
/// told when that was the last time, it does.
fn is_full_run_due(project: &Project, file: &ProjectFile) -> bool {
    let Some(every) = file.full_run_every else {
        return false;
    };
    let since = Reader::open(&project.folder()).and_then(|reader| reader.runs_since_full());
    !matches!(since, Ok(Some(since)) if since + 1 < every.get())
}

/// Two builds in one project would write into each other's folders, so what
/// goes on in the background makes way.
fn end_background_runs(project: &Project) -> Vec<String> {
    const PATIENCE: Duration = Duration::from_secs(60);
    let mut told = Vec::new();
    for folder in RunFolder::running(project) {
        if !folder.is_in_background() {
            continue;
        }
        folder.end_background();
        let started = Instant::now();
        while folder.is_in_background() && started.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(20));
        }
        told.push(if folder.is_in_background() {
            "a run in the background does not end; both go on in one project".to_owned()
        } else {
            "ended the run in the background; what it had learned is kept".to_owned()
        });
    }
    told
}

/// Removes the files by which Surefire was told an order: it looks for them in
/// the module's own folder.
fn remove_statistics(folder: &RunFolder) {
    for task in folder.tasks().unwrap_or_default() {
        for file in statistics_files(&task) {
            let _ = fs::remove_file(file);
        }
    }
}

/// Keeps what interrupted runs have left behind.
fn recover(project: &Project) -> usize {
    let mut recovered = 0;
    for folder in RunFolder::leftovers(project) {
        remove_statistics(&folder);
        // A folder that cannot be merged now cannot be merged later either;
        // its tests have no record and run again.
        recovered += usize::from(merge(&folder, RunEnd::Interrupted).is_ok());
        let _ = folder.remove();
    }
    recovered
}
