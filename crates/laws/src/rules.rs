//! What must hold, whatever the program and the edit.
//!
//! The numbers are those of the metamorphic rules in the safety catalogue. A
//! test is *affected* when it sees other things after the edit, alone in its JVM
//! or after the other tests of its program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use fewest_model::{Element, Outcome};
use fewest_run::RunEnd;
use fewest_select::Technique;

use crate::batch::{Batch, Compiled};
use crate::edit::{Edit, EditKind};
use crate::program::{Field, Member, Value};
use crate::shrink::Culprit;
use crate::stage::{FINEST, Recorded, Selection, Stage, Surroundings};
use crate::statics::Statics;

/// A rule that did not hold.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static str,
    pub technique: Option<Technique>,
    pub test: String,
    pub edit: Option<EditKind>,
    pub detail: String,
    /// The program and its edit, where the rule is about one.
    pub culprit: Option<Box<Culprit>>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let technique = self.technique.map_or("any technique", Technique::name);
        let Self { rule, test, .. } = self;
        write!(f, "{rule}: {technique}: {test}: {}", self.detail)?;
        match self.edit {
            Some(kind) => write!(f, " (edit: {kind:?})"),
            None => Ok(()),
        }
    }
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub programs: usize,
    pub tests: usize,
    pub edits: usize,
    /// Pairs of an edit and a test that sees other things after it.
    pub affected: usize,
    /// Pairs of an edit and a test of its program that a technique selects.
    pub selected: BTreeTally,
}

/// Selected pairs by technique, in the order of [`Technique::ALL`].
pub type BTreeTally = [usize; Technique::ALL.len()];

/// A batch whose tests are recorded.
pub struct Trial<'a> {
    pub batch: &'a Batch<'a>,
    stage: Stage<'a>,
    /// The tests that have a record.
    recorded: BTreeSet<String>,
    techniques: Vec<Technique>,
    /// What class files told of the same tests.
    statics: Statics<'a>,
    pub findings: Vec<Finding>,
    pub tally: Tally,
}

type Selections = BTreeMap<&'static str, Selection>;

impl<'a> Trial<'a> {
    /// Records the programs as they are. M1, M2, M9 (another checkout), M12, M15.
    pub fn begin(batch: &'a Batch<'a>) -> Self {
        let stage = Stage::new(batch.workshop, FINEST);
        let mut trial = Self {
            batch,
            statics: Statics::new(batch.workshop),
            stage,
            recorded: BTreeSet::new(),
            // Static techniques miss what reflection reaches, by their nature,
            // so they have rules of their own.
            techniques: Technique::ALL
                .into_iter()
                .filter(|technique| *technique != Technique::All && !technique.is_static())
                .collect(),
            findings: Vec::new(),
            tally: Tally {
                programs: batch.programs.len(),
                tests: batch.tests().len(),
                ..Tally::default()
            },
        };
        let tests = batch.tests();
        trial.stage.put(&batch.base.version);
        for technique in Technique::ALL {
            let selected = trial.stage.select(technique, &tests);
            trial.expect_all("M2 first run", technique, &tests, &selected);
        }
        let recorded = trial.stage.record(&tests);
        trial.transparency(&recorded);
        trial.recorded = with_records(&recorded);
        trial.stage.put(&batch.base.version);
        trial.identity();
        trial.environment();
        let elsewhere = trial.stage.elsewhere();
        elsewhere.put(&batch.base.version);
        trial.nothing_from("M9 another checkout", &elsewhere);
        let told = trial.statics.record(batch, &trial.recorded);
        trial.findings.extend(told);
        trial
    }

    fn find(
        &mut self,
        rule: &'static str,
        technique: Option<Technique>,
        test: &str,
        edit: Option<EditKind>,
        detail: impl Into<String>,
    ) {
        self.findings.push(Finding {
            rule,
            technique,
            test: test.to_owned(),
            edit,
            detail: detail.into(),
            culprit: None,
        });
    }

    fn expect_all(
        &mut self,
        rule: &'static str,
        technique: Technique,
        tests: &[String],
        selected: &Selection,
    ) {
        for test in tests.iter().filter(|test| !selected.contains_key(*test)) {
            self.find(rule, Some(technique), test, None, "is left out");
        }
    }

