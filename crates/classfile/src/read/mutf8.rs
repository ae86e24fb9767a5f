//! Modified UTF-8 (JVMS §4.4.7), as Java writes names and strings.

use std::borrow::Cow;
use std::fmt::Write;

/// Decodes modified UTF-8.
///
/// Text that Unicode cannot express (a surrogate without its partner) and
/// bytes that are no modified UTF-8 at all are written as `\uXXXX` and `\xXX`,
/// so that different names stay different.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // Valid UTF-8 means the same in both: an encoded NUL and a surrogate pair,
    // where the two part ways, are no valid UTF-8.
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(decode_slowly(bytes)),
    }
}

fn decode_slowly(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, _)) = rest.split_first() {
        let Some((unit, length)) = code_unit(rest) else {
            let _ = write!(text, "\\x{first:02X}");
            rest = &rest[1..];
            continue;
        };
        rest = &rest[length..];
        if let Some(character) = char::from_u32(unit as u32) {
            text.push(character);
            continue;
        }
        match code_unit(rest) {
            Some((low @ 0xDC00..=0xDFFF, length)) if unit < 0xDC00 => {
                rest = &rest[length..];
                let code = 0x1_0000 + ((unit as u32 - 0xD800) << 10) + (low as u32 - 0xDC00);
                text.extend(char::from_u32(code));
            }
            _ => {
                let _ = write!(text, "\\u{unit:04X}");
            }
        }
    }
    text
}

/// The UTF-16 code unit at the start of `bytes`, and how many bytes it took.
fn code_unit(bytes: &[u8]) -> Option<(u16, usize)> {
    let continuation = |at: usize| match bytes.get(at) {
        Some(&byte) if byte & 0xC0 == 0x80 => Some((byte & 0x3F) as u16),
        _ => None,
    };
    match *bytes.first()? {
        ascii @ ..0x80 => Some((ascii as u16, 1)),
        lead @ 0xC0..0xE0 => Some((((lead & 0x1F) as u16) << 6 | continuation(1)?, 2)),
        lead @ 0xE0..0xF0 => {
            let unit = ((lead & 0x0F) as u16) << 12 | continuation(1)? << 6 | continuation(2)?;
            Some((unit, 3))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_utf8_writes_otherwise() {
        assert_eq!(decode(b"plain"), "plain");
        assert_eq!(decode("gr\u{fc}n".as_bytes()), "gr\u{fc}n");
        assert_eq!(decode(b"a\xC0\x80b"), "a\0b");
        assert_eq!(decode(b"\xED\xA0\xBD\xED\xB8\x80"), "\u{1F600}");
    }

    #[test]
    fn keeps_apart_what_unicode_cannot_express() {
        assert_eq!(decode(b"\xED\xA0\xBD"), "\\uD83D");
        assert_eq!(decode(b"\xED\xB8\x80x"), "\\uDE00x");
        assert_eq!(decode(b"a\xFFb"), "a\\xFFb");
        assert_eq!(decode(b"\xE0\x80"), "\\xE0\\x80");
    }
}
