//! The tests of a task, each with its verdict.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use fewest_build::TaskRequest;
use fewest_model::{
    ClassName, Element, ElementKind, Fingerprint, MethodKey, Outcome, TestId, Watch,
};
use fewest_order::{History, is_named_after};
use fewest_select::class_graph::ClassGraph;
use fewest_select::method_uses::Declared;
use fewest_select::verdict::{Candidate, Evidence, RunReason, Verdict, Versions, judge};
use fewest_select::{Entity, Technique};
use fewest_snapshot::{ClassView, FilePattern, Snapshot};
use fewest_store::{
    Environment, Event, KnownRecord, KnownTest, KnownVersion, Ledger, RunId, Sequence, Subject,
    VersionId,
};
use roaring::RoaringBitmap;

use crate::coarsening::Coarsening;
use crate::giving_up::gives_up;
use crate::named_classes::SnapshotNames;
use crate::plan::Parts;
use crate::settings::ProjectFile;
use crate::since::{Affected, ChangeSet};
use crate::test_methods::{TestClasses, TestMethods};
use crate::testng;

/// A test class and what is to happen with it.
pub(crate) struct Judged {
    pub(crate) class: ClassName,
    pub(crate) verdict: Verdict,
    /// How long it took when it last ran.
    pub(crate) millis: Option<u32>,
    /// Its methods, where they are judged one by one.
    pub(crate) methods: Vec<JudgedMethod>,
    /// Why its methods are not judged one by one, though that is wanted.
    pub(crate) whole: Option<String>,
    /// What its place in the order goes by.
    pub(crate) facts: OrderFacts,
}

/// A test method and what is to happen with it.
pub(crate) struct JudgedMethod {
    pub(crate) name: Arc<str>,
    pub(crate) verdict: Verdict,
    pub(crate) millis: Option<u32>,
}

/// What is known of a test beside its verdict.
#[derive(Debug, Default)]
pub(crate) struct OrderFacts {
    pub(crate) history: History,
    /// `None` for a test without a record.
    pub(crate) uses: Option<ChangedUses>,
}

/// How much of what a test uses has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedUses {
    /// Numbers of the changed elements, the same for all tests of a task.
    pub changed: Vec<u32>,
    /// Whether the test is named after a class that some of them are part of.
    pub is_named_after: bool,
    /// How many elements it uses.
    pub total: usize,
}

/// What a verdict follows, beside the facts.
pub(crate) struct Rules<'a> {
    pub(crate) technique: Technique,
    /// What changed, where that is asked instead of the records.
    pub(crate) since: Option<&'a ChangeSet>,
    pub(crate) file: &'a ProjectFile,
    pub(crate) full_run_due: bool,
    /// The first run in which a failure is recent enough to count.
    pub(crate) recent_runs: Option<RunId>,
    /// Whether it matters how much of what a test uses has changed.
    pub(crate) nearness: bool,
    /// What is left out or run as one.
    pub(crate) entity: Entity,
    /// The test classes by their methods, where the technique can tell of those.
    pub(crate) methods: Option<&'a TestClasses<'a>>,
}

