//! Files and directories beside the class path, variables and properties.

use std::fs;

use fewest_model::{Element, Fingerprint};

use crate::support::{Checkout, file_print, settle, take};

#[test]
fn a_file_is_its_content() {
    let checkout = Checkout::new();
    checkout.write("data/a.txt", b"a");
    let snapshot = checkout.cold(&[]);
    let relative = file_print(&snapshot, "data/a.txt");
    assert_eq!(relative, Fingerprint::of(b"a"));
    let absolute = checkout.path("data/a.txt").display().to_string();
    assert_eq!(file_print(&snapshot, &absolute), relative);
    assert!(file_print(&snapshot, "data/b.txt").is_absent());
    assert!(file_print(&snapshot, "data/a.txt/b").is_absent());
    let directory = file_print(&snapshot, "data");
    checkout.write("data/b.txt", b"b");
    assert_eq!(file_print(&snapshot, "data"), directory);
}

#[test]
#[cfg(unix)]
fn a_link_is_its_target_and_what_is_there() {
    let checkout = Checkout::new();
    checkout.write("a", b"same");
    checkout.write("b", b"same");
    let print = |target: &str| {
        let _ = fs::remove_file(checkout.path("link"));
        std::os::unix::fs::symlink(target, checkout.path("link")).unwrap();
        file_print(&checkout.cold(&[]), "link")
    };
    let (a, b) = (print("a"), print("b"));
    assert_ne!(a, b, "the target counts");
    let nowhere = print("nowhere");
    assert!(!nowhere.is_absent());
    checkout.write("b", b"other");
    assert_ne!(print("b"), b, "the content counts");
    print("link");
}

#[test]
fn a_listing_is_the_names_with_their_kinds() {
    let checkout = Checkout::new();
    checkout.write("data/a.txt", b"a");
    let listing = || {
        checkout
            .cold(&[])
            .fingerprint(&Element::Listing("data".into()))
    };
    let before = listing();
    checkout.write("data/a.txt", b"other");
    assert_eq!(listing(), before);
    checkout.write("data/b.txt", b"b");
    assert_ne!(listing(), before);
    checkout.remove("data/b.txt");
    assert_eq!(listing(), before);
    checkout.remove("data/a.txt");
    fs::create_dir(checkout.path("data/a.txt")).unwrap();
    assert_ne!(listing(), before);
    fs::remove_dir_all(checkout.path("data")).unwrap();
    assert!(listing().is_absent());
    checkout.write("data", b"a file");
    assert!(!listing().is_absent());
}

#[test]
#[cfg(unix)]
fn a_pipe_is_not_read() {
    let checkout = Checkout::new();
    let made = std::process::Command::new("mkfifo")
        .arg(checkout.path("pipe"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let snapshot = checkout.cold(&["pipe", "."]);
    assert!(!file_print(&snapshot, "pipe").is_absent());
}

#[test]
fn variables_and_properties_are_those_given() {
    let checkout = Checkout::new();
    let mut settings = checkout.settings();
    settings.variables.insert("HOME".into(), "x".into());
    settings.properties.insert("empty".into(), String::new());
    let snapshot = take(&[], settings);
    let of = |element: &str| snapshot.fingerprint(&element.parse().unwrap());
    assert_eq!(of("E HOME"), Fingerprint::of(b"x"));
    assert!(of("P HOME").is_absent());
    assert!(!of("P empty").is_absent());
}

#[test]
fn what_was_learned_of_files_is_kept() {
    let checkout = Checkout::new();
    checkout.write("a.txt", b"a");
    checkout.write("b.txt", b"b");
    settle();
    let first = checkout.warm(&[]);
    file_print(&first, "a.txt");
    first.save();
    let second = checkout.warm(&[]);
    file_print(&second, "b.txt");
    second.save();
    let files = checkout.cache_files();
    assert_eq!(files.len(), 1);
    let third = checkout.warm(&[]);
    assert_eq!(file_print(&third, "a.txt"), Fingerprint::of(b"a"));
    assert_eq!(file_print(&third, "b.txt"), Fingerprint::of(b"b"));
    third.save();
    assert_eq!(checkout.cache_files(), files, "nothing new was learned");
    checkout.write("a.txt", b"c");
    let fourth = checkout.warm(&[]);
    assert_eq!(file_print(&fourth, "a.txt"), Fingerprint::of(b"c"));
    fourth.save();
    assert_ne!(checkout.cache_files(), files);
}
