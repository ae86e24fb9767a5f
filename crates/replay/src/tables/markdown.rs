//! A page for people, and for a CI job.

use std::fmt::Write as _;

use fewest_order::statistics::Magnitude;

use super::totals::modes;
use super::{
    ChangeTypeRow, FaultRow, OrderRow, Total, change_types, faults, orders, short, totals,
};
use crate::mutants;
use crate::results::{Line, Revision};

/// What was measured, and what came of the faults that were planted.
pub fn markdown(lines: &[Line], planted: &[mutants::Line]) -> String {
    let totals = totals(lines);
    let mut text = summary(lines, &totals);
    faults_table(&faults(planted), &mut text);
    totals_table(&totals, &mut text);
    times_table(&totals, &mut text);
    change_types_table(&change_types(lines), &mut text);
    orders_table(&orders(lines), &mut text);
    revisions_table(lines, &mut text);
    text
}

/// What one wants to know first.
fn summary(lines: &[Line], totals: &[Total]) -> String {
    let (measured, quick) = modes(lines);
    let skipped = lines.iter().filter(|line| matches!(line, Line::Skipped(_)));
    let mut text = format!(
        "**{measured} revisions measured** after a first one; {} did not build",
        skipped.count()
    );
    if quick > 0 {
        text.push_str("; times marked ≈ are estimates (quick mode)");
    }
    text.push_str(".\n");
    for total in totals {
        if total.missed.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n**{} missed failures:**\n", total.technique);
        for (revision, test) in &total.missed {
            let _ = writeln!(text, "- `{test}` at {}", short(revision));
        }
    }
    text.push('\n');
    text
}

/// Faults are what a selection is tried by, so what it misses comes first.
fn faults_table(rows: &[FaultRow], text: &mut String) {
    let Some(first) = rows.first() else { return };
    let _ = writeln!(
        text,
        "**{} faults planted; tests find {}.**\n",
        first.planted, first.found
    );
    for row in rows.iter().filter(|row| !row.missed.is_empty()) {
        let _ = writeln!(text, "**{} would have missed:**\n", row.technique);
        for missed in &row.missed {
            let at = missed
                .revision
                .as_deref()
                .map_or(String::new(), |revision| format!(" at {}", short(revision)));
            let _ = writeln!(text, "- `{}`{at}: {}", missed.test, missed.fault);
        }
        text.push('\n');
    }
    text.push_str("| technique | faults found | selected, mean | missed |\n|---|---|---|---|\n");
    for faults in rows {
        let cells = [
            faults.technique.clone(),
            faults.found.to_string(),
            percent(faults.selected_mean),
            faults.missed.len().to_string(),
        ];
        row(text, &cells);
    }
    text.push_str(
        "\nSelected: test classes that would have run, of all, for a fault that a test finds.\n\n",
    );
}

fn totals_table(totals: &[Total], text: &mut String) {
    if totals.is_empty() {
        return;
    }
    text.push_str(
        "| technique | revisions | selected, mean | median | their time, mean | median | AEC, mean | median | AE, mean | median | p | A | failures found | missed |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for total in totals {
        let effect = total.effect_size.map_or("–".to_owned(), |size| {
            format!("{size:.2} ({})", Magnitude::of(size).letter())
        });
        let mark = if total.estimated { "≈ " } else { "" };
        let cells = [
            total.technique.clone(),
            total.revisions.to_string(),
            percent(total.selected_mean),
            percent(total.selected_median),
            percent(total.test_time_mean),
            percent(total.test_time_median),
            format!("{mark}{}", percent(total.aec_mean)),
            format!("{mark}{}", percent(total.aec_median)),
            percent(total.ae_mean),
            percent(total.ae_median),
            probability(total.probability),
            effect,
            format!("{} of {}", total.found, total.failures),
            total.missed.len().to_string(),
        ];
        row(text, &cells);
    }
    text.push_str(
        "\nSelected: test classes that ran, of all; their time: what these took of what all take. \
         AEC and AE: the build with selection, with and without collection, as a share of the same \
         build with the whole suite. p: Wilcoxon's signed-rank test of AEC against the whole suite; \
         A: how likely the whole suite takes longer.\n",
    );
}

