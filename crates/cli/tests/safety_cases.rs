//! Every case below `fixtures/safety`, end to end through `fewest exec`.
//!
//! A case is a small program in two versions with JUnit 4 tests. The tests run
//! on the first version and are recorded; then the second version is put in
//! place, and the tests that its edit can break must run again. What the edit
//! changed has to stand in their records, and has to be the reason that is
//! given: a test that runs by accident proves nothing. Controls are edits that
//! must not run anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_model::Element;
use fewest_store::{Reader, VersionId};
use fewest_testkit::{Compilation, Javac, Jdk, TestProject, maven_jars};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    tests: Vec<String>,
    must_run: Vec<String>,
    #[serde(default)]
    must_not_run: Vec<String>,
    release: u32,
    files: BTreeMap<String, FileText>,
    #[serde(default)]
    control: bool,
    /// The techniques that a control counts for, where not for all.
    control_for: Option<Vec<String>>,
    /// Configuration under which the case counts.
    needs: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FileText {
    Same(String),
    Edited {
        before: Option<String>,
        after: Option<String>,
    },
}

impl FileText {
    fn at(&self, version: Version) -> Option<&str> {
        match (self, version) {
            (Self::Same(text), _) => Some(text),
            (Self::Edited { before, .. }, Version::Before) => before.as_deref(),
            (Self::Edited { after, .. }, Version::After) => after.as_deref(),
        }
    }
}

#[derive(Clone, Copy)]
enum Version {
    Before,
    After,
}

const TECHNIQUES: [&str; 4] = ["file", "hybrid", "hybrid-lookup", "hybrid-block"];

/// A record made under it answers all the others.
const FINEST: &str = "hybrid-block";

/// Techniques that go by class files alone.
const STATIC_TECHNIQUES: [&str; 2] = ["static", "static-full"];

/// What static techniques miss by their nature, and why.
const STATIC_MISSES: [(&str, &str); 9] = [
    ("service_file", "a resource names the class"),
    ("resource_file", "the test reads a resource"),
    ("dir_listing", "the test lists a directory"),
    (
        "child_process",
        "the class is named to another JVM in a text",
    ),
    (
        "static_state_leak",
        "the class belongs to an earlier test and is not named by this one",
    ),
    ("static_set_back_to_another", "as above"),
    ("static_set_by_subclass", "as above"),
    ("static_set_by_initializer_of_another", "as above"),
    ("map_filled_by_initializer_of_another", "as above"),
];

#[derive(Deserialize)]
struct Report {
    tests: Vec<ReportedTest>,
}

#[derive(Deserialize)]
struct ReportedTest {
    test: String,
    verdict: String,
    reasons: Vec<String>,
    doubts: Vec<String>,
}

#[derive(Deserialize)]
struct Selected {
    tests: Vec<SelectedTest>,
}

#[derive(Deserialize)]
struct SelectedTest {
    test: String,
    verdict: String,
    reasons: Vec<String>,
}

/// The tests that ran, and why.
type Ran = BTreeMap<String, Vec<String>>;

/// What is left out or run as one; methods take `FEWEST_ENTITY=method`.
fn entity() -> String {
    std::env::var("FEWEST_ENTITY").unwrap_or_else(|_| "class".into())
}

/// The class of a test that may be a method.
fn class_of(test: &str) -> &str {
    test.split('#').next().unwrap_or(test)
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/safety");
    let cases = ["cases.json", "left_state.json", "handles.json"].map(|file| {
        let text = fs::read(folder.join(file)).unwrap();
        serde_json::from_slice::<Vec<Case>>(&text).unwrap()
    });
    cases.into_iter().flatten().collect()
}

/// The class folders of all cases, before and after, made in one go.
fn compile(cases: &[Case], folder: &Path, jars: &[PathBuf]) {
    let mut jobs = Vec::new();
    for case in cases {
        for (version, name) in [(Version::Before, "before"), (Version::After, "after")] {
            let classes = folder.join(&case.name).join(name);
            fs::create_dir_all(&classes).unwrap();
            let mut job = Compilation::new()
                .options([
                    "--release".to_owned(),
                    case.release.to_string(),
                    "-g".to_owned(),
                ])
                .classpath(jars);
            for (path, text) in &case.files {
                let Some(text) = text.at(version) else {
                    continue;
                };
                if Path::new(path)
                    .extension()
                    .is_some_and(|kind| kind == "java")
                {
                    job = job.source(path, text);
                } else {
                    let path = classes.join(path);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                }
            }
            jobs.push((job, classes));
        }
    }
    let jobs = jobs.iter().map(|(job, classes)| (job, classes.as_path()));
    Javac::new(&Jdk::default()).compile_all(jobs).unwrap();
}

/// A project in which one case is played through.
struct Stage<'a> {
    case: &'a Case,
    project: TestProject,
    folder: PathBuf,
    jars: &'a [PathBuf],
}

