//! Who used what: windows, initializers, and everything outside of them.
//!
//! Uses arrive in batches, because the probes are read out only when something
//! begins or ends. A batch counts for *everything* that was open since the
//! last one: for a class and its method alike, for each of several tests that
//! run at once, and for the class that is being initialized. That may say too
//! much of a test, never too little.
//!
//! No JVM here: the callers bring numbers and names, and take events.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    statement: Option<Statement>,
    ambient: UseSet,
    /// How many calls are open that do something for several tests at once.
    shared: u32,
    things: HashMap<Thing, u32>,
    /// Threads that live and are not the frameworks' own.
    threads: BTreeMap<u64, Thread>,
    /// The suites that a class was built for.
    suites: HashMap<ClassName, BTreeSet<ClassName>>,
    left_out: BTreeSet<ClassName>,
    next_window: u32,
    events: Vec<Event>,
}

#[derive(Debug)]
struct Window {
    number: u32,
    class: ClassName,
    method: Option<Arc<str>>,
    /// How many calls of frameworks are inside of it now.
    calls: u32,
    opened_at: u64,
    tests: u32,
    outcome: Outcome,
    uses: UseSet,
}

/// What is known of a thread.
#[derive(Debug)]
enum Thread {
    /// It may work for these windows.
    Busy(Vec<u32>),
    /// It belongs to a pool and waits for something to do.
    Resting,
}

/// A window that has closed while threads that it started live on.
#[derive(Debug)]
struct Lingering {
    window: u32,
    uses: UseSet,
}

