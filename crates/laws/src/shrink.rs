//! Makes a program and its edit small while a rule stays broken.
//!
//! All ways to leave one thing out are tried at once, each as a program of its
//! own in one batch, so a step costs no more than a batch does.

use crate::batch::Batch;
use crate::edit::{Edit, EditKind};
use crate::program::{Program, Statement};
use crate::rules::{Finding, Trial};
use crate::version::Workshop;

/// A program and an edit that break a rule.
#[derive(Clone, Debug)]
pub struct Culprit {
    pub before: Program,
    pub after: Program,
    pub kind: EditKind,
}

/// The smallest program found that breaks the rule of a finding, if it does so
/// alone. Only what an edit selects or misses can be made small.
pub fn shrink(workshop: &Workshop, culprit: &Culprit, finding: &Finding) -> Option<Culprit> {
    let mut smallest = still_broken(workshop, vec![culprit.clone()], finding).pop()?;
    loop {
        let candidates = smaller(&smallest);
        let Some(next) = still_broken(workshop, candidates, finding).pop() else {
            return Some(smallest);
        };
        smallest = next;
    }
}

/// Those of the candidates that break the rule too.
fn still_broken(workshop: &Workshop, candidates: Vec<Culprit>, finding: &Finding) -> Vec<Culprit> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let renamed: Vec<Culprit> = candidates
        .into_iter()
        .enumerate()
        .map(|(number, mut one)| {
            one.before.package = format!("p{number}");
            one.after.package = format!("p{number}");
            one
        })
        .collect();
    let programs = renamed.iter().map(|one| one.before.clone()).collect();
    let Some(batch) = Batch::of_those_that_compile(workshop, programs) else {
        return Vec::new();
    };
    let edit_of = |program: &Program| {
        let one = renamed.iter().find(|one| one.before == *program)?;
        Some(Edit {
            kind: one.kind,
            after: one.after.clone(),
        })
    };
    let edits = batch.programs.iter().map(edit_of).collect();
    let edited = batch
        .compile(vec![("shrunk".to_owned(), edits)], &[])
        .remove(0);
    let mut trial = Trial::begin(&batch);
    trial.edited(&edited);
    let broken: Vec<&str> = trial
        .findings
        .iter()
        .filter(|other| other.rule == finding.rule && other.technique == finding.technique)
        .filter_map(|other| other.test.split('.').next())
        .collect();
    let mut left: Vec<Culprit> = renamed
        .iter()
        .filter(|one| broken.contains(&one.before.package.as_str()))
        .cloned()
        .collect();
    // The one that leaves out the most comes last.
    left.sort_by_key(|one| std::cmp::Reverse(format!("{:?}", one.before).len()));
    left
}

/// The same with one thing less, in the program and after the edit.
fn smaller(culprit: &Culprit) -> Vec<Culprit> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Program)| {
        let mut one = culprit.clone();
        change(&mut one.before);
        change(&mut one.after);
        // Without a test there is nothing to select.
        let has_tests = !one.before.tests.is_empty();
        if has_tests && one.before != culprit.before && one.before != one.after {
            all.push(one);
        }
    };
    for test in &culprit.before.tests {
        add(&|program| program.tests.retain(|other| other.name != test.name));
    }
    for one in &culprit.before.types {
        add(&|program| program.types.retain(|other| other.id != one.id));
        for member in &one.members {
            add(&|program| {
                let mut types = program.types.iter_mut();
                if let Some(other) = types.find(|other| other.id == one.id) {
                    other.members.retain(|other| other != member);
                }
            });
        }
    }
    for statement in statements(&culprit.before) {
        add(&|program| {
            for body in program.bodies_mut() {
                body.retain(|other| *other != statement);
            }
        });
    }
    all
}

fn statements(program: &Program) -> Vec<Statement> {
    let mut program = program.clone();
    let bodies = program.bodies_mut().into_iter();
    bodies.flat_map(|body| body.clone()).collect()
}
