//! One answer, in a process of its own.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fewest_build::TaskAnswer;
use serde::{Deserialize, Serialize};

use crate::project::Size;

/// What an answer took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// How many tests it leaves out.
    pub(crate) left_out: usize,
    millis: f64,
    /// User and system time, where the system tells it.
    processor_millis: Option<u64>,
    /// The most memory that the process had, where the system tells it.
    peak_mib: Option<u64>,
}

/// Answers the request in a task's folder in another process.
pub(crate) fn answer(task: &Path) -> Result<Answer> {
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let output = Command::new(program)
        .arg("--answer")
        .arg(task)
        .output()
        .context("failed to start this program again")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the answer failed: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Answers in this process, and prints what that took.
pub(crate) fn answer_here(task: &Path) -> Result<()> {
    println!("{}", serde_json::to_string(&answer_for(task)?)?);
    Ok(())
}

pub(crate) fn answer_for(task: &Path) -> Result<Answer> {
    let started = Instant::now();
    fewest_run::ask(task)?;
    let millis = started.elapsed().as_secs_f64() * 1000.0;
    let processor_millis = processor_millis();
    let peak_mib = peak_mib();
    let answer = TaskAnswer::read(task)?;
    Ok(Answer {
        left_out: answer.skip.len(),
        millis,
        processor_millis,
        peak_mib,
    })
}

/// What this process took of the processors, from proc(5).
fn processor_millis() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) * 10)
}

fn peak_mib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib >> 10)
}

/// The answer with the time in the middle; of the memory the most.
pub(crate) fn median(mut answers: Vec<Answer>) -> Answer {
    answers.sort_by(|left, right| left.millis.total_cmp(&right.millis));
    let peak_mib = answers.iter().filter_map(|answer| answer.peak_mib).max();
    let mut processor: Vec<u64> = answers
        .iter()
        .filter_map(|answer| answer.processor_millis)
        .collect();
    processor.sort_unstable();
    let middle = answers.len() / 2;
    let mut answer = answers.swap_remove(middle);
    answer.peak_mib = peak_mib;
    answer.processor_millis = processor.get(processor.len() / 2).copied();
    answer
}

/// A row of the table.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Figures {
    classes: usize,
    tests: usize,
    used: usize,
    what: &'static str,
    run: usize,
    millis: f64,
    processor_millis: Option<u64>,
    peak_mib: Option<u64>,
}

impl Figures {
    pub(crate) const HEAD: &str = "| classes | tests | classes per test | | tests that run | ms | processor ms | peak MiB |\n|---|---|---|---|---|---|---|---|";

    pub(crate) fn of(size: Size, what: &'static str, answer: &Answer) -> Self {
        Self {
            classes: size.classes,
            tests: size.tests,
            used: size.used,
            what,
            run: size.tests - answer.left_out,
            millis: answer.millis,
            processor_millis: answer.processor_millis,
            peak_mib: answer.peak_mib,
        }
    }

    pub(crate) fn row(&self) -> String {
        let number = |number: Option<u64>| number.map_or("–".to_owned(), |n| n.to_string());
        format!(
            "| {} | {} | {} | {} | {} | {:.0} | {} | {} |",
            self.classes,
            self.tests,
            self.used,
            self.what,
            self.run,
            self.millis,
            number(self.processor_millis),
            number(self.peak_mib),
        )
    }
}
