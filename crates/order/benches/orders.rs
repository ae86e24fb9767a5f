//! How the time to order a suite grows with its size.
//!
//! `cargo bench -p fewest-order`. The figures are in `docs/design/order.md`.

#[path = "../examples/suite/mod.rs"]
mod suite;

use divan::Bencher;
use fewest_order::fast::{self, Bands, Variant};
use fewest_order::{Algorithm, Candidate, Random, Signature};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES, sample_count = 2, sample_size = 1)]
fn fast_pw(bencher: Bencher, tests: usize) {
    fast(bencher, Variant::Pairwise, Bands::TEN_OF_ONE, tests);
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn fast_one(bencher: Bencher, tests: usize) {
    fast(bencher, Variant::One, Bands::TEN_OF_ONE, tests);
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn fast_all(bencher: Bencher, tests: usize) {
    fast(bencher, Variant::All, Bands::TEN_OF_ONE, tests);
}

/// The worst case: every test collides with every other.
#[divan::bench(args = [1_000, 10_000], sample_count = 3, sample_size = 1)]
fn fast_pw_of_copies(bencher: Bencher, tests: usize) {
    let signatures = vec![Signature::of_text(b"void test() { assertTrue(true); }"); tests];
    bencher.bench(|| fast::order(Variant::Pairwise, Bands::TEN_OF_ONE, &signatures, 1));
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn smart(bencher: Bencher, tests: usize) {
    let signatures = suite::signatures(tests);
    let candidates: Vec<Candidate> = signatures
        .into_iter()
        .map(|signature| Candidate {
            signature,
            ..Candidate::default()
        })
        .collect();
    bencher.bench(|| Algorithm::Smart.order(&candidates, 1));
}

/// The signature of a test class of 8 KiB.
#[divan::bench]
fn signature(bencher: Bencher) {
    let text = text(8 << 10);
    bencher
        .counter(divan::counter::BytesCount::of_slice(&text))
        .bench(|| Signature::of_text(&text));
}

fn fast(bencher: Bencher, variant: Variant, bands: Bands, tests: usize) {
    let signatures = suite::signatures(tests);
    bencher.bench(|| fast::order(variant, bands, &signatures, 1));
}

/// Printable text of a length.
fn text(length: usize) -> Vec<u8> {
    let mut random = Random::new(1);
    (0..length).map(|_| b'!' + random.below(94) as u8).collect()
}
