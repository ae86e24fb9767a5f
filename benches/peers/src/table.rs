//! The page of a comparison, in Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fewest_order::statistics::{Magnitude, effect_size, median, signed_rank};

use crate::results::{Line, Outcome, Revision, Time};
use crate::tools::Tool;

pub(crate) fn markdown(lines: &[Line]) -> String {
    let revisions: Vec<&Revision> = measured(lines).collect();
    let tools: BTreeSet<Tool> = revisions
        .iter()
        .flat_map(|revision| revision.tools.keys().copied())
        .collect();
    let mut text = String::new();
    totals(&revisions, &tools, &mut text);
    duels(&revisions, &tools, &mut text);
    each(lines, &tools, &mut text);
    misses(&revisions, &mut text);
    text
}

/// Revisions that have others before them.
fn measured(lines: &[Line]) -> impl Iterator<Item = &Revision> {
    lines.iter().filter_map(|line| match line {
        Line::Revision(revision) if !revision.first => Some(&**revision),
        _ => None,
    })
}

/// Where a tool got through.
fn of<'a>(
    tool: Tool,
    revisions: &'a [&'a Revision],
) -> impl Iterator<Item = (&'a Revision, &'a Outcome)> {
    revisions.iter().filter_map(move |revision| {
        let outcome = revision.tools.get(&tool)?;
        outcome.broke.is_none().then_some((*revision, outcome))
    })
}

fn totals(revisions: &[&Revision], tools: &BTreeSet<Tool>, text: &mut String) {
    text.push_str(
        "| | revisions | selected, mean | median | AEC, mean | median | AE, mean | median | AEC, processor | AE, processor | missed | broke |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for &tool in tools {
        let own: Vec<(&Revision, &Outcome)> = of(tool, revisions).collect();
        let shares: Vec<f64> = own
            .iter()
            .map(|(revision, own)| share(revision, own))
            .collect();
        let ratios = |time: fn(&Outcome) -> Option<Time>, measure: fn(Time) -> Option<u64>| {
            let ratio = |(revision, outcome): &(&Revision, &Outcome)| {
                let plain = measure(revision.plain).filter(|plain| *plain > 0)?;
                Some(measure(time(outcome)?)? as f64 / plain as f64)
            };
            own.iter().filter_map(ratio).collect::<Vec<f64>>()
        };
        let aec = ratios(|own| Some(own.aec), wall);
        let ae = ratios(|own| own.ae, wall);
        let missed: usize = own.iter().map(|(_, own)| own.missed.len()).sum();
        let broke = revisions
            .iter()
            .filter_map(|revision| revision.tools.get(&tool))
            .filter(|outcome| outcome.broke.is_some())
            .count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {missed} | {broke} |",
            tool.title(),
            own.len(),
            percent(mean(&shares)),
            percent(median(&shares)),
            percent(mean(&aec)),
            percent(median(&aec)),
            percent(mean(&ae)),
            percent(median(&ae)),
            percent(mean(&ratios(|own| Some(own.aec), processor))),
            percent(mean(&ratios(|own| own.ae, processor))),
        );
    }
    text.push_str(
        "\nSelected: test classes that ran, of all. AEC and AE: the build under the tool, with and \
         without collection, as a share of Maven's own build of the same revision; by the clock, \
         and by processor time of all processes. Missed: test classes that fail in Maven's own \
         runs and were left out.\n",
    );
}

/// Each of ours against each of the others, revision by revision.
fn duels(revisions: &[&Revision], tools: &BTreeSet<Tool>, text: &mut String) {
    text.push_str(
        "\n| | against | selected fewer, as many, more | AEC to theirs | p | A | AEC, processor | p | A |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for &ours in tools.iter().filter(|tool| tool.is_ours()) {
        for &theirs in tools.iter().filter(|tool| tool.is_peer()) {
            let pairs: Vec<(&Outcome, &Outcome)> = of(ours, revisions)
                .filter_map(|(revision, own)| {
                    let other = revision.tools.get(&theirs)?;
                    other.broke.is_none().then_some((own, other))
                })
                .collect();
            if pairs.is_empty() {
                continue;
            }
            let counts = |order: std::cmp::Ordering| {
                let with = |pair: &&(&Outcome, &Outcome)| {
                    pair.0.selected.len().cmp(&pair.1.selected.len()) == order
                };
                pairs.iter().filter(with).count()
            };
            let _ = writeln!(
                text,
                "| {} | {} | {}, {}, {} | {} | {} |",
                ours.title(),
                theirs.title(),
                counts(std::cmp::Ordering::Less),
                counts(std::cmp::Ordering::Equal),
                counts(std::cmp::Ordering::Greater),
                duel(&pairs, wall),
                duel(&pairs, processor),
            );
        }
    }
    text.push_str(
        "\nAEC to theirs: the sum of our times as a share of the sum of theirs. p: Wilcoxon's signed-rank test; A: how \
         likely theirs takes longer (Vargha and Delaney).\n",
    );
}

