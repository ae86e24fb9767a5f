//! The agent in one JVM: what it does when the JVM calls.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::error::Error;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fewest_classfile::read::ClassFile;
use fewest_model::{ClassName, Outcome};
use fewest_trace::{ClassEntry, Event, Jvm, ParentWindows, Thing};

use crate::ask;
use crate::children::{AgentOption, ChildConfigs, Launch};
use crate::config::Config;
use crate::files::{self, Files, Finding, Surroundings};
use crate::frameworks::{Frameworks, Subject};
use crate::gate;
use crate::hooks::{self, Hook};
use crate::instrument::{self, ClassBlocks, InstrumentError, Probing};
use crate::jvmti::{self, Global, Jni, Jvmti, Local, ProbeArrays, Stack};
use crate::known::{Names, Receivers};
use crate::ledger::Ledger;
use crate::methods::{self, MethodNames};
use crate::output::Output;
use crate::registry::{PROBES_PER_HOLDER, Registry};
use crate::settings;
use crate::threads;

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The agent of this JVM, while it is in working order.
pub(crate) fn current() -> Option<&'static Agent> {
    AGENT
        .get()
        .filter(|agent| !agent.given_up.load(Ordering::Relaxed))
}

/// Makes `agent` the one of this JVM; false if there is one already.
pub(crate) fn install(agent: Agent) -> bool {
    AGENT.set(agent).is_ok()
}

/// Leaves word of a failed start beside the configuration, for `fewest` to
/// find: the user's own output is not ours to write to.
pub(crate) fn leave_note(config: &Path, error: &dyn Error) {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    let _ = std::fs::write(config.with_extension("failed"), text);
}

/// Everything the agent holds. Each lock guards one thing; where two are
/// needed, the ledger's is taken first.
pub(crate) struct Agent {
    config: Config,
    jvmti: Jvmti,
    started: Instant,
    started_at: u64,
    given_up: AtomicBool,
    ledger: Mutex<Ledger>,
    registry: Mutex<Registry>,
    probes: Mutex<ProbeArrays>,
    output: Mutex<Output>,
    receivers: Mutex<Receivers>,
    reflected: Mutex<Names>,
    /// Windows that are open in frameworks' calls, to be closed in reverse.
    calls: Mutex<Vec<OpenCall>>,
    /// Threads that were not started by Java.
    native_threads: Mutex<BTreeSet<u64>>,
    /// Where threads were at the last look, and whether they rested there.
    stacks: Mutex<HashMap<u64, (Stack, bool)>>,
    left_out: OnceLock<HashSet<ClassName>>,
    left_out_methods: OnceLock<MethodNames>,
    /// TestNG's contexts, and whether all of their tests have to run.
    testng_contexts: Mutex<Vec<(Global, bool)>>,
    /// Tests that were counted while a suite of the JUnit Platform ran, which
    /// tells of each twice.
    counted_in_suite: Mutex<HashSet<i32>>,
    /// Set once the JVM is up; before, it reads only for itself.
    files: OnceLock<Mutex<Files>>,
    lost_files: AtomicBool,
    /// Where Java 8 looks for resources of its own.
    jdk_class_paths: OnceLock<Vec<Global>>,
    config_path: PathBuf,
    child_configs: Mutex<ChildConfigs>,
}

