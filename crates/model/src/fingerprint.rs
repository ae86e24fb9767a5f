//! 128 bits that stand for a content.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;
use twox_hash::XxHash3_128;

/// 128 bits that stand for a content, the same on every platform and in every run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Stands for a thing that was looked for and is not there.
    pub const ABSENT: Self = Self([0; 16]);

    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The fingerprint of bytes as they are.
    pub fn of(bytes: &[u8]) -> Self {
        Self::truncate(&blake3::hash(bytes))
    }

    /// The fingerprint of bytes that fewest itself wrote, by a hash that is
    /// several times faster on short inputs (XXH3).
    ///
    /// It keeps apart by chance as well as [`Fingerprint::of`] but does not
    /// withstand a forger, so it is for the canonical forms of program parts:
    /// who can forge those can also change the tests.
    pub fn quick(bytes: &[u8]) -> Self {
        Self(XxHash3_128::oneshot(bytes).to_be_bytes())
    }

    /// The fingerprint of a list of fingerprints under a tag that tells apart
    /// what the list is for.
    pub fn combine(tag: &[u8], parts: impl IntoIterator<Item = Self>) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(&(tag.len() as u32).to_le_bytes());
        hasher.update(tag);
        for part in parts {
            hasher.update(part.as_bytes());
        }
        hasher.finish()
    }

    pub fn is_absent(&self) -> bool {
        *self == Self::ABSENT
    }

    fn truncate(hash: &blake3::Hash) -> Self {
        let (half, _) = hash
            .as_bytes()
            .split_first_chunk()
            .expect("a hash has 32 bytes");
        Self(*half)
    }
}

/// Takes a fingerprint of bytes that come in pieces.
///
/// The pieces run together: `update(b"ab")` equals `update(b"a")` and
/// `update(b"b")`. Callers length-prefix what must stay apart.
#[derive(Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(&self) -> Fingerprint {
        Fingerprint::truncate(&self.0.finalize())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a fingerprint of 32 hexadecimal digits")]
pub struct ParseFingerprintError(String);

impl FromStr for Fingerprint {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseFingerprintError(text.to_owned());
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(error());
        }
        let value = u128::from_str_radix(text, 16).map_err(|_| error())?;
        Ok(Self(value.to_be_bytes()))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?
                .parse()
                .map_err(de::Error::custom)
        } else {
            Ok(Self(<[u8; 16]>::deserialize(deserializer)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_parses_as_hexadecimal() {
        let fingerprint = Fingerprint::of(b"fewest");
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        assert!("12".parse::<Fingerprint>().is_err());
        assert!(
            "+0000000000000000000000000000000"
                .parse::<Fingerprint>()
                .is_err()
        );
    }

    #[test]
    fn is_the_same_on_every_platform() {
        assert_eq!(
            Fingerprint::of(b"").to_string(),
            "af1349b9f5f9a1a6a0404dea36dcc949"
        );
        // The value that the XXH3 specification gives for the empty input.
        assert_eq!(
            Fingerprint::quick(b"").to_string(),
            "99aa06d3014798d86001c324468d497f"
        );
    }

    #[test]
    fn tags_keep_equal_lists_apart() {
        let parts = [Fingerprint::of(b"x")];
        assert_ne!(
            Fingerprint::combine(b"a", parts),
            Fingerprint::combine(b"b", parts)
        );
    }
}
