//! Which class and which resource the JVM would find.

use crate::support::{Checkout, Class, Jar, class_print, method_print, take};
use fewest_model::Fingerprint;
use fewest_snapshot::Origin;

fn a(number: u16) -> Class {
    Class::new("p/A").method("m", number)
}

#[test]
fn methods_and_classes_have_fingerprints() {
    let checkout = Checkout::new();
    checkout.class("classes", &a(1).method("n", 1));
    let before = checkout.cold(&["classes"]);
    checkout.class("classes", &a(2).method("n", 1));
    let after = checkout.cold(&["classes"]);
    assert_ne!(class_print(&before, "p/A"), class_print(&after, "p/A"));
    assert_ne!(
        method_print(&before, "p/A", "m"),
        method_print(&after, "p/A", "m")
    );
    assert_eq!(
        method_print(&before, "p/A", "n"),
        method_print(&after, "p/A", "n")
    );
    assert!(method_print(&after, "p/A", "gone").is_absent());
    assert!(class_print(&after, "p/B").is_absent());
    let view = after.class(&"p/A".into()).expect("it is there");
    assert_eq!(view.head(), before.class(&"p/A".into()).unwrap().head());
    assert_eq!(view.super_name(), Some("java/lang/Object".into()));
}

#[test]
fn entries_that_are_not_there_count_as_empty() {
    let checkout = Checkout::new();
    checkout.class("classes", &a(1));
    let snapshot = checkout.cold(&["nowhere", "no.jar", "classes"]);
    assert!(snapshot.class(&"p/A".into()).is_some());
    assert_eq!(snapshot.doubts(), []);
}

/// Catalogue 127 and 128.
#[test]
fn another_jar_brings_another_class_whatever_its_name() {
    let checkout = Checkout::new();
    checkout.jar("lib-1.jar", &Jar::default().class(&a(1)));
    checkout.jar("lib-2.jar", &Jar::default().class(&a(2)));
    let one = checkout.cold(&["lib-1.jar"]);
    let two = checkout.cold(&["lib-2.jar"]);
    assert_ne!(class_print(&one, "p/A"), class_print(&two, "p/A"));
    checkout.jar("lib-1.jar", &Jar::default().class(&a(2)));
    let rebuilt = checkout.cold(&["lib-1.jar"]);
    assert_eq!(class_print(&rebuilt, "p/A"), class_print(&two, "p/A"));
}

#[test]
fn a_class_is_the_same_in_a_folder_and_in_a_jar() {
    let checkout = Checkout::new();
    checkout.class("classes", &a(1));
    checkout.write("classes/x.txt", b"x");
    checkout.jar("a.jar", &Jar::default().class(&a(1)).with("x.txt", b"x"));
    let (folder, jar) = (checkout.cold(&["classes"]), checkout.cold(&["a.jar"]));
    assert_eq!(class_print(&folder, "p/A"), class_print(&jar, "p/A"));
    assert_eq!(folder.resource("x.txt"), jar.resource("x.txt"));
}

/// Catalogue 129 and 130.
#[test]
fn the_first_entry_wins() {
    let checkout = Checkout::new();
    checkout.jar("a.jar", &Jar::default().class(&a(1)));
    checkout.jar("b.jar", &Jar::default().class(&a(2)));
    let before = checkout.cold(&["classes", "a.jar", "b.jar"]);
    let swapped = checkout.cold(&["classes", "b.jar", "a.jar"]);
    assert_ne!(class_print(&before, "p/A"), class_print(&swapped, "p/A"));
    checkout.class("classes", &a(3));
    let shadowed = checkout.cold(&["classes", "a.jar", "b.jar"]);
    assert_ne!(class_print(&before, "p/A"), class_print(&shadowed, "p/A"));
    let view = shadowed.class(&"p/A".into()).unwrap();
    let expected = checkout.path("classes/p/A.class");
    assert_eq!(view.origin(), Origin::File(expected));
    assert_eq!(shadowed.classes().count(), 1);
}

