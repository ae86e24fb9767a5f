//! The rules for techniques that go by class files.
//!
//! They may miss what a test reaches in ways that no class file tells, and only
//! that: a test that is left out though watching selects it, or though it sees
//! other things, has to have used something that changed and that its code
//! does not lead to. Where code leads is not asked of those that are on trial:
//! a class file leads to each class whose name stands anywhere in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fewest_model::{ClassName, Element};
use fewest_select::Technique;

use crate::batch::{Batch, Compiled};
use crate::edit::EditKind;
use crate::program::Program;
use crate::rules::Finding;
use crate::stage::{Selection, Stage, Surroundings};
use crate::version::Workshop;

const BOTH: [Technique; 2] = [Technique::Static, Technique::StaticFull];

/// What the record of each test holds.
type Records = BTreeMap<String, BTreeSet<Element>>;

/// A project whose tests are recorded by class files.
pub(crate) struct Statics<'a> {
    stage: Stage<'a>,
    records: Records,
}

impl<'a> Statics<'a> {
    pub(crate) fn new(workshop: &'a Workshop) -> Self {
        Self {
            stage: Stage::new(workshop, Technique::Static),
            records: Records::new(),
        }
    }

    /// Records the programs as they are. M1 and M15.
    pub(crate) fn record(&mut self, batch: &Batch<'_>, passed: &BTreeSet<String>) -> Vec<Finding> {
        let tests: Vec<String> = passed.iter().cloned().collect();
        let mut findings = Vec::new();
        self.stage.put(&batch.base.version);
        for test in &self.stage.record_passed(&tests).tests {
            if !test.recorded {
                let detail = format!("has no record: {:?}", test.doubts);
                findings.push(finding(
                    "a passed test has a record",
                    None,
                    &test.test,
                    detail,
                ));
            }
        }
        self.records = self.stage.records();
        for technique in BOTH {
            for (test, reasons) in self.stage.select(technique, &tests) {
                let detail = format!("runs: {reasons:?}");
                findings.push(finding("M1 identity", Some(technique), &test, detail));
            }
            for surroundings in Surroundings::OTHERS {
                let selected = self.stage.select_in(surroundings, technique, &tests);
                for test in tests.iter().filter(|test| !selected.contains_key(*test)) {
                    let detail = format!("{surroundings:?}: is left out");
                    findings.push(finding("M15 environment", Some(technique), test, detail));
                }
            }
        }
        findings
    }

    /// M4, M7 and M9. `watched` is what the coarsest technique that watches
    /// selects, and `used` what its records hold.
    pub(crate) fn edited(
        &self,
        batch: &Batch<'_>,
        compiled: &Compiled,
        watched: &Selection,
        used: &Records,
    ) -> Vec<Finding> {
        self.stage.put(&compiled.version);
        let tests: Vec<String> = self.records.keys().cloned().collect();
        let [selected, full] = BOTH.map(|technique| self.stage.select(technique, &tests));
        let (before, after) = (
            files(&batch.base.version.folder),
            files(&compiled.version.folder),
        );
        let changed = Changed::between(&before, &after);
        let sources = batch.programs.iter().flat_map(Program::files);
        let names = Names::of(&before, &after, &sources.collect());
        let affected = compiled.differs_from(&batch.base);
        let mut findings = Vec::new();
        for test in &tests {
            let edit = compiled.edits[batch.program_of(test)].as_ref();
            let kind = edit.map(|edit| edit.kind);
            let mut find = |rule, technique, detail: String| {
                let found = finding(rule, Some(technique), test, detail);
                findings.push(Finding {
                    edit: kind,
                    ..found
                });
            };
            if selected.contains_key(test) != full.contains_key(test) {
                let detail = format!("static says {:?}", selected.get(test));
                find(
                    "both static techniques agree",
                    Technique::StaticFull,
                    detail,
                );
            }
            if let Some(reasons) = selected.get(test) {
                let detail = format!("{reasons:?}");
                match kind {
                    None => find("M7 disjoint edits", Technique::Static, detail),
                    Some(EditKind::Neutral) => find("M9 neutral edits", Technique::Static, detail),
                    Some(_) => {}
                }
                continue;
            }
            let is_hidden = || {
                let empty = BTreeSet::new();
                let used = used.get(test).unwrap_or(&empty);
                changed.is_used_beside(used, &names.reachable(&ClassName::from_dotted(test)))
            };
            if affected.contains(test) && !is_hidden() {
                let detail = "MISSED, and its code leads to all that changed".to_owned();
                find("M4 safety", Technique::Static, detail);
            }
            if let Some(reasons) = watched.get(test)
                && !is_hidden()
            {
                let detail = format!("is left out, but not by watching: {reasons:?}");
                find("M4 static selects more", Technique::Static, detail);
            }
        }
        findings
    }
}

fn finding(
    rule: &'static str,
    technique: Option<Technique>,
    test: &str,
    detail: String,
) -> Finding {
    Finding {
        rule,
        technique,
        test: test.to_owned(),
        edit: None,
        detail,
        culprit: None,
    }
}

/// Files by their path, with their content.
type Files = BTreeMap<String, Vec<u8>>;

/// The files of a version that are not as in another.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changed {
    classes: BTreeSet<ClassName>,
    /// Whether there are others than class files.
    has_others: bool,
}

impl Changed {
    fn between(before: &Files, after: &Files) -> Self {
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let mut changed = Self::default();
        for path in paths {
            if before.get(path) == after.get(path) {
                continue;
            }
            match class_at(path) {
                Some(class) => {
                    changed.classes.insert(class);
                }
                None => changed.has_others = true,
            }
        }
        changed
    }

