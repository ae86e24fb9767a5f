//! How long fewest takes to tell which tests to run in a large project, with
//! how much memory, and how both grow.
//!
//!     cargo run --release -p fewest-bench-scale
//!     cargo run --release -p fewest-bench-scale -- 5000:1000:300 --rounds 21
//!
//! For each size it makes class files, a store in which every test has a
//! record, and the request of a build; then it answers the request as `fewest
//! ask` does: takes a snapshot of the classes, reads the store, judges every
//! test, puts in order what runs, and writes plan and answer. Every answer is
//! made in a process of its own, which tells its time and the most memory that
//! it had, and every answer is checked. `docs/evaluation/scale.md` has figures.

#![forbid(unsafe_code)]

mod classes;
mod measure;
mod project;

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use measure::{Figures, answer, median};
use project::{Large, Size};

#[derive(Parser)]
struct Args {
    /// Sizes: numbers of classes, of tests, and of classes that a test uses.
    #[arg(
        value_name = "CLASSES:TESTS:USED",
        default_values = ["5000:1000:300", "20000:4000:300", "100000:20000:300", "100000:1000000:20"]
    )]
    sizes: Vec<Size>,
    /// How often each answer is measured; medians are printed.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Where the projects are made; about a gigabyte for the largest.
    #[arg(long, value_name = "FOLDER", default_value = "target/fewest-scale")]
    work: PathBuf,
    /// Print lines of JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Answer the request in a task's folder, and tell what that took.
    #[arg(long, hide = true, value_name = "FOLDER")]
    answer: Option<PathBuf>,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<usize>> = text.split(':').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[classes, tests, used]) if used <= classes && tests > 0 => Ok(Self {
                classes,
                tests,
                used,
            }),
            _ => Err("three numbers are wanted, as in 5000:1000:300; a test cannot use more classes than there are".to_owned()),
        }
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(task) = &args.answer {
        return measure::answer_here(task);
    }
    if !args.json {
        println!("{}", Figures::HEAD);
    }
    for &size in &args.sizes {
        let work = std::path::absolute(&args.work)?;
        let root = work.join(format!("{}-{}", size.classes, size.tests));
        if root.exists() {
            std::fs::remove_dir_all(&root)
                .with_context(|| format!("failed to remove `{}`", root.display()))?;
        }
        let large = Large::make(&root, size)?;
        for figures in measure_all(&large, args.rounds.max(1))? {
            if args.json {
                println!("{}", serde_json::to_string(&figures)?);
            } else {
                println!("{}", figures.row());
            }
        }
        std::fs::remove_dir_all(&root)
            .with_context(|| format!("failed to remove `{}`", root.display()))?;
    }
    Ok(())
}

/// Cold, warm, and warm after an edit of one method.
fn measure_all(large: &Large, rounds: usize) -> Result<Vec<Figures>> {
    let mut all = Vec::new();
    let mut cold = Vec::new();
    for _ in 0..rounds.min(3) {
        large.forget_files()?;
        cold.push(expect(large, 0)?);
    }
    all.push(Figures::of(large.size, "cold", &median(cold)));
    let warm: Result<Vec<_>> = (0..rounds).map(|_| expect(large, 0)).collect();
    all.push(Figures::of(large.size, "warm", &median(warm?)));
    // The last class of the tree is one that few tests use, the first one that
    // many use.
    for (what, class) in [
        ("one method that few use", large.size.classes - 1),
        ("one method that many use", 0),
    ] {
        let users = large.users(class);
        let mut times = Vec::new();
        for round in 0..rounds {
            large.edit(class, round as i32 + 1)?;
            times.push(expect(large, users)?);
        }
        large.edit(class, 0)?;
        all.push(Figures::of(large.size, what, &median(times)));
    }
    Ok(all)
}

/// An answer by which so many tests run.
fn expect(large: &Large, run: usize) -> Result<measure::Answer> {
    let answer = answer(&large.task)?;
    let left_out = large.size.tests - run;
    ensure!(
        answer.left_out == left_out,
        "{} tests should have been left out, but {} were",
        left_out,
        answer.left_out
    );
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole way at a size that takes no time. What it measures is not
    /// looked at, but every answer is.
    #[test]
    fn a_small_project_is_answered_rightly_cold_warm_and_after_edits() {
        let folder = tempfile::tempdir().unwrap();
        let size = "200:50:20".parse().unwrap();
        let large = Large::make(folder.path(), size).unwrap();
        let users = large.users(0);
        assert!(users > 0 && users < 50, "{users}");
        let left_out = || measure::answer_for(&large.task).unwrap().left_out;
        assert_eq!(left_out(), 50);
        assert_eq!(left_out(), 50);
        large.edit(0, 1).unwrap();
        assert_eq!(left_out(), 50 - users);
        large.edit(0, 0).unwrap();
        large.forget_files().unwrap();
        assert_eq!(left_out(), 50);
    }

    #[test]
    fn a_size_has_three_numbers() {
        assert!("5000:1000".parse::<Size>().is_err());
        assert!("10:5:11".parse::<Size>().is_err());
        assert_eq!("5000:1000:300".parse::<Size>().unwrap().used, 300);
    }
}
