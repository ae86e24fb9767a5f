//! `fewest mvn`, `fewest exec` and `fewest shadow`: a build with fewer tests.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{Args, Subcommand, ValueEnum};
use fewest_model::TestId;
use fewest_order::{Budget, ParseAlgorithmError, Shard};
use fewest_run::{
    Coarsening, LastRun, Launch, LaunchOptions, Launched, Merged, Notice, OrderBy, Overview,
    Project, Target, cache_folder,
};
use fewest_select::{Entity, Technique};
use fewest_store::ReadError;
use serde_json::json;

use crate::screen::Screen;
use crate::summary::{self, Shadow};

/// Options that every way to run tests has.
#[derive(Args, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct BuildOptions {
    /// How to tell which tests can be affected: all, file, hybrid,
    /// hybrid-lookup, hybrid-block, static or static-full [default: what
    /// `fewest.toml` says, or else hybrid].
    #[arg(long, value_name = "NAME")]
    technique: Option<Technique>,
    /// With static-full: go by what differs from a revision of git, committed
    /// or not, instead of by records.
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// What is left out or run as one: class or method [default: what
    /// `fewest.toml` says, or else class].
    #[arg(long, value_name = "NAME")]
    entity: Option<Entity>,
    /// Changes of methods that count as a change of the whole class, as
    /// `CIM,AIM`: A, D or C (added, deleted, changed) and SI, I, SM or IM
    /// (static initializer, constructor, static method, instance method).
    #[arg(long, value_name = "TYPES")]
    coarsen: Option<Coarsening>,
    #[command(flatten)]
    order: OrderOptions,
    /// Run only so much, the best first: a time as `90s` or `5m`, a share of
    /// the run time as `25%`, or a number as `50-tests`. The rest stays due.
    #[arg(long, value_name = "BUDGET")]
    budget: Option<Budget>,
    /// Run only one of several parts, as `3/8`. Parts of the same tests with
    /// the same records are disjoint, and together they are complete.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// When to learn what tests use [default: now].
    #[arg(long, value_name = "WHEN", value_enum)]
    collect: Option<Collect>,
    /// Learn later, in the background: the result is shown, fewest ends, and a
    /// second run goes on by itself. A run that is started meanwhile ends it.
    #[arg(long)]
    background: bool,
    /// This is the run in the background.
    #[arg(long, hide = true)]
    in_background: bool,
    /// Write what happened with each test to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Say nothing unless something is wrong.
    // No short forms: `-q` and `-v` are Maven's.
    #[arg(long, conflicts_with = "verbose")]
    quiet: bool,
    /// Say of each test why it ran.
    #[arg(long)]
    verbose: bool,
}

impl BuildOptions {
    fn collect(&self) -> Collect {
        let default = if self.background {
            Collect::Later
        } else {
            Collect::Now
        };
        self.collect.unwrap_or(default)
    }

