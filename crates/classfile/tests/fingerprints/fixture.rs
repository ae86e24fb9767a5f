//! Small Java programs as classes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fewest_classfile::changes::ClassSet;
use fewest_classfile::fingerprint::{Fingerprinter, Options};
use fewest_classfile::read::ClassFile;
use fewest_testkit::{Compilation, Javac, Jdk, Run, TestProject};

/// Class files by path below their folder.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A program in one source file, and how to compile it.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) source: &'a str,
    pub(crate) options: &'a [&'a str],
}

/// The newest JDK, whose compiler writes all there is to read.
pub(crate) fn newest_jdk() -> Jdk {
    Jdk::all()
        .into_iter()
        .max_by_key(Jdk::feature_version)
        .expect("a JDK is installed")
}

/// Compiles programs in one JVM.
pub(crate) fn compile(programs: &[Program<'_>]) -> Vec<Files> {
    let compilations: Vec<Compilation> = programs
        .iter()
        .map(|program| {
            Compilation::new()
                .source("Fixture.java", program.source)
                .options(["-proc:none", "-Xlint:-options", "-nowarn"])
                .options(program.options.iter().copied())
        })
        .collect();
    let jobs: Vec<&Compilation> = compilations.iter().collect();
    compile_all(&newest_jdk(), &jobs)
}

pub(crate) fn compile_all(jdk: &Jdk, compilations: &[&Compilation]) -> Vec<Files> {
    let project = TestProject::new();
    let folders: Vec<_> = (0..compilations.len())
        .map(|number| project.path(number.to_string()))
        .collect();
    let jobs = compilations.iter().copied().zip(folders.iter());
    Javac::new(jdk)
        .compile_all(jobs.map(|(job, folder)| (job, folder.as_path())))
        .expect("the fixtures compile");
    folders.iter().map(|folder| files_below(folder)).collect()
}

/// All class files below a folder.
pub(crate) fn files_below(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut queue = vec![folder.to_path_buf()];
    while let Some(path) = queue.pop() {
        for entry in fs::read_dir(&path).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                queue.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "class")
            {
                let name = path.strip_prefix(folder).expect("below the folder");
                let bytes = fs::read(&path).expect("a file");
                files.insert(name.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    files
}

/// Unpacks a jar.
pub(crate) fn unpack(jar: &Path) -> TestProject {
    let project = TestProject::new();
    Run::new(newest_jdk().home().join("bin/jar"))
        .arg("xf")
        .arg(jar)
        .current_dir(project.root())
        .succeed()
        .expect("a sound jar");
    project
}

pub(crate) fn fingerprints(files: &Files, options: Options) -> ClassSet {
    let mut fingerprinter = Fingerprinter::new(options);
    let classes = files.iter().map(|(name, bytes)| {
        let class = ClassFile::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let class = fingerprinter
            .fingerprint(&class)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        (class.name.clone(), class)
    });
    classes.collect()
}
