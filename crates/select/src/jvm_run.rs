//! What happened in one JVM, by test.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use fewest_model::{ClassName, MethodKey, Outcome};
use fewest_trace::{ClassEntry, Event, Jvm, Thing, Trace, Uses};

use crate::uses::{Classes, StaticField};

/// The trace of a JVM, sorted by test.
#[derive(Debug, Default)]
pub struct JvmRun {
    pub jvm: Jvm,
    /// Whether the JVM ended in an orderly way and the trace is whole.
    pub complete: bool,
    /// The tests in the order in which they first began.
    pub tests: Vec<TestRun>,
    /// What they did, in the order in which it began.
    pub(crate) stretches: Vec<Stretch>,
    pub left_out: BTreeSet<ClassName>,
    /// What takes away the proof of every test in this JVM.
    pub doubts: Vec<String>,
    /// What was used while no test was running, before the last had begun.
    pub(crate) ambient: Numbers,
    /// What was used while no test was running any more, as by the JVM's
    /// shutdown hooks.
    pub(crate) closing: Numbers,
    initializers: BTreeMap<ClassName, Initializer>,
    classes: Vec<ClassEntry>,
    by_name: HashMap<ClassName, Vec<usize>>,
    things: HashMap<u32, Thing>,
    /// The place of each window's test in `tests`, and of its method there.
    windows: HashMap<u32, (usize, Option<usize>)>,
    /// The static fields that were watched since their classes were there.
    watched: HashSet<StaticField>,
}

/// One test class in one JVM.
#[derive(Debug)]
pub struct TestRun {
    pub class: ClassName,
    pub outcome: Outcome,
    pub millis: u64,
    /// When its last test had ended, in milliseconds since 1970; when it began
    /// if none has, and after all others if it did not come to its end.
    pub ended_at: u64,
    /// How many tests ended in it.
    pub tests: u32,
    pub doubts: Vec<String>,
    /// What was used after it had ended, while threads lived that it, or a
    /// method of it, had started: by them, or by the tests that ran then.
    pub(crate) late: BTreeMap<Option<usize>, Numbers>,
    /// Its methods in the order in which they first began, where the agent
    /// told them apart.
    pub methods: Vec<MethodRun>,
    /// What all of its methods share came to: set-up and tear-down.
    pub shared_outcome: Outcome,
    /// Whether methods of it ran at the same time.
    pub parallel: bool,
    shared_doubts: Vec<String>,
    /// For each of its windows the static fields that were not as before when
    /// it closed, where that is known.
    left: Vec<Option<BTreeSet<StaticField>>>,
}

/// One method of a test class in one JVM.
#[derive(Debug)]
pub struct MethodRun {
    pub name: Arc<str>,
    pub outcome: Outcome,
    pub millis: u64,
    /// How many tests ended in it.
    pub tests: u32,
    pub(crate) doubts: Vec<String>,
    pub(crate) used: Numbers,
    /// The number of its first window: those that began earlier have lower ones.
    pub(crate) first_window: u32,
}

impl TestRun {
    fn new(class: &ClassName, at: u64) -> Self {
        Self {
            class: class.clone(),
            outcome: Outcome::Passed,
            millis: 0,
            ended_at: at,
            tests: 0,
            doubts: Vec::new(),
            late: BTreeMap::new(),
            methods: Vec::new(),
            shared_outcome: Outcome::Passed,
            parallel: false,
            shared_doubts: Vec::new(),
            left: Vec::new(),
        }
    }

    fn method_index(&mut self, name: &Arc<str>, window: u32) -> usize {
        if let Some(index) = self.methods.iter().position(|known| known.name == *name) {
            return index;
        }
        self.methods.push(MethodRun {
            name: name.clone(),
            outcome: Outcome::Passed,
            millis: 0,
            tests: 0,
            doubts: Vec::new(),
            used: Numbers::default(),
            first_window: window,
        });
        self.methods.len() - 1
    }

    fn add_outcome(&mut self, method: Option<usize>, outcome: Outcome) {
        self.outcome = self.outcome.max(outcome);
        let known = match method {
            Some(method) => &mut self.methods[method].outcome,
            None => &mut self.shared_outcome,
        };
        *known = (*known).max(outcome);
    }

    fn add_doubt(&mut self, method: Option<usize>, doubt: String) {
        self.doubts.push(doubt.clone());
        match method {
            Some(method) => self.methods[method].doubts.push(doubt),
            None => self.shared_doubts.push(doubt),
        }
    }

    /// Why a run of one of its methods proves nothing.
    pub(crate) fn doubts_of<'a>(
        &'a self,
        method: &'a MethodRun,
    ) -> impl Iterator<Item = &'a String> {
        self.shared_doubts.iter().chain(&method.doubts)
    }
}

