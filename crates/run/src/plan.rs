//! What was decided for a task, kept beside its answer for reports and `why`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fewest_model::ClassName;
use serde::{Deserialize, Serialize};

use crate::arrange::Arranged;

/// The verdicts of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    pub tests: Vec<PlannedTest>,
    /// The tests that run, in the order in which they should.
    #[serde(default)]
    pub order: Vec<ClassName>,
    /// Stands for everything that the class path held when the plan was made.
    pub class_path: String,
    /// The entries of the class path, those that manifests add included. Some
    /// builds put the whole class path into the manifest of a jar that they
    /// delete when the tests have run.
    #[serde(default)]
    pub entries: Option<Vec<PathBuf>>,
    /// The environment variables that the tests saw: a script may have set
    /// some, which the process that keeps the records does not see.
    #[serde(default)]
    pub variables: Option<BTreeMap<String, String>>,
    /// How long it took to decide.
    #[serde(default)]
    pub analysis_millis: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTest {
    pub class: ClassName,
    pub run: bool,
    /// Why it does not run though it should.
    #[serde(default)]
    pub left_out: Option<LeftOut>,
    /// Why it runs, in words; empty where it need not.
    pub reasons: Vec<String>,
    /// How long it took when it last ran.
    pub millis: Option<u32>,
    /// Its methods, where they are judged one by one.
    #[serde(default)]
    pub methods: Vec<PlannedMethod>,
    /// Why its methods are not judged one by one, though the user wants it.
    #[serde(default)]
    pub whole: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedMethod {
    pub name: Arc<str>,
    pub run: bool,
    /// Why it runs, in words; empty where it does not.
    pub reasons: Vec<String>,
    /// How long it took when it last ran.
    pub millis: Option<u32>,
}

/// The methods of a class, by what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parts {
    pub run: Vec<Arc<str>>,
    pub skip: Vec<Arc<str>>,
}

impl Parts {
    /// `None` where there are no methods.
    pub(crate) fn of<'a>(methods: impl Iterator<Item = (&'a Arc<str>, bool)>) -> Option<Self> {
        let mut parts = Self::default();
        for (name, runs) in methods {
            let part = if runs {
                &mut parts.run
            } else {
                &mut parts.skip
            };
            part.push(name.clone());
        }
        (parts != Self::default()).then_some(parts)
    }

    /// Whether some run and others do not.
    pub fn are_split(&self) -> bool {
        !self.run.is_empty() && !self.skip.is_empty()
    }
}

impl PlannedTest {
    pub(crate) fn method(&self, name: &str) -> Option<&PlannedMethod> {
        self.methods.iter().find(|method| &*method.name == name)
    }
}

/// Why a test does not run this time, though nothing proves that it need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// The budget is spent before its turn.
    Budget,
    /// It belongs to another shard.
    Shard,
    /// Only what failed or was left out last time runs again.
    Rerun,
}

impl Plan {
    const FILE_NAME: &str = "plan.json";

    pub(crate) fn write(&self, task_folder: &Path) -> io::Result<()> {
        fs::write(task_folder.join(Self::FILE_NAME), serde_json::to_vec(self)?)
    }

    pub(crate) fn read(task_folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(
            task_folder.join(Self::FILE_NAME),
        )?)?)
    }

    /// Adds the order, and what stays due.
    pub(crate) fn add(&mut self, arranged: &Arranged) {
        self.order.clone_from(&arranged.order);
        for test in &mut self.tests {
            test.left_out = arranged.left_out.get(&test.class).copied();
        }
    }

    /// Forgets the methods of classes that run.
    pub(crate) fn run_classes_whole(&mut self) {
        for test in self.tests.iter_mut().filter(|test| test.run) {
            test.methods.clear();
        }
    }

    /// The classes that run and whose methods are judged one by one.
    pub(crate) fn classes_by_method(&self) -> Vec<ClassName> {
        let tests = self.tests.iter();
        let by_method = tests.filter(|test| test.run && !test.methods.is_empty());
        by_method.map(|test| test.class.clone()).collect()
    }

    pub fn test(&self, class: &ClassName) -> Option<&PlannedTest> {
        self.tests.iter().find(|test| test.class == *class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(class: &str, run: bool, methods: &[(&str, bool)]) -> PlannedTest {
        let method = |&(name, run): &(&str, bool)| PlannedMethod {
            name: name.into(),
            run,
            reasons: Vec::new(),
            millis: None,
        };
        PlannedTest {
            class: class.into(),
            run,
            left_out: None,
            reasons: Vec::new(),
            millis: None,
            methods: methods.iter().map(method).collect(),
            whole: None,
        }
    }

    #[test]
    fn nothing_of_a_class_is_left_out_where_nobody_could_do_it() {
        let mut plan = Plan {
            tests: vec![
                test("A", true, &[("a", true), ("b", false)]),
                test("B", true, &[]),
                test("C", false, &[("a", false)]),
            ],
            ..Plan::default()
        };
        assert_eq!(plan.classes_by_method(), [ClassName::new("A")]);
        plan.run_classes_whole();
        assert!(plan.classes_by_method().is_empty());
        assert_eq!(plan.tests[2].methods.len(), 1);
    }
}
