//! In which order tests run, how many fit a budget, and how they split over
//! machines.
//!
//! Everything is a function of plain values: no files, no clock, no threads.
//! An order is a permutation of the positions of its input, and the same
//! input with the same seed gives the same order on every platform.
//!
//! [`Algorithm::order`] is the way in. [`Budget`] and [`Shard`] divide what it
//! returns, [`metrics`] and [`statistics`] judge it, and [`fast`] has the FAST
//! family with its parameters.

#![forbid(unsafe_code)]
#![expect(
    clippy::cast_precision_loss,
    reason = "counts of tests stay far below 2^52, where f64 is exact"
)]

mod algorithm;
mod budget;
mod candidate;
mod combine;
pub mod fast;
pub mod metrics;
mod nearness;
mod random;
mod shard;
mod shingle;
mod signature;
mod smart;
pub mod statistics;
mod words;

pub use algorithm::{Algorithm, ParseAlgorithmError};
pub use budget::{Budget, Cut, ParseBudgetError, ParseBudgetErrorKind};
pub use candidate::{Candidate, History, Uses, assume_durations, is_named_after};
pub use combine::{order_then_filter, select_then_order};
pub use random::Random;
pub use shard::{ParseShardError, Shard, plan as plan_shards};
pub use shingle::SHINGLE_LENGTH;
pub use signature::{FUNCTIONS, SIGNATURE_FORMAT, Signature};
