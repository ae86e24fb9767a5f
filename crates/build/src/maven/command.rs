//! The command line that starts Maven with our extension.
//!
//! Whatever the user typed reaches Maven as it is, with one exception: an
//! extension class path of the user's own is joined with ours, because Maven
//! takes only one.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

use super::project::project_root;

const EXTENSION_CLASS_PATH: &str = "maven.ext.class.path";

/// What the user typed, and where.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub directory: PathBuf,
    /// The arguments for Maven.
    pub args: Vec<OsString>,
}

/// The environment variables that Maven's start depends on.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub path: Option<OsString>,
    pub maven_home: Option<OsString>,
    pub maven_args: Option<String>,
    pub maven_opts: Option<String>,
}

impl Surroundings {
    pub fn of_this_process() -> Self {
        let text = |name| env::var(name).ok();
        Self {
            path: env::var_os("PATH"),
            maven_home: env::var_os("MAVEN_HOME"),
            maven_args: text("MAVEN_ARGS"),
            maven_opts: text("MAVEN_OPTS"),
        }
    }
}

/// A build that is ready to start.
#[derive(Clone, Debug)]
pub struct MavenBuild {
    /// The project's wrapper script, or the installed Maven.
    pub program: PathBuf,
    /// The top of the project: modules are named from here.
    pub root: PathBuf,
    directory: PathBuf,
    args: Vec<OsString>,
    users_extensions: Option<String>,
}

#[derive(Debug, Error)]
pub enum MavenError {
    #[error(
        "no Maven found: there is no `mvnw` in `{directory}` or above, no `mvn` on the PATH, and no MAVEN_HOME"
    )]
    NotFound { directory: PathBuf },
}

impl MavenBuild {
    pub fn plan(invocation: &Invocation, surroundings: &Surroundings) -> Result<Self, MavenError> {
        let start = start(invocation);
        let program = find_wrapper(&start)
            .or_else(|| find_installed(surroundings))
            .ok_or_else(|| MavenError::NotFound {
                directory: start.clone(),
            })?;
        let (typed, args) = take_define(&invocation.args);
        Ok(Self {
            program,
            root: project_root(&start),
            directory: invocation.directory.clone(),
            args,
            users_extensions: typed.or_else(|| configured_extensions(&start, surroundings)),
        })
    }

    /// The process to start.
    ///
    /// `extension` is the unpacked jar. It runs `fewest` to ask before each
    /// run of tests, and makes the folders of its tasks in `run_folder`.
    pub fn command(&self, extension: &Path, fewest: &Path, run_folder: &Path) -> Command {
        let mut extensions = OsString::from(self.users_extensions.as_deref().unwrap_or(""));
        if !extensions.is_empty() {
            extensions.push(if cfg!(windows) { ";" } else { ":" });
        }
        extensions.push(extension);

        let mut command = Command::new(&self.program);
        command
            .current_dir(&self.directory)
            .arg(define(EXTENSION_CLASS_PATH, &extensions))
            .arg(define("fewest.run", run_folder.as_os_str()))
            .arg(define("fewest.program", fewest.as_os_str()))
            .arg(define("fewest.root", self.root.as_os_str()));
        if let Some(users) = &self.users_extensions {
            command.arg(define("fewest.ext.class.path", users.as_ref()));
        }
        command.args(&self.args);
        command
    }
}

fn define(name: &str, value: &OsStr) -> OsString {
    let mut argument = OsString::from(format!("-D{name}="));
    argument.push(value);
    argument
}

/// The directory of the project that Maven will build: that of `--file`, or
/// the one it is started in.
fn start(invocation: &Invocation) -> PathBuf {
    let directory = &invocation.directory;
    let start = match file_argument(&invocation.args) {
        Some(file) => {
            let file = directory.join(file);
            if file.is_dir() {
                file
            } else {
                file.parent().unwrap_or(directory).to_owned()
            }
        }
        None => directory.clone(),
    };
    fs::canonicalize(&start).unwrap_or(start)
}

fn file_argument(args: &[OsString]) -> Option<&OsStr> {
    let position = args.iter().position(|arg| arg == "-f" || arg == "--file");
    let spelled_apart = position.and_then(|position| args.get(position + 1));
    let joined = || {
        let mut texts = args.iter().filter_map(|arg| arg.to_str());
        texts.find_map(|arg| arg.strip_prefix("--file=").or(arg.strip_prefix("-f=")))
    };
    spelled_apart
        .map(OsString::as_os_str)
        .or_else(|| joined().map(OsStr::new))
}

