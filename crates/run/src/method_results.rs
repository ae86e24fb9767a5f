//! What the methods of a test class came to in all JVMs of a task.

use std::collections::BTreeMap;
use std::sync::Arc;

use fewest_model::Outcome;
use fewest_select::jvm_run::TestRun;
use fewest_select::uses::TestUses;

use crate::test_methods::TestMethods;

/// The methods of one class.
pub(crate) struct Methods {
    seen: BTreeMap<Arc<str>, MethodResult>,
    /// What set-up and tear-down of the whole class came to.
    pub(crate) shared_outcome: Outcome,
    parallel: bool,
    /// Why they are not told apart; `None` where nobody wants it.
    whole: Option<String>,
    apart: bool,
    /// Whether all of them ran, or were switched off.
    complete: bool,
}

/// One method.
#[derive(Debug)]
pub(crate) struct MethodResult {
    pub(crate) outcome: Outcome,
    pub(crate) millis: u64,
    tests: u32,
    pub(crate) uses: TestUses,
}

impl Default for Methods {
    fn default() -> Self {
        Self {
            seen: BTreeMap::new(),
            shared_outcome: Outcome::Passed,
            parallel: false,
            whole: None,
            apart: false,
            complete: false,
        }
    }
}

impl Methods {
    /// Adds what one JVM tells. `common` are doubts about all of its tests.
    pub(crate) fn add(&mut self, test: &TestRun, uses: &[TestUses], common: &[String]) {
        self.shared_outcome = self.shared_outcome.max(test.shared_outcome);
        self.parallel |= test.parallel;
        for (method, uses) in test.methods.iter().zip(uses) {
            let name = method.name.clone();
            let known = self.seen.entry(name).or_insert_with(|| MethodResult {
                outcome: Outcome::Passed,
                millis: 0,
                tests: 0,
                uses: TestUses::default(),
            });
            known.outcome = known.outcome.max(method.outcome);
            known.millis += method.millis;
            known.tests += method.tests;
            known.uses.inherit(uses);
            known.uses.doubts.extend(common.iter().cloned());
        }
    }

    /// Compares what ran with what the class file says. `tests` is how many
    /// tests of the class ended.
    pub(crate) fn judge(&mut self, methods: TestMethods, tests: u32) {
        let known = match methods {
            TestMethods::Apart(known) => known,
            TestMethods::Whole(why) => {
                self.whole = Some(why);
                return;
            }
        };
        let counted: u32 = self.seen.values().map(|method| method.tests).sum();
        let one_each = self.seen.values().all(|method| method.tests <= 1);
        if self.parallel {
            self.whole = Some("its methods run at the same time".into());
        } else if counted != tests
            || !one_each
            || !self.seen.keys().all(|name| known.contains_key(name))
        {
            self.whole = Some("other tests ran than its class file shows".into());
        } else {
            self.apart = !self.seen.is_empty();
            self.complete = self.seen.len() == known.len();
        }
    }

    /// The methods that ran, where they can be told apart.
    pub(crate) fn apart(&self) -> Option<&BTreeMap<Arc<str>, MethodResult>> {
        self.apart.then_some(&self.seen)
    }

    /// Whether tests were told apart, and some did not run.
    pub(crate) fn is_partial(&self) -> bool {
        self.apart && !self.complete
    }

    /// Whether any method had a window of its own.
    pub(crate) fn were_seen(&self) -> bool {
        !self.seen.is_empty()
    }

    pub(crate) fn why_whole(&self) -> Option<&str> {
        self.whole.as_deref()
    }

    pub(crate) fn has_run(&self, name: &str) -> bool {
        self.seen.contains_key(name)
    }

    /// Takes in what the build's reports say of cases. What cannot be told to
    /// one method concerns all of them.
    pub(crate) fn add_problems(&mut self, problems: &BTreeMap<String, Outcome>) {
        for (case, outcome) in problems {
            let is_of = |name: &str| {
                case.strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
            };
            let one = self.seen.iter_mut().find(|(name, _)| is_of(name));
            match one {
                Some((_, method)) => method.outcome = method.outcome.max(*outcome),
                None => self.shared_outcome = self.shared_outcome.max(*outcome),
            }
        }
    }

    pub(crate) fn uses_mut(&mut self) -> impl Iterator<Item = &mut TestUses> {
        self.seen.values_mut().map(|method| &mut method.uses)
    }
}
