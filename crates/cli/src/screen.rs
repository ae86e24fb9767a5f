//! Lines to the user while a build goes on, all on standard error: standard
//! output is the build's.

use std::io::{self, IsTerminal, Write};

use fewest_report::{Colour, Style};

use crate::output;
use crate::progress::ProgressLine;

/// How much a user wants to read.
pub(crate) struct Screen {
    quiet: bool,
    verbose: bool,
    style: Style,
}

impl Screen {
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        Self {
            quiet,
            verbose,
            style: output::style_for(io::stderr().is_terminal()),
        }
    }

    /// What is good to know.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.line(Colour::Bold, text, None);
        }
    }

    /// What only those want to know who asked for it.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            self.line(Colour::Dim, text, Some(Colour::Dim));
        }
    }

    /// Something that is not as it should be, though nothing is lost.
    pub(crate) fn warn(&self, text: &str) {
        self.line(Colour::Yellow, text, None);
    }

    /// Something that must be seen.
    pub(crate) fn alarm(&self, text: &str) {
        self.line(Colour::Red, text, Some(Colour::Red));
    }

    /// A line that tells how far something long is, and vanishes.
    pub(crate) fn progress(&self) -> ProgressLine {
        let terminal = io::stderr().is_terminal()
            && std::env::var_os("TERM").is_none_or(|value| value != "dumb");
        ProgressLine::new(terminal && !self.quiet)
    }

    fn line(&self, prefix: Colour, text: &str, colour: Option<Colour>) {
        let prefix = self.style.paint(prefix, "fewest:");
        let text = match colour {
            Some(colour) => self.style.paint(colour, text),
            None => text.to_owned(),
        };
        // Nobody is left to tell when this fails.
        let _ = writeln!(io::stderr(), "{prefix} {text}");
    }
}