/// Catalogue 140.
#[test]
fn a_multi_release_jar_answers_for_the_jdk_in_use() {
    let checkout = Checkout::new();
    let plain = Jar::default()
        .class(&a(1))
        .class_for(11, &a(11))
        .class_for(21, &a(21))
        .class_for(7, &a(7))
        .with("x.txt", b"1")
        .with("META-INF/versions/9/x.txt", b"9");
    let jar = plain
        .clone()
        .manifest("Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n");
    checkout.jar("a.jar", &jar);
    checkout.jar("plain.jar", &plain);
    let seen = |entry: &str, version: u32| {
        let mut settings = checkout.settings();
        settings.feature_version = version;
        take(&[entry], settings)
    };
    for (number, version) in [(1, 8), (1, 9), (11, 11), (11, 17), (21, 21), (21, 25)] {
        checkout.class("expected", &a(number));
        let expected = checkout.cold(&["expected"]);
        assert_eq!(
            class_print(&seen("a.jar", version), "p/A"),
            class_print(&expected, "p/A"),
            "{version}"
        );
    }
    let newest = seen("a.jar", 21);
    let names: Vec<_> = newest.classes().map(|view| view.name().clone()).collect();
    assert_eq!(names, ["p/A".into()]);
    let (eight, nine) = (seen("a.jar", 8), seen("a.jar", 9));
    assert_ne!(eight.resource("x.txt"), nine.resource("x.txt"));
    assert_eq!(
        class_print(&seen("plain.jar", 21), "p/A"),
        class_print(&eight, "p/A"),
        "the manifest does not say so"
    );
}

#[test]
fn a_version_that_is_added_to_a_jar_counts() {
    let checkout = Checkout::new();
    let manifest = "Multi-Release: true\n";
    let before = Jar::default().manifest(manifest).class(&a(1));
    checkout.jar("a.jar", &before);
    let one = checkout.warm(&["a.jar"]);
    checkout.jar("a.jar", &before.class_for(17, &a(2)));
    let two = checkout.warm(&["a.jar"]);
    assert_ne!(class_print(&one, "p/A"), class_print(&two, "p/A"));
}

#[test]
fn manifests_add_entries_right_after_their_jar() {
    let checkout = Checkout::new();
    let manifest = "Manifest-Version: 1.0\nClass-Path: lib/b.jar classes/ classes nowhere.jar\n";
    checkout.jar("a.jar", &Jar::default().manifest(manifest));
    let back = "Class-Path: ../a.jar c.jar\n";
    checkout.jar("lib/b.jar", &Jar::default().manifest(back));
    checkout.jar("lib/c.jar", &Jar::default().class(&a(1)));
    checkout.class("classes", &a(2));
    checkout.jar("last.jar", &Jar::default().class(&a(3)));
    let snapshot = checkout.cold(&["a.jar", "last.jar", "lib/c.jar"]);
    let entries: Vec<_> = snapshot.entries().map(ToOwned::to_owned).collect();
    let expected = [
        "a.jar",
        "lib/b.jar",
        "lib/c.jar",
        "classes",
        "nowhere.jar",
        "last.jar",
    ];
    assert_eq!(entries, expected.map(|name| checkout.path(name)));
    let only = checkout.cold(&["lib/c.jar"]);
    assert_eq!(class_print(&snapshot, "p/A"), class_print(&only, "p/A"));
}

#[test]
fn a_manifest_means_a_folder_by_a_slash() {
    let checkout = Checkout::new();
    let jar = |url: &str| Jar::default().manifest(&format!("Class-Path: {url}\n"));
    checkout.class("classes", &a(1));
    checkout.jar("a.jar", &jar("classes"));
    assert!(checkout.cold(&["a.jar"]).class(&"p/A".into()).is_none());
    checkout.jar("a.jar", &jar("classes/"));
    assert!(checkout.cold(&["a.jar"]).class(&"p/A".into()).is_some());
}

#[test]
fn a_resource_is_all_entries_of_its_name_in_order() {
    let checkout = Checkout::new();
    checkout.write("one/services/x", b"1");
    checkout.jar("two.jar", &Jar::default().with("services/x", b"2"));
    let one = checkout.cold(&["one", "two.jar"]).resource("services/x");
    assert_ne!(one, checkout.cold(&["one"]).resource("services/x"));
    assert_ne!(
        one,
        checkout.cold(&["two.jar", "one"]).resource("services/x")
    );
    assert_eq!(
        one,
        checkout
            .cold(&["one", "empty", "two.jar"])
            .resource("services/x")
    );
    assert!(checkout.cold(&["one"]).resource("nothing").is_absent());
}

