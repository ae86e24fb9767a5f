//! What changed since a revision, as git tells it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fewest_select::Technique;
use fewest_snapshot::FilePattern;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::patch::{Patch, declared_types, may_declare_constants};
use crate::settings::ProjectFile;

/// The files that differ between a revision and the checkout: committed since,
/// staged, edited, or not under version control yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeSet {
    /// The revision in the user's words.
    pub(crate) revision: String,
    /// The top of the checkout.
    pub(crate) top: PathBuf,
    /// How paths of the project begin below the top.
    pub(crate) prefix: String,
    /// By the path below the top of the checkout.
    pub(crate) files: BTreeMap<String, FileChange>,
    /// Every Java file that there is now and that git does not ignore.
    pub(crate) sources: Vec<String>,
}

/// How a file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FileChange {
    /// A Java file that was there before.
    Edited(Patch),
    /// A Java file that is new.
    Added,
    /// A Java file that is gone: the types that it may have declared, and
    /// whether it may have held constants.
    #[serde(rename_all = "camelCase")]
    Removed {
        types: BTreeSet<String>,
        may_drop_constant: bool,
    },
    /// Anything else: a resource, a file of the build, or a Java file in a
    /// state that has no lines.
    Other,
}

#[derive(Debug, Error)]
pub enum ChangeSetError {
    #[error(
        "`--since` is an option of the technique static-full, and this run goes by {0}; \
         add `--technique static-full`"
    )]
    Technique(Technique),
    #[error("`--since` asks git what changed, and git cannot be started")]
    NoGit(#[source] io::Error),
    #[error("`--since` asks git what changed, and `{}` is in no git checkout", .0.display())]
    NoCheckout(PathBuf),
    #[error("git knows no revision `{0}` here")]
    NoRevision(String),
    #[error("git could not tell what changed: {0}")]
    Failed(String),
    #[error("git told what changed in a way that is not understood: {0}")]
    Unexpected(&'static str),
}

impl ChangeSet {
    /// Asks what differs from a revision in the checkout around a project.
    pub fn since(
        revision: &str,
        technique: Technique,
        root: &Path,
        file: &ProjectFile,
    ) -> Result<Self, ChangeSetError> {
        if technique != Technique::StaticFull {
            return Err(ChangeSetError::Technique(technique));
        }
        let git = Git::around(root)?;
        let commit = git.commit(revision)?;
        let mut files = git.tracked_changes(&commit)?;
        for path in git.paths(&["ls-files", "-z", "--others", "--exclude-standard"])? {
            let change = if is_java(&path) {
                FileChange::Added
            } else {
                FileChange::Other
            };
            files.insert(path, change);
        }
        let prefix = git.prefix(root);
        files.retain(|path, _| {
            let below_root = path.strip_prefix(&*prefix);
            below_root.is_none_or(|path| !file.ignores(path))
        });
        let all = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let mut sources = git.paths(&all)?;
        sources.retain(|path| is_java(path));
        Ok(Self {
            revision: revision.to_owned(),
            top: git.top,
            prefix,
            files,
            sources,
        })
    }
}

impl ChangeSet {
    /// Whether a file of a pattern below the project's root is among them.
    pub(crate) fn touches(&self, pattern: &FilePattern) -> bool {
        let mut below_root = self
            .files
            .keys()
            .filter_map(|p| p.strip_prefix(&*self.prefix));
        below_root.any(|path| pattern.matches(path))
    }
}

fn is_java(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|e| e == "java")
}

/// Git in one checkout, with settings of its user out of the way.
struct Git {
    top: PathBuf,
}

impl Git {
    fn around(directory: &Path) -> Result<Self, ChangeSetError> {
        let git = Self {
            top: directory.to_owned(),
        };
        let output = git.run(&["rev-parse", "--show-toplevel"])?;
        let top = output.stdout.trim_ascii_end();
        if !output.status.success() || top.is_empty() {
            return Err(ChangeSetError::NoCheckout(directory.to_owned()));
        }
        Ok(Self {
            top: OsString::from_vec(top.to_vec()).into(),
        })
    }

