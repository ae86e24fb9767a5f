//! `fewest mvn`, `fewest exec` and `fewest shadow`: a build with fewer tests.

mod options;
mod telling;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{Args, Subcommand};
use fewest_model::TestId;
use fewest_run::{LastRun, Launch, LaunchOptions, Launched, Merged, Project, Target, cache_folder};

use self::options::{BuildOptions, Collect};
pub(crate) use self::options::{OrderOptions, order_by};
use crate::screen::Screen;

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

/// Run everything, and tell what would have been left out.
///
/// For those who want to see for a while whether fewest is right before they
/// rely on it. A test that would have been left out and failed is told loudly.
///
///     fewest shadow mvn test
///     fewest shadow exec -- make test
#[derive(Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum ShadowCommand {
    Mvn(MvnArgs),
    Exec(ExecArgs),
}

pub(crate) fn mvn(args: &MvnArgs) -> Result<ExitCode> {
    Build::of_maven(args, false).run()
}

pub(crate) fn exec(args: &ExecArgs) -> Result<ExitCode> {
    Build::of_command(args, false).run()
}

pub(crate) fn shadow(command: &ShadowCommand) -> Result<ExitCode> {
    match command {
        ShadowCommand::Mvn(args) => Build::of_maven(args, true).run(),
        ShadowCommand::Exec(args) => Build::of_command(args, true).run(),
    }
}

/// Run only the tests that failed or were left out last time.
///
/// Starts the last command once more. Test classes that passed, or that the
/// last run had no reason to run, are left out; what other shards run is
/// theirs.
#[derive(Args)]
pub(crate) struct RerunArgs {
    /// Write what happened with each test to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Say nothing unless something is wrong.
    #[arg(long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say of each test why it ran.
    #[arg(long)]
    verbose: bool,
}

pub(crate) fn rerun(args: &RerunArgs) -> Result<ExitCode> {
    let here = std::env::current_dir().context("failed to find the current directory")?;
    let last = LastRun::read(&Project::around(&here))?;
    let screen = Screen::new(args.quiet, args.verbose);
    if last.due.is_empty() {
        screen.say("nothing failed and nothing was left out last time");
        return Ok(ExitCode::SUCCESS);
    }
    let options = BuildOptions {
        technique: Some(last.technique),
        coarsen: Some(last.coarsen),
        order: OrderOptions {
            order: Some(last.order),
            seed: Some(last.seed),
            order_all_first: false,
        },
        report: args.report.clone(),
        quiet: args.quiet,
        verbose: args.verbose,
        ..BuildOptions::default()
    };
    let build = Build {
        screen,
        options: &options,
        shadow: false,
        target: last.target,
        directory: Some(last.directory),
        only: Some(last.due),
    };
    build.run()
}

/// One build, in one run or two.
struct Build<'a> {
    options: &'a BuildOptions,
    shadow: bool,
    target: Target,
    /// Where to run it, if not here.
    directory: Option<PathBuf>,
    /// The only tests that are to run.
    only: Option<BTreeSet<TestId>>,
    screen: Screen,
}

impl<'a> Build<'a> {
    fn of_maven(args: &'a MvnArgs, shadow: bool) -> Self {
        Self::new(&args.options, shadow, Target::Maven(args.args.clone()))
    }

    fn of_command(args: &'a ExecArgs, shadow: bool) -> Self {
        let target = Target::Command(args.command.clone());
        Self::new(&args.options, shadow, target)
    }

    fn new(options: &'a BuildOptions, shadow: bool, target: Target) -> Self {
        Self {
            screen: Screen::new(options.quiet, options.verbose),
            options,
            shadow,
            target,
            directory: None,
            only: None,
        }
    }

    /// Runs the build. The exit code is its own.
    fn run(&self) -> Result<ExitCode> {
        if self.options.background && self.options.collect() != Collect::Later {
            let text = "`--background` learns later, so `--collect` can only be `later`\n";
            clap::Error::raw(ErrorKind::ArgumentConflict, text).exit();
        }
        let launch = self.prepare(&self.launch_options())?;
        for warning in &launch.warnings {
            self.screen.warn(warning);
        }
        let readable = self.say_header(&launch);
        if launch.is_full_run_due() {
            self.screen
                .say("a full run is due, as `full-run-every` in fewest.toml wants it");
        }
        if self.options.collect() != Collect::Now && matches!(self.target, Target::Command(_)) {
            self.screen
                .say("without the agent nothing can be left out of a plain command");
        }
        let folder = launch.project_folder();
        let launched = self.run_launch(launch)?;
        self.tell(&launched, readable);
        if let Ok(merged) = &launched.merged
            && !self.shadow
        {
            self.keep_for_rerun(merged);
        }
        if let (Some(path), Ok(merged)) = (&self.options.report, &launched.merged) {
            let written = self.write_report(path, merged, &launched);
            if let Err(error) = written {
                self.screen.warn(&format!("{error:#}"));
            }
        }
        if self.options.collect() == Collect::Later && launched.interrupted_by.is_none() {
            if self.options.background {
                self.collect_in_background(&folder.join("background.log"));
            } else {
                self.collect();
            }
        }
        Ok(exit_code(&launched))
    }

