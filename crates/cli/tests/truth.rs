//! Whether records name at least what a fresh JVM loads for each test class.
//!
//! *Truth* is what the JVM itself logs when a test class runs alone, without
//! the agent, so it shares no code with what it judges. *Records* come from all
//! test classes in one JVM under `fewest exec`, in several random orders, each
//! with an empty store. `docs/evaluation/truth.md` tells what was found, and how
//! to have a project judged.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fewest_store::{Reader, VersionId};
use fewest_testkit::{Compilation, Javac, Jdk, Run, TestProject, maven_jar, maven_jars};
use rayon::prelude::*;

const HOUR: Duration = Duration::from_secs(3600);

/// Jars that the launcher brings itself.
const OF_LAUNCHER: [&str; 5] = [
    "junit-jupiter",
    "junit-platform",
    "junit-vintage",
    "opentest4j",
    "apiguardian",
];

/// Jars of frameworks besides, whose classes are not looked at.
const OF_FRAMEWORKS: [&str; 2] = ["junit-4", "hamcrest"];

/// The classes that something needs, by their VM names.
type Classes = BTreeSet<String>;

/// A project whose classes are built.
struct Project {
    folder: PathBuf,
    /// What the class path holds before the launcher.
    class_path: Vec<PathBuf>,
    launcher: PathBuf,
    jvm_options: Vec<String>,
    tests: Vec<String>,
    jdk: Jdk,
}

/// What a test class needs when it runs alone.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    loaded: Classes,
    initialized: Classes,
}

/// What a record does not have of what its test class loads.
#[derive(Debug, Default)]
struct Verdict {
    compared: usize,
    pairs: usize,
    /// Test class and class: code of the class ran.
    initialized: Vec<(String, String)>,
    /// The class was there, and nothing of it ran.
    only_loaded: Vec<(String, String)>,
    without_record: Vec<String>,
}

impl Project {
    /// The project that the environment names.
    fn of_environment() -> Self {
        let folder = env::var_os("FEWEST_TRUTH").map(PathBuf::from);
        let folder = folder.expect("FEWEST_TRUTH names a project that is built");
        let folder = folder.canonicalize().expect("FEWEST_TRUTH is a folder");
        let jars = env::var("FEWEST_TRUTH_JARS").expect("FEWEST_TRUTH_JARS lists its jars");
        let jars: Vec<PathBuf> = env::split_paths(jars.trim()).collect();
        let left_out = words("FEWEST_TRUTH_LEAVE_OUT");
        let classes = folder.join("target/test-classes");
        let mut tests = Vec::new();
        find_tests(&classes, &classes, &mut tests);
        tests.retain(|test| !left_out.contains(test));
        tests.sort();
        assert!(!tests.is_empty(), "no tests in `{}`", classes.display());
        let mut class_path = vec![classes, folder.join("target/classes")];
        class_path.extend(
            jars.iter()
                .filter(|jar| !has_name(jar, &OF_LAUNCHER))
                .cloned(),
        );
        Self {
            folder,
            class_path,
            launcher: launcher(&platform_version(&jars)),
            jvm_options: words("FEWEST_TRUTH_JVM"),
            tests,
            jdk: Jdk::under_test(),
        }
    }

    /// The options of a JVM that runs test classes.
    fn command(&self, tests: &[&str], reports: &Path) -> Vec<String> {
        let entries = self.class_path.iter().chain([&self.launcher]);
        let class_path = env::join_paths(entries).expect("paths without colons");
        let mut command = self.jvm_options.clone();
        command.extend([
            "-cp".to_owned(),
            class_path.to_string_lossy().into_owned(),
            "org.junit.platform.console.ConsoleLauncher".to_owned(),
            "--disable-banner".to_owned(),
            "--details=none".to_owned(),
            format!("--reports-dir={}", reports.display()),
        ]);
        for test in tests {
            command.push(format!("--select-class={test}"));
        }
        command
    }

