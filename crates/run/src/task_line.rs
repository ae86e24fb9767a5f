//! The line about a task that the user sees while the build goes on.

use std::collections::BTreeMap;

use fewest_build::TaskRequest;
use fewest_model::Element;
use fewest_select::verdict::{RunReason, Verdict};

use crate::arrange::Arranged;
use crate::ask::reasons;
use crate::in_words::in_words;
use crate::order_settings::OrderSettings;
use crate::plan::LeftOut;
use crate::tests_of_task::Judged;

/// Says how many tests of a task run, and why. `None` where the build does not
/// know its tests, or where it says by itself why all of them run.
pub(crate) fn task_line(request: &TaskRequest, judged: &[Judged]) -> Option<String> {
    if request.test_classes.is_none() || request.run_all.is_some() {
        return None;
    }
    let name = task_name(request);
    let (run, left): (Vec<&Judged>, Vec<&Judged>) =
        judged.iter().partition(|test| test.verdict.is_run());
    let all = judged.len();
    let saved: u64 = left.iter().filter_map(|t| t.millis).map(u64::from).sum();
    let saved = saved.div_ceil(1000);
    let (count, left) = (run.len(), left.len());
    if count == 0 {
        let classes = classes(all);
        return Some(format!(
            "{name}: none of {classes} can be affected; about {saved} s saved"
        ));
    }
    let of_all = match left {
        0 => format!("all {}", classes(all)),
        _ => format!("{count} of {}", classes(all)),
    };
    let why = match (common_reason(&run), change(&run)) {
        (_, Some(change)) => format!("can be affected by {change}"),
        (Some(reason), None) => format!("run: {reason}"),
        (None, None) => "run".into(),
    };
    Some(match left {
        0 => format!("{name}: {of_all} {why}"),
        _ => format!("{name}: {of_all} {why}; {left} not run, about {saved} s saved"),
    })
}

/// What a task is called in lines.
pub(crate) fn task_name(request: &TaskRequest) -> &str {
    match request.module.as_str() {
        "" => "tests",
        module => module,
    }
}

/// Says what stays due, and why.
pub(crate) fn left_out_lines(
    request: &TaskRequest,
    order: &OrderSettings,
    arranged: &Arranged,
) -> Vec<String> {
    let name = task_name(request);
    let count = |why| arranged.left_out.values().filter(|w| **w == why).count();
    let mut lines = Vec::new();
    let mut line = |why, text: String| match count(why) {
        0 => {}
        count => lines.push(format!("{name}: {} {text}", classes(count))),
    };
    if let Some(shard) = order.shard {
        line(LeftOut::Shard, format!("left to other shards than {shard}"));
    }
    if let Some(budget) = order.budget {
        line(
            LeftOut::Budget,
            format!("over the budget of {budget}, still due"),
        );
    }
    line(
        LeftOut::Rerun,
        "neither failed nor were left out last time".into(),
    );
    lines
}

fn classes(count: usize) -> String {
    match count {
        1 => "1 test class".into(),
        _ => format!("{count} test classes"),
    }
}

/// The change that most tests run for, and how many others there are.
fn change(run: &[&Judged]) -> Option<String> {
    let mut affected: BTreeMap<&Element, usize> = BTreeMap::new();
    for test in run {
        if let Verdict::Run(RunReason::Changed { elements, .. }) = &test.verdict {
            for element in elements {
                *affected.entry(element).or_default() += 1;
            }
        }
    }
    // Of those that affect as many, the first that a reason names is the most
    // exact one.
    let place = |element: &Element| {
        run.iter().find_map(|test| match &test.verdict {
            Verdict::Run(RunReason::Changed { elements, .. }) => {
                elements.iter().position(|known| known == element)
            }
            _ => None,
        })
    };
    let (first, _) = affected
        .iter()
        .max_by_key(|(element, count)| (**count, std::cmp::Reverse(place(element))))?;
    Some(match affected.len() - 1 {
        0 => in_words(first),
        1 => format!("{} and 1 more change", in_words(first)),
        more => format!("{} and {more} more changes", in_words(first)),
    })
}

/// The reason that all tests share, if they share one.
fn common_reason(run: &[&Judged]) -> Option<String> {
    let first = reasons(&run.first()?.verdict).into_iter().next()?;
    run.iter()
        .all(|test| reasons(&test.verdict).first() == Some(&first))
        .then_some(first)
}

#[cfg(test)]
mod tests {
    use fewest_build::FORMAT;
    use fewest_model::MethodKey;

    use super::*;

    fn request(module: &str) -> TaskRequest {
        TaskRequest {
            format: FORMAT,
            module: module.into(),
            task: "surefire:test@default-test".into(),
            basedir: "/p".into(),
            classpath: Vec::new(),
            test_classes: Some(Vec::new()),
            test_sources: Vec::new(),
            run_all: None,
            reports: None,
            started_at: 1,
            java_home: None,
            jvm_args: Vec::new(),
            system_properties: BTreeMap::new(),
            environment: BTreeMap::new(),
            settings: BTreeMap::new(),
        }
    }

    fn judged(verdict: Verdict) -> Judged {
        Judged {
            class: "p/T".into(),
            verdict,
            millis: Some(700),
            facts: crate::tests_of_task::OrderFacts::default(),
            methods: Vec::new(),
            whole: None,
        }
    }

    fn changed(elements: &[Element]) -> Judged {
        judged(Verdict::Run(RunReason::Changed {
            elements: elements.to_vec(),
            count: elements.len() as u64,
        }))
    }

    fn skip() -> Judged {
        judged(Verdict::Skip { record: 0 })
    }

    fn method(name: &str) -> Element {
        Element::Method("p/Complex".into(), MethodKey::new(name, "()V"))
    }

    #[test]
    fn the_change_that_most_tests_run_for_is_named() {
        let shape = Element::Shape("p/Complex".into());
        let tests = [
            changed(&[method("negate"), shape.clone()]),
            changed(&[method("add"), shape]),
            changed(&[method("negate")]),
            skip(),
            skip(),
        ];
        assert_eq!(
            task_line(&request("core"), &tests).unwrap(),
            "core: 3 of 5 test classes can be affected by Complex.negate() and 2 more changes; \
             2 not run, about 2 s saved"
        );
    }

    #[test]
    fn a_reason_that_all_share_is_named() {
        let new = || judged(Verdict::Run(RunReason::NoRecord { doubts: vec![] }));
        assert_eq!(
            task_line(&request(""), &[new(), new()]).unwrap(),
            "tests: all 2 test classes run: no record names it"
        );
        assert_eq!(
            task_line(&request(""), &[new(), skip()]).unwrap(),
            "tests: 1 of 2 test classes run: no record names it; 1 not run, about 1 s saved"
        );
    }

    #[test]
    fn nothing_to_run_is_said() {
        assert_eq!(
            task_line(&request("core"), &[skip()]).unwrap(),
            "core: none of 1 test class can be affected; about 1 s saved"
        );
    }

    #[test]
    fn where_the_build_speaks_for_itself_there_is_no_line() {
        let named = TaskRequest {
            run_all: Some("its tests are named one by one".into()),
            ..request("core")
        };
        assert_eq!(task_line(&named, &[skip()]), None);
    }
}