    /// Whether something that changed is among what a test used, and not among
    /// what its code leads to.
    fn is_used_beside(&self, used: &BTreeSet<Element>, reachable: &BTreeSet<ClassName>) -> bool {
        used.iter().any(|element| match element {
            Element::Resource(_) | Element::File(_) | Element::Listing(_) => self.has_others,
            _ => element
                .class()
                .is_some_and(|class| self.classes.contains(class) && !reachable.contains(class)),
        })
    }
}

/// The class that a file of a version holds.
fn class_at(path: &str) -> Option<ClassName> {
    let class = path.strip_prefix("classes/")?.strip_suffix(".class")?;
    Some(ClassName::new(class))
}

/// The classes whose names stand in each class file.
struct Names(BTreeMap<ClassName, BTreeSet<ClassName>>);

impl Names {
    /// Of the class files of a version, for the classes of it and of another.
    /// A class file also names classes that it has only constants of: javac
    /// leaves the name behind, and no code leads there.
    fn of(version: &Files, other: &Files, sources: &BTreeMap<String, String>) -> Self {
        let known: BTreeSet<ClassName> = version
            .keys()
            .chain(other.keys())
            .filter_map(|path| class_at(path))
            .collect();
        let names_in = |(path, bytes): (&String, &Vec<u8>)| {
            let class = class_at(path)?;
            // Programs lie in packages of their own.
            let own = |name: &&ClassName| package(name) == package(&class);
            let candidates = known.iter().filter(own);
            let source = sources.get(&format!("{}.java", class.outermost()));
            let is_copied = |name: &ClassName| {
                let outermost = name.outermost();
                source.is_some_and(|source| has_only_constants(source, outermost.simple()))
            };
            let named = candidates.filter(|name| names_class(bytes, name) && !is_copied(name));
            Some((class.clone(), named.cloned().collect()))
        };
        Self(version.iter().filter_map(names_in).collect())
    }

    /// The classes that one leads to, itself included.
    fn reachable(&self, from: &ClassName) -> BTreeSet<ClassName> {
        let mut reached = BTreeSet::from([from.clone()]);
        let mut pending = vec![from.clone()];
        while let Some(class) = pending.pop() {
            for name in self.0.get(&class).into_iter().flatten() {
                if reached.insert(name.clone()) {
                    pending.push(name.clone());
                }
            }
        }
        reached
    }
}

/// Whether a source names a class only to read constants of it, which are called
/// `c` and a number.
fn has_only_constants(source: &str, class: &str) -> bool {
    let is_part = |text: char| text.is_alphanumeric() || text == '_';
    let mentions = source.match_indices(class).filter_map(|(at, _)| {
        let after = &source[at + class.len()..];
        let inside = source[..at].ends_with(is_part) || after.starts_with(is_part);
        (!inside).then_some(after)
    });
    let rests: Vec<&str> = mentions.collect();
    let is_constant = |rest: &&str| {
        let name = rest.strip_prefix(".c");
        name.is_some_and(|name| name.starts_with(|digit: char| digit.is_ascii_digit()))
    };
    !rests.is_empty() && rests.iter().all(is_constant)
}

fn package(class: &ClassName) -> &str {
    class
        .as_str()
        .rsplit_once('/')
        .map_or("", |(package, _)| package)
}

/// Whether the name of a class stands among bytes, in either way to write it.
fn names_class(bytes: &[u8], class: &ClassName) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    [class.as_str().to_owned(), class.dotted()]
        .iter()
        .any(|name| {
            let name = name.as_bytes();
            let mut windows = bytes.windows(name.len()).enumerate();
            windows.any(|(at, window)| {
                window == name && !bytes.get(at + name.len()).is_some_and(is_part)
            })
        })
}

/// The files below a folder by their path in it, with their content.
fn files(folder: &Path) -> Files {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(below) = path.strip_prefix(folder) {
                let name = below.to_string_lossy().into_owned();
                files.insert(name, fs::read(&path).expect("a file can be read"));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_and_code_does_not_lead_to_excuses_a_miss() {
        let class = |name: &str| ClassName::new(name);
        let changed = Changed {
            classes: [class("p/A")].into(),
            has_others: false,
        };
        let used = BTreeSet::from([
            Element::Class(class("p/A")),
            Element::Class(class("p/B")),
            Element::Resource("p/text".into()),
        ]);
        let reachable = BTreeSet::from([class("p/A")]);
        assert!(!changed.is_used_beside(&used, &reachable));
        assert!(changed.is_used_beside(&used, &BTreeSet::new()));
        let with_others = Changed {
            has_others: true,
            ..Changed::default()
        };
        assert!(with_others.is_used_beside(&used, &reachable));
    }

    #[test]
    fn code_leads_where_names_stand() {
        let files = |all: &[(&str, &str)]| -> Files {
            let file = |(class, text): &(&str, &str)| {
                (format!("classes/{class}.class"), text.as_bytes().to_vec())
            };
            all.iter().map(file).collect()
        };
        let before = files(&[
            ("p/T", "\u{1}p/A\u{1}"),
            ("p/A", "Lp/B$C;"),
            ("p/B", ""),
            ("p/B$C", "p.New"),
            ("p/Z", ""),
        ]);
        let names = Names::of(&before, &files(&[("p/New", "")]), &BTreeMap::new());
        let reached = names.reachable(&"p/T".into());
        let expected = ["p/A", "p/B$C", "p/New", "p/T"].map(ClassName::from);
        assert_eq!(reached, expected.into());
    }

    #[test]
    fn constants_lead_nowhere() {
        assert!(has_only_constants("a += C1.c0; XC1.m(); C10.s0(x);", "C1"));
        assert!(!has_only_constants("a += C1.c0 + C1.v0;", "C1"));
        assert!(!has_only_constants("new Object()", "C1"));
    }
}
