//! Cuts a test into overlapping pieces of three.
//!
//! A text is cut by words and a token stream by tokens. A piece is handed on
//! as a hash of its content; which pieces there are is all that counts, not
//! where they stand or how often they occur.

use crate::random::{STEP, mix};
use crate::words;

/// How many words or tokens make one shingle.
pub const SHINGLE_LENGTH: usize = 3;

/// Hashes the shingles of a text.
///
/// Only words count, so neither a new indentation nor a new comment makes a new
/// test. A text of fewer words than a shingle is one shingle; a text without
/// words has none.
pub(crate) fn of_text(text: &[u8], each: impl FnMut(u64)) {
    of_tokens(words::of(text), each);
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
    fn a_text_has_one_shingle_for_each_place_where_three_words_fit() {
        assert_eq!(text("a b c d e").len(), 3);
        assert_eq!(text("a a a a a").len(), 1);
        assert!(text("a(b).c(d)").is_superset(&text("b c d")));
    }

    #[test]
    fn a_short_text_is_one_shingle_and_one_without_words_has_none() {
        assert_eq!(text("a b").len(), 1);
        assert_ne!(text("a b"), text("a"));
        assert!(text("").is_empty());
        assert!(text(" \n\t{} ").is_empty());
    }

    #[test]
    fn indentation_comments_and_line_ends_do_not_count() {
        assert_eq!(
            text("if (a) {\n\tb(c);\n}"),
            text("/* May be. */\r\n  if (a) {\r\n    b(c); // Done.\r\n}\r\n")
        );
    }

    #[test]
    fn tokens_are_cut_by_three_and_told_apart_by_content_and_order() {
        assert_eq!(tokens("a b c d").len(), 2);
        assert_ne!(tokens("a b c"), tokens("a c b"));
        assert_ne!(tokens("ab c d"), tokens("a bc d"));
        assert_eq!(tokens("a b").len(), 1);
    }
}
