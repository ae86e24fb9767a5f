//! `fewest shard-plan`: what each of several machines would run.

use std::num::NonZeroU32;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fewest_report::{Table, counted};
use fewest_run::{Outlook, Project, ShardTest};
use fewest_select::Technique;
use serde_json::json;

use crate::output;

/// Show how the tests that would run now split over machines.
///
/// Goes by the class files as they were last compiled. `fewest mvn --shard 3/8`
/// makes the same split by itself, so machines with the same records need no
/// plan to agree; the plan is for setting up a matrix of CI jobs.
#[derive(Args)]
pub(crate) struct ShardPlanArgs {
    /// How many machines there are.
    #[arg(long, value_name = "NUMBER")]
    shards: NonZeroU32,
    /// How to tell which tests can be affected.
    #[arg(long, value_name = "NAME")]
    technique: Option<Technique>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ShardPlanArgs) -> Result<ExitCode> {
    let outlook = Outlook::open(
        Project::around(&std::env::current_dir()?),
        args.technique,
        None,
    )?;
    let shards = outlook.shards(args.shards)?;
    if args.json {
        let shards: Vec<_> = (1..).zip(&shards).map(json_of(args.shards)).collect();
        output::print_json(&json!({ "format": 1, "shards": shards }))?;
    } else {
        output::print(&screen(args.shards, &shards).render(output::style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn screen(count: NonZeroU32, shards: &[Vec<ShardTest>]) -> Table {
    let mut table = Table::default();
    for (index, tests) in (1..).zip(shards) {
        let classes = counted(tests.len(), "test class", "test classes");
        let seconds = millis(tests).div_ceil(1000);
        table.line(format!("{index}/{count}: {classes}, about {seconds} s"));
        for test in tests {
            table.line(format!("  {}", test.test));
        }
    }
    table
}

fn json_of(count: NonZeroU32) -> impl Fn((u32, &Vec<ShardTest>)) -> serde_json::Value {
    move |(index, tests)| {
        let names: Vec<_> = tests
            .iter()
            .map(|test| json!({ "test": test.test.to_string(), "module": &*test.test.module }))
            .collect();
        json!({ "shard": format!("{index}/{count}"), "millis": millis(tests), "tests": names })
    }
}

/// How long a shard's tests take, as far as that is known.
fn millis(tests: &[ShardTest]) -> u64 {
    tests
        .iter()
        .filter_map(|test| test.millis)
        .map(u64::from)
        .sum()
}
