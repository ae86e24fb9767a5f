//! Tries the laws of selection on random programs until told to stop.
//!
//! `cargo run --release -p fewest-laws -- [MINUTES [SEED]]`: for so many minutes
//! (60 unless said) from a seed on (random unless said). Ends with code 1 when a
//! rule did not hold, after printing the seed and the smallest program found.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fewest_laws::rules::Finding;
use fewest_laws::session::try_seed;
use fewest_laws::shrink::{Culprit, shrink};
use fewest_laws::version::Workshop;

const PROGRAMS: usize = 40;
const ROUNDS: u64 = 4;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (minutes, seed) = match (numbers.next(), numbers.next()) {
        (None, _) => (60, fastrand::u64(..1 << 32)),
        (Some(Ok(minutes)), None) => (minutes, fastrand::u64(..1 << 32)),
        (Some(Ok(minutes)), Some(Ok(seed))) => (minutes, seed),
        _ => {
            eprintln!("usage: fewest-laws [MINUTES [SEED]]");
            return ExitCode::from(2);
        }
    };
    let end = Instant::now() + Duration::from_secs(minutes * 60);
    let workshop = Workshop::new();
    let mut broken = false;
    for seed in seed.. {
        let outcome = try_seed(&workshop, seed, PROGRAMS, ROUNDS);
        println!(
            "seed {seed}: {:?}, {} refused by the compiler, {} findings",
            outcome.tally,
            outcome.refused,
            outcome.findings.len()
        );
        broken |= !outcome.findings.is_empty();
        // One of each kind is enough to read.
        let mut kinds: BTreeMap<String, &Finding> = BTreeMap::new();
        for finding in &outcome.findings {
            println!("  {finding}");
            let kind = format!("{} {:?}", finding.rule, finding.technique);
            kinds.entry(kind).or_insert(finding);
        }
        for finding in kinds.values() {
            report(&workshop, finding);
        }
        if Instant::now() >= end {
            break;
        }
    }
    ExitCode::from(u8::from(broken))
}

/// Prints the smallest program that breaks the rule.
fn report(workshop: &Workshop, finding: &Finding) {
    let Some(culprit) = &finding.culprit else {
        return;
    };
    println!("\n=== {finding}");
    match shrink(workshop, culprit, finding) {
        Some(small) => print(&small),
        None => println!("(not by itself: it takes the other programs of the seed)"),
    }
}

fn print(culprit: &Culprit) {
    let (before, after) = (culprit.before.files(), culprit.after.files());
    for (name, text) in &before {
        println!("--- {name}\n{text}");
    }
    println!("+++ after the edit ({:?})", culprit.kind);
    for (name, text) in &after {
        if before.get(name) != Some(text) {
            println!("--- {name}\n{text}");
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        println!("--- {name} is gone");
    }
}
