//! What planted faults say of each technique.

use std::collections::BTreeMap;

use serde::Serialize;

use super::mean;
use crate::mutants::{Line, SuiteTest};

/// What one technique comes to over all planted faults.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultRow {
    pub technique: String,
    pub planted: usize,
    /// How many of them some test finds.
    pub found: usize,
    /// Test classes that it would have run, of all: the mean over those.
    pub selected_mean: Option<f64>,
    pub missed: Vec<MissedFault>,
}

/// A test that finds a fault and would have been left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissedFault {
    pub revision: Option<String>,
    pub test: String,
    /// What was planted, in words.
    pub fault: String,
}

/// A row for each technique, by name.
pub fn faults(lines: &[Line]) -> Vec<FaultRow> {
    let mut rows: BTreeMap<&str, (FaultRow, Vec<f64>)> = BTreeMap::new();
    let mut suite: (Option<&String>, &[SuiteTest]) = (None, &[]);
    for line in lines {
        let mutant = match line {
            Line::Suite {
                revision, tests, ..
            } => {
                suite = (revision.as_ref(), tests);
                continue;
            }
            Line::Mutant(mutant) if mutant.not_planted.is_none() => mutant,
            Line::Mutant(_) => continue,
        };
        let (revision, tests) = suite;
        for (technique, selected) in &mutant.selected {
            let (row, shares) = rows.entry(technique).or_default();
            row.planted += 1;
            if mutant.killers.is_empty() {
                continue;
            }
            row.found += 1;
            shares.push(selected.len() as f64 / tests.len() as f64);
            let missed = mutant.missed.get(technique).into_iter().flatten();
            row.missed.extend(missed.map(|&test| {
                MissedFault {
                    revision: revision.cloned(),
                    test: tests
                        .get(test)
                        .map_or_else(|| format!("test {test}"), |test| test.test.clone()),
                    fault: mutant.words.clone(),
                }
            }));
        }
    }
    let rows = rows.into_iter().map(|(technique, (row, shares))| FaultRow {
        technique: technique.to_owned(),
        selected_mean: mean(&shares),
        ..row
    });
    rows.collect()
}

#[cfg(test)]
pub(super) mod examples {
    use serde_json::json;

    use super::*;

    /// Two tests and three faults, one of which `hybrid` misses and one of which
    /// nobody finds.
    pub(in crate::tables) fn planted() -> Vec<Line> {
        let test = |name: &str| json!({"test": name, "module": "", "millis": 1});
        let suite = json!({
            "kind": "suite", "format": 1, "revision": "3b78b1a95ffbf9c8", "seed": 1, "check": "full",
            "techniques": ["file", "hybrid"], "setAside": [], "candidates": 9,
            "tests": [test("com.acme.MoneyTest"), test("com.acme.CartTest")],
        });
        let mutant = |words: &str, killers: &[usize], hybrid: &[usize], missed: &[usize]| {
            json!({
                "kind": "mutant", "id": words, "operator": "arithmetic", "class": "com.acme.Money",
                "method": "plus(I)I", "line": 42, "words": words, "ran": [],
                "killers": killers, "inCompanyOnly": [],
                "selected": {"file": [0, 1], "hybrid": hybrid},
                "missed": {"file": [], "hybrid": missed}, "notPlanted": null,
            })
        };
        let lines = [
            suite,
            mutant(
                "com.acme.Money.plus: `+` became `-` at line 42",
                &[0],
                &[0],
                &[],
            ),
            mutant(
                "com.acme.Money.times: `*` became `/` at line 50",
                &[0, 1],
                &[0],
                &[1],
            ),
            mutant(
                "com.acme.Money.show: `1` became `2` at line 60",
                &[],
                &[1],
                &[],
            ),
        ];
        let parse = |line| serde_json::from_value(line).unwrap();
        lines.into_iter().map(parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_has_the_name_of_the_test_and_the_fault() {
        let rows = faults(&examples::planted());
        let [file, hybrid] = rows.as_slice() else {
            panic!("{rows:?}")
        };
        for row in &rows {
            assert_eq!((row.planted, row.found), (3, 2));
        }
        assert_eq!(
            (file.selected_mean, hybrid.selected_mean),
            (Some(1.0), Some(0.5))
        );
        assert!(file.missed.is_empty());
        let missed = MissedFault {
            revision: Some("3b78b1a95ffbf9c8".into()),
            test: "com.acme.CartTest".into(),
            fault: "com.acme.Money.times: `*` became `/` at line 50".into(),
        };
        assert_eq!(hybrid.missed, [missed]);
    }
}
