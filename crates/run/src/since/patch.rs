//! What a patch of one Java file says: lines, and names that went away.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A place in a file where lines came, went, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hunk {
    /// The first of the new lines, or the line after which some are gone.
    pub(crate) line: u32,
    /// The new lines; for each, whether it can hold no member of a class. A
    /// line with a brace may begin or end a method, and one that says `static`
    /// may declare a field.
    pub(crate) new: Vec<bool>,
    /// What the lines that went away may have declared.
    pub(crate) dropped: Dropped,
}

/// A value that others may have copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Dropped {
    #[default]
    Nothing,
    /// It is one in an interface, where every field is static.
    Value,
    StaticValue,
}

impl Dropped {
    fn by(line: &str) -> Self {
        if !line.contains('=') || has_word(line, "private") {
            Self::Nothing
        } else if has_word(line, "static") {
            Self::StaticValue
        } else {
            Self::Value
        }
    }
}

/// What changed within a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Patch {
    pub(crate) hunks: Vec<Hunk>,
    /// The types that lines which went away may have declared.
    pub(crate) dropped_types: BTreeSet<String>,
}

impl Patch {
    /// Reads the part of `git diff -U0` that stands for one file. `None` if it
    /// is not what it must be.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut patch = Self::default();
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("@@ ") {
                patch.hunks.push(Hunk {
                    line: first_new_line(head)?,
                    ..Hunk::default()
                });
            } else if let Some(hunk) = patch.hunks.last_mut() {
                if let Some(new) = line.strip_prefix('+') {
                    hunk.new.push(is_plain(new));
                } else if let Some(old) = line.strip_prefix('-') {
                    hunk.dropped = hunk.dropped.max(Dropped::by(old));
                    patch.dropped_types.extend(declared_types(old));
                }
            }
        }
        (!patch.hunks.is_empty()).then_some(patch)
    }
}

/// The types that a text may declare: each word that follows `class` and the
/// like. Comments may add names; that selects more, never less.
pub(crate) fn declared_types(text: &str) -> BTreeSet<String> {
    let mut words = words(text).peekable();
    let mut types = BTreeSet::new();
    while let Some(word) = words.next() {
        if matches!(word, "class" | "interface" | "enum" | "record")
            && let Some(name) = words.peek()
        {
            types.insert((*name).to_owned());
        }
    }
    types
}

/// Whether a file may declare constants that other files can have copied.
pub(crate) fn may_declare_constants(text: &str) -> bool {
    let is_constant = |line: &str| Dropped::by(line) == Dropped::StaticValue;
    has_word(text, "interface") || text.lines().any(is_constant)
}

/// `-3,2 +3,4 @@ …` starts at line 3.
fn first_new_line(head: &str) -> Option<u32> {
    let new = head.split(' ').nth(1)?.strip_prefix('+')?;
    new.split(',').next()?.parse().ok()
}

fn is_plain(line: &str) -> bool {
    !line.contains(['{', '}']) && !has_word(line, "static")
}

fn has_word(text: &str, word: &str) -> bool {
    words(text).any(|other| other == word)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_say_where_lines_came_and_went() {
        let patch = Patch::read(
            "diff --git a/A.java b/A.java\n--- a/A.java\n+++ b/A.java\n\
             @@ -3 +3,2 @@ class A {\n-  int old = 1;\n+    x();\n+  }\n\
             @@ -9,2 +9,0 @@ class A {\n-  private enum Gone { X = 1 }\n-\n\\ No newline at end of file\n",
        )
        .unwrap();
        assert_eq!(
            patch.hunks,
            [
                Hunk {
                    line: 3,
                    new: vec![true, false],
                    dropped: Dropped::Value
                },
                Hunk {
                    line: 9,
                    new: vec![],
                    dropped: Dropped::Nothing
                },
            ]
        );
        assert_eq!(patch.dropped_types, ["Gone".to_owned()].into());
    }

    #[test]
    fn lines_that_look_like_a_head_are_lines() {
        let patch = Patch::read("@@ -1 +1 @@\n-@@ -7 +7 @@\n+++ plus\n").unwrap();
        assert_eq!(patch.hunks.len(), 1);
        assert_eq!(patch.hunks[0].new, [true]);
    }

    #[test]
    fn what_is_no_patch_is_not_taken_for_an_empty_one() {
        assert_eq!(
            Patch::read("Binary files a/A.java and b/A.java differ\n"),
            None
        );
        assert_eq!(Patch::read("@@ odd @@\n"), None);
        assert_eq!(Patch::read(""), None);
    }

    #[test]
    fn constants_that_others_may_have_copied_are_suspected() {
        assert!(may_declare_constants("class A { static final int X = 1; }"));
        assert!(may_declare_constants("interface A {\n int X = 1; }"));
        assert!(!may_declare_constants(
            "class A { private static final int X = 1;\n final int y = 2; }"
        ));
    }
}
