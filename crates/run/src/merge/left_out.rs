//! The tests of a task that did not run.

use std::collections::BTreeSet;

use fewest_model::ClassName;

use super::TestReport;
use super::task::{Task, TestResult};
use crate::plan::PlannedMethod;

impl Task {
    pub(super) fn skipped(&self) -> impl Iterator<Item = TestReport> {
        // Where the build could not say which tests it has, the plan is about
        // all that are known, and only what was met and left out counts.
        let of_this_task = self.request.test_classes.is_some();
        let planned = self
            .plan
            .tests
            .iter()
            .filter(|test| of_this_task && (!test.run || test.left_out.is_some()))
            .map(|test| &test.class);
        let classes: BTreeSet<&ClassName> = planned.chain(&self.left_out).collect();
        let whole = classes
            .into_iter()
            .filter(|class| !self.runs.contains_key(*class))
            .flat_map(|class| self.left_out_of(class, |_| true));
        let parts = self.runs.iter().flat_map(|(class, result)| {
            let partial = self.is_partial(class, result);
            let missing = |method: &PlannedMethod| {
                partial && !method.run && !result.methods.has_run(&method.name)
            };
            self.left_out_of(class, missing)
                .into_iter()
                .filter(|test| test.test.contains('#'))
        });
        whole.chain(parts)
    }

    /// Whether some of a class's methods were left out.
    pub(super) fn is_partial(&self, class: &ClassName, result: &TestResult) -> bool {
        self.plan.test(class).is_some_and(|planned| {
            let left_out = |method: &PlannedMethod| {
                planned.run && !method.run && !result.methods.has_run(&method.name)
            };
            planned.methods.iter().any(left_out)
        })
    }

    /// A class that was left out, or those methods of it that were.
    fn left_out_of(
        &self,
        class: &ClassName,
        is_out: impl Fn(&PlannedMethod) -> bool,
    ) -> Vec<TestReport> {
        let planned = self.plan.test(class);
        let left_out = planned.and_then(|test| test.left_out);
        let report = |test: String, millis: Option<u32>| TestReport {
            test,
            module: self.request.module.clone(),
            verdict: if left_out.is_some() {
                "left-out"
            } else {
                "skip"
            },
            left_out,
            place: None,
            ended_at: None,
            planned_place: None,
            reasons: Vec::new(),
            proven: left_out.is_none(),
            outcome: None,
            millis: millis.map(u64::from),
            doubts: Vec::new(),
            recorded: false,
            whole: None,
        };
        let methods = planned.map(|test| &*test.methods).unwrap_or_default();
        if !methods.is_empty() && left_out.is_none() {
            let methods = methods.iter().filter(|method| is_out(method));
            return methods
                .map(|method| {
                    let id = self.method_id(class, &method.name);
                    report(id.to_string(), method.millis)
                })
                .collect();
        }
        vec![TestReport {
            reasons: planned.map(|test| test.reasons.clone()).unwrap_or_default(),
            whole: planned.and_then(|test| test.whole.clone()),
            ..report(class.dotted(), planned.and_then(|test| test.millis))
        }]
    }
}
