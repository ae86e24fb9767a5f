//! Runs tests of any framework in a child JVM under the agent, and tells in a
//! few lines what its trace says.
//!
//! Fixtures call `Mark.somewhere()` at the places whose attribution counts; the
//! class `Mark` is made from the calls that they hold.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fewest_agent::Config;
use fewest_model::{ClassName, Outcome};
use fewest_testkit::{Compilation, Finished, JavaRun, Javac, Jdk, TestProject};
use fewest_trace::{ClassEntry, Event, Trace, Uses, read_file};

/// The library as cargo built it for this test.
pub(crate) fn agent_library() -> PathBuf {
    let exe = std::env::current_exe().expect("a test has a path");
    let folder = exe.parent().expect("a test lies in a folder");
    let library = folder.join("libfewest_agent.so");
    assert!(library.is_file(), "`{}` is missing", library.display());
    library
}

/// Compiled tests, and the jars that they need.
pub(crate) struct Stage {
    pub(crate) project: TestProject,
    jars: Vec<PathBuf>,
}

impl Stage {
    /// Compiles sources, each of which declares a public class that its first
    /// line of code names.
    pub(crate) fn new(sources: &[&str], jars: &[PathBuf]) -> Self {
        Self::with_options(&Jdk::default(), sources, jars, &["--release", "8"])
    }

    pub(crate) fn with_options(
        jdk: &Jdk,
        sources: &[&str],
        jars: &[PathBuf],
        options: &[&str],
    ) -> Self {
        let mut compilation = Compilation::new()
            .classpath(jars)
            .options(options.iter().copied())
            .options(["-nowarn", "-Xlint:none", "-proc:none", "-parameters"]);
        for source in sources {
            compilation = compilation.source(format!("{}.java", class_name(source)), *source);
        }
        compilation = compilation.source("Mark.java", mark(sources));
        let project = TestProject::new();
        Javac::new(jdk)
            .compile(&compilation, &project.path("classes"))
            .unwrap();
        Self {
            project,
            jars: jars.to_vec(),
        }
    }

    /// The same classes with other jars.
    pub(crate) fn set_jars(&mut self, jars: &[PathBuf]) {
        self.jars = jars.to_vec();
    }

    pub(crate) fn plain(&self, jdk: &Jdk, main: &str) -> JavaRun {
        JavaRun::new(jdk, main)
            // Short programs spend most of their time in the second compiler.
            .jvm_args(["-Xverify:all", "-XX:TieredStopAtLevel=1"])
            .classpath([self.project.path("classes")])
            .classpath(&self.jars)
            .current_dir(self.project.root())
            .timeout(Duration::from_secs(240))
    }

    /// The option that loads the agent, which asks a stand-in for `fewest` if
    /// there are classes to leave out.
    pub(crate) fn agent_option(&self, leave_out: &[&str]) -> String {
        let folder = self.project.path("agent");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let mut config = Config {
            folder,
            things: true,
            ..Config::default()
        };
        if !leave_out.is_empty() {
            let script = self.project.write("agent/answers", stand_in(leave_out));
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            config.program = Some(script);
        }
        let path = self.project.write("agent/agent.conf", config.to_text());
        format!(
            "-agentpath:{}={}",
            agent_library().display(),
            path.display()
        )
    }

    pub(crate) fn traced(&self, jdk: &Jdk, main: &str) -> JavaRun {
        self.plain(jdk, main).jvm_args([self.agent_option(&[])])
    }

    /// Runs with and without the agent, asserts that nobody sees a difference,
    /// and reads the trace.
    pub(crate) fn watch(&self, jdk: &Jdk, main: &str, args: &[&str]) -> Watched {
        let plain = self
            .plain(jdk, main)
            .args(args.iter().copied())
            .finish()
            .unwrap();
        let traced = self
            .traced(jdk, main)
            .args(args.iter().copied())
            .finish()
            .unwrap();
        assert_same(&plain, &traced);
        self.watched(traced)
    }

    /// Runs under the agent, and reads the trace.
    pub(crate) fn trace(&self, jdk: &Jdk, main: &str, args: &[&str]) -> Watched {
        let run = self.traced(jdk, main).args(args.iter().copied());
        self.watched(run.finish().unwrap())
    }

    /// Runs under the agent and leaves classes out.
    pub(crate) fn leave_out(
        &self,
        jdk: &Jdk,
        main: &str,
        args: &[&str],
        classes: &[&str],
    ) -> Watched {
        let option = self.agent_option(classes);
        let run = self.plain(jdk, main).jvm_args([option]);
        self.watched(run.args(args.iter().copied()).finish().unwrap())
    }

