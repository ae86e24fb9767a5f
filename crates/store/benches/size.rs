//! How the store behaves at the sizes that the design names.
//!
//! `cargo bench -p fewest-store` prints plain figures. Beside the layout in use
//! stands the obvious one, a row for each version under a unique index, because
//! the choice between the two was made by these figures.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock};

use divan::Bencher;
use fewest_model::{ClassName, Element, Fingerprint, MethodKey, TestId, Version};
use fewest_store::{Environment, Pass, Reader, Record, Store, VersionId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use tempfile::{TempDir, tempdir};

const CLASSES: usize = 100_000;
/// Versions of each class: its head, its shape and methods.
const PER_CLASS: usize = 10;
const TESTS: usize = 20_000;
/// Classes that one test uses, each with half of its versions.
const USED: usize = 300;

fn main() {
    if std::env::args().any(|argument| argument == "--memory") {
        // A process of its own, because freed memory is not given back.
        let folder = std::env::args().next_back().unwrap_or_default();
        return print_memory(Path::new(&folder));
    }
    for (what, folder) in [("large", LARGE.path()), ("rows", ROWS.path())] {
        let length = fs::metadata(folder.join("store.db")).map_or(0, |file| file.len());
        println!("{what}: {} MiB", length >> 20);
    }
    let itself = std::env::current_exe().unwrap();
    let arguments = [OsStr::new("--memory"), LARGE.path().as_os_str()];
    Command::new(itself).args(arguments).status().unwrap();
    divan::main();
}

fn print_memory(folder: &Path) {
    let reader = Reader::open(folder).unwrap();
    let ledger = reader.ledger(None).unwrap();
    let _ = ledger.versions().get(VersionId(1));
    for record in ledger.records() {
        ledger.uses(record).unwrap();
    }
    println!("a process with the whole ledger: {} MiB", resident() >> 10);
}

/// The memory that this process has now, in KiB.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

fn class(number: usize) -> ClassName {
    ClassName::new(format!(
        "com/example/package{}/SomeClass{number}",
        number / 40
    ))
}

fn element(number: usize, part: usize) -> Element {
    match part {
        0 => Element::Class(class(number)),
        1 => Element::Shape(class(number)),
        _ => Element::Method(
            class(number),
            MethodKey::new(format!("doSomething{part}"), "(Ljava/lang/String;I)V"),
        ),
    }
}

fn version(number: usize, part: usize) -> Version {
    let element = element(number, part);
    Version {
        fingerprint: Fingerprint::of(element.to_string().as_bytes()),
        element,
    }
}

fn pass(number: usize) -> Pass {
    static ENVIRONMENT: LazyLock<Arc<Environment>> =
        LazyLock::new(|| Arc::new(Environment::from_iter([("jdk", "17")])));
    Pass {
        test: TestId::of_class("core", ClassName::new(format!("com/example/Test{number}"))),
        environment: ENVIRONMENT.clone(),
        made_at: 0,
        millis: 100,
        revision: Some("0123456789abcdef0123456789abcdef01234567".into()),
    }
}

/// The classes and parts that a test uses: some near it, some used by all.
fn parts_used(test: usize, classes: usize, used: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..used).flat_map(move |number| {
        let class = if number % 3 == 0 {
            number * 31 % classes
        } else {
            (test * 5 + number * 7) % classes
        };
        (0..PER_CLASS)
            .filter(move |part| *part < 2 || !(test + part + number).is_multiple_of(3))
            .map(move |part| (class, part))
    })
}

static LARGE: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap().store;
    let mut writer = store.write().unwrap();
    let ids: Vec<Vec<u32>> = (0..CLASSES)
        .map(|number| {
            (0..PER_CLASS)
                .map(|part| writer.intern(&version(number, part)).unwrap().0)
                .collect()
        })
        .collect();
    for test in 0..TESTS {
        let uses = parts_used(test, CLASSES, USED).map(|(class, part)| ids[class][part]);
        writer.add_pass(&pass(test), uses.collect()).unwrap();
    }
    writer.commit().unwrap();
    folder
});

/// The same versions, each in a row of its own.
static ROWS: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempdir().unwrap();
    let mut connection = Connection::open(folder.path().join("store.db")).unwrap();
    let transaction = connection.transaction().unwrap();
    transaction
        .execute_batch(
            "CREATE TABLE version (id INTEGER PRIMARY KEY, element TEXT NOT NULL, \
             fingerprint BLOB NOT NULL, UNIQUE (element, fingerprint))",
        )
        .unwrap();
    for number in 0..CLASSES {
        for part in 0..PER_CLASS {
            let version = version(number, part);
            transaction
                .prepare_cached("INSERT INTO version (element, fingerprint) VALUES (?, ?)")
                .unwrap()
                .execute((version.element.to_string(), version.fingerprint.as_bytes()))
                .unwrap();
        }
    }
    transaction.commit().unwrap();
    folder
});

/// What a snapshot knows of a class: the fingerprint of each part.
type Parts = HashMap<(char, String), Fingerprint>;

static CURRENT: LazyLock<HashMap<String, Parts>> = LazyLock::new(|| {
    let of_class = |number| {
        let parts = (0..PER_CLASS).map(|part| {
            let version = version(number, part);
            let member = match &version.element {
                Element::Method(_, key) => key.to_string(),
                _ => String::new(),
            };
            (
                (version.element.kind().letter(), member),
                version.fingerprint,
            )
        });
        (class(number).to_string(), parts.collect())
    };
    (0..CLASSES).map(of_class).collect()
});

