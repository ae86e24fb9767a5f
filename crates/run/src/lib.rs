//! One run of a build's tests.
//!
//! Before tests start, [`ask`] tells which of them can be left out; when the
//! build has ended, [`merge`] turns what the agents saw into records. Between
//! the two lies a [`RunFolder`], so that the build, its JVMs and this process
//! need not know of each other.

#![forbid(unsafe_code)]

mod agent_library;
mod arrange;
mod ask;
mod child;
mod class_changes;
mod class_facts;
mod coarsening;
mod environment;
mod giving_up;
mod in_words;
mod last;
mod last_run;
mod launch;
mod merge;
mod method_results;
mod named_classes;
mod order_report;
mod order_settings;
mod outlook;
mod plan;
mod project;
mod run_folder;
mod settings;
mod signatures;
mod since;
mod task_line;
mod test_methods;
mod testng;
mod tests_of_task;

pub use agent_library::{UnpackAgentError, check_agent, unpack_agent};
pub use ask::{AskError, ask};
pub use class_changes::ClassChanges;
pub use coarsening::{Coarsening, ParseCoarseningError};
pub use environment::environment;
pub use fewest_store::{Notice, Overview, ReadError as StoreReadError};
pub use last_run::{LastRun, LastRunError, Target};
pub use launch::{Launch, LaunchError, LaunchOptions, Launched};
pub use merge::{
    MergeError, Merged, NOT_WATCHED, Progress, RunEnd, TestReport, merge, merge_telling,
};
pub use order_report::{FirstFailure, OrderReport};
pub use order_settings::{OrderBy, OrderSettings};
pub use outlook::{
    Forecast, Outlook, OutlookError, Prediction, RecordSummary, ShardTest, Standing,
};
pub use plan::{LeftOut, Parts, Plan, PlannedMethod, PlannedTest};
pub use project::{Project, cache_folder};
pub use run_folder::{RunFolder, RunFolderError, RunSettings};
pub use settings::{ClassPattern, Inputs, ProjectFile, ProjectFileError, TEMPLATE, nearest};
pub use since::{ChangeSet, ChangeSetError};
pub use tests_of_task::ChangedUses;