    /// The trace of the only JVM that nobody else's test started.
    pub(crate) fn watched(&self, finished: Finished) -> Watched {
        let mut traces = trace_files(&self.project.path("agent"));
        traces.retain(|path| !is_child(&read_file(path).unwrap()));
        assert_eq!(
            traces.len(),
            1,
            "{traces:?}\n{}\n{}",
            finished.stdout,
            finished.stderr
        );
        let trace = read_file(&traces[0]).unwrap();
        Watched { finished, trace }
    }
}

fn is_child(trace: &Trace) -> bool {
    matches!(trace.events.first(), Some(Event::Jvm(jvm)) if jvm.parent.is_some())
}

/// Traces below a folder, at any depth.
pub(crate) fn trace_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(trace_files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "trace")
        {
            found.push(path);
        }
    }
    found
}

fn stand_in(leave_out: &[&str]) -> String {
    let names: Vec<String> = leave_out.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "#!/bin/sh\ntest \"$1\" = ask || exit 1\ntest -f \"$2/request.json\" || exit 1\n\
         printf '%s' '{{\"format\":1,\"skip\":[{}]}}' > \"$2/answer.json\"\n",
        names.join(",")
    )
}

fn class_name(source: &str) -> &str {
    ["class ", "interface ", "enum "]
        .iter()
        .filter_map(|word| {
            Some((
                source
                    .find(&format!("public {word}"))
                    .or_else(|| source.find(&format!("public abstract {word}")))?,
                *word,
            ))
        })
        .min()
        .and_then(|(at, word)| {
            let start = source[at..].find(word)? + at + word.len();
            source[start..]
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
        })
        .expect("a source declares a public class")
}

/// A class with every method `Mark.x()` that the sources call.
fn mark(sources: &[&str]) -> String {
    let mut names = BTreeSet::new();
    for source in sources {
        for (at, _) in source.match_indices("Mark.") {
            let rest = &source[at + 5..];
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap();
            names.insert(&rest[..end]);
        }
    }
    let mut text = String::from("public class Mark {\n");
    for name in names {
        writeln!(text, "    public static int {name}() {{ return 0; }}").unwrap();
    }
    text + "}\n"
}

/// Asserts that two runs ended and said the same, but for times and orders.
pub(crate) fn assert_same(plain: &Finished, traced: &Finished) {
    let lines = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text.lines().map(timeless).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        plain.code(),
        traced.code(),
        "{}\n{}",
        traced.stdout,
        traced.stderr
    );
    assert_eq!(lines(&plain.stdout), lines(&traced.stdout));
    assert_eq!(lines(&plain.stderr), lines(&traced.stderr));
}

/// A line without times, hash codes, the progress of parallel tests, and the
/// branches of a tree, which follow the order of its lines.
fn timeless(line: &str) -> String {
    let line = line.trim_start_matches(|c| " │├└─".contains(c));
    if line.starts_with("Time:") || line.chars().all(|c| ".EFI".contains(c)) {
        return String::new();
    }
    let mut text = String::new();
    let mut in_number = false;
    for c in line.chars() {
        let digit = c.is_ascii_digit();
        if digit && !in_number {
            text.push('0');
        } else if !digit {
            text.push(c);
        }
        in_number = digit || (in_number && (c.is_ascii_hexdigit() || c == '.'));
    }
    // The launcher says how long a test took if that was long.
    text.replace(" 0 ms", "")
}

/// A finished JVM and its trace.
pub(crate) struct Watched {
    pub(crate) finished: Finished,
    pub(crate) trace: Trace,
}

#[derive(Default)]
struct Test {
    outcome: Option<Outcome>,
    tests: u32,
    marks: BTreeSet<String>,
    left_out: bool,
}

