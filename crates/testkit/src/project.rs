//! A folder of its own for each test.
//!
//! Its methods panic with the path and the reason: a test that cannot write
//! its own files has nothing else to do.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Run;

/// A temporary folder that is removed with this value.
#[derive(Debug)]
pub struct TestProject {
    folder: TempDir,
}

impl Default for TestProject {
    fn default() -> Self {
        Self::new()
    }
}

impl TestProject {
    #[track_caller]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("fewest-")
            .tempdir()
            .unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        Self { folder }
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root().join(relative)
    }

    /// Writes a file and makes the folders above it.
    #[track_caller]
    pub fn write(&self, relative: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        let parent = path.parent().unwrap_or(self.root());
        check(&path, fs::create_dir_all(parent));
        check(&path, fs::write(&path, content));
        path
    }

    #[track_caller]
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path(relative);
        check(&path, fs::read_to_string(&path))
    }

    #[track_caller]
    pub fn read_bytes(&self, relative: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(relative);
        check(&path, fs::read(&path))
    }

    /// Removes a file, or a folder with all that is in it.
    #[track_caller]
    pub fn remove(&self, relative: impl AsRef<Path>) {
        let path = self.path(relative);
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        check(&path, removed);
    }

    pub fn exists(&self, relative: impl AsRef<Path>) -> bool {
        self.path(relative).exists()
    }

    /// A program to run in this folder.
    pub fn run(&self, program: impl AsRef<OsStr>) -> Run {
        Run::new(program).current_dir(self.root())
    }
}

#[track_caller]
fn check<T>(path: &Path, result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read_and_removed() {
        let project = TestProject::new();
        let path = project.write("src/p/A.java", "class A {}");
        assert_eq!(path, project.root().join("src/p/A.java"));
        assert_eq!(project.read("src/p/A.java"), "class A {}");
        project.write("src/p/A.java", [0xca, 0xfe]);
        assert_eq!(project.read_bytes("src/p/A.java"), [0xca, 0xfe]);
        project.remove("src/p/A.java");
        assert!(!project.exists("src/p/A.java"));
        project.remove("src");
        assert!(!project.exists("src"));
    }

    #[test]
    #[should_panic(expected = "missing.txt")]
    fn a_missing_file_is_named() {
        TestProject::new().read("missing.txt");
    }

    #[test]
    fn programs_run_in_the_folder_which_goes_with_its_project() {
        let project = TestProject::new();
        project.write("file", "content");
        let finished = project.run("cat").arg("file").succeed().unwrap();
        assert_eq!(finished.stdout, "content");
        let root = project.root().to_path_buf();
        drop(project);
        assert!(!root.exists());
    }
}
