//! `fewest ask`: answers a build that is about to run tests. Not for people.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

#[derive(Args)]
pub(crate) struct AskArgs {
    task_folder: PathBuf,
}

pub(crate) fn run(args: &AskArgs) -> anyhow::Result<ExitCode> {
    fewest_run::ask(&args.task_folder)?;
    Ok(ExitCode::SUCCESS)
}