#[test]
fn a_resource_may_be_a_directory_or_have_an_odd_name() {
    let checkout = Checkout::new();
    checkout.write("one/p/x.txt", b"1");
    checkout.jar("two.jar", &Jar::default().with("p/x.txt", b"1"));
    checkout.jar("three.jar", &Jar::default().with("p/", b""));
    let one = checkout.cold(&["one"]);
    assert!(!one.resource("p").is_absent());
    assert_eq!(one.resource("p"), one.resource("p/"));
    assert!(!one.resource("").is_absent());
    assert!(checkout.cold(&["two.jar"]).resource("p").is_absent());
    assert!(!checkout.cold(&["three.jar"]).resource("p").is_absent());
    assert_eq!(one.resource("p/../p//x.txt"), one.resource("p/x.txt"));
    assert!(one.resource("../one/p/x.txt").is_absent());
    assert!(one.resource("/p/x.txt").is_absent());
    let two = checkout.cold(&["two.jar"]);
    assert!(two.resource("p/../p/x.txt").is_absent());
}

#[test]
fn of_two_jar_entries_with_one_name_the_later_counts() {
    let checkout = Checkout::new();
    checkout.jar("a.jar", &Jar::default().class(&a(1)).class(&a(2)));
    checkout.jar("b.jar", &Jar::default().class(&a(2)));
    assert_eq!(
        class_print(&checkout.cold(&["a.jar"]), "p/A"),
        class_print(&checkout.cold(&["b.jar"]), "p/A")
    );
}

#[test]
fn a_class_that_calls_itself_otherwise_is_another_one() {
    let checkout = Checkout::new();
    checkout.write("classes/p/A.class", &a(1).bytes());
    let before = checkout.cold(&["classes"]);
    let other = Class::new("p/B").method("m", 1);
    checkout.write("classes/p/A.class", &other.bytes());
    let after = checkout.cold(&["classes"]);
    let view = after.class(&"p/A".into()).unwrap();
    assert!(view.is_misplaced());
    assert_eq!(view.declared_name(), "p/B".into());
    assert_ne!(class_print(&before, "p/A"), class_print(&after, "p/A"));
    assert_ne!(
        method_print(&before, "p/A", "m"),
        method_print(&after, "p/A", "m")
    );
}

#[test]
fn the_bytes_of_a_class_come_from_where_it_was_found() {
    let checkout = Checkout::new();
    checkout.class("classes", &a(1));
    let b = Class::new("p/B");
    checkout.jar("b.jar", &Jar::default().with("x", b"x").class(&b));
    let snapshot = checkout.cold(&["classes", "b.jar"]);
    assert_eq!(snapshot.class_bytes(&"p/A".into()).unwrap(), a(1).bytes());
    assert_eq!(snapshot.class_bytes(&"p/B".into()).unwrap(), b.bytes());
    assert!(snapshot.class_bytes(&"p/C".into()).is_err());
    checkout.class("classes", &a(1).method("n", 1));
    let error = snapshot.class_bytes(&"p/A".into()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("has changed since the snapshot was taken")
    );
    checkout.jar(
        "b.jar",
        &Jar::default().with("x", b"x").class(&b.method("n", 1)),
    );
    assert!(snapshot.class_bytes(&"p/B".into()).is_err());
}

mod doubts {
    use super::*;

    #[test]
    fn a_broken_class_has_the_fingerprint_of_its_bytes_and_no_methods() {
        let checkout = Checkout::new();
        let mut bytes = a(1).bytes();
        bytes.truncate(bytes.len() - 3);
        checkout.write("classes/p/A.class", &bytes);
        let snapshot = checkout.cold(&["classes"]);
        assert_eq!(class_print(&snapshot, "p/A"), Fingerprint::of(&bytes));
        let view = snapshot.class(&"p/A".into()).unwrap();
        assert_eq!(view.head(), Fingerprint::of(&bytes));
        assert_eq!(view.shape(), Fingerprint::of(&bytes));
        assert_eq!(view.methods().count(), 0);
        let [doubt] = &snapshot.doubts()[..] else {
            panic!("one doubt expected");
        };
        assert!(doubt.place.ends_with("p/A.class"), "{doubt}");
        assert!(doubt.reason.contains("cut short"), "{doubt}");
        checkout.write("classes/p/A.class", &bytes[1..]);
        let other = checkout.cold(&["classes"]);
        assert_ne!(class_print(&snapshot, "p/A"), class_print(&other, "p/A"));
    }

