//! Threads that work for tests, and windows that wait for them.

use std::collections::BTreeSet;

use fewest_trace::Event;

use super::Ledger;
use crate::uses::UseSet;

/// What is known of a thread.
#[derive(Debug)]
pub(super) enum Thread {
    /// It may work for these windows.
    Busy(Vec<u32>),
    /// It belongs to a pool and waits for something to do.
    Resting,
}

/// A window that has closed while threads that it started live on.
#[derive(Debug)]
pub(super) struct Lingering {
    pub(super) window: u32,
    pub(super) uses: UseSet,
}

impl Ledger {
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

    pub(super) fn has_living_threads(&self, window: u32) -> bool {
        self.threads
            .values()
            .any(|thread| matches!(thread, Thread::Busy(windows) if windows.contains(&window)))
    }

    pub(super) fn write_late(&mut self, window: u32) {
        if let Some(at) = self.lingering.iter().position(|late| late.window == window) {
            let uses = self.lingering.remove(at).uses.into_uses();
            self.events.push(Event::Late { window, uses });
        }
    }
}
