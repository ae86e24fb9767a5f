//! A snapshot with a cache says what one without says.

use std::fs::{self, File};
use std::path::Path;
use std::time::SystemTime;

use proptest::prelude::*;

use crate::support::{Checkout, Class, Jar, class_print, dump, settle};

const CLASS_PATH: [&str; 4] = ["one", "lib.jar", "two", "more.jar"];
const NAMES: [&str; 4] = ["p/A", "p/q/B", "p/q/C", "D"];

fn class(name: &str, number: u16) -> Class {
    Class::new(name).method("m", number).method("n", 1)
}

fn jar(numbers: &[u16]) -> Jar {
    NAMES
        .iter()
        .zip(numbers)
        .fold(Jar::default(), |jar, (name, number)| match number % 3 {
            0 => jar,
            _ => jar.class(&class(name, *number)),
        })
        .with("x.txt", &numbers[0].to_le_bytes())
}

/// One edit of a checkout.
#[derive(Clone, Debug)]
enum Edit {
    Class(usize, usize, u16),
    /// The same, with the time of the file put back to what it was.
    ClassInSecret(usize, usize, u16),
    Resource(usize, u8),
    Broken(usize, usize),
    Remove(usize, usize),
    RenameDirectory(usize),
    RemoveFolder(usize),
    Jar(usize, [u16; 4]),
    JarIsGarbage(usize),
    RemoveJar(usize),
    /// Lets the clock go on, so that files become trusted.
    Wait,
    /// Takes a snapshot with the cache.
    Look,
}

fn edit() -> impl Strategy<Value = Edit> {
    let (folder, name) = (0..2_usize, 0..NAMES.len());
    let place = (folder.clone(), name);
    prop_oneof![
        4 => (place.clone(), 0..5_u16).prop_map(|((f, n), v)| Edit::Class(f, n, v)),
        4 => (place.clone(), 0..5_u16).prop_map(|((f, n), v)| Edit::ClassInSecret(f, n, v)),
        2 => (folder.clone(), 0..3_u8).prop_map(|(f, v)| Edit::Resource(f, v)),
        1 => place.clone().prop_map(|(f, n)| Edit::Broken(f, n)),
        2 => place.prop_map(|(f, n)| Edit::Remove(f, n)),
        1 => folder.clone().prop_map(Edit::RenameDirectory),
        1 => folder.clone().prop_map(Edit::RemoveFolder),
        3 => (folder.clone(), prop::array::uniform4(0..5_u16)).prop_map(|(j, v)| Edit::Jar(j, v)),
        1 => folder.clone().prop_map(Edit::JarIsGarbage),
        1 => folder.prop_map(Edit::RemoveJar),
        2 => Just(Edit::Wait),
        4 => Just(Edit::Look),
    ]
}

impl Edit {
    fn apply(&self, checkout: &Checkout) {
        let folder = |index: usize| ["one", "two"][index];
        let jar_name = |index: usize| ["lib.jar", "more.jar"][index];
        let file = |f: usize, n: usize| format!("{}/{}.class", folder(f), NAMES[n]);
        match *self {
            Self::Class(f, n, number) => checkout.class(folder(f), &class(NAMES[n], number)),
            Self::ClassInSecret(f, n, number) => {
                let path = checkout.path(&file(f, n));
                let time = fs::metadata(&path).and_then(|m| m.modified());
                checkout.class(folder(f), &class(NAMES[n], number));
                let time = time.unwrap_or(SystemTime::UNIX_EPOCH);
                let opened = File::options().write(true).open(path).unwrap();
                opened.set_modified(time).unwrap();
            }
            Self::Resource(f, v) => checkout.write(&format!("{}/x.txt", folder(f)), &[v]),
            Self::Broken(f, n) => checkout.write(&file(f, n), b"broken"),
            Self::Remove(f, n) => drop(fs::remove_file(checkout.path(&file(f, n)))),
            Self::RenameDirectory(f) => {
                let from = checkout.path(&format!("{}/p", folder(f)));
                let to = checkout.path(&format!("{}/r", folder(f)));
                if fs::rename(&from, &to).is_err() {
                    let _ = fs::rename(&to, &from);
                }
            }
            Self::RemoveFolder(f) => drop(fs::remove_dir_all(checkout.path(folder(f)))),
            Self::Jar(j, numbers) => checkout.jar(jar_name(j), &jar(&numbers)),
            Self::JarIsGarbage(j) => {
                let mut bytes = jar(&[1, 1, 1, 1]).bytes();
                let middle = bytes.len() / 2;
                bytes[middle..].fill(7);
                checkout.write(jar_name(j), &bytes);
            }
            Self::RemoveJar(j) => drop(fs::remove_file(checkout.path(jar_name(j)))),
            Self::Wait => settle(),
            Self::Look => drop(checkout.warm(&CLASS_PATH)),
        }
    }
}

