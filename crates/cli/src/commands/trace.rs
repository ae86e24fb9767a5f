//! `fewest trace`: looks into what an agent wrote.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use fewest_trace::{ClassEntry, Event, MethodStatements, Thing, Uses};

use crate::output;

macro_rules! line {
    ($out:expr, $($format:tt)*) => {
        add_line($out, &format!($($format)*))
    };
}

fn add_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// Look into the traces that agents write.
#[derive(Subcommand)]
pub(crate) enum TraceCommand {
    /// Print what a trace says, event by event.
    ///
    /// Traces lie in `.fewest/runs/…/traces` while a run goes on, and stay
    /// there when it was interrupted.
    Show {
        /// The trace to print.
        file: PathBuf,
    },
}

pub(crate) fn run(command: TraceCommand) -> Result<ExitCode> {
    let TraceCommand::Show { file } = command;
    let trace = fewest_trace::read_file(&file)?;
    let mut names = Names::default();
    let out = &mut String::new();
    for event in &trace.events {
        names.print(event, out);
    }
    match trace.cut_at {
        Some(offset) => line!(
            out,
            "cut at byte {offset}: the JVM did not end in an orderly way"
        ),
        None if !trace.is_complete() => line!(out, "the JVM did not end in an orderly way"),
        None => {}
    }
    output::print(out)?;
    Ok(ExitCode::SUCCESS)
}

/// Names for the numbers seen so far.
#[derive(Default)]
struct Names {
    classes: Vec<ClassEntry>,
    things: HashMap<u32, Thing>,
}

impl Names {
    fn print(&mut self, event: &Event, out: &mut String) {
        match event {
            Event::Class(class) => self.classes.push(class.clone()),
            Event::Thing { id, thing } => {
                self.things.insert(*id, thing.clone());
            }
            Event::Jvm(jvm) => {
                line!(
                    out,
                    "jvm {} with Java {} at {}",
                    jvm.pid,
                    jvm.java_version,
                    jvm.java_home
                );
            }
            Event::Opened(open) => {
                let method = open
                    .method
                    .as_deref()
                    .map(|m| format!("#{m}"))
                    .unwrap_or_default();
                line!(
                    out,
                    "{:>7} ms  [{}] {}{method} begins",
                    open.at,
                    open.window,
                    open.class.dotted()
                );
            }
            Event::Closed(close) => {
                line!(
                    out,
                    "            [{}] ends: {:?}, {} tests, {} ms{}",
                    close.window,
                    close.outcome,
                    close.tests,
                    close.millis,
                    if close.lingers {
                        ", threads live on"
                    } else {
                        ""
                    }
                );
                self.print_uses(&close.uses, out);
            }
            Event::Late { window, uses } => {
                line!(out, "            [{window}] threads that lived on:");
                self.print_uses(uses, out);
            }
            Event::Initialized { class, uses } => {
                let name = self.classes.iter().find(|entry| entry.id == *class);
                let name = name.map_or_else(|| "?".into(), |entry| entry.name.dotted());
                line!(out, "            initializer of {name}:");
                self.print_uses(uses, out);
            }
            Event::Statement {
                statement, uses, ..
            } => {
                let place = self.statement(*statement);
                line!(out, "            statement {place}:");
                self.print_uses(uses, out);
            }
            Event::Ambient { uses } => {
                line!(out, "            outside of tests:");
                self.print_uses(uses, out);
            }
            Event::LeftOut { class } => line!(out, "            {} left out", class.dotted()),
            Event::Doubt { window, why } => match window {
                Some(window) => line!(out, "            [{window}] doubt: {why}"),
                None => line!(out, "            doubt: {why}"),
            },
            Event::Watched { class, fields } => {
                let (class, fields) = (class.dotted(), fields.join(", "));
                line!(out, "            static fields of {class}: {fields}");
            }
            Event::Left { window, fields } => {
                let fields = fields.iter();
                let fields: Vec<String> = fields
                    .map(|(class, field)| format!("{}.{field}", class.dotted()))
                    .collect();
                let fields = if fields.is_empty() {
                    "none".into()
                } else {
                    fields.join(", ")
                };
                line!(
                    out,
                    "            [{window}] static fields set and left so: {fields}"
                );
            }
            Event::End { unseen } => {
                line!(out, "end, {} classes unseen", unseen.len());
                for class in unseen {
                    line!(out, "                unseen {}", class.dotted());
                }
            }
        }
    }

    /// A statement by its method and its place there.
    fn statement(&self, number: u32) -> String {
        let named = self.classes.iter().find_map(|class| {
            let of = |s: &&MethodStatements| (s.first..s.first + s.count as u32).contains(&number);
            let statements = class.statements.iter().find(of)?;
            let method = class.methods.get(statements.method as usize)?;
            let place = number - statements.first + 1;
            Some(format!("{place} of {}.{method}", class.name.dotted()))
        });
        named.unwrap_or_else(|| number.to_string())
    }

    fn print_uses(&self, uses: &Uses, out: &mut String) {
        for &probe in &uses.probes {
            let mut classes = self.classes.iter().rev();
            let place = classes.find_map(|class| Some((&class.name, class.place(probe)?)));
            match place {
                Some((class, (method, None))) => {
                    line!(out, "                ran {}.{method}", class.dotted());
                }
                Some((class, (method, Some(block)))) => {
                    line!(
                        out,
                        "                ran {}.{method}, block {block}",
                        class.dotted()
                    );
                }
                None => line!(out, "                ran probe {probe}"),
            }
        }
        for thing in &uses.things {
            match self.things.get(thing) {
                Some(thing) => line!(out, "                {thing:?}"),
                None => line!(out, "                thing {thing}"),
            }
        }
    }
}
