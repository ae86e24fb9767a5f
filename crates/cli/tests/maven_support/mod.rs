//! Maven projects that are run through `fewest mvn`, and without it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::Duration;

use fewest_testkit::{Finished, Run, TestProject};

/// What Maven says when something has to be fetched first.
const LACKING: [&str; 3] = ["offline mode", "has not been downloaded", "(absent)"];
const TIMEOUT: Duration = Duration::from_secs(400);

pub(crate) fn fewest(project: &TestProject) -> Run {
    clean(project.run(env!("CARGO_BIN_EXE_fewest")))
}

/// Without what the surroundings of this test might add.
pub(crate) fn clean(run: Run) -> Run {
    run.env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("NO_COLOR")
        .timeout(TIMEOUT)
}

/// Runs Maven offline, or online if that lacks something. `run` makes a new
/// command that takes Maven's arguments.
pub(crate) fn maven<S: AsRef<OsStr>>(run: impl Fn() -> Run, args: &[S]) -> Finished {
    let offline = run().args(["-o", "-B"]).args(args).finish().unwrap();
    if LACKING.iter().any(|text| offline.stdout.contains(text)) {
        return run().arg("-B").args(args).finish().unwrap();
    }
    offline
}

/// How a test case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Passed,
    Skipped,
    Failed,
}

/// The cases of all reports below a folder, by module, class and name.
pub(crate) type Cases = BTreeMap<(String, String, String), Case>;

/// Reads reports with nothing of fewest's own.
pub(crate) fn cases(project: &TestProject) -> Cases {
    let mut cases = Cases::new();
    for (module, report) in reports(project) {
        let text = fs::read_to_string(project.path(&report)).unwrap();
        for case in text.split("<testcase ").skip(1) {
            let (head, body) = case.split_once('>').unwrap();
            let body = if head.ends_with('/') {
                ""
            } else {
                body.split("</testcase>").next().unwrap()
            };
            let outcome = match body {
                _ if body.contains("<failure") || body.contains("<error") => Case::Failed,
                _ if body.contains("<skipped") => Case::Skipped,
                _ => Case::Passed,
            };
            let key = (
                module.clone(),
                attribute(head, "classname"),
                attribute(head, "name"),
            );
            assert_eq!(
                cases.insert(key, outcome),
                None,
                "twice in {report}: {head}"
            );
        }
    }
    cases
}

fn attribute(head: &str, name: &str) -> String {
    let head = format!(" {head}");
    let (_, rest) = head.split_once(&format!(" {name}=\"")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// The paths of all `TEST-*.xml`, each with its module.
pub(crate) fn reports(project: &TestProject) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for module in entries(project.root()) {
        for kind in ["surefire", "failsafe"] {
            let folder = format!("{module}/target/{kind}-reports");
            for name in entries(&project.path(&folder)) {
                let of_class = name.strip_prefix("TEST-");
                if of_class.is_some_and(|name| name.strip_suffix(".xml").is_some()) {
                    found.push((module.clone(), format!("{folder}/{name}")));
                }
            }
        }
    }
    found
}

/// The names of what a folder holds, in their order; none if it is not there.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
