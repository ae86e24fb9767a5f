//! Programs that tests start, JVMs above all.

use std::path::PathBuf;

use fewest_trace::{ParentWindows, Thing};

use super::{Agent, lock};
use crate::children::{AgentOption, Launch};
use crate::config::Config;
use crate::jvmti;

impl Agent {
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

    /// A JVM is started that the agent cannot follow into.
    pub(crate) fn program_missed(&self) {
        lock(&self.ledger).add_thing(Thing::Program("java".into()));
    }

    /// Whether no test has begun in this JVM, and none has started it.
    pub(super) fn is_dormant(&self) -> bool {
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
}
