//! A test class and its methods, each with its verdict.

use std::collections::BTreeSet;
use std::sync::Arc;

use fewest_model::{ClassName, Element};
use fewest_order::History;
use fewest_select::method_uses::DeclaredMethods;
use fewest_select::verdict::{RunReason, Verdict};

use super::nearness::ChangedUses;
use crate::plan::Parts;

/// A test class and what is to happen with it.
pub(crate) struct Judged {
    pub(crate) class: ClassName,
    pub(crate) verdict: Verdict,
    /// How long it took when it last ran.
    pub(crate) millis: Option<u32>,
    /// Its methods, where they are judged one by one.
    pub(crate) methods: Vec<JudgedMethod>,
    /// Why its methods are not judged one by one, though that is wanted.
    pub(crate) whole: Option<String>,
    /// What its place in the order goes by.
    pub(crate) facts: OrderFacts,
}

/// A test method and what is to happen with it.
pub(crate) struct JudgedMethod {
    pub(crate) name: Arc<str>,
    pub(crate) verdict: Verdict,
    pub(crate) millis: Option<u32>,
}

/// What is known of a test beside its verdict.
#[derive(Debug, Default)]
pub(crate) struct OrderFacts {
    pub(crate) history: History,
    /// `None` for a test without a record.
    pub(crate) uses: Option<ChangedUses>,
}

impl Judged {
    /// Which of its methods run, where they are judged one by one.
    pub(crate) fn parts(&self) -> Option<Parts> {
        let methods = self.methods.iter();
        Parts::of(methods.map(|method| (&method.name, method.verdict.is_run())))
    }

    /// Brings the verdicts on a class and on its methods together.
    pub(super) fn settle(
        &mut self,
        declared: &DeclaredMethods,
        used_by: impl Fn(&Arc<str>) -> Option<BTreeSet<Element>>,
    ) {
        if let Verdict::Skip { .. } = self.verdict {
            // What holds for the class holds for each of its methods.
            for method in &mut self.methods {
                method.verdict = self.verdict.clone();
            }
            return;
        }
        self.run_what_is_inherited(declared, used_by);
        match self.methods.iter().find(|method| method.verdict.is_run()) {
            Some(first) => {
                self.verdict = first.verdict.clone();
                // What it takes is what those take that run.
                let run = self.methods.iter().filter(|m| m.verdict.is_run());
                let millis: Option<Vec<u32>> = run.map(|method| method.millis).collect();
                self.millis = millis.map_or(self.millis, |each| Some(each.iter().sum()));
            }
            None => self.verdict = Verdict::Skip { record: 0 },
        }
    }

    /// A test that found state which other tests of its class had left behind
    /// needs them again. That they are among what it used tells who they were.
    fn run_what_is_inherited(
        &mut self,
        declared: &DeclaredMethods,
        used_by: impl Fn(&Arc<str>) -> Option<BTreeSet<Element>>,
    ) {
        let mut pending: Vec<usize> = (0..self.methods.len())
            .filter(|&index| self.methods[index].verdict.is_run())
            .collect();
        while let Some(index) = pending.pop() {
            let Some(used) = used_by(&self.methods[index].name) else {
                continue;
            };
            let reader = self.methods[index].name.clone();
            for (other, method) in self.methods.iter_mut().enumerate() {
                let Some(place) = declared.get(&method.name) else {
                    continue;
                };
                let own = Element::Method(place.class.clone(), place.key.clone());
                if !method.verdict.is_run() && used.contains(&own) {
                    let why = format!("it leaves something behind that {reader} needs");
                    method.verdict = Verdict::Run(RunReason::Needed { why });
                    pending.push(other);
                }
            }
        }
    }
}
