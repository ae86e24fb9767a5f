//! A test as a report tells of it.

use fewest_model::Outcome;
use serde::Serialize;

use crate::plan::{LeftOut, Parts};

/// A test in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    pub test: String,
    pub module: String,
    /// "run", "skip", or "left-out" for one that should have run.
    pub verdict: &'static str,
    /// Why it did not run though it should.
    pub left_out: Option<LeftOut>,
    /// Its place in the order of the run, counted from one, where that was
    /// seen.
    pub place: Option<usize>,
    /// When it had ended, in milliseconds since 1970.
    #[serde(skip)]
    pub ended_at: Option<u64>,
    /// The place that it was to have in its task.
    #[serde(skip)]
    pub planned_place: Option<usize>,
    pub reasons: Vec<String>,
    /// Whether records proved that it need not run. It may have run all the
    /// same: in a shadow run, or because the user named it.
    pub proven: bool,
    /// `None` where it did not run.
    pub outcome: Option<Outcome>,
    pub millis: Option<u64>,
    /// Why its run made no record.
    pub doubts: Vec<String>,
    pub recorded: bool,
    /// Why the methods of this class are not told apart, though the user wants
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// Which methods of this class ran, where it ran as one and some of them
    /// were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<Parts>,
    /// How long those took when they last ran that were left out.
    #[serde(skip)]
    pub saved_millis: u64,
}

impl TestReport {
    /// A run that shows a method to be broken that records proved says so of
    /// its class.
    pub(super) fn alarm_for(&mut self, methods: &[Self]) {
        let is_broken = |outcome: Option<Outcome>| {
            matches!(outcome, Some(Outcome::Failed | Outcome::Unfinished))
        };
        let mut methods = methods.iter();
        self.proven |= methods.any(|method| method.proven && is_broken(method.outcome));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_proven_wrongly_if_a_proven_method_of_it_is_broken() {
        let alarmed = |proven, outcome| {
            let method = TestReport {
                proven,
                outcome: Some(outcome),
                ..TestReport::default()
            };
            let mut class = TestReport::default();
            class.alarm_for(&[TestReport::default(), method]);
            class.proven
        };
        assert!(alarmed(true, Outcome::Failed));
        assert!(!alarmed(false, Outcome::Failed));
        // It may give up where it did not before, and that breaks nothing.
        assert!(!alarmed(true, Outcome::Skipped));
    }
}
