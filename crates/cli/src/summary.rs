//! What a run came to, in a few lines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fewest_model::{Outcome, TestId};
use fewest_report::counted;
use fewest_run::{LeftOut, Merged, NOT_WATCHED, Overview, Parts, TestReport};
use fewest_select::{Entity, Technique};

/// How many doubtful or failed tests are named.
const NAMED: usize = 3;

/// The line before the build starts.
pub(crate) fn header(technique: Technique, overview: &Overview, collects: bool) -> String {
    if overview.tests == 0 {
        let recorded = if collects { " and is recorded" } else { "" };
        return format!("{technique}, no records yet: everything runs{recorded}");
    }
    let tests = counted(overview.tests as usize, "test class", "test classes");
    let from = match overview.revisions.as_slice() {
        [] => String::new(),
        [only] => format!(", records from {}", short(only)),
        [newest, _] => format!(", records from {} and 1 other", short(newest)),
        [newest, others @ ..] => {
            format!(
                ", records from {} and {} others",
                short(newest),
                others.len()
            )
        }
    };
    format!("{technique}, {tests}{from}")
}

/// The first digits of a commit, as people know it.
pub(crate) fn short(revision: &str) -> &str {
    revision.get(..7).unwrap_or(revision)
}

/// The last line of a run.
pub(crate) fn closing(merged: &Merged) -> String {
    let with = |verdict: &str| -> Vec<&TestReport> {
        let tests = merged.tests.iter();
        tests.filter(|test| test.verdict == verdict).collect()
    };
    let (ran, skipped) = (with("run"), with("skip"));
    let doubts = ran.iter().filter(|test| !doubts(test).is_empty()).count();
    let millis =
        |tests: &[&TestReport]| -> u64 { tests.iter().filter_map(|test| test.millis).sum() };
    let in_part = ran.iter().filter(|test| test.methods.is_some()).count();
    let saved_in_part: u64 = ran.iter().map(|test| test.saved_millis).sum();
    let (took, saved) = (millis(&ran), millis(&skipped) + saved_in_part);
    let time = if skipped.is_empty() && in_part == 0 {
        clock(took)
    } else {
        format!("{} instead of about {}", clock(took), clock(took + saved))
    };
    let doubts = if doubts == 1 {
        "1 doubt".to_owned()
    } else {
        format!("{doubts} doubts")
    };
    let skipped = skipped.len();
    let ran = match merged.entity {
        Entity::Class if in_part > 0 => format!("{} run ({in_part} in part)", ran.len()),
        Entity::Class => format!("{} run", ran.len()),
        Entity::Method => format!("{} run", methods(&ran)),
    };
    format!("{ran}, {skipped} proven unaffected, {doubts}; {time}")
}

/// Says which methods of a class run, where others are left out of it.
pub(crate) fn in_part(methods: &Parts) -> Option<String> {
    let others = counted(methods.skip.len(), "other is", "others are");
    let names = some_methods(&methods.run);
    let words = || format!("only {names} of its tests, {others} proven");
    methods.are_split().then(words)
}

/// The first few names of methods, and how many more.
pub(crate) fn some_methods(names: &[Arc<str>]) -> String {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    some_of(&names)
}

