//! Versions of code on disk: compiled, and run to see what their tests see.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fewest_testkit::{Compilation, JavaRun, Javac, Jdk, compile, maven_jars};

/// Files by their path. Those that end in `.java` are compiled, those below
/// `data/` lie beside the class path, and all others are resources.
pub type Files = BTreeMap<String, String>;

/// The JVM options of everything that runs here: programs are short.
pub(crate) const SHORT_RUN: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// The compiler, `JUnit` and the classes that all programs share.
pub struct Workshop {
    pub(crate) jdk: Jdk,
    /// What follows a program's own classes on the class path.
    pub(crate) libraries: Vec<PathBuf>,
    folder: tempfile::TempDir,
}

/// A compiled version: a folder with `classes` and `data`.
#[derive(Debug)]
pub struct Version {
    pub folder: PathBuf,
}

/// What tests saw, line by line, by test class.
pub type Seen = BTreeMap<String, Vec<String>>;

/// What the tests of a version saw.
#[derive(Debug, Default)]
pub struct Truth {
    /// Each test class with statics of its own.
    pub alone: Seen,
    /// The test classes of a group one after the other with shared statics.
    pub together: Seen,
    /// The classes that each test class loaded when it was alone.
    pub loaded: BTreeMap<String, BTreeSet<String>>,
}

impl Default for Workshop {
    fn default() -> Self {
        Self::new()
    }
}

impl Workshop {
    pub fn new() -> Self {
        let jdk = Jdk::default();
        let junit = ["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"];
        let jars = maven_jars(&junit).expect("JUnit can be had");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let shared = folder.path().join("shared");
        fs::create_dir(&shared).expect("a folder of our own");
        let sources = [
            (
                "laws/Observed.java",
                include_str!("../java/laws/Observed.java"),
            ),
            ("laws/Mark.java", include_str!("../java/laws/Mark.java")),
            ("laws/Oracle.java", include_str!("../java/laws/Oracle.java")),
        ];
        compile(&jdk, &sources, &["--release", "11"], &jars, &shared).expect("our own classes");
        Self {
            libraries: [shared].into_iter().chain(jars).collect(),
            jdk,
            folder,
        }
    }

    /// Compiles versions, each by its name, and tells of each what the compiler
    /// has against it.
    pub fn compile(
        &self,
        versions: &[(&str, &Files)],
        options: &[&str],
    ) -> Vec<Result<Version, String>> {
        let mut jobs = Vec::new();
        for (name, files) in versions {
            let folder = self.folder.path().join(name);
            let _ = fs::remove_dir_all(&folder);
            let mut job = Compilation::new()
                .options(["--release", "17", "-proc:none", "-nowarn", "-Xlint:none"])
                .options(["-Xmaxerrs", "100000"])
                .options(options.iter().copied())
                .classpath(&self.libraries);
            for (path, text) in *files {
                if Path::new(path)
                    .extension()
                    .is_some_and(|kind| kind == "java")
                {
                    job = job.source(path, text);
                } else if path.starts_with("data/") {
                    write(&folder.join(path), text);
                } else {
                    write(&folder.join("classes").join(path), text);
                }
            }
            jobs.push((job, folder));
        }
        let classes: Vec<PathBuf> = jobs.iter().map(|(_, to)| to.join("classes")).collect();
        let work = jobs.iter().zip(&classes).map(|((job, _), to)| (job, &**to));
        let verdicts = Javac::new(&self.jdk).compile_each(work);
        verdicts
            .expect("the compiler runs")
            .into_iter()
            .zip(jobs)
            .map(|(verdict, (_, folder))| verdict.map(|()| Version { folder }))
            .collect()
    }

    /// Runs all tests of a version without the tool. Tests of one group share
    /// their statics where they run together.
    pub fn truth(&self, version: &Version, groups: &[Vec<String>]) -> Truth {
        let list = version.folder.join("groups");
        let lines: Vec<String> = groups.iter().map(|group| group.join(" ")).collect();
        write(&list, &lines.join("\n"));
        let finished = JavaRun::new(&self.jdk, "laws.Oracle")
            .jvm_args(SHORT_RUN)
            // The verifier loads classes that no code of the test needs.
            .jvm_args([
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
            ])
            .classpath(&self.libraries)
            .args([&list])
            .current_dir(&version.folder)
            .timeout(Duration::from_secs(120))
            .succeed()
            .expect("the oracle runs");
        let (alone, together) = finished
            .stdout
            .split_once("== together")
            .expect("the oracle tells both");
        let loaded = alone.lines().filter_map(|line| {
            let mut words = line.strip_prefix('#')?.split(' ').map(str::to_owned);
            Some((words.next()?, words.collect()))
        });
        Truth {
            loaded: loaded.collect(),
            alone: seen(alone),
            together: seen(together),
        }
    }

    /// The bytes of a class that no program uses.
    pub fn unrelated_class(&self) -> Vec<u8> {
        let path = self.libraries[0].join("laws/Mark.class");
        fs::read(path).expect("our own classes are readable")
    }

    /// Runs one test class in a JVM of its own, without the tool.
    pub fn fresh_jvm(&self, version: &Version, test: &str) -> Vec<String> {
        let finished = JavaRun::new(&self.jdk, "org.junit.runner.JUnitCore")
            .jvm_args(SHORT_RUN)
            .classpath([version.folder.join("classes")])
            .classpath(&self.libraries)
            .args([test])
            .current_dir(&version.folder)
            .finish()
            .expect("a JVM runs");
        seen(&finished.stdout).remove(test).unwrap_or_default()
    }
}

/// The lines that [`Observed`](../java/laws/Observed.java) prints, by class.
pub(crate) fn seen(output: &str) -> Seen {
    let mut seen = Seen::new();
    // A runner may have printed a dot before.
    for line in output.lines().filter_map(|line| line.split_once('@')) {
        let name = line.1.split(' ').next().unwrap_or_default();
        if let Some((class, _)) = name.rsplit_once('.') {
            let lines = seen.entry(class.to_owned()).or_default();
            lines.push(line.1.to_owned());
        }
    }
    seen
}

fn write(path: &Path, text: &str) {
    let parent = path.parent().expect("files lie in folders");
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, text))
        .unwrap_or_else(|error| panic!("`{}`: {error}", path.display()));
}
