//! What each technique comes to.

use fewest_order::statistics::{effect_size, median, signed_rank};
use serde::Serialize;

use super::{mean, measured, names, selections};
use crate::results::{Line, Mode, Revision, Selection, Suite};

/// What one technique comes to over all revisions but the first.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Total {
    pub technique: String,
    pub revisions: usize,
    /// Whether AEC is an estimate.
    pub estimated: bool,
    pub selected_mean: Option<f64>,
    pub selected_median: Option<f64>,
    /// Run time of the selected tests as a share of all tests' run time.
    pub test_time_mean: Option<f64>,
    pub test_time_median: Option<f64>,
    /// Time with collection as a share of the whole suite's.
    pub aec_mean: Option<f64>,
    pub aec_median: Option<f64>,
    /// Time without collection as a share of the whole suite's.
    pub ae_mean: Option<f64>,
    pub ae_median: Option<f64>,
    /// Means of the parts, in milliseconds.
    pub analysis_millis: Option<f64>,
    pub execution_millis: Option<f64>,
    /// What the build takes longer with collection than without.
    pub collection_millis: Option<f64>,
    /// How likely times with collection and of the whole suite differ as much
    /// by chance (Wilcoxon's signed-rank test).
    pub probability: Option<f64>,
    /// How likely the whole suite takes longer (Vargha and Delaney's A).
    pub effect_size: Option<f64>,
    /// Failing test classes of the whole suite, and how many of them ran.
    pub failures: usize,
    pub found: usize,
    /// Revision and test class of each failure that was left out.
    pub missed: Vec<(String, String)>,
}

pub fn totals(lines: &[Line]) -> Vec<Total> {
    let names = names(lines);
    names.iter().map(|name| total(name, lines)).collect()
}

/// How often the mode was used.
pub(super) fn modes(lines: &[Line]) -> (usize, usize) {
    let quick = measured(lines).filter(|revision| revision.mode == Mode::Quick);
    (measured(lines).count(), quick.count())
}

fn total(name: &str, lines: &[Line]) -> Total {
    let own = || selections(lines, name);
    let shares: Vec<f64> = own().map(|(_, selection)| selection.share()).collect();
    let ratio = |part: fn(&Selection) -> Option<u64>, whole: fn(&Suite) -> u64| -> Vec<f64> {
        own()
            .filter_map(|(revision, selection)| {
                let whole = whole(revision.full.as_ref()?);
                (whole > 0).then_some(part(selection)? as f64 / whole as f64)
            })
            .collect()
    };
    let average = |part: fn(&Selection) -> Option<f64>| -> Option<f64> {
        mean(&own().filter_map(|(_, s)| part(s)).collect::<Vec<_>>())
    };
    let test_time = ratio(|s| Some(s.test_millis), |full| full.test_millis);
    let aec = ratio(|s| Some(s.aec_millis), |full| full.millis);
    let ae = ratio(|s| s.ae_millis, |full| full.millis);
    let pairs: Vec<(f64, f64)> = own()
        .filter_map(|(revision, selection)| {
            let full = revision.full.as_ref()?;
            Some((full.millis as f64, selection.aec_millis as f64))
        })
        .collect();
    let (full, with): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let missed: Vec<(String, String)> = own()
        .flat_map(|(revision, selection)| {
            let missed = selection.missed.iter();
            missed.map(|test| (revision.revision.clone(), test.clone()))
        })
        .collect();
    let failures = own().map(|(revision, _)| stable_failures(revision)).sum();
    Total {
        technique: name.to_owned(),
        revisions: shares.len(),
        estimated: own().any(|(_, selection)| selection.estimated),
        selected_mean: mean(&shares),
        selected_median: median(&shares),
        test_time_mean: mean(&test_time),
        test_time_median: median(&test_time),
        aec_mean: mean(&aec),
        aec_median: median(&aec),
        ae_mean: mean(&ae),
        ae_median: median(&ae),
        analysis_millis: average(|s| s.analysis_millis.map(|millis| millis as f64)),
        execution_millis: average(|s| Some(s.test_millis as f64)),
        collection_millis: average(|s| Some(s.aec_millis as f64 - s.ae_millis? as f64)),
        probability: (!pairs.is_empty()).then(|| signed_rank(&pairs).probability),
        effect_size: effect_size(&full, &with),
        failures,
        found: failures.saturating_sub(missed.len()),
        missed,
    }
}

fn stable_failures(revision: &Revision) -> usize {
    let failed = revision.full.iter().flat_map(|full| &full.failed);
    failed
        .filter(|test| !revision.unstable.contains(test))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::examples::lines;

    #[test]
    fn the_first_revision_counts_for_no_ratio() {
        let totals = totals(&lines());
        assert_eq!(totals.len(), 1);
        assert_eq!(totals[0].revisions, 2);
        assert_eq!(totals[0].selected_mean, Some(0.125));
        assert_eq!(totals[0].aec_mean, Some(0.4));
        assert_eq!(totals[0].ae_mean, Some(0.2));
        assert_eq!(totals[0].test_time_mean, Some(0.2));
        assert_eq!(totals[0].collection_millis, Some(200.0));
        assert_eq!(totals[0].missed.len(), 1);
        assert_eq!((totals[0].failures, totals[0].found), (1, 0));
        assert!(!totals[0].estimated);
    }
}