fn find_wrapper(start: &Path) -> Option<PathBuf> {
    let name = if cfg!(windows) { "mvnw.cmd" } else { "mvnw" };
    start
        .ancestors()
        .map(|directory| directory.join(name))
        .find(|script| is_program(script))
}

fn find_installed(surroundings: &Surroundings) -> Option<PathBuf> {
    let name = if cfg!(windows) { "mvn.cmd" } else { "mvn" };
    let on_path = surroundings.path.iter().flat_map(env::split_paths);
    let home = surroundings.maven_home.iter();
    on_path
        .chain(home.map(|home| Path::new(home).join("bin")))
        .map(|directory| directory.join(name))
        .find(|program| is_program(program))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// The user's extension class path among typed arguments, and the others.
///
/// Maven accepts `-Dname=value`, `-D name=value`, `--define name=value` and
/// `--define=name=value`. Of several, the last one counts.
fn take_define(args: &[OsString]) -> (Option<String>, Vec<OsString>) {
    let mut found = None;
    let mut others = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let text = arg.to_str().unwrap_or("");
        let next = args.peek().and_then(|next| next.to_str()).unwrap_or("");
        if matches!(text, "-D" | "--define") {
            if let Some(value) = extension_value(next) {
                found = Some(value.to_owned());
                args.next();
                continue;
            }
        } else if let Some(value) = ["-D", "--define="]
            .iter()
            .find_map(|option| text.strip_prefix(option))
            .and_then(extension_value)
        {
            found = Some(value.to_owned());
            continue;
        }
        others.push(arg.clone());
    }
    (found, others)
}

fn extension_value(definition: &str) -> Option<&str> {
    let (name, value) = definition.split_once('=')?;
    (name == EXTENSION_CLASS_PATH).then_some(value)
}

/// The user's extension class path where no argument names it, in the order
/// of Maven's own preference.
fn configured_extensions(start: &Path, surroundings: &Surroundings) -> Option<String> {
    let settings = start
        .ancestors()
        .map(|directory| directory.join(".mvn"))
        .find(|folder| folder.is_dir());
    let read = |name| {
        let folder = settings.as_ref()?;
        fs::read_to_string(folder.join(name)).ok()
    };
    let in_words = |text: &str| take_define(&words(text)).0;
    surroundings
        .maven_args
        .as_deref()
        .and_then(in_words)
        .or_else(|| take_define(&lines(&read("maven.config")?)).0)
        .or_else(|| surroundings.maven_opts.as_deref().and_then(in_words))
        .or_else(|| in_words(&read("jvm.config")?))
}

/// The arguments in `maven.config`: one on each line from Maven 3.9 on, and
/// separated by blanks before.
fn lines(text: &str) -> Vec<OsString> {
    let argument = |line: &str| {
        if line.contains(" -") {
            words(line)
        } else {
            vec![line.trim().into()]
        }
    };
    text.lines().flat_map(argument).collect()
}

