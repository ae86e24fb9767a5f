//! Runs fewest and its peers on the same revisions of a Maven project, on the
//! same machine and JDK, in turn, and tells what each ran, took and missed.
//!
//!     cargo run --release -p fewest-bench-peers -- --help
//!
//! The walk works in a clone of its own. `docs/evaluation/peers.md` tells how
//! to read what comes out.

#![forbid(unsafe_code)]
#![expect(
    clippy::cast_precision_loss,
    reason = "milliseconds and numbers of tests are far below 2^52"
)]

mod builds;
mod results;
mod table;
mod tools;
mod walk;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Parser;
use fewest_replay::files;
use fewest_replay::git::Repository;

use builds::Builds;
use tools::Tool;
use walk::Walk;

/// Compare fewest with other tools that select tests, over a project's history.
///
/// The JDK is the one of `JAVA_HOME`. Ekstazi and `HyRTS` need one that compiles
/// for Java 8.
#[derive(Parser)]
struct Args {
    /// Revisions, as git takes them: `v1.4..v1.5`. Those along first parents count.
    range: String,
    /// The checkout of the project. It is not touched.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    repository: PathBuf,
    /// Where the clone, what tools know and the results go. Must not be below
    /// the system's folder for temporary files, where Ekstazi is blind.
    #[arg(long, value_name = "FOLDER")]
    work: PathBuf,
    /// The program to compare.
    #[arg(long, value_name = "PROGRAM")]
    fewest: PathBuf,
    /// What to compare with Maven by itself.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_enum,
        default_value = "ekstazi,starts,hyrts,file,hybrid"
    )]
    tools: Vec<Tool>,
    /// Only revisions that touch these paths.
    #[arg(long, value_name = "PATH")]
    touching: Vec<String>,
    /// How often Maven runs the whole suite by itself. Tests that do not end the
    /// same way each time never count as missed.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    plain_runs: usize,
    /// Leave out the runs without collection.
    #[arg(long)]
    no_ae: bool,
    /// Measure nothing, only print what the results of an earlier walk say.
    #[arg(long)]
    table: bool,
    /// Arguments for every Maven.
    #[arg(last = true, value_name = "MAVEN ARGS")]
    maven: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let work = std::path::absolute(&args.work)?;
    let temporary = std::env::temp_dir();
    if work.starts_with(&temporary) {
        bail!(
            "`{}` is below `{}`, where Ekstazi ignores all classes; name another folder with --work",
            work.display(),
            temporary.display()
        );
    }
    let commits = commits(&args)?;
    let mut tools: Vec<Tool> = args.tools.clone();
    tools.retain(|tool| *tool != Tool::Plain);
    let walk = prepare(&args, work.clone(), tools)?;
    let lines = walk.go(if args.table { &[] } else { &commits })?;
    let page = table::markdown(&lines);
    let path = work.join("table.md");
    fs::write(&path, &page).with_context(|| format!("failed to write `{}`", path.display()))?;
    print!("{page}");
    Ok(())
}

fn commits(args: &Args) -> Result<Vec<String>> {
    let repository = Repository::at(&args.repository);
    let commits = repository.commits(&[&args.range], &args.touching)?;
    if commits.is_empty() {
        bail!(
            "no commit is in `{}`, or none touches the paths",
            args.range
        );
    }
    Ok(commits)
}

fn prepare(args: &Args, work: PathBuf, tools: Vec<Tool>) -> Result<Walk> {
    let (top, within) = Repository::at(&args.repository).top()?;
    let tree = work.join("tree");
    files::make_folder(&work.join("logs"))?;
    let clone = if tree.join(".git").exists() {
        Repository::at(&tree)
    } else {
        Repository::at(&top).clone_to(&tree)?
    };
    let fewest = std::path::absolute(&args.fewest)?;
    if !fewest.is_file() {
        bail!(
            "there is no program `{}`; `cargo build --release` makes one",
            fewest.display()
        );
    }
    Ok(Walk {
        clone,
        builds: Builds {
            project: tree.join(within),
            fewest,
            args: args.maven.clone(),
            logs: work.join("logs"),
        },
        tools,
        plain_runs: args.plain_runs.max(1),
        without_collection: !args.no_ae,
        work,
    })
}
