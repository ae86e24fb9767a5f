//! What holds for every suite.

use std::num::NonZeroU32;
use std::time::Duration;

use fewest_model::Outcome;
use fewest_order::fast::{self, Bands, Variant};
use fewest_order::{
    Algorithm, Budget, Candidate, FUNCTIONS, History, Random, Signature, Uses, assume_durations,
    order_then_filter, plan_shards, select_then_order,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// A candidate that owns what it says.
#[derive(Clone, Debug)]
struct Test {
    duration: Option<Duration>,
    outcomes: Vec<Outcome>,
    changed: Option<Vec<u32>>,
    signature: Signature,
}

impl Test {
    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            duration: self.duration,
            history: History::of(self.outcomes.iter().copied()),
            uses: self.changed.as_deref().map(|changed| Uses {
                changed,
                is_named_after: false,
                total: 20,
            }),
            signature: self.signature,
        }
    }
}

fn candidates(suite: &[Test]) -> Vec<Candidate<'_>> {
    suite.iter().map(Test::candidate).collect()
}

/// Signatures with few values, so that many of them agree somewhere.
fn signature() -> impl Strategy<Value = Signature> {
    let values = prop::array::uniform10(0_u32..6);
    let some = values.prop_map(|values| signature_of(&values));
    prop_oneof![9 => some, 1 => Just(Signature::EMPTY)]
}

fn signature_of(values: &[u32; FUNCTIONS]) -> Signature {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    Signature::from_bytes(&bytes.try_into().unwrap())
}

fn duration() -> impl Strategy<Value = Option<Duration>> {
    option::of((0_u64..5_000).prop_map(Duration::from_millis))
}

fn suite() -> impl Strategy<Value = Vec<Test>> {
    let outcome = select(vec![Outcome::Passed, Outcome::Failed, Outcome::Flaky]);
    let changed = option::of(prop::collection::btree_set(0_u32..8, 0..5));
    let test = (duration(), vec(outcome, 0..5), changed, signature()).prop_map(
        |(duration, outcomes, changed, signature)| Test {
            duration,
            outcomes,
            changed: changed.map(|changed| changed.into_iter().collect()),
            signature,
        },
    );
    vec(test, 0..40)
}

fn sorted(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers
}

