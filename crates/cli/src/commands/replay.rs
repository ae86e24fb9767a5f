//! `fewest replay`: what fewest would have saved over a project's history.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use fewest_model::Fingerprint;
use fewest_replay::mutants::{self, Check};
use fewest_replay::results::{self, Line, Mode};
use fewest_replay::{Range, Replay, Settings, Variant, Watcher, each_type, orders, tables};
use fewest_run::{Coarsening, OrderBy, cache_folder};
use fewest_select::{Entity, Technique};
use serde_json::json;

use super::build::order_by;
use crate::output;
use crate::screen::Screen;

/// Walk the history, and tell what fewest would have left out and missed.
///
/// For Maven projects in git. Works in a clone of its own: neither the checkout
/// nor the store of the project is touched. Each revision is built once; the
/// whole suite and every technique run on it, each technique with its own
/// store. Revisions that do not build are skipped and named.
///
///     fewest replay --last 20
///     fewest replay --techniques file,hybrid v1.4..v1.5 -- -Drat.skip
///     fewest replay --last 1 --mutants 50
///     fewest replay --quick --path src --techniques file,hybrid --coarsen each
#[derive(Args)]
#[command(verbatim_doc_comment)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct ReplayArgs {
    /// Revisions, as git takes them: `v1.4..v1.5`.
    #[arg(value_name = "RANGE", conflicts_with = "last")]
    range: Option<String>,
    /// The last so many revisions.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    last: usize,
    /// Only revisions that touch a path, from the root of the repository; can be
    /// given more than once. The others are passed over, and what they change
    /// counts for the next one.
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Run the whole suite of each revision once, recorded, and tell from that
    /// what techniques that watch would have run and how long it would have
    /// taken. Static techniques still run by themselves.
    #[arg(long, conflicts_with_all = ["no_full", "no_ae", "runs"])]
    quick: bool,
    /// The techniques to compare.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "file,hybrid"
    )]
    techniques: Vec<Technique>,
    /// What is left out or run as one: class or method.
    #[arg(long, value_name = "NAME")]
    entity: Option<Entity>,
    /// Also measure the techniques that look at methods with changes that count
    /// for the whole class, as `CIM` or `AIM,DIM`; can be given more than once.
    /// `each` stands for all twelve types, one after the other.
    #[arg(long, value_name = "TYPES")]
    coarsen: Vec<String>,
    /// Orders to compare where tests fail, as `smart,fast-pw,none`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = order_by)]
    order: Vec<OrderBy>,
    /// How often each time is taken; the median counts.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    runs: usize,
    /// How often the whole suite runs, to set aside tests that do not always
    /// end the same way.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    stability: usize,
    /// Leave out the whole suite: a quick look at what is selected.
    #[arg(long)]
    no_full: bool,
    /// Leave out the runs without collection, which the column AE is for.
    #[arg(long)]
    no_ae: bool,
    /// Plant so many faults in the classes of each revision, and tell which
    /// tests find them and would have been left out.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    mutants: usize,
    /// Plant the faults of earlier results again, and judge only what is
    /// selected: who finds them is known.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mutants", "orders"])]
    known_mutants: Option<PathBuf>,
    /// Which faults are chosen.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Which tests run to find a fault: those that load its class (loaded), or
    /// all (full).
    #[arg(long, value_name = "WHICH", default_value = "loaded")]
    check: Check,
    /// How many JVMs run tests with faults at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    jobs: usize,
    /// Replay nothing, and tell from the results of earlier faults how early
    /// each order of the tests finds them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["range", "resume"])]
    orders: Vec<PathBuf>,
    /// An option to hand to every `fewest mvn`, as `--with=--order=quick`.
    #[arg(long = "with", value_name = "OPTION", allow_hyphen_values = true)]
    with: Vec<String>,
    /// Go on where an earlier replay has ended.
    #[arg(long)]
    resume: bool,
    /// Print the results that there are, and measure nothing.
    #[arg(long)]
    show: bool,
    /// Where the clone, the stores and the results go [default: a folder of the
    /// user's cache].
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
    /// How to print the results.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,
    /// Arguments for every Maven.
    #[arg(last = true, value_name = "MAVEN ARGS")]
    maven: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// Tables for people and for the page of a CI job.
    #[default]
    Md,
    /// Totals and all lines.
    Json,
    /// A row for each revision and technique.
    Csv,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode> {
    if !args.orders.is_empty() {
        return compare_orders(args);
    }
    let directory = std::env::current_dir().context("failed to find the current directory")?;
    let work = match &args.work {
        Some(work) => std::path::absolute(work)?,
        None => default_work(&directory),
    };
    if args.show {
        let lines = results::read(&work.join(Replay::RESULTS))?;
        return print(&lines, &planted(&work, &lines)?, args.format);
    }
    let settings = Settings {
        range: match &args.range {
            Some(range) => Range::Commits(range.clone()),
            None => Range::Last(args.last),
        },
        paths: args.paths.clone(),
        mode: if args.quick { Mode::Quick } else { Mode::Exact },
        variants: Variant::all(&args.techniques, &coarsenings(&args.coarsen)?),
        entity: args.entity,
        orders: args.order.clone(),
        runs: args.runs,
        stability: args.stability,
        full: !args.no_full,
        without_collection: !args.no_ae,
        mutants: args.mutants,
        known_mutants: args
            .known_mutants
            .as_ref()
            .map(std::path::absolute)
            .transpose()?,
        seed: args.seed,
        check: args.check,
        jobs: args.jobs,
        resume: args.resume,
        fewest: std::env::current_exe().context("failed to find this program's own file")?,
        maven_args: args.maven.clone(),
        fewest_options: args.with.clone(),
        work: work.clone(),
        directory,
    };
    let mut progress = Progress(Screen::new(false, false));
    let lines = Replay::new(settings)?.run(&mut progress)?;
    progress
        .0
        .say(&format!("results are in `{}`", work.display()));
    print(&lines, &planted(&work, &lines)?, args.format)
}

