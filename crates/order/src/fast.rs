//! The FAST family: tests unlike those already taken come first.
//!
//! After Miranda, Cruciani, Verdecchia and Bertolino, "FAST Approaches to
//! Scalable Similarity-Based Test Case Prioritization" (ICSE 2018). What has
//! been taken is held as one cumulative signature, that of the union. The
//! candidates of a round are the tests that share no band with it, and the
//! variants differ in how many of them a round takes. When no candidate is
//! left, the cumulative signature starts anew.
//!
//! `fast-pw` takes the candidate that is farthest from what has been taken, by
//! its distance to the nearest test of it ([`pairwise`]).
//!
//! As in the authors' program, the first test is taken alone. While nothing
//! has been taken every test is a candidate, and `fast-all` would be no more
//! than a shuffle.

mod pairwise;

use crate::signature::FUNCTIONS;
use crate::{Random, Signature};

/// How many candidates a round takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The one that is farthest from what has been taken.
    Pairwise,
    /// One, whichever.
    One,
    /// The logarithm of their number to the base of two, and one.
    Log,
    /// The square root of their number, and one.
    Sqrt,
    /// All of them.
    All,
}

impl Variant {
    pub const ALL: [Self; 5] = [Self::Pairwise, Self::One, Self::Log, Self::Sqrt, Self::All];

    /// How many of so many candidates a round takes.
    fn take(self, candidates: usize) -> usize {
        let wanted = match self {
            Self::Pairwise | Self::One => 1,
            Self::Log => candidates.checked_ilog2().unwrap_or(0) as usize + 1,
            Self::Sqrt => candidates.isqrt() + 1,
            Self::All => candidates,
        };
        wanted.min(candidates)
    }
}

/// How the places of a signature are grouped into bands. Two signatures
/// collide if they agree in all rows of some band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bands {
    rows: usize,
}

impl Bands {
    /// Ten bands of one row, as the authors use it: a candidate agrees with the
    /// cumulative signature in no place at all.
    pub const TEN_OF_ONE: Self = Self { rows: 1 };
    /// Five bands of two rows: candidates may agree with it in some places.
    pub const FIVE_OF_TWO: Self = Self { rows: 2 };
    /// Two bands of five rows.
    pub const TWO_OF_FIVE: Self = Self { rows: 5 };

    /// Whether the two signatures agree in all rows of some band.
    pub fn collide(self, one: &Signature, other: &Signature) -> bool {
        let agrees: [bool; FUNCTIONS] = one.agreements(other);
        match self.rows {
            // The common case, without a branch for each place.
            1 => agrees.into_iter().fold(false, |any, agrees| any | agrees),
            rows => agrees.chunks(rows).any(|band| !band.contains(&false)),
        }
    }
}

impl Default for Bands {
    fn default() -> Self {
        Self::TEN_OF_ONE
    }
}

/// Orders tests by their signatures.
///
/// Where the rule leaves a choice, the test goes first that comes first in a
/// shuffle by the seed.
pub fn order(variant: Variant, bands: Bands, signatures: &[Signature], seed: u64) -> Vec<usize> {
    let shuffled = Random::new(seed).permutation(signatures.len());
    // Rounds go through the tests in the order of the shuffle. With the
    // signatures lying in that order, they read memory from front to back.
    let signatures: Vec<Signature> = shuffled.iter().map(|&test| signatures[test]).collect();
    let mut order = match variant {
        Variant::Pairwise => pairwise::order(bands, &signatures),
        _ => Rounds::new(variant, bands, &signatures).run(),
    };
    for place in &mut order {
        *place = shuffled[*place];
    }
    order
}

struct Rounds<'a> {
    variant: Variant,
    bands: Bands,
    signatures: &'a [Signature],
    cumulative: Signature,
    /// What has not been taken, in the order of the shuffle.
    remaining: Vec<usize>,
    is_taken: Vec<bool>,
    order: Vec<usize>,
}