    /// M12: tests see the same with the agent as without.
    fn transparency(&mut self, recorded: &Recorded) {
        let truth = &self.batch.base.truth.together;
        let differ: Vec<&String> = truth
            .keys()
            .filter(|test| truth.get(*test) != recorded.seen.get(*test))
            .collect();
        for test in differ {
            let detail = format!(
                "{:?} becomes {:?}",
                truth.get(test),
                recorded.seen.get(test)
            );
            self.find("M12 transparency", None, test, None, detail);
        }
        for test in &recorded.tests {
            if test.outcome == Some(Outcome::Passed) && !test.recorded {
                let detail = format!("has no record: {:?}", test.doubts);
                self.find("a passed test has a record", None, &test.test, None, detail);
            }
        }
    }

    /// M1: what did not change selects nothing.
    fn identity(&mut self) {
        let tests = self.batch.tests();
        for technique in self.techniques.clone() {
            let selected = self.stage.select(technique, &tests);
            self.expect_none("M1 identity", technique, &selected, &[]);
            let unrecorded = tests.iter().filter(|test| !self.recorded.contains(*test));
            let unrecorded: Vec<String> = unrecorded.cloned().collect();
            self.expect_all(
                "a test without a record runs",
                technique,
                &unrecorded,
                &selected,
            );
        }
    }

    /// M15: in another environment everything runs.
    fn environment(&mut self) {
        let tests = self.batch.tests();
        for surroundings in Surroundings::OTHERS {
            for technique in self.techniques.clone() {
                let selected = self.stage.select_in(surroundings, technique, &tests);
                self.expect_all("M15 environment", technique, &tests, &selected);
            }
        }
    }

    fn expect_none(
        &mut self,
        rule: &'static str,
        technique: Technique,
        selected: &Selection,
        edits: &[Option<Edit>],
    ) {
        for (test, reasons) in selected {
            if self.recorded.contains(test) {
                let edit = edits.get(self.batch.program_of(test));
                let edit = edit.and_then(Option::as_ref).map(|edit| edit.kind);
                let detail = format!("runs: {}", reasons.join(", "));
                self.find(rule, Some(technique), test, edit, detail);
            }
        }
    }

    fn nothing_from(&mut self, rule: &'static str, stage: &Stage<'_>) {
        for technique in self.techniques.clone() {
            let selected = stage.select(technique, &self.batch.tests());
            self.expect_none(rule, technique, &selected, &[]);
        }
    }

    /// What every technique selects for the version that is in place.
    fn selections(&self, stage: &Stage<'_>) -> Selections {
        let tests = self.batch.tests();
        let select = |technique: &Technique| {
            let mut selection = stage.select(*technique, &tests);
            selection.retain(|test, _| self.recorded.contains(test));
            (technique.name(), selection)
        };
        self.techniques.iter().map(select).collect()
    }

    /// Safety, M3, M7, M9, M13.
    pub fn edited(&mut self, compiled: &Compiled) {
        let earlier = self.findings.len();
        self.stage.put(&compiled.version);
        let selections = self.selections(&self.stage);
        self.safety(compiled, &selections);
        self.precision(compiled, &selections);
        self.union(compiled, &selections);
        self.widening(compiled, &selections);
        self.count(compiled, &selections);
        let coarsest = &selections[Technique::File.name()];
        let told = self
            .statics
            .edited(self.batch, compiled, coarsest, &self.stage.records());
        self.findings.extend(told);
        for finding in &mut self.findings[earlier..] {
            let number = self.batch.program_of(&finding.test);
            finding.culprit = compiled.edits[number].as_ref().map(|edit| {
                Box::new(Culprit {
                    before: self.batch.programs[number].clone(),
                    after: edit.after.clone(),
                    kind: edit.kind,
                })
            });
        }
    }

