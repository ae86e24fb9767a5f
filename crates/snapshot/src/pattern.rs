//! Patterns that stand for files, as in `schema/**/*.sql`.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Folders that are never looked into: what lies there is no input of a test.
const PASSED_OVER: [&str; 2] = [".git", ".fewest"];

/// A pattern on paths below the project's root, with `/` between the parts.
///
/// `*` and `?` stay within one name, `**` goes through folders, `{a,b}` and
/// `[ab]` choose. `dir/**` stands for everything below `dir` and for `dir`
/// itself.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FilePattern {
    text: String,
    matcher: GlobMatcher,
}

#[derive(Debug, Error)]
#[error("`{text}` is not a pattern: {reason}")]
pub struct PatternError {
    text: String,
    reason: String,
}

impl FilePattern {
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let error = |reason: String| PatternError {
            text: text.to_owned(),
            reason,
        };
        if text.is_empty() {
            return Err(error("it is empty".into()));
        }
        if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            return Err(error("patterns start at the project's root".into()));
        }
        let glob = GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .map_err(|source| error(source.kind().to_string()))?;
        Ok(Self {
            text: text.to_owned(),
            matcher: glob.compile_matcher(),
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a path, relative to the root, is one of those meant.
    pub fn matches(&self, path: &str) -> bool {
        self.matcher.is_match(path)
            || self
                .text
                .strip_suffix("/**")
                .is_some_and(|folder| folder == path)
    }

    /// The files that match now, sorted. Links to folders are not followed.
    pub fn files_below(&self, root: &Path) -> io::Result<Vec<String>> {
        let mut parts: Vec<&str> = self.text.split('/').collect();
        let fixed = parts
            .iter()
            .take(parts.len() - 1)
            .take_while(|part| !part.contains(['*', '?', '[', '{', '\\']))
            .count();
        let start = parts.drain(..fixed).collect::<Vec<_>>().join("/");
        let depth = if self.text.contains(['{', '\\']) || parts.contains(&"**") {
            usize::MAX
        } else {
            parts.len()
        };
        let mut found = Vec::new();
        self.search(root, &start, depth, &mut found)?;
        found.sort();
        Ok(found)
    }

    fn search(
        &self,
        root: &Path,
        folder: &str,
        depth: usize,
        found: &mut Vec<String>,
    ) -> io::Result<()> {
        let entries = match fs::read_dir(root.join(folder)) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(());
            }
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            // A name that is not text cannot be the name of an element.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = match folder {
                "" => name.clone(),
                folder => format!("{folder}/{name}"),
            };
            if entry.file_type()?.is_dir() {
                if depth > 1 && !PASSED_OVER.contains(&name.as_str()) {
                    self.search(root, &path, depth - 1, found)?;
                }
            } else if self.matches(&path) {
                found.push(path);
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for FilePattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        Self::new(&text)
    }
}

impl From<FilePattern> for String {
    fn from(pattern: FilePattern) -> Self {
        pattern.text
    }
}

impl fmt::Debug for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl PartialEq for FilePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for FilePattern {}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, files: &[&str]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        FilePattern::new(pattern)
            .unwrap()
            .files_below(root.path())
            .unwrap()
    }

    const FILES: [&str; 6] = [
        "a.sql",
        "schema/b.sql",
        "schema/deep/er/c.sql",
        "schema/deep/d.txt",
        ".git/e.sql",
        "schema/.fewest/f.sql",
    ];

    #[test]
    fn a_star_stays_in_its_folder_and_two_go_through_all() {
        assert_eq!(found("*.sql", &FILES), ["a.sql"]);
        assert_eq!(found("schema/*.sql", &FILES), ["schema/b.sql"]);
        assert_eq!(
            found("schema/**/*.sql", &FILES),
            ["schema/b.sql", "schema/deep/er/c.sql"]
        );
        assert_eq!(
            found("**/*.sql", &FILES),
            ["a.sql", "schema/b.sql", "schema/deep/er/c.sql"]
        );
        assert_eq!(found("*/*/d.*", &FILES), ["schema/deep/d.txt"]);
        assert_eq!(found("{schema,other}/b.sql", &FILES), ["schema/b.sql"]);
        assert_eq!(found("a.sql", &FILES), ["a.sql"]);
    }

    #[test]
    fn a_folder_that_is_not_there_holds_nothing() {
        assert_eq!(found("nowhere/**/*.sql", &FILES), Vec::<String>::new());
    }

    #[test]
    fn everything_below_a_folder_includes_the_folder() {
        let pattern = FilePattern::new("target/tmp/**").unwrap();
        assert!(pattern.matches("target/tmp/x/y"));
        assert!(pattern.matches("target/tmp"));
        assert!(!pattern.matches("target"));
        assert!(!pattern.matches("target/tmpx"));
    }

    #[test]
    fn a_pattern_that_means_nothing_is_refused() {
        for text in ["", "/etc/*", "../x", "a[", "{a"] {
            assert!(FilePattern::new(text).is_err(), "{text}");
        }
    }
}