/// Judges every class that the task would run, as far as that is known, and
/// every class that the store has records of.
pub(crate) fn judge_tests(
    request: &TaskRequest,
    rules: &Rules<'_>,
    environment: &Environment,
    snapshot: &Snapshot,
    ledger: &Ledger<'_>,
) -> Vec<Judged> {
    let versions = compare(rules.technique, &rules.file.coarsen, snapshot, ledger);
    let patterns = known_patterns(ledger);
    let needed = rules
        .technique
        .needs()
        .map(|watch| (watch, versions_of_watch(ledger, watch)));
    let element = |id: u32| {
        ledger
            .versions()
            .get(VersionId(id))
            .and_then(|version| version.element().ok())
    };
    let names = SnapshotNames(snapshot);
    let graph = RefCell::new(ClassGraph::new(&names));
    let changed = if rules.nearness {
        number_elements(&versions.stale, element)
    } else {
        HashMap::new()
    };
    let module: Arc<str> = request.module.as_str().into();
    let known = || ledger.tests().iter().map(|test| test.id.class.clone());
    let classes: BTreeSet<ClassName> = match &request.test_classes {
        Some(classes) => outermost_classes(classes),
        None => known().collect(),
    };
    let affected = rules
        .since
        .map(|changes| Affected::of(changes, rules.file, request, snapshot, &classes));
    let judge_test = |class: &ClassName, method: Option<&Arc<str>>| {
        let id = TestId {
            module: module.clone(),
            class: class.clone(),
            method: method.cloned(),
        };
        let known = ledger.test(&id);
        let records: Vec<RecordEvidence<'_>> = known
            .map(|test| ledger.records_of(test))
            .unwrap_or_default()
            .iter()
            .map(|record| RecordEvidence {
                record,
                ledger,
                environment,
                inputs: rules.file.inputs_of(class).collect(),
                patterns: &patterns,
                needed: needed.as_ref(),
            })
            .collect();
        let newest = known.and_then(|test| newest_record(ledger, test, environment));
        let candidate = Candidate {
            records: &records,
            outcome_since: known
                .and_then(|test| outcome_since(test, newest))
                .max(outcome_of_relatives(ledger, &id, newest)),
            doubts: known.map(|test| &*test.doubts).unwrap_or_default(),
            listed: rules.file.always_runs(class),
        };
        let verdict = if rules.full_run_due {
            Verdict::Run(RunReason::FullRunDue)
        } else {
            let verdict = match &affected {
                Some(affected) => {
                    let reason = candidate.reason_of_its_own();
                    reason.map_or_else(|| affected.verdict(class), Verdict::Run)
                }
                None => judge(rules.technique, &candidate, &versions, element),
            };
            rules.refine(verdict, class, known, &mut graph.borrow_mut())
        };
        let outcomes = known.into_iter().flat_map(|test| &test.history).rev();
        let facts = OrderFacts {
            history: History::of(outcomes.map(|event| event.ending.outcome)),
            uses: (rules.nearness && verdict.is_run())
                .then(|| changed_uses(class, &records, &versions, &changed))
                .flatten(),
        };
        let millis = known
            .and_then(|test| test.history.first())
            .map(|event| event.ending.millis);
        (verdict, millis, facts)
    };
    let judge_class = |class: &ClassName| {
        let (verdict, millis, facts) = judge_test(class, None);
        let mut judged = Judged {
            class: class.clone(),
            verdict,
            millis,
            facts,
            methods: Vec::new(),
            whole: None,
        };
        let is_told_apart = |is_there: &dyn Fn(&str) -> bool| match rules.entity {
            Entity::Class => {
                judged.verdict.is_run() && gives_up(ledger, &module, class, environment, is_there)
            }
            Entity::Method => true,
        };
        // Class files are looked into only where it may matter.
        let classes = rules.methods.filter(|_| is_told_apart(&|_| true));
        match classes.map(|classes| classes.methods(class)) {
            Some(TestMethods::Apart(methods))
                if is_told_apart(&|name| methods.contains_key(name)) =>
            {
                judged.methods = methods
                    .keys()
                    .map(|name| {
                        let (verdict, millis, _) = judge_test(class, Some(name));
                        JudgedMethod {
                            name: name.clone(),
                            verdict,
                            millis,
                        }
                    })
                    .collect();
                judged.settle(&methods, |method| {
                    let id = TestId {
                        module: module.clone(),
                        class: class.clone(),
                        method: Some(method.clone()),
                    };
                    let newest = ledger.records_of(ledger.test(&id)?).first()?;
                    let uses = ledger.uses(newest).ok()?;
                    Some(uses.iter().filter_map(element).collect())
                });
            }
            Some(TestMethods::Whole(why)) if rules.entity == Entity::Method => {
                judged.whole = Some(why);
            }
            _ => {}
        }
        judged
    };
    let mut judged: Vec<Judged> = classes.iter().map(judge_class).collect();
    testng::add_needed(&mut judged, request, snapshot);
    judged
}