    fn count(&mut self, compiled: &Compiled, selections: &Selections) {
        self.tally.edits += compiled.edits.iter().flatten().count();
        let affected = compiled.differs_from(&self.batch.base);
        self.tally.affected += affected
            .iter()
            .filter(|t| self.recorded.contains(**t))
            .count();
        for (count, technique) in self.tally.selected.iter_mut().zip(Technique::ALL) {
            *count += selections.get(technique.name()).map_or(0, BTreeMap::len);
        }
    }

    fn kind_of_edit(&self, compiled: &Compiled, test: &str) -> Option<EditKind> {
        let edit = compiled.edits[self.batch.program_of(test)].as_ref()?;
        Some(edit.kind)
    }

    /// A test that sees other things after the edit runs.
    fn safety(&mut self, compiled: &Compiled, selections: &Selections) {
        let affected = compiled.differs_from(&self.batch.base);
        for test in affected {
            if !self.recorded.contains(test) {
                continue;
            }
            for technique in self.techniques.clone() {
                if !selections[technique.name()].contains_key(test) {
                    let (before, after) = (&self.batch.base.truth, &compiled.truth);
                    let detail = if before.alone.get(test) == after.alone.get(test) {
                        let (was, is) = (before.together.get(test), after.together.get(test));
                        format!("MISSED after others: {was:?} becomes {is:?}")
                    } else {
                        let (was, is) = (before.alone.get(test), after.alone.get(test));
                        format!("MISSED: {was:?} becomes {is:?}")
                    };
                    let edit = self.kind_of_edit(compiled, test);
                    self.find("safety", Some(technique), test, edit, detail);
                }
            }
        }
    }

