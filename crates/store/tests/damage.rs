//! A damaged store is noticed, set aside, and replaced.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use common::*;
use fewest_model::TestId;
use fewest_store::{Event, Notice, ReadError, Reader, Store, VersionId, WriteError};
use tempfile::tempdir;

fn database(folder: &Path) -> PathBuf {
    folder.join("store.db")
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

fn random_bytes(count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

/// Opening sets the file aside as it is, and gives a store that works.
fn is_set_aside(folder: &Path) {
    let before = fs::read(database(folder)).unwrap();
    let opened = open_noticed(folder);
    let Some(Notice::SetAside { path, .. }) = opened.notice else {
        panic!("{:?}", opened.notice)
    };
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("store.db.damaged-"), "{name}");
    assert_eq!(fs::read(&path).unwrap(), before);
    works_and_is_empty(opened.store, folder);
    assert_eq!(open_noticed(folder).notice, None);
}

fn works_and_is_empty(mut store: Store, folder: &Path) {
    let reader = store.read().unwrap();
    assert!(reader.ledger(None).unwrap().tests().is_empty());
    drop(reader);
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/New", &[("C p/A", "1")]))
        .unwrap();
    writer.commit().unwrap();
    assert_eq!(uses_in(folder, "p/New").len(), 1);
}

#[test]
fn random_bytes_are_set_aside() {
    let folder = tempdir().unwrap();
    fs::write(database(folder.path()), random_bytes(10_000)).unwrap();
    let error = Reader::open(folder.path()).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { .. }), "{error:?}");
    is_set_aside(folder.path());
}

#[test]
fn an_empty_file_is_set_aside() {
    let folder = tempdir().unwrap();
    fs::write(database(folder.path()), b"").unwrap();
    is_set_aside(folder.path());
}

#[test]
fn a_wrong_header_is_set_aside() {
    let folder = tempdir().unwrap();
    fill(folder.path());
    overwrite(&database(folder.path()), 0, b"sqlite");
    is_set_aside(folder.path());
}

#[test]
fn a_database_of_another_program_is_set_aside() {
    let folder = tempdir().unwrap();
    let other = rusqlite::Connection::open(database(folder.path())).unwrap();
    other
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA user_version = 77")
        .unwrap();
    drop(other);
    is_set_aside(folder.path());
}

#[test]
fn a_file_cut_short_is_set_aside_wherever_the_cut_is() {
    let whole = tempdir().unwrap();
    fill(whole.path());
    let bytes = fs::read(database(whole.path())).unwrap();
    for length in [
        1,
        50,
        99,
        100,
        4096,
        bytes.len() / 2,
        bytes.len() - 4096,
        bytes.len() - 1,
    ] {
        let folder = tempdir().unwrap();
        fs::write(database(folder.path()), &bytes[..length]).unwrap();
        is_set_aside(folder.path());
    }
}

