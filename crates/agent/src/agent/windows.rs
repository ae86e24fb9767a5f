//! Windows open and close where frameworks begin and end tests.

use fewest_model::{ClassName, Outcome};

use super::{Agent, lock};
use crate::files;
use crate::frameworks::{Frameworks, Subject};
use crate::hooks::Hook;
use crate::jvmti::{Jni, Local};
use crate::ledger::Ledger;
use crate::methods;

/// A framework's call that the agent is inside of.
pub(super) struct OpenCall {
    pub(super) hook: Hook,
    pub(super) thread: u64,
    /// `None` where the call concerns no test of its own.
    pub(super) class: Option<ClassName>,
    pub(super) window: Option<u32>,
    /// The window of a method of the class, within the other one.
    pub(super) method_window: Option<u32>,
}

impl Agent {
    /// A framework is about to run something. Returns whether to leave it out.
    pub(crate) fn enter(
        &self,
        jni: Jni<'_>,
        object: Option<Local<'_>>,
        listener: Option<Local<'_>>,
        hook: i32,
    ) -> bool {
        let Some(hook) = Hook::from_number(hook) else {
            return false;
        };
        if hook == Hook::LoaderOpens {
            files::loader_opens();
            return false;
        }
        if hook == Hook::TestNgGroups {
            self.shared(jni, Ledger::begin_shared);
            return false;
        }
        if self.is_deaf_to(hook) {
            return false;
        }
        let frameworks = Frameworks {
            jni,
            jvmti: self.jvmti,
        };
        let thread = self.this_thread(jni);
        let mut subject = object
            .and_then(|object| frameworks.subject(hook, object))
            .filter(|subject| self.is_class(subject))
            .filter(|subject| !hook.is_of_method_alone() || self.tells_apart(&subject.class));
        if let Some(found) = &subject
            && (hook.may_leave_out() || hook == Hook::TestNgWorker)
            && self.leaves_out(frameworks, hook, found, listener)
        {
            if hook.may_leave_out() {
                self.note_left_out(&found.class, thread);
                if let Some(object) = object {
                    frameworks.tell_left_out(hook, object, listener);
                }
                return true;
            }
            subject = None;
        }
        let method = match (&subject, object) {
            (Some(found), Some(object))
                if hook.is_of_method() && self.tells_apart(&found.class) =>
            {
                frameworks.method(hook, &found.class, object)
            }
            _ => None,
        };
        if let (Some(found), Some(object), Some(method)) = (&subject, object, &method)
            && self.leaves_out_method(frameworks, hook, &found.class, method, listener)
        {
            let around = self.windows_around(thread, Some(&found.class));
            let mut ledger = lock(&self.ledger);
            ledger.leave_out_part(&found.class, &around);
            self.write(&mut ledger);
            drop(ledger);
            methods::telling(|| frameworks.tell_left_out(hook, object, listener));
            return true;
        }
        let class = subject.as_ref().map(|subject| subject.class.clone());
        let window = subject.map(|subject| self.open_window(jni, subject, hook, thread));
        let method_window = match (&class, method) {
            (Some(class), Some(method)) => Some(self.open_method(jni, class, &method)),
            _ => None,
        };
        lock(&self.calls).push(OpenCall {
            hook,
            thread,
            class,
            window,
            method_window,
        });
        false
    }

    fn open_window(&self, jni: Jni<'_>, subject: Subject, hook: Hook, thread: u64) -> u32 {
        let around = self.windows_around(thread, Some(&subject.class));
        self.begin_trace();
        let mut ledger = lock(&self.ledger);
        if hook == Hook::RunnerBuild {
            ledger.add_part(&subject.class, &around);
        }
        if around.is_empty() {
            ledger.thread_runs_tests(thread);
        }
        if let Some(window) = ledger.join(&subject.class, None) {
            return window;
        }
        if ledger.is_lingering() {
            drop(ledger);
            self.look_at_threads(jni);
            ledger = lock(&self.ledger);
        }
        self.add_hits(jni, &mut ledger);
        let window = ledger.open(subject.class, None, self.now());
        self.statics_opened(jni, window, &ledger);
        self.write(&mut ledger);
        window
    }

    fn open_method(&self, jni: Jni<'_>, class: &ClassName, method: &str) -> u32 {
        let mut ledger = lock(&self.ledger);
        if let Some(window) = ledger.join(class, Some(method)) {
            return window;
        }
        self.add_hits(jni, &mut ledger);
        let window = ledger.open(class.clone(), Some(method.into()), self.now());
        self.write(&mut ledger);
        window
    }

    pub(crate) fn exit(&self, jni: Jni<'_>, number: i32) {
        let (hook, thrown) = Hook::way_out(number);
        if hook == Hook::LoaderOpens as i32 {
            return files::loader_has_opened();
        }
        if hook == Hook::TestNgGroups as i32 {
            return self.shared(jni, Ledger::end_shared);
        }
        if Hook::from_number(hook).is_some_and(|hook| self.is_deaf_to(hook)) {
            return;
        }
        let thread = self.this_thread(jni);
        let call = {
            let mut calls = lock(&self.calls);
            let own = |call: &OpenCall| call.hook as i32 == hook && call.thread == thread;
            calls.iter().rposition(own).map(|at| calls.remove(at))
        };
        let Some(call) = call else { return };
        let windows = call.method_window.into_iter().chain(call.window);
        for window in windows {
            self.leave_window(jni, window, thrown);
        }
    }

    fn leave_window(&self, jni: Jni<'_>, window: u32, thrown: bool) {
        if thrown {
            // Frameworks catch what tests throw. What they let through, as
            // when memory runs out, ends the test without a word about it.
            lock(&self.ledger).add_outcome(None, &[window], Outcome::Unfinished);
        }
        if lock(&self.ledger).is_last_call(window) {
            self.look_at_threads(jni);
        }
        let mut ledger = lock(&self.ledger);
        if ledger.leave(window) {
            return;
        }
        self.add_hits(jni, &mut ledger);
        ledger.close(window, self.now());
        self.statics_closed(jni, window, &mut ledger);
        self.write(&mut ledger);
    }

    /// Begins or ends what several tests share.
    fn shared(&self, jni: Jni<'_>, change: fn(&mut Ledger)) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        change(&mut ledger);
    }

    /// Runners may describe themselves by names that are no classes.
    pub(super) fn is_class(&self, subject: &Subject) -> bool {
        lock(&self.registry).knows(&subject.named)
    }

    /// The windows that a thread is in, the innermost last: those of `class`,
    /// and those that what runs inside of them is a part of.
    pub(super) fn windows_around(&self, thread: u64, class: Option<&ClassName>) -> Vec<u32> {
        lock(&self.calls)
            .iter()
            .filter(|call| call.thread == thread)
            .filter(|call| call.hook.encloses() || call.class.as_ref() == class)
            .filter_map(|call| call.window)
            .collect()
    }

    /// Whether a thread is inside of a JUnit 4 runner.
    pub(super) fn is_in_runner(&self, thread: u64) -> bool {
        lock(&self.calls)
            .iter()
            .any(|call| call.thread == thread && call.hook == Hook::RunnerRun)
    }
}