    fn launch_options(&self) -> LaunchOptions {
        LaunchOptions {
            technique: self.options.technique,
            since: self.options.since.clone(),
            entity: self.options.entity,
            coarsen: self.options.coarsen.clone(),
            order: self.options.order.order,
            seed: self.options.order.seed,
            order_all_first: self.options.order.order_all_first,
            budget: self.options.budget,
            shard: self.options.shard,
            only: self.only.clone(),
            shadow: self.shadow,
            collect: self.options.collect() == Collect::Now,
            quiet: self.options.quiet,
            log: None,
            background: self.options.in_background,
        }
    }

    fn run_launch(&self, launch: Launch) -> Result<Launched> {
        let mut bar = self.screen.progress();
        let launched = launch.run(&mut |progress| bar.show(progress));
        bar.clear();
        Ok(launched?)
    }

    fn directory(&self) -> Result<PathBuf> {
        match &self.directory {
            Some(directory) => Ok(directory.clone()),
            None => std::env::current_dir().context("failed to find the current directory"),
        }
    }

    /// Keeps for `fewest rerun` what failed and what was left out.
    fn keep_for_rerun(&self, merged: &Merged) {
        let kept = self.directory().and_then(|directory| {
            let last = LastRun::of(self.target.clone(), directory, merged);
            Ok(last.keep(&merged.project)?)
        });
        if let Err(error) = kept {
            let text = format!("`fewest rerun` will not know of this run: {error:#}");
            self.screen.detail(&text);
        }
    }

    fn prepare(&self, options: &LaunchOptions) -> Result<Launch> {
        let directory = self.directory()?;
        let launch = match &self.target {
            Target::Maven(args) => Launch::of_maven(options, &directory, args),
            Target::Command(command) => Launch::of_command(options, &directory, command),
        };
        Ok(launch?)
    }

    /// Runs the same build once more to learn what its tests use. The result
    /// has been shown, so nothing that goes wrong here changes it.
    fn collect(&self) {
        let log = cache_folder().join(format!("collect-{}.log", std::process::id()));
        let options = LaunchOptions {
            shadow: false,
            collect: true,
            quiet: true,
            log: Some(log.clone()),
            ..self.launch_options()
        };
        self.screen
            .say("running the selected tests once more to learn what they use");
        let launched = self
            .prepare(&options)
            .and_then(|launch| self.run_launch(launch));
        match launched {
            Ok(launched) => self.tell_collected(&launched, &log),
            Err(error) => self.screen.warn(&format!("nothing was learned: {error:#}")),
        }
    }

    /// The same by a process of its own, which outlives this one.
    fn collect_in_background(&self, log: &Path) {
        match self.start_in_background(log) {
            Ok(process) => self.screen.say(&format!(
                "process {process} learns in the background what the tests use; \
                 `fewest status` tells whether it still does"
            )),
            Err(error) => self.screen.warn(&format!("nothing was learned: {error:#}")),
        }
    }

    fn start_in_background(&self, log: &Path) -> Result<u32> {
        let cannot_write = || format!("failed to write `{}`", log.display());
        let out = File::create(log).with_context(cannot_write)?;
        let err = out.try_clone().with_context(cannot_write)?;
        let program = std::env::current_exe().context("failed to find this program's own file")?;
        let (word, args) = match &self.target {
            Target::Maven(args) => ("mvn", args),
            Target::Command(command) => ("exec", command),
        };
        let mut command = Command::new(program);
        command.args([word, "--in-background", "--quiet"]);
        command.args(self.options.that_select());
        // A group of its own, so that a Ctrl-C in this terminal is not for it.
        let child = command
            .arg("--")
            .args(args)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .context("failed to start the second run")?;
        Ok(child.id())
    }
}

/// The build's exit code, or 128 and the number of the signal that ended it.
fn exit_code(launched: &Launched) -> ExitCode {
    let code = launched
        .interrupted_by
        .map(|signal| 128 + signal)
        .or_else(|| code_of(launched.status));
    ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1))
}

fn code_of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
}
