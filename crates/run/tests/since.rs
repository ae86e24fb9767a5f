//! `--since`: what git says has changed, and which tests that can affect.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use fewest_build::{TaskAnswer, TaskRequest};
use fewest_run::{ChangeSet, ChangeSetError, ProjectFile, RunSettings, ask};
use fewest_select::Technique;
use fewest_testkit::{Compilation, Javac, Jdk};

const A_TEST: &str = "package p;\nclass ATest {\n    B b;\n}\n";
const B: &str = "package p;
class B {
    int b() {
        int x = 1;
        return x;
    }
}
class Aside {
    int aside() {
        int y = 1;
        return y;
    }
}
";
const C: &str = "package p;\nclass C {\n    int c() {\n        return 1;\n    }\n}\n";
const C_TEST: &str = "package p;\nclass CTest {\n    C c;\n}\n";
const LIMITS: &str = "package p;
class Limits {
    static final int MOST = 3;
    static int most() {
        int most = MOST;
        return most;
    }
}
";

/// A checkout with tests `p.ATest`, which leads to `p.B`, and `p.CTest`, which
/// leads to `p.C`. Nobody names `p.Aside` and `p.Limits`.
struct Checkout {
    root: tempfile::TempDir,
}

impl Checkout {
    fn new() -> Self {
        let checkout = Self {
            root: tempfile::tempdir().unwrap(),
        };
        checkout.git(&["init", "-q"]);
        checkout.write(".gitignore", "classes/\n.fewest/\n");
        for (name, text) in [
            ("ATest", A_TEST),
            ("B", B),
            ("C", C),
            ("CTest", C_TEST),
            ("Limits", LIMITS),
        ] {
            checkout.write(&format!("src/p/{name}.java"), text);
        }
        checkout.write("notes.md", "one");
        checkout.commit();
        checkout
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn edit(&self, class: &str, from: &str, to: &str) {
        let name = format!("src/p/{class}.java");
        let text = fs::read_to_string(self.path(&name)).unwrap();
        assert!(text.contains(from));
        self.write(&name, &text.replacen(from, to, 1));
    }

    fn git(&self, args: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=n@example.org"])
            .args(args)
            .current_dir(self.root.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a step"]);
    }

    fn compile(&self, options: &[&str]) {
        let mut sources = Compilation::new().options(options.iter().copied());
        for file in fs::read_dir(self.path("src/p")).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.extension().is_some_and(|end| end == "java") {
                let text = fs::read_to_string(&path).unwrap();
                sources = sources.source(format!("p/{name}"), text);
            }
        }
        let classes = self.path("classes");
        let _ = fs::remove_dir_all(&classes);
        fs::create_dir_all(&classes).unwrap();
        Javac::new(&Jdk::default())
            .compile(&sources, &classes)
            .unwrap();
    }

    fn since(&self, revision: &str) -> Result<ChangeSet, ChangeSetError> {
        let root = self.root.path();
        let file = ProjectFile::load(root).unwrap();
        ChangeSet::since(revision, Technique::StaticFull, root, &file)
    }

    /// The tests that would run by what changed since a revision, each with
    /// the reason. Nothing has ever been recorded.
    fn selected(&self, revision: &str) -> Vec<String> {
        self.compile(&["-g"]);
        self.selected_as_compiled(revision)
    }

    fn selected_as_compiled(&self, revision: &str) -> Vec<String> {
        let root = self.root.path();
        let settings = RunSettings {
            since: Some(self.since(revision).unwrap()),
            technique: Technique::StaticFull,
            file: ProjectFile::load(root).unwrap(),
            ..support::settings(root)
        };
        let request = TaskRequest {
            module: String::new(),
            ..support::request(root, &["p/ATest", "p/CTest"])
        };
        let (run, task) = support::begin(&settings, &request);
        ask(&task).unwrap();
        let plan = support::plan(&task);
        let skipped = TaskAnswer::read(&task).unwrap().skip.len();
        run.remove().unwrap();
        let selected: Vec<String> = plan
            .tests
            .iter()
            .filter(|test| test.run)
            .map(|test| test.reasons.join(", "))
            .collect();
        assert_eq!(selected.len() + skipped, 2);
        selected
    }
}

#[test]
fn changes_count_whether_committed_staged_edited_or_new() {
    let checkout = Checkout::new();
    assert!(checkout.selected("HEAD").is_empty());
    checkout.edit("B", "int x = 1", "int x = 2");
    let by_b = ["ATest → B, which changed"];
    assert_eq!(checkout.selected("HEAD"), by_b);
    checkout.git(&["add", "-A"]);
    assert_eq!(checkout.selected("HEAD"), by_b);
    checkout.commit();
    assert!(checkout.selected("HEAD").is_empty());
    assert_eq!(checkout.selected("HEAD~1"), by_b);
    checkout.write("src/p/New.java", "package p;\nclass New {\n}\n");
    checkout.edit("C", "return 1", "return new New() == null ? 1 : 2");
    // Both C and what it names are new to the test.
    assert_eq!(checkout.selected("HEAD"), ["CTest → C, which changed"]);
    checkout.edit("C", "return new New() == null ? 1 : 2", "return 1");
    assert!(checkout.selected("HEAD").is_empty());
}

#[test]
fn lines_of_a_method_are_those_of_its_class_and_others_those_of_the_file() {
    let checkout = Checkout::new();
    checkout.edit("B", "int y = 1", "int y = 2");
    assert!(checkout.selected("HEAD").is_empty());
    checkout.edit(
        "B",
        "        int y = 2;\n        return y;",
        "        return 2;",
    );
    assert!(checkout.selected("HEAD").is_empty());
    checkout.edit("B", "int aside()", "long aside()");
    assert_eq!(checkout.selected("HEAD"), ["ATest → B, which changed"]);
}

#[test]
fn a_type_that_is_gone_concerns_whoever_means_a_namesake() {
    let checkout = Checkout::new();
    let text = fs::read_to_string(checkout.path("src/p/C.java")).unwrap();
    fs::remove_file(checkout.path("src/p/C.java")).unwrap();
    // The test means another C now, and its own text is as it was.
    checkout.write(
        "src/p/B.java",
        &format!("{B}{}", text.replace("package p;\n", "")),
    );
    let selected = checkout.selected("HEAD");
    assert_eq!(
        selected,
        ["ATest → B, which changed", "CTest → C, which changed"]
    );
}

#[test]
fn values_that_compilers_copy_may_have_gone_anywhere() {
    let checkout = Checkout::new();
    checkout.edit("Limits", "int most = MOST", "int most = MOST + 1");
    assert!(checkout.selected("HEAD").is_empty());
    checkout.edit("Limits", "MOST = 3", "MOST = 4");
    let copied =
        "`src/p/Limits.java` changed since HEAD, and other classes may have copied its constants";
    assert_eq!(checkout.selected("HEAD"), [copied, copied]);
    fs::remove_file(checkout.path("src/p/Limits.java")).unwrap();
    assert_eq!(checkout.selected("HEAD"), [copied, copied]);
}

#[test]
fn what_is_no_source_may_affect_everything_unless_the_project_says_that_it_does_not() {
    let checkout = Checkout::new();
    checkout.write("notes.md", "two");
    let other = "`notes.md` changed since HEAD, and what that can affect is not known";
    assert_eq!(checkout.selected("HEAD"), [other, other]);
    checkout.git(&["checkout", "-q", "notes.md"]);
    checkout.write(
        "fewest.toml",
        "ignored-files = [\"*.md\", \"fewest.toml\"]\n",
    );
    checkout.write("notes.md", "two");
    assert!(checkout.selected("HEAD").is_empty());
}

#[test]
fn declared_inputs_count() {
    let checkout = Checkout::new();
    let inputs = "[[inputs]]\ntests = [\"p.CTest\"]\nfiles = [\"src/p/B.java\"]\n";
    checkout.write("fewest.toml", inputs);
    checkout.commit();
    checkout.edit("B", "int y = 1", "int y = 2");
    assert_eq!(
        checkout.selected("HEAD"),
        ["one of its inputs `src/p/B.java` changed"]
    );
}

#[test]
fn classes_that_do_not_tell_their_source_count_as_changed() {
    let checkout = Checkout::new();
    checkout.edit("B", "int y = 1", "int y = 2");
    checkout.compile(&["-g:none"]);
    assert_eq!(checkout.selected_as_compiled("HEAD").len(), 2);
    // With the file and without lines, the file counts as one.
    checkout.compile(&["-g:source"]);
    assert_eq!(
        checkout.selected_as_compiled("HEAD"),
        ["ATest → B, which changed"]
    );
}

#[test]
fn classes_of_generated_sources_count_as_changed() {
    let checkout = Checkout::new();
    checkout.write(".gitignore", "classes/\n.fewest/\nsrc/p/Made.java\n");
    checkout.commit();
    checkout.write("src/p/Made.java", "package p;\nclass Made {\n}\n");
    checkout.edit("C", "return 1", "return new Made() == null ? 1 : 2");
    checkout.commit();
    assert!(checkout.selected("HEAD").is_empty());
    checkout.edit("B", "int y = 1", "int y = 2");
    assert_eq!(
        checkout.selected("HEAD"),
        ["CTest → C → Made, which changed"]
    );
}

#[test]
fn a_source_without_classes_may_be_read_by_any_test() {
    let checkout = Checkout::new();
    checkout.write("data/Sample.java", "class Sample {\n}\n");
    let unknown = "`data/Sample.java` changed since HEAD, and no class is known to come from it";
    assert_eq!(checkout.selected("HEAD"), [unknown, unknown]);
}

#[test]
fn a_class_that_cannot_be_read_may_lead_to_what_changed() {
    let checkout = Checkout::new();
    checkout.edit("B", "int y = 1", "int y = 2");
    checkout.compile(&["-g"]);
    fs::write(checkout.path("classes/p/C.class"), "no class").unwrap();
    assert_eq!(
        checkout.selected_as_compiled("HEAD"),
        ["CTest → C, which changed"]
    );
}

#[test]
fn a_test_whose_class_is_not_there_runs() {
    let checkout = Checkout::new();
    checkout.compile(&["-g"]);
    fs::remove_file(checkout.path("classes/p/CTest.class")).unwrap();
    assert_eq!(
        checkout.selected_as_compiled("HEAD"),
        ["the class path does not have its class"]
    );
}

#[test]
fn bad_revisions_and_places_are_told() {
    let checkout = Checkout::new();
    let told = |revision: &str| checkout.since(revision).unwrap_err().to_string();
    assert_eq!(told("nowhere"), "git knows no revision `nowhere` here");
    assert_eq!(told("--all"), "git knows no revision `--all` here");
    assert_eq!(told(""), "git knows no revision `` here");
    let elsewhere = tempfile::tempdir().unwrap();
    let file = ProjectFile::default();
    let error = ChangeSet::since("HEAD", Technique::StaticFull, elsewhere.path(), &file);
    assert!(matches!(error, Err(ChangeSetError::NoCheckout(_))));
    let error = ChangeSet::since("HEAD", Technique::Hybrid, elsewhere.path(), &file);
    assert_eq!(
        error.unwrap_err().to_string(),
        "`--since` is an option of the technique static-full, and this run goes by hybrid; \
         add `--technique static-full`"
    );
}
