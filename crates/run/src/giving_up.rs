//! Classes of which tests give up on an assumption.
//!
//! They are gone into method by method, also where classes are what is left out
//! or run. `docs/design/entities.md` tells why.

use fewest_model::{ClassName, Outcome};
use fewest_store::{Environment, Event, KnownTest, Ledger};

use crate::tests_of_task::newest_record;

/// Whether tests of a class, of those that are there, gave up on an assumption
/// when they last ran. Such a class has no record, and would run at every
/// revision.
pub(crate) fn gives_up(
    ledger: &Ledger<'_>,
    module: &str,
    class: &ClassName,
    environment: &Environment,
    is_there: &dyn Fn(&str) -> bool,
) -> bool {
    let tests = ledger.tests_of_class(module, class);
    let itself = tests.iter().find(|test| test.id.method.is_none());
    let newest = itself.and_then(|test| newest_record(ledger, test, environment));
    let last = |test: &KnownTest| {
        let event = test.history.first().copied();
        event.filter(|event| newest.is_none_or(|newest| event.sequence > newest))
    };
    let methods = tests
        .iter()
        .filter(|test| test.id.method.as_deref().is_some_and(is_there));
    let methods: Vec<Event> = methods.filter_map(last).collect();
    some_gave_up(itself.and_then(last), &methods)
}

/// Whether the last word on a class, or on one of its methods, is that it gave
/// up. What methods came to in the same run as their class is the newer word.
fn some_gave_up(class: Option<Event>, methods: &[Event]) -> bool {
    let gave_up = |event: &Event| event.ending.outcome == Outcome::Skipped;
    let is_newest = |class: &Event| methods.iter().all(|m| m.sequence < class.sequence);
    methods.iter().any(gave_up) || class.filter(is_newest).as_ref().is_some_and(gave_up)
}

#[cfg(test)]
mod tests {
    use fewest_store::{Ending, RunId, Sequence};

    use super::*;

    fn event(sequence: u64, outcome: Outcome) -> Event {
        Event {
            ending: Ending {
                outcome,
                at: 0,
                millis: 1,
                run: RunId(1),
            },
            sequence: Sequence(sequence),
        }
    }

    #[test]
    fn a_class_gives_up_while_the_last_word_on_one_of_its_tests_says_so() {
        use Outcome::{Failed, Passed, Skipped};

        let gives_up = |class: Option<(u64, Outcome)>, methods: &[(u64, Outcome)]| {
            let one = |&(sequence, outcome): &(u64, Outcome)| event(sequence, outcome);
            let methods: Vec<Event> = methods.iter().map(one).collect();
            some_gave_up(class.as_ref().map(one), &methods)
        };
        assert!(!gives_up(None, &[]));
        assert!(!gives_up(Some((1, Passed)), &[]));
        assert!(!gives_up(Some((1, Failed)), &[]));
        assert!(gives_up(Some((1, Skipped)), &[]));
        // In one run, a class is written down before its methods.
        assert!(gives_up(Some((1, Skipped)), &[(2, Passed), (3, Skipped)]));
        assert!(!gives_up(Some((1, Skipped)), &[(2, Passed), (3, Passed)]));
        assert!(!gives_up(Some((1, Skipped)), &[(2, Passed), (3, Failed)]));
        // It has run as a whole since.
        assert!(gives_up(Some((4, Skipped)), &[(2, Passed), (3, Passed)]));
        // One fails beside another that gives up.
        assert!(gives_up(Some((1, Failed)), &[(2, Failed), (3, Skipped)]));
    }
}
