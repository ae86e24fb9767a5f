//! Packs lists of small values into the bytes of one column.
//!
//! Integers are little-endian base 128, texts and byte strings carry their
//! length in front. Reading never panics: bytes on a disk may be anything.

use fewest_model::Fingerprint;
use thiserror::Error;

/// Packed bytes that do not hold what they should.
#[derive(Debug, Error)]
#[error("packed values are cut short or malformed")]
pub(crate) struct Malformed;

/// Appends values to bytes.
#[derive(Default)]
pub(crate) struct Packer(Vec<u8>);

impl Packer {
    pub(crate) fn onto(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn integer(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Small values of either sign stay short.
    pub(crate) fn signed(&mut self, value: i64) {
        self.integer(((value << 1) ^ (value >> 63)) as u64);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.integer(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn fingerprint(&mut self, fingerprint: &Fingerprint) {
        self.0.extend_from_slice(fingerprint.as_bytes());
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Takes values from the front of bytes.
#[derive(Clone)]
pub(crate) struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What has not been taken.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        let (&first, rest) = self.0.split_first().ok_or(Malformed)?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn integer(&mut self) -> Result<u64, Malformed> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    pub(crate) fn small(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.integer()?).map_err(|_| Malformed)
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Malformed> {
        let value = self.integer()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        let length = usize::try_from(self.integer()?).map_err(|_| Malformed)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        str::from_utf8(text).map_err(|_| Malformed)
    }

    pub(crate) fn fingerprint(&mut self) -> Result<Fingerprint, Malformed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(Fingerprint::from_bytes(*bytes))
    }
}

/// A list of texts as one column keeps it.
pub(crate) fn pack_texts(texts: &[String]) -> Vec<u8> {
    let mut packer = Packer::default();
    for text in texts {
        packer.text(text);
    }
    packer.finish()
}

pub(crate) fn unpack_texts(bytes: &[u8]) -> Result<Vec<String>, Malformed> {
    let mut unpacker = Unpacker::new(bytes);
    let mut texts = Vec::new();
    while !unpacker.is_empty() {
        texts.push(unpacker.text()?.to_owned());
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_can_be_unpacked(small in any::<u64>(), signed in any::<i64>(), text in ".*") {
            let mut packer = Packer::default();
            packer.integer(small);
            packer.signed(signed);
            packer.text(&text);
            packer.fingerprint(&Fingerprint::of(text.as_bytes()));
            let bytes = packer.finish();
            let mut unpacker = Unpacker::new(&bytes);
            prop_assert_eq!(unpacker.integer().unwrap(), small);
            prop_assert_eq!(unpacker.signed().unwrap(), signed);
            prop_assert_eq!(unpacker.text().unwrap(), &text);
            prop_assert_eq!(unpacker.fingerprint().unwrap(), Fingerprint::of(text.as_bytes()));
            prop_assert!(unpacker.is_empty());
        }

        #[test]
        fn any_bytes_end_in_values_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut unpacker = Unpacker::new(&bytes);
            while !unpacker.is_empty() && unpacker.text().is_ok() {}
            let mut unpacker = Unpacker::new(&bytes);
            while !unpacker.is_empty() && unpacker.integer().is_ok() {}
        }
    }
}
