//! Many programs at once, each in its own package, in several versions.
//!
//! One compiler, one test JVM and one selection then do for all of them, and
//! whatever an edit of one program does to the tests of another is a fault.

use std::collections::BTreeSet;

use fastrand::Rng;

use crate::edit::{Edit, EditKind, edit, edit_of};
use crate::generate;
use crate::program::Program;
use crate::version::{Files, Truth, Version, Workshop};

/// Programs that compile.
pub struct Batch<'a> {
    pub workshop: &'a Workshop,
    pub programs: Vec<Program>,
    pub base: Compiled,
    /// Programs that the compiler refused.
    pub refused: usize,
}

/// A version of all programs.
pub struct Compiled {
    pub version: Version,
    pub truth: Truth,
    /// What was done to each program, where anything was.
    pub edits: Vec<Option<Edit>>,
    /// Edits that the compiler refused.
    pub refused: usize,
}

impl<'a> Batch<'a> {
    /// The programs of a seed.
    pub fn of_seed(workshop: &'a Workshop, seed: u64, size: usize) -> Self {
        let programs = (0..size).map(|number| {
            let mut rng = rng(seed, number as u64);
            generate::program(&format!("p{number}"), &mut rng)
        });
        Self::new(workshop, programs.collect())
    }

    /// Keeps those of the programs that compile.
    pub fn new(workshop: &'a Workshop, programs: Vec<Program>) -> Self {
        Self::of_those_that_compile(workshop, programs).expect("one program compiles")
    }

    /// `None` where no program compiles.
    pub fn of_those_that_compile(
        workshop: &'a Workshop,
        mut programs: Vec<Program>,
    ) -> Option<Self> {
        let all = programs.len();
        let version = loop {
            let files = programs.iter().flat_map(Program::files).collect();
            match workshop.compile(&[("base", &files)], &[]).remove(0) {
                Ok(version) => break version,
                Err(said) => {
                    let refused = packages(&said);
                    assert!(!refused.is_empty(), "no program is to blame: {said}");
                    programs.retain(|program| !refused.contains(&program.package));
                }
            }
            if programs.is_empty() {
                return None;
            }
        };
        let base = Compiled {
            truth: workshop.truth(&version, &groups(&programs)),
            version,
            edits: programs.iter().map(|_| None).collect(),
            refused: 0,
        };
        Some(Self {
            workshop,
            refused: all - programs.len(),
            base,
            programs,
        })
    }

    /// The names of all test classes, in their order.
    pub fn tests(&self) -> Vec<String> {
        groups(&self.programs).concat()
    }

    /// The place of the program that a test belongs to.
    pub fn program_of(&self, test: &str) -> usize {
        let package = test.split('.').next().unwrap_or_default();
        let place = self.programs.iter().position(|p| p.package == package);
        place.unwrap_or_else(|| panic!("{test} is of no program"))
    }

    /// A random edit of every program.
    pub fn edits(&self, seed: u64) -> Vec<Option<Edit>> {
        let random = |(number, program)| Some(edit(program, &mut rng(seed, number as u64)));
        self.programs.iter().enumerate().map(random).collect()
    }

    /// Edits of one of these kinds where a program has what it takes.
    pub fn edits_of(&self, seed: u64, kinds: &[EditKind]) -> Vec<Option<Edit>> {
        let one = |(number, program): (usize, &Program)| {
            let mut rng = rng(seed, number as u64);
            let kind = kinds[rng.usize(..kinds.len())];
            edit_of(program, kind, &mut rng)
        };
        self.programs.iter().enumerate().map(one).collect()
    }

    /// Versions with these edits, without those that the compiler refuses. Each
    /// has a name of its own.
    pub fn compile(
        &self,
        versions: Vec<(String, Vec<Option<Edit>>)>,
        options: &[&str],
    ) -> Vec<Compiled> {
        let mut all: Vec<Attempt> = versions.into_iter().map(Attempt::new).collect();
        while all.iter().any(|attempt| attempt.version.is_none()) {
            let mut open: Vec<&mut Attempt> = all
                .iter_mut()
                .filter(|attempt| attempt.version.is_none())
                .collect();
            let files: Vec<Files> = open
                .iter()
                .map(|attempt| self.files(&attempt.edits))
                .collect();
            let names = open.iter().map(|attempt| attempt.name.clone());
            let names: Vec<String> = names.collect();
            let jobs: Vec<_> = names.iter().map(String::as_str).zip(&files).collect();
            let verdicts = self.workshop.compile(&jobs, options);
            for (attempt, verdict) in open.iter_mut().zip(verdicts) {
                match verdict {
                    Ok(version) => attempt.version = Some(version),
                    Err(said) => attempt.take_back(&self.programs, &said),
                }
            }
        }
        let groups = groups(&self.programs);
        let finish = |attempt: Attempt| {
            let version = attempt.version.expect("all have compiled");
            Compiled {
                truth: self.workshop.truth(&version, &groups),
                version,
                edits: attempt.edits,
                refused: attempt.refused,
            }
        };
        all.into_iter().map(finish).collect()
    }

    fn files(&self, edits: &[Option<Edit>]) -> Files {
        let after = |(program, edit): (&Program, &Option<Edit>)| {
            edit.as_ref().map_or(program, |edit| &edit.after).files()
        };
        self.programs.iter().zip(edits).flat_map(after).collect()
    }
}

/// A version that may not compile yet.
struct Attempt {
    name: String,
    edits: Vec<Option<Edit>>,
    refused: usize,
    version: Option<Version>,
}

impl Attempt {
    fn new((name, edits): (String, Vec<Option<Edit>>)) -> Self {
        Self {
            name,
            edits,
            refused: 0,
            version: None,
        }
    }

    /// Drops the edits that the compiler has something against.
    fn take_back(&mut self, programs: &[Program], said: &str) {
        let packages = packages(said);
        assert!(!packages.is_empty(), "no program is to blame: {said}");
        for (program, edit) in programs.iter().zip(&mut self.edits) {
            if packages.contains(&program.package) {
                let package = &program.package;
                assert!(edit.is_some(), "{package} compiled before: {said}");
                *edit = None;
                self.refused += 1;
            }
        }
    }
}

impl Compiled {
    /// The tests that see other things than in another version.
    pub fn differs_from<'b>(&'b self, other: &'b Self) -> BTreeSet<&'b String> {
        let of = |one: &'b crate::version::Seen, two: &'b crate::version::Seen| {
            let keys = one.keys().chain(two.keys());
            keys.filter(|test| one.get(*test) != two.get(*test))
                .collect::<BTreeSet<_>>()
        };
        let mut all = of(&self.truth.alone, &other.truth.alone);
        all.extend(of(&self.truth.together, &other.truth.together));
        all
    }
}

fn groups(programs: &[Program]) -> Vec<Vec<String>> {
    programs.iter().map(Program::test_names).collect()
}

/// Independent of how many programs come before.
fn rng(seed: u64, number: u64) -> Rng {
    Rng::with_seed(
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(number),
    )
}

/// The packages that the compiler complains of.
fn packages(said: &str) -> BTreeSet<String> {
    let errors = said.lines().filter(|line| line.contains(".java:"));
    errors
        .filter_map(|line| Some(line.split_once('/')?.0.to_owned()))
        .collect()
}
