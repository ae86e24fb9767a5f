//! Small values for tests of the store.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use fewest_classfile::fingerprint::{ClassFingerprints, MethodFingerprint};
use fewest_model::{ClassName, Element, Fingerprint, MethodKey, Outcome, TestId, Version};
use fewest_store::{
    Ending, Environment, Ledger, NewRun, Opened, Pass, Reader, Record, RunId, Store,
};

pub(crate) fn test(name: &str) -> TestId {
    TestId::of_class("core", ClassName::new(name))
}

pub(crate) fn version(element: &str, content: &str) -> Version {
    let fingerprint = match content {
        "" => Fingerprint::ABSENT,
        content => Fingerprint::of(content.as_bytes()),
    };
    Version {
        element: element.parse().unwrap(),
        fingerprint,
    }
}

pub(crate) fn versions(list: &[(&str, &str)]) -> BTreeSet<Version> {
    list.iter()
        .map(|(element, content)| version(element, content))
        .collect()
}

pub(crate) fn environment(jdk: &str) -> Arc<Environment> {
    Arc::new(Environment::from_iter([("jdk", jdk)]))
}

pub(crate) fn pass(name: &str) -> Pass {
    Pass {
        test: test(name),
        environment: environment("17"),
        made_at: 1000,
        millis: 12,
        revision: Some("abc".into()),
    }
}

pub(crate) fn record(name: &str, uses: &[(&str, &str)]) -> Record {
    Record {
        pass: pass(name),
        uses: versions(uses),
    }
}

pub(crate) fn ending(outcome: Outcome) -> Ending {
    Ending {
        outcome,
        at: 2000,
        millis: 34,
        run: RunId(1),
    }
}

pub(crate) fn new_run(command: &str) -> NewRun {
    NewRun {
        started_at: 10,
        revision: None,
        command: command.to_owned(),
        technique: "hybrid".to_owned(),
    }
}

pub(crate) fn open(folder: &Path) -> Store {
    Store::open(folder).unwrap().store
}

pub(crate) fn open_noticed(folder: &Path) -> Opened {
    Store::open(folder).unwrap()
}

/// The uses of a test's records, newest first.
pub(crate) fn uses(ledger: &Ledger<'_>, test: &TestId) -> Vec<BTreeSet<Version>> {
    let Some(test) = ledger.test(test) else {
        return Vec::new();
    };
    ledger
        .records_of(test)
        .iter()
        .map(|record| {
            let uses = ledger.uses(record).unwrap();
            uses.iter()
                .map(|id| {
                    let known = ledger.versions().get(fewest_store::VersionId(id)).unwrap();
                    let element: Element = known.element().unwrap();
                    Version {
                        element,
                        fingerprint: known.fingerprint,
                    }
                })
                .collect()
        })
        .collect()
}

pub(crate) fn uses_in(folder: &Path, name: &str) -> Vec<BTreeSet<Version>> {
    let reader = Reader::open(folder).unwrap();
    uses(&reader.ledger(None).unwrap(), &test(name))
}

/// A class that has its content in every part.
pub(crate) fn class_of_one_method(name: &ClassName, content: Fingerprint) -> ClassFingerprints {
    ClassFingerprints {
        name: name.clone(),
        super_name: None,
        interfaces: Vec::new(),
        access: 1,
        head: content,
        shape: content,
        class: content,
        methods: vec![MethodFingerprint {
            key: MethodKey::new("m", "()V"),
            access: 2,
            fingerprint: content,
        }],
    }
}

/// Fills a store with enough rows to take many pages.
pub(crate) fn fill(folder: &Path) {
    let mut store = open(folder);
    let mut writer = store.write().unwrap();
    let run = writer.begin_run(&new_run("mvn test")).unwrap();
    for number in 0..60 {
        let mut record = record(&format!("p/Test{number}"), &[]);
        for class in 0..20 {
            for method in 0..8 {
                let name = format!("M p/Class{}.m{method}()V", number * 3 + class);
                record.uses.insert(version(&name, "1"));
            }
        }
        let name = ClassName::new(format!("p/Class{number}").as_str());
        let class = version(&format!("C {name}"), &number.to_string());
        record.uses.insert(class.clone());
        writer.add_record(&record).unwrap();
        let parts = class_of_one_method(&name, class.fingerprint);
        writer.describe(&class, &parts).unwrap();
        writer
            .add_outcome(&record.pass.test, ending(Outcome::Passed))
            .unwrap();
    }
    writer.finish_run(run, 99, true).unwrap();
    writer.commit().unwrap();
}
