//! Threads: which tests they work for, and which of them rest.

use std::collections::BTreeSet;

use super::{Agent, lock};
use crate::jvmti::{Jni, Local, Stack};
use crate::threads;

impl Agent {
    /// A thread begins. Where nobody in Java has started it, the JVM or a
    /// native library has.
    pub(crate) fn thread_begins(&self, jni: Jni<'_>, thread: Local<'_>) {
        let Some(number) = jni.thread_number(thread) else {
            return;
        };
        if self.config.things && !lock(&self.ledger).knows_thread(number) {
            lock(&self.native_threads).insert(number);
        }
        self.thread_started(jni, thread);
    }

    /// A thread begins, or will do so soon: what it does counts for the tests
    /// that run when somebody starts it.
    pub(crate) fn thread_started(&self, jni: Jni<'_>, thread: Local<'_>) {
        let class = jni
            .class_of(thread)
            .and_then(|class| self.jvmti.class_name(class));
        // The platform's workers run other tests when theirs are done; their
        // windows are told apart without them.
        if class.is_some_and(|class| class.starts_with("org/junit/platform/")) {
            return;
        }
        if let Some(number) = jni.thread_number(thread) {
            lock(&self.ledger).thread_started(number);
        }
    }

    pub(crate) fn thread_ended(&self, jni: Jni<'_>, thread: Local<'_>) {
        let Some(number) = jni.thread_number(thread) else {
            return;
        };
        lock(&self.native_threads).remove(&number);
        lock(&self.stacks).remove(&number);
        let mut ledger = lock(&self.ledger);
        let lingering = ledger.is_lingering();
        if lingering {
            self.add_hits(jni, &mut ledger);
        }
        ledger.thread_ended(number);
        if lingering {
            self.write(&mut ledger);
        }
    }

    /// The number of the calling thread.
    pub(super) fn this_thread(&self, jni: Jni<'_>) -> u64 {
        let thread = self.jvmti.current_thread(jni);
        let number = thread.and_then(|thread| jni.thread_number(thread));
        if let Some(thread) = thread {
            jni.release(thread);
        }
        // Java numbers its threads from one.
        number.unwrap_or(0)
    }

    /// Looks which threads of pools have nothing to do.
    pub(super) fn look_at_threads(&self, jni: Jni<'_>) {
        // With so many, looking at each would cost more than it tells.
        const MOST: usize = 500;
        let known = lock(&self.ledger).threads();
        if known.is_empty() || known.len() > MOST {
            return;
        }
        let native = lock(&self.native_threads).clone();
        let mut resting = BTreeSet::new();
        for thread in self.jvmti.threads(jni) {
            if let Some(number) = jni.thread_number(thread)
                && known.contains(&number)
            {
                let stack = self.jvmti.stack(thread);
                // A thread of Java that has no frames is yet to begin.
                let in_java = !stack.is_empty() || !native.contains(&number);
                if !in_java || self.is_resting(jni, number, stack) {
                    resting.insert(number);
                }
            }
            jni.release(thread);
        }
        let mut ledger = lock(&self.ledger);
        if ledger.is_news(&resting) {
            self.add_hits(jni, &mut ledger);
            ledger.threads_rest(&resting);
        }
    }

    /// Whether a thread with this stack waits for something to do. Most threads
    /// are where they were at the last look, and names need not be asked for.
    fn is_resting(&self, jni: Jni<'_>, thread: u64, stack: Stack) -> bool {
        if let Some((_, resting)) = lock(&self.stacks)
            .get(&thread)
            .filter(|(last, _)| *last == stack)
        {
            return *resting;
        }
        let resting = threads::is_resting(&self.jvmti.frames(jni, &stack));
        lock(&self.stacks).insert(thread, (stack, resting));
        resting
    }
}
