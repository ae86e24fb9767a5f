//! Tables of what a replay has found.

mod change_types;
mod csv;
mod faults;
mod markdown;
mod orders;
mod totals;

use crate::results::{Line, Revision, Selection};

pub use change_types::{ChangeTypeRow, change_types};
pub use csv::csv;
pub use faults::{FaultRow, MissedFault, faults};
pub use markdown::markdown;
pub use orders::{OrderRow, orders};
pub use totals::{Total, totals};

/// Revisions that have others before them.
fn measured(lines: &[Line]) -> impl Iterator<Item = &Revision> + Clone {
    lines.iter().filter_map(|line| match line {
        Line::Revision(revision) if !revision.first => Some(&**revision),
        _ => None,
    })
}

/// What one technique made of them.
fn selections<'l>(
    lines: &'l [Line],
    name: &str,
) -> impl Iterator<Item = (&'l Revision, &'l Selection)> {
    measured(lines).filter_map(move |revision| Some((revision, revision.techniques.get(name)?)))
}

/// All techniques, by name.
fn names(lines: &[Line]) -> Vec<String> {
    let all = measured(lines).flat_map(|revision| revision.techniques.keys());
    let names: std::collections::BTreeSet<&String> = all.collect();
    names.into_iter().cloned().collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn short(revision: &str) -> &str {
    revision.get(..10).unwrap_or(revision)
}

#[cfg(test)]
mod examples {
    use super::*;
    use crate::results::{Mode, OrderResult, Skipped, Suite};

    pub(super) fn selection(selected: &[&str], aec: u64) -> Selection {
        Selection {
            tests: 4,
            methods: 10 * selected.len() as u64,
            selected: selected.iter().map(|&test| test.to_owned()).collect(),
            aec_millis: aec,
            ae_millis: Some(aec / 2),
            analysis_millis: Some(12),
            test_millis: aec / 4,
            ..Selection::default()
        }
    }

    pub(super) fn revision(name: &str, techniques: &[(&str, Selection)]) -> Line {
        let techniques = techniques.iter();
        Line::Revision(Box::new(Revision {
            revision: name.to_owned(),
            full: Some(Suite {
                millis: 1000,
                test_millis: 500,
                ..Suite::default()
            }),
            techniques: techniques
                .map(|(name, selection)| ((*name).to_owned(), selection.clone()))
                .collect(),
            ..Revision::default()
        }))
    }

    fn failing(mut line: Line) -> Line {
        if let Line::Revision(revision) = &mut line
            && let Some(full) = &mut revision.full
        {
            full.failed = vec!["a.BTest".to_owned(), "a.FlakyTest".to_owned()];
            revision.unstable = vec!["a.FlakyTest".to_owned()];
        }
        line
    }

    /// A first revision, a good one, one that does not build, and a missed
    /// failure.
    pub(super) fn lines() -> Vec<Line> {
        let mut first = revision(
            "1111111111ff",
            &[("hybrid", selection(&["a", "b", "c", "d"], 1100))],
        );
        if let Line::Revision(first) = &mut first {
            first.first = true;
        }
        let mut missing = selection(&[], 200);
        missing.missed = vec!["a.BTest".to_owned()];
        vec![
            first,
            revision("2222222222ff", &[("hybrid", selection(&["a"], 600))]),
            Line::Skipped(Skipped {
                revision: "3333333333ff".into(),
                subject: "broken".into(),
                why: "mvn failed".into(),
            }),
            failing(revision("4444444444ff", &[("hybrid", missing)])),
        ]
    }

    /// A quick look at three techniques with a failure in each revision.
    pub(super) fn study() -> Vec<Line> {
        let ordered = |mut selection: Selection, share: f64| {
            for (order, share) in [("none", share), ("smart", share / 2.0)] {
                let result = OrderResult {
                    first_failure_millis: (share * 500.0) as u64,
                    first_failure: share,
                    apfd: 1.0 - share,
                    apfd_by_cost: 1.0 - share / 2.0,
                };
                selection.orders.insert(order.to_owned(), result);
            }
            selection.ae_millis = None;
            selection.analysis_millis = None;
            selection.estimated = true;
            selection
        };
        let lines = ["2222222222ff", "4444444444ff"].map(|name| {
            revision(
                name,
                &[
                    ("file", ordered(selection(&["a", "b"], 600), 0.5)),
                    ("hybrid", ordered(selection(&["a"], 300), 0.25)),
                    ("hybrid+CIM", ordered(selection(&["a", "b"], 500), 0.3)),
                    ("hybrid+DI", ordered(selection(&["a"], 300), 0.25)),
                ],
            )
        });
        let mut lines = lines.to_vec();
        for line in &mut lines {
            if let Line::Revision(revision) = line {
                revision.mode = Mode::Quick;
                revision.changes = [("CF".to_owned(), 2), ("CIM".to_owned(), 3)].into();
            }
        }
        lines
    }
}
