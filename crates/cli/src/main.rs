//! The `fewest` command: arguments, wiring and exit codes.
//!
//! Each subcommand is a module of [`commands`]; what they do lives in the
//! libraries.

#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod exit;
mod hint;
mod input;
mod moment;
mod names;
mod output;
mod progress;
mod screen;
mod summary;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

fn main() -> ExitCode {
    let words = arguments::separate(std::env::args_os());
    if let Some(error) = arguments::misspelt(&commands::Cli::command(), &words) {
        error.exit();
    }
    let cli = commands::Cli::parse_from(words);
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fewest: {error:#}");
            if let Some(hint) = hint::of(&error) {
                eprintln!("hint: {hint}");
            }
            exit::of(&error).into()
        }
    }
}