/// Windows of one test class with none of another class between them.
///
/// JUnit 4 makes all test classes that it is given before it runs the first: what
/// each does then and what it does later are apart, as others run between.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) test: usize,
    pub(crate) first_window: u32,
    pub(crate) used: Numbers,
    /// What of it no method of the test class used alone.
    pub(crate) shared: Numbers,
}

/// The static initializer of a class, which runs once for all tests of a JVM.
#[derive(Debug, Default)]
pub(crate) struct Initializer {
    pub(crate) used: Numbers,
    /// How many stretches of tests had begun when it came to its end.
    pub(crate) stretches_before: usize,
}

/// Numbers of probes and things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) probes: BTreeSet<u32>,
    pub(crate) things: BTreeSet<u32>,
}

impl Numbers {
    fn add(&mut self, uses: &Uses) {
        self.probes.extend(&uses.probes);
        self.things.extend(&uses.things);
    }

    /// Moves everything over from others.
    fn append(&mut self, others: &mut Self) {
        self.probes.append(&mut others.probes);
        self.things.append(&mut others.things);
    }
}

/// Whether a class is Surefire's, and not one that the project has: Surefire's
/// own tests have classes of such names on their class path.
fn is_surefires_own(class: &ClassName, classes: &impl Classes) -> bool {
    class.as_str().starts_with("org/apache/maven/surefire/") && classes.facts(class).is_none()
}

/// A place in code that has a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) class: &'a ClassName,
    pub(crate) method: &'a MethodKey,
    /// `None` for the method's entry.
    pub(crate) block: Option<usize>,
}

/// A window while the trace is read.
struct Window {
    test: usize,
    stretch: usize,
    method: Option<usize>,
    /// When it was opened, in milliseconds since 1970.
    at: u64,
    closed: bool,
    /// An [`Event::Late`] is still due.
    lingers: bool,
}

impl JvmRun {
    pub fn new(trace: Trace) -> Self {
        let mut run = Self {
            complete: trace.is_complete(),
            ..Self::default()
        };
        let mut windows = HashMap::new();
        for event in trace.events {
            run.add(event, &mut windows);
        }
        run.classes.sort_by_key(|class| class.first_probe);
        for (index, class) in run.classes.iter().enumerate() {
            run.by_name
                .entry(class.name.clone())
                .or_default()
                .push(index);
        }
        let latest = run.tests.iter().map(|test| test.ended_at).max();
        for window in windows.into_values() {
            let test = &mut run.tests[window.test];
            if !window.closed {
                test.add_outcome(window.method, Outcome::Unfinished);
                // It was still at work when the last other one had ended.
                test.ended_at = latest.unwrap_or_default().saturating_add(1);
            } else if window.lingers {
                let doubt = "a thread that it left behind was not followed to its end";
                test.add_doubt(window.method, doubt.into());
            }
        }
        run
    }

