//! Tables of what a replay has found.

use std::fmt::Write as _;

use fewest_order::statistics::{Magnitude, effect_size, median, signed_rank};
use serde::Serialize;

use crate::results::{Line, Revision, Selection};

/// What one technique comes to over all revisions but the first.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Total {
    pub technique: String,
    pub revisions: usize,
    pub selected_mean: Option<f64>,
    pub selected_median: Option<f64>,
    /// Time with collection as a share of the whole suite's.
    pub aec_mean: Option<f64>,
    pub aec_median: Option<f64>,
    /// Time without collection as a share of the whole suite's.
    pub ae_mean: Option<f64>,
    pub ae_median: Option<f64>,
    /// How likely times with collection and of the whole suite differ as much
    /// by chance (Wilcoxon's signed-rank test).
    pub probability: Option<f64>,
    /// How likely the whole suite takes longer (Vargha and Delaney's A).
    pub effect_size: Option<f64>,
    /// Revision and test class of each failure that was left out.
    pub missed: Vec<(String, String)>,
}

pub fn totals(lines: &[Line]) -> Vec<Total> {
    let revisions: Vec<&Revision> = measured(lines).collect();
    let names: std::collections::BTreeSet<&String> = revisions
        .iter()
        .flat_map(|revision| revision.techniques.keys())
        .collect();
    names
        .into_iter()
        .map(|name| total(name, &revisions))
        .collect()
}

/// Revisions that have others before them.
fn measured(lines: &[Line]) -> impl Iterator<Item = &Revision> {
    lines.iter().filter_map(|line| match line {
        Line::Revision(revision) if !revision.first => Some(&**revision),
        _ => None,
    })
}

