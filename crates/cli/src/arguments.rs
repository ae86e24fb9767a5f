//! Whose options are whose: those of fewest and those of the build.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Command, Error};

/// Options of `fewest mvn` that Maven does not have. One of them in the first
/// place means that options of fewest are given without a `--` behind them.
const OWN: [&str; 14] = [
    "--technique",
    "--entity",
    "--coarsen",
    "--order",
    "--order-all-first",
    "--seed",
    "--budget",
    "--shard",
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

/// An option before a `--` that is none of fewest's. Without this it would be
/// handed to the build, which knows it even less.
pub(crate) fn misspelt(cli: &Command, arguments: &[OsString]) -> Option<Error> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let (path, rest) = match words.as_slice() {
        [_, "shadow", word @ ("mvn" | "exec"), rest @ ..] => (vec!["shadow", *word], rest),
        [_, word @ ("mvn" | "exec"), rest @ ..] => (vec![*word], rest),
        _ => return None,
    };
    let end = rest.iter().position(|word| *word == "--")?;
    let command = path
        .iter()
        .try_fold(cli, |command, word| command.find_subcommand(word))?;
    let find = |name: &str| {
        let mut known = command.get_arguments();
        known.find(|argument| argument.get_long() == Some(name))
    };
    let mut before = rest[..end].iter();
    while let Some(word) = before.next() {
        // What does not look like an option begins the build's own words.
        let name = word.strip_prefix("--")?;
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, None),
        };
        match find(name) {
            Some(known) if known.get_action().takes_values() && value.is_none() => {
                before.next();
            }
            Some(_) => {}
            None if name == "help" => return None,
            None => {
                let shown = command.get_arguments().filter(|known| !known.is_hide_set());
                let near = fewest_run::nearest(name, shown.filter_map(clap::Arg::get_long));
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `--{near}`?"));
                let text = format!(
                    "`--{name}` is no option of `fewest {}`{hint}\n",
                    path.join(" ")
                );
                return Some(Error::raw(ErrorKind::UnknownArgument, text));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_before_the_separator_must_be_one_of_fewest_s() {
        let told = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let cli = <crate::commands::Cli as clap::CommandFactory>::command();
            misspelt(&cli, &words).map(|error| error.to_string())
        };
        assert_eq!(
            told("fewest mvn --bakground -- test").unwrap(),
            "error: `--bakground` is no option of `fewest mvn`; did you mean `--background`?\n"
        );
        assert_eq!(
            told("fewest shadow exec --report run.json --qiet -- make").unwrap(),
            "error: `--qiet` is no option of `fewest shadow exec`; did you mean `--quiet`?\n"
        );
        for line in [
            "fewest mvn --technique file --report=x --quiet -- --unknown",
            "fewest mvn -- --unknown",
            "fewest mvn --help",
            "fewest exec make --unknown -- x",
            "fewest select --json",
        ] {
            assert_eq!(told(line), None, "{line}");
        }
    }

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
