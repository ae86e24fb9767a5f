//! What is known about a test when it is put in order.

use std::time::Duration;

use fewest_model::Outcome;
use serde::{Deserialize, Serialize};

use crate::Signature;

/// A test that waits for its place in the order.
///
/// Which test it is, only its position in the caller's list says.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// How long it took last time, if it ever ran.
    pub duration: Option<Duration>,
    pub history: History,
    /// What it uses, if it has a record. A test without one that never ran is
    /// new, and counts as one that uses nothing but changed code.
    pub uses: Option<Uses<'a>>,
    /// The signature of its code, [`Signature::EMPTY`] if that is unknown.
    pub signature: Signature,
}

impl Default for Candidate<'_> {
    fn default() -> Self {
        Self {
            duration: None,
            history: History::default(),
            uses: None,
            signature: Signature::EMPTY,
        }
    }
}

/// What a test uses, and what of it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses<'a> {
    /// Numbers of the changed elements, each at most once. Two tests that use
    /// the same element give it the same number.
    pub changed: &'a [u32],
    /// Whether the test is named after a class that some of them are part of;
    /// see [`is_named_after`].
    pub is_named_after: bool,
    /// How many elements the test uses, the changed ones included.
    pub total: usize,
}

/// Whether a test is the one of a class by its name, as people name them:
/// `MoneyTest`, `TestMoney`, `MoneyIT` for `Money`. A test class that has changed
/// itself is its own. Both names are simple ones of outermost classes.
pub fn is_named_after(test: &str, class: &str) -> bool {
    const ENDS: [&str; 7] = ["", "Test", "Tests", "TestCase", "IT", "ITCase", "Spec"];
    let rest = test.strip_prefix(class);
    rest.is_some_and(|rest| ENDS.contains(&rest)) || test.strip_prefix("Test") == Some(class)
}

impl Uses<'_> {
    /// How much of what the test uses has changed, from 0 to 1.
    pub fn changed_share(&self) -> f64 {
        self.changed.len() as f64 / self.elements()
    }

    /// How many elements the test uses, at least those it names.
    pub(crate) fn elements(&self) -> f64 {
        self.total.max(self.changed.len()).max(1) as f64
    }
}

/// How a test has ended so far, in little room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Runs that passed or failed.
    pub runs: u32,
    /// Runs that failed.
    pub failures: u32,
    /// How many runs have passed since the last failure, 0 if the last run
    /// failed.
    pub passes_since_failure: Option<u32>,
    /// Failures weighted by recency: half of it is the last run, a quarter the
    /// one before, and so on.
    pub recency: f64,
}

impl History {
    /// Sums up outcomes, the oldest first.
    pub fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut history = Self::default();
        outcomes
            .into_iter()
            .for_each(|outcome| history.push(outcome));
        history
    }

    /// Adds the newest outcome.
    ///
    /// A skipped test says nothing about the code, and a flaky one more about
    /// itself than about the code, so neither counts.
    pub fn push(&mut self, outcome: Outcome) {
        let failed = match outcome {
            Outcome::Passed => false,
            Outcome::Failed | Outcome::Unfinished => true,
            Outcome::Skipped | Outcome::Flaky => return,
        };
        self.runs += 1;
        self.failures += u32::from(failed);
        self.passes_since_failure = match self.passes_since_failure {
            _ if failed => Some(0),
            passes => passes.map(|passes| passes + 1),
        };
        self.recency = f64::midpoint(self.recency, f64::from(u8::from(failed)));
    }

    /// The share of runs that failed, 0 before the first run.
    pub fn failure_rate(&self) -> f64 {
        f64::from(self.failures) / f64::from(self.runs.max(1))
    }
}

/// No test takes longer. A greater duration is a fault of the clock or of the
/// file that it was read from, and would overflow the sum of a suite.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Fills in what is unknown: the median of what is known, or a second if
/// nothing is.
pub fn assume_durations(known: impl IntoIterator<Item = Option<Duration>>) -> Vec<Duration> {
    let known: Vec<Option<Duration>> = known
        .into_iter()
        .map(|duration| duration.map(|duration| duration.min(LONGEST)))
        .collect();
    let typical = median(known.iter().flatten().copied().collect());
    let assumed = typical.unwrap_or(Duration::from_secs(1));
    known
        .into_iter()
        .map(|duration| duration.unwrap_or(assumed))
        .collect()
}

/// The median, for an even number the mean of the two in the middle.
pub(crate) fn median(mut durations: Vec<Duration>) -> Option<Duration> {
    durations.sort_unstable();
    let upper = *durations.get(durations.len() / 2)?;
    let lower = durations[(durations.len() - 1) / 2];
    Some((lower + upper) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Failed, Flaky, Passed, Skipped, Unfinished};

    #[test]
    fn tests_are_named_after_classes_in_a_few_ways() {
        for test in ["MoneyTest", "TestMoney", "MoneyIT", "MoneySpec", "Money"] {
            assert!(is_named_after(test, "Money"), "{test}");
        }
        for test in ["MoneyBagTest", "TestMoneyBag", "Test", "BagOfMoney"] {
            assert!(!is_named_after(test, "Money"), "{test}");
        }
    }

    #[test]
    fn history_keeps_rate_and_recency() {
        let history = History::of([Failed, Passed, Unfinished, Passed]);
        assert_eq!(
            history,
            History {
                runs: 4,
                failures: 2,
                passes_since_failure: Some(1),
                recency: 0.25 + 0.0625,
            }
        );
        assert!((history.failure_rate() - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn skipped_and_flaky_runs_are_no_history() {
        assert_eq!(History::of([Skipped, Flaky]), History::default());
        assert_eq!(
            History::of([Failed, Skipped, Flaky]).passes_since_failure,
            Some(0)
        );
        assert_eq!(History::of([Passed]).passes_since_failure, None);
    }

    #[test]
    fn unknown_durations_are_typical() {
        let ms = |n| Duration::from_millis(n);
        assert_eq!(
            assume_durations([
                Some(ms(10)),
                None,
                Some(ms(30)),
                Some(ms(500)),
                Some(ms(20))
            ]),
            [10, 25, 30, 500, 20].map(ms)
        );
        assert_eq!(assume_durations([None, None]), [ms(1000), ms(1000)]);
    }

    #[test]
    fn impossible_durations_do_not_overflow() {
        let total: Duration = assume_durations([Some(Duration::MAX); 3]).iter().sum();
        assert_eq!(total, 3 * LONGEST);
    }
}
