//! The `fewest` command: arguments, wiring and exit codes.
//!
//! Each subcommand is a module of [`commands`]; what they do lives in the
//! libraries.

#![forbid(unsafe_code)]

mod commands;
mod exit;
mod input;
mod output;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = commands::Cli::parse();
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fewest: {error:#}");
            if error.is::<input::InputError>() {
                eprintln!("hint: {}", input::InputError::HINT);
            }
            exit::of(&error).into()
        }
    }
}