    /// The options that decide which tests run and how they are judged, as
    /// words for another process: a second run must not do more than the first.
    fn that_select(&self) -> Vec<String> {
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
enum Collect {
    /// While they run.
    #[default]
    Now,
    /// In a second run of the same build, after the result has been shown.
    Later,
    /// Not at all: the next run knows no more than this one.
    Off,
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

    /// The first line. False if the store cannot be read.
    fn say_header(&self, launch: &Launch) -> bool {
        let empty = Overview::default();
        let overview = match &launch.overview {
            Ok(overview) => overview,
            Err(ReadError::Missing { .. }) => &empty,
            Err(error) => {
                let technique = launch.technique();
                let text = format!("{technique}, but everything runs: {error}");
                self.screen.warn(&text);
                return false;
            }
        };
        let header = summary::header(launch.technique(), overview, launch.collects());
        self.screen.say(&header);
        true
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

    fn tell_collected(&self, launched: &Launched, log: &Path) {
        self.tell_merge_error(launched);
        if let Ok(merged) = &launched.merged {
            let recorded = merged.tests.iter().filter(|test| test.recorded).count();
            self.screen.say(&format!("{recorded} recorded"));
        }
        if launched.status.success() {
            let _ = fs::remove_file(log);
        } else {
            self.screen.warn(&format!(
                "the second run ended with {}; its output is in `{}`",
                launched.status,
                log.display()
            ));
        }
    }

    /// Tells what a build came to. What was told before it started is not
    /// told again.
    fn tell(&self, launched: &Launched, readable: bool) {
        if launched.interrupted_by.is_some() {
            self.screen
                .warn("interrupted; what had come to its end is kept");
        }
        self.tell_merge_error(launched);
        let Ok(merged) = &launched.merged else { return };
        for line in merged.lines.iter().filter(|_| readable) {
            self.screen.warn(line.trim_start_matches("fewest: "));
        }
        for warning in &merged.warnings {
            self.screen.warn(warning);
        }
        match &merged.notice {
            None | Some(Notice::Created) => {}
            Some(notice) => self.screen.warn(&notice.to_string()),
        }
        self.tell_details(merged);
        if let Some(line) = summary::whole(merged) {
            self.screen.say(&line);
        }
        if let Some(line) = summary::doubtful(merged) {
            self.screen.say(&line);
        }
        if merged.tests.is_empty() {
            if let Some(line) = self.without_tests() {
                self.screen.say(line);
            }
            return;
        }
        if self.shadow {
            match summary::shadow(merged) {
                Shadow::Agrees(text) => self.screen.say(&text),
                Shadow::Fails(text) => self.screen.alarm(&text),
            }
        } else {
            self.screen.say(&summary::closing(merged));
            if let Some(line) = summary::left_out(merged) {
                self.screen.warn(&line);
            }
        }
        // What was cut short has not failed.
        if let Some(line) = summary::first_failure(merged)
            && launched.interrupted_by.is_none()
        {
            self.screen.say(&line);
        }
        if merged.order.followed == Some(false) {
            self.screen.say(summary::OWN_ORDER);
        }
    }

    fn tell_details(&self, merged: &Merged) {
        for test in &merged.tests {
            let name = &test.test;
            match test.verdict {
                "run" => {
                    let mut reasons = test.reasons.clone();
                    reasons.extend(test.methods.as_ref().and_then(summary::in_part));
                    let reasons = reasons.join(", ");
                    self.screen.detail(&format!("{name} ran: {reasons}"));
                }
                "left-out" => {
                    let reasons = test.reasons.join(", ");
                    self.screen
                        .detail(&format!("{name} left out, still due: {reasons}"));
                }
                _ => self.screen.detail(&format!("{name} left out")),
            }
            for doubt in summary::doubts(test) {
                self.screen
                    .detail(&format!("{name} proved nothing: {doubt}"));
            }
        }
    }

    fn tell_merge_error(&self, launched: &Launched) {
        if let Err(error) = &launched.merged {
            let mut text = format!("nothing was learned from this run: {error}");
            let mut source = std::error::Error::source(error);
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            self.screen.warn(&text);
        }
    }

    fn without_tests(&self) -> Option<&'static str> {
        match (&self.target, self.options.collect()) {
            (Target::Command(_), Collect::Now) => Some(
                "no test JVM was seen, so nothing was left out and nothing learned; \
                 `fewest doctor` tells whether the agent loads",
            ),
            (Target::Command(_), Collect::Off) => {
                Some("nothing was watched, so nothing was learned")
            }
            (Target::Command(_), Collect::Later) => None,
            (Target::Maven(_), _) => Some("no tests ran"),
        }
    }

    fn write_report(&self, path: &Path, merged: &Merged, launched: &Launched) -> Result<()> {
        let report = json!({
            "format": 1,
            "technique": merged.technique.name(),
            "entity": merged.entity.name(),
            "shadow": self.shadow,
            "interrupted": launched.interrupted_by.is_some(),
            "order": merged.order,
            "analysisMillis": merged.analysis_millis,
            "tests": merged.tests,
            "whole": summary::whole_by_reason(merged),
            "warnings": merged.warnings,
        });
        fs::write(path, serde_json::to_vec_pretty(&report)?)
            .with_context(|| format!("failed to write the report `{}`", path.display()))
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