/// What came of the faults that were planted in these revisions, if any were.
fn planted(work: &Path, lines: &[Line]) -> Result<Vec<mutants::Line>> {
    let path = work.join(Replay::MUTANTS);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let is_meant = |revision: &str| lines.iter().any(|line| line.revision() == revision);
    let mut planted = mutants::read(&path)?;
    // Mutants stand behind the suite that they belong to.
    let mut meant = false;
    planted.retain(|line| {
        if let mutants::Line::Suite { revision, .. } = line {
            meant = revision.as_deref().is_none_or(is_meant);
        }
        meant
    });
    Ok(planted)
}

fn print(lines: &[Line], planted: &[mutants::Line], format: Format) -> Result<ExitCode> {
    match format {
        Format::Md => output::print(&tables::markdown(lines, planted))?,
        Format::Csv => output::print(&tables::csv(lines))?,
        Format::Json => output::print_json(&json!({
            "format": 1,
            "totals": tables::totals(lines),
            "changeTypes": tables::change_types(lines),
            "orders": tables::orders(lines),
            "faults": tables::faults(planted),
            "lines": lines,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Judges orders by faults that were planted before.
fn compare_orders(args: &ReplayArgs) -> Result<ExitCode> {
    let mut lines = Vec::new();
    for file in &args.orders {
        lines.extend(mutants::read(file)?);
    }
    let comparison = orders::compare(&orders::faults(&lines))
        .context("no test finds any of the faults, so there is nothing to compare")?;
    match args.format {
        Format::Json => output::print_json(&serde_json::to_value(&comparison)?)?,
        Format::Md | Format::Csv => output::print(&orders::markdown(&comparison))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn coarsenings(texts: &[String]) -> Result<Vec<Coarsening>> {
    let mut all = Vec::new();
    for text in texts {
        match text.as_str() {
            "each" => all.extend(each_type()),
            _ => all.push(text.parse()?),
        }
    }
    Ok(all)
}

/// One folder for each project.
fn default_work(directory: &Path) -> PathBuf {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let path = Fingerprint::of(directory.as_os_str().as_encoded_bytes()).to_string();
    cache_folder()
        .join("replay")
        .join(format!("{name}-{}", &path[..8]))
}

struct Progress(Screen);

impl Watcher for Progress {
    fn begins(&mut self, number: usize, of: usize, revision: &str, left: Option<Duration>) {
        let short = revision.get(..10).unwrap_or(revision);
        let left = left.map_or(String::new(), |left| {
            let seconds = left.as_secs();
            format!(", about {}:{:02} left", seconds / 60, seconds % 60)
        });
        self.0.say(&format!("{number} of {of}: {short}{left}"));
    }

    fn says(&mut self, line: &str) {
        self.0.say(line);
    }
}
