//! Fixture sources in, class files out.
//!
//! Starting a compiler costs more than most compilations, so whatever was
//! compiled once is kept, and what is new goes through one JVM together. The
//! name of a kept result covers the JDK, the sources, the options and the
//! content of the class path.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::cache::{self, CacheError, Key};
use crate::{Jdk, Run, RunError};

const DRIVER: &str = include_str!("../java/CompileAll.java");
const TIMEOUT: Duration = Duration::from_secs(300);

/// One call of the compiler: what stands on its command line.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    sources: Vec<(String, String)>,
    options: Vec<String>,
    classpath: Vec<PathBuf>,
}

impl Compilation {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a source by its path, as `p/A.java`, and its text.
    #[must_use]
    pub fn source(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.sources.push((path.into(), text.into()));
        self
    }

    /// Adds options, as `["--release", "8"]`.
    #[must_use]
    pub fn options<S: Into<String>>(mut self, options: impl IntoIterator<Item = S>) -> Self {
        self.options.extend(options.into_iter().map(Into::into));
        self
    }

    /// Adds jars and class folders.
    #[must_use]
    pub fn classpath<P: Into<PathBuf>>(mut self, entries: impl IntoIterator<Item = P>) -> Self {
        self.classpath.extend(entries.into_iter().map(Into::into));
        self
    }

    fn key(&self, jdk: &Jdk) -> Result<String, CacheError> {
        let mut key = Key::default();
        key.part(jdk.key());
        key.part(self.sources.len().to_le_bytes());
        for (path, text) in &self.sources {
            key.part(path);
            key.part(text);
        }
        key.part(self.options.len().to_le_bytes());
        for option in &self.options {
            key.part(option);
            for file in files_named_by(option) {
                key.tree(&file)?;
            }
        }
        for entry in &self.classpath {
            key.tree(entry)?;
        }
        Ok(key.name())
    }

    fn command_line(&self, sources: &Path, classes: &Path) -> Vec<String> {
        let mut line = vec!["-encoding".to_owned(), "UTF-8".to_owned()];
        line.extend(["-d".to_owned(), text_of(classes)]);
        line.extend(["-classpath".to_owned(), self.classpath_text(classes)]);
        line.extend(self.options.iter().cloned());
        line.extend(
            self.sources
                .iter()
                .map(|(path, _)| text_of(&sources.join(path))),
        );
        line
    }

    /// An empty class path would mean the folder that the tests run in.
    fn classpath_text(&self, classes: &Path) -> String {
        if self.classpath.is_empty() {
            return text_of(classes);
        }
        let entries: Vec<_> = self.classpath.iter().map(|entry| text_of(entry)).collect();
        entries.join(":")
    }
}

/// Options such as `--module-path` name files whose content matters too.
fn files_named_by(option: &str) -> impl Iterator<Item = PathBuf> {
    option
        .split([':', '='])
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.exists())
}

fn text_of(path: &Path) -> String {
    std::path::absolute(path)
        .unwrap_or_else(|_| path.to_path_buf())
        .to_string_lossy()
        .into_owned()
}

#[derive(Error)]
pub enum CompileError {
    /// The compiler found mistakes in the sources.
    #[error("javac rejected the sources\n{0}")]
    Rejected(String),
    #[error("could not run the compiler")]
    Run(#[from] RunError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("the compiler's answers are cut short")]
    Answers,
}

readable_debug!(CompileError);

/// Compiles sources into a class folder.
pub fn compile(
    jdk: &Jdk,
    sources: &[(&str, &str)],
    options: &[&str],
    classpath: &[PathBuf],
    classes: &Path,
) -> Result<(), CompileError> {
    let mut compilation = Compilation::new()
        .options(options.iter().copied())
        .classpath(classpath);
    for &(path, text) in sources {
        compilation = compilation.source(path, text);
    }
    Javac::new(jdk).compile(&compilation, classes)
}

/// The compiler of one JDK.
#[derive(Clone, Debug)]
pub struct Javac {
    jdk: Jdk,
}

impl Javac {
    pub fn new(jdk: &Jdk) -> Self {
        Self { jdk: jdk.clone() }
    }

