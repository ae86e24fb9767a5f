//! The screens of `fewest fingerprint` and `fewest diff`, whole.

use std::fs;

use fewest_testkit::{Finished, Jdk, Run, TestProject};

const OLD: &str = "
package com.acme;
public class Calculator {
    static final int[] TABLE = {1, 2, 3};
    int last;
    public int add(int a, int b) { return last = a + b; }
    public int old() { return 1; }
    static String name(Object[] of) { return \"calculator\"; }
}
class Scientific extends Calculator {
    Scientific() { last = 5; }
}
class Gone {}
interface Same { void same(); }
";

const NEW: &str = "
package com.acme;
/** Now with a comment, which is no change. */
public class Calculator {
    static final int[] TABLE = {1, 2, 4};
    int last;
    public int multiply(int a, int b) { return last = a * b; }
    static String name(Object[] of) { return \"calculator\"; }

    public int add(int a, int b) { return last = b + a; }
}
class Scientific extends Calculator {
    Scientific() { last = 5; }
}
final class Added {}
interface Same { void same(); }
";

/// Tests that start a compiler carry `jvm` in their names.
mod jvm {
    use super::*;

    #[test]
    fn diff_shows_changes_by_class() {
        let project = versions();
        insta::assert_snapshot!(screen(&fewest(&project, &["diff", "old", "new"])));
    }

    #[test]
    fn diff_tells_programs_in_json() {
        let project = versions();
        let file = |version: &str| format!("{version}/com/acme/Scientific.class");
        let run = fewest(&project, &["diff", "--json", &file("old"), &file("new")]);
        insta::assert_snapshot!(screen(&run));
        let run = fewest(&project, &["diff", "--json", "old", "new"]);
        assert!(run.stdout.contains(
            "{\n      \"class\": \"com.acme.Calculator\",\n      \"method\": \"old()I\",\n      \"type\": \"DIM\"\n    }"
        ));
    }

    #[test]
    fn diff_exits_with_1_only_when_asked() {
        let project = versions();
        let code = |arguments: &[&str]| fewest(&project, arguments).code();
        assert_eq!(code(&["diff", "old", "new"]), Some(0));
        assert_eq!(code(&["diff", "--exit-code", "old", "new"]), Some(1));
        assert_eq!(code(&["diff", "--exit-code", "old", "old"]), Some(0));
    }

    #[test]
    fn fingerprint_shows_classes_and_methods() {
        let project = versions();
        let run = fewest(
            &project,
            &["fingerprint", "old/com/acme/Scientific.class", "new/com"],
        );
        insta::assert_snapshot!(hide_digits(&screen(&run)));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let project = versions();
        let class = project.path("old/com/acme/Gone.class");
        let bytes = fs::read(&class).expect("it was compiled");
        fs::write(&class, &bytes[..20]).expect("it can be written");
        let run = fewest(&project, &["fingerprint", "--json", "old"]);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("it is JSON");
        let gone = &json["classes"][1];
        assert_eq!(gone["name"], "com.acme.Gone");
        assert_eq!(gone["head"], gone["class"]);
        assert!(
            gone["doubt"]
                .as_str()
                .is_some_and(|doubt| doubt.contains("cut short"))
        );
        assert!(
            run.stderr.contains("fewest: cannot read `"),
            "{}",
            run.stderr
        );
    }

    /// Both versions, compiled to `old` and `new`.
    fn versions() -> TestProject {
        let project = TestProject::new();
        let jdk = Jdk::all().into_iter().next().expect("a JDK is installed");
        for (name, source) in [("old", OLD), ("new", NEW)] {
            let sources = [("com/acme/Calculator.java", source)];
            let classes = project.path(name);
            fewest_testkit::compile(&jdk, &sources, &["--release", "8"], &[], &classes)
                .expect("it compiles");
        }
        project
    }
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let project = TestProject::new();
    project.write("notes.txt", "no classes");
    let run = fewest(&project, &["diff", "nowhere.jar", "new"]);
    insta::assert_snapshot!(screen(&run));
    let run = fewest(&project, &["fingerprint", "notes.txt"]);
    insta::assert_snapshot!(screen(&run));
}

#[test]
fn wrong_usage_is_2_and_help_teaches() {
    let project = TestProject::new();
    let run = fewest(&project, &["diff", "old"]);
    assert_eq!(run.code(), Some(2));
    insta::assert_snapshot!(screen(&fewest(&project, &["diff", "--help"])));
    insta::assert_snapshot!(screen(&fewest(&project, &["fingerprint", "--help"])));
}

fn fewest(project: &TestProject, arguments: &[&str]) -> Finished {
    Run::new(env!("CARGO_BIN_EXE_fewest"))
        .args(arguments)
        .current_dir(project.root())
        .finish()
        .expect("fewest starts")
}

fn screen(run: &Finished) -> String {
    let code = run.code().unwrap_or(-1);
    format!("exit code {code}\n{}{}", run.stdout, run.stderr)
}

/// Compilers differ in details, and so do fingerprints.
fn hide_digits(text: &str) -> String {
    let hide = |line: &str| match line.rsplit_once(' ') {
        Some((start, digits))
            if digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            format!("{start} [fingerprint]")
        }
        _ => line.to_owned(),
    };
    text.lines().map(hide).collect::<Vec<_>>().join("\n")
}