impl Stage<'_> {
    /// Puts a version of the case in place.
    fn set(&self, version: &str) {
        let classes = self.project.path("classes");
        let _ = fs::remove_dir_all(&classes);
        copy(&self.folder.join(&self.case.name).join(version), &classes);
        for (key, value) in self.case.needs.iter().flatten() {
            self.project
                .write("fewest.toml", format!("{key} = \"{value}\"\n"));
        }
    }

    /// Runs the case's tests under a technique, and returns those that ran.
    fn run(&self, technique: &str) -> Result<Ran, String> {
        let mut classpath = vec![self.project.path("classes")];
        classpath.extend(self.jars.iter().cloned());
        let classpath = std::env::join_paths(classpath)
            .unwrap()
            .into_string()
            .unwrap();
        let report = self.project.path("report.json");
        let java = Jdk::default().java();
        let mut args: Vec<String> = ["exec", "--technique", technique, "--report"]
            .map(String::from)
            .to_vec();
        args.push(report.to_str().unwrap().into());
        args.extend(["--entity".into(), entity()]);
        args.push("--".into());
        args.push(java.to_str().unwrap().into());
        args.extend(
            [
                "-Xverify:all",
                "-cp",
                &classpath,
                "org.junit.runner.JUnitCore",
            ]
            .map(String::from),
        );
        args.extend(self.case.tests.iter().cloned());
        let finished = self
            .project
            .run(env!("CARGO_BIN_EXE_fewest"))
            .args(args)
            .finish()
            .map_err(|error| error.to_string())?;
        let text = fs::read(&report)
            .map_err(|_| format!("no report; {}{}", finished.stdout, finished.stderr))?;
        let report: Report = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        for test in &report.tests {
            if !test.doubts.is_empty() {
                return Err(format!("doubts about {}: {:?}", test.test, test.doubts));
            }
        }
        Ok(report
            .tests
            .into_iter()
            .filter(|t| t.verdict == "run")
            .map(|t| (class_of(&t.test).to_owned(), t.reasons))
            .collect())
    }

    /// The paths of all classes and resources that the edit changes, makes or
    /// takes away.
    fn edited(&self) -> BTreeSet<String> {
        let folder = self.folder.join(&self.case.name);
        let (before, after) = (tree(&folder.join("before")), tree(&folder.join("after")));
        let paths = before.keys().chain(after.keys());
        paths
            .filter(|path| before.get(*path) != after.get(*path))
            .cloned()
            .collect()
    }

    /// The edited elements that the record of each test names.
    fn recorded(&self) -> BTreeMap<String, Vec<Element>> {
        let edited = self.edited();
        let reader = Reader::open(&self.project.path(".fewest")).unwrap();
        let ledger = reader.ledger(None).unwrap();
        let elements = |record| {
            let uses = ledger.uses(record).unwrap();
            uses.iter()
                .map(|number| ledger.versions().get(VersionId(number)).unwrap())
                .map(|version| version.element().unwrap())
                .filter(|element| is_edited(element, &edited))
                .collect()
        };
        let records = ledger.records().iter();
        records
            .map(|record| {
                let test = ledger.test_of(record).id.to_string();
                (class_of(&test).to_owned(), elements(record))
            })
            .collect()
    }

    /// What is wrong with the case, if anything.
    fn play(&self) -> Vec<String> {
        self.set("before");
        match self.run(FINEST) {
            Err(error) => return vec![format!("{}: first run: {error}", self.case.name)],
            Ok(ran) if ran.is_empty() => {
                return vec![format!("{}: the first run ran nothing", self.case.name)];
            }
            Ok(_) => {}
        }
        let recorded = self.recorded();
        let (store, saved) = (self.project.path(".fewest"), self.project.path("saved"));
        fs::rename(&store, &saved).unwrap();
        self.set("after");
        let mut problems = Vec::new();
        for technique in TECHNIQUES {
            let _ = fs::remove_dir_all(&store);
            copy(&saved, &store);
            match self.run(technique) {
                Err(error) => problems.push(format!("{}: {technique}: {error}", self.case.name)),
                Ok(ran) => {
                    problems.extend(self.judge(technique, &ran));
                    problems.extend(self.judge_reasons(technique, &ran, &recorded));
                }
            }
        }
        problems
    }

    /// The same for static techniques: their records are made without watching,
    /// and the verdicts are asked for without another run.
    fn play_static(&self) -> Vec<String> {
        let store = self.project.path(".fewest");
        let _ = fs::remove_dir_all(&store);
        self.set("before");
        if let Err(error) = self.run("static") {
            return vec![format!("{}: first static run: {error}", self.case.name)];
        }
        let recorded = self.recorded();
        self.set("after");
        let misses = STATIC_MISSES
            .iter()
            .any(|(case, _)| *case == self.case.name);
        let mut problems = Vec::new();
        for technique in STATIC_TECHNIQUES {
            let ran = match self.select(technique) {
                Err(error) => {
                    problems.push(format!("{}: {technique}: {error}", self.case.name));
                    continue;
                }
                Ok(ran) => ran,
            };
            let wrong = self.judge(technique, &ran);
            match (misses, wrong) {
                (true, Some(_)) => {}
                (true, None) => problems.push(format!(
                    "{}: {technique} does not miss it any more; take it off the list",
                    self.case.name
                )),
                (false, Some(wrong)) => problems.push(wrong),
                (false, None) => problems.extend(self.judge_reasons(technique, &ran, &recorded)),
            }
        }
        problems
    }

    /// The tests that would run under a technique.
    fn select(&self, technique: &str) -> Result<Ran, String> {
        let finished = self
            .project
            .run(env!("CARGO_BIN_EXE_fewest"))
            .args(["select", "--json", "--technique", technique])
            .finish()
            .map_err(|error| error.to_string())?;
        let report: Selected =
            serde_json::from_str(&finished.stdout).map_err(|error| error.to_string())?;
        let run = report.tests.into_iter().filter(|t| t.verdict != "skip");
        Ok(run.map(|t| (t.test, t.reasons)).collect())
    }

    /// The test classes that must run. A nested class belongs to the outermost one.
    fn must_run(&self) -> impl Iterator<Item = &str> {
        let tests = self.case.must_run.iter();
        tests.map(|test| test.split('$').next().unwrap())
    }

    fn judge(&self, technique: &str, ran: &Ran) -> Option<String> {
        let name = &self.case.name;
        let missed: Vec<_> = self
            .must_run()
            .filter(|test| !ran.contains_key(*test))
            .collect();
        if !missed.is_empty() {
            return Some(format!("{name}: {technique} MISSED {missed:?}"));
        }
        let mut needless = self.case.must_not_run.iter();
        if let Some(test) = needless.find(|test| ran.contains_key(*test)) {
            return Some(format!("{name}: {technique} runs {test} for nothing"));
        }
        let counts = self.case.control
            && self
                .case
                .control_for
                .as_ref()
                // What selects nothing at the level of methods does so below.
                .is_none_or(|f| f.iter().any(|f| technique.starts_with(f)));
        (counts && !ran.is_empty()).then(|| format!("{name}: {technique} selects {ran:?}"))
    }

    /// A test that must run does so because of what was edited and recorded,
    /// or because it has not passed.
    fn judge_reasons(
        &self,
        technique: &str,
        ran: &Ran,
        recorded: &BTreeMap<String, Vec<Element>>,
    ) -> Vec<String> {
        let name = &self.case.name;
        let mut problems = Vec::new();
        for test in self.must_run() {
            let reasons = ran.get(test).map_or(&[][..], Vec::as_slice);
            match recorded.get(test) {
                None if reasons == ["it failed when it last ran"] => {}
                None => problems.push(format!("{name}: {test} has no record but {reasons:?}")),
                Some(elements) if elements.iter().any(|e| is_named(e, reasons)) => {}
                // A search ends elsewhere because of a class that it passes.
                Some(_) if reasons.iter().any(|r| r.starts_with("the place where")) => {}
                Some(elements) => problems.push(format!(
                    "{name}: {technique}: of the edit {test} has recorded {elements:?}, \
                     and it ran as {reasons:?}"
                )),
            }
        }
        problems
    }
}

