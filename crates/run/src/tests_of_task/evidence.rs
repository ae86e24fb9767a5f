//! What records and earlier runs say of one test.

use std::collections::BTreeMap;

use fewest_model::{Element, ElementKind, Outcome, TestId, Watch};
use fewest_select::Technique;
use fewest_select::verdict::Evidence;
use fewest_snapshot::FilePattern;
use fewest_store::{Environment, KnownRecord, KnownTest, Ledger, Sequence};
use roaring::RoaringBitmap;

/// The newest of a test's records that was made in an environment: what was
/// recorded elsewhere makes up for nothing here.
pub(crate) fn newest_record(
    ledger: &Ledger<'_>,
    test: &KnownTest,
    environment: &Environment,
) -> Option<Sequence> {
    let of_today =
        |record: &&KnownRecord| record.environment.fingerprint() == environment.fingerprint();
    let records = ledger.records_of(test).iter().filter(of_today);
    records.map(|record| record.sequence).max()
}

/// What a class and its methods say of each other: the worst end of the class
/// after the newest record of a method, or of a method after that of the class.
pub(super) fn outcome_of_relatives(
    ledger: &Ledger<'_>,
    id: &TestId,
    newest: Option<Sequence>,
) -> Option<Outcome> {
    let of_class = ledger.tests_of_class(&id.module, &id.class).iter();
    let relatives = of_class.filter(|other| other.id.method.is_some() != id.method.is_some());
    relatives
        .filter_map(|other| other.history.first())
        .filter(|event| newest.is_none_or(|newest| event.sequence > newest))
        .map(|event| event.ending.outcome)
        .filter(|outcome| !outcome.is_evidence())
        .max()
}

/// How a test ended since its newest record of this environment was made: the
/// worst of it. A pass in another environment does not make up for a failure in
/// this one. Where there is no such record, only the last word counts.
pub(super) fn outcome_since(test: &KnownTest, newest: Option<Sequence>) -> Option<Outcome> {
    let Some(newest) = newest else {
        return test.history.first().map(|last| last.ending.outcome);
    };
    let since = test
        .history
        .iter()
        .take_while(|event| event.sequence > newest);
    since.map(|event| event.ending.outcome).max()
}

/// A record of a test, and what it must be a record of to count.
pub(super) struct RecordEvidence<'a> {
    pub(super) record: &'a KnownRecord,
    pub(super) ledger: &'a Ledger<'a>,
    pub(super) environment: &'a Environment,
    /// The files that the test depends on by declaration.
    pub(super) inputs: Vec<&'a FilePattern>,
    pub(super) asked: &'a Asked,
}

/// How records say what they are asked for.
pub(super) struct Asked {
    /// The versions of each pattern that they know of.
    patterns: BTreeMap<String, RoaringBitmap>,
    /// What must have been watched, and the versions that say that it was.
    watch: Option<(Watch, RoaringBitmap)>,
}

impl Asked {
    pub(super) fn of(technique: Technique, ledger: &Ledger<'_>) -> Self {
        let watch = technique.needs();
        Self {
            patterns: known_patterns(ledger),
            watch: watch.map(|watch| (watch, versions_of_watch(ledger, watch))),
        }
    }
}

impl Evidence for RecordEvidence<'_> {
    fn is_of_this_environment(&self) -> bool {
        self.record.environment.fingerprint() == self.environment.fingerprint()
    }

    fn environment_changes(&self) -> Vec<String> {
        let changes = self.record.environment.difference(self.environment);
        changes.iter().map(ToString::to_string).collect()
    }

    fn uses(&self) -> Result<RoaringBitmap, String> {
        let uses = self
            .ledger
            .uses(self.record)
            .map_err(|error| error.to_string())?;
        if let Some((watch, versions)) = &self.asked.watch
            && versions.is_disjoint(&uses)
        {
            let watch = watch.name();
            return Err(format!("its record was made without watching {watch}"));
        }
        for pattern in &self.inputs {
            let known = self.asked.patterns.get(pattern.as_str());
            if known.is_none_or(|versions| versions.is_disjoint(&uses)) {
                let pattern = pattern.as_str();
                return Err(format!("its record is older than its input `{pattern}`"));
            }
        }
        Ok(uses)
    }
}

/// The versions of each pattern that records know of.
fn known_patterns(ledger: &Ledger<'_>) -> BTreeMap<String, RoaringBitmap> {
    let mut patterns: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
    for subject in ledger.versions().subjects() {
        for version in subject.versions() {
            if version.kind == ElementKind::Matches
                && let Ok(Element::Matches(pattern)) = version.element()
            {
                let versions = patterns.entry(pattern.to_string()).or_default();
                versions.insert(version.id.0);
            }
        }
    }
    patterns
}

/// The versions by which records say that something was watched.
fn versions_of_watch(ledger: &Ledger<'_>, watch: Watch) -> RoaringBitmap {
    let subjects = ledger.versions().subjects();
    let versions = subjects.flat_map(|subject| subject.versions().collect::<Vec<_>>());
    versions
        .filter(|version| version.kind == ElementKind::Watched)
        .filter(|version| version.element().ok() == Some(Element::Watched(watch)))
        .map(|version| version.id.0)
        .collect()
}
