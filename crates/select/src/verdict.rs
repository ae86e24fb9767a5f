//! Whether a test need run, and why.

use fewest_model::{ClassName, Element, Outcome};
use roaring::RoaringBitmap;
use serde::Serialize;

use crate::Technique;

/// What is to happen with a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Run(RunReason),
    /// Everything that the record with this place in the candidate's list used
    /// is as it was.
    Skip {
        record: usize,
    },
}

impl Verdict {
    pub fn is_run(&self) -> bool {
        matches!(self, Self::Run(_))
    }
}

/// Why a test runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum RunReason {
    /// The technique runs everything.
    EverythingRuns,
    /// The user wants it to run each time.
    Listed,
    /// It is time for a full run, as the project asks for every so often.
    FullRunDue,
    /// No record names this test.
    NoRecord { doubts: Vec<String> },
    /// It did not pass cleanly when it last ran.
    LastOutcome { outcome: Outcome },
    /// It was recorded in another environment.
    Environment { changes: Vec<String> },
    /// The technique runs again what failed in one of the last so many runs.
    FailedLately { runs: u64 },
    /// Its code leads to a class that changed: the way there, both ends
    /// included, and how many such classes there are.
    Reaches { chain: Vec<ClassName>, count: u64 },
    /// Things that it used are not as they were; the first few of `count`.
    Changed { elements: Vec<Element>, count: u64 },
    /// Others that run need it.
    Needed { why: String },
    /// We could not tell, so it runs.
    Unknown { doubt: String },
}

/// The versions that a store knows, as far as selection asks.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// All versions by number.
    pub known: RoaringBitmap,
    /// Those that count for the technique and are not what the checkout has.
    pub stale: RoaringBitmap,
}

/// A record, as far as selection asks.
pub trait Evidence {
    /// Whether it was made in the environment of today.
    fn is_of_this_environment(&self) -> bool;
    /// In which facts its environment differs, in words.
    fn environment_changes(&self) -> Vec<String>;
    /// The numbers of what it used, or why they cannot be had.
    fn uses(&self) -> Result<RoaringBitmap, String>;
}

/// What is known of a test.
#[derive(Debug)]
pub struct Candidate<'a, E> {
    /// Newest first.
    pub records: &'a [E],
    /// How it ended after the newest record was made, if it ran since.
    pub outcome_since: Option<Outcome>,
    /// Why its last run made no record.
    pub doubts: &'a [String],
    /// Whether the user wants it to run each time.
    pub listed: bool,
}

impl<E> Candidate<'_, E> {
    /// Why the test runs whatever has changed, if it does.
    pub fn reason_of_its_own(&self) -> Option<RunReason> {
        if self.listed {
            return Some(RunReason::Listed);
        }
        let outcome = self.outcome_since?;
        (!outcome.is_evidence()).then_some(RunReason::LastOutcome { outcome })
    }
}

/// How many changed elements a reason names.
const NAMED: usize = 5;

/// Tells whether a test need run. `element` names a version by its number.
pub fn judge<E: Evidence>(
    technique: Technique,
    candidate: &Candidate<'_, E>,
    versions: &Versions,
    element: impl Fn(u32) -> Option<Element>,
) -> Verdict {
    if technique == Technique::All {
        return Verdict::Run(RunReason::EverythingRuns);
    }
    if let Some(reason) = candidate.reason_of_its_own() {
        return Verdict::Run(reason);
    }
    let mut reason = None;
    for (index, record) in candidate.records.iter().enumerate() {
        match check(record, versions, &element) {
            Ok(()) => return Verdict::Skip { record: index },
            // The newest record says best what has changed since; one of this
            // environment says it better than any other.
            Err(why) => {
                let better = matches!(reason, Some(RunReason::Environment { .. }))
                    && !matches!(why, RunReason::Environment { .. });
                if reason.is_none() || better {
                    reason = Some(why);
                }
            }
        }
    }
    let no_record = || RunReason::NoRecord {
        doubts: candidate.doubts.to_vec(),
    };
    Verdict::Run(reason.unwrap_or_else(no_record))
}