    /// Puts the class files into `classes`, beside what is there already.
    pub fn compile(&self, compilation: &Compilation, classes: &Path) -> Result<(), CompileError> {
        self.compile_all([(compilation, classes)])
    }

    /// Runs many independent compilations, each with its own class folder, in
    /// one JVM. No folder is written unless all compilations succeed.
    pub fn compile_all<'a>(
        &self,
        jobs: impl IntoIterator<Item = (&'a Compilation, &'a Path)>,
    ) -> Result<(), CompileError> {
        let mut missing = BTreeMap::new();
        let mut copies = Vec::new();
        for (compilation, classes) in jobs {
            let entry = self.entry(compilation)?;
            if !entry.is_dir() {
                missing.insert(entry.clone(), compilation);
            }
            copies.push((entry, classes));
        }
        if !missing.is_empty() {
            self.make(&missing)?;
        }
        for (entry, classes) in copies {
            cache::copy_tree(&entry, classes)?;
        }
        Ok(())
    }

    /// Runs many independent compilations in one JVM and tells of each what the
    /// compiler had against it. Nothing is kept for later: this is for sources
    /// that nobody will compile again.
    pub fn compile_each<'a>(
        &self,
        jobs: impl IntoIterator<Item = (&'a Compilation, &'a Path)>,
    ) -> Result<Vec<Result<(), String>>, CompileError> {
        let work = cache::workspace()?;
        let mut command_lines = Vec::new();
        let mut hidden = Vec::new();
        for (number, (compilation, classes)) in jobs.into_iter().enumerate() {
            let sources = work.path().join(number.to_string());
            write_sources(compilation, &sources)?;
            fs::create_dir_all(classes).map_err(CacheError::at(classes))?;
            command_lines.push(compilation.command_line(&sources, classes));
            hidden.push(format!("{}/", text_of(&sources)));
        }
        let answers = self.drive(work.path(), &command_lines)?;
        let verdict = |(answer, hidden): (Answer, String)| match answer.code {
            0 => Ok(()),
            _ => Err(answer.said.replace(&hidden, "")),
        };
        Ok(answers.into_iter().zip(hidden).map(verdict).collect())
    }

    fn entry(&self, compilation: &Compilation) -> Result<PathBuf, CompileError> {
        let key = compilation.key(&self.jdk)?;
        Ok(cache::cache_dir().join("javac").join(key))
    }

    fn make(&self, missing: &BTreeMap<PathBuf, &Compilation>) -> Result<(), CompileError> {
        let work = cache::workspace()?;
        let mut command_lines = Vec::new();
        for (number, compilation) in missing.values().enumerate() {
            let folder = work.path().join(number.to_string());
            let (sources, classes) = (folder.join("src"), folder.join("out"));
            write_sources(compilation, &sources)?;
            fs::create_dir_all(&classes).map_err(CacheError::at(&classes))?;
            command_lines.push(compilation.command_line(&sources, &classes));
        }
        let mut complaints = String::new();
        for (number, (answer, entry)) in self
            .drive(work.path(), &command_lines)?
            .into_iter()
            .zip(missing.keys())
            .enumerate()
        {
            let folder = work.path().join(number.to_string());
            if answer.code == 0 {
                cache::publish(&folder.join("out"), entry)?;
            } else {
                // Where the sources lay for a moment helps nobody.
                let hidden = format!("{}/", text_of(&folder.join("src")));
                complaints += &answer.said.replace(&hidden, "");
            }
        }
        if complaints.is_empty() {
            Ok(())
        } else {
            Err(CompileError::Rejected(complaints))
        }
    }

    fn drive(&self, work: &Path, lines: &[Vec<String>]) -> Result<Vec<Answer>, CompileError> {
        let (list, answers) = (work.join("list"), work.join("answers"));
        fs::write(&list, work_list(lines)).map_err(CacheError::at(&list))?;
        Run::new(self.jdk.java())
            // Compilations are short: the second compiler would not pay off.
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"])
            .arg(self.driver()?)
            .arg("CompileAll")
            .args([&list, &answers])
            .timeout(TIMEOUT)
            .succeed()?;
        let bytes = fs::read(&answers).map_err(CacheError::at(&answers))?;
        read_answers(&bytes, lines.len()).ok_or(CompileError::Answers)
    }

    /// The class folder of the program that calls the compiler.
    fn driver(&self) -> Result<PathBuf, CompileError> {
        let mut key = Key::default();
        key.part(self.jdk.key());
        key.part(DRIVER);
        cache::make_once(&format!("driver/{}", key.name()), |folder| {
            let source = folder.join("CompileAll.java");
            fs::write(&source, DRIVER).map_err(CacheError::at(&source))?;
            Run::new(self.jdk.javac())
                .arg("-d")
                .args([folder, &source])
                .succeed()?;
            Ok(())
        })
    }
}

