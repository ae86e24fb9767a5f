//! One recorded run of the whole suite for all techniques that watch.
//!
//! What a technique would have run follows from the store as it was before the
//! run and from the class path that the run had. Times are estimates: what the
//! build took beside its tests, and what the selected tests took.
//!
//! Static techniques need records of another sort, so they run by themselves.

use std::collections::BTreeSet;

use fewest_model::{ClassName, TestId};
use fewest_run::Prediction;
use fewest_select::Technique;

use crate::files;
use crate::maven::{Leave, UnderFewest, class_of};
use crate::replay::{Replay, ReplayError, Stores, selection, unstable};
use crate::results::{Revision, Selection, Suite};
use crate::variant::{Variant, fineness};

impl Replay {
    pub(crate) fn measure_quickly(
        &self,
        revision: &mut Revision,
        stores: &Stores,
    ) -> Result<(), ReplayError> {
        let (shared, own): (Vec<_>, Vec<_>) = self
            .settings
            .variants
            .iter()
            .partition(|variant| self.shares_store(variant));
        let recorder = recorder(&shared);
        let name = self.store_of(&recorder);
        self.start_from(stores.before(&name).as_deref())?;
        let run = self.maven.under_fewest(&recorder, "now", Leave::Nothing)?;
        files::rename(&self.place(), &stores.after(&name))?;
        let suite = suite_of(&run);
        revision.unstable = self.unstable_beside(&suite)?;
        for variant in shared {
            let skipped = self.skipped(variant, &run, stores)?;
            let selection = estimate(&suite, &run, &skipped);
            revision.techniques.insert(variant.name(), selection);
        }
        revision.full = Some(suite);
        for variant in own {
            let selection = self.select(variant, stores)?;
            revision.techniques.insert(variant.name(), selection);
        }
        Ok(())
    }

    fn unstable_beside(&self, suite: &Suite) -> Result<Vec<String>, ReplayError> {
        let mut suites = vec![suite.clone()];
        for _ in 1..self.settings.stability {
            suites.push(self.maven.full_suite()?);
        }
        Ok(unstable(&suites))
    }

    /// The tests that a variant would have left out.
    fn skipped(
        &self,
        variant: &Variant,
        run: &UnderFewest,
        stores: &Stores,
    ) -> Result<BTreeSet<TestName>, ReplayError> {
        let Some(outlook) = self.outlook_before(variant, stores)? else {
            return Ok(BTreeSet::new());
        };
        let wanted = run.tests.iter().map(|test| {
            let class = ClassName::from_dotted(test.class());
            TestId::of_class(test.module.as_str(), class)
        });
        let forecasts = outlook.forecasts(&wanted.collect())?.into_iter();
        Ok(forecasts
            .filter(|forecast| forecast.prediction == Prediction::Skip)
            .map(|forecast| (forecast.test.module.to_string(), forecast.test.to_string()))
            .collect())
    }
}

/// Module and name.
type TestName = (String, String);

/// What records enough for all.
fn recorder(variants: &[&Variant]) -> Variant {
    let techniques = variants.iter().map(|variant| variant.technique);
    let watching = techniques.filter(|technique| *technique != Technique::All);
    Variant::of(
        watching
            .max_by_key(|technique| fineness(*technique))
            .unwrap_or_default(),
    )
}

fn suite_of(run: &UnderFewest) -> Suite {
    let mut suite = Suite {
        millis: run.millis,
        methods: run.methods_of.values().sum(),
        methods_of: run.methods_of.clone(),
        ..Suite::default()
    };
    let mut failed = BTreeSet::new();
    for test in run.tests.iter().filter(|test| test.ran()) {
        let class = test.class().to_owned();
        let millis = test.millis.unwrap_or(0);
        suite.test_millis += millis;
        *suite.millis_of.entry(class.clone()).or_default() += millis;
        if test.failed() {
            failed.insert(class);
        }
    }
    suite.tests = suite.millis_of.keys().cloned().collect();
    suite.failed = failed.into_iter().collect();
    suite
}

