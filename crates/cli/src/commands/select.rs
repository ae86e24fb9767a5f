//! `fewest select`: what would happen with every known test now.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fewest_model::{ClassName, TestId};
use fewest_report::{Colour, Table, counted};
use fewest_run::{Coarsening, Forecast, OrderBy, Outlook, Prediction, Project};
use fewest_select::{Entity, Technique};
use serde_json::json;

use crate::commands::build::order_by;
use crate::output;
use crate::summary::in_part;

/// List what would run now and what not, without running anything.
///
/// Goes by the class files as they were last compiled, and by the tests that
/// fewest has seen: a test class that is new is not listed, and will run.
#[derive(Args)]
pub(crate) struct SelectArgs {
    /// How to tell which tests can be affected.
    #[arg(long, value_name = "NAME")]
    technique: Option<Technique>,
    /// With static-full: go by what differs from a revision of git, committed
    /// or not, instead of by records.
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// What is left out or run as one: class or method.
    #[arg(long, value_name = "NAME")]
    entity: Option<Entity>,
    /// Changes of methods that count as a change of the whole class, as
    /// `CIM,AIM`: A, D or C (added, deleted, changed) and SI, I, SM or IM
    /// (static initializer, constructor, static method, instance method).
    #[arg(long, value_name = "TYPES")]
    coarsen: Option<Coarsening>,
    /// List the tests in the order in which they would run, and then those that
    /// would not: by the order that is named, or by smart.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        default_missing_value = "smart",
        value_parser = order_by
    )]
    order: Option<OrderBy>,
    /// Decides between tests that are equally good to run next.
    #[arg(long, value_name = "NUMBER", requires = "order")]
    seed: Option<u64>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &SelectArgs) -> Result<ExitCode> {
    let outlook = Outlook::open(
        Project::around(&std::env::current_dir()?),
        args.technique,
        args.entity,
    )?
    .coarsened(args.coarsen.clone())
    .since(args.since.as_deref())?;
    let all: BTreeSet<_> = outlook.tests()?.into_iter().collect();
    let mut forecasts = outlook.forecasts(&all)?;
    forecasts.retain(|forecast| forecast.prediction != Prediction::Gone);
    let order = args.order.map(|by| outlook.order_settings(by, args.seed));
    if let Some(order) = &order {
        sort_by_order(&mut forecasts, &outlook.order(order)?);
    }
    if args.json {
        let tests: Vec<_> = forecasts.iter().map(json_of).collect();
        output::print_json(&json!({
            "format": 1,
            "technique": outlook.technique().name(),
            "entity": outlook.entity().name(),
            "order": order.map(|order| order.by.to_string()),
            "tests": tests,
        }))?;
    } else {
        output::print(&screen(&forecasts, outlook.entity()).render(output::style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What has a place in the order comes first, and then what runs where the
/// build puts it. Everything else keeps its order by name.
fn sort_by_order(forecasts: &mut [Forecast], order: &[TestId]) {
    let places: BTreeMap<(&str, &ClassName), usize> = order
        .iter()
        .enumerate()
        .map(|(place, test)| ((&*test.module, &test.class), place))
        .collect();
    forecasts.sort_by_key(|forecast| {
        let runs = matches!(
            forecast.prediction,
            Prediction::Run { .. } | Prediction::Unknown
        );
        let place = places.get(&(&*forecast.test.module, &forecast.test.class));
        (!runs, place.copied().unwrap_or(usize::MAX))
    });
}

fn screen(forecasts: &[Forecast], entity: Entity) -> Table {
    let mut table = Table::default();
    let mut run = 0;
    for forecast in forecasts {
        let name = forecast.test.to_string();
        let (word, colour, reason) = match &forecast.prediction {
            Prediction::Run { reasons } => {
                run += 1;
                let mut reasons = reasons.clone();
                reasons.extend(forecast.methods.as_ref().and_then(in_part));
                ("run", Colour::Yellow, reasons.join(", "))
            }
            Prediction::Unknown => {
                run += 1;
                let reason = "no build is known that it took part in".to_owned();
                ("run", Colour::Yellow, reason)
            }
            Prediction::Skip | Prediction::Gone => ("skip", Colour::Green, String::new()),
        };
        table.row(0, [(word, Some(colour)), (&name, None), (&reason, None)]);
    }
    let all = match entity {
        Entity::Class => counted(forecasts.len(), "known test class", "known test classes"),
        Entity::Method => counted(
            forecasts.len(),
            "known test method or whole class",
            "known test methods and whole classes",
        ),
    };
    table.line(format!("{run} of {all} would run"));
    table
}

fn json_of(forecast: &Forecast) -> serde_json::Value {
    let (verdict, reasons) = match &forecast.prediction {
        Prediction::Run { reasons } => ("run", reasons.clone()),
        Prediction::Unknown => ("unknown", Vec::new()),
        Prediction::Skip | Prediction::Gone => ("skip", Vec::new()),
    };
    let mut value = json!({
        "test": forecast.test.to_string(),
        "module": &*forecast.test.module,
        "verdict": verdict,
        "reasons": reasons,
    });
    if let Some(methods) = forecast.methods.as_ref().filter(|m| m.are_split()) {
        value["methods"] = json!(methods);
    }
    value
}