fn times_table(totals: &[Total], text: &mut String) {
    let measured = |total: &&Total| total.analysis_millis.is_some();
    let measured: Vec<&Total> = totals.iter().filter(measured).collect();
    if measured.is_empty() {
        return;
    }
    text.push_str(
        "\n| technique | analysis s, mean | execution of tests s | collection s (AEC − AE) |\n|---|---|---|---|\n",
    );
    for total in measured {
        let cells = [
            total.technique.clone(),
            seconds(total.analysis_millis),
            seconds(total.execution_millis),
            seconds(total.collection_millis),
        ];
        row(text, &cells);
    }
}

fn change_types_table(rows: &[ChangeTypeRow], text: &mut String) {
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\nWhat is selected more if a type of change to methods counts for the whole class:\n\n\
         | technique | type | changes | selected without | more | p |\n|---|---|---|---|---|---|\n",
    );
    for own in rows {
        let count = own.changes.map(|count| count.to_string());
        let cells = [
            own.technique.clone(),
            own.coarsened.clone(),
            count.unwrap_or("–".to_owned()),
            percent(Some(own.selected)),
            percent(Some(own.more)),
            probability(Some(own.probability)),
        ];
        row(text, &cells);
    }
}

fn orders_table(rows: &[OrderRow], text: &mut String) {
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\nHow early an order shows the first failure, as a share of the suite's run time:\n\n\
         | technique | order | revisions | TTFF, mean | median | APFD | APFD by time |\n|---|---|---|---|---|---|---|\n",
    );
    for own in rows {
        let cells = [
            own.technique.clone(),
            own.order.clone(),
            own.revisions.to_string(),
            percent(own.first_failure_mean),
            percent(own.first_failure_median),
            share(own.apfd),
            share(own.apfd_by_cost),
        ];
        row(text, &cells);
    }
}

/// Folded, since it is long.
fn revisions_table(lines: &[Line], text: &mut String) {
    text.push_str(
        "\n<details><summary>All revisions</summary>\n\n\
         | revision | technique | selected | of | methods | AEC s | AE s | full s | failed | missed |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for line in lines {
        match line {
            Line::Skipped(skipped) => {
                let why = skipped.why.replace('|', "/");
                let short = short(&skipped.revision);
                let _ = writeln!(text, "| {short} | skipped: {why} | | | | | | | | |");
            }
            Line::Revision(revision) => revision_rows(revision, text),
        }
    }
    text.push_str("\n</details>\n");
}

fn revision_rows(revision: &Revision, text: &mut String) {
    let full = revision.full.as_ref();
    for (name, selection) in &revision.techniques {
        let mark = if selection.estimated { "≈ " } else { "" };
        let aec = seconds(Some(selection.aec_millis as f64));
        let cells = [
            short(&revision.revision).to_owned(),
            name.clone(),
            selection.selected.len().to_string(),
            selection.tests.to_string(),
            selection.methods.to_string(),
            format!("{mark}{aec}"),
            seconds(selection.ae_millis.map(|millis| millis as f64)),
            seconds(full.map(|full| full.millis as f64)),
            full.map_or("–".to_owned(), |full| full.failed.len().to_string()),
            selection.missed.len().to_string(),
        ];
        row(text, &cells);
    }
}

fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn share(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.3}"))
}

fn probability(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.4}"))
}

fn seconds(millis: Option<f64>) -> String {
    millis.map_or("–".to_owned(), |millis| format!("{:.2}", millis / 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::examples::{lines, study};
    use crate::tables::faults::examples::planted;

    #[test]
    fn the_page_tells_means_medians_and_what_was_missed() {
        insta::assert_snapshot!(markdown(&lines(), &[]));
    }

    #[test]
    fn the_page_of_a_study_tells_types_of_changes_and_orders() {
        insta::assert_snapshot!(markdown(&study(), &[]));
    }

    #[test]
    fn the_page_of_planted_faults_tells_by_name_what_was_missed() {
        insta::assert_snapshot!(markdown(&[], &planted()));
    }
}