fn write_sources(compilation: &Compilation, folder: &Path) -> Result<(), CacheError> {
    let write = |path: &Path, text: &str| -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)
    };
    for (path, text) in &compilation.sources {
        let path = folder.join(path);
        write(&path, text).map_err(CacheError::at(&path))?;
    }
    Ok(())
}

struct Answer {
    code: u32,
    said: String,
}

fn work_list(lines: &[Vec<String>]) -> Vec<u8> {
    let mut bytes = (lines.len() as u32).to_be_bytes().to_vec();
    for line in lines {
        bytes.extend((line.len() as u32).to_be_bytes());
        for word in line {
            bytes.extend((word.len() as u32).to_be_bytes());
            bytes.extend(word.as_bytes());
        }
    }
    bytes
}

fn read_answers(mut bytes: &[u8], count: usize) -> Option<Vec<Answer>> {
    let number = |bytes: &mut &[u8]| {
        let (head, rest) = bytes.split_first_chunk::<4>()?;
        *bytes = rest;
        Some(u32::from_be_bytes(*head))
    };
    let mut answers = Vec::new();
    for _ in 0..count {
        let code = number(&mut bytes)?;
        let length = number(&mut bytes)? as usize;
        let (said, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        answers.push(Answer {
            code,
            said: String::from_utf8_lossy(said).into_owned(),
        });
    }
    Some(answers)
}

#[cfg(test)]
mod jvm_tests {
    use super::*;

    const A: &str = "package p; public class A { public int f() { return 1; } }";

    /// A source that no earlier run has compiled.
    fn fresh(name: &str) -> String {
        let nonce = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_nanos();
        format!("class {name} {{ long nonce = {nonce}L; }}")
    }

    fn major(class: &Path) -> u16 {
        let bytes = fs::read(class).unwrap();
        u16::from_be_bytes([bytes[6], bytes[7]])
    }

    #[test]
    fn a_class_lands_below_its_package_with_the_release_asked_for() {
        let out = tempfile::tempdir().unwrap();
        for (release, expected) in [("8", 52), ("17", 61)] {
            let options = ["--release", release];
            compile(
                &Jdk::default(),
                &[("p/A.java", A)],
                &options,
                &[],
                out.path(),
            )
            .unwrap();
            assert_eq!(major(&out.path().join("p/A.class")), expected);
        }
    }

    #[test]
    fn the_compilers_message_is_in_the_error_and_nothing_is_written() {
        let out = tempfile::tempdir().unwrap();
        let broken = [("p/B.java", "package p; class B { int f() { return x; } }")];
        let error = compile(&Jdk::default(), &broken, &[], &[], out.path()).unwrap_err();
        let message = format!("{error:?}");
        assert!(
            message.contains("\np/B.java:1: error: cannot find symbol\n"),
            "{message}"
        );
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
    }

    #[test]
    fn many_compilations_share_one_jvm_but_nothing_else() {
        let out = tempfile::tempdir().unwrap();
        // Each defines the same class in its own way, which one compilation
        // could not.
        let jobs: Vec<_> = (0..20)
            .map(|number| {
                let text = format!("{} interface I{number} {{}}", fresh("Same"));
                (
                    Compilation::new().source("Same.java", text),
                    out.path().join(number.to_string()),
                )
            })
            .collect();
        Javac::new(&Jdk::default())
            .compile_all(jobs.iter().map(|(job, out)| (job, out.as_path())))
            .unwrap();
        for number in 0..20 {
            let folder = out.path().join(number.to_string());
            let files = fs::read_dir(&folder).unwrap().count();
            assert_eq!(files, 2, "{}", folder.display());
            assert!(folder.join(format!("I{number}.class")).is_file());
        }
    }

    #[test]
    fn one_broken_compilation_of_many_is_told_and_stops_all() {
        let out = tempfile::tempdir().unwrap();
        let good = Compilation::new().source("Good.java", fresh("Good"));
        let bad = Compilation::new().source("Bad.java", "class Bad extends Missing {}");
        let error = Javac::new(&Jdk::default())
            .compile_all([(&good, out.path()), (&bad, out.path())])
            .unwrap_err();
        assert!(error.to_string().contains("Bad.java:1"), "{error}");
        assert!(!error.to_string().contains("Good.java"), "{error}");
        assert!(!out.path().join("Good.class").exists());
    }

    #[test]
    fn each_of_many_compilations_is_told_its_own_mistakes() {
        let out = tempfile::tempdir().unwrap();
        let good = Compilation::new().source("Good.java", "class Good {}");
        let bad = Compilation::new().source("p/Bad.java", "package p; class Bad extends Gone {}");
        let folders = [out.path().join("0"), out.path().join("1")];
        let verdicts = Javac::new(&Jdk::default())
            .compile_each([(&good, &*folders[0]), (&bad, &*folders[1])])
            .unwrap();
        assert!(folders[0].join("Good.class").is_file());
        assert_eq!(verdicts[0], Ok(()));
        let said = verdicts[1].as_ref().unwrap_err();
        assert!(said.starts_with("p/Bad.java:1: error"), "{said}");
    }

    #[test]
    fn a_compilation_seen_before_needs_no_compiler() {
        let out = tempfile::tempdir().unwrap();
        let compilation = Compilation::new().source("Kept.java", fresh("Kept"));
        let javac = Javac::new(&Jdk::default());
        javac
            .compile(&compilation, &out.path().join("first"))
            .unwrap();
        // No compiler would write this file, so the copy came from the cache.
        let entry = javac.entry(&compilation).unwrap();
        fs::write(entry.join("mark"), "").unwrap();
        javac
            .compile(&compilation, &out.path().join("second"))
            .unwrap();
        assert!(out.path().join("second/mark").is_file());
    }

    #[test]
    fn the_content_of_the_class_path_counts() {
        let work = tempfile::tempdir().unwrap();
        let library = work.path().join("library");
        let user = Compilation::new()
            .source(
                "User.java",
                "class User { int f() { return Constant.VALUE; } }",
            )
            .classpath([&library]);
        let javac = Javac::new(&Jdk::default());
        let mut seen = Vec::new();
        for value in ["1", "2"] {
            let text = format!("class Constant {{ static final int VALUE = {value}; }}");
            let constant = Compilation::new().source("Constant.java", text);
            javac.compile(&constant, &library).unwrap();
            let out = work.path().join(value);
            javac.compile(&user, &out).unwrap();
            seen.push(fs::read(out.join("User.class")).unwrap());
        }
        assert_ne!(seen[0], seen[1]);
    }

    #[test]
    fn every_jdk_compiles() {
        for jdk in Jdk::all() {
            let out = tempfile::tempdir().unwrap();
            compile(&jdk, &[("p/A.java", A)], &[], &[], out.path()).unwrap();
            let expected = 44 + jdk.feature_version() as u16;
            assert_eq!(major(&out.path().join("p/A.class")), expected);
        }
    }
}