    /// Runs a test class alone and reads what the JVM logs.
    fn needs(&self, test: &str) -> Needs {
        let folder = TestProject::new();
        let log = folder.path("log");
        Run::new(self.jdk.java())
            .arg(format!(
                "-Xlog:class+load,class+init:file={}:none:filecount=0",
                log.display()
            ))
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
            .args(self.command(&[test], &folder.path("reports")))
            .current_dir(&self.folder)
            .timeout(HOUR)
            .finish()
            .expect("the JVM runs");
        let log = fs::read(&log).expect("the JVM's log");
        Needs::read(&String::from_utf8_lossy(&log), &self.sources())
    }

    /// How the JVM's log calls what classes come from, frameworks left aside.
    fn sources(&self) -> Vec<String> {
        self.class_path
            .iter()
            .filter(|entry| !has_name(entry, &OF_FRAMEWORKS))
            .map(|entry| format!("file:{}", entry.display()))
            .collect()
    }

    /// Runs all test classes in one JVM under the agent, in an order by the
    /// seed, and returns the classes that their records name.
    fn records(&self, seed: u64) -> BTreeMap<String, Classes> {
        let store = self.folder.join(".fewest");
        assert!(!store.exists(), "`{}` is in the way", store.display());
        let mut tests: Vec<&str> = self.tests.iter().map(String::as_str).collect();
        tests.sort_by_cached_key(|test| place(seed, test));
        let folder = TestProject::new();
        let run = Run::new(env!("CARGO_BIN_EXE_fewest"))
            .args(["exec", "--"])
            .arg(self.jdk.java())
            .args(self.command(&tests, &folder.path("reports")))
            .env("FEWEST_CACHE", folder.path("cache"))
            .current_dir(&self.folder)
            .timeout(HOUR)
            .finish()
            .expect("fewest runs");
        let records = read_records(&store);
        fs::remove_dir_all(&store).expect("the store can be removed");
        assert!(
            !records.is_empty(),
            "no records\n{}{}",
            run.stdout,
            run.stderr
        );
        records
    }

    /// Judges the records of each seed.
    fn judge(&self, seeds: impl IntoIterator<Item = u64>) -> BTreeMap<u64, Verdict> {
        let needs: BTreeMap<&str, Needs> = self
            .tests
            .par_iter()
            .map(|test| (test.as_str(), self.needs(test)))
            .collect();
        let verdict = |seed| Verdict::of(&needs, &self.records(seed));
        seeds
            .into_iter()
            .map(|seed| (seed, verdict(seed)))
            .collect()
    }
}

impl Needs {
    /// Reads the log of a JVM: which classes it loaded from `sources`, and which
    /// of these it initialized.
    fn read(log: &str, sources: &[String]) -> Self {
        let mut needs = Self::default();
        for line in log.lines() {
            if let Some((name, source)) = line.split_once(" source: ") {
                // The source of a folder ends with a slash.
                let source = source.trim_end_matches('/');
                if sources.iter().any(|known| known == source) {
                    needs.loaded.insert(name.replace('.', "/"));
                }
            } else if let Some((_, rest)) = line.split_once("Initializing '")
                && let Some((name, _)) = rest.split_once('\'')
            {
                needs.initialized.insert(name.to_owned());
            }
        }
        needs.initialized.retain(|name| needs.loaded.contains(name));
        needs
    }
}

impl Verdict {
    fn of(needs: &BTreeMap<&str, Needs>, records: &BTreeMap<String, Classes>) -> Self {
        let mut verdict = Self::default();
        for (&test, needs) in needs {
            let Some(record) = records.get(test) else {
                verdict.without_record.push(test.to_owned());
                continue;
            };
            verdict.compared += 1;
            verdict.pairs += needs.loaded.len();
            for class in needs.loaded.difference(record) {
                let missing = if needs.initialized.contains(class) {
                    &mut verdict.initialized
                } else {
                    &mut verdict.only_loaded
                };
                missing.push((test.to_owned(), class.clone()));
            }
        }
        verdict
    }