impl Judged {
    /// Which of its methods run, where they are judged one by one.
    pub(crate) fn parts(&self) -> Option<Parts> {
        let methods = self.methods.iter();
        Parts::of(methods.map(|method| (&method.name, method.verdict.is_run())))
    }

    /// Brings the verdicts on a class and on its methods together.
    fn settle(
        &mut self,
        declared: &BTreeMap<Arc<str>, Declared>,
        used_by: impl Fn(&Arc<str>) -> Option<BTreeSet<Element>>,
    ) {
        if let Verdict::Skip { .. } = self.verdict {
            // What holds for the class holds for each of its methods.
            for method in &mut self.methods {
                method.verdict = self.verdict.clone();
            }
            return;
        }
        self.run_what_is_inherited(declared, used_by);
        match self.methods.iter().find(|method| method.verdict.is_run()) {
            Some(first) => {
                self.verdict = first.verdict.clone();
                // What it takes is what those take that run.
                let run = self.methods.iter().filter(|m| m.verdict.is_run());
                let millis: Option<Vec<u32>> = run.map(|method| method.millis).collect();
                self.millis = millis.map_or(self.millis, |each| Some(each.iter().sum()));
            }
            None => self.verdict = Verdict::Skip { record: 0 },
        }
    }

    /// A test that found state which other tests of its class had left behind
    /// needs them again. That they are among what it used tells who they were.
    fn run_what_is_inherited(
        &mut self,
        declared: &BTreeMap<Arc<str>, Declared>,
        used_by: impl Fn(&Arc<str>) -> Option<BTreeSet<Element>>,
    ) {
        let mut pending: Vec<usize> = (0..self.methods.len())
            .filter(|&index| self.methods[index].verdict.is_run())
            .collect();
        while let Some(index) = pending.pop() {
            let Some(used) = used_by(&self.methods[index].name) else {
                continue;
            };
            let reader = self.methods[index].name.clone();
            for (other, method) in self.methods.iter_mut().enumerate() {
                let Some(place) = declared.get(&method.name) else {
                    continue;
                };
                let own = Element::Method(place.class.clone(), place.key.clone());
                if !method.verdict.is_run() && used.contains(&own) {
                    let why = format!("it leaves something behind that {reader} needs");
                    method.verdict = Verdict::Run(RunReason::Needed { why });
                    pending.push(other);
                }
            }
        }
    }
}

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
fn outcome_of_relatives(
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

impl Rules<'_> {
    /// What static techniques add to a verdict: the way to what changed, and
    /// what failed lately.
    fn refine(
        &self,
        verdict: Verdict,
        class: &ClassName,
        known: Option<&KnownTest>,
        graph: &mut ClassGraph<'_, SnapshotNames<'_>>,
    ) -> Verdict {
        match verdict {
            Verdict::Run(RunReason::Changed { elements, count }) if self.technique.is_static() => {
                let changed = |class: &ClassName| {
                    elements.iter().any(
                        |element| matches!(element, Element::Reachable(known) if known == class),
                    )
                };
                Verdict::Run(match graph.chain(class, changed) {
                    Some(chain) => RunReason::Reaches { chain, count },
                    None => RunReason::Changed { elements, count },
                })
            }
            Verdict::Skip { .. } if known.is_some_and(|test| self.has_failed_lately(test)) => {
                Verdict::Run(RunReason::FailedLately {
                    runs: self.file.recent_failures(),
                })
            }
            verdict => verdict,
        }
    }

    fn has_failed_lately(&self, test: &KnownTest) -> bool {
        let failed = |event: &Event| {
            self.recent_runs
                .is_some_and(|first| event.ending.run >= first)
                && matches!(event.ending.outcome, Outcome::Failed | Outcome::Unfinished)
        };
        test.history.iter().any(failed)
    }
}

