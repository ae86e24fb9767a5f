//! A build under fewest, from the first line to the last.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{SystemTime, UNIX_EPOCH};

use fewest_agent::Config;
use fewest_build::maven::{Invocation, MavenBuild, MavenError, Surroundings, unpack_extension};
use fewest_select::Technique;
use fewest_store::Reader;
use thiserror::Error;

use crate::agent_library::{UnpackAgentError, unpack_agent};
use crate::merge::{MergeError, Merged, merge};
use crate::project::{Project, cache_folder};
use crate::run_folder::{RunFolder, RunFolderError, RunSettings};
use crate::settings::{ProjectFile, ProjectFileError};

/// What the user asks of a run.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The project file's word or the default where there is none.
    pub technique: Option<Technique>,
    /// Runs everything and tells what would have been left out.
    pub shadow: bool,
    /// Leaves the tests' JVMs alone: nothing is learned from this run.
    pub collect: bool,
    /// Only trouble is worth a line.
    pub quiet: bool,
}

#[derive(Debug, Error)]
pub enum LaunchError {
    #[error(transparent)]
    Agent(#[from] UnpackAgentError),
    #[error(transparent)]
    Extension(#[from] fewest_build::maven::UnpackError),
    #[error(transparent)]
    Maven(#[from] MavenError),
    #[error(transparent)]
    ProjectFile(#[from] ProjectFileError),
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
    /// What the run came to, unless the store could not take it.
    pub merged: Result<Merged, MergeError>,
    /// Earlier runs that were interrupted and have been kept now.
    pub recovered: usize,
}

/// Runs Maven with the user's arguments.
pub fn launch_maven(
    options: &LaunchOptions,
    directory: &Path,
    args: Vec<OsString>,
) -> Result<Launched, LaunchError> {
    let invocation = Invocation {
        directory: directory.to_owned(),
        args: args.clone(),
    };
    let build = MavenBuild::plan(&invocation, &Surroundings::of_this_process())?;
    let extension = unpack_extension(&cache_folder())?;
    let launch = Launch::prepare(options, Project::at(&build.root), &words("mvn", &args))?;
    let command = build.command(&extension, &own_program()?, launch.folder.path());
    launch.run(command)
}

/// Runs any command; the agent reaches its JVMs through the environment.
pub fn launch_command(
    options: &LaunchOptions,
    directory: &Path,
    command: &[OsString],
) -> Result<Launched, LaunchError> {
    let (program, args) = command.split_first().ok_or(LaunchError::NoCommand)?;
    let line = words(&program.to_string_lossy(), args);
    let launch = Launch::prepare(options, Project::around(directory), &line)?;
    let mut command = Command::new(program);
    if options.collect {
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
    launch.run(command)
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

struct Launch {
    folder: RunFolder,
    settings: RunSettings,
    recovered: usize,
}

impl Launch {
    fn prepare(
        options: &LaunchOptions,
        project: Project,
        command: &str,
    ) -> Result<Self, LaunchError> {
        let file = ProjectFile::load(&project.root)?;
        let recovered = recover(&project);
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let settings = RunSettings {
            agent: unpack_agent(&cache_folder())?,
            revision: project.revision(),
            root: project.root.clone(),
            technique: options.technique.or(file.technique).unwrap_or_default(),
            full_run_due: is_full_run_due(&project, &file),
            file,
            quiet: options.quiet,
            collect: options.collect,
            shadow: options.shadow,
            started_at: since_1970.as_millis() as u64,
            command: command.to_owned(),
        };
        let folder = RunFolder::create(&project, &settings)?;
        Ok(Self {
            folder,
            settings,
            recovered,
        })
    }

    /// The JVM argument for builds that nobody asks on behalf of: each test
    /// JVM asks by itself.
    fn agent_argument(&self) -> Result<String, LaunchError> {
        let config = Config {
            folder: self.folder.path().to_owned(),
            program: Some(own_program()?),
            things: true,
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

    fn run(self, mut command: Command) -> Result<Launched, LaunchError> {
        let status = command.status().map_err(|source| LaunchError::Start {
            program: command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        let merged = merge(&self.folder);
        if merged.is_ok() {
            let _ = self.folder.remove();
        }
        Ok(Launched {
            status,
            merged,
            recovered: self.recovered,
        })
    }
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

/// Keeps what interrupted runs have left behind.
fn recover(project: &Project) -> usize {
    let mut recovered = 0;
    for folder in RunFolder::leftovers(project) {
        // A folder that cannot be merged now cannot be merged later either;
        // its tests have no record and run again.
        recovered += usize::from(merge(&folder).is_ok());
        let _ = folder.remove();
    }
    recovered
}
