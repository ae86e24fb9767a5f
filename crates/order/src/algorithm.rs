//! The orders by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::candidate::assume_durations;
use crate::fast::{self, Bands, Variant};
use crate::nearness::Nearness;
use crate::{Candidate, Random, Signature, smart};

/// A way to put tests in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// The most likely failure per second first.
    #[default]
    Smart,
    /// The tests nearest to the change first: those that use the rarest
    /// changed element, and of these the ones of whose uses most has changed.
    Nearest,
    /// What failed most recently first, then by failure rate.
    History,
    /// Short tests first.
    Quick,
    /// Shuffled.
    Random,
    FastPw,
    FastOne,
    FastLog,
    FastSqrt,
    FastAll,
}

impl Algorithm {
    pub const ALL: [Self; 10] = [
        Self::Smart,
        Self::Nearest,
        Self::History,
        Self::Quick,
        Self::Random,
        Self::FastPw,
        Self::FastOne,
        Self::FastLog,
        Self::FastSqrt,
        Self::FastAll,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Smart => "smart",
            Self::Nearest => "nearest",
            Self::History => "history",
            Self::Quick => "quick",
            Self::Random => "random",
            Self::FastPw => "fast-pw",
            Self::FastOne => "fast-one",
            Self::FastLog => "fast-log",
            Self::FastSqrt => "fast-sqrt",
            Self::FastAll => "fast-all",
        }
    }

    /// Whether it goes by the tests' code alone, so that it can order any files.
    pub const fn goes_by_code(self) -> bool {
        !matches!(
            self,
            Self::Smart | Self::Nearest | Self::History | Self::Quick
        )
    }

    /// Whether it matters to it how much of what a test uses has changed.
    pub const fn needs_nearness(self) -> bool {
        matches!(self, Self::Smart | Self::Nearest)
    }

    /// Whether it looks at signatures at all.
    pub const fn needs_signatures(self) -> bool {
        !matches!(
            self,
            Self::Nearest | Self::History | Self::Quick | Self::Random
        )
    }

    /// Puts the tests in order, as positions in the given list.
    ///
    /// Ties go by a shuffle that the seed and the number of tests decide.
    /// Callers that want the same order on every machine give the list in the
    /// same order, as sorted by name.
    pub fn order(self, candidates: &[Candidate], seed: u64) -> Vec<usize> {
        match self {
            Self::Smart => smart::order(candidates, seed),
            Self::Nearest => nearest(candidates, seed),
            Self::History => history(candidates, seed),
            Self::Quick => quick(candidates, seed),
            Self::Random => Random::new(seed).permutation(candidates.len()),
            Self::FastPw => by_similarity(Variant::Pairwise, candidates, seed),
            Self::FastOne => by_similarity(Variant::One, candidates, seed),
            Self::FastLog => by_similarity(Variant::Log, candidates, seed),
            Self::FastSqrt => by_similarity(Variant::Sqrt, candidates, seed),
            Self::FastAll => by_similarity(Variant::All, candidates, seed),
        }
    }
}

fn nearest(candidates: &[Candidate], seed: u64) -> Vec<usize> {
    let nearness = Nearness::of(candidates);
    let mut order = Random::new(seed).permutation(candidates.len());
    order.sort_by(|&one, &other| Nearness::nearer_first(&nearness[one], &nearness[other]));
    order
}

fn history(candidates: &[Candidate], seed: u64) -> Vec<usize> {
    let mut order = Random::new(seed).permutation(candidates.len());
    order.sort_by(|&one, &other| {
        let [one, other] = [one, other].map(|test| &candidates[test].history);
        let passes = |passes: Option<u32>| passes.unwrap_or(u32::MAX);
        passes(one.passes_since_failure)
            .cmp(&passes(other.passes_since_failure))
            .then(other.failure_rate().total_cmp(&one.failure_rate()))
    });
    order
}

fn quick(candidates: &[Candidate], seed: u64) -> Vec<usize> {
    let durations = assume_durations(candidates.iter().map(|candidate| candidate.duration));
    let mut order = Random::new(seed).permutation(candidates.len());
    order.sort_by_key(|&test| durations[test]);
    order
}

fn by_similarity(variant: Variant, candidates: &[Candidate], seed: u64) -> Vec<usize> {
    let signatures: Vec<Signature> = candidates
        .iter()
        .map(|candidate| candidate.signature)
        .collect();
    fast::order(variant, Bands::default(), &signatures, seed)
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not an order; there are {all}", all = Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct ParseAlgorithmError(String);

impl FromStr for Algorithm {
    type Err = ParseAlgorithmError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == text)
            .ok_or_else(|| ParseAlgorithmError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fewest_model::Outcome::{Failed, Passed};

    use super::*;
    use crate::{History, Uses};

    #[test]
    fn names_parse_and_serialise_as_they_print() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
            assert_eq!(
                serde_json::to_value(algorithm).unwrap(),
                algorithm.to_string()
            );
        }
        assert_eq!(
            "fast".parse::<Algorithm>().unwrap_err().to_string(),
            "`fast` is not an order; there are smart, nearest, history, quick, random, \
             fast-pw, fast-one, fast-log, fast-sqrt, fast-all"
        );
    }

    #[test]
    fn history_puts_recent_failures_before_frequent_ones() {
        let of = |outcomes: &[fewest_model::Outcome]| Candidate {
            history: History::of(outcomes.iter().copied()),
            ..Candidate::default()
        };
        let suite = [
            of(&[Passed, Passed, Passed]),
            of(&[Failed, Failed, Passed]),
            of(&[Passed, Passed, Failed]),
            of(&[Passed, Failed, Failed]),
        ];
        assert_eq!(Algorithm::History.order(&suite, 9), [3, 2, 1, 0]);
    }

    #[test]
    fn quick_takes_an_unknown_test_for_a_typical_one() {
        let seconds = |n| Candidate {
            duration: Some(Duration::from_secs(n)),
            ..Candidate::default()
        };
        let suite = [
            seconds(9),
            Candidate::default(),
            seconds(1),
            seconds(5),
            seconds(2),
        ];
        assert_eq!(Algorithm::Quick.order(&suite, 9), [2, 4, 1, 3, 0]);
    }

    #[test]
    fn nearest_starts_with_new_tests_and_ends_with_untouched_ones() {
        let uses = |changed| Candidate {
            uses: Some(Uses {
                changed,
                is_named_after: false,
                total: 10,
            }),
            ..Candidate::default()
        };
        let suite = [
            uses(&[]),
            uses(&[1]),
            uses(&[1, 2]),
            uses(&[1]),
            Candidate::default(),
        ];
        let order = Algorithm::Nearest.order(&suite, 9);
        assert_eq!((order[0], order[1], order[4]), (4, 2, 0));
    }
}
