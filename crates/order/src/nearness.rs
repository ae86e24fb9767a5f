//! How near a test is to the change.

use std::cmp::Ordering;

use crate::{Candidate, Uses};

/// How near one test is to the change. The greater is the nearer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearness {
    /// How many tests use the changed element that fewest of them use, or
    /// none if the test uses no changed element.
    rarest: Option<u32>,
    /// How much of what the test uses has changed.
    share: f64,
    /// The test's part in the suspicion that the changed elements raise.
    pub(crate) suspicion: f64,
}

impl Nearness {
    /// A new test is near to itself: it is a changed thing that no other uses.
    const OF_NEW: Self = Self {
        rarest: Some(1),
        share: 1.0,
        suspicion: 1.0,
    };

    /// A test that ran before and left no record may use anything.
    const OF_UNKNOWN: Self = Self {
        rarest: None,
        share: 0.0,
        suspicion: 0.0,
    };

    /// Tests that use a changed element before those that use none, then by
    /// the rarest changed element, then by the share that has changed.
    pub(crate) fn nearer_first(one: &Self, other: &Self) -> Ordering {
        let rarest = |nearness: &Self| nearness.rarest.unwrap_or(u32::MAX);
        rarest(one)
            .cmp(&rarest(other))
            .then(other.share.total_cmp(&one.share))
    }

    /// Weighs the tests of one suite against each other.
    pub(crate) fn of(candidates: &[Candidate]) -> Vec<Self> {
        let users = Users::of(candidates);
        candidates
            .iter()
            .map(|candidate| match &candidate.uses {
                Some(known) => users.nearness(known),
                None if candidate.history.runs == 0 => Self::OF_NEW,
                None => Self::OF_UNKNOWN,
            })
            .collect()
    }
}

/// For each changed element, who uses it.
struct Users {
    /// The numbers of the elements, sorted. They may be sparse.
    elements: Vec<u32>,
    count: Vec<u32>,
    attention: Vec<f64>,
}

impl Users {
    fn of(candidates: &[Candidate]) -> Self {
        let all_uses = || candidates.iter().filter_map(|candidate| candidate.uses);
        let mut elements: Vec<u32> = all_uses().flat_map(|uses| uses.changed).copied().collect();
        elements.sort_unstable();
        elements.dedup();
        let mut users = Self {
            count: vec![0; elements.len()],
            attention: vec![0.0; elements.len()],
            elements,
        };
        for uses in all_uses() {
            for element in uses.changed {
                let place = users.place(*element);
                users.count[place] += 1;
                users.attention[place] += attention(&uses);
            }
        }
        users
    }

    fn place(&self, element: u32) -> usize {
        self.elements
            .binary_search(&element)
            .expect("every changed element was entered")
    }

    fn nearness(&self, uses: &Uses) -> Nearness {
        let places = || uses.changed.iter().map(|&element| self.place(element));
        Nearness {
            rarest: places().map(|place| self.count[place]).min(),
            share: uses.changed_share(),
            suspicion: places()
                .map(|place| attention(uses) / self.attention[place])
                .sum(),
        }
    }
}

/// How closely a test looks at each element it uses: the fewer the closer.
fn attention(uses: &Uses) -> f64 {
    1.0 / uses.elements()
}

#[cfg(test)]
mod tests {
    use fewest_model::Outcome::Passed;

    use super::*;
    use crate::History;

    fn candidate(changed: &[u32], total: usize) -> Candidate<'_> {
        Candidate {
            uses: Some(Uses {
                changed,
                is_named_after: false,
                total,
            }),
            ..Candidate::default()
        }
    }

    #[test]
    fn each_changed_element_shares_one_unit_of_suspicion_among_its_users() {
        // Element 7 has two users, of 4 and of 12 elements: 3/4 and 1/4.
        // Element 9 has one.
        let nearness = Nearness::of(&[
            candidate(&[7], 4),
            candidate(&[7, 9], 12),
            candidate(&[], 3),
            Candidate::default(),
        ]);
        let suspicion: Vec<f64> = nearness.iter().map(|nearness| nearness.suspicion).collect();
        assert_eq!(suspicion, [0.75, 1.25, 0.0, 1.0]);
    }

    #[test]
    fn a_test_that_ran_before_without_a_record_is_not_new() {
        let ran = Candidate {
            history: History::of([Passed]),
            ..Candidate::default()
        };
        let nearness = Nearness::of(&[candidate(&[7], 4), ran]);
        assert!(nearness[0].suspicion > nearness[1].suspicion);
        assert!(Nearness::nearer_first(&nearness[0], &nearness[1]).is_lt());
    }

    #[test]
    fn the_rarest_changed_element_comes_first_and_then_the_greater_share() {
        let candidates = [
            candidate(&[], 1),
            candidate(&[1], 10),
            candidate(&[1], 2),
            candidate(&[1, 2], 100),
        ];
        let nearness = Nearness::of(&candidates);
        let mut order: Vec<usize> = (0..4).collect();
        order.sort_by(|&one, &other| Nearness::nearer_first(&nearness[one], &nearness[other]));
        assert_eq!(order, [3, 2, 1, 0]);
    }
}
