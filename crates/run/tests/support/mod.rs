//! What a build leaves for fewest, as far as tests have no opinion on it.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fewest_build::{FORMAT, TaskRequest};
use fewest_run::{OrderSettings, Plan, Project, ProjectFile, RunFolder, RunSettings};
use fewest_select::{Entity, Technique};

/// Settings of a run that watches everything under the default technique.
pub(crate) fn settings(root: &Path) -> RunSettings {
    RunSettings {
        since: None,
        order: OrderSettings::default(),
        entity: Entity::Class,
        root: root.to_owned(),
        technique: Technique::Hybrid,
        file: ProjectFile::default(),
        full_run_due: false,
        quiet: false,
        collect: true,
        shadow: false,
        agent: root.join("agent.so"),
        revision: None,
        started_at: 1,
        command: "mvn test".into(),
    }
}

/// The request of a module `core` for these test classes, which lie in
/// `classes`.
pub(crate) fn request(root: &Path, test_classes: &[&str]) -> TaskRequest {
    TaskRequest {
        test_sources: Vec::new(),
        format: FORMAT,
        module: "core".into(),
        task: "surefire:test@default-test".into(),
        basedir: root.to_owned(),
        classpath: vec![root.join("classes")],
        test_classes: Some(test_classes.iter().map(|&class| class.into()).collect()),
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

/// Begins a run with one task, and returns the folders of both.
pub(crate) fn begin(settings: &RunSettings, request: &TaskRequest) -> (RunFolder, PathBuf) {
    let run = RunFolder::create(&Project::at(&settings.root), settings).unwrap();
    let task = run.path().join("0001-core");
    fs::create_dir(&task).unwrap();
    request.write(&task).unwrap();
    (run, task)
}

/// What was decided for a task.
pub(crate) fn plan(task: &Path) -> Plan {
    serde_json::from_slice(&fs::read(task.join("plan.json")).unwrap()).unwrap()
}