/// An element that has changed.
struct ChangedElement {
    number: u32,
    /// The outermost class that it is part of.
    class: Option<ClassName>,
}

/// Gives each element that has changed a number, by the versions of it that are
/// no longer there.
fn number_elements(
    stale: &RoaringBitmap,
    element: impl Fn(u32) -> Option<Element>,
) -> HashMap<u32, ChangedElement> {
    let mut numbers: BTreeMap<Element, u32> = BTreeMap::new();
    let mut of_version = HashMap::new();
    for version in stale {
        if let Some(element) = element(version) {
            let next = numbers.len() as u32;
            let class = element.class().map(ClassName::outermost);
            let number = *numbers.entry(element).or_insert(next);
            of_version.insert(version, ChangedElement { number, class });
        }
    }
    of_version
}

/// What of a test's uses has changed, by the record that says it best.
fn changed_uses(
    test: &ClassName,
    records: &[RecordEvidence<'_>],
    versions: &Versions,
    known: &HashMap<u32, ChangedElement>,
) -> Option<ChangedUses> {
    let of_today = records
        .iter()
        .find(|record| record.is_of_this_environment());
    let uses = of_today.or(records.first())?.uses().ok()?;
    let total = uses.len() as usize;
    let stale = uses & &versions.stale;
    let elements = || stale.iter().filter_map(|version| known.get(&version));
    let mut classes = elements().filter_map(|element| element.class.as_ref());
    let is_named_after = classes.any(|class| is_named_after(test.simple(), class.simple()));
    let mut changed: Vec<u32> = elements().map(|element| element.number).collect();
    changed.sort_unstable();
    changed.dedup();
    Some(ChangedUses {
        changed,
        is_named_after,
        total,
    })
}

/// The test classes, those that are nested in one counting as it.
pub(crate) fn outermost_classes(classes: &[ClassName]) -> BTreeSet<ClassName> {
    classes.iter().map(ClassName::outermost).collect()
}

/// How a test ended since its newest record of this environment was made: the
/// worst of it. A pass in another environment does not make up for a failure in
/// this one. Where there is no such record, only the last word counts.
fn outcome_since(test: &KnownTest, newest: Option<Sequence>) -> Option<Outcome> {
    let Some(newest) = newest else {
        return test.history.first().map(|last| last.ending.outcome);
    };
    let since = test
        .history
        .iter()
        .take_while(|event| event.sequence > newest);
    since.map(|event| event.ending.outcome).max()
}

struct RecordEvidence<'a> {
    record: &'a KnownRecord,
    ledger: &'a Ledger<'a>,
    environment: &'a Environment,
    /// The files that the test depends on by declaration.
    inputs: Vec<&'a FilePattern>,
    patterns: &'a BTreeMap<String, RoaringBitmap>,
    /// What must have been watched, and how records say that it was.
    needed: Option<&'a (Watch, RoaringBitmap)>,
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
        if let Some((watch, versions)) = self.needed
            && versions.is_disjoint(&uses)
        {
            let watch = watch.name();
            return Err(format!("its record was made without watching {watch}"));
        }
        for pattern in &self.inputs {
            let known = self.patterns.get(pattern.as_str());
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

/// Compares every version that the store knows with what the checkout has.
fn compare(
    technique: Technique,
    coarsening: &Coarsening,
    snapshot: &Snapshot,
    ledger: &Ledger<'_>,
) -> Versions {
    let mut versions = Versions::default();
    for subject in ledger.versions().subjects() {
        // One look at a class answers for all of its parts.
        let class = subject.class().map(ClassName::new);
        let view = class.as_ref().and_then(|class| snapshot.class(class));
        let unchanged = view
            .as_ref()
            .is_some_and(|view| is_known_as_it_is(&subject, view));
        for version in subject.versions() {
            versions.known.insert(version.id.0);
            if !technique.counts(version.kind) {
                if let Some(view) = &view
                    && counts_after_all(coarsening, &version, view, ledger)
                {
                    versions.stale.insert(version.id.0);
                }
                continue;
            }
            let now = match (version.kind, &view) {
                (ElementKind::Class | ElementKind::Whole | ElementKind::Reachable, Some(view)) => {
                    Some(view.class())
                }
                // Looking into code takes reading it, and names of methods
                // take taking apart.
                (ElementKind::Blocks | ElementKind::Method, _) if unchanged => {
                    Some(version.fingerprint)
                }
                (ElementKind::Shape | ElementKind::Overrides, Some(view)) => Some(view.shape()),
                (ElementKind::Head, Some(view)) => Some(view.head()),
                (ElementKind::Method, Some(view)) if view.doubt().is_none() => {
                    method_key(version.member)
                        .and_then(|key| view.method(&key))
                        .map_or(Some(Fingerprint::ABSENT), |method| Some(method.fingerprint))
                }
                _ => version
                    .element()
                    .ok()
                    .map(|element| snapshot.fingerprint(&element)),
            };
            if now != Some(version.fingerprint) {
                versions.stale.insert(version.id.0);
            }
        }
    }
    versions
}

/// Whether a whole class, which does not count for the technique, has changed
/// in a way that is to count all the same. Where it cannot be told how it has
/// changed, it may have.
fn counts_after_all(
    coarsening: &Coarsening,
    version: &KnownVersion<'_>,
    now: &ClassView<'_>,
    ledger: &Ledger<'_>,
) -> bool {
    if coarsening.is_empty()
        || version.kind != ElementKind::Class
        || version.fingerprint == now.class()
        || version.fingerprint.is_absent()
    {
        return false;
    }
    match ledger.class_of(version) {
        Ok(Some(old)) if now.doubt().is_none() => coarsening.meets(&old, &now.fingerprints()),
        _ => true,
    }
}

/// Whether all that is known of a class was learned from what it is now.
fn is_known_as_it_is(subject: &Subject<'_>, view: &ClassView<'_>) -> bool {
    let mut known = subject
        .versions()
        .filter(|version| version.kind == ElementKind::Class)
        .peekable();
    known.peek().is_some() && known.all(|version| version.fingerprint == view.class())
}

fn method_key(member: &str) -> Option<MethodKey> {
    let bracket = member.find('(')?;
    Some(MethodKey::new(&member[..bracket], &member[bracket..]))
}

/// An element in words, for reasons.
pub(crate) fn in_words(element: &Element) -> String {
    match element {
        Element::Blocks(class, method, walk) => {
            let whole = in_words(&Element::Method(class.clone(), method.clone()));
            match walk.masks() {
                Some(_) => format!("a part of {whole} that it ran"),
                None => whole,
            }
        }
        Element::Method(class, method) if method.is_static_initializer() => {
            format!("the static initializer of {}", class.simple())
        }
        Element::Method(class, method) if method.is_constructor() => {
            format!("a constructor of {}", class.simple())
        }
        Element::Method(class, method) => format!("{}.{}()", class.simple(), method.name),
        Element::Lookup(class, method) | Element::Receiver(class, method) => {
            format!(
                "the place where {}.{} is found",
                class.simple(),
                method.name
            )
        }
        Element::Shape(class)
        | Element::Head(class)
        | Element::Frame(class)
        | Element::Overrides(class) => {
            format!("the declaration of {}", class.simple())
        }
        Element::Class(class) | Element::Whole(class) | Element::Reachable(class) => {
            class.simple().to_owned()
        }
        Element::Resource(name) => format!("the resource {name}"),
        Element::File(path) => format!("the file {path}"),
        Element::Listing(path) => format!("the directory {path}"),
        Element::Matches(pattern) => format!("the files that match {pattern}"),
        Element::Variable(name) => format!("the environment variable {name}"),
        Element::Property(name) => format!("the system property {name}"),
        Element::Watched(watch) => format!("the watching of {}", watch.name()),
    }
}
