//! `fewest order`: any files of tests in an order that spreads over their code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fewest_order::{Algorithm, Candidate, Signature};
use rayon::prelude::*;
use serde_json::json;

use crate::input::InputError;
use crate::output;

/// Put files of tests in order, so that those that differ most come first.
///
/// Takes files and folders with tests in any language and prints one path per
/// line. Only what the files hold counts: nothing is compiled or run, and no
/// records are needed.
///
///     fewest order src/test
///     fewest order --algorithm fast-all --seed 7 tests/*.py
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct OrderArgs {
    /// One of fast-pw, fast-one, fast-log, fast-sqrt, fast-all and random.
    #[arg(long, value_name = "NAME", default_value_t = Algorithm::FastPw, value_parser = by_code)]
    algorithm: Algorithm,
    /// Decides between files that are equally good; the same seed gives the
    /// same order on every machine.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Files, and folders of which all files count but hidden ones.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

fn by_code(text: &str) -> Result<Algorithm, String> {
    let algorithm: Algorithm = text.parse().map_err(|error| format!("{error}"))?;
    if algorithm.goes_by_code() {
        return Ok(algorithm);
    }
    let others: Vec<&str> = Algorithm::ALL
        .into_iter()
        .filter(|algorithm| algorithm.goes_by_code())
        .map(Algorithm::name)
        .collect();
    Err(format!(
        "`{text}` goes by what is known of past runs, and files have none; there are {}",
        others.join(", ")
    ))
}

pub(crate) fn run(args: &OrderArgs) -> Result<ExitCode> {
    let mut files = Vec::new();
    for path in &args.paths {
        let metadata = fs::metadata(path).map_err(|source| unreadable(path, source))?;
        if metadata.is_dir() {
            add_folder(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    // Ties go by the place in the list, so it must not depend on the file system.
    files.sort();
    files.dedup();
    let candidates = files
        .par_iter()
        .map(|file| {
            let text = fs::read(file).map_err(|source| unreadable(file, source))?;
            Ok(Candidate {
                signature: Signature::of_text(&text),
                ..Candidate::default()
            })
        })
        .collect::<Result<Vec<_>, InputError>>()?;
    let order = args.algorithm.order(&candidates, args.seed);
    let paths: Vec<String> = order
        .into_iter()
        .map(|place| files[place].display().to_string())
        .collect();
    if args.json {
        output::print_json(&json!({
            "format": 1,
            "algorithm": args.algorithm,
            "seed": args.seed,
            "order": paths,
        }))?;
    } else {
        let mut lines = paths.join("\n");
        if !lines.is_empty() {
            lines.push('\n');
        }
        output::print(&lines)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds the files of a folder and of those in it. Hidden ones and links to
/// folders are passed over.
fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), InputError> {
    let entries = fs::read_dir(folder).map_err(|source| unreadable(folder, source))?;
    for entry in entries {
        let entry = entry.map_err(|source| unreadable(folder, source))?;
        let path = entry.path();
        let kind = entry
            .file_type()
            .map_err(|source| unreadable(&path, source))?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            add_folder(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn unreadable(path: &Path, source: std::io::Error) -> InputError {
    InputError::UnreadableTests {
        path: path.to_owned(),
        source,
    }
}
