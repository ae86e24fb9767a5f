//! What the agents of a task's JVMs saw, by test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fewest_model::Outcome;
use fewest_select::Entity;
use fewest_select::jvm_run::JvmRun;
use fewest_select::method_uses::uses_of_methods;
use fewest_select::uses::{TestUses, uses_of_jvm, uses_of_tests};

use super::task::Task;
use crate::class_facts::SnapshotClasses;
use crate::test_methods::{TestClasses, TestMethods};

/// What the tests of a JVM depend on, and each of their methods.
struct JvmUses {
    tests: Vec<TestUses>,
    methods: Vec<Vec<TestUses>>,
}

impl Task {
    pub(super) fn read_traces(&mut self, folder: &Path) {
        let mut runs: BTreeMap<String, JvmRun> = BTreeMap::new();
        let mut unreadable = Vec::new();
        for path in trace_files(folder) {
            match fewest_trace::read_file(&path) {
                Ok(trace) => {
                    let name = path
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    runs.insert(name, JvmRun::new(trace));
                }
                Err(error) => unreadable.push(error.to_string()),
            }
        }
        let classes = SnapshotClasses::new(&self.snapshot);
        let test_classes = TestClasses::new(&self.snapshot, &self.request, &self.command);
        let mut uses: BTreeMap<&str, JvmUses> = BTreeMap::new();
        for (name, run) in runs.iter().filter(|(_, run)| run.jvm.parent.is_none()) {
            let of_jvm = JvmUses {
                tests: uses_of_tests(run, &classes),
                methods: methods_of_jvm(run, &classes, &test_classes),
            };
            uses.insert(name, of_jvm);
        }
        for child in runs.values() {
            unreadable.extend(add_child(child, &runs, &mut uses, &classes).err());
        }
        for (jvm, (name, mut of_jvm)) in uses.into_iter().enumerate() {
            let run = &runs[name];
            self.left_out.extend(run.left_out.iter().cloned());
            let mut common: Vec<String> = run.doubts.iter().chain(&unreadable).cloned().collect();
            if !run.complete {
                common.push("its JVM did not end in an orderly way".into());
            }
            for (index, (test, uses)) in run.tests.iter().zip(&mut of_jvm.tests).enumerate() {
                uses.doubts.extend(common.iter().cloned());
                let result = self.runs.entry(test.class.clone()).or_default();
                result.outcome = result.outcome.max(Some(test.outcome));
                result.millis += test.millis;
                result.ended_at = result.ended_at.max(Some(test.ended_at));
                result.jvm = jvm;
                result.tests += test.tests;
                result.uses.inherit(uses);
                result.methods.add(test, &of_jvm.methods[index], &common);
            }
        }
        for (class, result) in &mut self.runs {
            result.doubts_of_traces = result.uses.doubts.len();
            if self.entity == Entity::Method || result.methods.were_seen() {
                let known = test_classes.methods(class);
                result.methods.judge(known, result.tests);
            }
        }
        // Frameworks tell of the beginning and the end of what is left out, too.
        let left_out = &self.left_out;
        self.runs.retain(|class, result| {
            result.tests > 0 || result.outcome != Some(Outcome::Passed) || !left_out.contains(class)
        });
    }
}

/// What each method of each test used, where it had a window of its own.
fn methods_of_jvm(
    run: &JvmRun,
    classes: &SnapshotClasses<'_>,
    test_classes: &TestClasses<'_>,
) -> Vec<Vec<TestUses>> {
    let by_method = || run.tests.iter().filter(|test| !test.methods.is_empty());
    if by_method().next().is_none() {
        return vec![Vec::new(); run.tests.len()];
    }
    let declared = by_method().filter_map(|test| match test_classes.methods(&test.class) {
        TestMethods::Apart(methods) => Some((test.class.clone(), methods)),
        TestMethods::Whole(_) => None,
    });
    uses_of_methods(run, classes, &declared.collect())
}

/// A JVM that a test started counts for the test. Says what is wrong if the
/// test cannot be found.
fn add_child(
    child: &JvmRun,
    runs: &BTreeMap<String, JvmRun>,
    uses: &mut BTreeMap<&str, JvmUses>,
    classes: &SnapshotClasses<'_>,
) -> Result<(), String> {
    // A child may have children of its own: go up to the JVM that has tests.
    let Some(mut parent) = child.jvm.parent.as_ref() else {
        return Ok(());
    };
    while let Some(above) = runs
        .get(&parent.trace)
        .and_then(|run| run.jvm.parent.as_ref())
    {
        parent = above;
    }
    let lost = || "a JVM that a test started cannot be told to a test".to_owned();
    let run = runs.get(&parent.trace).ok_or_else(lost)?;
    let tests = uses.get_mut(parent.trace.as_str()).ok_or_else(lost)?;
    let mut added = uses_of_jvm(child, classes);
    let entries = &child.jvm.class_path;
    if entries
        .iter()
        .any(|entry| !classes.has_entry(Path::new(entry)))
    {
        added
            .doubts
            .push("it started a JVM with another class path".into());
    }
    for window in &parent.windows {
        let index = run.test_of_window(*window).ok_or_else(lost)?;
        tests.tests[index].inherit(&added);
        let own = run.method_of_window(*window);
        for (at, method) in tests.methods[index].iter_mut().enumerate() {
            if own.is_none_or(|own| own == at) {
                method.inherit(&added);
            }
        }
    }
    Ok(())
}

fn trace_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "trace")
        })
        .collect();
    files.sort();
    files
}