/// A framework's call that the agent is inside of.
struct OpenCall {
    hook: Hook,
    thread: u64,
    /// `None` where the call concerns no test of its own.
    class: Option<ClassName>,
    window: Option<u32>,
    /// The window of a method of the class, within the other one.
    method_window: Option<u32>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under a lock makes the agent give up, so what it left behind is
    // looked at no more than needed to end in order.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Agent {
    pub(crate) fn new(config: Config, config_path: &Path, jvmti: Jvmti) -> Self {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            config,
            jvmti,
            started: Instant::now(),
            started_at: since_1970.as_millis() as u64,
            given_up: AtomicBool::new(false),
            ledger: Mutex::default(),
            registry: Mutex::default(),
            probes: Mutex::default(),
            output: Mutex::default(),
            receivers: Mutex::default(),
            reflected: Mutex::default(),
            calls: Mutex::default(),
            native_threads: Mutex::default(),
            stacks: Mutex::default(),
            left_out: OnceLock::new(),
            left_out_methods: OnceLock::new(),
            testng_contexts: Mutex::default(),
            counted_in_suite: Mutex::default(),
            files: OnceLock::new(),
            lost_files: AtomicBool::new(false),
            jdk_class_paths: OnceLock::new(),
            config_path: config_path.to_owned(),
            child_configs: Mutex::default(),
        }
    }

    pub(crate) fn jvmti(&self) -> Jvmti {
        self.jvmti
    }

    /// After a panic: says so in the trace and does nothing more.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
        let why = "the agent failed inside the JVM".to_owned();
        lock(&self.output).write(vec![Event::Doubt { window: None, why }]);
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// The JVM can define classes: the holders come before any class that
    /// needs them, and before other agents load theirs.
    pub(crate) fn vm_started(&self, jni: Jni<'_>) {
        let gate = jni.define_boot_class(gate::GATE, &gate::gate_class());
        if let Some(gate) = gate {
            *lock(&self.receivers) = Receivers::of_gate(jni, gate);
            *lock(&self.reflected) = Names::of_gate(jni, gate);
        }
        if gate.is_none() || !lock(&self.probes).define(jni, 2) {
            self.doubt("the classes that probes write to could not be defined");
            self.given_up.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn vm_initialized(&self, jni: Jni<'_>) {
        if self.config.things {
            let is_java_8 = self
                .jvmti
                .loaded_class(jni, "sun/misc/URLClassPath")
                .is_some();
            // Looking for a class that is not there would go through all of the
            // class path, before its entries can be listened for.
            let of_others = if is_java_8 { "jdk/" } else { "sun/misc/" };
            let classes: Vec<Local<'_>> = hooks::JDK_CLASSES
                .iter()
                .filter(|name| **name != hooks::VIRTUAL_THREAD && !name.starts_with(of_others))
                .filter_map(|name| jni.find_class(name))
                .chain(self.jvmti.loaded_class(jni, hooks::VIRTUAL_THREAD))
                .collect();
            if is_java_8 {
                let _ = self.jdk_class_paths.set(jdk_class_paths(jni));
            }
            if !self.jvmti.retransform(&classes) {
                self.doubt("the JDK's classes for reflection could not be listened to");
            }
            let _ = self.files.set(Mutex::new(Files::new(self.surroundings())));
        }
        if self.config.parent.is_some() {
            self.begin_trace();
        }
    }

    pub(crate) fn vm_dies(&self, jni: Jni<'_>) {
        let unseen = self.unseen_classes(jni);
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        ledger.end(unseen);
        self.write(&mut ledger);
    }

    /// Loaded classes that should have passed the load hook and did not.
    fn unseen_classes(&self, jni: Jni<'_>) -> Vec<ClassName> {
        if !lock(&self.output).is_open() {
            return Vec::new();
        }
        let loaded = self.jvmti.loaded_classes(jni);
        let registry = lock(&self.registry);
        loaded
            .into_iter()
            .filter(|name| !is_jdk_class(name))
            .map(ClassName::new)
            .filter(|name| !registry.knows(name))
            .collect()
    }

    /// A class of the boot loader: left alone, but for the few of the JDK that
    /// tell about reflection and resources.
    pub(crate) fn boot_class_loads(&self, bytes: &[u8], again: bool) -> Option<Vec<u8>> {
        if !again || !self.config.things {
            return None;
        }
        let class = ClassFile::read(bytes).ok()?;
        if !hooks::JDK_CLASSES.contains(&class.name().as_str()) {
            return None;
        }
        let keys = instrument::method_keys(&class).ok()?;
        instrument::instrument_jdk(&class, &keys).ok()
    }

    /// A class of any other loader: the one that gets probes.
    pub(crate) fn class_loads(&self, jni: Jni<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        match self.rewrite(jni, bytes) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                self.doubt(&format!("a class could not be rewritten: {error}"));
                None
            }
        }
    }

    fn rewrite(&self, jni: Jni<'_>, bytes: &[u8]) -> Result<Option<Vec<u8>>, InstrumentError> {
        let class = ClassFile::read(bytes)?;
        let name = class.name();
        if is_jdk_class(name.as_str()) || class.is_module() {
            return Ok(None);
        }
        let methods = instrument::method_keys(&class)?;
        let mut blocks = if self.config.blocks {
            ClassBlocks::of(&class)?
        } else {
            ClassBlocks::default()
        };
        let numbers = lock(&self.registry).numbers(&name, &methods, &blocks.methods);
        let probes = lock(&self.registry).probes();
        self.define_holders(jni, probes);
        let statements = if self.config.statements {
            lock(&self.registry).number_statements(&instrument::test_statements(&class, &methods))
        } else {
            Vec::new()
        };
        let probing = Probing {
            statements: &statements,
            numbers,
            things: self.config.things,
            receivers: self.config.receivers,
            methods: self.config.methods,
        };
        let instrumented = instrument::instrument(&class, &methods, probing, &mut blocks)?;
        let mut supertypes = class.interface_names()?;
        supertypes.extend(class.super_name());
        lock(&self.registry).add_entry(ClassEntry {
            id: numbers.class,
            name: name.clone(),
            first_probe: numbers.first_probe,
            methods,
            supertypes,
            blind: instrumented.blind,
            blocks: blocks.methods,
            statements,
        });
        lock(&self.ledger).add_thing(Thing::Defined(name));
        Ok(Some(instrumented.bytes))
    }

    /// Keeps one holder ahead of the numbers given out.
    fn define_holders(&self, jni: Jni<'_>, probes: u32) {
        let needed = probes.div_ceil(PROBES_PER_HOLDER) + 1;
        let mut arrays = lock(&self.probes);
        if arrays.count() < needed && !arrays.define(jni, needed) {
            drop(arrays);
            self.doubt("a class that probes write to could not be defined");
        }
    }

    fn doubt(&self, why: &str) {
        let mut ledger = lock(&self.ledger);
        ledger.doubt(why);
        self.write(&mut ledger);
    }

    /// Adds the probes that were hit since the last time.
    fn add_hits(&self, jni: Jni<'_>, ledger: &mut Ledger) {
        if let Some(files) = self.files.get() {
            let held_back = lock(files).take_held_back();
            held_back.for_each(|thing| ledger.add_thing(thing));
        }
        if self.config.receivers {
            let slots = lock(&self.registry).slots();
            if !lock(&self.receivers).forget(jni, slots) {
                ledger.doubt("which objects methods run on could not be told");
            }
        }
        if !lock(&self.reflected).forget(jni) {
            ledger.doubt("whose members are looked at could not be told");
        }
        // A probe has its number before the first thread can hit it.
        let end = lock(&self.registry).probes();
        match lock(&self.probes).drain(jni, end) {
            Some(hits) => ledger.add_probes(&hits),
            None => ledger.doubt("the probes could not be read"),
        }
    }

    /// Hands everything that has happened to the trace. Classes go first, so
    /// that numbers are known before they are used.
    fn write(&self, ledger: &mut Ledger) {
        let mut events = lock(&self.registry).take_events();
        events.extend(ledger.take_events());
        lock(&self.output).write(events);
    }

    /// A method ran on an object of a class that it was not yet known for.
    pub(crate) fn received(&self, jni: Jni<'_>, class: Local<'_>, slot: u32) {
        let (slots, probe) = {
            let registry = lock(&self.registry);
            (registry.slots(), registry.probe_of_slot(slot))
        };
        lock(&self.receivers).remember(jni, slots);
        let Some(probe) = probe else {
            return self.doubt("which objects methods run on could not be told");
        };
        let classes = self.named_classes(jni, class);
        let mut ledger = lock(&self.ledger);
        for class in classes {
            ledger.add_thing(Thing::Receiver { class, probe });
        }
    }

    /// A class by its name, or a nameless one by what it extends and
    /// implements: classes of lambdas have no file that could change.
    fn named_classes(&self, jni: Jni<'_>, class: Local<'_>) -> Vec<ClassName> {
        match self.jvmti.class_name(class) {
            Some(name) => vec![ClassName::new(name)],
            None => jni
                .superclass(class)
                .into_iter()
                .chain(self.jvmti.interfaces(jni, class))
                .filter_map(|supertype| self.jvmti.class_name(supertype))
                .map(ClassName::new)
                .collect(),
        }
    }

    /// A statement of a test method begins, and the one before it has ended.
    pub(crate) fn statement_begins(&self, jni: Jni<'_>, statement: u32) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        ledger.begin_statement(statement);
    }

    pub(crate) fn initializer_begins(&self, jni: Jni<'_>, class: u32) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        ledger.begin_initializer(class);
    }

    pub(crate) fn initializer_ends(&self, jni: Jni<'_>, class: u32) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        ledger.end_initializer(class);
    }

    /// A thread begins. Where nobody in Java has started it, the JVM or a
    /// native library has.
    pub(crate) fn thread_begins(&self, jni: Jni<'_>, thread: Local<'_>) {
        let Some(number) = jni.thread_number(thread) else {
            return;
        };
        if self.config.things && !lock(&self.ledger).knows_thread(number) {
            lock(&self.native_threads).insert(number);
        }
        self.thread_started(jni, thread);
    }

    /// A thread begins, or will do so soon: what it does counts for the tests
    /// that run when somebody starts it.
    pub(crate) fn thread_started(&self, jni: Jni<'_>, thread: Local<'_>) {
        let class = jni
            .class_of(thread)
            .and_then(|class| self.jvmti.class_name(class));
        // The platform's workers run other tests when theirs are done; their
        // windows are told apart without them.
        if class.is_some_and(|class| class.starts_with("org/junit/platform/")) {
            return;
        }
        if let Some(number) = jni.thread_number(thread) {
            lock(&self.ledger).thread_started(number);
        }
    }

    pub(crate) fn thread_ended(&self, jni: Jni<'_>, thread: Local<'_>) {
        let Some(number) = jni.thread_number(thread) else {
            return;
        };
        lock(&self.native_threads).remove(&number);
        lock(&self.stacks).remove(&number);
        let mut ledger = lock(&self.ledger);
        let lingering = ledger.is_lingering();
        if lingering {
            self.add_hits(jni, &mut ledger);
        }
        ledger.thread_ended(number);
        if lingering {
            self.write(&mut ledger);
        }
    }

    /// The number of the calling thread.
    fn this_thread(&self, jni: Jni<'_>) -> u64 {
        let thread = self.jvmti.current_thread(jni);
        let number = thread.and_then(|thread| jni.thread_number(thread));
        if let Some(thread) = thread {
            jni.release(thread);
        }
        // Java numbers its threads from one.
        number.unwrap_or(0)
    }

    /// Looks which threads of pools have nothing to do.
    fn look_at_threads(&self, jni: Jni<'_>) {
        // With so many, looking at each would cost more than it tells.
        const MOST: usize = 500;
        let known = lock(&self.ledger).threads();
        if known.is_empty() || known.len() > MOST {
            return;
        }
        let native = lock(&self.native_threads).clone();
        let mut resting = BTreeSet::new();
        for thread in self.jvmti.threads(jni) {
            if let Some(number) = jni.thread_number(thread)
                && known.contains(&number)
            {
                let stack = self.jvmti.stack(thread);
                // A thread of Java that has no frames is yet to begin.
                let in_java = !stack.is_empty() || !native.contains(&number);
                if !in_java || self.is_resting(jni, number, stack) {
                    resting.insert(number);
                }
            }
            jni.release(thread);
        }
        let mut ledger = lock(&self.ledger);
        if ledger.is_news(&resting) {
            self.add_hits(jni, &mut ledger);
            ledger.threads_rest(&resting);
        }
    }

    /// Whether a thread with this stack waits for something to do. Most threads
    /// are where they were at the last look, and names need not be asked for.
    fn is_resting(&self, jni: Jni<'_>, thread: u64, stack: Stack) -> bool {
        if let Some((_, resting)) = lock(&self.stacks)
            .get(&thread)
            .filter(|(last, _)| *last == stack)
        {
            return *resting;
        }
        let resting = threads::is_resting(&self.jvmti.frames(jni, &stack));
        lock(&self.stacks).insert(thread, (stack, resting));
        resting
    }

    /// A framework is about to run something. Returns whether to leave it out.
    pub(crate) fn enter(
        &self,
        jni: Jni<'_>,
        object: Option<Local<'_>>,
        listener: Option<Local<'_>>,
        hook: i32,
    ) -> bool {
        let Some(hook) = Hook::from_number(hook) else {
            return false;
        };
        if hook == Hook::LoaderOpens {
            files::loader_opens();
            return false;
        }
        if hook == Hook::TestNgGroups {
            self.shared(jni, Ledger::begin_shared);
            return false;
        }
        let frameworks = Frameworks {
            jni,
            jvmti: self.jvmti,
        };
        let thread = self.this_thread(jni);
        let mut subject = object
            .and_then(|object| frameworks.subject(hook, object))
            .filter(|subject| self.is_class(subject));
        if let Some(found) = &subject
            && (hook.may_leave_out() || hook == Hook::TestNgWorker)
            && self.leaves_out(frameworks, hook, found, listener)
        {
            if hook.may_leave_out() {
                self.note_left_out(&found.class, thread);
                if let Some(object) = object {
                    frameworks.tell_left_out(hook, object, listener);
                }
                return true;
            }
            subject = None;
        }
        let method = match (&subject, object) {
            (Some(_), Some(object)) if self.config.methods => frameworks.method(hook, object),
            _ => None,
        };
        if let (Some(found), Some(object), Some(method)) = (&subject, object, &method)
            && self.leaves_out_method(frameworks, hook, &found.class, method, listener)
        {
            let around = self.windows_around(thread, Some(&found.class));
            let mut ledger = lock(&self.ledger);
            ledger.leave_out_part(&found.class, &around);
            self.write(&mut ledger);
            drop(ledger);
            methods::telling(|| frameworks.tell_left_out(hook, object, listener));
            return true;
        }
        let class = subject.as_ref().map(|subject| subject.class.clone());
        let window = subject.map(|subject| self.open_window(jni, subject, hook, thread));
        let method_window = match (&class, method) {
            (Some(class), Some(method)) => Some(self.open_method(jni, class, &method)),
            _ => None,
        };
        lock(&self.calls).push(OpenCall {
            hook,
            thread,
            class,
            window,
            method_window,
        });
        false
    }

    /// Whether a test method need not run.
    fn leaves_out_method(
        &self,
        frameworks: Frameworks<'_>,
        hook: Hook,
        class: &ClassName,
        method: &str,
        listener: Option<Local<'_>>,
    ) -> bool {
        // A JVM that a test has started is a part of the test.
        if self.config.parent.is_some() {
            return false;
        }
        let left_out = self
            .left_out_methods
            .get_or_init(|| ask::methods_to_leave_out(&self.task_folder()));
        left_out.contains(class, method) && !self.testng_needs_all(frameworks, hook, listener)
    }

    fn open_method(&self, jni: Jni<'_>, class: &ClassName, method: &str) -> u32 {
        let mut ledger = lock(&self.ledger);
        if let Some(window) = ledger.join(class, Some(method)) {
            return window;
        }
        self.add_hits(jni, &mut ledger);
        let window = ledger.open(class.clone(), Some(method.into()), self.now());
        self.write(&mut ledger);
        window
    }

    /// Runners may describe themselves by names that are no classes.
    fn is_class(&self, subject: &Subject) -> bool {
        lock(&self.registry).knows(&subject.named)
    }

    /// Begins or ends what several tests share.
    fn shared(&self, jni: Jni<'_>, change: fn(&mut Ledger)) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        change(&mut ledger);
    }

    fn open_window(&self, jni: Jni<'_>, subject: Subject, hook: Hook, thread: u64) -> u32 {
        let around = self.windows_around(thread, Some(&subject.class));
        self.begin_trace();
        let mut ledger = lock(&self.ledger);
        if hook == Hook::RunnerBuild {
            ledger.add_part(&subject.class, &around);
        }
        if around.is_empty() {
            ledger.thread_runs_tests(thread);
        }
        if let Some(window) = ledger.join(&subject.class, None) {
            return window;
        }
        if ledger.is_lingering() {
            drop(ledger);
            self.look_at_threads(jni);
            ledger = lock(&self.ledger);
        }
        self.add_hits(jni, &mut ledger);
        let window = ledger.open(subject.class, None, self.now());
        self.write(&mut ledger);
        window
    }

    /// The windows that a thread is in, the innermost last: those of `class`,
    /// and those that what runs inside of them is a part of.
    fn windows_around(&self, thread: u64, class: Option<&ClassName>) -> Vec<u32> {
        lock(&self.calls)
            .iter()
            .filter(|call| call.thread == thread)
            .filter(|call| call.hook.encloses() || call.class.as_ref() == class)
            .filter_map(|call| call.window)
            .collect()
    }

    /// Whether a thread is inside of a JUnit 4 runner.
    fn is_in_runner(&self, thread: u64) -> bool {
        lock(&self.calls)
            .iter()
            .any(|call| call.thread == thread && call.hook == Hook::RunnerRun)
    }

    pub(crate) fn exit(&self, jni: Jni<'_>, number: i32) {
        let (hook, thrown) = Hook::way_out(number);
        if hook == Hook::LoaderOpens as i32 {
            return files::loader_has_opened();
        }
        if hook == Hook::TestNgGroups as i32 {
            return self.shared(jni, Ledger::end_shared);
        }
        let thread = self.this_thread(jni);
        let call = {
            let mut calls = lock(&self.calls);
            let own = |call: &OpenCall| call.hook as i32 == hook && call.thread == thread;
            calls.iter().rposition(own).map(|at| calls.remove(at))
        };
        let Some(call) = call else { return };
        let windows = call.method_window.into_iter().chain(call.window);
        for window in windows {
            self.leave_window(jni, window, thrown);
        }
    }

    fn leave_window(&self, jni: Jni<'_>, window: u32, thrown: bool) {
        if thrown {
            // Frameworks catch what tests throw. What they let through, as
            // when memory runs out, ends the test without a word about it.
            lock(&self.ledger).add_outcome(None, &[window], Outcome::Unfinished);
        }
        if lock(&self.ledger).is_last_call(window) {
            self.look_at_threads(jni);
        }
        let mut ledger = lock(&self.ledger);
        if ledger.leave(window) {
            return;
        }
        self.add_hits(jni, &mut ledger);
        ledger.close(window, self.now());
        self.write(&mut ledger);
    }

    /// Something has happened that is worth a note.
    pub(crate) fn note(
        &self,
        jni: Jni<'_>,
        first: Option<Local<'_>>,
        second: Option<Local<'_>>,
        hook: i32,
    ) {
        match Hook::from_number(hook) {
            Some(Hook::Variable) => return self.variable_read(jni, first),
            Some(Hook::Property) => return self.property_read(jni, first),
            _ => {}
        }
        let Some(first) = first else { return };
        let frameworks = Frameworks {
            jni,
            jvmti: self.jvmti,
        };
        if let status @ 0..28 = hook - Hook::TestNgStatus as i32 {
            return self.testng_status(frameworks, first, status);
        }
        match Hook::from_number(hook) {
            Some(Hook::Reflected) => self.class_reflected(first),
            Some(Hook::Resource) => self.resource_asked(jni, first, second),
            Some(Hook::Named) => self.class_named(jni, first),
            Some(Hook::ThreadStarts) => self.thread_started(jni, first),
            Some(Hook::ClassPathEntry) => self.class_path_grows(jni, first, second),
            Some(Hook::JUnit4Finished) => self.count_test(jni, frameworks.junit4(first)),
            Some(Hook::JUnit4Failure) => {
                self.outcome(jni, frameworks.junit4_failure(first), Outcome::Failed);
            }
            Some(Hook::JUnit4Assumption) => {
                self.outcome(jni, frameworks.junit4_failure(first), Outcome::Skipped);
            }
            Some(Hook::JUnit4Ignored | Hook::PlatformSkipped) if methods::is_telling() => {}
            Some(Hook::JUnit4Ignored) => self.junit4_ignored(frameworks, first),
            // JUnit 4 tells of these too, if it runs them.
            Some(Hook::JUnit3Finished) if !self.is_in_runner(self.this_thread(jni)) => {
                self.count_test(jni, frameworks.junit3(first));
            }
            Some(Hook::JUnit3Problem) => {
                self.outcome(jni, frameworks.junit3(first), Outcome::Failed);
            }
            Some(Hook::PlatformSkipped) => self.ignored(jni, frameworks.platform(first)),
            Some(Hook::TestNgPassed) => self.count_test(jni, frameworks.testng_result(first)),
            Some(Hook::TestNgFailed) => self.testng_ended(frameworks, first, Outcome::Failed),
            Some(Hook::TestNgSkipped) => self.testng_ended(frameworks, first, Outcome::Skipped),
            Some(Hook::TestNgFlaky) => self.testng_ended(frameworks, first, Outcome::Flaky),
            Some(Hook::PlatformFinished) => self.platform_finished(frameworks, first, second),
            _ => {}
        }
    }

    fn platform_finished(
        &self,
        frameworks: Frameworks<'_>,
        descriptor: Local<'_>,
        result: Option<Local<'_>>,
    ) {
        let jni = frameworks.jni;
        let subject = frameworks.platform(descriptor);
        if frameworks.is_platform_test(descriptor)
            && !self.is_in_runner(self.this_thread(jni))
            && !self.is_counted(frameworks, descriptor)
        {
            self.count_test(jni, subject.clone());
        }
        let status = result.and_then(|result| frameworks.platform_status(result));
        match status.as_deref() {
            Some("SUCCESSFUL") => {}
            Some("ABORTED") => self.outcome(jni, subject, Outcome::Skipped),
            _ => self.outcome(jni, subject, Outcome::Failed),
        }
    }

    /// Whether a suite has told of this test before.
    fn is_counted(&self, frameworks: Frameworks<'_>, descriptor: Local<'_>) -> bool {
        let in_suite = lock(&self.calls)
            .iter()
            .any(|call| call.hook == Hook::PlatformSuite);
        // The hash code of a descriptor is that of its name.
        in_suite && !lock(&self.counted_in_suite).insert(frameworks.jni.hash_code(descriptor))
    }

    fn junit4_ignored(&self, frameworks: Frameworks<'_>, description: Local<'_>) {
        let subject = frameworks.junit4(description);
        if self.config.methods
            && let Some(subject) = &subject
            && let Some(method) = frameworks.method(Hook::JUnit4Leaf, description)
            && !self.is_left_out(&subject.class)
        {
            let hook = Hook::JUnit4Leaf;
            if self.leaves_out_method(frameworks, hook, &subject.class, &method, None) {
                return;
            }
            let mut ledger = lock(&self.ledger);
            ledger.add_method_that_is_off(subject.class.clone(), method.into(), self.now());
            self.write(&mut ledger);
        }
        self.ignored(frameworks.jni, subject);
    }

    /// A test, or a class, was switched off.
    fn ignored(&self, jni: Jni<'_>, subject: Option<Subject>) {
        // Frameworks are told the same of what is left out.
        let own = subject.as_ref().map(|subject| &subject.class);
        if !own.is_some_and(|class| self.is_left_out(class)) {
            // What decides that a test is switched off, an annotation or the
            // code of a condition, is used within the window like anything
            // else, so that it is off is as well proven as a pass.
            self.count_test(jni, subject);
        }
    }

    fn testng_ended(&self, frameworks: Frameworks<'_>, result: Local<'_>, outcome: Outcome) {
        let subject = frameworks.testng_result(result);
        self.count_test(frameworks.jni, subject.clone());
        self.outcome(frameworks.jni, subject, outcome);
    }

    /// Of set-up and tear-down TestNG tells only so. `ITestResult`: 2 is
    /// failure, 3 skip.
    fn testng_status(&self, frameworks: Frameworks<'_>, result: Local<'_>, status: i32) {
        let outcome = match status {
            2 => Outcome::Failed,
            3 => Outcome::Skipped,
            _ => return,
        };
        if !frameworks.is_testng_test(result) {
            self.outcome(frameworks.jni, frameworks.testng_result(result), outcome);
        }
    }

    fn count_test(&self, jni: Jni<'_>, subject: Option<Subject>) {
        let class = subject.map(|subject| subject.class);
        let around = self.windows_around(self.this_thread(jni), class.as_ref());
        lock(&self.ledger).count_test(class.as_ref(), &around);
    }

    fn outcome(&self, jni: Jni<'_>, subject: Option<Subject>, outcome: Outcome) {
        let known = subject
            .as_ref()
            .is_some_and(|subject| self.is_class(subject));
        let class = subject.map(|subject| subject.class);
        let around = self.windows_around(self.this_thread(jni), class.as_ref());
        let mut ledger = lock(&self.ledger);
        match class {
            Some(class) if known && around.is_empty() && !ledger.has_window(&class) => {
                ledger.add_stray_outcome(class, outcome, self.now());
            }
            None if outcome == Outcome::Failed && ledger.open_windows().is_empty() => {
                ledger.doubt("something failed outside of all test classes");
            }
            class => ledger.add_outcome(class.as_ref(), &around, outcome),
        }
    }

    fn class_reflected(&self, class: Local<'_>) {
        if let Some(name) = self.jvmti.class_name(class)
            && !is_jdk_class(&name)
        {
            lock(&self.reflected).remember();
            lock(&self.ledger).add_thing(Thing::Reflected(ClassName::new(name)));
        }
    }

    fn class_named(&self, jni: Jni<'_>, name: Local<'_>) {
        if let Some(name) = jni.string(name)
            && !name.starts_with('[')
        {
            lock(&self.ledger).add_thing(Thing::Named(ClassName::from_dotted(&name)));
        }
    }

    fn resource_asked(&self, jni: Jni<'_>, name: Local<'_>, path: Option<Local<'_>>) {
        if path.is_some_and(|path| self.is_of_jdk(jni, path)) {
            return;
        }
        let Some(name) = jni.string(name) else { return };
        let thing = match name.strip_suffix(".class") {
            // Class loading asks for every class by its file. Where the class
            // is there, the use of it tells more; where it is not, that counts.
            Some(class) => Thing::Named(ClassName::new(class)),
            None => Thing::Resource(name.into()),
        };
        lock(&self.ledger).add_thing(thing);
    }

    /// Whether a class path holds only what belongs to the JDK. What is looked
    /// for there and not found is looked for in the application's next, unless
    /// only the JDK was asked.
    fn is_of_jdk(&self, jni: Jni<'_>, path: Local<'_>) -> bool {
        let paths = self.jdk_class_paths.get().into_iter().flatten();
        paths
            .filter_map(|own| own.as_local(jni))
            .any(|own| jni.is_same(own, path))
    }

    /// Whether a test class need not run.
    fn leaves_out(
        &self,
        frameworks: Frameworks<'_>,
        hook: Hook,
        subject: &Subject,
        listener: Option<Local<'_>>,
    ) -> bool {
        let Some(program) = &self.config.program else {
            return false;
        };
        let left_out = self.left_out.get_or_init(|| {
            self.begin_trace();
            ask::classes_to_leave_out(program, &self.task_folder(), &self.jvm())
        });
        left_out.contains(&subject.class) && !self.testng_needs_all(frameworks, hook, listener)
    }

    /// Whether a class was left out of this run.
    fn is_left_out(&self, class: &ClassName) -> bool {
        self.left_out
            .get()
            .is_some_and(|left_out| left_out.contains(class))
    }

    /// TestNG does not run a test whose groups and methods it depends upon have
    /// not run. Where tests depend on those of other classes, all have to run.
    fn testng_needs_all(
        &self,
        frameworks: Frameworks<'_>,
        hook: Hook,
        worker: Option<Local<'_>>,
    ) -> bool {
        if !matches!(
            hook,
            Hook::TestNgWorker | Hook::TestNgClass | Hook::TestNgMethod
        ) {
            return false;
        }
        let jni = frameworks.jni;
        let Some(context) = worker.and_then(|worker| frameworks.testng_context(worker)) else {
            return true;
        };
        let mut contexts = lock(&self.testng_contexts);
        for (known, needs_all) in contexts.iter() {
            if known
                .as_local(jni)
                .is_some_and(|known| jni.is_same(known, context))
            {
                return *needs_all;
            }
        }
        let needs_all = frameworks.testng_depends_across_classes(context);
        contexts.extend(jni.global(context).map(|context| (context, needs_all)));
        needs_all
    }

    fn note_left_out(&self, class: &ClassName, thread: u64) {
        let around = self.windows_around(thread, Some(class));
        let mut ledger = lock(&self.ledger);
        ledger.leave_out(class, &around);
        self.write(&mut ledger);
    }

    /// Where this JVM's files go.
    fn task_folder(&self) -> PathBuf {
        match self.config.program {
            Some(_) => self.config.folder.join(self.own_name()),
            None => self.config.folder.clone(),
        }
    }

    /// A name that no other JVM of this run has.
    fn own_name(&self) -> String {
        format!("jvm-{}-{}", std::process::id(), self.started_at)
    }

    fn jvm(&self) -> Jvm {
        let property = |name| self.jvmti.system_property(name).unwrap_or_default();
        let directory = std::env::current_dir().unwrap_or_default();
        let class_path = property("java.class.path");
        Jvm {
            pid: std::process::id(),
            started_at: self.started_at,
            java_home: property("java.home"),
            java_version: property("java.vm.version"),
            class_path: class_path
                .split(':')
                .filter(|entry| !entry.is_empty())
                .map(|entry| directory.join(entry).to_string_lossy().into_owned())
                .collect(),
            working_directory: directory.to_string_lossy().into_owned(),
            parent: self.config.parent.clone(),
            receivers: self.config.receivers,
            blocks: self.config.blocks,
        }
    }

    /// Opens the trace, if it is not open yet.
    fn begin_trace(&self) {
        let mut output = lock(&self.output);
        if output.is_open() {
            return;
        }
        let folder = self.task_folder().join("traces");
        let name = format!("{}.trace", self.own_name());
        // Where it fails there is no trace, and the tests run again next time.
        let _ = output.open(&folder, &name, &Event::Jvm(self.jvm()));
    }
}

