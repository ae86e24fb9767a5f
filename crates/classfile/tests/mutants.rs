//! Mutants: each does what it says, and what comes out loads in a JVM that
//! verifies everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fewest_classfile::mutate::{Mutant, Operator, mutants, overridable_methods, plant};
use fewest_classfile::read::ClassFile;
use fewest_testkit::{Compilation, JavaRun, Javac, Jdk, TestProject, maven_jars};

const FAULTS: &str = include_str!("mutants_java/Faults.java");
const PARENT: &str = include_str!("mutants_java/Parent.java");
const HARNESS: &str = include_str!("mutants_java/Harness.java");

/// A compiled program, and the JVM to run versions of it.
struct Faults {
    project: TestProject,
    jdk: Jdk,
    class: Vec<u8>,
    parent: Vec<u8>,
}

impl Faults {
    fn compile() -> Self {
        let project = TestProject::new();
        let jdk = Jdk::default();
        let program = Compilation::new()
            .source("Faults.java", FAULTS)
            .source("Parent.java", PARENT);
        let harness = Compilation::new().source("Harness.java", HARNESS);
        let javac = Javac::new(&jdk);
        javac.compile(&program, &project.path("original")).unwrap();
        javac.compile(&harness, &project.path("harness")).unwrap();
        let read = |name: &str| fs::read(project.path("original").join(name)).unwrap();
        Self {
            class: read("Faults.class"),
            parent: read("Parent.class"),
            project,
            jdk,
        }
    }

    fn class(&self) -> ClassFile<'_> {
        ClassFile::read(&self.class).unwrap()
    }

    fn mutants(&self) -> Vec<Mutant> {
        let (class, parent) = (self.class(), ClassFile::read(&self.parent).unwrap());
        let overridable = overridable_methods(&class, &[parent]).unwrap();
        mutants(&class, &overridable).unwrap()
    }

    /// What the program says of each of its methods, for each version.
    fn run(&self, versions: &[Vec<u8>]) -> Vec<BTreeMap<String, String>> {
        for (number, bytes) in versions.iter().enumerate() {
            let folder = format!("version{number}");
            self.project.write(format!("{folder}/Faults.class"), bytes);
        }
        let said = JavaRun::new(&self.jdk, "Harness")
            .jvm_args(["-Xverify:all"])
            .classpath([self.project.path("harness")])
            .args([
                self.project.root().to_str().unwrap(),
                &versions.len().to_string(),
            ])
            .succeed()
            .unwrap()
            .stdout;
        let mut versions = Vec::new();
        for line in said.lines() {
            if let Some(line) = line.strip_prefix("  ") {
                let (method, value) = line.split_once(" = ").unwrap();
                let last: &mut BTreeMap<_, _> = versions.last_mut().unwrap();
                last.insert(method.to_owned(), value.to_owned());
            } else {
                versions.push(BTreeMap::new());
            }
        }
        versions
    }
}

/// For every method of the fixture: what its mutants of an operator make of
/// what it says. A method stands in the fixture with its value beside it.
#[test]
fn every_operator_changes_what_the_program_does() {
    let faults = Faults::compile();
    let class = faults.class();
    let all = faults.mutants();
    let mut versions = vec![faults.class.clone()];
    versions.extend(all.iter().map(|mutant| plant(&class, mutant).unwrap()));
    let said = faults.run(&versions);
    let (original, planted) = said.split_first().unwrap();
    let mut changes = BTreeSet::new();
    for (mutant, said) in all.iter().zip(planted) {
        for (method, value) in said {
            // A method that the original does not have says nothing.
            let Some(before) = original.get(method) else {
                continue;
            };
            if value != before {
                changes.insert(format!("{} {method}: {before} -> {value}", mutant.operator));
            }
        }
    }
    let operators: BTreeSet<&str> = changes
        .iter()
        .map(|change| change.split(' ').next().unwrap())
        .collect();
    for operator in Operator::ALL {
        assert!(
            operators.contains(operator.name()),
            "{operator}: {changes:#?}"
        );
    }
    for expected in EXPECTED {
        assert!(changes.contains(*expected), "{expected} in {changes:#?}");
    }
}

/// Faults by their effect.
const EXPECTED: &[&str] = &[
    "arithmetic add: 5 -> 1",
    "arithmetic multiply: 12 -> 3",
    "arithmetic negate: -7 -> 7",
    "arithmetic shift: 8 -> 0",
    "arithmetic mask: 4 -> 6",
    "arithmetic count: 3 -> -3",
    "arithmetic countFar: 300 -> -300",
    "condition isPositive: false -> true",
    "condition isLess: false -> true",
    "condition isSame: true -> false",
    "constant five: 5 -> 4",
    "constant hundred: 100 -> 101",
    "constant thousand: 1000 -> 1001",
    "constant million: 1000000 -> 1000001",
    "constant longNumber: 10000000000 -> 10000000001",
    "constant half: 0.5 -> 0.0",
    "constant text: text -> textx",
    "constant yes: true -> false",
    "return five: 5 -> 6",
    "return yes: true -> false",
    "return text: text -> null",
    "return longNumber: 10000000000 -> 10000000001",
    "return quarter: 0.25 -> 0.75",
    "call filled: [a] -> []",
    "call length: 3 -> 0",
    "call shout: LOUD -> null",
    "call wide: 3 -> 0",
    "field-value start: 7 -> 8",
    "field-value shared: 9 -> 10",
    "field-value name: name -> null",
    "field-value constantByReflection: 11 -> 12",
    "override inherited: 42 -> 0",
    "override toString: I am the parent -> null",
    "annotation annotations: [@java.lang.Deprecated] -> []",
];

