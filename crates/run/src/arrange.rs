//! In which order the tests of a task run, and which of them stay due.

use std::collections::BTreeMap;
use std::time::Duration;

use fewest_build::TaskRequest;
use fewest_model::{ClassName, Fingerprint, TestId};
use fewest_order::{Candidate, Shard, Uses, order_then_filter, plan_shards, select_then_order};

use crate::order_settings::{OrderBy, OrderSettings};
use crate::plan::LeftOut;
use crate::signatures::Signatures;
use crate::tests_of_task::Judged;

/// What becomes of a task's tests.
#[derive(Debug, Default)]
pub(crate) struct Arranged {
    /// The tests that run, the first one first; empty where the build's own
    /// order is wanted.
    pub(crate) order: Vec<ClassName>,
    /// The tests that should run and do not.
    pub(crate) left_out: BTreeMap<ClassName, LeftOut>,
}

/// Puts those of the judged tests in order that run. The tests come sorted by
/// name, so that the same ones give the same order everywhere.
pub(crate) fn arrange(
    request: &TaskRequest,
    settings: &OrderSettings,
    judged: &[Judged],
    signatures: Option<&Signatures>,
) -> Arranged {
    let mut arranged = Arranged::default();
    let mut runs: Vec<bool> = judged.iter().map(|test| test.verdict.is_run()).collect();
    let leave_out = |place: usize, why, runs: &mut Vec<bool>, arranged: &mut Arranged| {
        runs[place] = false;
        arranged.left_out.insert(judged[place].class.clone(), why);
    };
    if let Some(only) = &settings.only {
        for (place, test) in judged.iter().enumerate() {
            let id = TestId::of_class(request.module.as_str(), test.class.clone());
            if runs[place] && !only.contains(&id) {
                leave_out(place, LeftOut::Rerun, &mut runs, &mut arranged);
            }
        }
    }
    if let Some(shard) = settings.shard {
        let selected = (0..judged.len()).filter(|&place| runs[place]);
        let own = places_of_shard(request, shard, judged, selected);
        for place in 0..judged.len() {
            if runs[place] && own.binary_search(&place).is_err() {
                leave_out(place, LeftOut::Shard, &mut runs, &mut arranged);
            }
        }
    }
    // A budget needs an order even where the build keeps its own.
    let algorithm = settings.by.algorithm();
    if algorithm.is_none() && settings.budget.is_none() {
        return arranged;
    }
    let candidates: Vec<Candidate<'_>> = judged
        .iter()
        .map(|test| candidate(test, signatures))
        .collect();
    let by = algorithm.unwrap_or_default();
    let mut order = if settings.all_first {
        order_then_filter(by.order(&candidates, settings.seed), |place| runs[place])
    } else {
        select_then_order(
            &candidates,
            |place| runs[place],
            |selected| by.order(selected, settings.seed),
        )
    };
    if let Some(budget) = settings.budget {
        let durations: Vec<Option<Duration>> = candidates.iter().map(|one| one.duration).collect();
        let cut = budget.cut(order, &durations);
        for place in cut.left_out {
            leave_out(place, LeftOut::Budget, &mut runs, &mut arranged);
        }
        order = cut.taken;
    }
    let everything = runs.iter().all(|&runs| runs);
    if algorithm.is_some() && !(everything && settings.by == OrderBy::Auto) {
        let class = |place: usize| judged[place].class.clone();
        arranged.order = order.into_iter().map(class).collect();
    }
    arranged
}

/// What is known of a test when it is put in order.
fn candidate<'a>(test: &'a Judged, signatures: Option<&Signatures>) -> Candidate<'a> {
    Candidate {
        duration: duration(test),
        history: test.facts.history,
        uses: test.facts.uses.as_ref().map(|uses| Uses {
            changed: &uses.changed,
            is_named_after: uses.is_named_after,
            total: uses.total,
        }),
        signature: signatures.map_or(Candidate::default().signature, |signatures| {
            signatures.of(&test.class)
        }),
    }
}

fn duration(test: &Judged) -> Option<Duration> {
    test.millis
        .map(|millis| Duration::from_millis(u64::from(millis)))
}

/// The places of a shard's tests, sorted.
///
/// Each module splits its own tests, because the next ones are not compiled
/// yet. Its name decides which shard comes first, or the first one would get
/// the longest test of every module.
pub(crate) fn places_of_shard(
    request: &TaskRequest,
    shard: Shard,
    judged: &[Judged],
    selected: impl Iterator<Item = usize>,
) -> Vec<usize> {
    let tests = selected.map(|place| (place, duration(&judged[place])));
    let mut plan = plan_shards(shard.count(), tests);
    plan.swap_remove(turned(shard, &request.module))
}

