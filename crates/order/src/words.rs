//! Cuts a source text into words, whatever language it is in.
//!
//! A word is a run of letters, digits, `_` and `$`; what is not ASCII counts as
//! a letter. Comments are left out: a licence on top of every file would make
//! all tests alike. Without knowing the language this goes by the common
//! forms, `/* … */`, `// …`, `# …` and `-- …`, outside of quotes. A guess that
//! goes wrong costs some words and no more, so quotes end with their line, and
//! a `/*` that nothing closes is none.

/// The words of a text, one after the other.
pub(crate) struct Words<'a> {
    text: &'a [u8],
    at: usize,
    /// The quote that has been opened in this line.
    quote: Option<u8>,
    /// Whether a `*/` may still follow.
    may_close: bool,
}

pub(crate) fn of(text: &[u8]) -> Words<'_> {
    Words {
        text,
        at: 0,
        quote: None,
        may_close: true,
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = &self.text[self.at..];
            let first = *rest.first()?;
            if is_word(first) {
                let length = rest.iter().take_while(|byte| is_word(**byte)).count();
                self.at += length;
                return Some(&rest[..length]);
            }
            self.at += self.skip(first, rest);
        }
    }
}

impl Words<'_> {
    /// How many bytes from here on are in no word.
    fn skip(&mut self, first: u8, rest: &[u8]) -> usize {
        match (self.quote, first) {
            (_, b'\n') => self.quote = None,
            // What is escaped is the end of no quote and the begin of no word.
            (Some(_), b'\\') if rest.get(1).is_some_and(|next| *next != b'\n') => return 2,
            (Some(quote), _) if quote == first => self.quote = None,
            (None, b'"' | b'\'' | b'`') => self.quote = Some(first),
            (None, _) => return self.comment(rest).unwrap_or(1),
            (Some(_), _) => {}
        }
        1
    }

    /// The length of the comment that begins here, if one does.
    fn comment(&mut self, rest: &[u8]) -> Option<usize> {
        if rest.starts_with(b"/*") {
            return self.closed_comment(rest);
        }
        let before = self.at.checked_sub(1).map(|at| self.text[at]);
        let stands_apart = before.is_none_or(|byte| byte.is_ascii_whitespace());
        let opens = rest.starts_with(b"//")
            || stands_apart && (opens(rest, b"#", b"#!") || opens(rest, b"--", b"-"));
        opens.then(|| {
            let end = rest.iter().position(|byte| *byte == b'\n');
            end.unwrap_or(rest.len())
        })
    }

    fn closed_comment(&mut self, rest: &[u8]) -> Option<usize> {
        if !self.may_close {
            return None;
        }
        let inside = rest[2..].windows(2).position(|pair| pair == b"*/");
        self.may_close = inside.is_some();
        Some(inside? + 4)
    }
}

/// Whether a mark opens a comment: white space, the end or one of `more` must
/// follow, as `#include`, `#[test]` and `--option` are code.
fn opens(rest: &[u8], mark: &[u8], more: &[u8]) -> bool {
    rest.strip_prefix(mark).is_some_and(|rest| {
        rest.first()
            .is_none_or(|next| next.is_ascii_whitespace() || more.contains(next))
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, words: &str) {
        let found: Vec<&str> = of(text.as_bytes())
            .map(|word| std::str::from_utf8(word).unwrap())
            .collect();
        assert_eq!(found.join(" "), words, "{text}");
    }

    #[test]
    fn names_and_numbers_are_words_and_the_rest_is_not() {
        check("assertEquals(42, m.f_1($x));", "assertEquals 42 m f_1 $x");
        check("größe.equals(\"naïve\")", "größe equals naïve");
        check("+ - ( )", "");
        check("", "");
    }

    #[test]
    fn comments_are_left_out_in_their_common_forms() {
        check(
            "/* a licence\n * of lines */ code // said\nmore",
            "code more",
        );
        check("#!/bin/sh\nrun # why\n## title\nrest", "run rest");
        check("-- a query\nselect 1 -- one\nfrom t", "select 1 from t");
        check("code //", "code");
        check("code #", "code");
        check("/**/code/***/", "code");
    }

    #[test]
    fn what_only_looks_like_a_comment_is_code() {
        check("#[test] fn f() {}", "test fn f");
        check("#include <stdio.h>", "include stdio h");
        check("this.#name; a#b", "this name a b");
        check("run --fast", "run fast");
        check("i--; j", "i j");
        check("/* never closed", "never closed");
        check("a/* b /* c", "a b c");
        check("x */ y", "x y");
    }

    #[test]
    fn quotes_hide_marks_until_the_line_ends() {
        check("get(\"http://host/*\"); // why", "get http host");
        check("glob('src/*') + `a // b`", "glob src a b");
        check("\"a\\\" // b\" c", "a b c");
        check("\"\\n tab\"", "tab");
        // An odd apostrophe costs no more than its line.
        check("fn f<'a>() {} // why\n/* don't */ end", "fn f a why end");
        check("\"open \\", "open");
    }
}
