//! Which mutants are planted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fewest_classfile::mutate::{Mutant, Operator, mutants, overridable_methods};
use fewest_classfile::read::ClassFile;
use fewest_model::ClassName;
use fewest_order::Random;

use super::suite::Suite;
use crate::files::{self, FileError};

/// A mutant and the class file it is to be planted in.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub mutant: Mutant,
    pub path: PathBuf,
}

/// All mutants of classes that some test loads.
pub(super) fn candidates(suite: &Suite) -> Result<Vec<Candidate>, FileError> {
    let mut classes = BTreeMap::new();
    for folder in &suite.main_folders {
        for path in class_files(folder)? {
            let bytes = files::read(&path)?;
            // A class that cannot be read has no mutants.
            if let Ok(class) = ClassFile::read(&bytes) {
                classes.insert(class.name(), (path, bytes.clone()));
            }
        }
    }
    let loaded = |class: &ClassName| suite.tests.iter().any(|test| test.may_load(class));
    let mut found = Vec::new();
    for (name, (path, bytes)) in &classes {
        let Ok(class) = ClassFile::read(bytes) else {
            continue;
        };
        if !loaded(name) {
            continue;
        }
        let superclasses = superclasses(&class, &classes);
        let all = overridable_methods(&class, &superclasses)
            .and_then(|overridable| mutants(&class, &overridable));
        found.extend(all.into_iter().flatten().map(|mutant| Candidate {
            mutant,
            path: path.clone(),
        }));
    }
    Ok(found)
}

fn superclasses<'a>(
    class: &ClassFile<'_>,
    classes: &'a BTreeMap<ClassName, (PathBuf, Vec<u8>)>,
) -> Vec<ClassFile<'a>> {
    let mut found: Vec<ClassFile<'a>> = Vec::new();
    let mut next = class.super_name();
    while let Some((_, bytes)) = next.and_then(|name| classes.get(&name)) {
        let Ok(superclass) = ClassFile::read(bytes) else {
            break;
        };
        next = superclass.super_name();
        // A circle in made-up classes must not go on for ever.
        if found.len() > classes.len() {
            break;
        }
        found.push(superclass);
    }
    found
}

pub(super) fn class_files(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(files::to("list", folder))? {
        let path = entry.map_err(files::to("list", folder))?.path();
        if path.is_dir() {
            found.extend(class_files(&path)?);
        } else if path.extension().is_some_and(|end| end == "class") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// So many of the mutants, the same for the same seed.
pub(super) fn pick(all: Vec<Candidate>, count: usize, seed: u64) -> Vec<Candidate> {
    let key = |one: &Candidate| (one.mutant.class.clone(), one.mutant.operator);
    spread(all, key, count, seed)
}

/// One class after the other has its turn, and within a class one operator
/// after the other, so that neither long classes nor common operators crowd out
/// the rest.
fn spread<T>(
    all: Vec<T>,
    key: impl Fn(&T) -> (ClassName, Operator),
    count: usize,
    seed: u64,
) -> Vec<T> {
    let mut random = Random::new(seed);
    let mut by_class: BTreeMap<ClassName, BTreeMap<Operator, Vec<T>>> = BTreeMap::new();
    for one in all {
        let (class, operator) = key(&one);
        let operators = by_class.entry(class).or_default();
        operators.entry(operator).or_default().push(one);
    }
    let mut queues: Vec<Vec<T>> = by_class
        .into_values()
        .map(|operators| {
            in_turns(
                shuffled(operators.into_values().collect(), &mut random),
                &mut random,
            )
        })
        .collect();
    queues = shuffled(queues, &mut random);
    let mut picked = Vec::new();
    while picked.len() < count && !queues.is_empty() {
        queues.retain_mut(|queue| {
            if picked.len() < count {
                picked.extend(queue.pop());
            }
            !queue.is_empty()
        });
    }
    picked
}

/// One of each group after the other, the last first.
fn in_turns<T>(groups: Vec<Vec<T>>, random: &mut Random) -> Vec<T> {
    let mut groups: Vec<_> = groups
        .into_iter()
        .map(|group| shuffled(group, random))
        .collect();
    let mut turns = Vec::new();
    while !groups.is_empty() {
        groups.retain_mut(|group| {
            turns.extend(group.pop());
            !group.is_empty()
        });
    }
    turns.reverse();
    turns
}

fn shuffled<T>(mut values: Vec<T>, random: &mut Random) -> Vec<T> {
    for last in (1..values.len()).rev() {
        values.swap(last, random.below(last + 1));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    type Fault = (&'static str, Operator, usize);

    /// One long class with many faults of a common operator, and short ones.
    fn all() -> Vec<Fault> {
        let long = (0..50).map(|number| ("Long", Operator::Constant, number));
        let rare = (0..2).map(|number| ("Long", Operator::Return, number));
        let short = ["A", "B", "C"].map(|class| (class, Operator::Call, 0));
        long.chain(rare).chain(short).collect()
    }

    fn picked(count: usize, seed: u64) -> Vec<Fault> {
        spread(
            all(),
            |(class, operator, _)| ((*class).into(), *operator),
            count,
            seed,
        )
    }

    #[test]
    fn the_same_seed_gives_the_same_mutants_and_another_one_others() {
        assert_eq!(picked(8, 1), picked(8, 1));
        assert_ne!(picked(8, 1), picked(8, 2));
    }

    #[test]
    fn every_class_has_its_turn_before_a_long_one_has_its_second() {
        for seed in 0..20 {
            let picked = picked(4, seed);
            let classes: BTreeSet<&str> = picked.iter().map(|fault| fault.0).collect();
            assert_eq!(classes.len(), 4, "{picked:?}");
        }
    }

    #[test]
    fn a_rare_operator_has_its_turns_beside_a_common_one() {
        for seed in 0..20 {
            // The short classes have one each, so four are of the long one.
            let picked = picked(7, seed);
            let rare = picked.iter().filter(|fault| fault.1 == Operator::Return);
            assert_eq!(rare.count(), 2, "{picked:?}");
        }
    }

    #[test]
    fn no_more_are_picked_than_there_are_and_none_twice() {
        let picked = picked(1000, 3);
        let different: BTreeSet<&Fault> = picked.iter().collect();
        assert_eq!((picked.len(), different.len()), (55, 55));
    }
}
