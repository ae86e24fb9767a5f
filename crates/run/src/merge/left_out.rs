//! The tests of a task that did not run.

use std::collections::BTreeSet;

use fewest_model::ClassName;
use fewest_select::Entity;

use super::TestReport;
use super::task::{Task, TestResult};
use crate::plan::{Parts, PlannedMethod};

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
            let missing = self.methods_left_out(class, result);
            self.left_out_of(class, |method| missing.contains(&method))
                .into_iter()
                .filter(|test| test.test.contains('#'))
        });
        whole.chain(parts)
    }

    /// The methods that were left out of a class that ran.
    pub(super) fn methods_left_out(
        &self,
        class: &ClassName,
        result: &TestResult,
    ) -> Vec<&PlannedMethod> {
        let planned = self.plan.test(class).filter(|planned| planned.run);
        let methods = planned.into_iter().flat_map(|planned| &planned.methods);
        methods
            .filter(|method| !method.run && !result.methods.has_run(&method.name))
            .collect()
    }

    /// Whether a class ran in part only.
    pub(super) fn is_partial(&self, class: &ClassName, result: &TestResult) -> bool {
        !self.methods_left_out(class, result).is_empty() || result.methods.is_partial()
    }

    /// Tells of a class that ran in part by its methods.
    pub(super) fn go_by_methods(
        &self,
        report: &mut TestReport,
        ran: &[TestReport],
        class: &ClassName,
        result: &TestResult,
    ) {
        let left_out = self.methods_left_out(class, result);
        let saved = left_out.iter().filter_map(|method| method.millis);
        report.saved_millis = saved.map(u64::from).sum();
        let left_out = left_out.into_iter().map(|method| (&method.name, false));
        let names = result.methods.apart().into_iter().flatten();
        let names = names.map(|(name, _)| (name, true));
        report.methods = Parts::of(names.chain(left_out)).filter(Parts::are_split);
        let doubts: BTreeSet<&String> = ran.iter().flat_map(|method| &method.doubts).collect();
        report.doubts = doubts.into_iter().cloned().collect();
        report.recorded = ran.iter().all(|method| method.recorded);
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
            proven: left_out.is_none(),
            millis: millis.map(u64::from),
            ..TestReport::default()
        };
        let methods = planned.map(|test| &*test.methods).unwrap_or_default();
        if self.entity == Entity::Method && !methods.is_empty() && left_out.is_none() {
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
