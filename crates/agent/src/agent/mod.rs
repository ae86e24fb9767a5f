//! The agent in one JVM: what it does when the JVM calls.
//!
//! Here stand what it holds, and its beginning and end; the modules below are
//! by what the JVM calls about.

mod classes;
mod left_out;
mod notes;
mod programs;
mod statics;
mod things;
mod threads;
mod windows;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fewest_model::ClassName;
use fewest_trace::{Event, Jvm};

use self::statics::Statics;
use self::windows::OpenCall;
use crate::ask::{Answer, MethodAnswer};
use crate::children::ChildConfigs;
use crate::config::Config;
use crate::files::Files;
use crate::gate;
use crate::hooks;
use crate::jvmti::{Global, Jni, Jvmti, Local, ProbeArrays, Stack};
use crate::known::{Names, Receivers};
use crate::ledger::Ledger;
use crate::output::Output;
use crate::registry::Registry;

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
    statics: Mutex<Statics>,
    /// Windows that are open in frameworks' calls, to be closed in reverse.
    calls: Mutex<Vec<OpenCall>>,
    /// Threads that were not started by Java.
    native_threads: Mutex<BTreeSet<u64>>,
    /// Where threads were at the last look, and whether they rested there.
    stacks: Mutex<HashMap<u64, (Stack, bool)>>,
    /// What `fewest` says about the test classes, once it was asked.
    answer: OnceLock<Answer>,
    method_answer: OnceLock<MethodAnswer>,
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
            statics: Mutex::default(),
            calls: Mutex::default(),
            native_threads: Mutex::default(),
            stacks: Mutex::default(),
            answer: OnceLock::new(),
            method_answer: OnceLock::new(),
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
                let _ = self.jdk_class_paths.set(things::jdk_class_paths(jni));
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

/// Whether a class belongs to the JDK, by its name. Such classes are part of
/// the environment that records are kept for. Parts of the JDK under other
/// names are rewritten like libraries, which does no harm.
fn is_jdk_class(name: &str) -> bool {
    const PREFIXES: [&str; 4] = ["java/", "jdk/", "sun/", "com/sun/"];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
