//! The canonical form that is hashed, as it is being written.

use fewest_model::Fingerprint;

/// How many bytes of a text are written out.
const LONGEST_TEXT: usize = 64;

/// Bytes that say one thing only: every part has a fixed length or carries its
/// length, and what may be one of several things starts with a tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canonical {
    /// Longer than what was written, so that a write is a store and a check.
    buffer: Vec<u8>,
    length: usize,
}

impl Canonical {
    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    fn written(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Makes room for `count` bytes.
    #[inline]
    fn reserve(&mut self, count: usize) {
        if self.buffer.len() - self.length < count {
            self.grow(count);
        }
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let length = (self.length + count).next_power_of_two().max(4096);
        self.buffer.resize(length, 0);
    }

    #[inline]
    fn array<const N: usize>(&mut self, bytes: [u8; N]) {
        self.keep(bytes, N);
    }

    /// Writes `bytes` and keeps the first `length` of them. Writing more than
    /// is needed is cheaper than asking how many those are.
    #[inline]
    pub(crate) fn keep<const N: usize>(&mut self, bytes: [u8; N], length: usize) {
        self.reserve(N);
        self.buffer[self.length..self.length + N].copy_from_slice(&bytes);
        self.length += length;
    }

    #[inline]
    pub(crate) fn u8(&mut self, value: u8) {
        self.array([value]);
    }

    #[inline]
    pub(crate) fn u16(&mut self, value: u16) {
        self.array(value.to_le_bytes());
    }

    #[inline]
    pub(crate) fn u32(&mut self, value: u32) {
        self.array(value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.array(value.to_le_bytes());
    }

    /// Bytes that are known to end by what they are.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.buffer[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Bytes after their length, or a long text's fingerprint.
    ///
    /// A class file can name one long text any number of times; written out
    /// each time, a small file could fill the memory.
    #[inline]
    pub(crate) fn text(&mut self, bytes: &[u8]) {
        if bytes.len() <= LONGEST_TEXT {
            self.u8(bytes.len() as u8);
            self.bytes(bytes);
        } else {
            self.named(u8::MAX, Fingerprint::quick(bytes));
        }
    }

    #[inline]
    pub(crate) fn fingerprint(&mut self, fingerprint: Fingerprint) {
        self.array(*fingerprint.as_bytes());
    }

    /// A tag or an opcode, and what stands for the thing that it names.
    #[inline]
    pub(crate) fn named(&mut self, tag: u8, constant: Fingerprint) {
        let mut bytes = [tag; 17];
        bytes[1..].copy_from_slice(constant.as_bytes());
        self.array(bytes);
    }

    /// Writes fingerprints as a set with repetitions.
    pub(crate) fn set(&mut self, fingerprints: &mut [Fingerprint]) {
        fingerprints.sort_unstable();
        self.u32(fingerprints.len() as u32);
        for &fingerprint in &*fingerprints {
            self.fingerprint(fingerprint);
        }
    }

    /// Puts a number where a placeholder was written.
    pub(crate) fn patch_u16(&mut self, at: usize, value: u16) {
        self.buffer[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    /// The fingerprint of all that was written.
    pub(crate) fn finish(&self) -> Fingerprint {
        Fingerprint::quick(self.written())
    }

    /// The fingerprint of what was written since `start`, which is taken back.
    pub(crate) fn finish_from(&mut self, start: usize) -> Fingerprint {
        let fingerprint = Fingerprint::quick(&self.written()[start..]);
        self.length = start;
        fingerprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_stay_short() {
        let text = vec![b'x'; 65535];
        let mut out = Canonical::default();
        for _ in 0..1000 {
            out.text(&text);
        }
        assert_eq!(out.len(), 17_000);
    }

    #[test]
    fn what_was_written_before_does_not_show() {
        let mut used = Canonical::default();
        used.bytes(&[7; 5000]);
        used.clear();
        let mut fresh = Canonical::default();
        for out in [&mut used, &mut fresh] {
            out.keep([1, 2, 3, 4], 3);
            out.text(b"text");
        }
        assert_eq!(used.finish(), fresh.finish());
        assert_eq!(used.written(), b"\x01\x02\x03\x04text");
    }
}
