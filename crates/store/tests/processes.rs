//! Several processes, and processes that die.
//!
//! The children are this very executable, started again to run one of the
//! ignored tests at the end of the file.
#![cfg(unix)]

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use common::*;
use fewest_model::Outcome;
use fewest_store::{OpenError, Options, ReadError, Reader, Store, WriteError};
use tempfile::{TempDir, tempdir};

const FOLDER: &str = "FEWEST_STORE_TEST_FOLDER";
/// Tests that one transaction of a child writes.
const BATCH: usize = 12;

fn child(role: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "--nocapture", role])
        .env(FOLDER, folder)
        .stdout(Stdio::piped());
    command
}

/// Waits until a child prints a line with the word.
fn wait_for(child: &mut Child, word: &str) {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    for line in lines {
        if line.unwrap().contains(word) {
            return;
        }
    }
    panic!("the child ended without saying `{word}`");
}

/// The number of the transaction that a store shows, if it shows whole ones.
fn whole_transactions(folder: &Path) -> usize {
    let reader = Reader::open(folder).unwrap();
    reader.verify().unwrap();
    let ledger = reader.ledger(None).unwrap();
    let Some(first) = ledger.tests().first() else {
        return 0;
    };
    let number = first.history.len();
    assert_eq!(ledger.tests().len(), BATCH);
    for test in ledger.tests() {
        assert_eq!(test.history.len(), number, "{}", test.id);
        let newest = &ledger.records_of(test)[0];
        assert_eq!(newest.revision.as_deref(), Some(&*number.to_string()));
        let uses = uses(&ledger, &test.id);
        assert!(uses[0].contains(&version("C p/Common", &number.to_string())));
    }
    assert_eq!(reader.runs(999).unwrap().len(), number);
    number
}

/// Writes whole transactions, each with everything that a store can hold.
fn write_batch(store: &mut Store, number: usize) -> Result<(), WriteError> {
    let mut writer = store.write()?;
    let run = writer.begin_run(&new_run("hammer"))?;
    for name in 0..BATCH {
        let mut record = record(&format!("p/T{name:02}"), &[]);
        for class in 0..40 {
            let element = format!("C p/Class{}", (name * 7 + class) % 90);
            record
                .uses
                .insert(version(&element, &(number / 3).to_string()));
        }
        record
            .uses
            .insert(version("C p/Common", &number.to_string()));
        record.pass.revision = Some(number.to_string().into());
        writer.add_record(&record)?;
        writer.add_outcome(&record.pass.test, ending(Outcome::Passed))?;
    }
    writer.finish_run(run, 1, true)?;
    if number.is_multiple_of(5) {
        writer.collect()?;
    }
    writer.commit()
}

#[test]
fn a_writer_killed_at_any_point_leaves_whole_transactions() {
    let folder = tempdir().unwrap();
    let mut seen = 0;
    let mut grown = 0;
    for round in 0..40_u64 {
        let mut hammer = child("hammer", folder.path()).spawn().unwrap();
        wait_for(&mut hammer, "begun");
        thread::sleep(Duration::from_micros(round * 7919 % 30_000));
        hammer.kill().unwrap();
        hammer.wait().unwrap();
        // Every second time the reader comes first and finds the log as the
        // killed process left it.
        if round % 2 == 0 {
            assert_eq!(open_noticed(folder.path()).notice, None, "round {round}");
        }
        let now = whole_transactions(folder.path());
        assert!(now >= seen, "round {round}: {now} after {seen}");
        grown += usize::from(now > seen);
        seen = now;
        if seen > 30 {
            // The child stops at 45.
            fs::remove_file(folder.path().join("store.db")).unwrap();
            seen = 0;
        }
    }
    assert!(grown > 0, "no child got to commit");
}

