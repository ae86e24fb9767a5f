//! What orders need to know of a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fewest_model::{ClassName, Outcome};
use fewest_order::{Candidate, History, Signature, Uses, is_named_after, select_then_order};

use super::Approach;
use crate::mutants::{Line, MutantLine, UsesOfTest};

/// A suite with a fault that some of its tests find.
#[derive(Clone, Debug)]
pub struct Fault {
    pub durations: Vec<Duration>,
    pub signatures: Vec<Signature>,
    pub killers: Vec<usize>,
    pub selected: BTreeMap<String, Vec<usize>>,
    uses: BTreeMap<String, Vec<UsesOfTest>>,
    /// The tests that are named after the class with the fault.
    named: BTreeSet<usize>,
}

/// A suite's tests in columns.
#[derive(Default)]
struct Suite {
    names: Vec<ClassName>,
    durations: Vec<Duration>,
    signatures: Vec<Signature>,
}

/// The faults that some test finds, each with the suite that stands above it.
pub fn faults(lines: &[Line]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut suite = Suite::default();
    for line in lines {
        match line {
            Line::Suite { tests, .. } => {
                suite = Suite::default();
                for test in tests {
                    suite.names.push(ClassName::from_dotted(&test.test));
                    suite.durations.push(Duration::from_millis(test.millis));
                    suite
                        .signatures
                        .push(test.signature.unwrap_or(Signature::EMPTY));
                }
            }
            Line::Mutant(mutant) if !mutant.killers.is_empty() => {
                faults.push(fault(&suite, mutant));
            }
            Line::Mutant(_) => {}
        }
    }
    faults
}

fn fault(suite: &Suite, mutant: &MutantLine) -> Fault {
    let class = ClassName::from_dotted(&mutant.class).outermost();
    let named = suite.names.iter().enumerate();
    let named = named.filter(|(_, test)| is_named_after(test.simple(), class.simple()));
    Fault {
        named: named.map(|(number, _)| number).collect(),
        durations: suite.durations.clone(),
        signatures: suite.signatures.clone(),
        killers: mutant.killers.clone(),
        selected: mutant.selected.clone(),
        uses: mutant.uses.clone(),
    }
}

impl Fault {
    /// The tests that an approach runs, the first one first.
    pub fn order(&self, approach: Approach, seed: u64) -> Vec<usize> {
        let mut candidates: Vec<Candidate<'_>> = self
            .durations
            .iter()
            .zip(&self.signatures)
            .map(|(duration, signature)| Candidate {
                duration: Some(*duration),
                signature: *signature,
                // Each was seen to pass before the fault was there.
                history: History::of([Outcome::Passed]),
                ..Candidate::default()
            })
            .collect();
        let Some(technique) = approach.technique else {
            return approach.algorithm.order(&candidates, seed);
        };
        for uses in self.uses.get(technique).into_iter().flatten() {
            if let Some(candidate) = candidates.get_mut(uses.test) {
                candidate.uses = Some(Uses {
                    changed: &uses.changed,
                    is_named_after: self.named.contains(&uses.test),
                    total: uses.total,
                });
            }
        }
        let selected = self.selected.get(technique);
        select_then_order(
            &candidates,
            |test| selected.is_none_or(|selected| selected.contains(&test)),
            |candidates| approach.algorithm.order(candidates, seed),
        )
    }
}

#[cfg(test)]
mod tests {
    use fewest_order::Algorithm;
    use serde_json::json;

    use super::*;
    use crate::orders::compare;

    /// A suite of four tests, and a fault that the third finds; `file` selects
    /// the last two, `hybrid` the third.
    fn lines() -> Vec<Line> {
        let test = |name: &str, millis: u64| json!({"test": name, "module": "", "millis": millis});
        let suite = json!({
            "kind": "suite", "format": 1, "revision": null, "seed": 1, "check": "loaded",
            "techniques": ["file", "hybrid"], "setAside": [], "candidates": 9,
            "tests": [test("A", 10), test("B", 10), test("C", 60), test("D", 30)],
        });
        let mutant = |killers: &[usize]| {
            json!({
                "kind": "mutant", "id": "x", "operator": "call", "class": "p.X", "method": null,
                "line": null, "words": "x", "ran": [], "killers": killers, "inCompanyOnly": [],
                "selected": {"file": [2, 3], "hybrid": [2]},
                "uses": {"file": [], "hybrid": [{"test": 2, "total": 5, "changed": [0]}]},
                "missed": {}, "notPlanted": null,
            })
        };
        [suite, mutant(&[2]), mutant(&[])]
            .into_iter()
            .map(|line| serde_json::from_value(line).unwrap())
            .collect()
    }

    fn approach(technique: Option<&'static str>) -> Approach {
        Approach {
            name: "",
            technique,
            algorithm: Algorithm::Random,
        }
    }

    #[test]
    fn what_no_test_finds_is_no_fault() {
        assert_eq!(faults(&lines()).len(), 1);
    }

    #[test]
    fn an_order_has_what_its_technique_selects() {
        let fault = &faults(&lines())[0];
        assert_eq!(fault.order(approach(Some("hybrid")), 1), [2]);
        let mut file = fault.order(approach(Some("file")), 1);
        file.sort_unstable();
        assert_eq!(file, [2, 3]);
        assert_eq!(fault.order(approach(None), 1).len(), 4);
    }

    #[test]
    fn figures_are_shares_of_the_whole_suite() {
        let comparison = compare(&faults(&lines())).unwrap();
        let smart = comparison.approaches.last().unwrap();
        assert_eq!(smart.approach, "hybrid, smart");
        let figures = [
            smart.runs,
            smart.ttff.median,
            smart.ttff_time.median,
            smart.apfd.median,
            // A tenth of two tests is one test.
            smart.budgets[0].always,
        ];
        let figures = figures.map(|figure| format!("{figure:.3}"));
        assert_eq!(figures, ["0.250", "0.250", "0.545", "0.875", "1.000"]);
        let random = &comparison.approaches[0];
        assert!((0.25..=1.0).contains(&random.ttff.mean));
        assert!(random.budgets[0].mean < 1.0);
    }

    #[test]
    fn approaches_whose_technique_was_not_tried_are_left_out() {
        let mut faults = faults(&lines());
        faults[0].selected.remove("hybrid");
        let comparison = compare(&faults).unwrap();
        assert_eq!(comparison.approaches.len(), 5);
        assert!(compare(&[]).is_none());
    }
}
