//! The subcommands, one module each.

mod ask;
mod build;
mod changes;
mod covers;
mod diff;
mod doctor;
mod fingerprint;
mod init;
mod order;
mod replay;
mod select;
mod shard_plan;
mod status;
mod trace;
mod why;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs the fewest tests that can still catch what a change broke.
///
/// Put it in front of the command that runs your tests:
///
///     fewest mvn test
///     fewest exec -- java -cp classes:junit.jar org.junit.runner.JUnitCore MyTest
///
/// The first run watches what each test class uses. From then on, test classes
/// whose used things are all as they were are left out.
#[derive(Parser)]
#[command(name = "fewest", version, verbatim_doc_comment, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Mvn(build::MvnArgs),
    Exec(build::ExecArgs),
    #[command(subcommand)]
    Shadow(build::ShadowCommand),
    Rerun(build::RerunArgs),
    Select(select::SelectArgs),
    ShardPlan(shard_plan::ShardPlanArgs),
    Why(why::WhyArgs),
    Changes(changes::ChangesArgs),
    Covers(covers::CoversArgs),
    Status(status::StatusArgs),
    Init(init::InitArgs),
    Doctor(doctor::DoctorArgs),
    Replay(replay::ReplayArgs),
    Diff(diff::DiffArgs),
    Fingerprint(fingerprint::FingerprintArgs),
    Order(order::OrderArgs),
    #[command(subcommand)]
    Trace(trace::TraceCommand),
    #[command(hide = true)]
    Ask(ask::AskArgs),
}

pub(crate) fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Mvn(args) => build::mvn(&args),
        Command::Exec(args) => build::exec(&args),
        Command::Shadow(command) => build::shadow(&command),
        Command::Rerun(args) => build::rerun(&args),
        Command::Select(args) => select::run(&args),
        Command::ShardPlan(args) => shard_plan::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Changes(args) => changes::run(&args),
        Command::Covers(args) => covers::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Fingerprint(args) => fingerprint::run(&args),
        Command::Order(args) => order::run(&args),
        Command::Trace(command) => trace::run(command),
        Command::Ask(args) => ask::run(&args),
    }
}
