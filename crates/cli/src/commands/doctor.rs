//! `fewest doctor`: whether everything is there that a run needs.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use anyhow::Result;
use clap::Args;
use fewest_report::{Colour, Table, counted};
use fewest_run::{Project, ProjectFile, RunFolder, cache_folder, check_agent, unpack_agent};
use fewest_store::{ReadError, Reader};

use crate::{exit, output};

/// Check that everything is there that fewest needs, and say what was found.
#[derive(Args)]
pub(crate) struct DoctorArgs {}

pub(crate) fn run(_args: &DoctorArgs) -> Result<ExitCode> {
    let project = Project::around(&env::current_dir()?);
    let mut findings = vec![
        Finding::good("fewest", env!("CARGO_PKG_VERSION")),
        root(&project),
        project_file(&project),
    ];
    findings.extend(java_and_agent());
    findings.push(maven(&project));
    findings.push(folder(&project));
    findings.push(store(&project));
    findings.extend(leftovers(&project));
    findings.extend(set_aside(&project));
    let mut table = Table::default();
    for finding in &findings {
        let (word, colour) = match finding.health {
            Health::Good => ("ok", Colour::Green),
            Health::Note => ("note", Colour::Yellow),
            Health::Bad => ("BAD", Colour::Red),
        };
        let cells = [
            (word, Some(colour)),
            (finding.what, None),
            (&*finding.text, None),
        ];
        table.row(0, cells);
    }
    let bad = findings
        .iter()
        .filter(|finding| finding.health == Health::Bad)
        .count();
    table.line(match bad {
        0 => "everything that a run needs is there".to_owned(),
        bad => counted(bad, "problem", "problems"),
    });
    output::print(&table.render(output::style()))?;
    Ok(match bad {
        0 => ExitCode::SUCCESS,
        _ => exit::UNHEALTHY.into(),
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Good,
    /// Good to know, no hindrance.
    Note,
    Bad,
}

struct Finding {
    health: Health,
    what: &'static str,
    text: String,
}

impl Finding {
    fn good(what: &'static str, text: impl Into<String>) -> Self {
        Self::new(Health::Good, what, text)
    }

    fn note(what: &'static str, text: impl Into<String>) -> Self {
        Self::new(Health::Note, what, text)
    }

    fn bad(what: &'static str, text: impl Into<String>) -> Self {
        Self::new(Health::Bad, what, text)
    }

    fn new(health: Health, what: &'static str, text: impl Into<String>) -> Self {
        Self {
            health,
            what,
            text: text.into(),
        }
    }
}

fn root(project: &Project) -> Finding {
    let marks = [".fewest", ProjectFile::NAME, ".git", "pom.xml"];
    let found = marks.iter().find(|mark| project.root.join(mark).exists());
    let root = project.root.display();
    match found {
        Some(mark) => Finding::good("project", format!("{root} (it has `{mark}`)")),
        None => Finding::note(
            "project",
            format!("{root}; nothing marks a root here, so it is the current directory"),
        ),
    }
}

fn project_file(project: &Project) -> Finding {
    let exists = project.root.join(ProjectFile::NAME).exists();
    match ProjectFile::load(&project.root) {
        Ok(_) if exists => Finding::good("settings", "fewest.toml is understood"),
        Ok(_) => Finding::good("settings", "no fewest.toml, so the defaults hold"),
        Err(error) => Finding::bad("settings", error.to_string()),
    }
}

/// The JVMs that builds would start, each tried with the agent.
fn java_and_agent() -> Vec<Finding> {
    let programs = java_programs();
    if programs.is_empty() {
        let text = "neither JAVA_HOME nor the PATH has one; install a JDK from 8 to 25";
        return vec![Finding::bad("java", text)];
    }
    let agent = unpack_agent(&cache_folder());
    let mut findings = Vec::new();
    for program in programs {
        let place = program.display();
        findings.push(match first_line(Command::new(&program).arg("-version")) {
            Ok(version) => Finding::good("java", format!("{place}: {version}")),
            Err(problem) => Finding::bad("java", format!("{place}: {problem}")),
        });
        findings.push(match &agent {
            Ok(agent) => match check_agent(&program, agent) {
                Ok(()) => Finding::good("agent", format!("loads into {place}")),
                Err(problem) => {
                    Finding::bad("agent", format!("does not load into {place}: {problem}"))
                }
            },
            Err(error) => {
                let cause = error.source().map(ToString::to_string);
                let cause = cause.unwrap_or_default();
                Finding::bad("agent", format!("{error}: {cause}"))
            }
        });
    }
    findings
}

fn java_programs() -> Vec<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut programs: Vec<PathBuf> = Vec::new();
    for folder in home.into_iter().chain(env::split_paths(&path)) {
        let program = folder.join("java");
        let Ok(real) = fs::canonicalize(&program) else {
            continue;
        };
        let known = |known: &PathBuf| fs::canonicalize(known).is_ok_and(|known| known == real);
        if !programs.iter().any(known) {
            programs.push(program);
        }
    }
    programs
}

fn maven(project: &Project) -> Finding {
    let needed = project.root.join("pom.xml").exists();
    let wrapper = project.root.join("mvnw");
    let program = if wrapper.exists() {
        wrapper
    } else {
        PathBuf::from("mvn")
    };
    match first_line(Command::new(&program).arg("--version")) {
        Ok(version) => Finding::good("maven", version),
        Err(problem) if needed => {
            Finding::bad("maven", format!("{}: {problem}", program.display()))
        }
        Err(_) => Finding::note("maven", "not found; `fewest exec` does not need it"),
    }
}

fn folder(project: &Project) -> Finding {
    let folder = project.folder();
    if !folder.exists() {
        return Finding::good(
            "folder",
            ".fewest does not exist yet; the first run makes it",
        );
    }
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    match fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)) {
        Ok(()) => Finding::good("folder", ".fewest can be written"),
        Err(error) => Finding::bad(
            "folder",
            format!(".fewest cannot be written, so nothing would be learned: {error}"),
        ),
    }
}

