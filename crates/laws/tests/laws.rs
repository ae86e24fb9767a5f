//! The rules of selection on programs of fixed seeds.
//!
//! `cargo run --release -p fewest-laws` tries random ones for hours; see
//! `docs/evaluation/laws.md`.

use fewest_laws::batch::Batch;
use fewest_laws::session::try_seed;
use fewest_laws::version::Workshop;

fn every_rule_holds(seed: u64) {
    let outcome = try_seed(&Workshop::new(), seed, 16, 3);
    let findings: Vec<String> = outcome.findings.iter().map(ToString::to_string).collect();
    assert!(
        findings.is_empty(),
        "seed {seed}, {:?}:\n{}",
        outcome.tally,
        findings.join("\n")
    );
    // Edits that nobody notices would prove nothing.
    assert!(outcome.tally.affected > 0, "{:?}", outcome.tally);
}

#[test]
fn programs_that_nobody_wrote_keep_every_rule_in_a_jvm() {
    every_rule_holds(1);
}

#[test]
fn other_programs_keep_every_rule_in_a_jvm() {
    every_rule_holds(2);
}

#[test]
fn a_class_loader_of_its_own_stands_for_a_jvm_of_its_own() {
    let workshop = Workshop::new();
    let batch = Batch::of_seed(&workshop, 3, 2);
    for test in batch.tests() {
        let alone = batch.base.truth.alone.get(&test);
        assert_eq!(alone, Some(&workshop.fresh_jvm(&batch.base.version, &test)));
    }
}
