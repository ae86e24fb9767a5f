//! What was measured, one line of JSON per revision.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::tools::Tool;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Line {
    Revision(Box<Revision>),
    Skipped(Skipped),
}

impl Line {
    pub(crate) fn revision(&self) -> &str {
        match self {
            Self::Revision(revision) => &revision.revision,
            Self::Skipped(skipped) => &skipped.revision,
        }
    }
}

/// A revision that could not be compiled, or whose suite could not run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Skipped {
    pub(crate) revision: String,
    pub(crate) subject: String,
    pub(crate) why: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_field_names,
    reason = "lines have the names that those of `fewest replay` have"
)]
pub(crate) struct Revision {
    pub(crate) revision: String,
    pub(crate) subject: String,
    /// Whether it is the first one, of which no tool knows anything.
    pub(crate) first: bool,
    /// All test classes.
    pub(crate) tests: Vec<String>,
    /// Those that failed in Maven's own run.
    pub(crate) failed: Vec<String>,
    /// Those that failed in some of Maven's own runs only.
    pub(crate) unstable: Vec<String>,
    /// Maven by itself; the mean of its runs.
    pub(crate) plain: Time,
    pub(crate) tools: BTreeMap<Tool, Outcome>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Time {
    /// From the start of the build to its end.
    pub(crate) millis: u64,
    /// What all its processes took of the processors, where the system tells.
    pub(crate) processor_millis: Option<u64>,
}

impl Time {
    pub(crate) fn mean(times: &[Self]) -> Self {
        let mean = |values: Vec<u64>| {
            let count = values.len() as u64;
            (count > 0).then(|| values.iter().sum::<u64>() / count)
        };
        Self {
            millis: mean(times.iter().map(|time| time.millis).collect()).unwrap_or(0),
            processor_millis: mean(
                times
                    .iter()
                    .filter_map(|time| time.processor_millis)
                    .collect(),
            ),
        }
    }
}

/// What one tool made of a revision.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    /// Why the build under this tool failed; then nothing else holds.
    pub(crate) broke: Option<String>,
    /// The test classes that ran.
    pub(crate) selected: Vec<String>,
    pub(crate) failed: Vec<String>,
    /// Those that fail in Maven's own runs and were left out.
    pub(crate) missed: Vec<String>,
    /// Analysis, execution and collection.
    pub(crate) aec: Time,
    /// Analysis and execution.
    pub(crate) ae: Option<Time>,
}

/// How the test classes of one build ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suite {
    pub(crate) tests: BTreeSet<String>,
    pub(crate) failed: BTreeSet<String>,
}

/// The classes that failed in some runs, but not in all.
pub(crate) fn unstable(suites: &[Suite]) -> Vec<String> {
    let all: BTreeSet<&String> = suites.iter().flat_map(|suite| &suite.failed).collect();
    all.into_iter()
        .filter(|test| suites.iter().any(|suite| !suite.failed.contains(*test)))
        .cloned()
        .collect()
}

/// The failing classes that a tool left out, but for those that fail by chance.
pub(crate) fn missed(revision: &Revision, selected: &[String]) -> Vec<String> {
    let failed = revision.failed.iter();
    failed
        .filter(|test| !selected.contains(test) && !revision.unstable.contains(test))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_failure_that_was_left_out_is_missed_unless_it_comes_by_chance() {
        let suite = |failed: &[&str]| Suite {
            failed: names(failed).into_iter().collect(),
            ..Suite::default()
        };
        let suites = [suite(&["A", "B", "C"]), suite(&["A", "B"])];
        let revision = Revision {
            failed: names(&["A", "B", "C"]),
            unstable: unstable(&suites),
            ..Revision::default()
        };
        assert_eq!(revision.unstable, ["C"]);
        assert_eq!(missed(&revision, &names(&["B"])), ["A"]);
    }

    #[test]
    fn lines_read_back() {
        let mut revision = Revision::default();
        revision
            .tools
            .insert(Tool::HybridMethod, Outcome::default());
        let text = serde_json::to_string(&Line::Revision(Box::new(revision))).unwrap();
        assert!(text.contains("\"hybrid-method\":{"), "{text}");
        let Line::Revision(read) = serde_json::from_str(&text).unwrap() else {
            panic!("{text}");
        };
        assert!(read.tools.contains_key(&Tool::HybridMethod));
    }
}