/// Whether a record still stands.
fn check<E: Evidence>(
    record: &E,
    versions: &Versions,
    element: &impl Fn(u32) -> Option<Element>,
) -> Result<(), RunReason> {
    if !record.is_of_this_environment() {
        return Err(RunReason::Environment {
            changes: record.environment_changes(),
        });
    }
    let uses = record
        .uses()
        .map_err(|doubt| RunReason::Unknown { doubt })?;
    if uses.is_empty() {
        return Err(RunReason::Unknown {
            doubt: "its record names nothing that it used".into(),
        });
    }
    if !uses.is_subset(&versions.known) {
        let doubt = "its record names something that the store has lost".into();
        return Err(RunReason::Unknown { doubt });
    }
    let changed = uses & &versions.stale;
    if changed.is_empty() {
        return Ok(());
    }
    let mut elements: Vec<Element> = changed.iter().filter_map(element).collect();
    // What a person edits comes before what follows from it.
    elements.sort_by_key(|element| (rank(element), element.clone()));
    elements.truncate(NAMED);
    Err(RunReason::Changed {
        elements,
        count: changed.len(),
    })
}

/// Exact elements first: a method says more than the shape of its class.
fn rank(element: &Element) -> u8 {
    match element {
        Element::Method(..) | Element::Blocks(..) => 0,
        Element::File(_) | Element::Resource(_) => 1,
        Element::Lookup(..) | Element::Receiver(..) => 2,
        Element::Shape(_) | Element::Head(_) | Element::Frame(_) | Element::Overrides(_) => 3,
        Element::Class(_) | Element::Whole(_) | Element::Reachable(_) => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Record {
        environment: bool,
        uses: Result<RoaringBitmap, String>,
    }

    impl Evidence for Record {
        fn is_of_this_environment(&self) -> bool {
            self.environment
        }

        fn environment_changes(&self) -> Vec<String> {
            vec!["jdk".into()]
        }

        fn uses(&self) -> Result<RoaringBitmap, String> {
            self.uses.clone()
        }
    }

    fn record(uses: impl IntoIterator<Item = u32>) -> Record {
        Record {
            environment: true,
            uses: Ok(uses.into_iter().collect()),
        }
    }

    fn verdict(records: &[Record], outcome_since: Option<Outcome>) -> Verdict {
        let versions = Versions {
            known: (0..10).collect(),
            stale: (5..10).collect(),
        };
        let candidate = Candidate {
            records,
            outcome_since,
            doubts: &[],
            listed: false,
        };
        judge(Technique::Hybrid, &candidate, &versions, |id| {
            Some(Element::Class(format!("C{id}").as_str().into()))
        })
    }

    #[test]
    fn a_test_is_left_out_while_all_it_used_is_as_it_was() {
        assert_eq!(
            verdict(&[record([0, 1])], None),
            Verdict::Skip { record: 0 }
        );
    }

    #[test]
    fn any_record_that_still_stands_will_do() {
        assert_eq!(
            verdict(&[record([7]), record([1])], None),
            Verdict::Skip { record: 1 }
        );
    }

    #[test]
    fn a_change_is_named() {
        let reason = RunReason::Changed {
            elements: vec![Element::Class("C7".into())],
            count: 1,
        };
        assert_eq!(verdict(&[record([0, 7])], None), Verdict::Run(reason));
    }

    #[test]
    fn a_test_without_a_record_runs() {
        assert_eq!(
            verdict(&[], None),
            Verdict::Run(RunReason::NoRecord { doubts: vec![] })
        );
    }

    #[test]
    fn a_test_that_failed_since_runs_though_its_record_stands() {
        for outcome in [
            Outcome::Failed,
            Outcome::Flaky,
            Outcome::Skipped,
            Outcome::Unfinished,
        ] {
            let reason = RunReason::LastOutcome { outcome };
            assert_eq!(verdict(&[record([0])], Some(outcome)), Verdict::Run(reason));
        }
        assert_eq!(
            verdict(&[record([0])], Some(Outcome::Passed)),
            Verdict::Skip { record: 0 }
        );
    }

    #[test]
    fn another_environment_is_no_proof_and_is_named() {
        let other = Record {
            environment: false,
            ..record([0])
        };
        let reason = RunReason::Environment {
            changes: vec!["jdk".into()],
        };
        assert_eq!(verdict(&[other], None), Verdict::Run(reason));
    }

    #[test]
    fn a_record_that_cannot_be_read_or_is_empty_or_names_the_unknown_is_no_proof() {
        let unreadable = Record {
            environment: true,
            uses: Err("damaged".into()),
        };
        for bad in [unreadable, record([]), record([99])] {
            assert!(matches!(
                verdict(&[bad], None),
                Verdict::Run(RunReason::Unknown { .. })
            ));
        }
    }
}