    fn print(&self, seed: u64) {
        println!(
            "seed {seed}: {} test classes, {} pairs, missing: {} initialized, {} only loaded",
            self.compared,
            self.pairs,
            self.initialized.len(),
            self.only_loaded.len()
        );
        for (kind, pairs) in [
            ("initialized", &self.initialized),
            ("only loaded", &self.only_loaded),
        ] {
            for (test, class) in pairs {
                println!("  {kind}: {test} {class}");
            }
        }
        println!("  without a record: {}", self.without_record.join(" "));
    }
}

/// The words of an environment variable.
fn words(variable: &str) -> Vec<String> {
    let text = env::var(variable).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

fn has_name(jar: &Path, names: &[&str]) -> bool {
    let file = jar.file_name().unwrap_or_default().to_string_lossy();
    names.iter().any(|name| file.starts_with(name))
}

/// The version of the JUnit Platform among jars, or one that runs JUnit 4.
fn platform_version(jars: &[PathBuf]) -> String {
    let engine = jars.iter().find_map(|jar| {
        let file = jar.file_name()?.to_str()?;
        let version = file.strip_prefix("junit-platform-engine-")?;
        Some(version.strip_suffix(".jar")?.to_owned())
    });
    engine.unwrap_or_else(|| "1.10.0".to_owned())
}

fn launcher(version: &str) -> PathBuf {
    let launcher = "org.junit.platform:junit-platform-console-standalone";
    maven_jar(&format!("{launcher}:{version}")).expect("Maven Central")
}

/// The classes below a folder that are called as Surefire expects of tests.
fn find_tests(root: &Path, folder: &Path, tests: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("test classes are built") {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            find_tests(root, &path, tests);
            continue;
        }
        let class = path.with_extension("");
        let name = class.file_name().unwrap_or_default().to_string_lossy();
        let is_test = name.starts_with("Test")
            || ["Test", "Tests", "TestCase"]
                .iter()
                .any(|end| name.ends_with(end));
        if is_test && !name.contains('$') && path.extension().is_some_and(|end| end == "class") {
            let class = class.strip_prefix(root).expect("it was found below");
            tests.push(class.to_string_lossy().replace('/', "."));
        }
    }
}

/// Where a test class comes in the order of a seed.
fn place(seed: u64, test: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, test).hash(&mut hasher);
    hasher.finish()
}

/// The classes in the records of a store, by test class.
fn read_records(store: &Path) -> BTreeMap<String, Classes> {
    let reader = Reader::open(store).expect("the store can be read");
    let ledger = reader.ledger(None).expect("the store can be read");
    let mut records: BTreeMap<String, Classes> = BTreeMap::new();
    for record in ledger.records() {
        let test = ledger.test_of(record).id.to_string();
        let classes = records.entry(test).or_default();
        for number in ledger.uses(record).expect("the store can be read") {
            let Some(version) = ledger.versions().get(VersionId(number)) else {
                continue;
            };
            // A class as it is declared, or all of it.
            if let Some(("C" | "W", class)) = version.text().split_once(' ') {
                classes.insert(class.to_owned());
            }
        }
    }
    records
}

#[test]
fn the_jvm_s_log_tells_what_was_loaded_and_what_of_it_was_initialized() {
    let log = "java.lang.Object source: shared objects file
a.A source: file:/p/target/classes/
a.B source: file:/p/lib.jar
a.C source: file:/p/junit-4.13.2.jar
a.A$$Lambda/0x01 source: a.A
12 Initializing 'a/A' (0x000000080000) by thread \"main\"
13 Initializing 'java/lang/Object'(no method) (0x00000008000)";
    let sources = [
        "file:/p/target/classes".to_owned(),
        "file:/p/lib.jar".to_owned(),
    ];
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let expected = Needs {
        loaded: names(&["a/A", "a/B"]),
        initialized: names(&["a/A"]),
    };
    assert_eq!(Needs::read(log, &sources), expected);
}