/// FAST as one would write it down, looking at every test in every step.
///
/// Shares nothing with the crate but the shuffle that decides ties.
fn naive_fast(variant: Variant, rows: usize, suite: &[Signature], seed: u64) -> Vec<usize> {
    let values = |signature: &Signature| -> Vec<u32> {
        signature
            .to_bytes()
            .chunks(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    };
    let suite: Vec<Vec<u32>> = suite.iter().map(values).collect();
    let mut waiting = Random::new(seed).permutation(suite.len());
    let mut order: Vec<usize> = Vec::new();
    let mut opened_at = 0;
    while !waiting.is_empty() {
        let cumulative: Vec<u32> = (0..FUNCTIONS)
            .map(|i| {
                let taken = order[opened_at..].iter().map(|&test| suite[test][i]);
                taken.min().unwrap_or(u32::MAX)
            })
            .collect();
        let agrees =
            |test: usize, i: usize| suite[test][i] == cumulative[i] && cumulative[i] != u32::MAX;
        let collides = |test: usize| {
            (0..FUNCTIONS / rows)
                .any(|band| (band * rows..(band + 1) * rows).all(|i| agrees(test, i)))
        };
        let candidates: Vec<usize> = waiting
            .iter()
            .copied()
            .filter(|&test| !collides(test))
            .collect();
        if candidates.is_empty() {
            opened_at = order.len();
            continue;
        }
        let likeness = |test: usize| {
            let same = |taken: usize, i: usize| {
                suite[test][i] == suite[taken][i] && suite[test][i] != u32::MAX
            };
            let agreements = order
                .iter()
                .map(|&taken| (0..FUNCTIONS).filter(|&i| same(taken, i)).count());
            agreements.max().unwrap_or(0)
        };
        let least = candidates.iter().map(|&test| likeness(test)).min().unwrap();
        let number = candidates.len();
        let round: Vec<usize> = match variant {
            _ if order.is_empty() => vec![candidates[0]],
            Variant::Pairwise => {
                let farthest = candidates.iter().find(|&&test| likeness(test) == least);
                vec![*farthest.unwrap()]
            }
            Variant::One => vec![candidates[0]],
            Variant::Log => {
                let log = (0..64)
                    .take_while(|power| 1_usize << power <= number)
                    .count();
                candidates.into_iter().take(log).collect()
            }
            Variant::Sqrt => {
                let root = (1..=number)
                    .take_while(|root| root * root <= number)
                    .count();
                candidates.into_iter().take(root + 1).collect()
            }
            Variant::All => candidates,
        };
        waiting.retain(|test| !round.contains(test));
        order.extend(round);
    }
    order
}

proptest! {
    #[test]
    fn every_order_is_a_permutation_and_the_same_for_the_same_seed(
        suite in suite(),
        algorithm in select(Algorithm::ALL.to_vec()),
        seed: u64,
    ) {
        let candidates = candidates(&suite);
        let order = algorithm.order(&candidates, seed);
        prop_assert_eq!(algorithm.order(&candidates, seed), order.clone());
        prop_assert_eq!(sorted(order), (0..suite.len()).collect::<Vec<_>>());
    }

    #[test]
    fn fast_equals_the_naive_reference(
        suite in vec(signature(), 0..40),
        variant in select(Variant::ALL.to_vec()),
        (rows, bands) in select(vec![
            (1, Bands::TEN_OF_ONE),
            (2, Bands::FIVE_OF_TWO),
            (5, Bands::TWO_OF_FIVE),
        ]),
        seed: u64,
    ) {
        prop_assert_eq!(
            fast::order(variant, bands, &suite, seed),
            naive_fast(variant, rows, &suite, seed)
        );
    }

    #[test]
    fn selection_before_or_after_the_order_keeps_the_same_tests(
        suite in suite(),
        chosen in vec(any::<bool>(), 40),
        algorithm in select(Algorithm::ALL.to_vec()),
        seed: u64,
    ) {
        let candidates = candidates(&suite);
        let is_selected = |test: usize| chosen[test];
        let order = |tests: &[Candidate]| algorithm.order(tests, seed);
        prop_assert_eq!(
            sorted(select_then_order(&candidates, is_selected, order)),
            sorted(order_then_filter(order(&candidates), is_selected))
        );
    }

    #[test]
    fn a_budget_takes_the_longest_prefix_within_it(
        durations in vec(duration(), 0..40),
        budget in prop_oneof![
            (1_u64..60_000).prop_map(|ms| Budget::Time(Duration::from_millis(ms))),
            (1_u8..=100).prop_map(Budget::Percent),
            (1_usize..50).prop_map(Budget::Tests),
        ],
        seed: u64,
    ) {
        let order = Random::new(seed).permutation(durations.len());
        let times = assume_durations(durations.iter().copied());
        let cut = budget.cut(order.clone(), &durations);
        prop_assert_eq!([cut.taken.clone(), cut.left_out.clone()].concat(), order);

        let time = |tests: &[usize]| tests.iter().map(|&test| times[test]).sum::<Duration>();
        let fits = |tests: &[usize]| match budget {
            Budget::Time(limit) => time(tests) <= limit,
            Budget::Percent(percent) => time(tests) * 100 <= time(&order_of(&times)) * u32::from(percent),
            Budget::Tests(count) => tests.len() <= count,
        };
        prop_assert_eq!(cut.time, time(&cut.taken));
        prop_assert!(fits(&cut.taken));
        if let Some(next) = cut.left_out.first() {
            prop_assert!(!fits(&[cut.taken, vec![*next]].concat()));
        }
    }

    #[test]
    fn shards_partition_the_suite_whatever_its_sequence(
        durations in vec(duration(), 0..40),
        shards in 1_u32..10,
        seed: u64,
    ) {
        let shards = NonZeroU32::new(shards).unwrap();
        let tests: Vec<_> = durations.iter().copied().enumerate().collect();
        let plan = plan_shards(shards, tests.clone());
        prop_assert_eq!(plan.len(), shards.get() as usize);
        prop_assert_eq!(sorted(plan.concat()), order_of(&durations));

        let shuffled = Random::new(seed).permutation(tests.len());
        let other_plan = plan_shards(shards, shuffled.into_iter().map(|test| tests[test]));
        prop_assert_eq!(plan, other_plan);
    }

    #[test]
    fn no_shard_has_more_than_one_test_more_to_do_than_another(
        durations in vec(duration(), 1..40),
        shards in 1_u32..10,
    ) {
        let plan = plan_shards(
            NonZeroU32::new(shards).unwrap(),
            durations.iter().copied().enumerate(),
        );
        let times = assume_durations(durations);
        let work = |shard: &Vec<usize>| shard.iter().map(|&test| times[test]).sum::<Duration>();
        let most = plan.iter().map(work).max().unwrap();
        let least = plan.iter().map(work).min().unwrap();
        prop_assert!(most <= least + *times.iter().max().unwrap());
    }
}

/// The numbers of all tests.
fn order_of<T>(tests: &[T]) -> Vec<usize> {
    (0..tests.len()).collect()
}