    fn add(&mut self, event: Event, windows: &mut HashMap<u32, Window>) {
        match event {
            Event::Jvm(jvm) => self.jvm = jvm,
            Event::Class(class) => self.classes.push(class),
            Event::Thing { id, thing } => {
                self.things.insert(id, thing);
            }
            Event::Opened(open) => {
                self.ambient.append(&mut self.closing);
                let at = self.jvm.started_at.saturating_add(open.at);
                let test = self.test_index(&open.class, at);
                let method = open
                    .method
                    .map(|method| self.tests[test].method_index(&method, open.window));
                self.tests[test].parallel |= method.is_some()
                    && windows
                        .values()
                        .any(|other| !other.closed && other.test == test && other.method.is_some());
                if method.is_none() {
                    self.tests[test].left.push(None);
                }
                let stretch = self.stretch_index(test, method, open.window);
                self.windows.insert(open.window, (test, method));
                windows.insert(
                    open.window,
                    Window {
                        test,
                        stretch,
                        method,
                        at,
                        closed: false,
                        lingers: false,
                    },
                );
            }
            Event::Closed(close) => {
                if let Some(window) = windows.get_mut(&close.window) {
                    window.closed = true;
                    window.lingers = close.lingers;
                    let test = &mut self.tests[window.test];
                    test.add_outcome(window.method, close.outcome);
                    let stretch = &mut self.stretches[window.stretch];
                    stretch.used.add(&close.uses);
                    match window.method {
                        Some(method) => test.methods[method].used.add(&close.uses),
                        None => stretch.shared.add(&close.uses),
                    }
                    // The window of a method lies within one of its class.
                    let (millis, tests) = match window.method {
                        Some(method) => {
                            let method = &mut test.methods[method];
                            (&mut method.millis, &mut method.tests)
                        }
                        None => (&mut test.millis, &mut test.tests),
                    };
                    *millis += close.millis;
                    *tests += close.tests;
                    if close.tests > 0 {
                        test.ended_at = window.at.saturating_add(close.millis);
                    }
                }
            }
            Event::Late { window, uses } => {
                if let Some(window) = windows.get_mut(&window) {
                    window.lingers = false;
                    let late = &mut self.tests[window.test].late;
                    late.entry(window.method).or_default().add(&uses);
                }
            }
            Event::Initialized { class, uses } => {
                // A later class of the same name joins the first.
                let name = self.classes.iter().find(|entry| entry.id == class);
                if let Some(name) = name.map(|entry| entry.name.clone()) {
                    let initializer = self.initializers.entry(name).or_default();
                    initializer.used.add(&uses);
                    initializer.stretches_before = self.stretches.len();
                }
            }
            // Their tests' windows hold the same.
            Event::Statement { .. } => {}
            Event::Ambient { uses } => self.closing.add(&uses),
            Event::LeftOut { class } => {
                self.left_out.insert(class);
            }
            Event::Doubt { window: None, why } => self.doubts.push(why),
            Event::Doubt {
                window: Some(window),
                why,
            } => {
                if let Some(window) = windows.get(&window) {
                    self.tests[window.test].add_doubt(window.method, why);
                }
            }
            Event::Watched { class, fields } => {
                let fields = fields.into_iter().map(|name| StaticField {
                    class: class.clone(),
                    name,
                });
                self.watched.extend(fields);
            }
            Event::Left { window, fields } => {
                let fields = fields.into_iter();
                let fields = fields.map(|(class, name)| StaticField { class, name });
                // The window was the only one, so it is the last of its test.
                if let Some((test, None)) = self.windows.get(&window)
                    && let Some(left) = self.tests[*test].left.last_mut()
                {
                    *left = Some(fields.collect());
                }
            }
            Event::End { unseen } => {
                self.doubts.extend(
                    unseen
                        .iter()
                        .map(|class| format!("{} escaped the agent", class.dotted())),
                );
            }
        }
    }

    fn test_index(&mut self, class: &ClassName, at: u64) -> usize {
        if let Some(index) = self.tests.iter().position(|test| test.class == *class) {
            return index;
        }
        self.tests.push(TestRun::new(class, at));
        self.tests.len() - 1
    }

    /// The window of a method lies within one of its class.
    fn stretch_index(&mut self, test: usize, method: Option<usize>, window: u32) -> usize {
        let last = self.stretches.iter().rposition(|known| known.test == test);
        match last {
            Some(last) if method.is_some() || last + 1 == self.stretches.len() => last,
            _ => {
                self.stretches.push(Stretch {
                    test,
                    first_window: window,
                    used: Numbers::default(),
                    shared: Numbers::default(),
                });
                self.stretches.len() - 1
            }
        }
    }

    /// The stretches of a test.
    pub(crate) fn stretches_of(&self, test: usize) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter().filter(move |own| own.test == test)
    }

    /// What runs where a probe is.
    pub(crate) fn place(&self, probe: u32) -> Option<Place<'_>> {
        let after = self
            .classes
            .partition_point(|class| class.first_probe <= probe);
        // Classes without methods share their number with the one after them.
        self.classes[..after]
            .iter()
            .rev()
            .take_while(|class| {
                class.methods.is_empty() || probe < class.first_probe + class.probes()
            })
            .find_map(|class| {
                let (method, block) = class.place(probe)?;
                Some(Place {
                    class: &class.name,
                    method,
                    block,
                })
            })
    }

    /// The static initializers that ran, Surefire's own left out.
    ///
    /// The uses of an initializer are those of all threads while it ran. Surefire
    /// has threads beside those of tests, so that what its initializers would
    /// bring to all tests is what a test happened to do at that time. What they
    /// use themselves counts for whatever is open then, as all uses do.
    pub(crate) fn initializers<'a>(
        &'a self,
        classes: &'a impl Classes,
    ) -> impl Iterator<Item = (&'a ClassName, &'a Initializer)> {
        let all = self.initializers.iter();
        all.filter(|(class, _)| !is_surefires_own(class, classes))
    }

    /// The static initializer of a class, if it ran and counts.
    pub(crate) fn initializer(
        &self,
        class: &ClassName,
        classes: &impl Classes,
    ) -> Option<&Initializer> {
        let initializer = self.initializers.get(class)?;
        (!is_surefires_own(class, classes)).then_some(initializer)
    }

    /// The class and method of a probe.
    pub(crate) fn method(&self, probe: u32) -> Option<(&ClassName, &MethodKey)> {
        self.place(probe).map(|place| (place.class, place.method))
    }

    /// Whether a static field was, whenever the test ended, as it was when the
    /// test began.
    pub(crate) fn is_kept(&self, test: &TestRun, field: &StaticField) -> bool {
        let is_left = |left: &Option<BTreeSet<StaticField>>| {
            left.as_ref().is_none_or(|left| left.contains(field))
        };
        self.watched.contains(field) && !test.left.iter().any(is_left)
    }

    /// The place in [`JvmRun::tests`] of the test that a window belongs to.
    pub fn test_of_window(&self, window: u32) -> Option<usize> {
        self.windows.get(&window).map(|(test, _)| *test)
    }

    /// The place in [`TestRun::methods`] of the method that a window belongs to.
    pub fn method_of_window(&self, window: u32) -> Option<usize> {
        self.windows.get(&window)?.1
    }

    pub(crate) fn thing(&self, id: u32) -> Option<&Thing> {
        self.things.get(&id)
    }

    /// The classes of a name that were loaded: one, but for several loaders.
    pub(crate) fn entries(&self, name: &ClassName) -> impl Iterator<Item = &ClassEntry> {
        self.by_name
            .get(name)
            .into_iter()
            .flatten()
            .map(|&index| &self.classes[index])
    }

    /// Whether a class is one of the tests of this JVM, or nested in one.
    pub(crate) fn is_test(&self, class: &ClassName) -> bool {
        let outermost = class.outermost();
        self.tests.iter().any(|test| test.class == outermost)
    }
}