/// Which part of a module's split a shard gets.
fn turned(shard: Shard, module: &str) -> usize {
    let print = Fingerprint::of(module.as_bytes());
    let turn = u32::from_le_bytes(*print.as_bytes().first_chunk().expect("it has 16 bytes"));
    let (index, count) = (
        u64::from(shard.index().get()),
        u64::from(shard.count().get()),
    );
    ((index - 1 + u64::from(turn)) % count) as usize
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use fewest_build::FORMAT;
    use fewest_order::Algorithm;
    use fewest_select::verdict::{RunReason, Verdict};

    use super::*;
    use crate::tests_of_task::OrderFacts;

    fn request(module: &str) -> TaskRequest {
        serde_json::from_value(serde_json::json!({
            "format": FORMAT, "module": module, "task": "exec", "basedir": "", "classpath": [],
            "testClasses": null, "reports": null, "startedAt": 0, "javaHome": null, "jvmArgs": [],
            "systemProperties": {}, "environment": {}, "settings": {},
        }))
        .unwrap()
    }

    /// Test classes `T00`, `T01` and so on; every third one need not run.
    fn judged(count: u32) -> Vec<Judged> {
        (0..count)
            .map(|number| Judged {
                methods: Vec::new(),
                whole: None,
                class: ClassName::new(format!("p/T{number:02}")),
                verdict: if number % 3 == 0 {
                    Verdict::Skip { record: 0 }
                } else {
                    Verdict::Run(RunReason::NoRecord { doubts: Vec::new() })
                },
                millis: Some(100 * (number + 1)),
                facts: OrderFacts::default(),
            })
            .collect()
    }

    fn quick() -> OrderSettings {
        OrderSettings {
            by: OrderBy::Algorithm(Algorithm::Quick),
            ..OrderSettings::default()
        }
    }

    fn names(classes: &[ClassName]) -> Vec<&str> {
        classes.iter().map(ClassName::simple).collect()
    }

    #[test]
    fn only_what_runs_is_in_the_order() {
        let arranged = arrange(&request(""), &quick(), &judged(6), None);
        assert_eq!(names(&arranged.order), ["T01", "T02", "T04", "T05"]);
        assert!(arranged.left_out.is_empty());
        let all_first = OrderSettings {
            all_first: true,
            ..quick()
        };
        let filtered = arrange(&request(""), &all_first, &judged(6), None);
        assert_eq!(filtered.order, arranged.order);
    }

    #[test]
    fn by_default_a_task_that_runs_everything_keeps_the_builds_order() {
        let all: Vec<Judged> = judged(6)
            .into_iter()
            .filter(|t| t.verdict.is_run())
            .collect();
        let auto = OrderSettings::default();
        assert!(arrange(&request(""), &auto, &all, None).order.is_empty());
        assert_eq!(
            arrange(&request(""), &auto, &judged(6), None).order.len(),
            4
        );
        assert_eq!(arrange(&request(""), &quick(), &all, None).order.len(), 4);
    }

    #[test]
    fn a_budget_leaves_the_end_of_the_order_due() {
        let settings = OrderSettings {
            budget: Some("1s".parse().unwrap()),
            ..quick()
        };
        let arranged = arrange(&request(""), &settings, &judged(6), None);
        assert_eq!(names(&arranged.order), ["T01", "T02", "T04"]);
        assert_eq!(
            arranged.left_out.into_iter().collect::<Vec<_>>(),
            [("p/T05".into(), LeftOut::Budget)]
        );
    }

    #[test]
    fn a_budget_cuts_by_the_default_order_where_the_build_keeps_its_own() {
        let settings = OrderSettings {
            by: OrderBy::None,
            budget: Some("1-test".parse().unwrap()),
            ..OrderSettings::default()
        };
        let arranged = arrange(&request(""), &settings, &judged(6), None);
        assert!(arranged.order.is_empty());
        assert_eq!(arranged.left_out.len(), 3);
    }

    #[test]
    fn shards_are_disjoint_and_complete_whatever_the_module_is_called() {
        for module in ["", "core", "web/api"] {
            let judged = judged(20);
            let mut all: Vec<ClassName> = Vec::new();
            for index in 1..=3 {
                let number = NonZeroU32::new(index).unwrap();
                let settings = OrderSettings {
                    shard: Shard::new(number, NonZeroU32::new(3).unwrap()),
                    ..quick()
                };
                let arranged = arrange(&request(module), &settings, &judged, None);
                assert_eq!(arranged.order.len() + arranged.left_out.len(), 13);
                all.extend(arranged.order);
            }
            all.sort();
            let due = judged.iter().filter(|test| test.verdict.is_run());
            let due: Vec<ClassName> = due.map(|test| test.class.clone()).collect();
            assert_eq!(all, due);
        }
    }

    #[test]
    fn a_rerun_takes_nothing_but_what_is_named() {
        let settings = OrderSettings {
            only: Some([TestId::of_class("", "p/T04".into())].into()),
            ..quick()
        };
        let arranged = arrange(&request(""), &settings, &judged(6), None);
        assert_eq!(names(&arranged.order), ["T04"]);
        let other = arrange(&request("core"), &settings, &judged(6), None);
        assert!(other.order.is_empty());
        assert!(other.left_out.values().all(|why| *why == LeftOut::Rerun));
    }
}
