//! The default order: the most likely failure per second comes first.
//!
//! `docs/design/order.md` derives the formula. All arithmetic is addition,
//! multiplication and division, which IEEE 754 defines to the last bit, so
//! that the order is the same on every platform.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::candidate::{assume_durations, median};
use crate::nearness::Nearness;
use crate::signature::FUNCTIONS;
use crate::{Candidate, History, Random, Signature};

/// Orders by likelihood of failure, novelty and cost.
pub(crate) fn order(candidates: &[Candidate], seed: u64) -> Vec<usize> {
    let gains = gains(candidates);
    let mut taken = Taken::new(candidates);
    let mut queue: BinaryHeap<Bid> = Random::new(seed)
        .permutation(candidates.len())
        .into_iter()
        .enumerate()
        .map(|(rank, test)| Bid {
            worth: gains[test],
            rank,
            test,
        })
        .collect();

    // A test's novelty only falls while others are taken, so an old bid is
    // never too low. The best bid that holds when worked out again is the best
    // of all, and the others need no new look.
    let mut order = Vec::with_capacity(candidates.len());
    while let Some(bid) = queue.pop() {
        let now = Bid {
            worth: gains[bid.test] * taken.novelty(bid.test),
            ..bid
        };
        if queue.peek().is_some_and(|next| *next > now) {
            queue.push(now);
        } else {
            taken.add(bid.test);
            order.push(bid.test);
        }
    }
    order
}

/// For each test, the likelihood that it fails for the time that it costs.
fn gains(candidates: &[Candidate]) -> Vec<f64> {
    let durations = assume_durations(candidates.iter().map(|candidate| candidate.duration));
    let typical = median(durations.clone()).unwrap_or_default().as_secs_f64();
    let surprise = 1.0 / (candidates.len() as f64 + 1.0);
    Nearness::of(candidates)
        .iter()
        .zip(candidates)
        .zip(&durations)
        .map(|((nearness, candidate), duration)| {
            let failure = any_of([
                from_history(&candidate.history),
                from_change(nearness),
                from_name(candidate),
                surprise,
            ]);
            // The least time keeps a suite of immeasurably short tests from a
            // division by zero.
            failure / (duration.as_secs_f64() + typical).max(1e-9)
        })
        .collect()
}

/// How likely the test fails because it failed before: the mean of a short
/// memory and a long one.
fn from_history(history: &History) -> f64 {
    let rate = f64::from(history.failures) / (f64::from(history.runs) + 1.0);
    f64::midpoint(history.recency, rate)
}

/// How likely the test fails because of the change: suspicion read as odds.
fn from_change(nearness: &Nearness) -> f64 {
    nearness.suspicion / (1.0 + nearness.suspicion)
}

/// How likely the test fails because it is the one of a class that changed: as
/// likely as not.
fn from_name(candidate: &Candidate) -> f64 {
    let is_named_after = candidate.uses.is_some_and(|uses| uses.is_named_after);
    if is_named_after { 0.5 } else { 0.0 }
}

/// How likely at least one of several independent causes is at work.
fn any_of(causes: [f64; 4]) -> f64 {
    1.0 - causes.iter().map(|cause| 1.0 - cause).product::<f64>()
}

/// What a test offers for the next place.
struct Bid {
    worth: f64,
    /// The place in the seeded shuffle: the lower wins a tie.
    rank: usize,
    test: usize,
}

impl Ord for Bid {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth
            .total_cmp(&other.worth)
            .then(other.rank.cmp(&self.rank))
    }
}

impl PartialOrd for Bid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bid {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bid {}

/// Which values of signatures the tests taken so far have.
struct Taken {
    /// For each test and place of its signature, the number of the value
    /// there, or none for a test without a signature.
    values: Vec<Option<[u32; FUNCTIONS]>>,
    is_seen: Vec<bool>,
}

impl Taken {
    fn new(candidates: &[Candidate]) -> Self {
        let mut distinct: Vec<(u8, u32)> = candidates
            .iter()
            .flat_map(|candidate| (0..).zip(candidate.signature.values().iter().copied()))
            .collect();
        distinct.sort_unstable();
        distinct.dedup();
        let number = |signature: &Signature| {
            let values = signature.values();
            (!signature.is_empty()).then(|| {
                std::array::from_fn(|place| {
                    distinct
                        .binary_search(&(place as u8, values[place]))
                        .expect("every value was entered") as u32
                })
            })
        };
        Self {
            values: candidates
                .iter()
                .map(|candidate| number(&candidate.signature))
                .collect(),
            is_seen: vec![false; distinct.len()],
        }
    }

