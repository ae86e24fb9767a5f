//! `fewest mvn` and `fewest exec`: a build with fewer tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context, Result};
use clap::Args;
use fewest_run::{Launch, LaunchOptions, Launched, Merged};
use fewest_select::Technique;
use serde_json::json;

/// Options that every way to run tests has.
#[derive(Args)]
struct BuildOptions {
    /// How to tell which tests can be affected: all, file or hybrid.
    #[arg(long, value_name = "NAME")]
    technique: Option<Technique>,
    /// Write what happened with each test to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Say nothing unless something is wrong.
    #[arg(long, short)]
    quiet: bool,
    /// Say of each test why it ran.
    #[arg(long, short)]
    verbose: bool,
    /// Run everything, and tell what would have been left out.
    #[arg(long)]
    shadow: bool,
}

/// Run Maven, and leave out the tests that cannot be affected.
///
/// Takes everything that `mvn` takes. Options of fewest come first, and then a
/// `--`; without options of fewest no `--` is needed.
///
///     fewest mvn test
///     fewest mvn --technique file -- -pl core verify
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct MvnArgs {
    #[command(flatten)]
    options: BuildOptions,
    /// Arguments of Maven.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    args: Vec<OsString>,
}

/// Run any command that starts tests in JVMs, and leave out what cannot be affected.
///
/// For Ant, Make, scripts, or a plain `java`. Test classes that cannot be
/// affected are skipped inside of the JVM that would run them.
///
///     fewest exec java -cp classes:junit.jar org.junit.runner.JUnitCore MyTest
///     fewest exec --report run.json -- make test
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    options: BuildOptions,
    /// The command and its arguments.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

pub(crate) fn mvn(args: MvnArgs) -> Result<ExitCode> {
    let directory = std::env::current_dir().context("failed to find the current directory")?;
    let launched = Launch::of_maven(&args.options.launch(), &directory, &args.args)?.run()?;
    args.options.finish(launched)
}

pub(crate) fn exec(args: ExecArgs) -> Result<ExitCode> {
    let directory = std::env::current_dir().context("failed to find the current directory")?;
    let launched = Launch::of_command(&args.options.launch(), &directory, &args.command)?.run()?;
    args.options.finish(launched)
}

impl BuildOptions {
    fn launch(&self) -> LaunchOptions {
        LaunchOptions {
            technique: self.technique,
            shadow: self.shadow,
            collect: true,
            quiet: self.quiet,
            log: None,
        }
    }

    /// Tells what a build came to. Its exit code is the build's own.
    fn finish(&self, launched: Launched) -> Result<ExitCode> {
        match launched.merged {
            Ok(merged) => {
                self.tell(&merged);
                if let Some(path) = &self.report {
                    write_report(path, &merged, self.technique.unwrap_or_default())?;
                }
            }
            Err(error) => {
                let error = anyhow::Error::from(error);
                eprintln!("fewest: nothing was learned from this run: {error:#}");
            }
        }
        Ok(exit_code(launched.status))
    }

    fn tell(&self, merged: &Merged) {
        for warning in &merged.warnings {
            eprintln!("fewest: {warning}");
        }
        if let Some(notice) = &merged.notice
            && !matches!(notice, fewest_run::Notice::Created)
        {
            eprintln!("fewest: {notice}");
        }
        if self.verbose {
            for test in merged.tests.iter().filter(|test| test.verdict == "run") {
                eprintln!("fewest: {} ran: {}", test.test, test.reasons.join(", "));
            }
        }
        if self.quiet {
            return;
        }
        let ran = merged.tests.iter().filter(|test| test.verdict == "run");
        let (ran, doubts) = ran.fold((0, 0), |(ran, doubts), test| {
            (ran + 1, doubts + usize::from(!test.doubts.is_empty()))
        });
        let skipped = merged.tests.len() - ran;
        eprintln!("fewest: {ran} run, {skipped} proven unaffected, {doubts} doubts");
    }
}

fn write_report(path: &Path, merged: &Merged, technique: Technique) -> Result<()> {
    let report = json!({
        "format": 1,
        "technique": technique.name(),
        "tests": merged.tests,
        "warnings": merged.warnings,
    });
    fs::write(path, serde_json::to_vec_pretty(&report)?)
        .with_context(|| format!("failed to write the report `{}`", path.display()))
}

/// The build's exit code, or 128 and the number of the signal that ended it.
fn exit_code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1))
}
