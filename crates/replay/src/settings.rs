//! What is to be measured.

use std::path::PathBuf;

use fewest_run::OrderBy;
use fewest_select::Entity;

use crate::mutants;
use crate::results::Mode;
use crate::variant::Variant;

#[derive(Clone, Debug)]
pub struct Settings {
    /// A folder of the user's checkout, in which Maven would be started.
    pub directory: PathBuf,
    /// A range as git takes it, or the last so many commits.
    pub range: Range,
    /// Only revisions count that touch one of these, from the root of the
    /// repository; all if there are none.
    pub paths: Vec<String>,
    pub mode: Mode,
    pub variants: Vec<Variant>,
    pub entity: Option<Entity>,
    /// Orders to compare where a revision has failing tests.
    pub orders: Vec<OrderBy>,
    /// How often each time is taken; the median counts.
    pub runs: usize,
    /// How often the whole suite runs to find unstable tests.
    pub stability: usize,
    /// Whether the whole suite runs at all.
    pub full: bool,
    /// Whether runs without collection are measured too.
    pub without_collection: bool,
    pub mutants: usize,
    /// Results of mutants that are planted again without running any test.
    pub known_mutants: Option<PathBuf>,
    pub seed: u64,
    pub check: mutants::Check,
    /// How many JVMs run tests with faults at the same time.
    pub jobs: usize,
    /// Go on where a replay into the same folder has ended.
    pub resume: bool,
    /// Where the clone, the stores and the results are.
    pub work: PathBuf,
    /// This program.
    pub fewest: PathBuf,
    pub maven_args: Vec<String>,
    pub fewest_options: Vec<String>,
}

#[derive(Clone, Debug)]
pub enum Range {
    Commits(String),
    Last(usize),
}
