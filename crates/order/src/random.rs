//! The seeded generator behind every tie.
//!
//! Written here rather than taken from a crate, because an order has to stay
//! the same on every platform and after every update of a dependency.

/// Spreads the bits of a word over the whole word, without losing any.
///
/// The finalizer of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The step of `SplitMix64`: 2^64 divided by the golden ratio, made odd.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A `SplitMix64` generator: small, fast, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number below the bound, which must not be zero.
    ///
    /// Takes the high half of a product instead of a remainder (Lemire 2019).
    /// The bias is below 2^-32 for every suite that fits in memory.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.word()) * bound as u128) >> 64) as usize
    }

    /// The numbers below `count`, shuffled.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            numbers.swap(last, self.below(last + 1));
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_published_sequence() {
        // The first outputs of the reference implementation for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.word(), 6_457_827_717_110_365_317);
        assert_eq!(random.word(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_shuffle_is_the_same_everywhere() {
        assert_eq!(
            Random::new(1).permutation(10),
            Random::new(1).permutation(10)
        );
        assert_ne!(
            Random::new(1).permutation(10),
            Random::new(2).permutation(10)
        );
    }

    #[test]
    fn every_place_is_reached_about_equally_often() {
        let mut random = Random::new(7);
        let mut firsts = [0_u32; 5];
        for _ in 0..5_000 {
            firsts[random.permutation(5)[0]] += 1;
        }
        assert!(
            firsts.iter().all(|n| (900..1_100).contains(n)),
            "{firsts:?}"
        );
    }
}
