//! The options of a build with fewer tests.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fewest_order::{Budget, ParseAlgorithmError, Shard};
use fewest_run::{Coarsening, OrderBy};
use fewest_select::{Entity, Technique};

/// Options that every way to run tests has.
#[derive(Args, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct BuildOptions {
    /// How to tell which tests can be affected: all, file, hybrid,
    /// hybrid-lookup, hybrid-block, static or static-full [default: what
    /// `fewest.toml` says, or else hybrid].
    #[arg(long, value_name = "NAME")]
    pub(super) technique: Option<Technique>,
    /// With static-full: go by what differs from a revision of git, committed
    /// or not, instead of by records.
    #[arg(long, value_name = "REV")]
    pub(super) since: Option<String>,
    /// What is left out or run as one: class or method [default: what
    /// `fewest.toml` says, or else class].
    #[arg(long, value_name = "NAME")]
    pub(super) entity: Option<Entity>,
    /// Changes of methods that count as a change of the whole class, as
    /// `CIM,AIM`: A, D or C (added, deleted, changed) and SI, I, SM or IM
    /// (static initializer, constructor, static method, instance method).
    #[arg(long, value_name = "TYPES")]
    pub(super) coarsen: Option<Coarsening>,
    #[command(flatten)]
    pub(super) order: OrderOptions,
    /// Run only so much, the best first: a time as `90s` or `5m`, a share of
    /// the run time as `25%`, or a number as `50-tests`. The rest stays due.
    #[arg(long, value_name = "BUDGET")]
    pub(super) budget: Option<Budget>,
    /// Run only one of several parts, as `3/8`. Parts of the same tests with
    /// the same records are disjoint, and together they are complete.
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
    /// When to learn what tests use [default: now].
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(super) collect: Option<Collect>,
    /// Learn later, in the background: the result is shown, fewest ends, and a
    /// second run goes on by itself. A run that is started meanwhile ends it.
    #[arg(long)]
    pub(super) background: bool,
    /// This is the run in the background.
    #[arg(long, hide = true)]
    pub(super) in_background: bool,
    /// Write what happened with each test to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Say nothing unless something is wrong.
    // No short forms: `-q` and `-v` are Maven's.
    #[arg(long, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say of each test why it ran.
    #[arg(long)]
    pub(super) verbose: bool,
}

impl BuildOptions {
    pub(super) fn collect(&self) -> Collect {
        let default = if self.background {
            Collect::Later
        } else {
            Collect::Now
        };
        self.collect.unwrap_or(default)
    }

    /// The options that decide which tests run and how they are judged, as
    /// words for another process: a second run must not do more than the first.
    pub(super) fn that_select(&self) -> Vec<String> {
        let order = &self.order;
        let named = [
            ("--technique", self.technique.map(|it| it.to_string())),
            ("--since", self.since.clone()),
            ("--entity", self.entity.map(|it| it.name().to_owned())),
            ("--coarsen", self.coarsen.as_ref().map(ToString::to_string)),
            ("--order", order.order.map(|it| it.to_string())),
            ("--seed", order.seed.map(|it| it.to_string())),
            ("--budget", self.budget.map(|it| it.to_string())),
            ("--shard", self.shard.map(|it| it.to_string())),
        ];
        let named = named.into_iter().filter_map(|(name, value)| {
            let value = value?;
            Some(format!("{name}={value}"))
        });
        let flag = order
            .order_all_first
            .then(|| "--order-all-first".to_owned());
        named.chain(flag).collect()
    }
}

/// In which order tests run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct OrderOptions {
    /// In which order tests run: smart, nearest, history, quick, fast-pw,
    /// fast-one, fast-log, fast-sqrt, fast-all, random, none for the build's
    /// own, or auto for smart where tests are left out and the build's own where
    /// all run [default: what `fewest.toml` says, or else auto].
    #[arg(long, value_name = "NAME", value_parser = order_by)]
    pub(crate) order: Option<OrderBy>,
    /// Decides between tests that are equally good to run next.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Put all tests in order and then drop those that do not run, instead of
    /// ordering only those that do.
    #[arg(long)]
    pub(crate) order_all_first: bool,
}

pub(crate) fn order_by(text: &str) -> Result<OrderBy, String> {
    text.parse()
        .map_err(|error: ParseAlgorithmError| format!("{error}, none, auto"))
}

/// When to learn what tests use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Collect {
    /// While they run.
    #[default]
    Now,
    /// In a second run of the same build, after the result has been shown.
    Later,
    /// Not at all: the next run knows no more than this one.
    Off,
}
