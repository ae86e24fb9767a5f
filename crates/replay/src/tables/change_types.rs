//! What each type of change costs when it counts for the whole class, as in
//! table 4 of the `HyRTS` paper.

use std::collections::BTreeMap;

use fewest_order::statistics::signed_rank;
use serde::Serialize;

use super::{mean, measured, names, selections};
use crate::results::Line;

/// A technique, and how much more it selects with coarser changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeTypeRow {
    pub technique: String,
    /// The types of change that count for the class; `file` for all.
    pub coarsened: String,
    /// How many changes of these types there were; none for `file`.
    pub changes: Option<usize>,
    /// The mean share of tests that the technique selects by itself.
    pub selected: f64,
    /// How much more is selected, as a share of all tests.
    pub more: f64,
    /// How likely the shares differ as much by chance (Wilcoxon).
    pub probability: f64,
}

pub fn change_types(lines: &[Line]) -> Vec<ChangeTypeRow> {
    let changes = changes(lines);
    let names = names(lines);
    let mut rows = Vec::new();
    for technique in &names {
        let prefix = format!("{technique}+");
        let variants: Vec<&String> = names
            .iter()
            .filter(|name| name.starts_with(&prefix))
            .collect();
        if variants.is_empty() {
            continue;
        }
        for variant in variants {
            let types = &variant[prefix.len()..];
            let count = types.split('+').filter_map(|kind| changes.get(kind)).sum();
            rows.extend(row(lines, technique, variant, types, Some(count)));
        }
        if names.iter().any(|name| name == "file") {
            rows.extend(row(lines, technique, "file", "file", None));
        }
    }
    rows
}

fn row(
    lines: &[Line],
    technique: &str,
    other: &str,
    coarsened: &str,
    changes: Option<usize>,
) -> Option<ChangeTypeRow> {
    let pairs: Vec<(f64, f64)> = selections(lines, technique)
        .filter_map(|(revision, own)| Some((revision.techniques.get(other)?.share(), own.share())))
        .collect();
    let more: Vec<f64> = pairs.iter().map(|(other, own)| other - own).collect();
    let own: Vec<f64> = pairs.iter().map(|(_, own)| *own).collect();
    Some(ChangeTypeRow {
        technique: technique.to_owned(),
        coarsened: coarsened.to_owned(),
        changes,
        selected: mean(&own)?,
        more: mean(&more)?,
        probability: signed_rank(&pairs).probability,
    })
}

fn changes(lines: &[Line]) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for (kind, count) in measured(lines).flat_map(|revision| &revision.changes) {
        *all.entry(kind.clone()).or_default() += count;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::examples::{lines, study};

    #[test]
    fn a_coarser_type_is_told_by_how_much_more_it_selects() {
        let rows = change_types(&study());
        let told: Vec<(&str, Option<usize>, f64, f64)> = rows
            .iter()
            .map(|row| (&*row.coarsened, row.changes, row.selected, row.more))
            .collect();
        assert_eq!(
            told,
            [
                ("CIM", Some(6), 0.25, 0.25),
                ("DI", Some(0), 0.25, 0.0),
                ("file", None, 0.25, 0.25),
            ]
        );
    }

    #[test]
    fn without_coarser_variants_there_is_no_such_table() {
        assert!(change_types(&lines()).is_empty());
    }
}
