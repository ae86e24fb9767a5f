//! Orders a million tests by each variant of FAST but `fast-pw`, or so many as
//! the first argument says. `fast-pw` compares each test with each other, which
//! is too much for a million; `cargo bench -p fewest-order` has it.
//!
//! `cargo run --release -p fewest-order --example million`

mod suite;

use std::time::Instant;

use fewest_order::fast::{self, Bands, Variant};

fn main() {
    let tests = std::env::args()
        .nth(1)
        .map_or(Ok(1_000_000), |argument| argument.parse())
        .expect("the argument is a number of tests");
    let start = Instant::now();
    let signatures = suite::signatures(tests);
    println!("{tests} signatures: {:.2?}", start.elapsed());
    for variant in [Variant::One, Variant::Log, Variant::Sqrt, Variant::All] {
        let start = Instant::now();
        let order = fast::order(variant, Bands::default(), &signatures, 1);
        assert_eq!(order.len(), tests);
        println!("{variant:?}: {:.2?}", start.elapsed());
    }
}
