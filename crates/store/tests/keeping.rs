//! What the store keeps, what it drops, and how it gives it back.

mod common;

use common::*;
use fewest_model::{ElementKind, Outcome};
use fewest_store::{
    Added, Environment, Limits, Notice, Options, ReadError, Reader, Store, VersionId, WriteError,
};
use roaring::RoaringBitmap;
use tempfile::tempdir;

#[test]
fn a_new_store_is_made_and_said_so_once() {
    let folder = tempdir().unwrap();
    let place = folder.path().join("a/.fewest");
    assert_eq!(open_noticed(&place).notice, Some(Notice::Created));
    assert_eq!(open_noticed(&place).notice, None);
    assert!(place.join("store.db").is_file());
    assert!(
        !place.join("store.db-wal").exists(),
        "the log is moved into the file on closing"
    );
}

#[test]
fn a_missing_store_is_no_store_to_read() {
    let folder = tempdir().unwrap();
    let error = Reader::open(folder.path()).unwrap_err();
    assert!(matches!(error, ReadError::Missing { .. }));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_record_comes_back_as_it_was_put_in() {
    let folder = tempdir().unwrap();
    let record = record(
        "p/ATest",
        &[
            ("C p/A", "1"),
            ("W p/ATest", "2"),
            ("M p/A.m(I)V", "3"),
            ("L p/A.m(I)V", "4"),
            ("F a b/c.txt", "5"),
            ("R p/gone.properties", ""),
            ("P user.dir", "6"),
        ],
    );
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    assert_eq!(writer.add_record(&record).unwrap(), Added::New);
    writer.commit().unwrap();

    let reader = store.read().unwrap();
    let ledger = reader.ledger(Some("core")).unwrap();
    let known = ledger.test(&record.pass.test).unwrap();
    let [head] = ledger.records_of(known) else {
        panic!("one record")
    };
    assert_eq!(uses(&ledger, &record.pass.test), [record.uses]);
    assert_eq!(head.environment, record.pass.environment);
    assert_eq!((head.made_at, head.millis), (1000, 12));
    assert_eq!(head.revision.as_deref(), Some("abc"));
    assert_eq!(ledger.test_of(head).id, record.pass.test);
}

#[test]
fn versions_are_grouped_by_class() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    let uses = [
        ("C p/A", "1"),
        ("M p/A.m()V", "2"),
        ("F x", "3"),
        ("S p/A", "4"),
    ];
    writer.add_record(&record("p/T", &uses)).unwrap();
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    let ledger = reader.ledger(None).unwrap();
    let groups: Vec<(Option<&str>, Vec<ElementKind>)> = ledger
        .versions()
        .subjects()
        .map(|subject| {
            (
                subject.class(),
                subject.versions().map(|v| v.kind).collect(),
            )
        })
        .collect();
    assert_eq!(
        groups,
        [
            (
                Some("p/A"),
                vec![ElementKind::Class, ElementKind::Shape, ElementKind::Method]
            ),
            (None, vec![ElementKind::File]),
        ]
    );
}

#[test]
fn a_module_s_ledger_holds_only_what_its_records_use() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/T", &[("C p/A", "1"), ("C p/B", "1")]))
        .unwrap();
    let mut other = record("p/T", &[("C p/B", "1"), ("C p/C", "1")]);
    other.pass.test.module = "web".into();
    writer.add_record(&other).unwrap();
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    let texts = |module| -> Vec<String> {
        let ledger = reader.ledger(module).unwrap();
        assert_eq!(ledger.tests().len(), if module.is_some() { 1 } else { 2 });
        let subjects = ledger.versions().subjects();
        subjects
            .flat_map(|s| s.versions())
            .map(|v| v.text())
            .collect()
    };
    assert_eq!(texts(Some("core")), ["C p/A", "C p/B"]);
    assert_eq!(texts(Some("web")), ["C p/B", "C p/C"]);
    assert_eq!(texts(None), ["C p/A", "C p/B", "C p/C"]);
    assert!(reader.ledger(Some("none")).unwrap().versions().is_empty());
}