#[divan::bench(sample_count = 10, sample_size = 1)]
fn open_for_reading_a_large_store(bencher: Bencher) {
    bencher.bench_local(|| Reader::open(LARGE.path()).unwrap());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn open_for_writing_a_large_store(bencher: Bencher) {
    bencher.bench_local(|| Store::open(LARGE.path()).unwrap());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn load_a_million_versions_and_20000_tests(bencher: Bencher) {
    let reader = Reader::open(LARGE.path()).unwrap();
    bencher.bench_local(|| reader.ledger(None).unwrap().versions().len());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn load_a_million_versions_from_rows(bencher: Bencher) {
    let connection = Connection::open(ROWS.path().join("store.db")).unwrap();
    bencher.bench_local(|| read_rows(&connection));
}

fn read_rows(connection: &Connection) -> (String, Vec<u32>, Vec<Vec<u8>>) {
    let mut text = String::new();
    let (mut ids, mut fingerprints) = (Vec::new(), Vec::new());
    let mut statement = connection
        .prepare("SELECT id, element, fingerprint FROM version")
        .unwrap();
    let mut rows = statement.query(()).unwrap();
    while let Some(row) = rows.next().unwrap() {
        ids.push(row.get(0).unwrap());
        text.push_str(row.get_ref(1).unwrap().as_str().unwrap());
        fingerprints.push(row.get(2).unwrap());
    }
    (text, ids, fingerprints)
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn ask_every_version_whether_it_is_current(bencher: Bencher) {
    let reader = Reader::open(LARGE.path()).unwrap();
    let ledger = reader.ledger(None).unwrap();
    LazyLock::force(&CURRENT);
    bencher.bench_local(|| {
        let mut current = RoaringBitmap::new();
        for subject in ledger.versions().subjects() {
            let Some(parts) = subject.class().and_then(|class| CURRENT.get(class)) else {
                continue;
            };
            for version in subject.versions() {
                let key = (version.kind.letter(), version.member.to_owned());
                if parts.get(&key) == Some(&version.fingerprint) {
                    current.insert(version.id.0);
                }
            }
        }
        current
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn compare_the_uses_of_20000_tests(bencher: Bencher) {
    let reader = Reader::open(LARGE.path()).unwrap();
    let ledger = reader.ledger(None).unwrap();
    let mut current = RoaringBitmap::new();
    current.insert_range(0..(CLASSES * PER_CLASS) as u32);
    current.remove(77);
    bencher.bench_local(|| {
        let is_kept = |record| ledger.uses(record).unwrap().is_subset(&current);
        ledger
            .records()
            .iter()
            .filter(|record| is_kept(record))
            .count()
    });
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn collect_what_a_large_store_does_not_use(bencher: Bencher) {
    bencher.bench_local(|| {
        let mut store = Store::open(LARGE.path()).unwrap().store;
        let mut writer = store.write().unwrap();
        writer.collect().unwrap()
    });
}

/// A run of a thousand tests with five thousand versions each.
fn run_of_a_thousand() -> Vec<Record> {
    let versions: Vec<Vec<Version>> = (0..2000)
        .map(|number| (0..PER_CLASS).map(|part| version(number, part)).collect())
        .collect();
    (0..1000)
        .map(|test| Record {
            pass: pass(test),
            uses: parts_used(test, 2000, 1100)
                .map(|(class, part)| versions[class][part].clone())
                .collect(),
        })
        .collect()
}

fn merge(folder: &Path, records: &[Record]) {
    let mut store = Store::open(folder).unwrap().store;
    let mut writer = store.write().unwrap();
    for record in records {
        writer.add_record(record).unwrap();
    }
    writer.commit().unwrap();
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn merge_1000_tests_into_a_new_store(bencher: Bencher) {
    let records = run_of_a_thousand();
    let uses: usize = records.iter().map(|record| record.uses.len()).sum();
    println!("{} versions for each test", uses / records.len());
    bencher
        .with_inputs(|| tempdir().unwrap())
        .bench_local_refs(|folder| merge(folder.path(), &records));
}

/// As whoever merges traces does it: each version of the run is looked up once.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn merge_1000_tests_with_numbered_versions(bencher: Bencher) {
    let pairs: Vec<Vec<(usize, usize)>> = (0..1000)
        .map(|test| parts_used(test, 2000, 1100).collect())
        .collect();
    let versions: Vec<Vec<Version>> = (0..2000)
        .map(|number| (0..PER_CLASS).map(|part| version(number, part)).collect())
        .collect();
    bencher
        .with_inputs(|| tempdir().unwrap())
        .bench_local_refs(|folder| {
            let mut store = Store::open(folder.path()).unwrap().store;
            let mut writer = store.write().unwrap();
            let mut number = |version| writer.intern(version).unwrap().0;
            let ids: Vec<Vec<u32>> = versions
                .iter()
                .map(|parts| parts.iter().map(&mut number).collect())
                .collect();
            for (test, pairs) in pairs.iter().enumerate() {
                let uses = pairs.iter().map(|&(class, part)| ids[class][part]);
                writer.add_pass(&pass(test), uses.collect()).unwrap();
            }
            writer.commit().unwrap();
        });
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn merge_1000_tests_again(bencher: Bencher) {
    let records = run_of_a_thousand();
    let folder = tempdir().unwrap();
    merge(folder.path(), &records);
    bencher.bench_local(|| merge(folder.path(), &records));
}
