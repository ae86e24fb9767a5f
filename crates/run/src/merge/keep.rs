//! Writes outcomes and records of a task into the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use fewest_model::{ClassName, Element, Fingerprint, Outcome, TestId, Version};
use fewest_select::Entity;
use fewest_select::uses::TestUses;
use fewest_store::{Ending, Pass, Record, RunId, WriteError, Writer};
use fewest_trace::FileStamp;

use super::task::Task;
use super::{Progress, TestReport, now};
use crate::method_results::MethodResult;
use crate::run_folder::RunSettings;

/// A test that is about to be written.
struct Kept<'a> {
    id: TestId,
    outcome: Outcome,
    millis: u64,
    uses: &'a TestUses,
    doubts: Vec<String>,
}

impl Task {
    /// Writes outcomes and records, and tells of each test.
    pub(super) fn keep(
        &self,
        writer: &mut Writer<'_>,
        run: RunId,
        settings: &RunSettings,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<TestReport>, WriteError> {
        let mut reports = Vec::new();
        let places = self.plan.order.iter().enumerate();
        let places: BTreeMap<_, _> = places.map(|(place, class)| (class, place)).collect();
        for (done, (class, result)) in self.runs.iter().enumerate() {
            tell(Progress {
                doing: "recording test classes",
                done,
                of: self.runs.len(),
            });
            let id = TestId::of_class(self.request.module.as_str(), class.clone());
            // A class that only holds others, a suite, is no test of its own.
            let Some(outcome) = result
                .outcome
                .filter(|outcome| result.tests > 0 || result.empty || *outcome != Outcome::Passed)
            else {
                continue;
            };
            // A framework's name for all tests of a JVM together, cut short.
            if result.tests == 0 && self.snapshot.class(class).is_none() {
                continue;
            }
            let mut kept = Kept {
                id,
                outcome,
                millis: result.millis,
                uses: &result.uses,
                doubts: result.uses.doubts.clone(),
            };
            // A class of which a part was left out has not passed as a whole.
            let partial = self.is_partial(class, result);
            if partial && kept.doubts.is_empty() {
                kept.doubts.push("methods of it were left out".into());
            }
            let apart = result.methods.apart();
            let outcome = if apart.is_some() && partial {
                result.methods.shared_outcome
            } else {
                outcome
            };
            kept.outcome = outcome;
            let mut recorded = false;
            if apart.is_none() || !partial || !outcome.is_evidence() {
                recorded = self.keep_test(writer, run, settings, &kept)?;
            }
            if result.empty {
                continue;
            }
            let mut of_methods = Vec::new();
            for (name, method) in apart.into_iter().flatten() {
                of_methods.push(self.keep_method(writer, run, settings, class, name, method)?);
            }
            if apart.is_some() && self.entity == Entity::Method {
                reports.extend(of_methods);
                continue;
            }
            let planned = self.plan.test(class);
            let mut report = TestReport {
                test: class.dotted(),
                module: self.request.module.clone(),
                verdict: "run",
                ended_at: result.ended_at,
                planned_place: places.get(class).copied(),
                reasons: planned.map_or_else(
                    || vec!["no record names it".into()],
                    |planned| planned.reasons.clone(),
                ),
                proven: planned.is_some_and(|planned| !planned.run),
                outcome: result.outcome,
                millis: Some(result.millis),
                doubts: kept.doubts,
                recorded,
                ..TestReport::default()
            };
            if self.entity == Entity::Method {
                report.whole = result.methods.why_whole().map(str::to_owned);
            }
            report.alarm_for(&of_methods);
            if apart.is_some() && partial {
                self.go_by_methods(&mut report, &of_methods, class, result);
            }
            reports.push(report);
        }
        reports.extend(self.skipped());
        Ok(reports)
    }

    /// Writes how a test ended, and its record if there may be one.
    fn keep_test(
        &self,
        writer: &mut Writer<'_>,
        run: RunId,
        settings: &RunSettings,
        kept: &Kept<'_>,
    ) -> Result<bool, WriteError> {
        let (at, outcome) = (now(), kept.outcome);
        let millis = u32::try_from(kept.millis).unwrap_or(u32::MAX);
        let recorded = outcome.is_evidence() && kept.doubts.is_empty();
        let ending = Ending {
            outcome,
            at,
            millis,
            run,
        };
        writer.add_outcome(&kept.id, ending)?;
        if recorded {
            let record = Record {
                pass: Pass {
                    test: kept.id.clone(),
                    environment: self.environment.clone(),
                    made_at: at,
                    millis,
                    revision: settings.revision.as_deref().map(Arc::from),
                },
                uses: self.versions(&kept.id.class, kept.uses, settings),
            };
            writer.add_record(&record)?;
            self.describe(writer, &record.uses)?;
        } else {
            writer.set_doubts(&kept.id, &kept.doubts)?;
        }
        Ok(recorded)
    }

    pub(super) fn method_id(&self, class: &ClassName, name: &Arc<str>) -> TestId {
        TestId {
            method: Some(name.clone()),
            ..TestId::of_class(self.request.module.as_str(), class.clone())
        }
    }

    fn keep_method(
        &self,
        writer: &mut Writer<'_>,
        run: RunId,
        settings: &RunSettings,
        class: &ClassName,
        name: &Arc<str>,
        method: &MethodResult,
    ) -> Result<TestReport, WriteError> {
        let result = &self.runs[class];
        let mut doubts = method.uses.doubts.clone();
        let later = result.uses.doubts.get(result.doubts_of_traces..);
        doubts.extend(later.unwrap_or_default().iter().cloned());
        let kept = Kept {
            id: self.method_id(class, name),
            outcome: method.outcome.max(result.methods.shared_outcome),
            millis: method.millis,
            uses: &method.uses,
            doubts,
        };
        let recorded = self.keep_test(writer, run, settings, &kept)?;
        let planned = self.plan.test(class).and_then(|test| test.method(name));
        Ok(TestReport {
            test: kept.id.to_string(),
            module: self.request.module.clone(),
            verdict: "run",
            // Orders are of classes.
            place: None,
            reasons: planned.map_or_else(
                || vec!["no record names it".into()],
                |planned| planned.reasons.clone(),
            ),
            proven: planned.is_some_and(|planned| !planned.run),
            outcome: Some(kept.outcome),
            millis: Some(kept.millis),
            doubts: kept.doubts,
            recorded,
            ..TestReport::default()
        })
    }

    /// Keeps what the classes consist of that a test used, once each.
    fn describe(
        &self,
        writer: &mut Writer<'_>,
        uses: &BTreeSet<Version>,
    ) -> Result<(), WriteError> {
        let mut described = self.described.borrow_mut();
        for version in uses {
            let (Element::Class(name) | Element::Reachable(name)) = &version.element else {
                continue;
            };
            if described.contains(name) {
                continue;
            }
            described.insert(name.clone());
            if let Some(class) = self.snapshot.class(name)
                && class.doubt().is_none()
            {
                writer.describe(version, &class.fingerprints())?;
            }
        }
        Ok(())
    }

    /// The versions of everything that a test used.
    fn versions(
        &self,
        class: &ClassName,
        uses: &TestUses,
        settings: &RunSettings,
    ) -> BTreeSet<Version> {
        let relative = |path: &Arc<str>| relative(path, &settings.root);
        let absent = |path: &Arc<str>| Version {
            element: Element::File(relative(path)),
            fingerprint: Fingerprint::ABSENT,
        };
        let (missing, found): (Vec<_>, Vec<_>) = uses
            .files
            .iter()
            .partition(|(_, stamp)| **stamp == FileStamp::Absent);
        let files = found
            .into_iter()
            .map(|(path, _)| Element::File(relative(path)));
        let listings = uses
            .listings
            .iter()
            .map(|path| Element::Listing(relative(path)));
        uses.elements
            .iter()
            .cloned()
            .chain(files)
            .chain(listings)
            .chain(declared_inputs(class, settings))
            .map(|element| Version {
                fingerprint: self.snapshot.fingerprint(&element),
                element,
            })
            .chain(missing.into_iter().map(|(path, _)| absent(path)))
            .collect()
    }
}

/// A path as elements have it: from the root on, where it is below.
pub(super) fn relative(path: &Arc<str>, root: &Path) -> Arc<str> {
    match Path::new(&**path).strip_prefix(root) {
        Ok(below) => below.to_string_lossy().into(),
        Err(_) => path.clone(),
    }
}

/// The files that the project file names for a test: which there are, and what
/// each of them holds.
fn declared_inputs(class: &ClassName, settings: &RunSettings) -> Vec<Element> {
    let mut elements = Vec::new();
    for pattern in settings.file.inputs_of(class) {
        elements.push(Element::Matches(pattern.as_str().into()));
        // Where the search fails, the element above has no version that holds.
        let files = pattern.files_below(&settings.root).unwrap_or_default();
        elements.extend(files.into_iter().map(|file| Element::File(file.into())));
    }
    elements
}