#[test]
fn a_corrupt_page_in_the_middle_is_set_aside() {
    let whole = tempdir().unwrap();
    fill(whole.path());
    let bytes = fs::read(database(whole.path())).unwrap();
    let mut noticed = 0;
    for page in 1..bytes.len() / 4096 {
        let folder = tempdir().unwrap();
        fs::write(database(folder.path()), &bytes).unwrap();
        overwrite(
            &database(folder.path()),
            page as u64 * 4096,
            &random_bytes(4096),
        );
        // A page within a chain of a long value has no structure that opening
        // could check; reading notices those.
        match open_noticed(folder.path()).notice {
            Some(Notice::SetAside { .. }) => noticed += 1,
            None => {
                let reader = Reader::open(folder.path()).unwrap();
                let error = reader.verify().unwrap_err();
                assert!(matches!(error, ReadError::Damaged { .. }), "{error:?}");
                drop(reader);
                is_set_aside(folder.path());
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(noticed > 0);
}

/// What a reader says about each test: its history, and its records with their
/// uses. `None` if it refuses.
type Answer = BTreeMap<TestId, (Vec<Event>, BTreeSet<String>)>;

fn answer(folder: &Path) -> Option<Answer> {
    let reader = Reader::open(folder).ok()?;
    let ledger = reader.ledger(None).ok()?;
    let mut answer = Answer::new();
    for test in ledger.tests() {
        let mut records = BTreeSet::new();
        for record in ledger.records_of(test) {
            let uses = ledger.uses(record).ok()?;
            let uses: Option<Vec<String>> = uses
                .iter()
                .map(|id| {
                    let known = ledger.versions().get(VersionId(id))?;
                    Some(known.text() + &known.fingerprint.to_string())
                })
                .collect();
            // A number that means nothing is never current, so the record
            // leaves out no test.
            if let Some(uses) = uses {
                records.insert(format!("{record:?} {uses:?}"));
            }
        }
        answer.insert(test.id.clone(), (test.history.clone(), records));
    }
    Some(answer)
}

#[test]
fn a_flipped_bit_never_changes_what_a_record_says() {
    let whole = tempdir().unwrap();
    fill(whole.path());
    let bytes = fs::read(database(whole.path())).unwrap();
    let right = answer(whole.path()).unwrap();
    let mut refused = 0;
    for place in random_bytes(4 * 400).chunks(4) {
        let place = u32::from_le_bytes(place.try_into().unwrap()) as usize;
        let mut flipped = bytes.clone();
        flipped[place / 8 % bytes.len()] ^= 1 << (place % 8);
        let folder = tempdir().unwrap();
        fs::write(database(folder.path()), flipped).unwrap();
        let Some(answer) = answer(folder.path()) else {
            refused += 1;
            continue;
        };
        // A row that cannot be found any more makes its test run.
        for (test, (history, records)) in answer {
            let (right_history, right_records) = &right[&test];
            assert!(records.is_subset(right_records), "bit {place}, {test}");
            assert!(
                records.is_empty() || history == *right_history,
                "bit {place}, {test}"
            );
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn damage_met_while_reading_is_set_aside_by_the_next_who_writes() {
    let folder = tempdir().unwrap();
    fill(folder.path());
    change_uses(folder.path());
    let reader = Reader::open(folder.path()).unwrap();
    let ledger = reader.ledger(None).unwrap();
    let record = &ledger.records_of(ledger.test(&test("p/Test7")).unwrap())[0];
    let error = ledger.uses(record).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { .. }), "{error:?}");
    let again = Reader::open(folder.path()).unwrap_err();
    assert!(matches!(again, ReadError::Damaged { .. }), "{again:?}");
    drop(reader);
    is_set_aside(folder.path());
}

#[test]
fn the_parts_of_another_class_are_not_taken_for_those_of_a_class() {
    let folder = tempdir().unwrap();
    fill(folder.path());
    let connection = rusqlite::Connection::open(database(folder.path())).unwrap();
    connection
        .execute_batch(
            "UPDATE class_parts \
             SET (parts, sum) = (SELECT parts, sum FROM class_parts ORDER BY version LIMIT 1)",
        )
        .unwrap();
    drop(connection);
    let reader = Reader::open(folder.path()).unwrap();
    let ledger = reader.ledger(None).unwrap();
    let classes = ledger.versions().subjects();
    let classes = classes.flat_map(|subject| subject.versions().collect::<Vec<_>>());
    let classes = classes.filter(|version| version.whole_class().is_some());
    let told: Vec<_> = classes.map(|version| ledger.class_of(&version)).collect();
    assert_eq!(told.len(), 60);
    let damaged = |told: &&Result<_, _>| matches!(told, Err(ReadError::Damaged { .. }));
    assert_eq!(told.iter().filter(damaged).count(), 59);
    drop(reader);
    is_set_aside(folder.path());
}

#[test]
fn damage_met_while_writing_voids_the_transaction_and_is_set_aside() {
    let folder = tempdir().unwrap();
    fill(folder.path());
    change_uses(folder.path());
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/New", &[("C p/A", "1")]))
        .unwrap();
    let error = writer.collect().unwrap_err();
    assert!(matches!(error, WriteError::Damaged { .. }), "{error:?}");
    let error = writer
        .add_record(&record("p/U", &[("C p/A", "1")]))
        .unwrap_err();
    assert!(matches!(error, WriteError::Void), "{error:?}");
    assert!(matches!(writer.commit(), Err(WriteError::Void)));
    drop(store);
    is_set_aside(folder.path());
}

/// Takes a version out of one record, as a disk that returns wrong bytes.
fn change_uses(folder: &Path) {
    let connection = rusqlite::Connection::open(database(folder)).unwrap();
    let changed = connection
        .execute(
            "UPDATE uses SET versions = (SELECT versions FROM uses WHERE record = 3) \
             WHERE record = 8",
            (),
        )
        .unwrap();
    assert_eq!(changed, 1);
}

#[test]
fn a_log_left_behind_by_a_removed_store_is_not_replayed() {
    let folder = tempdir().unwrap();
    let mut store = open(folder.path());
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/Old", &[("C p/A", "1")]))
        .unwrap();
    writer.commit().unwrap();
    let log = fs::read(folder.path().join("store.db-wal")).unwrap();
    assert!(!log.is_empty());
    drop(store);
    fs::remove_file(database(folder.path())).unwrap();
    fs::write(folder.path().join("store.db-wal"), log).unwrap();
    let opened = open_noticed(folder.path());
    assert_eq!(opened.notice, Some(Notice::Created));
    works_and_is_empty(opened.store, folder.path());
}

#[test]
fn a_half_made_store_of_a_killed_process_is_replaced_in_silence() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("store.db.new"), random_bytes(5000)).unwrap();
    fs::write(folder.path().join("store.db.new-wal"), random_bytes(5000)).unwrap();
    let opened = open_noticed(folder.path());
    assert_eq!(opened.notice, Some(Notice::Created));
    works_and_is_empty(opened.store, folder.path());
}