/// Says what should have run and did not.
pub(crate) fn left_out(merged: &Merged) -> Option<String> {
    let of = |why| {
        merged
            .tests
            .iter()
            .filter(move |test| test.left_out == Some(why))
    };
    let mut parts = Vec::new();
    let due: Vec<String> = of(LeftOut::Budget)
        .map(|test| simple(test).to_owned())
        .collect();
    if !due.is_empty() {
        let tests = counted(due.len(), "test class", "test classes");
        let names = some_of(&due);
        parts.push(format!("{tests} over the budget, still due: {names}"));
    }
    let elsewhere = of(LeftOut::Shard).count();
    if elsewhere > 0 {
        parts.push(format!("{elsewhere} left to other shards"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Said where a build does not keep to the order that was wanted.
pub(crate) const OWN_ORDER: &str = "the tests did not run in the order that was wanted: the build has its own, or runs several at once";

/// Says how early it showed that something is broken.
pub(crate) fn first_failure(merged: &Merged) -> Option<String> {
    let first = merged.order.first_failure.as_ref()?;
    let of = counted(first.of, "test class", "test classes");
    let place = ordinal(first.place);
    Some(format!(
        "first failure after {}, the {place} of {of}",
        clock(first.millis)
    ))
}

fn ordinal(number: usize) -> String {
    const WORDS: [&str; 10] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth",
    ];
    if let Some(word) = number.checked_sub(1).and_then(|index| WORDS.get(index)) {
        return (*word).to_owned();
    }
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Counts methods, the classes they are of, and classes that stay whole.
fn methods(tests: &[&TestReport]) -> String {
    let of_methods = || tests.iter().filter(|test| test.test.contains('#'));
    let classes: BTreeSet<_> = of_methods()
        .map(|test| (&test.module, TestId::class_of(&test.test)))
        .collect();
    let single = of_methods().count();
    let whole = tests.len() - single;
    let of = format!(
        "{} of {}",
        counted(single, "test method", "test methods"),
        counted(classes.len(), "class", "classes")
    );
    match (single, whole) {
        (_, 0) => of,
        (0, _) => counted(whole, "whole class", "whole classes"),
        _ => format!(
            "{of} and {}",
            counted(whole, "whole class", "whole classes")
        ),
    }
}

/// The classes whose methods cannot be told apart, by the reason.
pub(crate) fn whole_by_reason(merged: &Merged) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for test in &merged.tests {
        if let Some(reason) = &test.whole {
            reasons.entry(reason).or_default().push(&test.test);
        }
    }
    reasons
}

/// Names the classes whose methods cannot be told apart, and why.
pub(crate) fn whole(merged: &Merged) -> Option<String> {
    let reasons = whole_by_reason(merged);
    let count: usize = reasons.values().map(Vec::len).sum();
    let classes = match count {
        0 => return None,
        1 => "1 test class stays".to_owned(),
        _ => format!("{count} test classes stay"),
    };
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
    let more = reasons.len().saturating_sub(NAMED);
    let mut parts: Vec<String> = reasons
        .iter()
        .take(NAMED)
        .map(|(reason, tests)| {
            let simple = |test: &&str| test.rsplit('.').next().unwrap_or(test).to_owned();
            let names: Vec<String> = tests.iter().map(simple).collect();
            format!("{} ({reason})", some_of(&names))
        })
        .collect();
    if more > 0 {
        parts.push(format!(
            "and {}",
            counted(more, "other reason", "other reasons")
        ));
    }
    Some(format!("{classes} whole: {}", parts.join("; ")))
}

/// Names the tests whose run proved nothing.
pub(crate) fn doubtful(merged: &Merged) -> Option<String> {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for test in &merged.tests {
        if let Some(first) = doubts(test).first() {
            groups.entry(first).or_default().push(simple(test).into());
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
    let more: usize = groups
        .iter()
        .skip(NAMED)
        .map(|(_, tests)| tests.len())
        .sum();
    let mut parts: Vec<String> = groups
        .iter()
        .take(NAMED)
        .map(|(doubt, tests)| format!("{} ({doubt})", some_of(tests)))
        .collect();
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    (!parts.is_empty()).then(|| format!("no proof, so they run again: {}", parts.join("; ")))
}

/// Why a test's run proved nothing, unless the user wanted it so.
pub(crate) fn doubts(test: &TestReport) -> Vec<&str> {
    let doubts = test.doubts.iter().map(String::as_str);
    doubts.filter(|doubt| *doubt != NOT_WATCHED).collect()
}

/// What a shadow run says of the verdicts.
pub(crate) enum Shadow {
    Agrees(String),
    /// A test failed that would have been left out.
    Fails(String),
}

pub(crate) fn shadow(merged: &Merged) -> Shadow {
    let proven: Vec<&TestReport> = merged.tests.iter().filter(|test| test.proven).collect();
    let failed: Vec<String> = proven
        .iter()
        .filter(|test| matches!(test.outcome, Some(Outcome::Failed | Outcome::Unfinished)))
        .map(|test| simple(test).to_owned())
        .collect();
    let all = counted(merged.tests.len(), "test class", "test classes");
    let count = proven.len();
    if failed.is_empty() {
        return Shadow::Agrees(format!(
            "shadow: {count} of {all} would have been left out, and none of them failed"
        ));
    }
    Shadow::Fails(format!(
        "shadow: {} of the {count} that would have been left out FAILED: {}. \
         Either the test is flaky, or its failure has a cause that fewest does not see; \
         `fewest why` tells what is known of it",
        failed.len(),
        some_of(&failed)
    ))
}

/// The first few, and how many more.
fn some_of(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn simple(test: &TestReport) -> &str {
    test.test.rsplit('.').next().unwrap_or(&test.test)
}

/// Minutes and seconds; hours where there are any.
fn clock(millis: u64) -> String {
    let seconds = millis.div_ceil(1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    match minutes / 60 {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{:02}:{seconds:02}", minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use fewest_run::FirstFailure;

    use super::*;

    fn test(name: &str, verdict: &'static str, millis: u64) -> TestReport {
        TestReport {
            test: format!("com.acme.{name}"),
            verdict,
            proven: verdict == "skip",
            outcome: (verdict == "run").then_some(Outcome::Passed),
            millis: Some(millis),
            recorded: verdict == "run",
            ..TestReport::default()
        }
    }

    fn merged(tests: Vec<TestReport>) -> Merged {
        Merged {
            tests,
            ..Merged::default()
        }
    }

    #[test]
    fn the_header_says_where_records_are_from() {
        let overview = |revisions: &[&str]| Overview {
            tests: 361,
            records: 400,
            revisions: revisions.iter().map(|&r| r.to_owned()).collect(),
        };
        let header = |revisions: &[&str]| header(Technique::Hybrid, &overview(revisions), true);
        assert_eq!(header(&[]), "hybrid, 361 test classes");
        assert_eq!(
            header(&["4f2c19a0b"]),
            "hybrid, 361 test classes, records from 4f2c19a"
        );
        assert_eq!(
            header(&["4f2c19a0b", "b", "c", "d"]),
            "hybrid, 361 test classes, records from 4f2c19a and 3 others"
        );
        assert_eq!(
            super::header(Technique::File, &Overview::default(), true),
            "file, no records yet: everything runs and is recorded"
        );
    }

    #[test]
    fn the_closing_line_counts_tests_doubts_and_time() {
        let mut doubtful = test("B", "run", 4_000);
        doubtful.doubts = vec!["why".into()];
        let merged = merged(vec![
            test("A", "run", 4_500),
            doubtful,
            test("C", "skip", 61_000),
        ]);
        assert_eq!(
            closing(&merged),
            "2 run, 1 proven unaffected, 1 doubt; 0:09 instead of about 1:10"
        );
        assert_eq!(clock(3_600_000), "1:00:00");
    }

    #[test]
    fn methods_are_counted_with_their_classes_and_whole_classes_have_reasons() {
        let mut whole_class = test("P", "run", 1);
        whole_class.whole = Some("why".into());
        let merged = Merged {
            entity: Entity::Method,
            ..merged(vec![
                test("A#x", "run", 1),
                test("A#y", "run", 1),
                test("B#z", "run", 1),
                test("B#v", "skip", 1),
                whole_class,
            ])
        };
        assert_eq!(
            closing(&merged),
            "3 test methods of 2 classes and 1 whole class run, 1 proven unaffected, 0 doubts; \
             0:01 instead of about 0:01"
        );
        assert_eq!(whole(&merged).unwrap(), "1 test class stays whole: P (why)");
    }

    #[test]
    fn a_class_of_which_a_part_ran_counts_as_run() {
        let names = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
        let methods = Parts {
            run: names(&["a", "b", "c", "d"]),
            skip: names(&["e"]),
        };
        let in_part = TestReport {
            methods: Some(methods.clone()),
            saved_millis: 3_000,
            ..test("A", "run", 1_000)
        };
        assert_eq!(
            closing(&merged(vec![in_part, test("B", "run", 1_000)])),
            "2 run (1 in part), 0 proven unaffected, 0 doubts; 0:02 instead of about 0:05"
        );
        assert_eq!(
            super::in_part(&methods).unwrap(),
            "only a, b, c and 1 more of its tests, 1 other is proven"
        );
        let whole = Parts {
            skip: Vec::new(),
            ..methods
        };
        assert_eq!(super::in_part(&whole), None);
    }

    #[test]
    fn three_doubts_are_named_and_the_others_counted() {
        let doubted = |names: &[(&str, &str)]| {
            let tests = names.iter().map(|(name, doubt)| TestReport {
                doubts: vec![(*doubt).to_owned(), "other".into()],
                ..test(name, "run", 1)
            });
            doubtful(&merged(tests.collect())).unwrap()
        };
        assert_eq!(
            doubted(&[("A", "x"), ("B", "x"), ("C", "x"), ("D", "x"), ("E", "y")]),
            "no proof, so they run again: A, B, C and 1 more (x); E (y)"
        );
        assert_eq!(
            doubted(&[("A", "x"), ("B", "y"), ("C", "z"), ("D", "v"), ("E", "w")]),
            "no proof, so they run again: D (v); E (w); A (x); and 2 more"
        );
        let mut unwatched = test("A", "run", 1);
        unwatched.doubts = vec![NOT_WATCHED.into()];
        assert_eq!(doubtful(&merged(vec![unwatched])), None);
    }

    #[test]
    fn a_shadow_run_is_loud_about_a_failure_that_would_have_been_missed() {
        let shadowed = |outcome| TestReport {
            proven: true,
            outcome: Some(outcome),
            ..test("A", "run", 1)
        };
        let told = |outcome| match shadow(&merged(vec![shadowed(outcome), test("B", "run", 1)])) {
            Shadow::Agrees(text) => (false, text),
            Shadow::Fails(text) => (true, text),
        };
        assert_eq!(
            told(Outcome::Passed),
            (
                false,
                "shadow: 1 of 2 test classes would have been left out, and none of them failed"
                    .into()
            )
        );
        let (loud, text) = told(Outcome::Failed);
        assert!(loud && text.contains("FAILED: A."), "{text}");
    }

    #[test]
    fn what_is_left_out_is_no_proof_and_stays_due() {
        let left_out = |name: &str, why| TestReport {
            left_out: Some(why),
            proven: false,
            ..test(name, "left-out", 9_000)
        };
        let merged = merged(vec![
            test("A", "run", 1_000),
            left_out("B", LeftOut::Budget),
            left_out("C", LeftOut::Shard),
        ]);
        assert_eq!(
            closing(&merged),
            "1 run, 0 proven unaffected, 0 doubts; 0:01"
        );
        assert_eq!(
            super::left_out(&merged).unwrap(),
            "1 test class over the budget, still due: B; 1 left to other shards"
        );
    }

    #[test]
    fn the_first_failure_is_told_by_its_place_and_time() {
        let mut merged = merged(vec![test("A", "run", 1)]);
        assert_eq!(first_failure(&merged), None);
        let first = |place| FirstFailure {
            test: "A".into(),
            place,
            of: 112,
            place_share: 0.1,
            millis: 2_400,
            time_share: 0.1,
        };
        let mut told = |place| {
            merged.order.first_failure = Some(first(place));
            first_failure(&merged).unwrap()
        };
        assert_eq!(
            told(3),
            "first failure after 0:03, the third of 112 test classes"
        );
        assert!(told(111).contains("the 111th of"));
        assert!(told(22).contains("the 22nd of"));
    }
}
