//! The candidate that is farthest from what has been taken.
//!
//! A test is as far from what has been taken as from the nearest test of it.
//! The distance to the cumulative signature would decide nothing. With one row
//! to a band all candidates are at the same distance from it, the greatest;
//! and with more rows it forgets, since the least values of many tests are the
//! values of few of them.

use super::Bands;
use crate::Signature;

/// A test that has not been taken.
struct Waiting {
    test: usize,
    signature: Signature,
    /// In how many places it agrees with the nearest test that has been taken.
    likeness: usize,
}

/// Orders tests by their signatures; where several are equally far, the first
/// one goes first.
pub(super) fn order(bands: Bands, signatures: &[Signature]) -> Vec<usize> {
    let mut waiting: Vec<Waiting> = signatures
        .iter()
        .enumerate()
        .map(|(test, &signature)| Waiting {
            test,
            signature,
            likeness: 0,
        })
        .collect();
    let mut order = Vec::with_capacity(signatures.len());
    let mut cumulative = Signature::EMPTY;
    while !waiting.is_empty() {
        let Some(farthest) = farthest_candidate(bands, &cumulative, &waiting) else {
            cumulative = Signature::EMPTY;
            continue;
        };
        let taken = waiting.remove(farthest);
        cumulative = cumulative.union(&taken.signature);
        for other in &mut waiting {
            let likeness = other.signature.agreement(&taken.signature);
            other.likeness = other.likeness.max(likeness);
        }
        order.push(taken.test);
    }
    order
}

/// Where it waits. Nothing collides with the empty signature, so that there is
/// a candidate whenever the cumulative signature has just started.
fn farthest_candidate(bands: Bands, cumulative: &Signature, waiting: &[Waiting]) -> Option<usize> {
    let candidates = waiting
        .iter()
        .enumerate()
        .filter(|(_, waiting)| !bands.collide(&waiting.signature, cumulative));
    let farthest = candidates.min_by_key(|(_, waiting)| waiting.likeness);
    farthest.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fast::{self, Variant};

    /// Hand-made signatures.
    fn suite(values: &[[u32; 10]]) -> Vec<Signature> {
        let make = |values| serde_json::from_value(serde_json::json!(values)).unwrap();
        values.iter().map(make).collect()
    }

    /// The orders of fifty seeds that begin with some tests.
    fn orders(bands: Bands, suite: &[Signature], begin: &[usize]) -> BTreeSet<Vec<usize>> {
        (0..50)
            .map(|seed| fast::order(Variant::Pairwise, bands, suite, seed))
            .filter(|order| order.starts_with(begin))
            .collect()
    }

    #[test]
    fn the_farther_candidate_wins() {
        // The second agrees with the first in one place of each of five bands
        // and so stays a candidate; the third agrees nowhere.
        let suite = suite(&[[1; 10], [1, 2, 1, 2, 1, 2, 1, 2, 1, 2], [3; 10]]);
        assert!(!Bands::FIVE_OF_TWO.collide(&suite[0], &suite[1]));
        assert!(Bands::TEN_OF_ONE.collide(&suite[0], &suite[1]));
        let orders = orders(Bands::FIVE_OF_TWO, &suite, &[0]);
        assert_eq!(orders, BTreeSet::from([vec![0, 2, 1]]));
    }

    #[test]
    fn a_likeness_counts_that_the_cumulative_signature_has_forgotten() {
        // The second has the lesser values everywhere. The third is like the
        // first in three places, and the fourth is like nothing.
        let suite = suite(&[[5; 10], [1; 10], [5, 5, 5, 8, 8, 8, 8, 8, 8, 8], [7; 10]]);
        let orders = orders(Bands::TEN_OF_ONE, &suite, &[0, 1]);
        assert_eq!(orders, BTreeSet::from([vec![0, 1, 3, 2]]));
    }
}
