//! `fewest status`: what fewest knows of a project.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fewest_report::{Colour, Table, counted, grouped};
use fewest_run::{Overview, Project, ProjectFile, RunFolder, RunSettings};
use fewest_store::{ReadError, Reader, Run};

use crate::moment::moment;
use crate::output;
use crate::summary::short;

/// Say what fewest knows of this project.
#[derive(Args)]
pub(crate) struct StatusArgs {}

pub(crate) fn run(_args: &StatusArgs) -> Result<ExitCode> {
    let project = Project::around(&std::env::current_dir()?);
    let file = ProjectFile::load(&project.root)?;
    let mut table = Table::default();
    let mut row = |label: &str, text: &str| {
        table.row(0, [(label, Some(Colour::Dim)), (text, None)]);
    };
    row("project", &project.root.display().to_string());
    row("technique", file.technique.unwrap_or_default().name());
    match Reader::open(&project.folder()) {
        Ok(reader) => {
            let overview = reader.overview()?;
            row("store", &size(store_bytes(&project.folder())));
            row("tests", &tests(&overview));
            row("records", &records(&overview));
            let last = reader.runs(1)?.into_iter().next();
            row(
                "last run",
                &last.map_or_else(|| "none".into(), |run| last_run(&run)),
            );
            if let (Some(every), Some(since)) = (file.full_run_every, reader.runs_since_full()?) {
                row("full run", &format!("{since} runs ago; due every {every}"));
            }
        }
        Err(ReadError::Missing { .. }) => row("store", "none yet; the first run makes one"),
        Err(error) => row("store", &error.to_string()),
    }
    for folder in RunFolder::running(&project) {
        if let Ok(settings) = folder.settings() {
            row("running", &running(&folder, &settings));
        }
    }
    let leftovers = RunFolder::leftovers(&project).len();
    if leftovers > 0 {
        let runs = counted(leftovers, "interrupted run", "interrupted runs");
        row(
            "to keep",
            &format!("{runs}; the next run takes up what they learned"),
        );
    }
    output::print(&table.render(output::style()))?;
    Ok(ExitCode::SUCCESS)
}

fn tests(overview: &Overview) -> String {
    let tests = counted(overview.tests as usize, "test class", "test classes");
    format!("{tests} with records")
}

fn records(overview: &Overview) -> String {
    let records = grouped(overview.records as usize);
    match overview.revisions.as_slice() {
        [] => records,
        [newest] => format!("{records}, from {}", short(newest)),
        [newest, others @ ..] => {
            let others = counted(others.len(), "other commit", "other commits");
            format!("{records}, from {} and {others}", short(newest))
        }
    }
}

fn last_run(run: &Run) -> String {
    let end = match (run.finished_at, run.full) {
        (None, _) => "interrupted",
        (Some(_), true) => "everything ran",
        (Some(_), false) => "some tests were left out",
    };
    let at = run
        .begun
        .revision
        .as_deref()
        .map(|revision| format!(" at {}", short(revision)))
        .unwrap_or_default();
    format!(
        "{}{at}: `{}` with {}, {end}",
        moment(run.begun.started_at),
        shortened(&run.begun.command),
        run.begun.technique
    )
}

fn running(folder: &RunFolder, settings: &RunSettings) -> String {
    let place = if folder.is_in_background() {
        "in the background "
    } else {
        ""
    };
    format!(
        "`{}` {place}since {} as process {}",
        shortened(&settings.command),
        moment(settings.started_at as i64),
        folder.process().unwrap_or_default()
    )
}

/// A command line may be very long, by its class path above all.
fn shortened(command: &str) -> String {
    const LONGEST: usize = 60;
    if command.chars().count() <= LONGEST {
        return command.to_owned();
    }
    command.chars().take(LONGEST).chain("…".chars()).collect()
}

/// The bytes that the store takes, its log included.
fn store_bytes(folder: &Path) -> u64 {
    ["store.db", "store.db-wal"]
        .iter()
        .filter_map(|name| fs::metadata(folder.join(name)).ok())
        .map(|metadata| metadata.len())
        .sum()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=1_048_575 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}
