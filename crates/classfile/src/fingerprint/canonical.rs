//! The canonical form that is hashed, as it is being written.

use fewest_model::Fingerprint;

/// How many bytes of a text are written out.
const LONGEST_TEXT: usize = 64;

/// Bytes that say one thing only: every part has a fixed length or carries its
/// length, and what may be one of several things starts with a tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canonical(Vec<u8>);

impl Canonical {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    #[inline]
    pub(crate) fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes that are known to end by what they are.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Bytes after their length, or a long text's fingerprint.
    ///
    /// A class file can name one long text any number of times; written out
    /// each time, a small file could fill the memory.
    #[inline]
    pub(crate) fn text(&mut self, bytes: &[u8]) {
        if bytes.len() <= LONGEST_TEXT {
            self.u8(bytes.len() as u8);
            self.0.extend_from_slice(bytes);
        } else {
            self.u8(u8::MAX);
            self.fingerprint(Fingerprint::quick(bytes));
        }
    }

    #[inline]
    pub(crate) fn fingerprint(&mut self, fingerprint: Fingerprint) {
        self.0.extend_from_slice(fingerprint.as_bytes());
    }

    /// An opcode and what stands for the constant that it names.
    #[inline]
    pub(crate) fn named(&mut self, opcode: u8, constant: Fingerprint) {
        let mut bytes = [opcode; 17];
        bytes[1..].copy_from_slice(constant.as_bytes());
        self.0.extend_from_slice(&bytes);
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
        self.0[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    /// The fingerprint of all that was written.
    pub(crate) fn finish(&self) -> Fingerprint {
        Fingerprint::quick(&self.0)
    }

    /// The fingerprint of what was written since `start`, which is taken back.
    pub(crate) fn finish_from(&mut self, start: usize) -> Fingerprint {
        let fingerprint = Fingerprint::quick(&self.0[start..]);
        self.0.truncate(start);
        fingerprint
    }
}
