//! `fewest trace`: looks into what an agent wrote.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use fewest_trace::{ClassEntry, Event, Thing, Uses};

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
    for event in &trace.events {
        names.print(event);
    }
    match trace.cut_at {
        Some(offset) => println!("cut at byte {offset}: the JVM did not end in an orderly way"),
        None if !trace.is_complete() => println!("the JVM did not end in an orderly way"),
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Names for the numbers seen so far.
#[derive(Default)]
struct Names {
    classes: Vec<ClassEntry>,
    things: HashMap<u32, Thing>,
}

impl Names {
    fn print(&mut self, event: &Event) {
        match event {
            Event::Class(class) => self.classes.push(class.clone()),
            Event::Thing { id, thing } => {
                self.things.insert(*id, thing.clone());
            }
            Event::Jvm(jvm) => {
                println!(
                    "jvm {} with Java {} at {}",
                    jvm.pid, jvm.java_version, jvm.java_home
                );
            }
            Event::Opened(open) => {
                let method = open
                    .method
                    .as_deref()
                    .map(|m| format!("#{m}"))
                    .unwrap_or_default();
                println!(
                    "{:>7} ms  [{}] {}{method} begins",
                    open.at,
                    open.window,
                    open.class.dotted()
                );
            }
            Event::Closed(close) => {
                println!(
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
                self.print_uses(&close.uses);
            }
            Event::Late { window, uses } => {
                println!("            [{window}] threads that lived on:");
                self.print_uses(uses);
            }
            Event::Initialized { class, uses } => {
                let name = self.classes.iter().find(|entry| entry.id == *class);
                let name = name.map_or_else(|| "?".into(), |entry| entry.name.dotted());
                println!("            initializer of {name}:");
                self.print_uses(uses);
            }
            Event::Ambient { uses } => {
                println!("            outside of tests:");
                self.print_uses(uses);
            }
            Event::LeftOut { class } => println!("            {} left out", class.dotted()),
            Event::Doubt { window, why } => match window {
                Some(window) => println!("            [{window}] doubt: {why}"),
                None => println!("            doubt: {why}"),
            },
            Event::End { unseen } => {
                println!("end, {} classes unseen", unseen.len());
                for class in unseen {
                    println!("                unseen {}", class.dotted());
                }
            }
        }
    }

    fn print_uses(&self, uses: &Uses) {
        for &probe in &uses.probes {
            let class = self.classes.iter().rev().find(|class| {
                (class.first_probe..class.first_probe + class.methods.len() as u32).contains(&probe)
            });
            match class {
                Some(class) => {
                    let method = &class.methods[(probe - class.first_probe) as usize];
                    println!("                ran {}.{method}", class.name.dotted());
                }
                None => println!("                ran probe {probe}"),
            }
        }
        for thing in &uses.things {
            match self.things.get(thing) {
                Some(thing) => println!("                {thing:?}"),
                None => println!("                thing {thing}"),
            }
        }
    }
}
