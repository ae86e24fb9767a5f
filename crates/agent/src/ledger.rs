//! Who used what: windows, initializers, and everything outside of them.
//!
//! Uses arrive in batches, because the probes are read out only when something
//! begins or ends. A batch counts for *everything* that was open since the
//! last one: for a class and its method alike, for each of several tests that
//! run at once, and for the class that is being initialized. That may say too
//! much of a test, never too little.
//!
//! No JVM here: the callers bring numbers and names, and take events.

use std::collections::HashMap;
use std::sync::Arc;

use fewest_model::{ClassName, Outcome};
use fewest_trace::{Event, Thing, WindowClose, WindowOpen};

use crate::uses::UseSet;

/// The running account of one JVM.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    windows: Vec<Window>,
    lingering: Vec<Lingering>,
    initializers: Vec<Initializer>,
    ambient: UseSet,
    things: HashMap<Thing, u32>,
    /// Threads that live, with the windows that were open when each started.
    threads: HashMap<u64, Vec<u32>>,
    next_window: u32,
    events: Vec<Event>,
}

#[derive(Debug)]
struct Window {
    number: u32,
    class: ClassName,
    opened_at: u64,
    tests: u32,
    outcome: Outcome,
    uses: UseSet,
}

/// A window that has closed while threads that it started live on.
#[derive(Debug)]
struct Lingering {
    window: u32,
    uses: UseSet,
}

#[derive(Debug)]
struct Initializer {
    class: u32,
    uses: UseSet,
}

impl Ledger {
    /// The events since the last call, in their order.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    pub(crate) fn add_event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Counts the probes that were hit since the last call.
    pub(crate) fn add_probes(&mut self, probes: &[u32]) {
        if !probes.is_empty() {
            self.for_each_open(|uses| uses.add_probes(probes));
        }
    }

    /// Counts a thing that is being used now.
    pub(crate) fn add_thing(&mut self, thing: Thing) {
        let id = self.number_of(thing);
        self.for_each_open(|uses| uses.add_thing(id));
    }

    fn for_each_open(&mut self, mut each: impl FnMut(&mut UseSet)) {
        self.windows
            .iter_mut()
            .for_each(|window| each(&mut window.uses));
        self.lingering
            .iter_mut()
            .for_each(|window| each(&mut window.uses));
        self.initializers
            .iter_mut()
            .for_each(|initializer| each(&mut initializer.uses));
        if self.windows.is_empty() {
            each(&mut self.ambient);
        }
    }

    fn number_of(&mut self, thing: Thing) -> u32 {
        if let Some(&id) = self.things.get(&thing) {
            return id;
        }
        let id = self.things.len() as u32;
        self.events.push(Event::Thing {
            id,
            thing: thing.clone(),
        });
        self.things.insert(thing, id);
        id
    }

    /// A test class or method begins; callers have added the probes so far.
    pub(crate) fn open(&mut self, class: ClassName, method: Option<Arc<str>>, now: u64) -> u32 {
        self.write_ambient();
        let number = self.next_window;
        self.next_window += 1;
        self.events.push(Event::Opened(WindowOpen {
            window: number,
            class: class.clone(),
            method,
            at: now,
        }));
        self.windows.push(Window {
            number,
            class,
            opened_at: now,
            tests: 0,
            outcome: Outcome::Passed,
            uses: UseSet::default(),
        });
        number
    }

    /// A test class or method has ended; callers have added the probes so far.
    pub(crate) fn close(&mut self, number: u32, now: u64) {
        let Some(at) = self
            .windows
            .iter()
            .position(|window| window.number == number)
        else {
            return;
        };
        let window = self.windows.remove(at);
        let lingers = self.has_living_threads(number);
        self.events.push(Event::Closed(WindowClose {
            window: number,
            outcome: window.outcome,
            millis: now.saturating_sub(window.opened_at),
            tests: window.tests,
            uses: window.uses.into_uses(),
            lingers,
        }));
        if lingers {
            self.lingering.push(Lingering {
                window: number,
                uses: UseSet::default(),
            });
        }
    }

