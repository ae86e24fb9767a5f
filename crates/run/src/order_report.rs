//! In which order the tests of a run went, and how early it showed what is
//! broken.

use std::time::Duration;

use fewest_model::Outcome;
use fewest_order::metrics::Run;
use serde::Serialize;

use crate::merge::TestReport;
use crate::order_settings::OrderSettings;

/// The order of a run and its worth. Figures are shares of all tests, those
/// that did not run included, so that runs can be compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderReport {
    pub by: String,
    pub seed: u64,
    pub budget: Option<String>,
    pub shard: Option<String>,
    /// Whether the tests ran in the order that was wanted. `None` where none
    /// was, or where nobody saw.
    pub followed: Option<bool>,
    /// Absent where nothing failed, or where nobody saw the order.
    pub first_failure: Option<FirstFailure>,
    /// Average percentage of faults detected, as a share, each failed test
    /// taken for a fault of its own.
    pub apfd: Option<f64>,
    /// The same by run time.
    pub apfd_by_cost: Option<f64>,
}

/// When the first failure showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstFailure {
    pub test: String,
    /// Counted from one.
    pub place: usize,
    /// Of so many tests that ran.
    pub of: usize,
    /// The place as a share of all tests.
    pub place_share: f64,
    /// From the beginning of the first test to the end of this one.
    pub millis: u64,
    /// The run time until then as a share of all tests' run time.
    pub time_share: f64,
}

impl OrderReport {
    /// Numbers the tests by their places, and judges the order.
    pub(crate) fn of(
        settings: &OrderSettings,
        followed: Option<bool>,
        tests: &mut [TestReport],
    ) -> Self {
        let mut report = Self {
            by: settings.by.to_string(),
            seed: settings.seed,
            budget: settings.budget.map(|budget| budget.to_string()),
            shard: settings.shard.map(|shard| shard.to_string()),
            followed,
            ..Self::default()
        };
        let mut order: Vec<usize> = (0..tests.len())
            .filter(|&test| tests[test].ended_at.is_some())
            .collect();
        // Of those that ended within the same millisecond the plan knows better.
        order.sort_by_key(|&test| (tests[test].ended_at, tests[test].planned_place));
        for (place, &test) in order.iter().enumerate() {
            tests[test].place = Some(place + 1);
        }
        report.judge(tests, &order);
        report
    }

    fn judge(&mut self, tests: &[TestReport], order: &[usize]) {
        let durations: Vec<Duration> = tests
            .iter()
            .map(|test| Duration::from_millis(test.millis.unwrap_or_default()))
            .collect();
        let run = Run {
            order,
            durations: &durations,
        };
        let failed = |test: usize| {
            matches!(
                tests[test].outcome,
                Some(Outcome::Failed | Outcome::Unfinished)
            )
        };
        let Some(first) = run.first_failure(failed) else {
            return;
        };
        let test = &tests[order[first.position - 1]];
        let begun = order
            .iter()
            .filter_map(|&test| begun_at(&tests[test]))
            .min();
        self.first_failure = Some(FirstFailure {
            test: test.test.clone(),
            place: first.position,
            of: order.len(),
            place_share: first.position_share,
            millis: test
                .ended_at
                .zip(begun)
                .map_or(0, |(end, begin)| end.saturating_sub(begin)),
            time_share: first.time_share,
        });
        let faults: Vec<[usize; 1]> = order
            .iter()
            .filter(|&&test| failed(test))
            .map(|&test| [test])
            .collect();
        self.apfd = run.apfd(&faults);
        self.apfd_by_cost = run.apfd_by_cost(&faults);
    }
}

fn begun_at(test: &TestReport) -> Option<u64> {
    Some(
        test.ended_at?
            .saturating_sub(test.millis.unwrap_or_default()),
    )
}