fn assert_warm_equals_cold(checkout: &Checkout) {
    let names: Vec<String> = ["x.txt", "p", "p/q/B.class", "r/A.class", "gone"]
        .map(str::to_owned)
        .to_vec();
    let root = checkout.path("");
    let warm = dump(&checkout.warm(&CLASS_PATH), &names, &root);
    let cold = dump(&checkout.cold(&CLASS_PATH), &names, &root);
    assert_eq!(warm, cold);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn warm_equals_cold_after_any_edits(edits in prop::collection::vec(edit(), 1..40)) {
        let checkout = Checkout::new();
        for edit in &edits {
            edit.apply(&checkout);
            if matches!(edit, Edit::Look) {
                assert_warm_equals_cold(&checkout);
            }
        }
        assert_warm_equals_cold(&checkout);
    }
}

fn checkout() -> Checkout {
    let checkout = Checkout::new();
    checkout.class("one", &class("p/A", 1));
    checkout.class("one", &class("p/q/B", 1));
    checkout.jar("lib.jar", &jar(&[0, 0, 1, 1]));
    settle();
    checkout
}

#[test]
fn an_unchanged_tree_is_not_looked_into() {
    let checkout = checkout();
    checkout.warm(&CLASS_PATH);
    let files = checkout.cache_files();
    assert_eq!(files.len(), 2, "one of the folder, one of the jar");
    settle();
    checkout.warm(&CLASS_PATH);
    // What is read again is written again.
    assert_eq!(checkout.cache_files(), files);
}

#[test]
fn only_the_entry_that_changed_is_written_again() {
    let checkout = checkout();
    checkout.warm(&CLASS_PATH);
    let before = checkout.cache_files();
    settle();
    checkout.class("one", &class("p/A", 2));
    checkout.warm(&CLASS_PATH);
    let after = checkout.cache_files();
    let same = after
        .iter()
        .filter(|(path, file)| before.get(*path) == Some(file));
    assert_eq!((after.len(), same.count()), (2, 1));
    assert_warm_equals_cold(&checkout);
}

#[test]
fn empty_directories_come_and_go() {
    let checkout = checkout();
    let seen = || !checkout.warm(&["one"]).resource("z").is_absent();
    assert!(!seen());
    fs::create_dir(checkout.path("one/z")).unwrap();
    assert!(seen());
    fs::remove_dir(checkout.path("one/z")).unwrap();
    assert!(!seen());
}

#[test]
fn an_edit_of_equal_size_in_the_same_tick_is_seen() {
    let checkout = Checkout::new();
    for number in 0..50 {
        checkout.class("one", &class("p/A", number));
        let warm = checkout.warm(&["one"]);
        let cold = checkout.cold(&["one"]);
        assert_eq!(class_print(&warm, "p/A"), class_print(&cold, "p/A"));
    }
}

#[test]
fn an_edit_in_a_jar_is_seen_when_its_time_is_put_back() {
    let checkout = checkout();
    let path = checkout.path("lib.jar");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let before = checkout.warm(&CLASS_PATH);
    settle();
    checkout.jar("lib.jar", &jar(&[0, 0, 2, 1]));
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
    let after = checkout.warm(&CLASS_PATH);
    assert_ne!(class_print(&before, "p/q/C"), class_print(&after, "p/q/C"));
    assert_eq!(class_print(&before, "D"), class_print(&after, "D"));
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let checkout = checkout();
    let expected = checkout.cold(&CLASS_PATH);
    checkout.warm(&CLASS_PATH);
    let sound = checkout.cache_files();
    let damages: [fn(&mut Vec<u8>); 6] = [
        Vec::clear,
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.truncate(20),
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        // The format: a newer one.
        |bytes| bytes[8] += 1,
        // The scheme: fingerprints of another release.
        |bytes| bytes[12] ^= 1,
    ];
    for damage in damages {
        for (path, (_, content)) in &sound {
            let mut bytes = content.clone();
            damage(&mut bytes);
            fs::write(path, bytes).unwrap();
        }
        let snapshot = checkout.warm(&CLASS_PATH);
        assert_eq!(class_print(&snapshot, "p/A"), class_print(&expected, "p/A"));
        assert_eq!(contents(&checkout), contents_of(&sound));
    }
}