/// What the JVM has to do with outside of itself: settings, files, programs.
impl Agent {
    fn variable_read(&self, jni: Jni<'_>, name: Option<Local<'_>>) {
        let name = setting_name(jni, name);
        lock(&self.ledger).add_thing(Thing::Variable(name.into()));
    }

    fn property_read(&self, jni: Jni<'_>, name: Option<Local<'_>>) {
        let name = setting_name(jni, name);
        if !settings::is_given_by_the_jdk(&name) {
            lock(&self.ledger).add_thing(Thing::Property(name.into()));
        }
    }

    fn surroundings(&self) -> Surroundings {
        let jvm = self.jvm();
        let mut ignored = files::folders_of_jdk(Path::new(&jvm.java_home));
        ignored.extend(["/proc", "/sys", "/dev"].map(Into::into));
        let own = self.config.folder.as_os_str().as_encoded_bytes();
        ignored.push(own.to_vec());
        ignored.extend(jvmti::own_library());
        Surroundings {
            working_directory: jvm.working_directory.into_bytes(),
            ignored,
            class_path: jvm.class_path.into_iter().map(String::into_bytes).collect(),
            command_line: ask::command_line()
                .unwrap_or_default()
                .into_iter()
                .map(String::into_bytes)
                .collect(),
        }
    }

