//! Tests of the account as a whole.

use fewest_trace::Uses;

use super::*;

fn class(name: &str) -> ClassName {
    ClassName::new(name)
}

fn closed(events: &[Event], window: u32) -> &WindowClose {
    events
        .iter()
        .find_map(|event| match event {
            Event::Closed(close) if close.window == window => Some(close),
            _ => None,
        })
        .expect("the window is closed")
}

#[test]
fn a_use_counts_for_every_window_that_is_open() {
    let mut ledger = Ledger::default();
    let first = ledger.open(class("ATest"), None, 0);
    ledger.add_probes(&[1]);
    let second = ledger.open(class("BTest"), None, 1);
    ledger.add_probes(&[2]);
    ledger.close(first, 2);
    ledger.add_probes(&[3]);
    ledger.close(second, 3);
    let events = ledger.take_events();
    assert_eq!(closed(&events, first).uses.probes, [1, 2]);
    assert_eq!(closed(&events, second).uses.probes, [2, 3]);
}

#[test]
fn what_an_initializer_used_is_kept_for_its_class_and_counts_for_the_test() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.begin_initializer(7);
    ledger.add_probes(&[5]);
    ledger.end_initializer(7);
    ledger.close(window, 1);
    let events = ledger.take_events();
    let uses = Uses {
        probes: vec![5],
        things: vec![],
    };
    assert!(events.contains(&Event::Initialized {
        class: 7,
        uses: uses.clone()
    }));
    assert_eq!(closed(&events, window).uses, uses);
}

#[test]
fn a_statement_counts_what_is_used_until_the_next_one_or_the_end() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.add_probes(&[1]);
    ledger.begin_statement(0);
    ledger.add_probes(&[2]);
    ledger.begin_statement(1);
    ledger.add_probes(&[3]);
    ledger.close(window, 1);
    ledger.add_probes(&[4]);
    let statements: Vec<_> = ledger
        .take_events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Statement {
                statement,
                windows,
                uses,
            } => Some((statement, windows, uses.probes)),
            _ => None,
        })
        .collect();
    assert_eq!(
        statements,
        [(0, vec![window], vec![2]), (1, vec![window], vec![3])]
    );
}

#[test]
fn uses_outside_of_windows_are_ambient_and_written_before_the_next_window() {
    let mut ledger = Ledger::default();
    ledger.add_probes(&[9]);
    ledger.open(class("ATest"), None, 0);
    let events = ledger.take_events();
    let uses = Uses {
        probes: vec![9],
        things: vec![],
    };
    assert_eq!(events[0], Event::Ambient { uses });
    assert!(matches!(events[1], Event::Opened(_)));
}

#[test]
fn what_is_done_for_several_tests_is_ambient_within_a_window_too() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.begin_shared();
    ledger.add_probes(&[3]);
    ledger.end_shared();
    ledger.add_probes(&[4]);
    ledger.close(window, 1);
    ledger.end(Vec::new());
    let events = ledger.take_events();
    assert_eq!(closed(&events, window).uses.probes, [3, 4]);
    let uses = Uses {
        probes: vec![3],
        things: vec![],
    };
    assert!(events.contains(&Event::Ambient { uses }));
}

#[test]
fn a_thread_that_outlives_its_test_keeps_the_account_open() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.thread_started(1);
    ledger.close(window, 1);
    ledger.add_probes(&[4]);
    ledger.thread_ended(1);
    let events = ledger.take_events();
    assert!(closed(&events, window).lingers);
    let uses = Uses {
        probes: vec![4],
        things: vec![],
    };
    assert!(events.contains(&Event::Late { window, uses }));
}

#[test]
fn a_thread_that_ends_within_its_test_leaves_nothing_open() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.thread_started(1);
    ledger.thread_ended(1);
    ledger.close(window, 1);
    assert!(!closed(&ledger.take_events(), window).lingers);
}

#[test]
fn the_worst_outcome_stays() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.add_outcome(Some(&class("ATest")), &[], Outcome::Failed);
    ledger.add_outcome(Some(&class("ATest")), &[], Outcome::Skipped);
    ledger.close(window, 1);
    assert_eq!(
        closed(&ledger.take_events(), window).outcome,
        Outcome::Failed
    );
}

#[test]
fn an_outcome_of_an_unknown_class_concerns_all_windows() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.add_outcome(Some(&class("Elsewhere")), &[], Outcome::Failed);
    ledger.close(window, 1);
    assert_eq!(
        closed(&ledger.take_events(), window).outcome,
        Outcome::Failed
    );
}

#[test]
fn a_failure_in_a_part_is_one_of_the_suite() {
    let mut ledger = Ledger::default();
    let build = ledger.open(class("AllTests"), None, 0);
    ledger.add_part(&class("ATest"), &[build]);
    ledger.add_part(&class("AllTests"), &[build]);
    ledger.close(build, 0);
    let suite = ledger.open(class("AllTests"), None, 1);
    let other = ledger.open(class("BTest"), None, 1);
    let part = ledger.open(class("ATest"), None, 1);
    ledger.add_outcome(Some(&class("ATest")), &[], Outcome::Failed);
    for window in [suite, other, part] {
        ledger.close(window, 2);
    }
    let events = ledger.take_events();
    assert_eq!(closed(&events, suite).outcome, Outcome::Failed);
    assert_eq!(closed(&events, part).outcome, Outcome::Failed);
    assert_eq!(closed(&events, other).outcome, Outcome::Passed);
}