    #[test]
    fn a_class_of_an_unknown_version_is_doubtful() {
        let checkout = Checkout::new();
        let mut bytes = a(1).bytes();
        bytes[7] = 99;
        checkout.jar("a.jar", &Jar::default().with("p/A.class", &bytes));
        let snapshot = checkout.cold(&["a.jar"]);
        assert_eq!(class_print(&snapshot, "p/A"), Fingerprint::of(&bytes));
        assert!(snapshot.doubts()[0].place.ends_with("a.jar!/p/A.class"));
    }

    #[test]
    fn whatever_is_behind_a_broken_jar_is_as_doubtful_as_it() {
        let checkout = Checkout::new();
        checkout.class("first", &Class::new("p/First"));
        checkout.class("last", &a(1));
        checkout.write("last/x.txt", b"x");
        checkout.jar("broken.jar", &Jar::default().class(&a(2)));
        let broken = |value: u8| {
            let mut bytes = Jar::default().class(&a(2)).bytes();
            let directory = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
            bytes[directory] = value;
            checkout.write("broken.jar", &bytes);
            checkout.cold(&["first", "broken.jar", "last"])
        };
        let (one, two, same) = (broken(1), broken(2), broken(2));
        let sound = checkout.cold(&["first", "last"]);
        for name in ["p/A", "p/Absent"] {
            assert_ne!(class_print(&one, name), class_print(&two, name));
            assert_ne!(class_print(&one, name), class_print(&sound, name));
            assert_eq!(class_print(&two, name), class_print(&same, name));
        }
        assert_ne!(one.resource("x.txt"), two.resource("x.txt"));
        assert_eq!(class_print(&one, "p/First"), class_print(&sound, "p/First"));
        assert!(one.doubts()[0].place.ends_with("broken.jar"));
    }

    #[test]
    fn what_is_no_archive_at_all_is_passed_over_as_by_the_jvm() {
        let checkout = Checkout::new();
        checkout.write("native.so", b"\x7FELF and so on");
        checkout.write("empty.jar", b"");
        checkout.class("classes", &a(1));
        let snapshot = checkout.cold(&["native.so", "empty.jar", "classes"]);
        let sound = checkout.cold(&["classes"]);
        assert_eq!(class_print(&snapshot, "p/A"), class_print(&sound, "p/A"));
        assert_eq!(snapshot.doubts(), []);
    }

    #[test]
    fn an_entry_that_does_not_match_its_checksum_is_doubtful() {
        let checkout = Checkout::new();
        let jar = |number: u16| Jar::default().with_checksum("p/A.class", &a(number).bytes(), 7);
        checkout.jar("a.jar", &jar(1));
        let one = checkout.warm(&["a.jar"]);
        assert!(one.doubts()[0].reason.contains("checksum"));
        // Same size, same wrong checksum, other bytes.
        checkout.jar("a.jar", &jar(2));
        let two = checkout.warm(&["a.jar"]);
        assert_ne!(class_print(&one, "p/A"), class_print(&two, "p/A"));
    }

    #[test]
    fn a_jar_that_promises_too_much_takes_no_memory() {
        let checkout = Checkout::new();
        let jar = Jar::default()
            .with("x", b"x")
            .with("p/A.class", &a(1).bytes());
        let mut bytes = jar.bytes();
        let directory = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
        bytes[directory + 24..directory + 28].copy_from_slice(&[0xFE, 0xFF, 0xFF, 0xFF]);
        checkout.write("a.jar", &bytes);
        let snapshot = checkout.cold(&["a.jar"]);
        assert!(snapshot.doubts()[0].reason.contains("cannot come from"));
        assert!(snapshot.class(&"p/A".into()).unwrap().doubt().is_some());
    }
}
