//! `fewest fingerprint`: what counts as the content of classes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fewest_report::{FingerprintedClass, Length, fingerprints_screen};
use serde_json::{Value, json};

use crate::input::{Input, ReadOptions};
use crate::output;

/// Print the fingerprints of classes and methods.
///
/// A fingerprint stands for what can change behaviour. Comments, line numbers,
/// the order of methods and the like leave it as it is, so equal fingerprints
/// before and after an edit mean that no test needs to run for it.
///
///     fewest fingerprint target/classes
///     fewest fingerprint --json lib.jar | jq '.classes[].name'
///
/// Of a class, `head` is what it declares about itself and its fields, `shape`
/// is the head and the signatures that take part in method lookup.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FingerprintArgs {
    /// Folders, jars and class files.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Show all classes, however many there are.
    #[arg(long)]
    all: bool,
    /// Print JSON, with whole fingerprints and all classes.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

pub(crate) fn run(args: &FingerprintArgs) -> anyhow::Result<ExitCode> {
    let mut classes = Vec::new();
    for path in &args.paths {
        let input = Input::read(path, &args.read)?;
        classes.extend(input.classes);
        input.doubts.iter().for_each(|doubt| output::warn(doubt));
    }
    if args.json {
        let classes: Vec<_> = classes.iter().map(class_json).collect();
        output::print_json(&json!({ "format": 1, "classes": classes }))?;
    } else {
        let length = if args.all { Length::All } else { Length::Short };
        output::print(&fingerprints_screen(&classes, length, output::style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn class_json(class: &FingerprintedClass) -> Value {
    let fingerprints = &class.fingerprints;
    let methods = fingerprints.methods.iter().map(|method| {
        json!({
            "name": method.key.name,
            "descriptor": method.key.descriptor,
            "fingerprint": method.fingerprint,
        })
    });
    let mut json = json!({
        "name": fingerprints.name.dotted(),
        "class": fingerprints.class,
        "head": fingerprints.head,
        "shape": fingerprints.shape,
        "methods": methods.collect::<Vec<_>>(),
    });
    if let Some(doubt) = &class.doubt {
        json["doubt"] = json!(doubt);
    }
    json
}
