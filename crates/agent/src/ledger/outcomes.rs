//! How tests end, what is left out of them, and what casts doubt on them.

use std::collections::BTreeSet;
use std::sync::Arc;

use fewest_model::{ClassName, Outcome};
use fewest_trace::Event;

use super::{Ledger, Window};

impl Ledger {
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
}
