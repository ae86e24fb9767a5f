//! The plain values that the store takes and gives.
//!
//! Points in time are milliseconds since 1970 and are shown, never compared:
//! clocks jump and differ between machines. What came first is told by
//! [`Sequence`].

use std::collections::BTreeSet;
use std::sync::Arc;

use fewest_model::{Outcome, TestId, Version};

use crate::Environment;
use crate::codec::{Malformed, Packer, Unpacker};

/// The number of a version within one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionId(pub u32);

/// The number of a run within one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

/// The place of a record or an event in the order of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

/// A test passed, cleanly and to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    pub test: TestId,
    pub environment: Arc<Environment>,
    pub made_at: i64,
    pub millis: u32,
    /// The commit that was checked out, where there is version control.
    pub revision: Option<Arc<str>>,
}

/// A pass and everything that was used for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub pass: Pass,
    pub uses: BTreeSet<Version>,
}

/// How a test ended in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    pub outcome: Outcome,
    pub at: i64,
    pub millis: u32,
    pub run: RunId,
}

/// An ending in the history of its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub ending: Ending,
    pub sequence: Sequence,
}

/// What is known when a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    pub started_at: i64,
    pub revision: Option<String>,
    pub command: String,
    pub technique: String,
}

/// A run of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub begun: NewRun,
    /// `None` means that the run goes on or was interrupted.
    pub finished_at: Option<i64>,
    /// Whether it ran every test.
    pub full: bool,
}

const OUTCOMES: [Outcome; 5] = [
    Outcome::Passed,
    Outcome::Skipped,
    Outcome::Flaky,
    Outcome::Failed,
    Outcome::Unfinished,
];

/// The number that stands for an outcome in the file.
fn outcome_number(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Skipped => 1,
        Outcome::Flaky => 2,
        Outcome::Failed => 3,
        Outcome::Unfinished => 4,
    }
}

/// Puts an event in front of a packed history and cuts it to `limit` events.
pub(crate) fn extend_history(
    history: &[u8],
    event: &Event,
    limit: usize,
) -> Result<Vec<u8>, Malformed> {
    let mut packer = Packer::default();
    pack_event(&mut packer, event);
    for older in Events::of(history).take(limit.saturating_sub(1)) {
        pack_event(&mut packer, &older?);
    }
    Ok(packer.finish())
}

fn pack_event(packer: &mut Packer, event: &Event) {
    packer.byte(outcome_number(event.ending.outcome));
    packer.integer(event.sequence.0);
    packer.signed(event.ending.at);
    packer.integer(u64::from(event.ending.millis));
    packer.signed(event.ending.run.0);
}

/// The events of a packed history, newest first.
pub(crate) struct Events<'a>(Unpacker<'a>);

impl<'a> Events<'a> {
    pub(crate) fn of(history: &'a [u8]) -> Self {
        Self(Unpacker::new(history))
    }

    fn event(&mut self) -> Result<Event, Malformed> {
        let outcome = *OUTCOMES.get(usize::from(self.0.byte()?)).ok_or(Malformed)?;
        let sequence = Sequence(self.0.integer()?);
        Ok(Event {
            ending: Ending {
                outcome,
                at: self.0.signed()?,
                millis: self.0.small()?,
                run: RunId(self.0.signed()?),
            },
            sequence,
        })
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.event())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u64) -> Event {
        Event {
            ending: Ending {
                outcome: OUTCOMES[number as usize % OUTCOMES.len()],
                at: -5 + number as i64,
                millis: 1000,
                run: RunId(7),
            },
            sequence: Sequence(number),
        }
    }

    #[test]
    fn a_history_keeps_its_newest_events() {
        let history = (0..9).fold(Vec::new(), |history, number| {
            extend_history(&history, &event(number), 6).unwrap()
        });
        let events: Vec<Event> = Events::of(&history).map(Result::unwrap).collect();
        assert_eq!(events, (3..9).rev().map(event).collect::<Vec<_>>());
    }

    #[test]
    fn each_outcome_has_its_own_number() {
        for outcome in OUTCOMES {
            assert_eq!(OUTCOMES[usize::from(outcome_number(outcome))], outcome);
        }
    }
}
