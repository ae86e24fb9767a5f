//! Who used what: windows, initializers, and everything outside of them.
//!
//! Uses arrive in batches, because the probes are read out only when something
//! begins or ends. A batch counts for *everything* that was open since the
//! last one: for a class and its method alike, for each of several tests that
//! run at once, and for the class that is being initialized. That may say too
//! much of a test, never too little.
//!
//! No JVM here: the callers bring numbers and names, and take events.

mod outcomes;
#[cfg(test)]
mod tests;
mod threads;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use fewest_model::{ClassName, Outcome};
use fewest_trace::{Event, Thing, WindowClose, WindowOpen};

use self::threads::{Lingering, Thread};
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

    /// Whether a window has closed and threads live that it started.
    pub(crate) fn lingers(&self, number: u32) -> bool {
        self.lingering.iter().any(|late| late.window == number)
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

    pub(crate) fn has_window(&self, class: &ClassName) -> bool {
        self.windows.iter().any(|window| window.class == *class)
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
