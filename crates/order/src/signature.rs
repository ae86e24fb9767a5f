//! Ten numbers that stand for the shingles of a test.
//!
//! Each number is the least value that one hash function takes on the set, so
//! two sets agree in a place with the probability of their Jaccard similarity
//! (Broder 1997), and the element-wise minimum of two signatures is the
//! signature of the union.

use serde::{Deserialize, Serialize};

use crate::random::{STEP, mix};
use crate::shingle;

/// How many hash functions a signature has.
pub const FUNCTIONS: usize = 10;

/// Names the way from bytes to signatures. Whoever stores signatures stores it
/// with them, and drops them when it changes.
pub const SIGNATURE_FORMAT: u32 = 2;

/// The min-hash signature of a test's code.
///
/// It depends on the code alone, not on a seed, so that it can be kept for as
/// long as the code's fingerprint stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature([u32; FUNCTIONS]);

impl Signature {
    /// The signature of nothing: like no other, not even like itself.
    ///
    /// It also stands for code that could not be read, which is thereby never
    /// put off for being similar.
    pub const EMPTY: Self = Self([u32::MAX; FUNCTIONS]);

    /// The length of [`Signature::to_bytes`].
    pub const BYTES: usize = 4 * FUNCTIONS;

    /// The signature of source text in any language.
    pub fn of_text(text: &[u8]) -> Self {
        let mut signature = Self::EMPTY;
        shingle::of_text(text, |shingle| signature.add(shingle));
        signature
    }

    /// The signature of a token stream, as of bytecode.
    pub fn of_tokens<T: AsRef<[u8]>>(tokens: impl IntoIterator<Item = T>) -> Self {
        let mut signature = Self::EMPTY;
        shingle::of_tokens(tokens, |shingle| signature.add(shingle));
        signature
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The signature of both sets together.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].min(other.0[i])))
    }

    /// In how many of the ten places the two agree.
    pub fn agreement(&self, other: &Self) -> usize {
        // Counted in the width of the values, this compiles to a few wide
        // instructions, and `fast-pw` spends its time here.
        let places = self.0.iter().zip(&other.0);
        let agree = places.map(|(one, other)| u32::from(one == other && *one != u32::MAX));
        agree.sum::<u32>() as usize
    }

    /// The estimated Jaccard distance: 0 for equal sets, 1 for disjoint ones.
    pub fn distance(&self, other: &Self) -> f64 {
        1.0 - self.agreement(other) as f64 / FUNCTIONS as f64
    }

    /// For each place, whether the two agree there.
    pub(crate) fn agreements(&self, other: &Self) -> [bool; FUNCTIONS] {
        std::array::from_fn(|i| self.0[i] == other.0[i] && self.0[i] != u32::MAX)
    }

    pub(crate) fn values(&self) -> &[u32; FUNCTIONS] {
        &self.0
    }

    /// A form of fixed length for caches, the same on every platform.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (place, value) in bytes.chunks_exact_mut(4).zip(self.0) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        Self(std::array::from_fn(|i| {
            u32::from_le_bytes(std::array::from_fn(|j| bytes[4 * i + j]))
        }))
    }

    fn add(&mut self, shingle: u64) {
        for (least, multiplier) in self.0.iter_mut().zip(MULTIPLIERS) {
            // The product's high half depends on all bits of the shingle. Once
            // in 2^32 it is the value that stands for nothing, and adds none.
            let value = (shingle.wrapping_mul(multiplier) >> 32) as u32;
            *least = (*least).min(value);
        }
    }
}

/// One odd number for each hash function. They are part of
/// [`SIGNATURE_FORMAT`].
const MULTIPLIERS: [u64; FUNCTIONS] = {
    let mut multipliers = [0; FUNCTIONS];
    let mut i = 0;
    while i < FUNCTIONS {
        multipliers[i] = mix(STEP.wrapping_mul(i as u64 + 1)) | 1;
        i += 1;
    }
    multipliers
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn of_shingles(shingles: &[u64]) -> Signature {
        let mut signature = Signature::EMPTY;
        for &shingle in shingles {
            signature.add(shingle);
        }
        signature
    }

    #[test]
    fn is_the_same_on_every_platform() {
        let first_two = |signature: Signature| signature.values()[..2].to_vec();
        assert_eq!(
            first_two(Signature::of_text(b"assertEquals(4, add(2, 2));")),
            [1_403_690_162, 3_154_624_464]
        );
        assert_eq!(
            first_two(Signature::of_tokens([
                "aload_0", "iconst_2", "iadd", "ireturn"
            ])),
            [154_956_649, 1_193_394_420]
        );
    }

    #[test]
    fn the_union_is_the_signature_of_both_sets() {
        let shingles: Vec<u64> = (1..30).map(mix).collect();
        assert_eq!(
            of_shingles(&shingles[..20]).union(&of_shingles(&shingles[10..])),
            of_shingles(&shingles)
        );
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert_eq!(Signature::EMPTY.agreement(&Signature::EMPTY), 0);
        assert!(Signature::of_text(b"  ").is_empty());
        let some = Signature::of_text(b"some");
        assert_eq!(some.agreement(&some), FUNCTIONS);
    }

    #[test]
    fn agreement_estimates_the_jaccard_similarity() {
        // 200 pairs of sets of 60 shingles with 20 in common: the similarity is
        // 20 / 100. The mean of 2,000 places has a deviation of 0.009.
        let mut random = Random::new(5);
        let mut agreement = 0;
        for _ in 0..200 {
            let words: Vec<u64> = (0..100).map(|_| random.word()).collect();
            agreement += of_shingles(&words[..60]).agreement(&of_shingles(&words[40..]));
        }
        let similarity = agreement as f64 / 2_000.0;
        assert!((similarity - 0.2).abs() < 0.03, "{similarity}");
    }

    #[test]
    fn bytes_and_json_say_everything() {
        let signature = Signature::of_text(b"@Test void adds() {}");
        assert_eq!(Signature::from_bytes(&signature.to_bytes()), signature);
        let json = serde_json::to_string(&signature).unwrap();
        assert_eq!(serde_json::from_str::<Signature>(&json).unwrap(), signature);
    }
}