#[test]
fn the_users_of_a_version_are_found() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/T", &[("C p/A", "1"), ("C p/B", "1")]))
        .unwrap();
    writer
        .add_record(&record("p/U", &[("C p/B", "1")]))
        .unwrap();
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    let ledger = reader.ledger(None).unwrap();
    let users = |class: &str| -> Vec<String> {
        let ids: RoaringBitmap = ledger
            .versions()
            .subjects()
            .filter(|subject| subject.class() == Some(class))
            .flat_map(|subject| subject.versions())
            .map(|version| version.id.0)
            .collect();
        let users = ledger.users_of(&ids).unwrap();
        users
            .iter()
            .map(|record| ledger.test_of(record).id.to_string())
            .collect()
    };
    assert_eq!(users("p/A"), ["p.T"]);
    assert_eq!(users("p/B"), ["p.T", "p.U"]);
}

#[test]
fn passing_again_with_the_same_uses_refreshes_the_record() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    let old = record("p/T", &[("C p/A", "1")]);
    let new = record("p/T", &[("C p/A", "2")]);
    assert_eq!(writer.add_record(&old).unwrap(), Added::New);
    assert_eq!(writer.add_record(&new).unwrap(), Added::New);
    writer.commit().unwrap();
    assert_eq!(
        uses_in(folder.path(), "p/T"),
        [new.uses.clone(), old.uses.clone()]
    );
    let mut again = old.clone();
    again.pass.revision = None;
    let mut writer = store.write().unwrap();
    assert_eq!(writer.add_record(&again).unwrap(), Added::Refreshed);
    writer.commit().unwrap();
    assert_eq!(uses_in(folder.path(), "p/T"), [old.uses, new.uses]);
    let reader = store.read().unwrap();
    assert_eq!(reader.ledger(None).unwrap().records()[0].revision, None);
}

#[test]
fn a_record_that_uses_nothing_is_refused_and_the_rest_is_kept() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    let error = writer.add_record(&record("p/T", &[])).unwrap_err();
    assert!(matches!(error, WriteError::NothingUsed { .. }));
    let foreign = RoaringBitmap::from_iter([7]);
    let error = writer.add_pass(&pass("p/T"), foreign).unwrap_err();
    assert!(matches!(error, WriteError::UnknownVersion { .. }));
    writer
        .add_record(&record("p/U", &[("C p/A", "1")]))
        .unwrap();
    writer.commit().unwrap();
    assert_eq!(uses_in(folder.path(), "p/T").len(), 0);
    assert_eq!(uses_in(folder.path(), "p/U").len(), 1);
}

#[test]
fn a_dropped_writer_leaves_nothing() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/T", &[("C p/A", "1")]))
        .unwrap();
    drop(writer);
    assert_eq!(uses_in(folder.path(), "p/T").len(), 0);
    assert!(!folder.path().join("store.writer").exists());
}

