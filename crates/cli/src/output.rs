//! Where text for people and programs goes.

use std::io::{self, IsTerminal, Write};

use fewest_report::Style;

/// Colours on a terminal, unless `NO_COLOR` asks for none
/// (<https://no-color.org>).
pub(crate) fn style() -> Style {
    style_for(io::stdout().is_terminal())
}

/// The same, for another place than standard output.
pub(crate) fn style_for(is_terminal: bool) -> Style {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    if is_terminal && !unwanted {
        Style::Coloured
    } else {
        Style::Plain
    }
}

/// Prints a whole screen. A reader that has seen enough, such as `head`, is no
/// error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

pub(crate) fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(print(&text)?)
}

pub(crate) fn warn(text: &str) {
    // Nobody is left to tell when this fails.
    let _ = writeln!(io::stderr(), "fewest: {text}");
}