#[test]
fn a_class_that_a_record_lacks_is_named() {
    let classes = |names: &[&str]| -> Classes { names.iter().map(|&n| n.to_owned()).collect() };
    let needs = Needs {
        loaded: classes(&["A", "B", "C"]),
        initialized: classes(&["A", "B"]),
    };
    let needs = BTreeMap::from([("ATest", needs), ("BTest", Needs::default())]);
    let records = BTreeMap::from([("ATest".to_owned(), classes(&["A"]))]);
    let verdict = Verdict::of(&needs, &records);
    let pair = |class: &str| vec![("ATest".to_owned(), class.to_owned())];
    assert_eq!(verdict.initialized, pair("B"));
    assert_eq!(verdict.only_loaded, pair("C"));
    assert_eq!(verdict.without_record, ["BTest"]);
    assert_eq!((verdict.compared, verdict.pairs), (1, 3));
}

/// Caches, initializers and lambdas: what one test class leaves behind, the next
/// one does not load again in a shared JVM.
#[test]
fn records_of_a_small_project_have_all_that_fresh_jvms_load() {
    let project = TestProject::new();
    let jars = maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap();
    let test = |name: &str, body: &str| {
        format!(
            "public class {name} {{
                @org.junit.Test public void test() {{ {body} }}
            }}"
        )
    };
    let cached = "org.junit.Assert.assertEquals(1, Cache.get().number);";
    let other = "new Other().run(); org.junit.Assert.assertEquals(1, Lazy.get());";
    let compilation = Compilation::new()
        .source("FirstTest.java", test("FirstTest", cached))
        .source("SecondTest.java", test("SecondTest", &format!("{cached} {other}")))
        .source("ThirdTest.java", test("ThirdTest", other))
        .source(
            "Cache.java",
            "class Cache {
                static final java.util.Map<String, Value> MAP = new java.util.HashMap<>();
                static Value get() { return MAP.computeIfAbsent(\"a\", key -> new Value()); }
            }
            class Value { int number = Deep.ONE.length(); }
            class Deep { static final String ONE = String.valueOf(1); }
            class Lazy {
                static Integer value;
                static int get() { if (value == null) value = new Filler().fill(); return value; }
            }
            class Filler { int fill() { return 1; } }
            class Other implements Runnable { public void run() { Runnable it = Used::use; it.run(); } }
            class Used { static void use() { } }",
        )
        .options(["--release", "8", "-nowarn", "-Xlint:-options"])
        .classpath(jars.clone());
    Javac::new(&Jdk::default())
        .compile(&compilation, &project.path("classes"))
        .unwrap();
    let mut class_path = vec![project.path("classes")];
    class_path.extend(jars);
    let project = Project {
        folder: project.root().canonicalize().unwrap(),
        class_path,
        launcher: launcher("1.10.0"),
        jvm_options: Vec::new(),
        tests: ["FirstTest", "SecondTest", "ThirdTest"]
            .map(str::to_owned)
            .to_vec(),
        jdk: Jdk::under_test(),
    };
    for (seed, verdict) in project.judge([1, 2]) {
        assert_eq!(verdict.initialized, [], "seed {seed}");
        assert_eq!(verdict.compared, 3, "{:?}", verdict.without_record);
        assert!(verdict.pairs > 12, "{}", verdict.pairs);
    }
}

/// Judges any project; see `docs/evaluation/truth.md`.
#[test]
#[ignore = "takes a project, and a JVM for each of its test classes"]
fn records_of_a_project_have_all_that_fresh_jvms_load() {
    let project = Project::of_environment();
    let seeds = words("FEWEST_TRUTH_SEEDS");
    let seeds = seeds.iter().map(|seed| seed.parse().expect("a number"));
    let verdicts = project.judge(seeds);
    for (seed, verdict) in &verdicts {
        verdict.print(*seed);
    }
    let missing: usize = verdicts
        .values()
        .map(|verdict| verdict.initialized.len())
        .sum();
    assert_eq!(missing, 0, "records lack classes whose code runs");
}
