//! Orders a million tests by `fast-all`, or so many as the first argument says.
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
    for variant in Variant::ALL {
        let start = Instant::now();
        let order = fast::order(variant, Bands::default(), &signatures, 1);
        assert_eq!(order.len(), tests);
        println!("{variant:?}: {:.2?}", start.elapsed());
    }
}
