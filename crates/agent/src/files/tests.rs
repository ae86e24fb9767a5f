//! Tests of what looks at files mean.

use super::*;

const SOME_FILE: FileStamp = FileStamp::File {
    size: 3,
    modified_nanos: 7,
};

/// Names say what the files are.
fn stamp(path: &Path) -> FileStamp {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.contains("absent") {
        FileStamp::Absent
    } else if name.contains('.') {
        SOME_FILE
    } else {
        FileStamp::Directory
    }
}

fn files() -> Files {
    let bytes = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect();
    Files::with_stamps(
        Surroundings {
            working_directory: b"/project".to_vec(),
            ignored: bytes(&["/jdk/", "/proc"]),
            class_path: bytes(&["target/classes", "/m2/lib.jar"]),
            command_line: bytes(&["java", "Main", "settings.tmp", "@/tmp/words.txt"]),
        },
        stamp,
    )
}

fn file(path: &str, stamp: FileStamp) -> Finding {
    let path = path.into();
    Finding::Use(Thing::File { path, stamp })
}

#[test]
fn paths_are_absolute_and_plain() {
    for (path, expected) in [
        ("a/b", "/project/a/b"),
        ("./a//b/", "/project/a/b"),
        ("../x/./y", "/x/y"),
        ("/a/../../b", "/b"),
        ("", "/project"),
        ("/", "/"),
    ] {
        let normal = normal(b"/project", path.as_bytes());
        assert_eq!(String::from_utf8(normal).unwrap(), expected, "{path}");
    }
    assert_eq!(normal(b"/", b"a"), b"/a");
}

#[test]
fn a_file_counts_with_its_stamp_found_or_not() {
    let mut files = files();
    assert_eq!(
        files.look(b"data/x.txt", false),
        Some(file("/project/data/x.txt", SOME_FILE))
    );
    assert_eq!(
        files.look(b"absent", false),
        Some(file("/project/absent", FileStamp::Absent))
    );
}

#[test]
fn what_belongs_to_the_jdk_and_the_system_does_not_count() {
    let mut files = files();
    assert_eq!(files.look(b"/jdk/lib/modules", false), None);
    assert_eq!(files.look(b"/jdk", false), None);
    assert_eq!(files.list(b"/proc/self"), None);
    assert!(files.look(b"/jdk-other/x.txt", false).is_some());
    assert_eq!(files.look(b"target/surefire-reports", false), None);
}

#[test]
fn what_the_jvm_wrote_first_is_no_input_nor_what_is_below_it() {
    let mut files = files();
    files.made(b"out/result.txt");
    files.made(b"/tmp/made");
    assert_eq!(files.look(b"out/result.txt", false), None);
    assert_eq!(files.open(b"/tmp/made", false), None);
    assert_eq!(files.list(b"/tmp/made/inner"), None);
    assert_eq!(files.look(b"/tmp/made/inner/absent", false), None);
    assert!(files.look(b"out/result.txt2", false).is_some());
    assert!(files.list(b"out").is_some());
}

#[test]
fn what_was_looked_at_before_it_was_written_has_counted() {
    let mut files = files();
    assert!(files.look(b"data/x.txt", false).is_some());
    files.made(b"data/x.txt");
    assert_eq!(files.look(b"data/x.txt", false), None);
}

#[test]
fn a_random_name_counts_only_if_nobody_makes_the_file() {
    let mut files = files();
    assert_eq!(files.look(b"/tmp/absent12345678901", false), None);
    assert_eq!(files.look(b"/tmp/absent99999999999", false), None);
    files.made(b"/tmp/absent12345678901");
    let left: Vec<Thing> = files.take_held_back().collect();
    assert_eq!(
        left,
        [Thing::File {
            path: "/tmp/absent99999999999".into(),
            stamp: FileStamp::Absent
        }]
    );
    assert_eq!(files.take_held_back().count(), 0);
}

#[test]
fn a_directory_that_is_opened_is_listed() {
    let listing = Some(Finding::Use(Thing::Listing("/project/data".into())));
    assert_eq!(files().open(b"data", false), listing);
    assert_eq!(files().list(b"data/"), listing);
    assert!(matches!(
        files().open(b"data/x.txt", false),
        Some(Finding::Use(Thing::File { .. }))
    ));
}

#[test]
fn files_of_the_class_path_count_by_their_names() {
    let mut files = files();
    assert_eq!(
        files.look(b"/project/target/classes/p/x.txt", false),
        Some(Finding::Use(Thing::Resource("p/x.txt".into())))
    );
    assert_eq!(
        files.look(b"target/classes/p/A.class", false),
        Some(Finding::Use(Thing::Named(ClassName::new("p/A"))))
    );
    assert_eq!(
        files.look(b"target/classes/p", false),
        Some(file("/project/target/classes/p", FileStamp::Directory))
    );
    assert_eq!(files.look(b"target/classes", false), None);
}

#[test]
fn a_jar_of_the_class_path_counts_when_a_test_opens_it() {
    let mut files = files();
    assert_eq!(files.look(b"/m2/lib.jar", true), None);
    assert!(matches!(
        files.look(b"/m2/lib.jar", false),
        Some(Finding::UseInTest(Thing::File { .. }))
    ));
    assert!(matches!(
        files.look(b"/m2/plugin.jar", true),
        Some(Finding::Use(Thing::File { .. }))
    ));
    files.add_to_class_path(b"/m2/plugin.jar");
    assert_eq!(files.look(b"/m2/plugin.jar", true), None);
}

#[test]
fn files_from_the_command_line_count_only_for_tests() {
    let mut files = files();
    for path in [&b"/tmp/settings.tmp"[..], b"/tmp/words.txt"] {
        assert!(matches!(
            files.look(path, false),
            Some(Finding::UseInTest(_))
        ));
    }
}

#[test]
fn links_that_the_jvm_made_lead_to_what_they_stand_for() {
    let mut files = files();
    files.made(b"/tmp/made");
    files.linked(b"/tmp/made/link", b"/project/data");
    files.linked(b"/tmp/made/other", b"link");
    assert_eq!(
        files.look(b"/tmp/made/other/x.txt", false),
        Some(file("/project/data/x.txt", SOME_FILE))
    );
    files.linked(b"/tmp/loop", b"loop");
    assert!(files.look(b"/tmp/loop", false).is_some());
}

#[test]
fn a_jdk_has_its_home_and_what_its_settings_are_linked_to() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (home, elsewhere) = (root.join("jdk"), root.join("etc"));
    std::fs::create_dir_all(home.join("conf")).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("net.properties"), "").unwrap();
    let link = home.join("conf/net.properties");
    std::os::unix::fs::symlink(elsewhere.join("net.properties"), link).unwrap();
    let folders = folders_of_jdk(&home);
    for folder in [home, elsewhere] {
        assert!(folders.contains(&folder.into_os_string().into_encoded_bytes()));
    }
}

#[test]
fn urls_are_decoded() {
    assert_eq!(path_of_url("/a%20b/").unwrap(), b"/a b/");
    assert_eq!(path_of_url("file:/a.jar!/"), None);
    assert_eq!(path_of_url("/a%2"), None);
}
