//! The tests of a task, each with its verdict.

mod evidence;
mod judged;
mod nearness;
mod versions;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use fewest_build::TaskRequest;
use fewest_model::{ClassName, Element, Outcome, TestId};
use fewest_order::History;
use fewest_select::class_graph::ClassGraph;
use fewest_select::verdict::{Candidate, RunReason, Verdict, Versions, judge};
use fewest_select::{Entity, Technique};
use fewest_snapshot::Snapshot;
use fewest_store::{Environment, Event, KnownTest, Ledger, RunId, VersionId};

pub(crate) use self::evidence::newest_record;
use self::evidence::{Asked, RecordEvidence, outcome_of_relatives, outcome_since};
pub(crate) use self::judged::{Judged, JudgedMethod, OrderFacts};
use self::nearness::ChangedElements;
pub use self::nearness::ChangedUses;
use self::versions::compare;
use crate::giving_up::gives_up;
use crate::named_classes::SnapshotNames;
use crate::settings::ProjectFile;
use crate::since::{Affected, ChangeSet};
use crate::test_methods::{TestClasses, TestMethods};
use crate::testng;

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
    let known = || ledger.tests().iter().map(|test| test.id.class.clone());
    let classes: BTreeSet<ClassName> = match &request.test_classes {
        Some(classes) => outermost_classes(classes),
        None => known().collect(),
    };
    let versions = compare(rules.technique, &rules.file.coarsen, snapshot, ledger);
    let names = SnapshotNames(snapshot);
    let affected = |changes| Affected::of(changes, rules.file, request, snapshot, &classes);
    let judge = Judge {
        rules,
        environment,
        ledger,
        module: request.module.as_str().into(),
        asked: Asked::of(rules.technique, ledger),
        changed: rules
            .nearness
            .then(|| ChangedElements::of(&versions.stale, |id| element(ledger, id))),
        versions,
        affected: rules.since.map(affected),
        graph: RefCell::new(ClassGraph::new(&names)),
    };
    let mut judged: Vec<Judged> = classes.iter().map(|class| judge.class(class)).collect();
    testng::add_needed(&mut judged, request, snapshot);
    judged
}

fn element(ledger: &Ledger<'_>, version: u32) -> Option<Element> {
    let version = ledger.versions().get(VersionId(version))?;
    version.element().ok()
}

/// All that the verdicts on the tests of a task go by.
struct Judge<'a> {
    rules: &'a Rules<'a>,
    environment: &'a Environment,
    ledger: &'a Ledger<'a>,
    module: Arc<str>,
    versions: Versions,
    asked: Asked,
    /// Where it matters how much of what a test uses has changed.
    changed: Option<ChangedElements>,
    /// Where that is asked instead of the records.
    affected: Option<Affected>,
    graph: RefCell<ClassGraph<'a, SnapshotNames<'a>>>,
}

impl Judge<'_> {
    fn class(&self, class: &ClassName) -> Judged {
        let (verdict, millis, facts) = self.test(class, None);
        let mut judged = Judged {
            class: class.clone(),
            verdict,
            millis,
            facts,
            methods: Vec::new(),
            whole: None,
        };
        // Class files are looked into only where it may matter.
        let classes = self
            .rules
            .methods
            .filter(|_| self.goes_into(&judged, &|_| true));
        match classes.map(|classes| classes.methods(class)) {
            Some(TestMethods::Apart(methods))
                if self.goes_into(&judged, &|name| methods.contains_key(name)) =>
            {
                judged.methods = methods
                    .keys()
                    .map(|name| self.method(class, name))
                    .collect();
                judged.settle(&methods, |method| self.used_by(class, method));
            }
            Some(TestMethods::Whole(why)) if self.rules.entity == Entity::Method => {
                judged.whole = Some(why);
            }
            _ => {}
        }
        judged
    }

    /// Whether the methods of a class are judged one by one, if those that are
    /// there can be told apart.
    fn goes_into(&self, judged: &Judged, is_there: &dyn Fn(&str) -> bool) -> bool {
        match self.rules.entity {
            Entity::Method => true,
            Entity::Class => {
                let (module, class) = (&self.module, &judged.class);
                judged.verdict.is_run()
                    && gives_up(self.ledger, module, class, self.environment, is_there)
            }
        }
    }

    fn method(&self, class: &ClassName, name: &Arc<str>) -> JudgedMethod {
        let (verdict, millis, _) = self.test(class, Some(name));
        JudgedMethod {
            name: name.clone(),
            verdict,
            millis,
        }
    }

    fn test(
        &self,
        class: &ClassName,
        method: Option<&Arc<str>>,
    ) -> (Verdict, Option<u32>, OrderFacts) {
        let id = self.id(class, method);
        let known = self.ledger.test(&id);
        let records = self.records(class, known);
        let verdict = if self.rules.full_run_due {
            Verdict::Run(RunReason::FullRunDue)
        } else {
            let newest = known.and_then(|test| newest_record(self.ledger, test, self.environment));
            let candidate = Candidate {
                records: &records,
                outcome_since: known
                    .and_then(|test| outcome_since(test, newest))
                    .max(outcome_of_relatives(self.ledger, &id, newest)),
                doubts: known.map(|test| &*test.doubts).unwrap_or_default(),
                listed: self.rules.file.always_runs(class),
            };
            let verdict = match &self.affected {
                Some(affected) => {
                    let reason = candidate.reason_of_its_own();
                    reason.map_or_else(|| affected.verdict(class), Verdict::Run)
                }
                None => judge(self.rules.technique, &candidate, &self.versions, |id| {
                    element(self.ledger, id)
                }),
            };
            self.rules
                .refine(verdict, class, known, &mut self.graph.borrow_mut())
        };
        let outcomes = known.into_iter().flat_map(|test| &test.history).rev();
        let changed = self.changed.as_ref().filter(|_| verdict.is_run());
        let facts = OrderFacts {
            history: History::of(outcomes.map(|event| event.ending.outcome)),
            uses: changed.and_then(|changed| changed.among_uses_of(class, &records)),
        };
        let millis = known
            .and_then(|test| test.history.first())
            .map(|event| event.ending.millis);
        (verdict, millis, facts)
    }

    fn records(&self, class: &ClassName, known: Option<&KnownTest>) -> Vec<RecordEvidence<'_>> {
        let records = known.map(|test| self.ledger.records_of(test));
        let records = records.unwrap_or_default().iter();
        records
            .map(|record| RecordEvidence {
                record,
                ledger: self.ledger,
                environment: self.environment,
                inputs: self.rules.file.inputs_of(class).collect(),
                asked: &self.asked,
            })
            .collect()
    }

    /// What a method used when it was last recorded.
    fn used_by(&self, class: &ClassName, method: &Arc<str>) -> Option<BTreeSet<Element>> {
        let test = self.ledger.test(&self.id(class, Some(method)))?;
        let newest = self.ledger.records_of(test).first()?;
        let uses = self.ledger.uses(newest).ok()?;
        Some(
            uses.iter()
                .filter_map(|id| element(self.ledger, id))
                .collect(),
        )
    }

    fn id(&self, class: &ClassName, method: Option<&Arc<str>>) -> TestId {
        TestId {
            module: self.module.clone(),
            class: class.clone(),
            method: method.cloned(),
        }
    }
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

/// The test classes, those that are nested in one counting as it.
pub(crate) fn outermost_classes(classes: &[ClassName]) -> BTreeSet<ClassName> {
    classes.iter().map(ClassName::outermost).collect()
}