    /// The commit that a revision names. Only its number is given to git from
    /// there on, so that nothing in it can be taken for an option.
    fn commit(&self, revision: &str) -> Result<String, ChangeSetError> {
        let commit = format!("{revision}^{{commit}}");
        let args = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ];
        let output = self.run(&args)?;
        let number = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || number.is_empty() {
            return Err(ChangeSetError::NoRevision(revision.to_owned()));
        }
        Ok(number)
    }

    /// How the project's folder begins in paths below the top.
    fn prefix(&self, root: &Path) -> String {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let top = self.top.canonicalize().unwrap_or_else(|_| self.top.clone());
        match root.strip_prefix(top) {
            Ok(below) if !below.as_os_str().is_empty() => format!("{}/", below.to_string_lossy()),
            _ => String::new(),
        }
    }

    fn tracked_changes(
        &self,
        commit: &str,
    ) -> Result<BTreeMap<String, FileChange>, ChangeSetError> {
        let names = self.text(&diff(&["--name-status", "-z"], commit))?;
        let mut names = names.split_terminator('\0');
        let mut modified = Vec::new();
        let mut files = BTreeMap::new();
        while let Some(status) = names.next() {
            let path = names.next();
            let path = path.ok_or(ChangeSetError::Unexpected("a state without a file"))?;
            let change = match status {
                "M" => {
                    modified.push(path.to_owned());
                    continue;
                }
                "A" if is_java(path) => FileChange::Added,
                "D" if is_java(path) => self.removed(commit, path),
                _ => FileChange::Other,
            };
            files.insert(path.to_owned(), change);
        }
        let only_modified = ["-U0", "--inter-hunk-context=0", "--diff-filter=M"];
        let text = self.text(&diff(&only_modified, commit))?;
        let patches = of_each_file(&text);
        if patches.len() != modified.len() {
            let problem = "another number of patches than of files";
            return Err(ChangeSetError::Unexpected(problem));
        }
        for (path, patch) in modified.into_iter().zip(patches) {
            // A file of which only the mode changed has no lines.
            let patch = Patch::read(patch).filter(|_| is_java(&path));
            files.insert(path, patch.map_or(FileChange::Other, FileChange::Edited));
        }
        Ok(files)
    }

    /// What a file that is gone held at the revision.
    fn removed(&self, commit: &str, path: &str) -> FileChange {
        let show = ["show".to_owned(), format!("{commit}:{path}")];
        self.text(&show)
            .map_or(FileChange::Other, |text| FileChange::Removed {
                types: declared_types(&text),
                may_drop_constant: may_declare_constants(&text),
            })
    }

    fn paths(&self, args: &[&str]) -> Result<Vec<String>, ChangeSetError> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let text = self.text(&args)?;
        Ok(text.split_terminator('\0').map(str::to_owned).collect())
    }

    fn text(&self, args: &[String]) -> Result<String, ChangeSetError> {
        let output = self.run(args)?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(ChangeSetError::Failed(told));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn run(&self, args: &[impl AsRef<std::ffi::OsStr>]) -> Result<Output, ChangeSetError> {
        Command::new("git")
            .args(["-c", "core.quotePath=false"])
            .args(args)
            .current_dir(&self.top)
            .output()
            .map_err(ChangeSetError::NoGit)
    }
}

fn diff(options: &[&str], commit: &str) -> Vec<String> {
    let plain = [
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-renames",
        "--no-relative",
        "--ignore-submodules=none",
    ];
    let words = plain.iter().chain(options).copied().chain([commit]);
    words.map(str::to_owned).collect()
}

/// The patches of single files in one text. Lines of files have a sign before
/// them, so none can be taken for a head.
fn of_each_file(text: &str) -> Vec<&str> {
    const HEAD: &str = "diff --git ";
    let mut starts: Vec<usize> = text
        .match_indices("\ndiff --git ")
        .map(|(at, _)| at + 1)
        .collect();
    if text.starts_with(HEAD) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &text[start..end])
        .collect()
}