#[test]
fn the_newest_records_of_each_environment_are_kept() {
    let folder = tempdir().unwrap();
    let limits = Limits {
        records_per_environment: 2,
        records_per_test: 3,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let mut store = Store::open_with(folder.path(), options).unwrap().store;
    let mut writer = store.write().unwrap();
    for (jdk, content) in [
        ("17", "1"),
        ("17", "2"),
        ("21", "3"),
        ("17", "4"),
        ("25", "5"),
    ] {
        let mut record = record("p/T", &[("C p/A", content)]);
        record.pass.environment = environment(jdk);
        writer.add_record(&record).unwrap();
    }
    writer.commit().unwrap();
    assert_eq!(
        uses_in(folder.path(), "p/T"),
        ["5", "4", "3"].map(|content| versions(&[("C p/A", content)]))
    );
}

#[test]
fn what_no_record_needs_is_collected_when_enough_was_dropped() {
    let folder = tempdir().unwrap();
    let limits = Limits {
        records_per_environment: 1,
        dropped: 3,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let mut store = Store::open_with(folder.path(), options).unwrap().store;
    let mut texts = |contents: &[&str]| -> usize {
        let mut writer = store.write().unwrap();
        for content in contents {
            writer
                .add_record(&record("p/T", &[("C p/A", content), ("C p/B", "1")]))
                .unwrap();
        }
        writer.commit().unwrap();
        let reader = store.read().unwrap();
        reader.ledger(None).unwrap().versions().len()
    };
    assert_eq!(texts(&["1", "2", "3"]), 4, "two records were dropped");
    assert_eq!(texts(&["4"]), 2, "three records were dropped");
    assert_eq!(
        uses_in(folder.path(), "p/T"),
        [versions(&[("C p/A", "4"), ("C p/B", "1")])]
    );
    assert_eq!(
        texts(&["1"]),
        3,
        "a collected version comes back under a new number"
    );
    let reader = Reader::open(folder.path()).unwrap();
    let ledger = reader.ledger(None).unwrap();
    assert_eq!(ledger.uses(&ledger.records()[0]).unwrap().max(), Some(5));
    assert!(ledger.versions().get(VersionId(0)).is_none());
}

#[test]
fn collecting_in_the_middle_of_a_transaction_keeps_what_comes_after() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    writer.intern(&version("C p/A", "1")).unwrap();
    let run = writer.begin_run(&new_run("x")).unwrap();
    let collected = writer.collect().unwrap();
    assert_eq!(collected.versions, 1);
    let record = record("p/T", &[("C p/A", "1")]);
    writer.add_record(&record).unwrap();
    writer.finish_run(run, 5, false).unwrap();
    writer.commit().unwrap();
    assert_eq!(uses_in(folder.path(), "p/T"), [record.uses]);
}

#[test]
fn history_and_records_share_one_order() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let id = test("p/T");
    let mut writer = store.write().unwrap();
    writer.add_outcome(&id, ending(Outcome::Failed)).unwrap();
    writer
        .add_record(&record("p/T", &[("C p/A", "1")]))
        .unwrap();
    writer.commit().unwrap();
    let mut writer = store.write().unwrap();
    writer.add_outcome(&id, ending(Outcome::Flaky)).unwrap();
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    let ledger = reader.ledger(None).unwrap();
    let known = ledger.test(&id).unwrap();
    let [newest, oldest] = known.history[..] else {
        panic!("two events")
    };
    assert_eq!(newest.ending, ending(Outcome::Flaky));
    assert_eq!(oldest.ending, ending(Outcome::Failed));
    let record = ledger.records_of(known)[0].sequence;
    assert!(oldest.sequence < record && record < newest.sequence);
    assert_eq!(reader.history(&id).unwrap(), known.history);
}

#[test]
fn doubts_stay_until_a_record_clears_them() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let id = test("p/T");
    let doubts = [
        "class p/A could not be rewritten".to_owned(),
        "\n".to_owned(),
    ];
    let mut writer = store.write().unwrap();
    writer.set_doubts(&id, &doubts).unwrap();
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    assert_eq!(reader.doubts(&id).unwrap(), doubts);
    assert_eq!(
        reader.ledger(None).unwrap().test(&id).unwrap().doubts,
        doubts
    );
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/T", &[("C p/A", "1")]))
        .unwrap();
    writer.commit().unwrap();
    assert!(store.read().unwrap().doubts(&id).unwrap().is_empty());
    assert_eq!(
        reader.doubts(&id).unwrap(),
        doubts,
        "a reader keeps its moment"
    );
}

#[test]
fn a_class_and_its_methods_are_tests_of_their_own() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    for method in [None, Some(""), Some("a"), Some("#ä b")] {
        let mut id = test("p/T");
        id.method = method.map(Into::into);
        writer.set_doubts(&id, &[format!("{method:?}")]).unwrap();
    }
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    for method in [None, Some(""), Some("a"), Some("#ä b")] {
        let mut id = test("p/T");
        id.method = method.map(Into::into);
        assert_eq!(reader.doubts(&id).unwrap(), [format!("{method:?}")]);
        assert!(reader.ledger(None).unwrap().test(&id).is_some());
    }
}

