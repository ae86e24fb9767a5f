//! How tests split over machines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::candidate::assume_durations;

/// One of several shards, counted from one: `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: NonZeroU32,
    count: NonZeroU32,
}

impl Shard {
    /// The shard with the given number, if there are so many.
    pub fn new(index: NonZeroU32, count: NonZeroU32) -> Option<Self> {
        (index <= count).then_some(Self { index, count })
    }

    pub fn index(self) -> NonZeroU32 {
        self.index
    }

    pub fn count(self) -> NonZeroU32 {
        self.count
    }

    /// The tests of this shard, sorted.
    pub fn of<T: Ord>(self, tests: impl IntoIterator<Item = (T, Option<Duration>)>) -> Vec<T> {
        plan(self.count, tests).swap_remove(self.index.get() as usize - 1)
    }
}

/// Splits tests over shards so that the shards end together.
///
/// The longest test goes first, each to the shard with the least to do
/// (Graham's longest-processing-time rule, within 4/3 of the best split).
/// Every test is in exactly one shard. The same tests with the same durations
/// give the same split in whatever sequence they come, so machines need not
/// talk to each other. Each shard is sorted.
pub fn plan<T: Ord>(
    shards: NonZeroU32,
    tests: impl IntoIterator<Item = (T, Option<Duration>)>,
) -> Vec<Vec<T>> {
    let (tests, durations): (Vec<T>, Vec<Option<Duration>>) = tests.into_iter().unzip();
    let mut tests: Vec<(Reverse<Duration>, T)> = assume_durations(durations)
        .into_iter()
        .map(Reverse)
        .zip(tests)
        .collect();
    tests.sort();

    let mut plan: Vec<Vec<T>> = (0..shards.get()).map(|_| Vec::new()).collect();
    // Of equally busy shards the one with fewer tests is next, so that tests
    // too short to measure spread too.
    let mut queue: BinaryHeap<Reverse<(Duration, usize, usize)>> = (0..plan.len())
        .map(|shard| Reverse((Duration::ZERO, 0, shard)))
        .collect();
    for (Reverse(duration), test) in tests {
        let Reverse((busy, _, shard)) = queue.pop().expect("there is at least one shard");
        plan[shard].push(test);
        queue.push(Reverse((busy + duration, plan[shard].len(), shard)));
    }
    for shard in &mut plan {
        shard.sort();
    }
    plan
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParseShardError {
    #[error("`{0}` is not a shard; write its number and how many there are, as in `3/8`")]
    Form(String),
    #[error("`{0}` is not a shard; the first is `1/{1}` and the last `{1}/{1}`")]
    Range(String, NonZeroU32),
}

impl FromStr for Shard {
    type Err = ParseShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || ParseShardError::Form(text.to_owned());
        let number = |text: &str| {
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse::<u32>().ok().filter(|_| is_number);
            number.ok_or_else(form)
        };
        let (index, count) = text.split_once('/').ok_or_else(form)?;
        let (index, count) = (number(index)?, number(count)?);
        let count = NonZeroU32::new(count).ok_or_else(form)?;
        NonZeroU32::new(index)
            .and_then(|index| Self::new(index, count))
            .ok_or_else(|| ParseShardError::Range(text.to_owned(), count))
    }
}

impl TryFrom<String> for Shard {
    type Error = ParseShardError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(count: u32) -> NonZeroU32 {
        NonZeroU32::new(count).unwrap()
    }

    #[test]
    fn a_shard_parses_as_it_prints() {
        let shard: Shard = "3/8".parse().unwrap();
        assert_eq!((shard.index().get(), shard.count().get()), (3, 8));
        assert_eq!(shard.to_string(), "3/8");
        assert_eq!(serde_json::to_value(shard).unwrap(), "3/8");
    }

    #[test]
    fn what_is_no_shard_says_what_would_be_one() {
        let error = |text: &str| text.parse::<Shard>().unwrap_err().to_string();
        assert_eq!(
            error("9/8"),
            "`9/8` is not a shard; the first is `1/8` and the last `8/8`"
        );
        assert_eq!(error("0/8"), error("9/8").replace("9/8", "0/8"));
        for text in ["", "3", "3/", "/8", "+3/8", "3/8/2", "1/0", "3 / 8"] {
            assert_eq!(
                error(text),
                format!(
                    "`{text}` is not a shard; write its number and how many there are, as in `3/8`"
                )
            );
        }
    }

    #[test]
    fn the_longest_tests_are_dealt_first() {
        let seconds = |n| Some(Duration::from_secs(n));
        let tests = [
            ("a", seconds(2)),
            ("b", seconds(7)),
            ("c", seconds(3)),
            ("d", seconds(4)),
        ];
        assert_eq!(plan(shards(2), tests), [vec!["a", "b"], vec!["c", "d"]]);
        let first: Shard = "1/2".parse().unwrap();
        assert_eq!(first.of(tests), ["a", "b"]);
    }

    #[test]
    fn tests_too_short_to_measure_spread_by_number() {
        let tests = (0..9).map(|test| (test, Some(Duration::ZERO)));
        let sizes: Vec<usize> = plan(shards(3), tests).iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 3, 3]);
    }

    #[test]
    fn there_may_be_more_shards_than_tests() {
        assert_eq!(plan(shards(3), [("a", None)]), [vec!["a"], vec![], vec![]]);
    }
}
