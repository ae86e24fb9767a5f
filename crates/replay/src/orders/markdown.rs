//! The tables of a comparison, for people.

use std::fmt::Write as _;

use fewest_order::statistics::Magnitude;

use super::{BUDGETS, Comparison, SEEDS};

/// A page with the tables of the study.
pub fn markdown(comparison: &Comparison) -> String {
    let mut text = format!(
        "{} faults, {SEEDS} seeds for each approach.\n\n\
         | approach | runs | TTFF | SD | TTFF, time | SD | APFD | SD |\n\
         |---|---|---|---|---|---|---|---|\n",
        comparison.faults
    );
    for one in &comparison.approaches {
        let _ = writeln!(
            text,
            "| {} | {:.0} % | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            one.approach,
            one.runs * 100.0,
            one.ttff.median,
            one.ttff.deviation,
            one.ttff_time.median,
            one.ttff_time.deviation,
            one.apfd.median,
            one.apfd.deviation,
        );
    }
    text.push_str(
        "\nMedians over the faults of the means over the seeds, as shares of the whole suite.\n\n\
         | comparison | Â₁₂ | p |\n|---|---|---|\n",
    );
    for pair in &comparison.pairs {
        let _ = writeln!(
            text,
            "| {} against {} | {:.2} ({}) | {} |",
            pair.first,
            pair.second,
            pair.effect_size,
            Magnitude::of(pair.effect_size).letter(),
            probability(pair.probability),
        );
    }
    text.push_str(
        "\nÂ₁₂: how likely the first is earlier. p: Wilcoxon's signed-rank test on the faults.\n\n",
    );
    budgets(comparison, &mut text);
    text
}

fn budgets(comparison: &Comparison, text: &mut String) {
    text.push_str("| found within |");
    for percent in BUDGETS {
        let _ = write!(text, " {percent} % |");
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(BUDGETS.len()));
    for one in &comparison.approaches {
        let _ = write!(text, "| {} |", one.approach);
        for found in &one.budgets {
            let (mean, always) = (found.mean * 100.0, found.always * 100.0);
            let _ = write!(text, " {mean:.0} % ({always:.0}) |");
        }
        text.push('\n');
    }
    text.push_str(
        "\nBudgets are shares of the number of tests that `file` selects. In brackets: faults that \
         every seed finds.\n",
    );
}

fn probability(p: f64) -> String {
    if p < 0.0001 {
        "< 0.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}
