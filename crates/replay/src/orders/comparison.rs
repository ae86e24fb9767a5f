//! The measures of all approaches over all faults.

use fewest_order::metrics::Run;
use fewest_order::statistics::{effect_size, median, signed_rank};
use serde::Serialize;

use super::{APPROACHES, Approach, BUDGETS, Fault, PAIRS, SEEDS};

/// What came out of a set of faults.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub faults: usize,
    pub approaches: Vec<Summary>,
    pub pairs: Vec<Versus>,
}

/// One approach over all faults.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub approach: &'static str,
    /// The share of the suite that runs, the mean over the faults.
    pub runs: f64,
    /// Time to first failure as a share of the suite's tests.
    pub ttff: Spread,
    /// The same as a share of the suite's run time.
    pub ttff_time: Spread,
    pub apfd: Spread,
    /// The share of faults that each budget finds.
    pub budgets: Vec<Found>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    pub median: f64,
    pub mean: f64,
    pub deviation: f64,
}

/// What is found within a budget.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Found {
    /// In hundredths of what `file` selects.
    pub percent: usize,
    /// The mean share of the seeds that find a fault.
    pub mean: f64,
    /// The share of faults that every seed finds.
    pub always: f64,
}

/// Whether one approach finds faults earlier than another.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Versus {
    pub first: &'static str,
    pub second: &'static str,
    /// How likely the first is the earlier one: Vargha and Delaney's Â₁₂ of
    /// the times to first failure.
    pub effect_size: f64,
    /// Wilcoxon's signed-rank test on the faults.
    pub probability: f64,
}

/// What one approach does with one fault, the mean over the seeds.
struct Observation {
    runs: f64,
    ttff: f64,
    ttff_time: f64,
    apfd: f64,
    /// For each budget, the share of seeds that find the fault.
    found: [f64; BUDGETS.len()],
}

/// Orders every fault's suite by every approach. `None` without faults.
pub fn compare(faults: &[Fault]) -> Option<Comparison> {
    if faults.is_empty() {
        return None;
    }
    let observed: Vec<(Approach, Vec<Observation>)> = APPROACHES
        .into_iter()
        .filter(|approach| can_run(*approach, faults))
        .map(|approach| {
            let observe = |fault| observe(fault, approach);
            (approach, faults.iter().map(observe).collect())
        })
        .collect();
    let of = |name: &str| {
        let (_, found) = observed
            .iter()
            .find(|(approach, _)| approach.name == name)?;
        Some(found.iter().map(|one| one.ttff).collect::<Vec<f64>>())
    };
    let pairs = PAIRS.iter().filter_map(|&(first, second)| {
        let (one, other) = (of(first)?, of(second)?);
        let pairs: Vec<(f64, f64)> = one.iter().copied().zip(other.iter().copied()).collect();
        Some(Versus {
            first,
            second,
            // The lower time is the better one.
            effect_size: effect_size(&other, &one)?,
            probability: signed_rank(&pairs).probability,
        })
    });
    Some(Comparison {
        faults: faults.len(),
        pairs: pairs.collect(),
        approaches: observed.iter().map(summary).collect(),
    })
}

/// Results may lack a technique.
fn can_run(approach: Approach, faults: &[Fault]) -> bool {
    approach.technique.is_none_or(|technique| {
        faults
            .iter()
            .all(|fault| fault.selected.contains_key(technique))
    })
}

fn observe(fault: &Fault, approach: Approach) -> Observation {
    let file = fault.selected.get("file");
    let selected_by_file = file.map_or(fault.durations.len(), Vec::len);
    let mut sum = Observation {
        runs: 0.0,
        ttff: 0.0,
        ttff_time: 0.0,
        apfd: 0.0,
        found: [0.0; BUDGETS.len()],
    };
    for seed in 0..SEEDS {
        let order = fault.order(approach, seed);
        let run = Run {
            order: &order,
            durations: &fault.durations,
        };
        sum.runs += order.len() as f64 / fault.durations.len() as f64;
        sum.apfd += run.apfd(&[&fault.killers]).unwrap_or(0.0);
        let first = run.first_failure(|test| fault.killers.contains(&test));
        // Who never finds it has waited for the whole suite.
        sum.ttff += first.map_or(1.0, |first| first.position_share);
        sum.ttff_time += first.map_or(1.0, |first| first.time_share);
        for (found, percent) in sum.found.iter_mut().zip(BUDGETS) {
            let budget = (selected_by_file * percent).div_ceil(100);
            let is_found = first.is_some_and(|first| first.position <= budget);
            *found += f64::from(u8::from(is_found));
        }
    }
    let mean = |sum: f64| sum / SEEDS as f64;
    Observation {
        runs: mean(sum.runs),
        ttff: mean(sum.ttff),
        ttff_time: mean(sum.ttff_time),
        apfd: mean(sum.apfd),
        found: sum.found.map(mean),
    }
}

fn summary((approach, observed): &(Approach, Vec<Observation>)) -> Summary {
    let all = |value: fn(&Observation) -> f64| observed.iter().map(value).collect::<Vec<f64>>();
    let budgets = BUDGETS.into_iter().enumerate().map(|(place, percent)| {
        let found: Vec<f64> = observed.iter().map(|one| one.found[place]).collect();
        let always = found.iter().filter(|share| **share >= 1.0).count();
        Found {
            percent,
            mean: mean(&found),
            always: always as f64 / found.len() as f64,
        }
    });
    Summary {
        approach: approach.name,
        runs: mean(&all(|one| one.runs)),
        ttff: spread(&all(|one| one.ttff)),
        ttff_time: spread(&all(|one| one.ttff_time)),
        apfd: spread(&all(|one| one.apfd)),
        budgets: budgets.collect(),
    }
}

fn spread(values: &[f64]) -> Spread {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Spread {
        median: median(values).unwrap_or(f64::NAN),
        mean,
        deviation: (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt(),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
