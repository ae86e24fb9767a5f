//! The store equals a naive one in memory, whatever is done to it.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{class_of_one_method, environment, test};
use fewest_classfile::fingerprint::ClassFingerprints;
use fewest_model::{Element, Fingerprint, Outcome, TestId, Version};
use fewest_store::{
    Added, Ending, Event, Limits, Options, Pass, Reader, Record, RunId, Store, VersionId,
};
use proptest::prelude::*;
use tempfile::tempdir;

const LIMITS: Limits = Limits {
    records_per_environment: 2,
    records_per_test: 3,
    events: 3,
    runs: 2,
    dropped: 2,
};

#[derive(Clone, Debug)]
enum Step {
    Record(Record),
    Outcome(TestId, Ending),
    Doubts(TestId, Vec<String>),
    DropRecords(TestId),
    Forget(TestId),
    Collect,
    Commit,
    Abandon,
    Reopen,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct NaiveTest {
    /// Newest first.
    records: Vec<(u64, Record)>,
    history: Vec<Event>,
    doubts: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Naive {
    tests: BTreeMap<TestId, NaiveTest>,
    sequence: u64,
}

impl Naive {
    fn next(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence - 1
    }

    fn add_record(&mut self, record: &Record) -> Added {
        let sequence = self.next();
        let test = self.tests.entry(record.pass.test.clone()).or_default();
        test.doubts.clear();
        let is_same = |old: &Record| {
            old.uses == record.uses && old.pass.environment == record.pass.environment
        };
        let before = test.records.len();
        test.records.retain(|(_, old)| !is_same(old));
        let added = if test.records.len() < before {
            Added::Refreshed
        } else {
            Added::New
        };
        test.records.insert(0, (sequence, record.clone()));
        let mut counts = BTreeMap::<Fingerprint, usize>::new();
        test.records.retain(|(_, record)| {
            let count = counts
                .entry(record.pass.environment.fingerprint())
                .or_default();
            *count += 1;
            *count <= LIMITS.records_per_environment
        });
        test.records.truncate(LIMITS.records_per_test);
        added
    }

    /// The classes that records use.
    fn classes(&self) -> BTreeSet<&Version> {
        let records = self.tests.values().flat_map(|test| &test.records);
        records
            .flat_map(|(_, record)| &record.uses)
            .filter(|version| class_behind(version).is_some())
            .collect()
    }

    fn add_outcome(&mut self, test: &TestId, ending: Ending) {
        let sequence = fewest_store::Sequence(self.next());
        let history = &mut self.tests.entry(test.clone()).or_default().history;
        history.insert(0, Event { ending, sequence });
        history.truncate(LIMITS.events);
    }
}

fn read(reader: &Reader) -> BTreeMap<TestId, NaiveTest> {
    let ledger = reader.ledger(None).unwrap();
    let version = |id| {
        let known = ledger.versions().get(VersionId(id)).unwrap();
        Version {
            element: known.element().unwrap(),
            fingerprint: known.fingerprint,
        }
    };
    let of_test = |test: &fewest_store::KnownTest| NaiveTest {
        records: ledger
            .records_of(test)
            .iter()
            .map(|record| {
                let pass = Pass {
                    test: test.id.clone(),
                    environment: record.environment.clone(),
                    made_at: record.made_at,
                    millis: record.millis,
                    revision: record.revision.clone(),
                };
                let uses = ledger.uses(record).unwrap().iter().map(version).collect();
                (record.sequence.0, Record { pass, uses })
            })
            .collect(),
        history: test.history.clone(),
        doubts: test.doubts.clone(),
    };
    ledger
        .tests()
        .iter()
        .map(|test| (test.id.clone(), of_test(test)))
        .collect()
}

fn elements() -> impl Strategy<Value = Element> {
    let names = [
        "C p/A",
        "W p/A",
        "S p/A",
        "M p/A.m()V",
        "M p/A.n()V",
        "L p/A.m()V",
        "C p/B",
        "F p/A",
        "R p/A",
        "D p",
        "E HOME",
        "P x",
    ];
    prop::sample::select(names.to_vec()).prop_map(|name| name.parse().unwrap())
}

fn uses() -> impl Strategy<Value = BTreeSet<Version>> {
    let version = (elements(), 0..3_u8).prop_map(|(element, content)| Version {
        element,
        fingerprint: Fingerprint::of(&[content]),
    });
    prop::collection::btree_set(version, 1..5)
}

fn tests() -> impl Strategy<Value = TestId> {
    (0..3_u8, prop::option::of("[ab]")).prop_map(|(class, method)| {
        let mut id = test(&format!("p/T{class}"));
        id.method = method.map(Into::into);
        id
    })
}

fn records() -> impl Strategy<Value = Record> {
    let revision = prop::option::of("[a-c]{0,2}");
    (
        tests(),
        uses(),
        0..3_u8,
        any::<i64>(),
        any::<u32>(),
        revision,
    )
        .prop_map(|(test, uses, jdk, made_at, millis, revision)| Record {
            pass: Pass {
                test,
                environment: environment(&jdk.to_string()),
                made_at,
                millis,
                revision: revision.map(Into::into),
            },
            uses,
        })
}

fn endings() -> impl Strategy<Value = Ending> {
    let outcome = prop::sample::select(vec![Outcome::Passed, Outcome::Failed, Outcome::Unfinished]);
    (outcome, any::<i64>(), any::<u32>(), any::<i64>()).prop_map(|(outcome, at, millis, run)| {
        Ending {
            outcome,
            at,
            millis,
            run: RunId(run),
        }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => records().prop_map(Step::Record),
        4 => (tests(), endings()).prop_map(|(test, ending)| Step::Outcome(test, ending)),
        2 => (tests(), prop::collection::vec(".{0,3}", 0..3))
            .prop_map(|(test, doubts)| Step::Doubts(test, doubts)),
        1 => tests().prop_map(Step::DropRecords),
        1 => tests().prop_map(Step::Forget),
        2 => Just(Step::Collect),
        3 => Just(Step::Commit),
        2 => Just(Step::Abandon),
        2 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

fn open(folder: &std::path::Path) -> Store {
    let options = Options {
        limits: LIMITS,
        ..Options::default()
    };
    Store::open_with(folder, options).unwrap().store
}

fn run(steps: Vec<Step>) {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut committed = Naive::default();
    let mut steps = steps.into_iter();
    loop {
        let mut naive = committed.clone();
        let mut writer = store.write().unwrap();
        let end = loop {
            match steps.next() {
                Some(Step::Record(record)) => {
                    let added = writer.add_record(&record).unwrap();
                    assert_eq!(added, naive.add_record(&record));
                    for version in &record.uses {
                        if let Some(class) = class_behind(version) {
                            writer.describe(version, &class).unwrap();
                        }
                    }
                }
                Some(Step::Outcome(test, ending)) => {
                    writer.add_outcome(&test, ending).unwrap();
                    naive.add_outcome(&test, ending);
                }
                Some(Step::Doubts(test, doubts)) => {
                    writer.set_doubts(&test, &doubts).unwrap();
                    naive.tests.entry(test).or_default().doubts = doubts;
                }
                Some(Step::DropRecords(test)) => {
                    writer.drop_records(&test).unwrap();
                    if let Some(known) = naive.tests.get_mut(&test) {
                        known.records.clear();
                    }
                }
                Some(Step::Forget(test)) => {
                    writer.forget(&test).unwrap();
                    naive.tests.remove(&test);
                }
                Some(Step::Collect) => {
                    writer.collect().unwrap();
                }
                end => break end,
            }
        };
        if let Some(Step::Abandon) = end {
            drop(writer);
        } else {
            writer.commit().unwrap();
            committed = naive;
        }
        let reader = store.read().unwrap();
        assert_eq!(read(&reader), committed.tests);
        reader.verify().unwrap();
        drop(reader);
        match end {
            None => break,
            Some(Step::Reopen) => {
                drop(store);
                store = open(folder.path());
            }
            Some(_) => {}
        }
    }
    collecting_leaves_only_what_is_used(&mut store, &committed);
    drop(store);
    let described = committed.classes().len() as i64;
    let database = rusqlite::Connection::open(folder.path().join("store.db")).unwrap();
    let rows = database.query_row("SELECT count(*) FROM class_parts", (), |row| row.get(0));
    assert_eq!(rows, Ok(described));
}

/// Every version of a whole class is described when it is recorded.
fn class_behind(version: &Version) -> Option<ClassFingerprints> {
    match &version.element {
        Element::Class(name) => Some(class_of_one_method(name, version.fingerprint)),
        _ => None,
    }
}

fn collecting_leaves_only_what_is_used(store: &mut Store, naive: &Naive) {
    let mut writer = store.write().unwrap();
    writer.collect().unwrap();
    writer.commit().unwrap();
    let used: BTreeSet<&Version> = naive
        .tests
        .values()
        .flat_map(|test| &test.records)
        .flat_map(|(_, record)| &record.uses)
        .collect();
    let reader = store.read().unwrap();
    let ledger = reader.ledger(None).unwrap();
    assert_eq!(ledger.versions().len(), used.len());
    for subject in ledger.versions().subjects() {
        for known in subject.versions() {
            let version = Version {
                element: known.element().unwrap(),
                fingerprint: known.fingerprint,
            };
            assert!(used.contains(&version), "{version:?}");
            assert_eq!(ledger.class_of(&known).unwrap(), class_behind(&version));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_store_equals_a_naive_one(steps in steps()) {
        run(steps);
    }
}
