//! The history, and a clone to walk it in.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum GitError {
    #[error("failed to start git")]
    Start(#[source] io::Error),
    #[error("`git {command}` failed: {said}")]
    Failed { command: String, said: String },
}

/// A repository by its folder.
#[derive(Clone, Debug)]
pub struct Repository {
    folder: PathBuf,
}

impl Repository {
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The commits of a range along first parents that touch one of the paths
    /// (from the root of the checkout), oldest first.
    pub fn commits(&self, range: &[&str], paths: &[String]) -> Result<Vec<String>, GitError> {
        let mut args = vec!["rev-list", "--first-parent", "--reverse"];
        args.extend(range);
        // Without this a path of the same name would be meant.
        args.push("--");
        let paths: Vec<String> = paths.iter().map(|path| format!(":/{path}")).collect();
        args.extend(paths.iter().map(String::as_str));
        Ok(self.git(&args)?.lines().map(str::to_owned).collect())
    }

    /// The folder of the checkout, and where in it this folder lies.
    pub fn top(&self) -> Result<(PathBuf, PathBuf), GitError> {
        let top = self.git(&["rev-parse", "--show-toplevel"])?;
        let within = self.git(&["rev-parse", "--show-prefix"])?;
        Ok((top.trim_end().into(), within.trim_end().into()))
    }

    /// A clone that shares the history and leaves no mark in the original.
    pub fn clone_to(&self, folder: &Path) -> Result<Self, GitError> {
        let target = folder.to_string_lossy();
        self.git(&[
            "clone",
            "--quiet",
            "--shared",
            "--no-checkout",
            ".",
            &target,
        ])?;
        Ok(Self::at(folder))
    }

    /// Checks a commit out. What is not under version control stays, as build
    /// results do in a checkout that somebody works in.
    pub fn check_out(&self, commit: &str) -> Result<(), GitError> {
        self.git(&["checkout", "--quiet", "--force", "--detach", commit])?;
        Ok(())
    }

    /// The first line of a commit's message.
    pub fn subject(&self, commit: &str) -> Result<String, GitError> {
        let text = self.git(&["log", "-1", "--format=%s", commit])?;
        Ok(text.trim_end().to_owned())
    }

    fn git(&self, args: &[&str]) -> Result<String, GitError> {
        let output = Command::new("git")
            .args(args)
            .current_dir(&self.folder)
            .output()
            .map_err(GitError::Start)?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(GitError::Failed {
                command: args.join(" "),
                said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            })
        }
    }
}