/// Splits at blanks outside quotes, as a shell does.
fn words(text: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(q) if q == c => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words.into_iter().map(OsString::from).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Project {
        _folder: tempfile::TempDir,
        root: PathBuf,
    }

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(folder.path()).unwrap();
            let project = Self {
                _folder: folder,
                root,
            };
            project.write("pom.xml", "<project/>");
            project.script("tools/mvn");
            project
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn script(&self, name: &str) {
            self.write(name, "#!/bin/sh\n");
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(self.root.join(name), executable).unwrap();
        }

        fn surroundings(&self) -> Surroundings {
            Surroundings {
                path: Some(self.root.join("tools").into()),
                ..Surroundings::default()
            }
        }

        /// The command line for `fewest mvn ARGS`, with the root left out.
        fn command(&self, surroundings: &Surroundings, args: &[&str]) -> Vec<String> {
            let invocation = Invocation {
                directory: self.root.clone(),
                args: args.iter().map(OsString::from).collect(),
            };
            let build = MavenBuild::plan(&invocation, surroundings).unwrap();
            let command = build.command("/x.jar".as_ref(), "/fewest".as_ref(), "/run".as_ref());
            let root = format!("{}/", self.root.display());
            std::iter::once(command.get_program())
                .chain(command.get_args())
                .map(|arg| arg.to_str().unwrap().replace(&root, ""))
                .filter(|arg| !arg.starts_with("-Dfewest.ro"))
                .collect()
        }
    }

    #[test]
    fn arguments_reach_maven_as_they_are_behind_ours() {
        let project = Project::new();
        assert_eq!(
            project.command(&project.surroundings(), &["-T", "2", "-D", "a=b c", "test"]),
            [
                "tools/mvn",
                "-Dmaven.ext.class.path=/x.jar",
                "-Dfewest.run=/run",
                "-Dfewest.program=/fewest",
                "-T",
                "2",
                "-D",
                "a=b c",
                "test"
            ]
        );
    }

    #[test]
    fn every_spelling_of_the_users_extensions_is_joined_with_ours() {
        let project = Project::new();
        for args in [
            &["-Dmaven.ext.class.path=/u.jar", "test"][..],
            &["-D", "maven.ext.class.path=/u.jar", "test"],
            &["--define", "maven.ext.class.path=/u.jar", "test"],
            &["--define=maven.ext.class.path=/u.jar", "test"],
        ] {
            assert_eq!(
                project.command(&project.surroundings(), args)[1..],
                [
                    "-Dmaven.ext.class.path=/u.jar:/x.jar",
                    "-Dfewest.run=/run",
                    "-Dfewest.program=/fewest",
                    "-Dfewest.ext.class.path=/u.jar",
                    "test"
                ],
                "{args:?}"
            );
        }
    }

    #[test]
    fn configured_extensions_count_in_the_order_of_maven() {
        let project = Project::new();
        let mut surroundings = project.surroundings();
        let joined = |surroundings: &Surroundings, args: &[&str]| {
            project.command(surroundings, args)[1].replace("-Dmaven.ext.class.path=", "")
        };
        project.write(".mvn/jvm.config", "-Xmx1g -Dmaven.ext.class.path=/1.jar\n");
        assert_eq!(joined(&surroundings, &[]), "/1.jar:/x.jar");
        surroundings.maven_opts = Some("-Xmx1g '-Dmaven.ext.class.path=/2 2.jar'".to_owned());
        assert_eq!(joined(&surroundings, &[]), "/2 2.jar:/x.jar");
        project.write(".mvn/maven.config", "-Dmaven.ext.class.path=/3 3.jar\n-q\n");
        assert_eq!(joined(&surroundings, &[]), "/3 3.jar:/x.jar");
        project.write(".mvn/maven.config", "-q -Dmaven.ext.class.path=/3.jar -o\n");
        assert_eq!(joined(&surroundings, &[]), "/3.jar:/x.jar");
        surroundings.maven_args = Some("-q -Dmaven.ext.class.path=/4.jar".to_owned());
        assert_eq!(joined(&surroundings, &[]), "/4.jar:/x.jar");
        let typed = ["-Dmaven.ext.class.path=/5.jar"];
        assert_eq!(joined(&surroundings, &typed), "/5.jar:/x.jar");
    }

    #[test]
    fn the_projects_wrapper_goes_before_an_installed_maven() {
        let project = Project::new();
        project.script("mvnw");
        project.write("core/pom.xml", "<project/>");
        for args in [&["-f", "core"][..], &["--file=core/pom.xml"], &[]] {
            assert_eq!(project.command(&project.surroundings(), args)[0], "mvnw");
        }
    }

    #[test]
    fn maven_home_is_the_last_place_to_look() {
        let project = Project::new();
        project.script("home/bin/mvn");
        let mut surroundings = project.surroundings();
        surroundings.maven_home = Some(project.root.join("home").into());
        assert_eq!(project.command(&surroundings, &[])[0], "tools/mvn");
        surroundings.path = None;
        assert_eq!(project.command(&surroundings, &[])[0], "home/bin/mvn");
    }

    #[test]
    fn no_maven_is_an_error() {
        let project = Project::new();
        let invocation = Invocation {
            directory: project.root.clone(),
            args: Vec::new(),
        };
        assert!(MavenBuild::plan(&invocation, &Surroundings::default()).is_err());
    }

    #[test]
    fn the_root_is_that_of_the_project_that_the_file_argument_names() {
        let project = Project::new();
        project.write("other/pom.xml", "<project/>");
        let root = |args: &[&str]| {
            let invocation = Invocation {
                directory: project.root.clone(),
                args: args.iter().map(OsString::from).collect(),
            };
            MavenBuild::plan(&invocation, &project.surroundings())
                .unwrap()
                .root
        };
        assert_eq!(root(&[]), project.root);
        assert_eq!(root(&["test", "-f", "other"]), project.root.join("other"));
        assert_eq!(
            root(&["-f", "missing/pom.xml"]),
            project.root.join("missing")
        );
    }
}