fn total(name: &str, revisions: &[&Revision]) -> Total {
    let own = || {
        revisions
            .iter()
            .filter_map(|revision| Some((*revision, revision.techniques.get(name)?)))
    };
    let shares: Vec<f64> = own().map(|(_, selection)| selection.share()).collect();
    let pairs: Vec<(f64, f64)> = own()
        .filter_map(|(revision, selection)| {
            let full = revision.full.as_ref()?;
            Some((full.millis as f64, selection.aec_millis as f64))
        })
        .collect();
    let ratio = |millis: fn(&Selection) -> Option<u64>| -> Vec<f64> {
        own()
            .filter_map(|(revision, selection)| {
                let full = revision.full.as_ref().filter(|full| full.millis > 0)?;
                Some(millis(selection)? as f64 / full.millis as f64)
            })
            .collect()
    };
    let aec = ratio(|selection| Some(selection.aec_millis));
    let ae = ratio(|selection| selection.ae_millis);
    let (full, with): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    Total {
        technique: name.to_owned(),
        revisions: shares.len(),
        selected_mean: mean(&shares),
        selected_median: median(&shares),
        aec_mean: mean(&aec),
        aec_median: median(&aec),
        ae_mean: mean(&ae),
        ae_median: median(&ae),
        probability: (!pairs.is_empty()).then(|| signed_rank(&pairs).probability),
        effect_size: effect_size(&full, &with),
        missed: own()
            .flat_map(|(revision, selection)| {
                let missed = selection.missed.iter();
                missed.map(|test| (revision.revision.clone(), test.clone()))
            })
            .collect(),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A page for people, in Markdown.
pub fn markdown(lines: &[Line]) -> String {
    let mut text = String::new();
    let totals = totals(lines);
    text.push_str(
        "| technique | revisions | selected, mean | median | AEC, mean | median | AE, mean | median | p | A | missed |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for total in &totals {
        let effect = total.effect_size.map_or("–".to_owned(), |size| {
            format!("{size:.2} ({})", Magnitude::of(size).letter())
        });
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {effect} | {} |",
            total.technique,
            total.revisions,
            percent(total.selected_mean),
            percent(total.selected_median),
            percent(total.aec_mean),
            percent(total.aec_median),
            percent(total.ae_mean),
            percent(total.ae_median),
            total
                .probability
                .map_or("–".to_owned(), |p| format!("{p:.4}")),
            total.missed.len(),
        );
    }
    text.push_str(
        "\nSelected: test classes that ran, of all. AEC and AE: the build with selection, with and \
         without collection, as a share of the same build with the whole suite. p: Wilcoxon's \
         signed-rank test of AEC against the whole suite; A: how likely the whole suite takes \
         longer.\n",
    );
    revisions_markdown(lines, &mut text);
    for total in &totals {
        for (revision, test) in &total.missed {
            let short = short(revision);
            let _ = writeln!(text, "\n**{} missed {test} at {short}.**", total.technique);
        }
    }
    text
}

fn revisions_markdown(lines: &[Line], text: &mut String) {
    text.push_str(
        "\n| revision | technique | selected | of | AEC s | AE s | full s | failed | missed |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for line in lines {
        match line {
            Line::Skipped(skipped) => {
                let why = skipped.why.replace('|', "/");
                let short = short(&skipped.revision);
                let _ = writeln!(text, "| {short} | skipped: {why} | | | | | | | |");
            }
            Line::Revision(revision) => {
                for row in rows(revision) {
                    let _ = writeln!(text, "| {} |", row.join(" | "));
                }
            }
        }
    }
}

fn rows(revision: &Revision) -> Vec<Vec<String>> {
    let full = revision.full.as_ref();
    let techniques = revision.techniques.iter();
    techniques
        .map(|(name, selection)| {
            vec![
                short(&revision.revision).to_owned(),
                name.clone(),
                selection.selected.len().to_string(),
                selection.tests.to_string(),
                seconds(Some(selection.aec_millis)),
                seconds(selection.ae_millis),
                seconds(full.map(|full| full.millis)),
                full.map_or("–".to_owned(), |full| full.failed.len().to_string()),
                selection.missed.len().to_string(),
            ]
        })
        .collect()
}

/// One row for each revision and technique, for a spreadsheet.
pub fn csv(lines: &[Line]) -> String {
    let mut text = "revision,technique,selected,tests,aec,ae,full,failed,missed\n".to_owned();
    for line in lines {
        if let Line::Revision(revision) = line {
            for row in rows(revision) {
                let row: Vec<String> = row.into_iter().map(|cell| cell.replace('–', "")).collect();
                text.push_str(&row.join(","));
                text.push('\n');
            }
        }
    }
    text
}

fn short(revision: &str) -> &str {
    revision.get(..10).unwrap_or(revision)
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn seconds(millis: Option<u64>) -> String {
    millis.map_or("–".to_owned(), |millis| {
        format!("{:.2}", millis as f64 / 1000.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Skipped, Suite};

    fn revision(name: &str, first: bool, selected: &[&str], aec: u64) -> Line {
        let selection = Selection {
            tests: 4,
            selected: selected.iter().map(|&test| test.to_owned()).collect(),
            aec_millis: aec,
            ae_millis: (!first).then_some(aec / 2),
            missed: if selected.is_empty() {
                vec!["a.BTest".to_owned()]
            } else {
                Vec::new()
            },
            ..Selection::default()
        };
        Line::Revision(Box::new(Revision {
            revision: name.to_owned(),
            first,
            full: Some(Suite {
                millis: 1000,
                ..Suite::default()
            }),
            techniques: [("hybrid".to_owned(), selection)].into(),
            ..Revision::default()
        }))
    }

    fn lines() -> Vec<Line> {
        vec![
            revision("1111111111ff", true, &["a", "b", "c", "d"], 1100),
            revision("2222222222ff", false, &["a"], 600),
            Line::Skipped(Skipped {
                revision: "3333333333ff".into(),
                subject: "broken".into(),
                why: "mvn failed".into(),
            }),
            revision("4444444444ff", false, &[], 200),
        ]
    }

    #[test]
    fn the_page_tells_means_medians_and_what_was_missed() {
        insta::assert_snapshot!(markdown(&lines()));
    }

    #[test]
    fn the_first_revision_counts_for_no_ratio() {
        let totals = totals(&lines());
        assert_eq!(totals.len(), 1);
        assert_eq!(totals[0].revisions, 2);
        assert_eq!(totals[0].selected_mean, Some(0.125));
        assert_eq!(totals[0].aec_mean, Some(0.4));
        assert_eq!(totals[0].ae_mean, Some(0.2));
        assert_eq!(totals[0].missed.len(), 1);
    }

    #[test]
    fn a_spreadsheet_has_empty_cells_where_nothing_was_measured() {
        insta::assert_snapshot!(csv(&lines()), @r"
        revision,technique,selected,tests,aec,ae,full,failed,missed
        1111111111,hybrid,4,4,1.10,,1.00,0,0
        2222222222,hybrid,1,4,0.60,0.30,1.00,0,0
        4444444444,hybrid,0,4,0.20,0.10,1.00,0,1
        ");
    }
}
