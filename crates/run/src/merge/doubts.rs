//! What a run proves nothing of, and what does not count at all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fewest_model::Element;
use fewest_trace::FileStamp;

use super::NOT_WATCHED;
use super::keep::relative;
use super::task::Task;
use crate::ask::class_path_print;
use crate::run_folder::RunSettings;

impl Task {
    /// What nobody watched proves nothing; there is no other doubt about it.
    pub(super) fn doubt_everything(&mut self) {
        for result in self.runs.values_mut() {
            result.uses.doubts = vec![NOT_WATCHED.into()];
            result.doubts_of_traces = 0;
        }
    }

    /// Takes out what the project does not want to count, the reports that the
    /// build writes, which are a result of the run, and the files by which it
    /// was told an order.
    pub(super) fn drop_ignored_files(&mut self, settings: &RunSettings, own: &BTreeSet<PathBuf>) {
        let reports = self.request.reports.clone();
        let counts = |path: &Arc<str>| {
            let is_report = |reports: &PathBuf| Path::new(&**path).starts_with(reports);
            !settings.file.ignores(&relative(path, &settings.root))
                && !reports.as_ref().is_some_and(is_report)
                && !own.contains(Path::new(&**path))
        };
        for result in self.runs.values_mut() {
            for uses in result.methods.uses_mut().chain([&mut result.uses]) {
                uses.files.retain(|path, _| counts(path));
                uses.listings.retain(counts);
            }
        }
    }

    /// What changed while the tests ran proves nothing: its fingerprint is
    /// taken now, and the tests may have seen it before.
    pub(super) fn doubt_changes(&mut self) {
        let moved = self.plan.class_path != class_path_print(&self.snapshot).to_string();
        let since = UNIX_EPOCH + Duration::from_millis(self.request.started_at);
        let entries = &self.request.classpath;
        for result in self.runs.values_mut() {
            let mut changed = Vec::new();
            if moved {
                changed.push("class files changed while the tests ran".to_owned());
            }
            for (path, stamp) in &result.uses.files {
                // What was not there is recorded as such, whatever came later.
                if *stamp != FileStamp::Absent && FileStamp::of(Path::new(&**path)) != *stamp {
                    changed.push(format!("the file {path} changed while the test ran"));
                }
            }
            for path in &result.uses.listings {
                if is_younger(Path::new(&**path), since) {
                    changed.push(format!("the directory {path} changed while the tests ran"));
                }
            }
            for element in &result.uses.elements {
                if let Element::Resource(name) = element
                    && entries
                        .iter()
                        .any(|entry| is_younger(&resource_file(entry, name), since))
                {
                    changed.push(format!("the resource {name} changed while the tests ran"));
                }
            }
            result.uses.doubts.extend(changed);
        }
    }
}

/// The file that holds a resource of a class path entry: its own in a folder,
/// the jar itself in a jar.
fn resource_file(entry: &Path, name: &str) -> PathBuf {
    if entry.is_dir() {
        entry.join(name)
    } else {
        entry.to_owned()
    }
}

/// Whether a file or directory was changed after a point in time.
fn is_younger(path: &Path, since: SystemTime) -> bool {
    fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| modified > since)
}