#[cfg(test)]
mod tests {
    use fewest_trace::{WindowClose, WindowOpen};

    use super::*;

    fn opened(window: u32, class: &str) -> Event {
        let class = ClassName::new(class);
        Event::Opened(WindowOpen {
            window,
            class,
            method: None,
            at: 0,
        })
    }

    fn closed(window: u32, outcome: Outcome, lingers: bool) -> Event {
        Event::Closed(WindowClose {
            window,
            outcome,
            millis: 1,
            tests: 1,
            uses: Uses::default(),
            lingers,
        })
    }

    fn run(events: Vec<Event>) -> JvmRun {
        JvmRun::new(Trace {
            events,
            cut_at: None,
        })
    }

    #[test]
    fn windows_of_one_class_are_one_test_with_the_worst_outcome() {
        let run = run(vec![
            opened(0, "ATest"),
            closed(0, Outcome::Failed, false),
            opened(1, "ATest"),
            closed(1, Outcome::Passed, false),
        ]);
        assert_eq!(run.tests.len(), 1);
        assert_eq!(run.tests[0].outcome, Outcome::Failed);
        assert_eq!(run.test_of_window(1), Some(0));
        assert_eq!(run.test_of_window(2), None);
    }

    #[test]
    fn a_window_that_never_closed_is_unfinished() {
        let run = run(vec![opened(0, "ATest"), opened(1, "BTest")]);
        assert!(
            run.tests
                .iter()
                .all(|test| test.outcome == Outcome::Unfinished)
        );
        assert!(!run.complete);
    }

    #[test]
    fn a_thread_that_was_lost_sight_of_is_a_doubt() {
        let late = Event::Late {
            window: 0,
            uses: Uses::default(),
        };
        let start = vec![opened(0, "ATest"), closed(0, Outcome::Passed, true)];
        assert_eq!(run(start.clone()).tests[0].doubts.len(), 1);
        let followed = start.into_iter().chain([late]).collect();
        assert!(run(followed).tests[0].doubts.is_empty());
    }

    #[test]
    fn a_field_is_kept_if_each_window_of_the_test_says_so() {
        let field = || StaticField {
            class: "p/A".into(),
            name: "field".into(),
        };
        let watched = Event::Watched {
            class: "p/A".into(),
            fields: vec!["field".into()],
        };
        let left = |window, fields: &[StaticField]| Event::Left {
            window,
            fields: fields.iter().cloned().map(|f| (f.class, f.name)).collect(),
        };
        let is_kept = |more: Vec<Event>| {
            let mut events = vec![opened(0, "ATest"), closed(0, Outcome::Passed, false)];
            events.extend(more);
            let run = run(events);
            run.is_kept(&run.tests[0], &field())
        };
        assert!(is_kept(vec![watched.clone(), left(0, &[])]));
        assert!(!is_kept(vec![watched.clone(), left(0, &[field()])]));
        assert!(!is_kept(vec![watched.clone()]));
        assert!(!is_kept(vec![left(0, &[])]));
        let again = opened(1, "ATest");
        assert!(!is_kept(vec![watched, left(0, &[]), again]));
    }

    #[test]
    fn a_class_that_escaped_the_agent_is_a_doubt_about_all() {
        let run = run(vec![Event::End {
            unseen: vec![ClassName::new("p/A")],
        }]);
        assert_eq!(run.doubts, ["p.A escaped the agent"]);
    }
}
