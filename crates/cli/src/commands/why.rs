//! `fewest why`: what would happen with a test now, and why.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fewest_model::{ClassName, Outcome, TestId};
use fewest_report::{Colour, Table, grouped};
use fewest_run::{Forecast, Outlook, Prediction, Project, RecordSummary};
use fewest_select::{Entity, Technique};

use crate::moment::moment;
use crate::names::{means, unknown};
use crate::summary::{short, some_methods};
use crate::{exit, output};

/// How many of the last runs are shown.
const SHOWN_RUNS: usize = 10;

/// Say why a test would run now, or why not.
///
/// Goes by the class files as they were last compiled and by the last build
/// that the test took part in; nothing is run.
///
///     fewest why ParserTest
///     fewest why com.acme.ParserTest
///     fewest why ParserTest#readsNumbers
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WhyArgs {
    /// The test class, by its simple or its full name, and a method of it.
    #[arg(value_name = "CLASS[#METHOD]")]
    test: String,
    /// How to tell which tests can be affected.
    #[arg(long, value_name = "NAME")]
    technique: Option<Technique>,
    /// What is left out or run as one: class or method. A method that is named
    /// is judged as one.
    #[arg(long, value_name = "NAME")]
    entity: Option<Entity>,
}

pub(crate) fn run(args: &WhyArgs) -> Result<ExitCode> {
    let (name, method) = meant_test(&args.test);
    let entity = method
        .as_ref()
        .map_or(args.entity, |_| Some(Entity::Method));
    let project = Project::around(&std::env::current_dir()?);
    let outlook = Outlook::open(project, args.technique, entity)?;
    let tests = outlook.tests()?;
    let meant: BTreeSet<TestId> = tests
        .iter()
        .filter(|test| means(&name, &test.class))
        .cloned()
        .collect();
    if meant.is_empty() {
        let text = unknown("test", &name, tests.iter().map(|test| &test.class));
        output::warn(&text);
        return Ok(exit::NOT_FOUND.into());
    }
    let mut forecasts = outlook.forecasts(&meant)?;
    if let Some(method) = method {
        // A class that stays whole answers for each of its methods.
        forecasts.retain(|forecast| {
            let known = forecast.test.method.as_deref();
            known.is_none_or(|known| known == method)
        });
        if forecasts.is_empty() {
            output::warn(&format!("no test method `{method}` of {name} is known"));
            return Ok(exit::NOT_FOUND.into());
        }
    }
    let screens: Vec<String> = forecasts
        .iter()
        .map(|forecast| screen(forecast).render(output::style()))
        .collect();
    output::print(&screens.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The class that a text names, and the name of its method there: a method of a
/// nested class is one of the outermost.
fn meant_test(text: &str) -> (String, Option<String>) {
    let class = TestId::class_of(text);
    let method = text.split_once('#').map(|(named, method)| {
        let named = ClassName::from_dotted(named);
        TestId::method_in(&class, &named, method).unwrap_or_else(|| method.to_owned())
    });
    (class.dotted(), method)
}

fn screen(forecast: &Forecast) -> Table {
    let mut table = Table::default();
    let mut name = forecast.test.to_string();
    if !forecast.test.module.is_empty() {
        name = format!("{name} in {}", forecast.test.module);
    }
    table.line(format!("{name} {}", verdict(&forecast.prediction)));
    if let Prediction::Run { reasons } = &forecast.prediction {
        for (index, reason) in reasons.iter().enumerate() {
            let label = if index == 0 { "because" } else { "" };
            table.row(2, [(label, Some(Colour::Dim)), (reason, None)]);
        }
    }
    let methods = forecast.methods.clone().unwrap_or_default();
    for (label, names) in [("runs", &methods.run), ("proven", &methods.skip)] {
        if !names.is_empty() && !methods.skip.is_empty() {
            let names = some_methods(names);
            table.row(2, [(label, Some(Colour::Dim)), (&names, None)]);
        }
    }
    let recorded = match &forecast.record {
        Some(record) => recorded(record),
        None if !methods.skip.is_empty() => "only method by method".into(),
        None => "never".into(),
    };
    table.row(2, [("recorded", Some(Colour::Dim)), (&recorded, None)]);
    for (index, doubt) in forecast.doubts.iter().enumerate() {
        let label = if index == 0 { "no proof" } else { "" };
        table.row(2, [(label, Some(Colour::Dim)), (doubt, None)]);
    }
    let history = history(forecast);
    table.row(2, [("last runs", Some(Colour::Dim)), (&history, None)]);
    table
}

fn verdict(prediction: &Prediction) -> &'static str {
    match prediction {
        Prediction::Run { .. } => "would run",
        Prediction::Skip => "would not run: all that it used is as it was",
        Prediction::Gone => "is gone: the class path no longer has it",
        Prediction::Unknown => {
            "cannot be judged: no build is known that it took part in; run your tests once under fewest"
        }
    }
}

fn recorded(record: &RecordSummary) -> String {
    let at = record
        .revision
        .as_deref()
        .map(|revision| format!(" at {}", short(revision)))
        .unwrap_or_default();
    format!(
        "{}{at}, {} things used, {}",
        moment(record.made_at),
        grouped(record.uses as usize),
        seconds(record.millis)
    )
}

fn seconds(millis: u32) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

fn history(forecast: &Forecast) -> String {
    let words: Vec<&str> = forecast
        .history
        .iter()
        .take(SHOWN_RUNS)
        .map(|event| outcome(event.ending.outcome))
        .collect();
    match (words.as_slice(), forecast.history.first()) {
        (_, None) => "none".into(),
        (words, Some(newest)) => format!("{} ({})", words.join(", "), moment(newest.ending.at)),
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Skipped => "skipped",
        Outcome::Flaky => "flaky",
        Outcome::Failed => "failed",
        Outcome::Unfinished => "unfinished",
    }
}
