//! What a revision looks like from what was known before it.

use std::collections::BTreeMap;
use std::time::Duration;

use fewest_order::metrics::Run;
use fewest_run::{OrderBy, OrderSettings, Outlook, Project};

use crate::files;
use crate::replay::{Replay, ReplayError, Stores};
use crate::results::{OrderResult, Revision, Suite};
use crate::variant::Variant;

impl Replay {
    /// The records from before a revision, and the requests of its own build:
    /// the class path may have changed with it. `None` for the first one.
    pub(crate) fn outlook_before(
        &self,
        variant: &Variant,
        stores: &Stores,
    ) -> Result<Option<Outlook>, ReplayError> {
        let name = self.store_of(variant);
        let Some(before) = stores.before(&name) else {
            return Ok(None);
        };
        self.start_from(Some(&before))?;
        let requests = stores.after(&name).join("last");
        // There is none where a build had no tests.
        if requests.is_dir() {
            let last = self.place().join("last");
            files::remove_folder(&last)?;
            files::copy_folder(&requests, &last)?;
        }
        let project = Project::at(&self.maven.folder);
        let outlook = Outlook::open(project, Some(variant.technique), self.settings.entity)?;
        Ok(Some(outlook.coarsened(Some(variant.coarsen.clone()))))
    }

    /// Counts the changes by their types, where a technique that watches has
    /// records to compare with.
    pub(crate) fn see_changes(
        &self,
        revision: &mut Revision,
        stores: &Stores,
    ) -> Result<(), ReplayError> {
        let mut variants = self.settings.variants.iter();
        let Some(variant) = variants.find(|variant| !variant.technique.is_static()) else {
            return Ok(());
        };
        let Some(outlook) = self.outlook_before(variant, stores)? else {
            return Ok(());
        };
        for change in outlook.changes()?.unwrap_or_default().changes {
            let name = change.kind.name().to_owned();
            *revision.changes.entry(name).or_default() += 1;
        }
        Ok(())
    }

    /// Tells how early each order of each selection would have shown what is
    /// broken.
    pub(crate) fn compare_orders(
        &self,
        revision: &mut Revision,
        stores: &Stores,
    ) -> Result<(), ReplayError> {
        let Some(suite) = revision.full.as_ref() else {
            return Ok(());
        };
        if self.settings.orders.is_empty() || suite.failed.is_empty() {
            return Ok(());
        }
        for variant in &self.settings.variants {
            let Some(outlook) = self.outlook_before(variant, stores)? else {
                return Ok(());
            };
            let mut results = BTreeMap::new();
            for &by in &self.settings.orders {
                if let Some(result) = result_of(&outlook, by, suite)? {
                    results.insert(by.to_string(), result);
                }
            }
            if let Some(selection) = revision.techniques.get_mut(&variant.name()) {
                selection.orders = results;
            }
        }
        Ok(())
    }
}

/// None if no failing test is among those that would run.
fn result_of(
    outlook: &Outlook,
    by: OrderBy,
    suite: &Suite,
) -> Result<Option<OrderResult>, ReplayError> {
    let settings = OrderSettings {
        by,
        ..OrderSettings::default()
    };
    let order = outlook.order(&settings)?;
    let names: Vec<String> = order.iter().map(|test| test.class.dotted()).collect();
    Ok(judge(&names, suite))
}

fn judge(order: &[String], suite: &Suite) -> Option<OrderResult> {
    let number = |test: &String| suite.tests.binary_search(test).ok();
    let order: Vec<usize> = order.iter().filter_map(number).collect();
    let faults: Vec<[usize; 1]> = suite
        .failed
        .iter()
        .filter_map(number)
        .map(|test| [test])
        .collect();
    let millis = |test: &String| suite.millis_of.get(test).copied().unwrap_or(0);
    let durations: Vec<Duration> = suite
        .tests
        .iter()
        .map(|test| Duration::from_millis(millis(test)))
        .collect();
    let run = Run {
        order: &order,
        durations: &durations,
    };
    let first = run.first_failure(|test| faults.contains(&[test]))?;
    Some(OrderResult {
        first_failure_millis: first.time.as_millis() as u64,
        first_failure: first.time_share,
        apfd: run.apfd(&faults)?,
        apfd_by_cost: run.apfd_by_cost(&faults)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(failed: &[&str]) -> Suite {
        let tests = ["ATest", "BTest", "CTest", "DTest"].map(str::to_owned);
        Suite {
            millis_of: tests.iter().cloned().zip([100, 200, 300, 400]).collect(),
            tests: tests.to_vec(),
            failed: failed.iter().map(|&test| test.to_owned()).collect(),
            ..Suite::default()
        }
    }

    #[test]
    fn an_order_is_judged_by_the_time_until_a_test_fails() {
        let order = ["BTest", "CTest"].map(str::to_owned);
        let result = judge(&order, &suite(&["CTest"])).unwrap();
        assert_eq!(result.first_failure_millis, 500);
        assert!((result.first_failure - 0.5).abs() < 1e-12);
        assert!((result.apfd - (1.0 - 1.5 / 4.0)).abs() < 1e-12);
    }

    #[test]
    fn an_order_without_the_failing_test_shows_nothing() {
        assert_eq!(judge(&["BTest".to_owned()], &suite(&["CTest"])), None);
    }
}