impl Watched {
    /// One line for each test class: how it ended, how many tests it had, and
    /// the marks that count for it; then the marks of no test, and the doubts.
    pub(crate) fn summary(&self) -> String {
        let mut tests: BTreeMap<ClassName, Test> = BTreeMap::new();
        let mut windows = BTreeMap::new();
        let mut open = BTreeSet::new();
        let mut ambient = BTreeSet::new();
        let mut initialized: BTreeMap<ClassName, BTreeSet<String>> = BTreeMap::new();
        let mut rest = Vec::new();
        for event in &self.trace.events {
            match event {
                Event::Opened(window) => {
                    windows.insert(window.window, window.class.clone());
                    open.insert(window.window);
                    tests.entry(window.class.clone()).or_default();
                }
                Event::Closed(close) => {
                    open.remove(&close.window);
                    let test = tests.get_mut(&windows[&close.window]).unwrap();
                    test.outcome = test.outcome.max(Some(close.outcome));
                    test.tests += close.tests;
                    test.marks.extend(self.marks(&close.uses));
                }
                Event::Late { window, uses } => {
                    let test = tests.get_mut(&windows[window]).unwrap();
                    test.marks
                        .extend(self.marks(uses).iter().map(|mark| format!("late-{mark}")));
                }
                Event::Initialized { class, uses } => {
                    let class = self.classes().find(|entry| entry.id == *class).unwrap();
                    let marks = initialized.entry(class.name.outermost()).or_default();
                    marks.extend(self.marks(uses));
                }
                Event::Ambient { uses } => ambient.extend(self.marks(uses)),
                Event::LeftOut { class } => {
                    tests.entry(class.clone()).or_default().left_out = true;
                }
                Event::Doubt { window, why } => {
                    let class = window.map(|window| &windows[&window]);
                    rest.push(format!("doubt {class:?}: {why}"));
                }
                Event::End { unseen } if !unseen.is_empty() => {
                    rest.push(format!("unseen {unseen:?}"));
                }
                _ => {}
            }
        }
        rest.extend(
            open.iter()
                .map(|window| format!("never closed: {}", windows[window])),
        );
        if !self.trace.is_complete() {
            rest.push("the trace is cut".into());
        }
        let mut text = String::new();
        for (class, test) in &tests {
            let mut marks = test.marks.clone();
            marks.extend(initialized.remove(class).unwrap_or_default());
            write!(text, "{class}").unwrap();
            if let Some(outcome) = test.outcome {
                write!(
                    text,
                    " {} {}",
                    format!("{outcome:?}").to_lowercase(),
                    test.tests
                )
                .unwrap();
            }
            if test.left_out {
                text.push_str(" left-out");
            }
            writeln!(text, ":{}", words(&marks)).unwrap();
        }
        writeln!(text, "ambient:{}", words(&ambient)).unwrap();
        for line in rest {
            writeln!(text, "{line}").unwrap();
        }
        text
    }

    /// The summary without marks: what is the same in whatever order parallel
    /// tests run.
    pub(crate) fn outcomes(&self) -> String {
        let lines = self.summary();
        lines
            .lines()
            .map(|line| {
                line.split_once(':')
                    .map_or(line, |(start, _)| start)
                    .to_owned()
                    + "\n"
            })
            .collect()
    }

    /// Whether a mark counts for a test class.
    pub(crate) fn counts(&self, class: &str, mark: &str) -> bool {
        let summary = self.summary();
        let line = summary
            .lines()
            .find(|line| line.split(' ').next() == Some(class));
        let line = line.unwrap_or_else(|| panic!("{class} has no window:\n{summary}"));
        line.split(' ').any(|word| word == mark)
    }

    /// The classes whose threads lived on when they had ended.
    pub(crate) fn lingering(&self) -> BTreeSet<ClassName> {
        let mut windows = BTreeMap::new();
        let mut lingering = BTreeSet::new();
        for event in &self.trace.events {
            match event {
                Event::Opened(open) => {
                    windows.insert(open.window, open.class.clone());
                }
                Event::Closed(close) if close.lingers => {
                    lingering.insert(windows[&close.window].clone());
                }
                _ => {}
            }
        }
        lingering
    }

    pub(crate) fn classes(&self) -> impl Iterator<Item = &ClassEntry> {
        self.trace.events.iter().filter_map(|event| match event {
            Event::Class(entry) => Some(entry),
            _ => None,
        })
    }

    pub(crate) fn doubts(&self) -> Vec<&str> {
        let doubts = self.trace.events.iter().filter_map(|event| match event {
            Event::Doubt { why, .. } => Some(why.as_str()),
            _ => None,
        });
        doubts.collect()
    }

    /// The methods of a class that tests ran, by name.
    pub(crate) fn used(&self, class: &ClassEntry) -> Vec<String> {
        let closed = self.trace.events.iter().filter_map(|event| match event {
            Event::Closed(close) => Some(&close.uses),
            _ => None,
        });
        let own = class.first_probe..class.first_probe + class.methods.len() as u32;
        let mut names: Vec<String> = closed
            .flat_map(|uses| {
                let from = uses.probes.partition_point(|probe| *probe < own.start);
                let to = uses.probes.partition_point(|probe| *probe < own.end);
                &uses.probes[from..to]
            })
            .map(|probe| class.methods[(probe - own.start) as usize].name.to_string())
            .collect();
        names.dedup();
        names
    }

    fn marks(&self, uses: &Uses) -> Vec<String> {
        let Some(mark) = self.classes().find(|entry| entry.name.as_str() == "Mark") else {
            return Vec::new();
        };
        let probes = uses
            .probes
            .iter()
            .filter_map(|probe| probe.checked_sub(mark.first_probe));
        probes
            .filter_map(|place| mark.methods.get(place as usize))
            .map(|method| method.name.to_string())
            .collect()
    }
}

fn words(marks: &BTreeSet<String>) -> String {
    marks.iter().flat_map(|mark| [" ", mark]).collect()
}