/// The cache file of one entry under the name of another.
#[test]
fn a_foreign_cache_file_is_not_believed() {
    let checkout = checkout();
    checkout.class("two", &class("p/A", 2));
    settle();
    let expected = checkout.warm(&["one", "two"]);
    let files: Vec<_> = checkout.cache_files().into_keys().collect();
    let [first, second] = &files[..] else {
        panic!("two files expected");
    };
    swap(first, second);
    let snapshot = checkout.warm(&["one", "two"]);
    assert_eq!(class_print(&snapshot, "p/A"), class_print(&expected, "p/A"));
}

#[test]
fn a_cache_that_cannot_be_written_is_said_and_does_no_harm() {
    let checkout = checkout();
    checkout.write(".fewest", b"not a folder");
    let snapshot = checkout.warm(&CLASS_PATH);
    assert!(snapshot.class(&"p/A".into()).is_some());
    let problems = snapshot.cache_problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("cannot write `"));
}

#[test]
fn a_folder_that_becomes_a_jar_and_back_is_seen() {
    let checkout = checkout();
    checkout.class("x", &class("p/A", 1));
    settle();
    let folder = checkout.warm(&["x"]);
    fs::remove_dir_all(checkout.path("x")).unwrap();
    checkout.jar("x", &Jar::default().class(&class("p/A", 2)));
    settle();
    let jar = checkout.warm(&["x"]);
    assert_ne!(class_print(&folder, "p/A"), class_print(&jar, "p/A"));
    checkout.remove("x");
    checkout.class("x", &class("p/A", 1));
    let back = checkout.warm(&["x"]);
    assert_eq!(class_print(&folder, "p/A"), class_print(&back, "p/A"));
}

#[test]
fn many_small_edits_do_not_make_the_cache_grow() {
    let checkout = Checkout::new();
    let wide = |round: u16| {
        (0..300).fold(Class::new("p/A"), |class, number| {
            class.method(&format!("{}{round}m{number}", "long".repeat(20)), number)
        })
    };
    let mut largest = 0;
    for round in 0..120 {
        checkout.class("one", &wide(round));
        checkout.warm(&["one"]);
        let size = checkout.cache_files().values().map(|(_, f)| f.len()).sum();
        largest = largest.max(size);
    }
    assert!(largest < 2_000_000, "{largest}");
    assert_warm_equals_cold(&checkout);
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let checkout = checkout();
    let expected = class_print(&checkout.cold(&CLASS_PATH), "p/A");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let snapshot = checkout.warm(&CLASS_PATH);
                    assert_eq!(class_print(&snapshot, "p/A"), expected);
                    let _ = fs::remove_dir_all(checkout.cache());
                }
            });
        }
    });
}

#[test]
#[cfg(unix)]
fn linked_folders_are_followed_and_circles_end() {
    use std::os::unix::fs::symlink;
    let checkout = checkout();
    checkout.class("elsewhere", &Class::new("s/S"));
    symlink(checkout.path("elsewhere/s"), checkout.path("one/s")).unwrap();
    symlink("..", checkout.path("one/p/up")).unwrap();
    symlink("self", checkout.path("one/self")).unwrap();
    let snapshot = checkout.cold(&["one"]);
    assert!(snapshot.class(&"s/S".into()).is_some());
    assert_eq!(snapshot.classes().count(), 3);
}

fn contents(checkout: &Checkout) -> Vec<Vec<u8>> {
    contents_of(&checkout.cache_files())
}

fn contents_of<T>(files: &std::collections::BTreeMap<T, (SystemTime, Vec<u8>)>) -> Vec<Vec<u8>> {
    files.values().map(|(_, content)| content.clone()).collect()
}

fn swap(first: &Path, second: &Path) {
    let (one, two) = (fs::read(first).unwrap(), fs::read(second).unwrap());
    fs::write(first, two).unwrap();
    fs::write(second, one).unwrap();
}
