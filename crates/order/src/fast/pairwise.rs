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
    /// Whether it shares a band with the cumulative signature.
    collides: bool,
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
            collides: false,
        })
        .collect();
    let mut order = Vec::with_capacity(signatures.len());
    let mut cumulative = Signature::EMPTY;
    while let Some(farthest) = farthest(&waiting) {
        if waiting[farthest].collides {
            // So there is no candidate left.
            cumulative = Signature::EMPTY;
            for test in &mut waiting {
                test.collides = false;
            }
            continue;
        }
        let taken = waiting.swap_remove(farthest);
        for other in &mut waiting {
            let likeness = other.signature.agreement(&taken.signature);
            other.likeness = other.likeness.max(likeness);
        }
        // It changes seldom: the least of many values falls less and less often.
        let union = cumulative.union(&taken.signature);
        if union != cumulative {
            cumulative = union;
            for other in &mut waiting {
                other.collides = bands.collide(&other.signature, &cumulative);
            }
        }
        order.push(taken.test);
    }
    order
}

/// Where the candidate that is farthest waits; without candidates, any other.
fn farthest(waiting: &[Waiting]) -> Option<usize> {
    let places = waiting.iter().enumerate();
    let farthest = places.min_by_key(|(_, test)| test.rank());
    farthest.map(|(place, _)| place)
}

impl Waiting {
    /// Candidates first, of these the farthest, and of these the first one, all
    /// in one number because it is compared so often.
    fn rank(&self) -> u64 {
        u64::from(self.collides) << 63 | (self.likeness as u64) << 56 | self.test as u64
    }
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
