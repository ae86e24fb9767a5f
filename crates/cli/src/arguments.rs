//! Whose options are whose: those of fewest and those of the build.

use std::ffi::OsString;

/// Options of `fewest mvn` that Maven does not have. One of them in the first
/// place means that options of fewest are given without a `--` behind them.
const OWN: [&str; 7] = [
    "--technique",
    "--report",
    "--collect",
    "--background",
    "--verbose",
    "--help",
    "-h",
];

/// Puts a `--` behind `mvn` where there is none, so that `fewest mvn -q test`
/// hands all to Maven: what works without `fewest` must work behind it.
pub(crate) fn separate(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let words = arguments
        .iter()
        .map(|argument| argument.to_str().unwrap_or_default());
    let words: Vec<&str> = words.collect();
    let after = match words.as_slice() {
        [_, "mvn", ..] => 2,
        [_, "shadow", "mvn", ..] => 3,
        _ => return arguments,
    };
    let rest = &words[after..];
    let is_own = |word: &&str| OWN.iter().any(|own| word.split('=').next() == Some(*own));
    if !rest.contains(&"--") && !rest.first().is_some_and(is_own) {
        arguments.insert(after, "--".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separated(line: &str) -> String {
        let words = separate(line.split(' ').map(OsString::from));
        words
            .iter()
            .map(|word| word.to_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn without_a_separator_all_is_maven_s() {
        assert_eq!(separated("fewest mvn -q test"), "fewest mvn -- -q test");
        assert_eq!(
            separated("fewest mvn --quiet test"),
            "fewest mvn -- --quiet test"
        );
        assert_eq!(separated("fewest shadow mvn -v"), "fewest shadow mvn -- -v");
        assert_eq!(separated("fewest mvn"), "fewest mvn --");
    }

    #[test]
    fn options_of_fewest_are_its_own() {
        for line in [
            "fewest mvn --quiet -- -q test",
            "fewest mvn --technique=file test",
            "fewest mvn --verbose test",
            "fewest mvn --help",
            "fewest exec make -q",
        ] {
            assert_eq!(separated(line), line);
        }
    }
}
