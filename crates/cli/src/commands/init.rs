//! `fewest init`: a project file to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use fewest_run::{ProjectFile, TEMPLATE};

use crate::{exit, output};

/// Write a `fewest.toml` in which every setting is explained.
///
/// Nothing needs one: without it the defaults hold. It is never overwritten.
#[derive(Args)]
pub(crate) struct InitArgs {
    /// The project's root.
    #[arg(default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode> {
    let path = args.folder.join(ProjectFile::NAME);
    let opened = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let path = path.display();
            output::warn(&format!("`{path}` is there already and stays as it is"));
            return Ok(exit::EXISTS.into());
        }
        Err(error) => {
            return Err(error).with_context(|| format!("failed to write `{}`", path.display()));
        }
    };
    file.write_all(TEMPLATE.as_bytes())
        .with_context(|| format!("failed to write `{}`", path.display()))?;
    output::print(&format!(
        "wrote `{}`; all of it is commented out, so nothing has changed yet\n",
        path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