    /// A loader's class path has another entry. Only the application's loader
    /// finds what the class path of a record holds; what other loaders read
    /// counts as files.
    fn class_path_grows(&self, jni: Jni<'_>, path: Local<'_>, url: Option<Local<'_>>) {
        let (Some(files), Some(url)) = (self.files.get(), url) else {
            return;
        };
        if !application_class_path(jni).is_some_and(|own| jni.is_same(own, path)) {
            return;
        }
        let entry = jni
            .call(url, c"getPath", c"()Ljava/lang/String;")
            .and_then(|path| jni.string(path))
            .and_then(|path| files::path_of_url(&path));
        if let Some(entry) = entry {
            lock(files).add_to_class_path(&entry);
        }
    }

    pub(crate) fn watches_files(&self) -> bool {
        self.files.get().is_some()
    }

    pub(crate) fn file_looked_at(&self, path: &[u8]) {
        self.add_finding(|files| files.look(path, files::is_loader_opening()));
    }

    pub(crate) fn file_opened(&self, path: &[u8]) {
        self.add_finding(|files| files.open(path, files::is_loader_opening()));
    }

    pub(crate) fn directory_listed(&self, path: &[u8]) {
        self.add_finding(|files| files.list(path));
    }

    /// A path was made canonical: where links are on the way, their targets
    /// matter.
    pub(crate) fn links_resolved(&self, path: &[u8]) {
        self.add_finding(|files| files.resolve(path));
    }

