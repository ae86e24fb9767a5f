//! Runs tests of `JUnit` 4 in a child JVM under the agent, and reads its trace.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fewest_agent::Config;
use fewest_testkit::{Compilation, Finished, JavaRun, Javac, Jdk, TestProject, maven_jars};
use fewest_trace::{Event, FileStamp, Thing, Uses, read_file};

/// The library as cargo built it for this test.
pub(crate) fn agent_library() -> PathBuf {
    let exe = std::env::current_exe().expect("a test has a path");
    let folder = exe.parent().expect("a test lies in a folder");
    let library = folder.join("libfewest_agent.so");
    assert!(library.is_file(), "`{}` is missing", library.display());
    library
}

/// `JUnit` and what it needs.
pub(crate) fn junit() -> Vec<PathBuf> {
    maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap()
}

/// A folder with compiled tests in `classes`, and whatever else is written.
pub(crate) struct Suite {
    pub(crate) project: TestProject,
    tests: Vec<String>,
}

impl Suite {
    /// Test classes with one test each: their names, and what the test does.
    /// Other sources go along.
    pub(crate) fn new(tests: &[(&str, &str)], others: &[(&str, &str)]) -> Self {
        let mut compilation = Compilation::new().classpath(junit()).options([
            "--release",
            "8",
            "-nowarn",
            "-Xlint:-options",
        ]);
        for (name, body) in tests {
            let text = format!(
                "import java.io.*; import java.nio.file.*; import java.util.*;
                 import org.junit.*; import static org.junit.Assert.*;
                 public class {name} {{ @Test public void test() throws Exception {{ {body} }} }}"
            );
            compilation = compilation.source(format!("{name}.java"), text);
        }
        for (path, text) in others {
            compilation = compilation.source(*path, *text);
        }
        let project = TestProject::new();
        Javac::new(&Jdk::default())
            .compile(&compilation, &project.path("classes"))
            .unwrap();
        Self {
            project,
            tests: tests.iter().map(|(name, _)| (*name).to_owned()).collect(),
        }
    }

    /// Runs all tests in one JVM, without the agent.
    pub(crate) fn plain(&self, jdk: &Jdk) -> JavaRun {
        JavaRun::new(jdk, "org.junit.runner.JUnitCore")
            .jvm_args(["-Xverify:all"])
            .classpath([self.project.path("classes")])
            .classpath(junit())
            .args(self.tests.clone())
            .current_dir(self.project.root())
    }

    /// The agent's configuration, in a file of the project.
    pub(crate) fn write_config(&self, config: &Config) -> PathBuf {
        let path = self.project.path("agent/agent.conf");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, config.to_text()).unwrap();
        path
    }

    pub(crate) fn config(&self) -> Config {
        Config {
            folder: self.project.path("agent"),
            things: true,
            ..Config::default()
        }
    }

    /// The option that loads the agent.
    pub(crate) fn agent_option(&self) -> String {
        let config = self.write_config(&self.config());
        format!(
            "-agentpath:{}={}",
            agent_library().display(),
            config.display()
        )
    }

    /// Runs all tests in one JVM under the agent.
    pub(crate) fn traced(&self, jdk: &Jdk) -> JavaRun {
        self.plain(jdk).jvm_args([self.agent_option()])
    }

    /// What the traces so far say, by their file names.
    pub(crate) fn traces(&self) -> BTreeMap<String, Traced> {
        let folder = self.project.path("agent/traces");
        let mut traces = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            traces.insert(name, Traced::read(&path, self.project.root()));
        }
        traces
    }

    /// The trace of the only JVM that wrote one.
    pub(crate) fn trace(&self) -> Traced {
        let mut traces = self.traces();
        assert_eq!(traces.len(), 1, "{:?}", traces.keys());
        traces.pop_first().unwrap().1
    }
}

/// One trace in words.
pub(crate) struct Traced {
    pub(crate) events: Vec<Event>,
    things: BTreeMap<u32, Thing>,
    root: PathBuf,
}

impl Traced {
    fn read(path: &Path, root: &Path) -> Self {
        let trace = read_file(path).unwrap();
        assert!(trace.is_complete(), "`{}` is cut", path.display());
        let doubts: Vec<_> = trace
            .events
            .iter()
            .filter(|event| matches!(event, Event::Doubt { .. }))
            .collect();
        assert!(doubts.is_empty(), "{doubts:?}");
        let things = trace.events.iter().filter_map(|event| match event {
            Event::Thing { id, thing } => Some((*id, thing.clone())),
            _ => None,
        });
        Self {
            things: things.collect(),
            root: root.canonicalize().unwrap(),
            events: trace.events,
        }
    }

    /// What the test class used, as lines.
    pub(crate) fn of_test(&self, class: &str) -> BTreeSet<String> {
        let mut windows = BTreeSet::new();
        let mut lines = BTreeSet::new();
        for event in &self.events {
            match event {
                Event::Opened(open) if open.class.as_str() == class => {
                    windows.insert(open.window);
                }
                Event::Closed(close) if windows.contains(&close.window) => {
                    lines.extend(self.lines(&close.uses));
                }
                _ => {}
            }
        }
        assert!(!windows.is_empty(), "{class} has no window");
        lines
    }

    /// What was used outside of tests.
    pub(crate) fn ambient(&self) -> BTreeSet<String> {
        let uses = self.events.iter().filter_map(|event| match event {
            Event::Ambient { uses } => Some(uses),
            _ => None,
        });
        uses.flat_map(|uses| self.lines(uses)).collect()
    }

    fn lines(&self, uses: &Uses) -> Vec<String> {
        let things = uses.things.iter();
        things
            .filter_map(|thing| self.line(&self.things[thing]))
            .collect()
    }

    /// A thing in words; `None` for classes, which are not looked at here.
    fn line(&self, thing: &Thing) -> Option<String> {
        Some(match thing {
            Thing::Reflected(_) | Thing::Named(_) | Thing::Defined(_) | Thing::Receiver { .. } => {
                return None;
            }
            Thing::Resource(name) => format!("resource {name}"),
            Thing::File { path, stamp } => {
                let kind = match stamp {
                    FileStamp::Absent => "absent",
                    FileStamp::Directory => "directory",
                    FileStamp::File { .. } => "file",
                    FileStamp::Other => "other",
                };
                format!("{kind} {}", self.short(path))
            }
            Thing::Listing(path) => format!("listing {}", self.short(path)),
            Thing::Variable(name) => format!("variable {name}"),
            Thing::Property(name) => format!("property {name}"),
            Thing::Program(name) => format!("program {name}"),
        })
    }

    fn short(&self, path: &str) -> String {
        let path = Path::new(path);
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.display().to_string()
    }
}

/// Asserts that two runs had the same result, but for the time they took.
pub(crate) fn assert_same(plain: &Finished, traced: &Finished) {
    let timeless = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("Time: "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(plain.code(), traced.code(), "{}", traced.stdout);
    assert_eq!(timeless(&plain.stdout), timeless(&traced.stdout));
    assert_eq!(plain.stderr, traced.stderr);
}
