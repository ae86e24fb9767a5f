//! Cuts a test into overlapping pieces of five.
//!
//! A text is cut by bytes and a token stream by tokens. A piece is handed on
//! as a hash of its content; which pieces there are is all that counts, not
//! where they stand or how often they occur.

use crate::random::{STEP, mix};

/// How many bytes or tokens make one shingle.
pub const SHINGLE_LENGTH: usize = 5;

/// Hashes the shingles of a text.
///
/// A run of white space counts as one space and is dropped at both ends, so
/// that a new indentation makes no new test. A text shorter than a shingle is
/// one shingle; a text of white space has none.
pub(crate) fn of_text(text: &[u8], mut each: impl FnMut(u64)) {
    const MASK: u64 = (1 << (8 * SHINGLE_LENGTH)) - 1;
    let mut window = 0_u64;
    let mut length = 0;
    for byte in collapse_spaces(text) {
        window = (window << 8 | u64::from(byte)) & MASK;
        length += 1;
        if length >= SHINGLE_LENGTH {
            each(mix(window ^ STEP));
        }
    }
    if (1..SHINGLE_LENGTH).contains(&length) {
        each(mix(window ^ STEP));
    }
}

/// Hashes the shingles of a token stream.
pub(crate) fn of_tokens<T: AsRef<[u8]>>(
    tokens: impl IntoIterator<Item = T>,
    mut each: impl FnMut(u64),
) {
    let mut window = [0_u64; SHINGLE_LENGTH];
    let mut length = 0;
    for token in tokens {
        window.rotate_left(1);
        window[SHINGLE_LENGTH - 1] = hash_bytes(token.as_ref());
        length += 1;
        if length >= SHINGLE_LENGTH {
            each(hash_words(&window));
        }
    }
    if (1..SHINGLE_LENGTH).contains(&length) {
        each(hash_words(&window));
    }
}

fn collapse_spaces(text: &[u8]) -> impl Iterator<Item = u8> {
    let text = text.trim_ascii();
    let mut after_space = false;
    text.iter().filter_map(move |&byte| {
        let space = byte.is_ascii_whitespace();
        let repeated = space && after_space;
        after_space = space;
        match (repeated, space) {
            (true, _) => None,
            (false, true) => Some(b' '),
            (false, false) => Some(byte),
        }
    })
}

/// Hashes bytes in words of eight, the length included.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = mix(STEP ^ bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash.wrapping_add(STEP) ^ u64::from_le_bytes(word));
    }
    hash
}

fn hash_words(words: &[u64]) -> u64 {
    words
        .iter()
        .fold(STEP, |hash, word| mix(hash.wrapping_add(STEP) ^ word))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn text(text: &str) -> BTreeSet<u64> {
        let mut shingles = BTreeSet::new();
        of_text(text.as_bytes(), |shingle| {
            shingles.insert(shingle);
        });
        shingles
    }

    fn tokens(text: &str) -> BTreeSet<u64> {
        let mut shingles = BTreeSet::new();
        of_tokens(text.split(' '), |shingle| {
            shingles.insert(shingle);
        });
        shingles
    }

    #[test]
    fn a_text_has_one_shingle_for_each_place_where_five_bytes_fit() {
        assert_eq!(text("abcdefg").len(), 3);
        assert_eq!(text("aaaaaaa").len(), 1);
        assert!(text("abcdefg").is_superset(&text("bcdef")));
    }

    #[test]
    fn a_short_text_is_one_shingle_and_an_empty_one_none() {
        assert_eq!(text("abc").len(), 1);
        assert_ne!(text("abc"), text("ab"));
        assert!(text("").is_empty());
        assert!(text(" \n\t ").is_empty());
    }

    #[test]
    fn indentation_and_line_ends_do_not_count() {
        assert_eq!(
            text("if (a) {\n\tb();\n}"),
            text("  if (a) {\r\n    b();\r\n}\r\n")
        );
    }

    #[test]
    fn tokens_are_cut_by_five_and_told_apart_by_content_and_order() {
        assert_eq!(tokens("a b c d e f").len(), 2);
        assert_ne!(tokens("a b c d e"), tokens("a b c e d"));
        assert_ne!(tokens("ab c d e f"), tokens("a bc d e f"));
        assert_eq!(tokens("a b").len(), 1);
    }
}
