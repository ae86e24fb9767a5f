//! One batch through all rules.

use crate::batch::{Batch, Compiled};
use crate::edit::{Edit, EditKind, edit};
use crate::rules::{Finding, Tally, Trial, heads_of};
use crate::version::Workshop;

/// What a seed came to.
#[derive(Debug)]
pub struct Outcome {
    pub seed: u64,
    pub tally: Tally,
    pub refused: usize,
    pub findings: Vec<Finding>,
}

const BODIES: [EditKind; 4] = [
    EditKind::Number,
    EditKind::InsertStatement,
    EditKind::DeleteStatement,
    EditKind::ReplaceStatement,
];

/// Tries `size` programs with `rounds` edits each on every rule.
pub fn try_seed(workshop: &Workshop, seed: u64, size: usize, rounds: u64) -> Outcome {
    let batch = Batch::of_seed(workshop, seed, size);
    let named = |name: &str, edits| (name.to_owned(), edits);
    let mut versions: Vec<_> = (0..rounds)
        .map(|round| {
            (
                format!("edited-{round}"),
                batch.edits(seed ^ (round + 1) << 32),
            )
        })
        .collect();
    versions.push(named("bodies", batch.edits_of(seed ^ 7 << 48, &BODIES)));
    let mut compiled = batch.compile(versions, &[]);
    let bodies = compiled.pop().expect("the last one");
    let mut later = batch.compile(
        vec![
            named("heads", heads_of(&batch, &bodies)),
            named("second", once_more(&compiled[0], seed)),
        ],
        &[],
    );
    let second = later.pop().expect("two were asked for");
    let heads = later.pop().expect("two were asked for");
    let neutral = batch.edits_of(seed, &[EditKind::Neutral]);
    // Without debug information javac makes one method of two lambdas that say
    // the same, and gives the others new names.
    let options = ["-g:none", "-XDdeduplicateLambdas=false"];
    let neutral = batch.compile(vec![named("neutral", neutral)], &options);

    let mut trial = Trial::begin(&batch);
    trial.projection();
    for version in compiled.iter().chain(&neutral).chain([&bodies]) {
        trial.edited(version);
    }
    trial.coarsening(&bodies, &heads);
    trial.order(&compiled[0]);
    trial.steps(&compiled[0], &second);
    trial.interruption(&compiled[0]);
    Outcome {
        seed,
        tally: trial.tally,
        refused: compiled.iter().map(|one| one.refused).sum::<usize>() + batch.refused,
        findings: trial.findings,
    }
}

/// Another edit of what is edited.
fn once_more(first: &Compiled, seed: u64) -> Vec<Option<Edit>> {
    let mut rng = fastrand::Rng::with_seed(!seed);
    let again = |one: &Option<Edit>| one.as_ref().map(|one| edit(&one.after, &mut rng));
    first.edits.iter().map(again).collect()
}
