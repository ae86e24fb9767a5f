//! A tiny project that is run through `fewest exec`.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fewest_testkit::{Finished, Jdk, Run, TestProject, compile, maven_jars};

pub(crate) const COMPLEX: &str = "
package demo;
public class Complex {
    final int re, im;
    public Complex(int re, int im) { this.re = re; this.im = im; }
    public Complex negate() { return new Complex(-re, -im); }
    public Complex add(Complex o) { return new Complex(re + o.re, im + o.im); }
}
";

/// Another way to negate, with the same result.
pub(crate) const NEGATED_OTHERWISE: (&str, &str) = ("(-re, -im)", "(0 - re, 0 - im)");

const NEGATE_TEST: &str = "
package demo;
public class NegateTest {
    @org.junit.Test public void negates() {
        org.junit.Assert.assertEquals(-1, new Complex(1, 2).negate().re);
    }
}
";

const ADD_TEST: &str = "
package demo;
public class AddTest {
    @org.junit.Test public void adds() {
        org.junit.Assert.assertEquals(4, new Complex(1, 2).add(new Complex(3, 4)).re);
    }
}
";

/// A project with tests in `classes`.
pub(crate) struct Demo {
    pub(crate) project: TestProject,
    sources: BTreeMap<String, String>,
    tests: Vec<String>,
    jars: Vec<PathBuf>,
    pub(crate) java: PathBuf,
}

impl Demo {
    /// `Complex` with two tests.
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// The same with more tests, each the body of a test method by the name of
    /// its class.
    pub(crate) fn with(bodies: &[(&str, &str)]) -> Self {
        let mut demo = Self {
            project: TestProject::new(),
            sources: BTreeMap::new(),
            tests: Vec::new(),
            jars: maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap(),
            java: Jdk::default().java(),
        };
        demo.add("Complex", COMPLEX);
        demo.add("AddTest", ADD_TEST);
        demo.add("NegateTest", NEGATE_TEST);
        for (name, body) in bodies {
            let source = format!(
                "package demo;\npublic class {name} {{\n\
                 @org.junit.Test public void test() throws Exception {{ {body} }}\n}}\n"
            );
            demo.add(name, &source);
        }
        demo.compile();
        demo
    }

    fn add(&mut self, name: &str, source: &str) {
        let path = format!("demo/{name}.java");
        self.sources.insert(path, source.to_owned());
        if name.ends_with("Test") {
            self.tests.push(format!("demo.{name}"));
        }
    }

    /// Replaces a part of a class and compiles.
    pub(crate) fn edit(&mut self, name: &str, (old, new): (&str, &str)) {
        let source = self.sources.get_mut(&format!("demo/{name}.java")).unwrap();
        assert!(source.contains(old), "{name} has no {old}");
        *source = source.replace(old, new);
        self.compile();
    }

    fn compile(&self) {
        let sources: Vec<(&str, &str)> = self
            .sources
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let options = ["--release", "8", "-Xlint:-options"];
        let classes = self.project.path("classes");
        fs::create_dir_all(&classes).unwrap();
        compile(&Jdk::default(), &sources, &options, &self.jars, &classes).unwrap();
    }

    /// The class path, with other entries before it.
    pub(crate) fn class_path(&self, before: &[&str]) -> String {
        let mut entries: Vec<PathBuf> = before.iter().map(PathBuf::from).collect();
        entries.push("classes".into());
        entries.extend(self.jars.iter().cloned());
        std::env::join_paths(entries)
            .unwrap()
            .into_string()
            .unwrap()
    }

    /// A command line that runs all tests.
    pub(crate) fn junit(&self, jvm_args: &[&str]) -> Vec<String> {
        let mut line = vec![self.java.to_str().unwrap().to_owned()];
        line.extend(jvm_args.iter().map(|&arg| arg.to_owned()));
        line.extend(["-cp".to_owned(), self.class_path(&[])]);
        line.push("org.junit.runner.JUnitCore".into());
        line.extend(self.tests.iter().cloned());
        line
    }

    /// `fewest` in the project.
    pub(crate) fn run(&self) -> Run {
        self.project
            .run(env!("CARGO_BIN_EXE_fewest"))
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("NO_COLOR")
    }

    pub(crate) fn fewest(&self, args: &[&str]) -> Finished {
        self.run().args(args).finish().unwrap()
    }

    /// All tests through `fewest exec`.
    pub(crate) fn exec(&self, options: &[&str]) -> Finished {
        self.exec_line(options, self.junit(&[]))
    }

    pub(crate) fn exec_line(&self, options: &[&str], line: Vec<String>) -> Finished {
        let mut run = self.run().arg("exec").args(options);
        if !options.is_empty() {
            run = run.arg("--");
        }
        run.args(line).finish().unwrap()
    }

    /// All tests in a shell script, in which `$JUNIT` is the command line.
    pub(crate) fn script(&self, script: &str) -> Vec<String> {
        let line = self.junit(&[]).join(" ");
        let script = script.replace("$JUNIT", &line);
        ["sh", "-c", &script].map(str::to_owned).to_vec()
    }
}

/// What a user sees of fewest, with everything that differs between machines
/// and moments taken out.
pub(crate) fn screen(finished: &Finished) -> String {
    let own: Vec<&str> = finished
        .stderr
        .lines()
        .filter(|line| line.starts_with("fewest: ") || line.starts_with("hint: "))
        .collect();
    format!("{}\nexit {}", own.join("\n"), finished.code().unwrap())
}

/// The same for a command whose screen is its standard output.
pub(crate) fn output(finished: &Finished) -> String {
    format!("{}{}", finished.stdout, screen(finished))
}

/// Hides what differs between machines and moments.
pub(crate) fn filters(project: &Path) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    let real = fs::canonicalize(project).unwrap();
    for root in [project, &real] {
        settings.add_filter(&regex_of(&root.display().to_string()), "[project]");
    }
    settings.add_filter(
        r"\d+:\d\d instead of about \d+:\d\d",
        "[time] instead of about [time]",
    );
    settings.add_filter(r"failure after \d+:\d\d", "failure after [time]");
    settings.add_filter(r"doubts?; \d+:\d\d", "doubts; [time]");
    settings.add_filter(r"(today|yesterday) \d\d:\d\d", "[moment]");
    settings.add_filter(
        r"[\d,]+ things used, \d+\.\d s",
        "[some] things used, [time]",
    );
    settings.add_filter(r"process \d+", "process [number]");
    settings.add_filter(r"\d+ KiB", "[size]");
    settings.add_filter(r"\b[0-9a-f]{7}\b", "[commit]");
    settings.add_filter(r"`/\S*/bin/java [^`]*`", "`[java]`");
    settings
}

fn regex_of(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            c if c.is_alphanumeric() || c == '/' => c.to_string(),
            c => format!("\\{c}"),
        })
        .collect()
}