    pub(crate) fn open_windows(&self) -> Vec<u32> {
        self.windows.iter().map(|window| window.number).collect()
    }

    /// A test of `class` has ended.
    pub(crate) fn count_test(&mut self, class: &ClassName) {
        self.for_windows_of(Some(class), |window| window.tests += 1);
    }

    /// Something went wrong, or gave up, in a test of `class`. Where the class
    /// is not known, or has no window, all windows are taken to be concerned.
    pub(crate) fn add_outcome(&mut self, class: Option<&ClassName>, outcome: Outcome) {
        self.for_windows_of(class, |window| window.outcome = window.outcome.max(outcome));
    }

    fn for_windows_of(&mut self, class: Option<&ClassName>, mut each: impl FnMut(&mut Window)) {
        let known = class
            .filter(|class| self.windows.iter().any(|w| w.class == **class))
            .cloned();
        for window in &mut self.windows {
            if known.as_ref().is_none_or(|class| window.class == *class) {
                each(window);
            }
        }
    }

    /// Something that takes away the proof of everything that is open now.
    pub(crate) fn doubt(&mut self, why: &str) {
        if self.windows.is_empty() {
            self.events.push(Event::Doubt {
                window: None,
                why: why.to_owned(),
            });
        }
        for window in self.open_windows() {
            self.events.push(Event::Doubt {
                window: Some(window),
                why: why.to_owned(),
            });
        }
    }

    pub(crate) fn begin_initializer(&mut self, class: u32) {
        self.initializers.push(Initializer {
            class,
            uses: UseSet::default(),
        });
    }

    pub(crate) fn end_initializer(&mut self, class: u32) {
        let Some(at) = self.initializers.iter().rposition(|i| i.class == class) else {
            return;
        };
        let uses = self.initializers.remove(at).uses.into_uses();
        self.events.push(Event::Initialized { class, uses });
    }

    pub(crate) fn thread_started(&mut self, thread: u64) {
        let windows = self.open_windows();
        if !windows.is_empty() {
            self.threads.insert(thread, windows);
        }
    }

    /// A thread has ended; callers have added the probes so far.
    pub(crate) fn thread_ended(&mut self, thread: u64) {
        for window in self.threads.remove(&thread).unwrap_or_default() {
            if !self.has_living_threads(window) {
                self.write_late(window);
            }
        }
    }

    fn has_living_threads(&self, window: u32) -> bool {
        self.threads
            .values()
            .any(|windows| windows.contains(&window))
    }

    fn write_late(&mut self, window: u32) {
        if let Some(at) = self.lingering.iter().position(|late| late.window == window) {
            let uses = self.lingering.remove(at).uses.into_uses();
            self.events.push(Event::Late { window, uses });
        }
    }

    fn write_ambient(&mut self) {
        if !self.ambient.is_empty() {
            let uses = std::mem::take(&mut self.ambient).into_uses();
            self.events.push(Event::Ambient { uses });
        }
    }

    /// The JVM ends in an orderly way; callers have added the probes so far.
    pub(crate) fn end(&mut self, unseen: Vec<ClassName>) {
        let initializing: Vec<u32> = self.initializers.iter().map(|i| i.class).collect();
        initializing
            .into_iter()
            .for_each(|class| self.end_initializer(class));
        let lingering: Vec<u32> = self.lingering.iter().map(|late| late.window).collect();
        lingering
            .into_iter()
            .for_each(|window| self.write_late(window));
        self.write_ambient();
        self.events.push(Event::End { unseen });
    }
}

#[cfg(test)]
mod tests {
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
        ledger.add_outcome(Some(&class("ATest")), Outcome::Failed);
        ledger.add_outcome(Some(&class("ATest")), Outcome::Skipped);
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
        ledger.add_outcome(Some(&class("Elsewhere")), Outcome::Failed);
        ledger.close(window, 1);
        assert_eq!(
            closed(&ledger.take_events(), window).outcome,
            Outcome::Failed
        );
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
}
