//! Where a project begins, and where fewest keeps what it knows of it.

use std::env;
use std::path::{Path, PathBuf};

/// A project and its folder `.fewest`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    pub root: PathBuf,
}

impl Project {
    /// The project that has its root here.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The project that a directory lies in: the nearest one above it that
    /// fewest knows, or that is under version control, or the directory itself.
    pub fn around(directory: &Path) -> Self {
        let marked = |names: &[&str]| {
            directory
                .ancestors()
                .find(|folder| names.iter().any(|name| folder.join(name).exists()))
                .map(Self::at)
        };
        marked(&[".fewest", "fewest.toml"])
            .or_else(|| marked(&[".git"]))
            .unwrap_or_else(|| Self::at(directory))
    }

    /// Holds the store, the cache and the folders of runs.
    pub fn folder(&self) -> PathBuf {
        self.root.join(".fewest")
    }

    pub fn snapshot_cache(&self) -> PathBuf {
        self.folder().join("cache")
    }

    /// Makes the project's folder. It ignores itself, so that version control
    /// does not see it.
    pub fn prepare(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(self.folder())?;
        let ignore = self.folder().join(".gitignore");
        if ignore.exists() {
            Ok(())
        } else {
            std::fs::write(ignore, "*\n")
        }
    }

    /// The commit that is checked out, where there is version control.
    pub fn revision(&self) -> Option<String> {
        let output = std::process::Command::new("git")
            .args(["rev-parse", "HEAD"])
            .current_dir(&self.root)
            .stderr(std::process::Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    }
}

/// Where files of fewest itself are unpacked, one for all projects.
pub fn cache_folder() -> PathBuf {
    let folder = |variable: &str, below: &str| {
        env::var_os(variable)
            .filter(|v| !v.is_empty())
            .map(|v| Path::new(&v).join(below))
    };
    folder("FEWEST_CACHE", "")
        .or_else(|| folder("XDG_CACHE_HOME", "fewest"))
        .or_else(|| folder("HOME", ".cache/fewest"))
        .unwrap_or_else(|| env::temp_dir().join("fewest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_found_from_within() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("core/src");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(Project::around(&inner).root, inner);
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        assert_eq!(Project::around(&inner).root, folder.path());
        std::fs::create_dir(folder.path().join("core/.fewest")).unwrap();
        assert_eq!(Project::around(&inner).root, folder.path().join("core"));
    }
}
