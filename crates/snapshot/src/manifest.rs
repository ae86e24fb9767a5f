//! The two attributes of a jar's manifest that decide where classes come from.

/// What a manifest says of the class path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) multi_release: bool,
    /// The URLs of `Class-Path`, as they are written.
    pub(crate) class_path: Vec<String>,
}

pub(crate) const DIRECTORY: &str = "META-INF";
pub(crate) const NAME: &str = "MANIFEST.MF";

impl Manifest {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut manifest = Self::default();
        for line in main_section(bytes) {
            let Some((name, value)) = line.split_once(": ") else {
                continue;
            };
            if name.eq_ignore_ascii_case("Multi-Release") {
                manifest.multi_release = value.trim_end().eq_ignore_ascii_case("true");
            } else if name.eq_ignore_ascii_case("Class-Path") {
                manifest.class_path = value.split_ascii_whitespace().map(str::to_owned).collect();
            }
        }
        manifest
    }
}

/// The lines up to the first empty one, each joined with those that continue
/// it: they start with a space.
fn main_section(bytes: &[u8]) -> Vec<String> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in physical_lines(bytes) {
        match (line, lines.last_mut()) {
            ([], _) => break,
            // A line is cut at 72 bytes, maybe within a character, so lines
            // are joined before they are decoded.
            ([b' ', rest @ ..], Some(last)) => last.extend_from_slice(rest),
            _ => lines.push(line.to_vec()),
        }
    }
    lines
        .iter()
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect()
}

/// Lines end with CR LF, LF or CR.
fn physical_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b'\r' | b'\n'))
            .unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[end..];
        rest = rest
            .strip_prefix(b"\r\n")
            .or_else(|| rest.get(1..))
            .unwrap_or_default();
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_two_attributes() {
        let manifest = Manifest::parse(
            b"Manifest-Version: 1.0\r\nclass-path: a.jar\r\n  lib/b.j\r\n ar\r\nMulti-Release: TRUE\r\n",
        );
        assert!(manifest.multi_release);
        assert_eq!(manifest.class_path, ["a.jar", "lib/b.jar"]);
    }

    #[test]
    fn looks_at_the_main_section_only() {
        let manifest = Manifest::parse(b"Manifest-Version: 1.0\n\nName: x\nMulti-Release: true\n");
        assert_eq!(manifest, Manifest::default());
    }

    #[test]
    fn a_character_may_be_cut_in_two() {
        let manifest = Manifest::parse(b"Class-Path: gr\xC3\r \xBCn.jar");
        assert_eq!(manifest.class_path, ["gr\u{fc}n.jar"]);
    }

    #[test]
    fn garbage_says_nothing() {
        assert_eq!(Manifest::parse(b""), Manifest::default());
        assert_eq!(Manifest::parse(b"\xFF\0\r\r\n x"), Manifest::default());
        assert!(!Manifest::parse(b"Multi-Release: maybe").multi_release);
    }
}