/// Whether an element is one of the edited classes or resources, or a folder
/// that holds one.
fn is_edited(element: &Element, edited: &BTreeSet<String>) -> bool {
    if let Some(class) = element.class() {
        return edited.contains(&format!("{class}.class"));
    }
    match element {
        Element::Resource(path) | Element::File(path) | Element::Listing(path) => {
            let path = path.strip_prefix("classes/").unwrap_or(path);
            edited
                .iter()
                .any(|edited| Path::new(edited).starts_with(path))
        }
        _ => false,
    }
}

/// Whether a reason to run says that the element, or the class that it belongs
/// to, has changed.
fn is_named(element: &Element, reasons: &[String]) -> bool {
    let name = match element {
        Element::Resource(path) | Element::File(path) | Element::Listing(path) => path.as_ref(),
        element => element.class().unwrap().simple(),
    };
    let words = |reason: &String| {
        let mut words = reason.strip_suffix(" changed")?.split([' ', '(', ',']);
        words
            .any(|word| word == name || word.starts_with(&format!("{name}.")))
            .then_some(())
    };
    reasons.iter().any(|reason| words(reason).is_some())
}

/// The files below a folder by their paths.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let below = tree(&entry.path()).into_iter();
            files.extend(below.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn every_case_runs_what_its_edit_can_break() {
    let jars = maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap();
    let only = std::env::var("FEWEST_CASE").ok();
    let mut cases = cases();
    cases.retain(|case| only.as_ref().is_none_or(|only| case.name.contains(only)));
    assert!(!cases.is_empty(), "FEWEST_CASE names no case");
    let folder = tempfile::tempdir().unwrap();
    compile(&cases, folder.path(), &jars);

    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let stage = Stage {
                        case,
                        project: TestProject::new(),
                        folder: folder.path().to_owned(),
                        jars: &jars,
                    };
                    let mut found = stage.play();
                    found.extend(stage.play_static());
                    problems.lock().unwrap().extend(found);
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(
        problems.is_empty(),
        "{} problems in {} cases:\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}
