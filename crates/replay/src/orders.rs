//! How early orders find the faults that were planted.
//!
//! Works on the lines of [`crate::mutants`] alone, so orders can be compared
//! again without running any test. The measures and the comparison are those
//! of the Fastazi study (§4.2, Tables 2 and 3, §5.2): for each fault, every
//! approach orders the suite with thirty seeds, and the mean over the seeds is
//! one observation.

mod comparison;
mod fault;
mod markdown;

use fewest_order::Algorithm;

pub use comparison::{Comparison, Found, Summary, Versus, compare};
pub use fault::{Fault, faults};
pub use markdown::markdown;

/// How many seeds each approach orders each fault's suite with.
pub const SEEDS: u64 = 30;

/// Budgets, in hundredths of the number of tests that `file` selects.
pub const BUDGETS: [usize; 5] = [10, 25, 50, 75, 100];

/// Which tests run, and in what order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approach {
    pub name: &'static str,
    /// The technique that selects, or none to run the whole suite.
    pub technique: Option<&'static str>,
    pub algorithm: Algorithm,
}

const fn approach(
    name: &'static str,
    technique: Option<&'static str>,
    algorithm: Algorithm,
) -> Approach {
    Approach {
        name,
        technique,
        algorithm,
    }
}

/// The approaches of the study, and then fewest's own.
pub const APPROACHES: [Approach; 10] = [
    approach("random", None, Algorithm::Random),
    approach("fast-pw", None, Algorithm::FastPw),
    approach("file, random", Some("file"), Algorithm::Random),
    approach(FASTAZI, Some("file"), Algorithm::FastPw),
    approach("file, smart", Some("file"), Algorithm::Smart),
    approach("hybrid, random", Some("hybrid"), Algorithm::Random),
    approach("hybrid, fast-pw", Some("hybrid"), Algorithm::FastPw),
    approach("hybrid, quick", Some("hybrid"), Algorithm::Quick),
    approach("hybrid, nearest", Some("hybrid"), Algorithm::Nearest),
    approach(SMART, Some("hybrid"), Algorithm::Smart),
];

const FASTAZI: &str = "Fastazi (file, fast-pw)";
const SMART: &str = "hybrid, smart";

/// Pairs to compare: does the first find faults earlier than the second?
const PAIRS: [(&str, &str); 7] = [
    (FASTAZI, "random"),
    (FASTAZI, "fast-pw"),
    (FASTAZI, "file, random"),
    ("file, random", "fast-pw"),
    (SMART, FASTAZI),
    (SMART, "hybrid, random"),
    (SMART, "hybrid, nearest"),
];