    pub(crate) fn file_made(&self, path: &[u8]) {
        if let Some(files) = self.files.get() {
            lock(files).made(path);
        }
    }

    pub(crate) fn link_made(&self, link: &[u8], target: &[u8]) {
        if let Some(files) = self.files.get() {
            lock(files).linked(link, target);
        }
    }

    /// The lock on files is given back before the ledger's is taken.
    fn add_finding(&self, find: impl FnOnce(&mut Files) -> Option<Finding>) {
        let Some(files) = self.files.get() else {
            return;
        };
        let (finding, full) = {
            let mut files = lock(files);
            (find(&mut files), files.is_full())
        };
        if full && self.is_dormant() {
            // A build tool may go through a whole disk before it runs a test
            // in its own JVM, which then proves nothing.
            if !self.lost_files.swap(true, Ordering::Relaxed) {
                self.doubt("too many files were read before the first test");
            }
            return;
        }
        match finding {
            Some(Finding::Use(thing)) => lock(&self.ledger).add_thing(thing),
            Some(Finding::UseInTest(thing)) => {
                let mut ledger = lock(&self.ledger);
                if !ledger.open_windows().is_empty() {
                    ledger.add_thing(thing);
                }
            }
            None => {}
        }
    }

    /// A program is about to be started. Returns how to start it instead.
    pub(crate) fn program_starts(&self, launch: &Launch) -> Option<Launch> {
        if !launch.is_java() {
            self.program_used(launch);
            return None;
        }
        let own_environment: Vec<Vec<u8>> = std::env::vars_os()
            .map(|(name, value)| [name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat())
            .collect();
        let option = jvmti::own_library().and_then(|library| AgentOption::new(&library));
        let Some(option) = option else {
            self.program_missed();
            return None;
        };
        if self.is_dormant() {
            // Not a test's JVM but, say, a build tool's: whatever it starts may
            // be the JVM with the tests.
            return (!launch.has_agent(&option, &own_environment))
                .then(|| launch.with_agent(&option, &self.config_path, &own_environment));
        }
        let Some(path) = self.child_config() else {
            self.program_missed();
            return None;
        };
        Some(launch.with_agent(&option, &path, &own_environment))
    }

    /// Whether no test has begun in this JVM, and none has started it.
    fn is_dormant(&self) -> bool {
        self.config.parent.is_none() && !lock(&self.output).is_open()
    }

    /// The configuration for a JVM that a test starts. A JVM that a child
    /// starts belongs to the same windows as the child.
    fn child_config(&self) -> Option<PathBuf> {
        let parent = match &self.config.parent {
            Some(parent) => parent.clone(),
            None => ParentWindows {
                trace: lock(&self.output).file_name()?,
                windows: lock(&self.ledger).working_windows(),
            },
        };
        if parent.windows.is_empty() {
            return None;
        }
        let folder = self.task_folder();
        let config = Config {
            folder: folder.clone(),
            program: None,
            parent: Some(parent),
            ..self.config.clone()
        };
        lock(&self.child_configs).write(&folder, config).ok()
    }

    /// A program that cannot be looked into, with the files it is told of.
    fn program_used(&self, launch: &Launch) {
        let in_test = self.config.parent.is_some() || !lock(&self.ledger).open_windows().is_empty();
        if !in_test || self.is_thread_of_the_launcher() {
            return;
        }
        let name = String::from_utf8_lossy(&launch.program);
        lock(&self.ledger).add_thing(Thing::Program(name.into()));
        for path in launch.paths() {
            self.add_finding(|files| files.look_if_there(&path));
        }
    }

    /// Surefire watches from within whether Maven lives, by way of `ps`.
    fn is_thread_of_the_launcher(&self) -> bool {
        self.jvmti
            .thread_name()
            .is_some_and(|name| name.starts_with("surefire-"))
    }

    /// A JVM is started that the agent cannot follow into.
    pub(crate) fn program_missed(&self) {
        lock(&self.ledger).add_thing(Thing::Program("java".into()));
    }
}

fn application_loader(jni: Jni<'_>) -> Option<Local<'_>> {
    let loaders = jni.find_class("java/lang/ClassLoader")?;
    jni.static_object(loaders, c"scl", c"Ljava/lang/ClassLoader;")
}

/// Where the boot loader and that of extensions look for resources on Java 8.
fn jdk_class_paths(jni: Jni<'_>) -> Vec<Global> {
    const PATH: &CStr = c"Lsun/misc/URLClassPath;";
    let boot = jni
        .find_class("sun/misc/Launcher$BootClassPathHolder")
        .and_then(|holder| jni.static_object(holder, c"bcp", PATH));
    let extensions = application_loader(jni)
        .and_then(|loader| jni.field(loader, c"parent", c"Ljava/lang/ClassLoader;"))
        .and_then(|loader| jni.field(loader, c"ucp", PATH));
    let found = [boot, extensions].into_iter().flatten();
    found.filter_map(|path| jni.global(path)).collect()
}

/// Where the application's loader looks for classes.
fn application_class_path(jni: Jni<'_>) -> Option<Local<'_>> {
    let loader = application_loader(jni)?;
    jni.field(loader, c"ucp", c"Ljdk/internal/loader/URLClassPath;")
        .or_else(|| jni.field(loader, c"ucp", c"Lsun/misc/URLClassPath;"))
}

fn setting_name(jni: Jni<'_>, name: Option<Local<'_>>) -> String {
    name.and_then(|name| jni.string(name))
        .unwrap_or_else(|| settings::EVERYTHING.to_owned())
}

/// Whether a class belongs to the JDK, by its name. Such classes are part of
/// the environment that records are kept for. Parts of the JDK under other
/// names are rewritten like libraries, which does no harm.
fn is_jdk_class(name: &str) -> bool {
    const PREFIXES: [&str; 4] = ["java/", "jdk/", "sun/", "com/sun/"];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