#[test]
fn a_class_that_is_part_of_itself_is_followed_once() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("A"), None, 0);
    let inner = ledger.open(class("B"), None, 0);
    ledger.add_part(&class("B"), &[window]);
    ledger.add_part(&class("A"), &[inner]);
    ledger.add_outcome(Some(&class("A")), &[], Outcome::Failed);
    ledger.close(inner, 1);
    assert_eq!(
        closed(&ledger.take_events(), inner).outcome,
        Outcome::Failed
    );
}

#[test]
fn a_test_counts_for_its_class_or_for_the_innermost_window() {
    let mut ledger = Ledger::default();
    let suite = ledger.open(class("AllTests"), None, 0);
    let part = ledger.open(class("ATest"), None, 0);
    ledger.count_test(Some(&class("ATest")), &[suite, part]);
    ledger.count_test(Some(&class("Feature")), &[suite, part]);
    ledger.count_test(None, &[suite]);
    for window in [part, suite] {
        ledger.close(window, 1);
    }
    let events = ledger.take_events();
    assert_eq!(closed(&events, part).tests, 2);
    assert_eq!(closed(&events, suite).tests, 1);
}

#[test]
fn what_a_method_uses_and_comes_to_is_not_its_class_s() {
    let mut ledger = Ledger::default();
    let whole = ledger.open(class("ATest"), None, 0);
    ledger.add_probes(&[1]);
    let method = ledger.open(class("ATest"), Some("m".into()), 0);
    ledger.add_probes(&[2]);
    ledger.add_outcome(Some(&class("ATest")), &[whole], Outcome::Failed);
    ledger.close(method, 1);
    ledger.add_probes(&[3]);
    ledger.close(whole, 1);
    let events = ledger.take_events();
    assert_eq!(closed(&events, whole).uses.probes, [1, 3]);
    assert_eq!(closed(&events, whole).outcome, Outcome::Passed);
    assert_eq!(closed(&events, method).uses.probes, [2]);
    assert_eq!(closed(&events, method).outcome, Outcome::Failed);
}

#[test]
fn threads_that_a_class_started_work_for_all_of_its_methods() {
    let mut ledger = Ledger::default();
    let whole = ledger.open(class("ATest"), None, 0);
    ledger.thread_started(1);
    let method = ledger.open(class("ATest"), Some("m".into()), 0);
    ledger.thread_started(2);
    ledger.add_probes(&[2]);
    ledger.thread_ended(1);
    ledger.close(method, 1);
    ledger.close(whole, 1);
    let events = ledger.take_events();
    assert_eq!(closed(&events, whole).uses.probes, [2]);
    assert!(!closed(&events, whole).lingers);
    assert!(closed(&events, method).lingers);
}

#[test]
fn a_window_stays_open_while_a_call_is_inside() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    assert_eq!(ledger.join(&class("BTest"), None), None);
    assert_eq!(ledger.join(&class("ATest"), Some("m")), None);
    assert_eq!(ledger.join(&class("ATest"), None), Some(window));
    assert!(ledger.leave(window));
    assert!(!ledger.leave(window));
}

#[test]
fn a_resting_thread_lets_go_of_its_window_until_it_works_again() {
    let mut ledger = Ledger::default();
    let first = ledger.open(class("ATest"), None, 0);
    ledger.thread_started(1);
    assert!(!ledger.is_news(&BTreeSet::new()));
    assert!(ledger.is_news(&BTreeSet::from([1])));
    ledger.threads_rest(&BTreeSet::from([1]));
    assert!(!ledger.is_news(&BTreeSet::from([1])));
    ledger.close(first, 1);
    let second = ledger.open(class("BTest"), None, 1);
    ledger.threads_rest(&BTreeSet::new());
    ledger.close(second, 2);
    ledger.add_probes(&[8]);
    ledger.threads_rest(&BTreeSet::from([1]));
    let events = ledger.take_events();
    assert!(!closed(&events, first).lingers);
    assert!(closed(&events, second).lingers);
    let uses = Uses {
        probes: vec![8],
        things: vec![],
    };
    let late = Event::Late {
        window: second,
        uses,
    };
    assert!(events.contains(&late));
    assert!(!ledger.is_lingering());
}

#[test]
fn things_get_one_number_each() {
    let mut ledger = Ledger::default();
    let window = ledger.open(class("ATest"), None, 0);
    ledger.add_thing(Thing::Resource("x".into()));
    ledger.add_thing(Thing::Resource("x".into()));
    ledger.close(window, 1);
    let events = ledger.take_events();
    assert_eq!(
        events
            .iter()
            .filter(|e| matches!(e, Event::Thing { .. }))
            .count(),
        1
    );
    assert_eq!(closed(&events, window).uses.things, [0]);
}