fn store(project: &Project) -> Finding {
    let checked = Reader::open(&project.folder()).and_then(|reader| {
        reader.verify()?;
        reader.overview()
    });
    match checked {
        Ok(overview) => Finding::good(
            "store",
            format!(
                "sound, {} of {}",
                counted(overview.records as usize, "record", "records"),
                counted(overview.tests as usize, "test class", "test classes")
            ),
        ),
        Err(ReadError::Missing { .. }) => Finding::good("store", "none yet"),
        Err(error) => Finding::bad("store", error.to_string()),
    }
}

fn leftovers(project: &Project) -> Option<Finding> {
    let count = RunFolder::leftovers(project).len();
    (count > 0).then(|| {
        let runs = counted(count, "interrupted run", "interrupted runs");
        Finding::note(
            "runs",
            format!("{runs}; the next run takes up what they learned"),
        )
    })
}

/// Damaged stores that lie about.
fn set_aside(project: &Project) -> Option<Finding> {
    let entries = fs::read_dir(project.folder()).ok()?;
    let count = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("store.db.damaged-")
        })
        .count();
    (count > 0).then(|| {
        let stores = counted(count, "damaged store", "damaged stores");
        Finding::note(
            "store",
            format!("{stores} set aside in .fewest; delete `store.db.damaged-*` at will"),
        )
    })
}

/// The first line that a program prints about itself.
fn first_line(command: &mut Command) -> Result<String, String> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    let text = [stdout, stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find(|line| !line.trim().is_empty());
    Ok(without_colours(line.unwrap_or_default()).trim().to_owned())
}

/// Maven writes its version in bold even to a pipe.
fn without_colours(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').map_or(part, |(_, rest)| rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out() {
        assert_eq!(
            without_colours("\u{1b}[1mApache Maven\u{1b}[m 3"),
            "Apache Maven 3"
        );
        assert_eq!(without_colours("plain mm"), "plain mm");
    }
}