/// The statement of a test method that began last.
#[derive(Debug)]
struct Statement {
    number: u32,
    windows: Vec<u32>,
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
        let yielding = self.yielding_windows();
        self.windows
            .iter_mut()
            .filter(|window| !yielding.contains(&window.number))
            .for_each(|window| each(&mut window.uses));
        self.lingering
            .iter_mut()
            .for_each(|window| each(&mut window.uses));
        self.initializers
            .iter_mut()
            .for_each(|initializer| each(&mut initializer.uses));
        if let Some(statement) = &mut self.statement {
            each(&mut statement.uses);
        }
        if self.windows.is_empty() || self.shared > 0 {
            each(&mut self.ambient);
        }
    }

    /// The windows of classes of which a method is running: what is used then
    /// is the method's. A class keeps what is used outside of its methods, and
    /// all that is used while threads live that it started there.
    fn yielding_windows(&self) -> Vec<u32> {
        self.windows
            .iter()
            .filter(|window| self.yields(window) && !self.has_living_threads(window.number))
            .map(|window| window.number)
            .collect()
    }

    /// Whether a window is of a class, and one of a method of it is open.
    fn yields(&self, window: &Window) -> bool {
        window.method.is_none() && self.is_in_method(&window.class)
    }

    /// Whether a method of a class is running.
    pub(crate) fn is_in_method(&self, class: &ClassName) -> bool {
        self.windows
            .iter()
            .any(|window| window.method.is_some() && window.class == *class)
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

    /// The window of a class or method that is open already, which gets one
    /// more call to wait for.
    pub(crate) fn join(&mut self, class: &ClassName, method: Option<&str>) -> Option<u32> {
        let window = self
            .windows
            .iter_mut()
            .find(|window| window.class == *class && window.method.as_deref() == method)?;
        window.calls += 1;
        Some(window.number)
    }

    /// Whether nobody but the caller is inside of a window.
    pub(crate) fn is_last_call(&self, number: u32) -> bool {
        self.windows
            .iter()
            .any(|window| window.number == number && window.calls == 1)
    }

    /// A call that was inside of a window has returned. True if others are
    /// inside still, so that the window stays open.
    pub(crate) fn leave(&mut self, number: u32) -> bool {
        let window = self.windows.iter_mut().find(|w| w.number == number);
        window.is_some_and(|window| {
            window.calls -= 1;
            window.calls > 0
        })
    }

    /// A test class or method begins; callers have added the probes so far.
    pub(crate) fn open(&mut self, class: ClassName, method: Option<Arc<str>>, now: u64) -> u32 {
        self.write_ambient();
        let number = self.next_window;
        self.next_window += 1;
        self.events.push(Event::Opened(WindowOpen {
            window: number,
            class: class.clone(),
            method: method.clone(),
            at: now,
        }));
        self.windows.push(Window {
            number,
            class,
            method,
            calls: 1,
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
        self.end_statement();
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

    /// The open windows but for classes of which a method is running.
    pub(crate) fn working_windows(&self) -> Vec<u32> {
        self.windows
            .iter()
            .filter(|window| !self.yields(window))
            .map(|window| window.number)
            .collect()
    }

    pub(crate) fn open_windows(&self) -> Vec<u32> {
        self.windows.iter().map(|window| window.number).collect()
    }

    /// A class is built as a part of the suites that the windows stand for.
    pub(crate) fn add_part(&mut self, class: &ClassName, windows: &[u32]) {
        let suites = self
            .windows
            .iter()
            .filter(|window| windows.contains(&window.number) && window.class != *class)
            .map(|window| window.class.clone());
        self.suites.entry(class.clone()).or_default().extend(suites);
    }

    /// A test of `class` has ended. `around` are the windows that the calling
    /// thread is in, the innermost last: where the class has no window, one
    /// that ran under another name, the test counts for the innermost.
    pub(crate) fn count_test(&mut self, class: Option<&ClassName>, around: &[u32]) {
        let known = class.filter(|class| self.has_window(class));
        for window in &mut self.windows {
            let counts = match known {
                Some(class) => window.class == *class,
                None => around.last().is_none_or(|last| window.number == *last),
            };
            if counts {
                window.tests += 1;
            }
        }
    }

    pub(crate) fn has_window(&self, class: &ClassName) -> bool {
        self.windows.iter().any(|window| window.class == *class)
    }

    /// Something went wrong, or gave up, in a test of `class`. That concerns
    /// the suites it is part of too, and the windows `around` that the calling
    /// thread is in. Where none of these is known, it concerns all windows.
    pub(crate) fn add_outcome(
        &mut self,
        class: Option<&ClassName>,
        around: &[u32],
        outcome: Outcome,
    ) {
        let classes = class
            .map(|class| self.with_suites(class))
            .unwrap_or_default();
        let known =
            |window: &Window| classes.contains(&window.class) || around.contains(&window.number);
        let all = !self.windows.iter().any(known);
        // What goes wrong in a method says nothing of its class's other ones.
        let own = |window: &Window| Some(&window.class) == class && self.yields(window);
        let concerned: Vec<u32> = self
            .windows
            .iter()
            .filter(|window| all || (known(window) && !own(window)))
            .map(|window| window.number)
            .collect();
        for window in &mut self.windows {
            if concerned.contains(&window.number) {
                window.outcome = window.outcome.max(outcome);
            }
        }
    }

    /// A class, and everything that it is part of.
    fn with_suites(&self, class: &ClassName) -> BTreeSet<ClassName> {
        let mut found = BTreeSet::new();
        let mut pending = vec![class.clone()];
        while let Some(class) = pending.pop() {
            if found.insert(class.clone()) {
                pending.extend(self.suites.get(&class).into_iter().flatten().cloned());
            }
        }
        found
    }

    /// An outcome of a class that has no window: it ran where nobody listens.
    pub(crate) fn add_stray_outcome(&mut self, class: ClassName, outcome: Outcome, now: u64) {
        let number = self.open(class, None, now);
        if let Some(window) = self.windows.last_mut() {
            window.outcome = outcome;
        }
        self.close(number, now);
    }

    /// A test class is left out. That takes away the proof of what it is a
    /// part of, `around` it.
    pub(crate) fn leave_out(&mut self, class: &ClassName, around: &[u32]) {
        self.leave_out_part(class, around);
        if self.left_out.insert(class.clone()) {
            self.events.push(Event::LeftOut {
                class: class.clone(),
            });
        }
    }

    /// A test class, or a method of it, is left out of what is `around` it.
    pub(crate) fn leave_out_part(&mut self, class: &ClassName, around: &[u32]) {
        for window in &self.windows {
            if around.contains(&window.number) && window.class != *class {
                self.events.push(Event::Doubt {
                    window: Some(window.number),
                    why: "a part of it was left out".into(),
                });
            }
        }
    }

    /// A method that is switched off: nothing of it runs.
    pub(crate) fn add_method_that_is_off(&mut self, class: ClassName, method: Arc<str>, now: u64) {
        let number = self.open(class, Some(method), now);
        if let Some(window) = self.windows.last_mut() {
            window.tests = 1;
        }
        self.close(number, now);
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

    /// What is used from here on counts for all tests, also for those that
    /// have no window now; callers have added the probes so far.
    pub(crate) fn begin_shared(&mut self) {
        self.shared += 1;
    }

    /// The end of what [`Ledger::begin_shared`] began.
    pub(crate) fn end_shared(&mut self) {
        self.shared = self.shared.saturating_sub(1);
    }

    /// A statement of a test method begins; callers have added the probes so
    /// far. It lasts until the next one does, or a window closes.
    pub(crate) fn begin_statement(&mut self, number: u32) {
        self.end_statement();
        self.statement = Some(Statement {
            number,
            windows: self.open_windows(),
            uses: UseSet::default(),
        });
    }

    fn end_statement(&mut self) {
        if let Some(statement) = self.statement.take() {
            self.events.push(Event::Statement {
                statement: statement.number,
                windows: statement.windows,
                uses: statement.uses.into_uses(),
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
        if !self.threads.contains_key(&thread) {
            let windows = self.working_windows();
            self.threads.insert(thread, Thread::Busy(windows));
        }
    }

    /// A thread turns out to be one that a framework runs tests in. What it
    /// does is told apart by windows.
    pub(crate) fn thread_runs_tests(&mut self, thread: u64) {
        let known = self.threads.remove(&thread);
        self.release(known);
    }

    /// A thread has ended; callers have added the probes so far.
    pub(crate) fn thread_ended(&mut self, thread: u64) {
        let known = self.threads.remove(&thread);
        self.release(known);
    }

    pub(crate) fn knows_thread(&self, thread: u64) -> bool {
        self.threads.contains_key(&thread)
    }

    /// The threads that live and are not the frameworks' own.
    pub(crate) fn threads(&self) -> BTreeSet<u64> {
        self.threads.keys().copied().collect()
    }

    pub(crate) fn is_lingering(&self) -> bool {
        !self.lingering.is_empty()
    }

    /// Whether other threads rest than was known.
    pub(crate) fn is_news(&self, resting: &BTreeSet<u64>) -> bool {
        self.threads
            .iter()
            .any(|(number, thread)| matches!(thread, Thread::Resting) != resting.contains(number))
    }

    /// Tells which threads belong to a pool and have nothing to do. They work
    /// for nobody, until they are found at work again: then for whatever is
    /// open at that time. Callers have added the probes so far.
    pub(crate) fn threads_rest(&mut self, resting: &BTreeSet<u64>) {
        let open = self.working_windows();
        let mut released = Vec::new();
        for (number, thread) in &mut self.threads {
            let now = match (&thread, resting.contains(number)) {
                (Thread::Busy(_), true) => Thread::Resting,
                (Thread::Resting, false) => Thread::Busy(open.clone()),
                _ => continue,
            };
            released.push(std::mem::replace(thread, now));
        }
        for thread in released {
            self.release(Some(thread));
        }
    }

    /// A thread works no more for its windows.
    fn release(&mut self, thread: Option<Thread>) {
        let Some(Thread::Busy(windows)) = thread else {
            return;
        };
        for window in windows {
            let lingers = self.lingering.iter().any(|late| late.window == window);
            if lingers && !self.has_living_threads(window) {
                self.write_late(window);
            }
        }
    }

    fn has_living_threads(&self, window: u32) -> bool {
        self.threads
            .values()
            .any(|thread| matches!(thread, Thread::Busy(windows) if windows.contains(&window)))
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
        for class in initializing {
            self.end_initializer(class);
        }
        let lingering: Vec<u32> = self.lingering.iter().map(|late| late.window).collect();
        for window in lingering {
            self.write_late(window);
        }
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
}