/// What would have run, and how long that would have taken.
fn estimate(suite: &Suite, run: &UnderFewest, skipped: &BTreeSet<TestName>) -> Selection {
    let mut left = UnderFewest {
        methods_of: run.methods_of.clone(),
        tests: run.tests.clone(),
        ..UnderFewest::default()
    };
    for test in &mut left.tests {
        let is_skipped = |name: &str| skipped.contains(&(test.module.clone(), name.to_owned()));
        // A class that was judged as one may have been told by its methods.
        if is_skipped(&test.test) || is_skipped(class_of(&test.test)) {
            "skip".clone_into(&mut test.verdict);
        }
    }
    let mut selection = selection(&left);
    // Tests beside each other take longer together than the build does.
    let beside = suite.millis.saturating_sub(suite.test_millis);
    let tests = suite.millis - beside;
    let part = (tests * selection.test_millis).checked_div(suite.test_millis);
    selection.aec_millis = beside + part.unwrap_or(0);
    selection.estimated = true;
    selection
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maven::ReportedTest;
    use fewest_model::Outcome;

    fn test(name: &str, outcome: Outcome, millis: u64) -> ReportedTest {
        ReportedTest {
            test: name.to_owned(),
            module: String::new(),
            verdict: "run".to_owned(),
            outcome: Some(outcome),
            millis: Some(millis),
            methods: None,
        }
    }

    fn run() -> UnderFewest {
        UnderFewest {
            millis: 1000,
            analysis_millis: Some(7),
            tests: vec![
                test("ATest", Outcome::Passed, 100),
                test("BTest#one", Outcome::Passed, 200),
                test("BTest#two", Outcome::Failed, 300),
            ],
            methods_of: [("ATest".to_owned(), 4), ("BTest".to_owned(), 2)].into(),
        }
    }

    fn skipping(names: &[&str]) -> Selection {
        let run = run();
        let names = names
            .iter()
            .map(|&name| (String::new(), name.to_owned()))
            .collect();
        estimate(&suite_of(&run), &run, &names)
    }

    #[test]
    fn a_suite_is_told_by_classes() {
        let suite = suite_of(&run());
        assert_eq!(suite.tests, ["ATest", "BTest"]);
        assert_eq!(suite.failed, ["BTest"]);
        assert_eq!((suite.test_millis, suite.methods), (600, 6));
    }

    #[test]
    fn what_is_left_out_takes_its_time_off_the_build() {
        assert_eq!(skipping(&[]).aec_millis, 1000);
        let without_a = skipping(&["ATest"]);
        assert_eq!(without_a.aec_millis, 900);
        assert_eq!(without_a.selected, ["BTest"]);
        assert_eq!(skipping(&["ATest", "BTest"]).aec_millis, 400);
    }

    #[test]
    fn a_class_runs_when_one_of_its_methods_does() {
        let one_left = skipping(&["ATest", "BTest#one"]);
        assert_eq!(one_left.selected, ["BTest"]);
        assert_eq!(one_left.test_millis, 300);
    }

    #[test]
    fn tests_beside_each_other_make_no_build_shorter_than_nothing() {
        let mut run = run();
        run.millis = 300;
        let names = [(String::new(), "ATest".to_owned())].into();
        assert_eq!(estimate(&suite_of(&run), &run, &names).aec_millis, 250);
    }

    #[test]
    fn the_finest_technique_records_for_all() {
        let variant = Variant::of;
        let (file, lookup) = (variant(Technique::File), variant(Technique::HybridLookup));
        let all = variant(Technique::All);
        assert_eq!(
            recorder(&[&lookup, &file]).technique,
            Technique::HybridLookup
        );
        assert_eq!(recorder(&[&all]).technique, Technique::Hybrid);
    }
}