#[test]
fn a_mutant_says_in_words_what_it_does_and_where() {
    let faults = Faults::compile();
    let all = faults.mutants();
    let words: BTreeSet<&str> = all.iter().map(|mutant| mutant.words.as_str()).collect();
    for expected in [
        "Faults.add: `+` became `-` at line 21",
        "Faults: overrides `inherited` of Parent and does nothing there",
        "Faults.CONSTANT: `11` became `12` as its constant value",
        "Faults.deprecated: the annotation @java.lang.Deprecated is gone",
        "Faults.filled: the call of `fill` is gone at line 95",
    ] {
        assert!(words.contains(expected), "{expected} in {words:#?}");
    }
}

#[test]
fn ids_are_unique_and_the_same_every_time() {
    let faults = Faults::compile();
    let ids = |mutants: Vec<Mutant>| -> Vec<String> {
        mutants.into_iter().map(|mutant| mutant.id).collect()
    };
    let first = ids(faults.mutants());
    assert_eq!(first, ids(faults.mutants()));
    let unique: BTreeSet<&String> = first.iter().collect();
    assert_eq!(unique.len(), first.len());
    assert!(
        first.contains(&"Faults#add(II)I@2:arithmetic:isub".to_owned()),
        "{first:#?}"
    );
}

/// How many mutants of each class are tried, at equal distances.
const ROUNDS: usize = 24;

/// Old and new class files, with and without frames.
const JARS: &[&str] = &[
    "commons-logging:commons-logging:1.0.4",
    "com.google.guava:failureaccess:1.0.2",
    "junit:junit:4.13.2",
];

#[test]
fn mutants_of_libraries_verify() {
    let project = TestProject::new();
    let jdk = Jdk::default();
    let mut judge = Compilation::new();
    for (name, text) in [
        ("Classes.java", include_str!("rewrite_java/Classes.java")),
        ("Pack.java", include_str!("rewrite_java/Pack.java")),
        ("Load.java", include_str!("rewrite_java/Load.java")),
    ] {
        judge = judge.source(name, text);
    }
    let judges = project.path("judges");
    Javac::new(&jdk).compile(&judge, &judges).unwrap();
    let packed = project.path("packed");
    JavaRun::new(&jdk, "Pack")
        .classpath([&judges])
        .args(std::iter::once(packed.clone()).chain(maven_jars(JARS).unwrap()))
        .succeed()
        .unwrap();
    let classes = read_classes(&packed);
    let mut files = vec![packed];
    let mut count = 0;
    let mut refused = Vec::new();
    let mut rounds = vec![Vec::new(); ROUNDS];
    for (name, bytes) in &classes {
        let class = ClassFile::read(bytes).unwrap();
        let all = mutants(&class, &overridable_methods(&class, &[]).unwrap()).unwrap();
        for (number, planted) in rounds.iter_mut().enumerate() {
            let Some(mutant) = all.get(number * all.len() / ROUNDS) else {
                continue;
            };
            match plant(&class, mutant) {
                Ok(bytes) => planted.push((name.clone(), bytes)),
                Err(error) => refused.push(format!("{}: {error}", mutant.id)),
            }
        }
    }
    for (number, planted) in rounds.iter().enumerate() {
        count += planted.len();
        let file = project.path(format!("round{number}"));
        write_classes(&file, planted);
        files.push(file);
    }
    assert!(count > 3_000, "{count} mutants");
    assert!(refused.len() * 500 < count, "{refused:#?}");
    let said = JavaRun::new(&jdk, "Load")
        .jvm_args(["-Xverify:all"])
        .classpath([&judges])
        .args(files)
        .succeed()
        .unwrap()
        .stdout;
    let bad: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("BAD "))
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let rounds = said
        .lines()
        .filter(|line| line.starts_with("DONE "))
        .count();
    assert_eq!(rounds, ROUNDS);
}

fn read_classes(path: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = fs::read(path).unwrap();
    let mut rest = bytes.as_slice();
    let mut block = || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (block, after) = after.split_at(u32::from_be_bytes(*length) as usize);
        rest = after;
        Some(block.to_vec())
    };
    let mut classes = Vec::new();
    while let (Some(name), Some(class)) = (block(), block()) {
        classes.push((String::from_utf8(name).unwrap(), class));
    }
    classes
}

fn write_classes(path: &Path, classes: &[(String, Vec<u8>)]) {
    let mut bytes = Vec::new();
    for (name, class) in classes {
        for block in [name.as_bytes(), class] {
            bytes.extend((block.len() as u32).to_be_bytes());
            bytes.extend(block);
        }
    }
    fs::write(path, bytes).unwrap();
}
