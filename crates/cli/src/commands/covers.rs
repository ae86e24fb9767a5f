//! `fewest covers`: the tests that use a class or a method.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fewest_model::ClassName;
use fewest_report::counted;
use fewest_run::{Outlook, Project};

use crate::names::{means, unknown};
use crate::{exit, output};

/// List the tests that use a class or a method.
///
/// Goes by the newest record of each test. One that was made by `static` or
/// `static-full` knows which classes the code of the test leads to, not which
/// of their methods it calls.
///
///     fewest covers Complex
///     fewest covers com.acme.Complex#negate
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CoversArgs {
    /// The class, by its simple or its full name, and a method of it.
    #[arg(value_name = "CLASS[#METHOD]")]
    target: String,
}

pub(crate) fn run(args: &CoversArgs) -> Result<ExitCode> {
    let outlook = Outlook::open(Project::around(&std::env::current_dir()?), None, None)?;
    let (name, method) = match args.target.split_once('#') {
        Some((name, method)) => (name, Some(method)),
        None => (args.target.as_str(), None),
    };
    let classes = outlook.used_classes()?;
    let meant: Vec<&ClassName> = classes.iter().filter(|class| means(name, class)).collect();
    if meant.is_empty() {
        output::warn(&unknown("used class", name, classes.iter()));
        return Ok(exit::NOT_FOUND.into());
    }
    let mut lines = Vec::new();
    for class in meant {
        let tests = outlook.tests_that_use(class, method)?;
        let member = method
            .map(|method| format!(".{method}()"))
            .unwrap_or_default();
        let tests_use = match tests.len() {
            1 => "1 test class uses".into(),
            count => format!("{} use", counted(count, "test class", "test classes")),
        };
        lines.push(format!("{tests_use} {}{member}", class.dotted()));
        lines.extend(tests.iter().map(|test| format!("  {test}")));
    }
    lines.push(String::new());
    output::print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
