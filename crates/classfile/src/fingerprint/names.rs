//! Names that many methods share.

use std::sync::Arc;

use crate::read::decode_modified_utf8;

/// How many names are remembered.
const PLACES: usize = 4096;

/// Hands out one copy of names that come again, such as `toString` and `()V`.
///
/// It remembers the last name at each place and nothing else, so it stays
/// small however many classes pass.
#[derive(Debug)]
pub(super) struct Names(Vec<Option<Arc<str>>>);

impl Default for Names {
    fn default() -> Self {
        Self(vec![None; PLACES])
    }
}

impl Names {
    /// A name that is given as modified UTF-8.
    pub(super) fn get(&mut self, bytes: &[u8]) -> Arc<str> {
        let place = &mut self.0[place(bytes)];
        match place {
            Some(name) if name.as_bytes() == bytes => Arc::clone(name),
            _ => Arc::clone(place.insert(decode_modified_utf8(bytes).into())),
        }
    }
}

fn place(bytes: &[u8]) -> usize {
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (words, rest) = bytes.as_chunks();
    let hash = words.iter().fold(bytes.len() as u64, |hash, &word| {
        mix(hash, u64::from_le_bytes(word))
    });
    let rest = rest.iter().fold(0, |word, &byte| word << 8 | byte as u64);
    (mix(hash, rest) >> 52) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_come_again_are_shared() {
        let mut names = Names::default();
        let first = names.get(b"toString");
        assert_eq!(&*first, "toString");
        assert!(Arc::ptr_eq(&first, &names.get(b"toString")));
    }

    #[test]
    fn different_names_stay_different() {
        let mut names = Names::default();
        for number in 0..3 * PLACES {
            let name = format!("name{number}");
            assert_eq!(&*names.get(name.as_bytes()), name);
        }
    }

    #[test]
    fn names_are_decoded() {
        let mut names = Names::default();
        // The same bytes mean a NUL in modified UTF-8 and nothing in UTF-8.
        assert_eq!(&*names.get(b"\xC0\x80"), "\0");
        assert_eq!(&*names.get(b"\0"), "\0");
    }
}