    /// From 1 for a test unlike all that were taken down to 1/2 for one whose
    /// every value was seen: a likeness makes a test less informative, but no
    /// less able to fail.
    fn novelty(&self, test: usize) -> f64 {
        let seen = self.values[test].map_or(0, |values| {
            values
                .iter()
                .filter(|&&value| self.is_seen[value as usize])
                .count()
        });
        1.0 - seen as f64 / (2 * FUNCTIONS) as f64
    }

    fn add(&mut self, test: usize) {
        for value in self.values[test].into_iter().flatten() {
            self.is_seen[value as usize] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fewest_model::Outcome::{Failed, Passed};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::Uses;

    fn test(changed: &[u32], seconds: u64) -> Candidate<'_> {
        Candidate {
            duration: Some(Duration::from_secs(seconds)),
            uses: Some(Uses {
                changed,
                is_named_after: false,
                total: 10,
            }),
            ..Candidate::default()
        }
    }

    #[test]
    fn what_failed_last_comes_before_what_only_uses_a_common_element() {
        let mut failed = test(&[], 1);
        failed.history = History::of([Passed, Passed, Failed]);
        assert_eq!(order(&[test(&[1], 1), test(&[1], 1), failed], 3)[0], 2);
    }

    #[test]
    fn the_test_of_a_changed_class_comes_before_others_that_use_it() {
        let mut own = test(&[1], 2);
        own.uses = own.uses.map(|uses| Uses {
            is_named_after: true,
            ..uses
        });
        let others = test(&[1], 1);
        assert_eq!(order(&[others, others, own, others], 3)[0], 2);
    }

    #[test]
    fn a_new_test_comes_before_those_that_share_a_change() {
        let new = Candidate::default();
        assert_eq!(order(&[test(&[1], 1), test(&[1], 1), new], 3)[0], 2);
    }

    #[test]
    fn of_two_equally_likely_failures_the_quicker_comes_first() {
        assert_eq!(order(&[test(&[1], 60), test(&[1], 2)], 3), [1, 0]);
    }

    #[test]
    fn a_copy_of_what_was_taken_waits_for_something_new() {
        let text = |text: &str| Candidate {
            signature: Signature::of_text(text.as_bytes()),
            ..test(&[1], 1)
        };
        let suite = [
            text("assertEquals(1, parse(x))"),
            text("assertEquals(1, parse(x))"),
            text("server.start(); ping()"),
        ];
        for seed in 0..20 {
            let order = order(&suite, seed);
            assert!(order[..2].contains(&2), "{order:?}");
        }
    }

    #[test]
    fn the_gain_is_the_formula_of_the_design() {
        // History: recency 1/2, rate 1/2, mean 1/2. Change: sole user, odds 1,
        // so 1/2. Surprise: 1/2. Together 7/8, over 2 s of its own and 2 s
        // typical.
        let mut only = test(&[1], 2);
        only.history = History::of([Failed]);
        let [gain] = gains(&[only])[..] else {
            panic!("one test has one gain");
        };
        assert!((gain - 0.875 / 4.0).abs() < 1e-12, "{gain}");
    }

    /// Works out every bid anew for every place.
    fn eager(candidates: &[Candidate], seed: u64) -> Vec<usize> {
        let gains = gains(candidates);
        let mut taken = Taken::new(candidates);
        let mut waiting = Random::new(seed).permutation(candidates.len());
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let worth = |&test: &usize| gains[test] * taken.novelty(test);
            let best = (0..waiting.len())
                .rev()
                .max_by(|&one, &other| worth(&waiting[one]).total_cmp(&worth(&waiting[other])))
                .unwrap();
            let test = waiting.remove(best);
            taken.add(test);
            order.push(test);
        }
        order
    }

    proptest! {
        #[test]
        fn bids_worked_out_late_give_the_same_order(
            suite in vec((prop::array::uniform10(0_u32..4), 0_u64..3, 0_u32..2), 0..30),
            seed: u64,
        ) {
            let candidates: Vec<Candidate> = suite
                .iter()
                .map(|(values, seconds, element)| Candidate {
                    signature: serde_json::from_value(serde_json::json!(values)).unwrap(),
                    ..test(std::slice::from_ref(element), *seconds)
                })
                .collect();
            prop_assert_eq!(order(&candidates, seed), eager(&candidates, seed));
        }
    }
}
