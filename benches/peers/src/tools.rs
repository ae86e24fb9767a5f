//! Who is compared: Maven by itself, other tools that select, and fewest.
//!
//! A tool is a call of Maven and the folders in which it keeps what it knows.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::ValueEnum;
use fewest_replay::files;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tool {
    /// Maven by itself, with the whole suite.
    Plain,
    /// Ekstazi 5.3.0: for `JUnit` 3 and 4 and class files up to those of Java 9.
    Ekstazi,
    /// STARTS 1.4: static, for Java 8 to 15.
    Starts,
    /// `HyRTS` 1.0.1: for `JUnit` up to 4.12 and Java 8.
    Hyrts,
    /// `fewest --technique file`.
    File,
    /// `fewest --technique hybrid`.
    Hybrid,
    /// `fewest --technique hybrid --entity method`; classes of which any
    /// method runs count as selected.
    HybridMethod,
}

/// Whether a run learns what tests use, for the runs after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collect {
    Now,
    Off,
}

impl Tool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Ekstazi => "ekstazi",
            Self::Starts => "starts",
            Self::Hyrts => "hyrts",
            Self::File => "file",
            Self::Hybrid => "hybrid",
            Self::HybridMethod => "hybrid-method",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Plain => "Maven",
            Self::Ekstazi => "Ekstazi 5.3.0",
            Self::Starts => "STARTS 1.4",
            Self::Hyrts => "HyRTS 1.0.1",
            Self::File => "fewest, `file`",
            Self::Hybrid => "fewest, `hybrid`",
            Self::HybridMethod => "fewest, `hybrid` by method",
        }
    }

    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Self::File | Self::Hybrid | Self::HybridMethod)
    }

    pub(crate) fn is_peer(self) -> bool {
        !self.is_ours() && self != Self::Plain
    }

    /// The name of the folders, one in each module, in which the tool keeps
    /// what it has learned.
    fn memory(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Ekstazi => Some(".ekstazi"),
            Self::Starts => Some(".starts"),
            Self::Hyrts => Some("hyrts-files"),
            Self::File | Self::Hybrid | Self::HybridMethod => Some(".fewest"),
        }
    }

    /// The options of fewest; none for others.
    pub(crate) fn options(self, collect: Collect) -> Vec<&'static str> {
        let mut options = match self {
            Self::File => vec!["--technique", "file"],
            Self::Hybrid => vec!["--technique", "hybrid"],
            Self::HybridMethod => vec!["--technique", "hybrid", "--entity", "method"],
            _ => return Vec::new(),
        };
        options.extend(match collect {
            Collect::Now => ["--collect", "now"],
            Collect::Off => ["--collect", "off"],
        });
        options
    }

    /// What Maven is asked for. The peers have goals of their own, so that no
    /// build file has to be edited.
    pub(crate) fn goal(self, collect: Collect) -> Vec<&'static str> {
        match (self, collect) {
            (Self::Ekstazi, Collect::Now) => vec![EKSTAZI],
            (Self::Ekstazi, Collect::Off) => vec![
                "-Dekstazi.xargs=x.instrument.code=false,x.dependencies.save=false",
                EKSTAZI,
            ],
            (Self::Starts, Collect::Now) => vec![STARTS],
            (Self::Starts, Collect::Off) => vec!["-DupdateRunChecksums=false", STARTS],
            (Self::Hyrts, _) => vec!["org.hyrts:hyrts-maven-plugin:1.0.1:HyRTS"],
            _ => vec!["test"],
        }
    }

    /// Whether the tool can run without collecting. `HyRTS` cannot.
    pub(crate) fn can_leave_collection(self) -> bool {
        !matches!(self, Self::Plain | Self::Hyrts)
    }

    /// Lets the tool know what it knew when `keep` was called, or nothing.
    pub(crate) fn remind(self, project: &Path, kept: Option<&Path>) -> Result<()> {
        let Some(name) = self.memory() else {
            return Ok(());
        };
        for folder in modules(project)? {
            files::remove_folder(&project.join(folder).join(name))?;
        }
        let Some(kept) = kept else {
            return Ok(());
        };
        for folder in modules(kept)? {
            let memory = kept.join(&folder).join(name);
            if memory.is_dir() {
                files::copy_folder(&memory, &project.join(folder).join(name))?;
            }
        }
        Ok(())
    }

    /// Moves what the tool knows out of the project.
    pub(crate) fn keep(self, project: &Path, target: &Path) -> Result<()> {
        let Some(name) = self.memory() else {
            return Ok(());
        };
        for folder in modules(project)? {
            let memory = project.join(&folder).join(name);
            if memory.is_dir() {
                let target = target.join(folder);
                files::make_folder(&target)?;
                files::rename(&memory, &target.join(name))?;
            }
        }
        Ok(())
    }
}

impl FromStr for Tool {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ValueEnum::from_str(text, false)
    }
}

const EKSTAZI: &str = "org.ekstazi:ekstazi-maven-plugin:5.3.0:ekstazi";
const STARTS: &str = "edu.illinois:starts-maven-plugin:1.4:starts";

/// The folders below a folder that may be modules, itself included, by their
/// way from it.
pub(crate) fn modules(top: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    let mut next = 0;
    while let Some(folder) = found.get(next).cloned() {
        next += 1;
        let path = top.join(&folder);
        let list = || format!("failed to list `{}`", path.display());
        for entry in fs::read_dir(&path).with_context(list)? {
            let entry = entry.with_context(list)?;
            let name = entry.file_name();
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let built = name == "target" || name == "src";
            if !hidden && !built && entry.file_type().with_context(list)?.is_dir() {
                found.push(folder.join(name));
            }
        }
    }
    found[1..].sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_knows_in_each_module_comes_back_as_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (project, kept) = (folder.path().join("project"), folder.path().join("kept"));
        for module in ["", "core"] {
            let memory = project.join(module).join(".ekstazi");
            fs::create_dir_all(&memory).unwrap();
            fs::write(memory.join("ATest.clz"), module).unwrap();
        }
        Tool::Ekstazi.keep(&project, &kept).unwrap();
        assert!(!project.join("core/.ekstazi").exists());
        fs::create_dir_all(project.join(".ekstazi")).unwrap();
        fs::write(project.join(".ekstazi/stale"), "").unwrap();
        for _ in 0..2 {
            Tool::Ekstazi.remind(&project, Some(&kept)).unwrap();
            let read = |path| fs::read_to_string(project.join(path)).unwrap();
            assert_eq!(read(".ekstazi/ATest.clz"), "");
            assert_eq!(read("core/.ekstazi/ATest.clz"), "core");
            assert!(!project.join(".ekstazi/stale").exists());
        }
        Tool::Ekstazi.remind(&project, None).unwrap();
        assert!(!project.join(".ekstazi").exists());
        assert!(!project.join("core/.ekstazi").exists());
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for tool in Tool::value_variants() {
            assert_eq!(tool.name().parse(), Ok(*tool));
        }
    }
}