    /// M3, M9, and that programs do not touch each other.
    fn precision(&mut self, compiled: &Compiled, selections: &Selections) {
        for pair in self.techniques.clone().windows(2) {
            let (coarse, fine) = (&selections[pair[0].name()], &selections[pair[1].name()]);
            for (test, reasons) in fine.iter().filter(|(test, _)| !coarse.contains_key(*test)) {
                let edit = self.kind_of_edit(compiled, test);
                let detail = format!("runs, but not by {}: {reasons:?}", pair[0]);
                self.find("M3 finer selects less", Some(pair[1]), test, edit, detail);
            }
        }
        for technique in self.techniques.clone() {
            for (test, reasons) in &selections[technique.name()] {
                match self.kind_of_edit(compiled, test) {
                    None => {
                        let detail = format!("its program is as it was: {reasons:?}");
                        self.find("M7 disjoint edits", Some(technique), test, None, detail);
                    }
                    kind @ Some(EditKind::Neutral) => {
                        let detail = format!("{reasons:?}");
                        self.find("M9 neutral edits", Some(technique), test, kind, detail);
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// M7: half of the edits select half of the tests.
    fn union(&mut self, compiled: &Compiled, selections: &Selections) {
        let is_even = |test: &str| self.batch.program_of(test).is_multiple_of(2);
        let packages = self.batch.programs.iter().step_by(2);
        let packages: Vec<String> = packages.map(|program| program.package.clone()).collect();
        self.stage.put(&self.batch.base.version);
        self.stage.put_packages(&compiled.version, &packages);
        let halves = self.selections(&self.stage);
        for technique in self.techniques.clone() {
            let whole = selections[technique.name()].keys();
            let expected: BTreeSet<&String> = whole.filter(|test| is_even(test)).collect();
            let half: BTreeSet<&String> = halves[technique.name()].keys().collect();
            let differ: Vec<&String> = expected.symmetric_difference(&half).copied().collect();
            for test in differ {
                let edit = self.kind_of_edit(compiled, test);
                self.find(
                    "M7 union",
                    Some(technique),
                    test,
                    edit,
                    "depends on other edits",
                );
            }
        }
        self.stage.put(&compiled.version);
    }

    /// M13: what is added elsewhere takes nothing away.
    fn widening(&mut self, compiled: &Compiled, selections: &Selections) {
        let mark = self.batch.workshop.unrelated_class();
        self.stage.write("classes/laws/Mark2.class", mark);
        self.stage.write("classes/unrelated/text.txt", "new");
        self.stage.write("data/unrelated/text.txt", "new");
        let wider = self.selections(&self.stage);
        for technique in self.techniques.clone() {
            for test in selections[technique.name()].keys() {
                if !wider[technique.name()].contains_key(test) {
                    let edit = self.kind_of_edit(compiled, test);
                    self.find("M13 widening", Some(technique), test, edit, "is left out");
                }
            }
        }
        self.stage.put(&compiled.version);
    }

    /// M5: a record names every class that its test loads when it is alone, and
    /// the class of every method in it.
    pub fn projection(&mut self) {
        let records = self.stage.records();
        self.expect_projection("M5 projection", &records);
    }

    fn expect_projection(
        &mut self,
        rule: &'static str,
        records: &BTreeMap<String, BTreeSet<Element>>,
    ) {
        for (test, loaded) in &self.batch.base.truth.loaded {
            let Some(elements) = records.get(test) else {
                continue;
            };
            let mut whole = BTreeSet::new();
            let mut named = BTreeSet::new();
            for element in elements {
                match element {
                    Element::Class(class) | Element::Whole(class) => whole.insert(class.dotted()),
                    other => other
                        .class()
                        .is_some_and(|class| named.insert(class.dotted())),
                };
            }
            let loaded = loaded.iter().filter(|class| !class.starts_with("laws."));
            let missing: Vec<String> = loaded
                .chain(named.iter().filter(|class| !class.starts_with("java.")))
                .filter(|class| !whole.contains(*class))
                .cloned()
                .collect();
            if !missing.is_empty() {
                let detail = format!("its record lacks {missing:?}");
                self.find(rule, None, test, None, detail);
            }
        }
    }

    /// M6: in another order of the tests the same holds.
    pub fn order(&mut self, compiled: &Compiled) {
        let stage = Stage::new(self.batch.workshop, FINEST);
        stage.put(&self.batch.base.version);
        let mut tests = self.batch.tests();
        tests.reverse();
        stage.record(&tests);
        self.expect_projection("M6 order", &stage.records());
        stage.put(&compiled.version);
        let selections = self.selections(&stage);
        let (before, after) = (&self.batch.base.truth.alone, &compiled.truth.alone);
        for test in self.recorded.clone() {
            for technique in self.techniques.clone() {
                let selected = selections[technique.name()].contains_key(&test);
                if before.get(&test) != after.get(&test) && !selected {
                    let edit = self.kind_of_edit(compiled, &test);
                    self.find("M6 order", Some(technique), &test, edit, "MISSED");
                }
            }
        }
    }

    /// M8 and M10: there and back is the same, and two steps are no shorter than
    /// one. The later version comes from the first by one more edit.
    pub fn steps(&mut self, first: &Compiled, second: &Compiled) {
        let tests = self.batch.tests();
        self.stage.put(&first.version);
        let there = self.selections(&self.stage);
        self.stage.put(&second.version);
        let far = self.selections(&self.stage);
        let stage = Stage::new(self.batch.workshop, FINEST);
        stage.put(&first.version);
        let known = with_records(&stage.record(&tests));
        stage.put(&self.batch.base.version);
        let back = self.selections(&stage);
        stage.put(&second.version);
        let further = self.selections(&stage);
        for technique in self.techniques.clone() {
            let name = technique.name();
            for test in known.intersection(&self.recorded.clone()) {
                let edit = self.kind_of_edit(first, test);
                let on = |selections: &Selections| selections[name].contains_key(test);
                let ways = [&there, &back].map(|way| way[name].get(test));
                if on(&there) != on(&back)
                    && !ways.into_iter().flatten().all(|why| is_of_search(why))
                {
                    let detail = format!("there {:?}, back {:?}", ways[0], ways[1]);
                    self.find("M8 symmetry", Some(technique), test, edit, detail);
                }
                if on(&far) && !on(&there) && !on(&further) {
                    self.find(
                        "M10 composition",
                        Some(technique),
                        test,
                        edit,
                        "runs in one step",
                    );
                }
            }
        }
    }

    /// M10 (there and back after failures) and M11: what did not pass on a
    /// version still has to run on it.
    pub fn interruption(&mut self, compiled: &Compiled) {
        let technique = Technique::default();
        let tests = self.batch.tests();
        for cut in [false, true] {
            let stage = self.stage.elsewhere();
            stage.put(&compiled.version);
            let selected: Vec<String> = stage.select(technique, &tests).into_keys().collect();
            let some: Vec<String> = selected.iter().step_by(2).cloned().collect();
            let recorded = if cut {
                stage.record_then(&some, RunEnd::Interrupted, cut_traces)
            } else {
                stage.record(&some)
            };
            let done = with_records(&recorded);
            let again = stage.select(technique, &tests);
            for test in selected.iter().filter(|test| !done.contains(*test)) {
                if !again.contains_key(test) {
                    let edit = self.kind_of_edit(compiled, test);
                    self.find(
                        "M11 interruption",
                        Some(technique),
                        test,
                        edit,
                        "is forgotten",
                    );
                }
            }
            for test in again.keys().filter(|test| done.contains(*test)) {
                let edit = self.kind_of_edit(compiled, test);
                self.find(
                    "M11 interruption",
                    Some(technique),
                    test,
                    edit,
                    "runs again",
                );
            }
            stage.put(&self.batch.base.version);
            let back = stage.select(technique, &tests);
            // A test that failed has to run, whatever its older records say.
            let failed = recorded.tests.iter().filter(|test| {
                let outcome = test.outcome;
                outcome.is_some_and(|outcome| !outcome.is_evidence())
            });
            for test in failed.map(|test| &test.test) {
                if !back.contains_key(test) {
                    self.find(
                        "M10 there and back",
                        Some(technique),
                        test,
                        None,
                        "is forgotten",
                    );
                }
            }
        }
    }

    /// M14: a change of a class's declaration selects no less than one of a body
    /// in it.
    pub fn coarsening(&mut self, bodies: &Compiled, heads: &Compiled) {
        self.stage.put(&bodies.version);
        let fine = self.selections(&self.stage);
        self.stage.put(&heads.version);
        let coarse = self.selections(&self.stage);
        for technique in self.techniques.clone() {
            let name = technique.name();
            for (test, reasons) in &fine[name] {
                let has_head = heads.edits[self.batch.program_of(test)].is_some();
                if has_head && !coarse[name].contains_key(test) {
                    let edit = self.kind_of_edit(bodies, test);
                    let detail = format!("only the body's change selects it: {reasons:?}");
                    self.find("M14 coarsening", Some(technique), test, edit, detail);
                }
            }
        }
    }
}

/// For each edit of a class one that changes the declaration of the same class.
pub fn heads_of(batch: &Batch<'_>, bodies: &Compiled) -> Vec<Option<Edit>> {
    let head = |(program, edit): (&crate::program::Program, &Option<Edit>)| {
        let after = &edit.as_ref()?.after;
        let changed = program
            .types
            .iter()
            .find(|one| after.get(one.id) != Some(one))?;
        let mut with_head = program.clone();
        let one = with_head
            .types
            .iter_mut()
            .find(|one| one.id == changed.id)?;
        one.members.push(Member::Field(Field {
            name: "extra".into(),
            is_static: true,
            is_final: false,
            value: Value::Number(1),
        }));
        Some(Edit {
            kind: EditKind::AddMember,
            after: with_head,
        })
    };
    batch.programs.iter().zip(&bodies.edits).map(head).collect()
}

/// Whether a test runs only because a search for a member ends elsewhere. Code
/// may name a member and never come to it, and only where the member is inherited
/// does a record tell of that: so a member that moves up counts on one way only.
fn is_of_search(reasons: &[String]) -> bool {
    let mut reasons = reasons.iter();
    reasons.all(|reason| reason.starts_with("the place where "))
}

fn with_records(recorded: &Recorded) -> BTreeSet<String> {
    let tests = recorded.tests.iter().filter(|test| test.recorded);
    tests.map(|test| test.test.clone()).collect()
}

/// As if the JVM had been killed while it wrote.
fn cut_traces(folder: &std::path::Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let bytes = fs::read(entry.path()).expect("a trace is readable");
        fs::write(entry.path(), &bytes[..bytes.len() * 2 / 3]).expect("a trace can be cut");
    }
}
