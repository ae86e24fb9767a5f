//! How early each order shows what is broken.

use std::collections::BTreeMap;

use fewest_order::statistics::median;
use serde::Serialize;

use super::{mean, names, selections};
use crate::results::{Line, OrderResult};

/// An order of what a technique selects, over all revisions with a failure that
/// it selects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderRow {
    pub technique: String,
    pub order: String,
    pub revisions: usize,
    /// Time to the first failure, as a share of the suite's run time.
    pub first_failure_mean: Option<f64>,
    pub first_failure_median: Option<f64>,
    pub apfd: Option<f64>,
    pub apfd_by_cost: Option<f64>,
}

pub fn orders(lines: &[Line]) -> Vec<OrderRow> {
    let mut rows = Vec::new();
    for technique in names(lines) {
        let mut by_order: BTreeMap<&String, Vec<OrderResult>> = BTreeMap::new();
        for (order, result) in selections(lines, &technique).flat_map(|(_, own)| &own.orders) {
            by_order.entry(order).or_default().push(*result);
        }
        for (order, results) in by_order {
            let values =
                |of: fn(&OrderResult) -> f64| -> Vec<f64> { results.iter().map(of).collect() };
            rows.push(OrderRow {
                technique: technique.clone(),
                order: order.clone(),
                revisions: results.len(),
                first_failure_mean: mean(&values(|result| result.first_failure)),
                first_failure_median: median(&values(|result| result.first_failure)),
                apfd: mean(&values(|result| result.apfd)),
                apfd_by_cost: mean(&values(|result| result.apfd_by_cost)),
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::examples::{lines, study};

    #[test]
    fn orders_are_told_by_technique() {
        let rows = orders(&study());
        let hybrid: Vec<&OrderRow> = rows
            .iter()
            .filter(|row| row.technique == "hybrid")
            .collect();
        assert_eq!(hybrid.len(), 2);
        assert_eq!((&*hybrid[0].order, hybrid[0].revisions), ("none", 2));
        assert_eq!(hybrid[0].first_failure_mean, Some(0.25));
        assert_eq!(hybrid[1].apfd, Some(0.875));
    }

    #[test]
    fn without_failures_there_is_no_such_table() {
        assert!(orders(&lines()).is_empty());
    }
}
