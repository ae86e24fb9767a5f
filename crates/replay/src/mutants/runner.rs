//! The program that runs test classes in a JVM.
//!
//! It is compiled where it is needed, by the JDK that runs the tests, because
//! it needs the JUnit platform, which no user of the rest of fewest has to
//! have.

use std::path::{Path, PathBuf};
use std::process::Command;

use fewest_run::Outlook;

use super::MutantError;
use crate::files;

const SOURCE: &str = include_str!("../../../../java/mutant-runner/MutantRunner.java");
/// Runs JUnit 3, 4 and 5, and is one file.
const PLATFORM: &str = "org.junit.platform:junit-platform-console-standalone:1.13.4";
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// Where to find what goes onto the class path before the project's own.
#[derive(Clone, Debug)]
pub(super) struct Runner {
    pub(super) class_path: Vec<PathBuf>,
}

pub(super) fn prepare(work: &Path, outlook: &Outlook) -> Result<Runner, MutantError> {
    let folder = work.join("runner");
    let jar = folder.join("junit-platform-console-standalone-1.13.4.jar");
    let class = folder.join("MutantRunner.class");
    files::make_folder(&folder)?;
    if !jar.is_file() {
        let mut command = Command::new("mvn");
        command
            .args(["-B", "-q", COPY])
            .arg(format!("-Dartifact={PLATFORM}"))
            .arg(format!("-DoutputDirectory={}", folder.display()))
            .current_dir(&folder);
        tool("fetch the JUnit platform", command)?;
    }
    if !class.is_file() {
        let source = folder.join("MutantRunner.java");
        files::write(&source, SOURCE)?;
        let mut tasks = outlook.tasks();
        let home = tasks.find_map(|(request, _)| request.java_home.clone());
        let javac = home.map(|home| home.join("bin/javac"));
        let javac = javac.filter(|javac| javac.is_file());
        let mut command = Command::new(javac.unwrap_or_else(|| "javac".into()));
        command
            .args(["-nowarn", "-encoding", "UTF-8", "-cp"])
            .arg(&jar)
            .arg("-d")
            .arg(&folder)
            .arg(&source);
        tool("compile the program that runs tests", command)?;
    }
    Ok(Runner {
        class_path: vec![folder, jar],
    })
}

fn tool(what: &'static str, mut command: Command) -> Result<(), MutantError> {
    let output = command.output().map_err(|source| MutantError::Start {
        program: command.get_program().into(),
        source,
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(MutantError::Tool {
        what,
        said: String::from_utf8_lossy(&said).trim().to_owned(),
    })
}
