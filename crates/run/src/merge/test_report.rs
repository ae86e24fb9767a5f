//! A test as a report tells of it.

use fewest_model::Outcome;
use serde::Serialize;

use crate::plan::LeftOut;

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
}
