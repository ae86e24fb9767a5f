//! `fewest changes`: how classes have changed since the tests were recorded.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fewest_model::ClassName;
use fewest_report::{Diff, Length, counted, diff_screen};
use fewest_run::{Outlook, Project};
use serde_json::json;

use super::diff::changes_json;
use crate::{exit, output};

/// List how classes have changed since the tests that use them were recorded.
///
/// Goes by the class files as they were last compiled. Only what can change
/// behaviour counts, and only classes that tests use or have looked for: a new
/// class that no test has missed is not listed.
///
/// `+` was added, `-` deleted, `~` changed, and `>` marks a method that a class
/// now inherits from somewhere else.
#[derive(Args)]
pub(crate) struct ChangesArgs {
    /// Show all changes, however many there are.
    #[arg(long)]
    all: bool,
    /// Exit with 1 if there are changes.
    #[arg(long)]
    exit_code: bool,
    /// Print JSON, with all changes.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ChangesArgs) -> Result<ExitCode> {
    let outlook = Outlook::open(Project::around(&std::env::current_dir()?), None, None)?;
    let Some(told) = outlook.changes()? else {
        output::warn("no test has a record yet, so there is nothing to compare classes with");
        return Ok(exit::NOT_FOUND.into());
    };
    let diff = Diff {
        changes: told.changes.into_iter().collect(),
        same: told.same.len(),
    };
    if args.json {
        let mut json = changes_json(&diff);
        let unknown = told.unknown.iter().map(ClassName::dotted);
        json["unknown"] = json!(unknown.collect::<Vec<_>>());
        output::print_json(&json)?;
    } else {
        let length = if args.all { Length::All } else { Length::Short };
        let screen = [
            no_changes(&diff),
            diff_screen(&diff, length, output::style()),
            unknown_changes(told.unknown.len()),
        ];
        output::print(&screen.concat())?;
    }
    Ok(if args.exit_code && !diff.changes.is_empty() {
        exit::DIFFERENCES.into()
    } else {
        ExitCode::SUCCESS
    })
}

fn no_changes(diff: &Diff) -> String {
    if diff.changes.is_empty() {
        "nothing has changed since the tests were recorded\n".to_owned()
    } else {
        String::new()
    }
}

fn unknown_changes(count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    format!(
        "what changed in {} is not known: the records are of an older fewest, or the class \
         cannot be read\n",
        counted(count, "class", "classes")
    )
}