fn duel(pairs: &[(&Outcome, &Outcome)], measure: fn(Time) -> Option<u64>) -> String {
    let times: Vec<(f64, f64)> = pairs
        .iter()
        .filter_map(|(own, other)| Some((measure(own.aec)? as f64, measure(other.aec)? as f64)))
        .collect();
    if times.is_empty() {
        return "– | – | –".to_owned();
    }
    let (own, other): (Vec<f64>, Vec<f64>) = times.iter().copied().unzip();
    let ratio = own.iter().sum::<f64>() / other.iter().sum::<f64>();
    let effect = effect_size(&other, &own).map_or("–".to_owned(), |size| {
        format!("{size:.2} ({})", Magnitude::of(size).letter())
    });
    let probability = signed_rank(&times).probability;
    format!("{ratio:.2} | {probability:.4} | {effect}")
}

fn each(lines: &[Line], tools: &BTreeSet<Tool>, text: &mut String) {
    let names = tools.iter().map(|tool| tool.name());
    let names: Vec<&str> = names.collect();
    let _ = writeln!(
        text,
        "\n| revision | tests | failed | plain s | {} |\n|---|---|---|---|{}",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for line in lines {
        match line {
            Line::Skipped(skipped) => {
                let why = skipped.why.replace('|', "/");
                let _ = writeln!(text, "| {} | skipped: {why} |", short(&skipped.revision));
            }
            Line::Revision(revision) => {
                let cells: Vec<String> = tools
                    .iter()
                    .map(|tool| cell(revision.tools.get(tool)))
                    .collect();
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {} | {} |",
                    short(&revision.revision),
                    revision.tests.len(),
                    revision.failed.len(),
                    seconds(revision.plain),
                    cells.join(" | ")
                );
            }
        }
    }
    text.push_str("\nFor each tool: test classes that ran, seconds with collection.\n");
}

fn cell(outcome: Option<&Outcome>) -> String {
    match outcome {
        None => "–".to_owned(),
        Some(outcome) if outcome.broke.is_some() => "broke".to_owned(),
        Some(outcome) => format!("{}, {}", outcome.selected.len(), seconds(outcome.aec)),
    }
}

fn misses(revisions: &[&Revision], text: &mut String) {
    for revision in revisions {
        for (tool, outcome) in &revision.tools {
            for test in &outcome.missed {
                let short = short(&revision.revision);
                let _ = writeln!(text, "\n**{} missed {test} at {short}.**", tool.title());
            }
        }
    }
}

fn share(revision: &Revision, outcome: &Outcome) -> f64 {
    match revision.tests.len() {
        0 => 0.0,
        tests => outcome.selected.len() as f64 / tests as f64,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "has the form of `processor`")]
fn wall(time: Time) -> Option<u64> {
    Some(time.millis)
}

fn processor(time: Time) -> Option<u64> {
    time.processor_millis
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn seconds(time: Time) -> String {
    format!("{:.1}", time.millis as f64 / 1000.0)
}

fn short(revision: &str) -> &str {
    revision.get(..8).unwrap_or(revision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Skipped;

    fn time(millis: u64) -> Time {
        Time {
            millis,
            processor_millis: Some(millis * 2),
        }
    }

    fn outcome(selected: &[&str], aec: u64, missed: &[&str]) -> Outcome {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Outcome {
            selected: names(selected),
            missed: names(missed),
            aec: time(aec),
            ae: Some(time(aec / 2)),
            ..Outcome::default()
        }
    }

    fn revision(name: &str, first: bool, tools: &[(Tool, Outcome)]) -> Line {
        Line::Revision(Box::new(Revision {
            revision: name.to_owned(),
            first,
            tests: ["A", "B", "C", "D"].map(str::to_owned).to_vec(),
            plain: time(10_000),
            tools: tools.iter().cloned().collect(),
            ..Revision::default()
        }))
    }

    #[test]
    fn the_page_sets_tools_side_by_side_and_names_what_was_missed() {
        let broken = Outcome {
            broke: Some("`mvn` ended with exit status: 1".to_owned()),
            ..Outcome::default()
        };
        let all = outcome(&["A", "B", "C", "D"], 11_000, &[]);
        let lines = [
            revision(
                "1111111111",
                true,
                &[(Tool::Ekstazi, all.clone()), (Tool::Hybrid, all)],
            ),
            Line::Skipped(Skipped {
                revision: "2222222222".to_owned(),
                subject: "broken".to_owned(),
                why: "does not compile".to_owned(),
            }),
            revision(
                "3333333333",
                false,
                &[
                    (Tool::Ekstazi, outcome(&["A", "B"], 8_000, &["D"])),
                    (Tool::Hyrts, broken),
                    (Tool::Hybrid, outcome(&["A"], 4_000, &[])),
                ],
            ),
        ];
        insta::assert_snapshot!(markdown(&lines));
    }
}