impl<'a> Rounds<'a> {
    fn new(variant: Variant, bands: Bands, signatures: &'a [Signature]) -> Self {
        Self {
            variant,
            bands,
            signatures,
            cumulative: Signature::EMPTY,
            remaining: (0..signatures.len()).collect(),
            is_taken: vec![false; signatures.len()],
            order: Vec::with_capacity(signatures.len()),
        }
    }

    fn run(mut self) -> Vec<usize> {
        if !self.remaining.is_empty() {
            self.take(&[0]);
            self.forget_taken();
        }
        let mut candidates = Vec::new();
        while !self.remaining.is_empty() {
            self.find_candidates(&mut candidates);
            self.take_rounds(&candidates);
            self.forget_taken();
        }
        self.order
    }

    fn find_candidates(&mut self, candidates: &mut Vec<usize>) {
        let (bands, signatures, cumulative) = (self.bands, self.signatures, self.cumulative);
        let is_candidate = |&&test: &&usize| !bands.collide(&signatures[test], &cumulative);
        candidates.clear();
        candidates.extend(self.remaining.iter().filter(is_candidate));
        if candidates.is_empty() {
            self.cumulative = Signature::EMPTY;
            candidates.extend(&self.remaining);
        }
    }

    /// Takes rounds for as long as the cumulative signature, and with it who
    /// is a candidate, stays the same.
    fn take_rounds(&mut self, mut candidates: &[usize]) {
        let before = self.cumulative;
        while self.cumulative == before && !candidates.is_empty() {
            let (round, rest) = candidates.split_at(self.variant.take(candidates.len()));
            self.take(round);
            candidates = rest;
        }
    }

    fn take(&mut self, tests: &[usize]) {
        for &test in tests {
            self.is_taken[test] = true;
            self.cumulative = self.cumulative.union(&self.signatures[test]);
        }
        self.order.extend(tests);
    }

    fn forget_taken(&mut self) {
        let is_taken = &self.is_taken;
        self.remaining.retain(|&test| !is_taken[test]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn signatures(texts: &[&str]) -> Vec<Signature> {
        texts
            .iter()
            .map(|text| Signature::of_text(text.as_bytes()))
            .collect()
    }

    #[test]
    fn rounds_take_as_many_as_their_name_says() {
        let take = |variant: Variant| [1, 2, 9, 16].map(|n| variant.take(n));
        assert_eq!(take(Variant::Pairwise), [1, 1, 1, 1]);
        assert_eq!(take(Variant::One), [1, 1, 1, 1]);
        assert_eq!(take(Variant::Log), [1, 2, 4, 5]);
        assert_eq!(take(Variant::Sqrt), [1, 2, 4, 5]);
        assert_eq!(take(Variant::All), [1, 2, 9, 16]);
    }

    #[test]
    fn copies_wait_until_the_other_kinds_were_seen() {
        let kinds = [
            "assertEquals(1, parse(x))",
            "mock.verify()",
            "db.open(); query()",
        ];
        let suite = signatures(&[kinds, kinds, kinds].concat());
        for variant in Variant::ALL {
            // Only rounds of one look at each other test before the next.
            let distinct = if variant.take(8) == 1 { 3 } else { 2 };
            for seed in 0..20 {
                let order = order(variant, Bands::default(), &suite, seed);
                let seen: BTreeSet<usize> = order[..distinct].iter().map(|test| test % 3).collect();
                assert_eq!(seen.len(), distinct, "{variant:?} with seed {seed}");
            }
        }
    }

    #[test]
    fn unreadable_tests_are_never_put_off() {
        let mut suite = signatures(&["assertTrue(ok())"; 6]);
        suite.push(Signature::EMPTY);
        for seed in 0..20 {
            let order = order(Variant::Pairwise, Bands::default(), &suite, seed);
            assert!(order[..2].contains(&6), "{order:?}");
        }
    }

    #[test]
    fn no_tests_have_an_order_too() {
        assert!(order(Variant::All, Bands::default(), &[], 1).is_empty());
    }
}
