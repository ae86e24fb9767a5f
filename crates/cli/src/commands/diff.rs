//! `fewest diff`: what differs between two sets of classes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fewest_classfile::changes::{Change, ClassSet, compare_sets};
use fewest_report::{Diff, Length, diff_screen};
use serde_json::{Value, json};

use crate::input::{Input, ReadOptions};
use crate::{exit, output};

/// Print what changed between two folders, jars or class files.
///
/// Only what can change behaviour counts: recompiled, reformatted or commented
/// code has no differences.
///
///     fewest diff commons-lang3-3.13.0.jar commons-lang3-3.14.0.jar
///     fewest diff --exit-code old/classes target/classes
///
/// `+` was added, `-` deleted, `~` changed, and `>` marks a method that a class
/// now inherits from somewhere else.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DiffArgs {
    /// The folder, jar or class file before.
    old: PathBuf,
    /// The folder, jar or class file after.
    new: PathBuf,
    /// Show all changes, however many there are.
    #[arg(long)]
    all: bool,
    /// Exit with 1 if there are differences.
    #[arg(long)]
    exit_code: bool,
    /// Print JSON, with all changes.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let old = class_set(Input::read(&args.old, &args.read)?);
    let new = class_set(Input::read(&args.new, &args.read)?);
    let diff = Diff {
        changes: compare_sets(&old, &new),
        same: same(&old, &new),
    };
    if args.json {
        output::print_json(&diff_json(args, &diff))?;
    } else {
        let length = if args.all { Length::All } else { Length::Short };
        output::print(&diff_screen(&diff, length, output::style()))?;
    }
    Ok(if args.exit_code && !diff.changes.is_empty() {
        exit::DIFFERENCES.into()
    } else {
        ExitCode::SUCCESS
    })
}

/// Classes by name. What cannot be read is told, and differs when its bytes do.
fn class_set(input: Input) -> ClassSet {
    input.doubts.iter().for_each(|doubt| output::warn(doubt));
    let classes = input.classes.into_iter().map(|class| class.fingerprints);
    classes.map(|class| (class.name.clone(), class)).collect()
}

fn same(old: &ClassSet, new: &ClassSet) -> usize {
    old.iter()
        .filter(|(name, class)| new.get(*name).is_some_and(|new| new.class == class.class))
        .count()
}

fn diff_json(args: &DiffArgs, diff: &Diff) -> Value {
    let mut json = changes_json(diff);
    json["old"] = json!(args.old.display().to_string());
    json["new"] = json!(args.new.display().to_string());
    json
}

/// The changes, and how many there are of each type.
pub(super) fn changes_json(diff: &Diff) -> Value {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for change in &diff.changes {
        *counts.entry(change.kind.name()).or_default() += 1;
    }
    json!({
        "format": 1,
        "changes": diff.changes.iter().map(change_json).collect::<Vec<_>>(),
        "counts": counts,
        "same": diff.same,
    })
}

fn change_json(change: &Change) -> Value {
    let mut json = json!({
        "class": change.class.dotted(),
        "type": change.kind.name(),
    });
    if let Some(member) = &change.member {
        json["method"] = json!(member.to_string());
    }
    json
}