#[test]
fn a_process_killed_while_it_makes_the_store_leaves_no_damage() {
    for round in 0..20_u64 {
        let folder = tempdir().unwrap();
        let mut hammer = child("hammer", folder.path()).spawn().unwrap();
        wait_for(&mut hammer, "opening");
        thread::sleep(Duration::from_micros(round * 400));
        hammer.kill().unwrap();
        hammer.wait().unwrap();
        let notice = open_noticed(folder.path()).notice;
        assert!(
            matches!(notice, None | Some(fewest_store::Notice::Created)),
            "round {round}: {notice:?}"
        );
        whole_transactions(folder.path());
    }
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = tempdir().unwrap();
    let children: Vec<Child> = (0..3)
        .map(|_| child("append", folder.path()).spawn().unwrap())
        .collect();
    let mut ids = Vec::new();
    for child in children {
        ids.push(child.id());
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let reader = Reader::open(folder.path()).unwrap();
    reader.verify().unwrap();
    let ledger = reader.ledger(None).unwrap();
    assert_eq!(ledger.tests().len(), 3 * 10);
    assert_eq!(ledger.records().len(), 3 * 10);
    for id in ids {
        for number in 0..10 {
            let mine = test(&format!("p/T{id}_{number}"));
            assert!(ledger.test(&mine).is_some(), "{mine}");
        }
    }
    // All of them met the same classes and numbered them alike.
    assert_eq!(ledger.versions().len(), 10 + 3 * 10);
}

#[test]
fn a_second_writer_is_told_who_is_writing() {
    let folder = tempdir().unwrap();
    let mut holder = child("hold", folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&mut holder, "writing");
    let options = Options {
        patience: Duration::from_millis(100),
        ..Options::default()
    };
    let mut store = Store::open_with(folder.path(), options).unwrap().store;
    let error = store.write().unwrap_err();
    let WriteError::Busy {
        holder: Some(named),
        ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(named.process, holder.id());
    assert!(
        error
            .to_string()
            .contains(&format!("process {}", holder.id())),
        "{error}"
    );
    // A reader is not hindered, and sees nothing of what is not committed.
    let reader = Reader::open(folder.path()).unwrap();
    assert!(reader.ledger(None).unwrap().tests().is_empty());
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    assert!(
        reader.ledger(None).unwrap().tests().is_empty(),
        "a reader keeps its moment"
    );
    assert_eq!(uses_in(folder.path(), "p/Held").len(), 1);
    store.write().unwrap();
}

#[test]
fn repair_waits_for_those_who_have_the_store_open() {
    let folder = tempdir().unwrap();
    let mut holder = child("hold", folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&mut holder, "writing");
    fs::write(folder.path().join("store.suspect"), "a reader met damage").unwrap();
    let options = Options {
        patience: Duration::from_millis(100),
        ..Options::default()
    };
    let error = Store::open_with(folder.path(), options).unwrap_err();
    assert!(matches!(error, OpenError::Busy { .. }), "{error:?}");
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    let notice = open_noticed(folder.path()).notice;
    assert!(
        matches!(notice, Some(fewest_store::Notice::SetAside { .. })),
        "{notice:?}"
    );
}

#[test]
fn readers_see_whole_transactions_while_a_writer_is_at_work() {
    let folder = tempdir().unwrap();
    let mut hammer = child("hammer", folder.path()).spawn().unwrap();
    wait_for(&mut hammer, "begun");
    let mut last = 0;
    for _ in 0..30 {
        let now = whole_transactions(folder.path());
        assert!(now >= last);
        last = now;
    }
    hammer.kill().unwrap();
    hammer.wait().unwrap();
}

/// A small file system of its own, unmounted at the end.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount(options: &str) -> Option<Self> {
        let folder = tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        match mounted {
            Ok(status) if status.success() => Some(Self(folder)),
            _ => {
                println!("skipped: this user may not mount a file system");
                None
            }
        }
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("store")
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(self.0.path())
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_a_typed_error_and_the_store_still_opens() {
    let Some(disk) = SmallDisk::mount("size=400k") else {
        return;
    };
    let folder = disk.folder();
    let mut store = open(&folder);
    write_batch(&mut store, 1).unwrap();
    drop(store);
    let mut full = 0;
    // The first round ends inside a transaction, the later ones begin with a
    // disk that is full to the last page.
    for filler in 0..3 {
        let filled = vec![0; 1 << 20];
        if filler > 0 {
            let _ = fs::write(disk.0.path().join(format!("filler{filler}")), filled);
        }
        let error = match Store::open(&folder) {
            Ok(mut opened) => {
                assert_eq!(opened.notice, None);
                write_much(&mut opened.store).unwrap_err().to_string()
            }
            Err(error @ OpenError::DiskFull { .. }) => error.to_string(),
            Err(error) => panic!("{error:?}"),
        };
        assert!(error.contains("no space left"), "{error}");
        full += 1;
        assert_eq!(whole_transactions(&folder), 1);
        let _ = fs::remove_file(disk.0.path().join(format!("filler{filler}")));
        assert_eq!(open_noticed(&folder).notice, None);
        assert_eq!(whole_transactions(&folder), 1);
    }
    assert_eq!(full, 3);
    disk.remount("size=8m");
    write_batch(&mut open(&folder), 2).unwrap();
    assert_eq!(whole_transactions(&folder), 2);
}

fn write_much(store: &mut Store) -> Result<(), WriteError> {
    let mut writer = store.write()?;
    for name in 0..3000 {
        let mut record = record(&format!("p/Much{name}"), &[]);
        for class in 0..20 {
            let element = format!("C p/Class{name}_{class}");
            record.uses.insert(version(&element, "1"));
        }
        writer.add_record(&record)?;
    }
    writer.commit()
}

#[test]
fn a_new_store_on_a_full_disk_is_a_typed_error() {
    let Some(disk) = SmallDisk::mount("size=64k") else {
        return;
    };
    let _ = fs::write(disk.0.path().join("filler"), vec![0; 1 << 20]);
    let error = Store::open(&disk.folder()).unwrap_err();
    assert!(matches!(error, OpenError::DiskFull { .. }), "{error:?}");
    fs::remove_file(disk.0.path().join("filler")).unwrap();
    disk.remount("size=8m");
    write_batch(&mut open(&disk.folder()), 1).unwrap();
}

#[test]
fn a_read_only_file_system_can_be_read() {
    let Some(disk) = SmallDisk::mount("size=8m") else {
        return;
    };
    let folder = disk.folder();
    write_batch(&mut open(&folder), 1).unwrap();
    disk.remount("ro");
    assert_eq!(whole_transactions(&folder), 1);
    let error = Store::open(&folder).unwrap_err();
    assert!(
        matches!(error, OpenError::Folder { .. } | OpenError::Database { .. }),
        "{error:?}"
    );
    disk.remount("rw");
    write_batch(&mut open(&folder), 2).unwrap();
    assert_eq!(whole_transactions(&folder), 2);
}

#[test]
fn a_log_that_a_read_only_folder_hides_is_never_passed_over() {
    let Some(disk) = SmallDisk::mount("size=8m") else {
        return;
    };
    let folder = disk.folder();
    let mut store = open(&folder);
    write_batch(&mut store, 1).unwrap();
    // As a killed process leaves it: the transaction is only in the log, and
    // the index of the log is there or not.
    let copies = ["both", "log"].map(|name| disk.0.path().join(name));
    for copy in &copies {
        fs::create_dir(copy).unwrap();
        for file in ["store.db", "store.db-wal", "store.db-shm"] {
            fs::copy(folder.join(file), copy.join(file)).unwrap();
        }
    }
    fs::remove_file(copies[1].join("store.db-shm")).unwrap();
    drop(store);
    disk.remount("ro");
    for copy in &copies {
        match Reader::open(copy) {
            Ok(_) => assert_eq!(whole_transactions(copy), 1),
            Err(ReadError::PendingLog { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn a_folder_without_write_permission_can_be_read() {
    let folder = tempdir().unwrap();
    let place = folder.path().join("a % b?#");
    write_batch(&mut open(&place), 1).unwrap();
    let executable = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &executable).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    mode(folder.path(), 0o755).unwrap();
    mode(&executable, 0o755).unwrap();
    for file in fs::read_dir(&place).unwrap() {
        mode(&file.unwrap().path(), 0o444).unwrap();
    }
    mode(&place, 0o555).unwrap();
    let mut command = Command::new(&executable);
    command
        .args(["--ignored", "--exact", "--nocapture", "look"])
        .env(FOLDER, &place);
    // Permissions do not bind the superuser, so the child is somebody else.
    if fs::write(place.join("probe"), "").is_ok() {
        fs::remove_file(place.join("probe")).unwrap();
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    mode(&place, 0o755).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("read 1"), "{text}");
}

fn folder_of_child() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

#[test]
#[ignore = "the child of other tests"]
fn hammer() {
    let Some(folder) = folder_of_child() else {
        return;
    };
    println!("opening");
    let mut store = open(&folder);
    let mut number = whole_transactions(&folder);
    println!("begun");
    // A history ends at fifty events, after which they no longer tell the
    // number of transactions.
    while number < 45 {
        number += 1;
        write_batch(&mut store, number).unwrap();
    }
    thread::sleep(Duration::from_secs(60));
}

#[test]
#[ignore = "the child of other tests"]
fn append() {
    let Some(folder) = folder_of_child() else {
        return;
    };
    for number in 0..10 {
        let mut store = open(&folder);
        let mut writer = store.write().unwrap();
        let name = format!("p/T{}_{number}", std::process::id());
        let own = format!("W {name}");
        let shared = format!("C p/Class{number}");
        writer
            .add_record(&record(&name, &[(&own, "1"), (&shared, "1")]))
            .unwrap();
        writer.commit().unwrap();
    }
}

#[test]
#[ignore = "the child of other tests"]
fn hold() {
    let Some(folder) = folder_of_child() else {
        return;
    };
    let mut store = open(&folder);
    let mut writer = store.write().unwrap();
    writer
        .add_record(&record("p/Held", &[("C p/A", "1")]))
        .unwrap();
    println!("writing");
    std::io::stdin().lines().for_each(drop);
    writer.commit().unwrap();
}

#[test]
#[ignore = "the child of other tests"]
fn look() {
    let Some(folder) = folder_of_child() else {
        return;
    };
    assert!(
        fs::write(folder.join("probe"), "").is_err(),
        "the folder can be written"
    );
    println!("read {}", whole_transactions(&folder));
}
