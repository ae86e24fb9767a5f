//! A made-up suite in the likeness of real ones: all tests share a little,
//! those of a package more, and each has something of its own.

use fewest_order::{Random, Signature};

/// The signatures of a suite of so many tests.
pub(crate) fn signatures(tests: usize) -> Vec<Signature> {
    let packages = tests.isqrt().max(1);
    let mut random = Random::new(2018);
    (0..tests)
        .map(|test| {
            let package = random.below(packages) as u64;
            let common = (0..20).map(|token| token % 12);
            let shared = (0..6)
                .flat_map(|_| phrase(random.below(40) as u64 + 1_000 * (package + 1)))
                .collect::<Vec<_>>();
            let own = (0..4).flat_map(|part| phrase((test as u64) << 32 | part));
            let tokens: Vec<u64> = common.chain(shared).chain(own).collect();
            Signature::of_tokens(tokens.iter().map(|token| token.to_le_bytes()))
        })
        .collect()
}

/// Ten tokens that always occur together.
fn phrase(number: u64) -> impl Iterator<Item = u64> {
    (0..10).map(move |token| Random::new(number ^ token << 56).word())
}