#[test]
fn runs_are_counted_from_the_last_full_one() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut run = |full: Option<bool>| {
        let mut writer = store.write().unwrap();
        let run = writer.begin_run(&new_run("mvn test")).unwrap();
        if let Some(full) = full {
            writer.finish_run(run, 20, full).unwrap();
        }
        writer.commit().unwrap();
        store.read().unwrap().runs_since_full().unwrap()
    };
    assert_eq!(run(Some(false)), None);
    assert_eq!(run(Some(true)), Some(0));
    assert_eq!(run(None), Some(1), "an interrupted run counts");
    assert_eq!(run(Some(false)), Some(2));
    assert_eq!(run(Some(true)), Some(0));
    let runs = store.read().unwrap().runs(2).unwrap();
    assert_eq!(
        runs.iter().map(|run| run.full).collect::<Vec<_>>(),
        [true, false]
    );
    let interrupted = store.read().unwrap().runs(3).unwrap().pop().unwrap();
    assert_eq!(interrupted.finished_at, None);
    assert_eq!(interrupted.begun, new_run("mvn test"));
}

#[test]
fn old_runs_go_but_the_last_full_one_stays() {
    let folder = tempdir().unwrap();
    let limits = Limits {
        runs: 2,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let mut store = Store::open_with(folder.path(), options).unwrap().store;
    let mut writer = store.write().unwrap();
    for number in 0..6 {
        let run = writer.begin_run(&new_run("x")).unwrap();
        writer.finish_run(run, 20, number == 1).unwrap();
    }
    assert_eq!(writer.collect().unwrap().runs, 3);
    let error = writer
        .finish_run(fewest_store::RunId(1), 3, true)
        .unwrap_err();
    assert!(matches!(error, WriteError::UnknownRun { .. }));
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    let ids: Vec<i64> = reader.runs(9).unwrap().iter().map(|run| run.id.0).collect();
    assert_eq!(ids, [6, 5, 2]);
    assert_eq!(reader.runs_since_full().unwrap(), Some(2));
}

#[test]
fn forgotten_tests_are_gone_with_their_records() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/T", &[("C p/A", "1")]))
        .unwrap();
    writer
        .add_record(&record("p/U", &[("C p/A", "1")]))
        .unwrap();
    writer
        .add_outcome(&test("p/U"), ending(Outcome::Passed))
        .unwrap();
    writer.forget(&test("p/T")).unwrap();
    writer.forget(&test("p/Unknown")).unwrap();
    writer.drop_records(&test("p/U")).unwrap();
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    let ledger = reader.ledger(None).unwrap();
    assert!(ledger.records().is_empty());
    assert_eq!(ledger.tests().len(), 1);
    assert_eq!(ledger.tests()[0].history.len(), 1);
}

#[test]
fn an_environment_comes_back_whole() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    let mut record = record("p/T", &[("C p/A", "1")]);
    record.pass.environment =
        Environment::from_iter([("jvm-args", "-Xmx1g"), ("jdk", "17")]).into();
    writer.add_record(&record).unwrap();
    writer.commit().unwrap();
    let reader = store.read().unwrap();
    let ledger = reader.ledger(None).unwrap();
    let now = Environment::from_iter([("jvm-args", "-Xmx2g"), ("jdk", "17")]);
    let changes = ledger.records()[0].environment.difference(&now);
    assert_eq!(changes.len(), 1);
    assert_eq!(
        changes[0].to_string(),
        "jvm-args changed from `-Xmx1g` to `-Xmx2g`"
    );
}

#[test]
fn an_overview_counts_and_names_the_commits_newest_first() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    assert_eq!(store.read().unwrap().overview().unwrap().tests, 0);
    let mut writer = store.write().unwrap();
    for (test, revision, content) in [
        ("p/A", "one", "1"),
        ("p/B", "two", "1"),
        ("p/A", "three", "2"),
        ("p/B", "one", "1"),
    ] {
        let mut record = record(test, &[("C p/X", content)]);
        record.pass.revision = Some(revision.into());
        writer.add_record(&record).unwrap();
    }
    writer.commit().unwrap();
    let overview = store.read().unwrap().overview().unwrap();
    assert_eq!((overview.tests, overview.records), (2, 3));
    assert_eq!(overview.revisions, ["one", "three"]);
    let mut tests = store.read().unwrap().test_ids().unwrap();
    tests.sort();
    assert_eq!(tests, [test("p/A"), test("p/B")]);
}
