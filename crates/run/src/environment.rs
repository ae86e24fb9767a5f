//! The facts under which a record holds.
//!
//! The class path is not among them: every class, resource and file that a
//! test used is looked up on the class path of the day, so that a library's
//! new version runs only the tests that can notice. Test frameworks are, since
//! they decide which tests there are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fewest_build::TaskRequest;
use fewest_model::Fingerprint;
use fewest_snapshot::{FilePattern, Snapshot};
use fewest_store::Environment;

use crate::settings::ProjectFile;

/// Records of another format are no proof: what they hold means another thing.
const RECORD_FORMAT: u32 = 1;

/// Jars that take part in finding and running tests, by the start of the name.
const FRAMEWORKS: [&str; 9] = [
    "junit",
    "testng",
    "hamcrest",
    "opentest4j",
    "spock",
    "mockito",
    "powermock",
    "jqwik",
    "kotest",
];

pub fn environment(
    request: &TaskRequest,
    snapshot: &Snapshot,
    file: &ProjectFile,
    variables: &BTreeMap<String, String>,
) -> Environment {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: String| facts.insert(name.to_owned(), value);
    add("fewest", RECORD_FORMAT.to_string());
    add(
        "JDK",
        request.java_home.as_deref().map_or_else(String::new, jdk),
    );
    add("JVM arguments", request.jvm_args.join(" "));
    add("task", request.task.clone());
    for (name, value) in &request.system_properties {
        add(&format!("system property {name}"), value.clone());
    }
    for name in &file.environment {
        if let Some(value) = variables.get(name) {
            add(&format!("environment variable {name}"), value.clone());
        }
    }
    if file.track_debug_info {
        add("debug-info", "track".into());
    }
    // A record made while files were ignored says nothing of them.
    if !file.ignored_files.is_empty() {
        let patterns: Vec<&str> = file.ignored_files.iter().map(FilePattern::as_str).collect();
        add("ignored-files", patterns.join(" "));
    }
    for (name, value) in &request.environment {
        add(&format!("environment variable {name}"), value.clone());
    }
    for (name, value) in &request.settings {
        add(&format!("setting {name}"), value.clone());
    }
    for entry in snapshot.entries() {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if FRAMEWORKS
            .iter()
            .any(|framework| name.starts_with(framework))
        {
            add(&format!("framework {name}"), content(entry));
        }
    }
    for resource in ["junit-platform.properties", "testng.xml"] {
        add(resource, snapshot.resource(resource).to_string());
    }
    Environment::new(facts)
}

/// What tells one JDK from another: its `release` file, or its path at least.
fn jdk(home: &Path) -> String {
    // JDK 8 keeps the file above the `jre` that `java.home` names.
    let release = [home.join("release"), home.join("../release")]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok());
    let Some(release) = release else {
        return home.display().to_string();
    };
    let value = |key: &str| {
        let line = release.lines().find(|line| line.starts_with(key))?;
        Some(line[key.len()..].trim_matches(['=', '"']).to_owned())
    };
    let version = value("JAVA_RUNTIME_VERSION").or_else(|| value("JAVA_VERSION"));
    let vendor = value("IMPLEMENTOR").unwrap_or_default();
    let sum = Fingerprint::of(release.as_bytes()).to_string();
    format!("{} {vendor} ({})", version.unwrap_or_default(), &sum[..8])
}

fn content(file: &Path) -> String {
    fs::read(file).map_or_else(
        |_| "unreadable".into(),
        |bytes| Fingerprint::of(&bytes).to_string(),
    )
}

/// The feature version of a JDK, from its `release` file.
pub(crate) fn feature_version(home: Option<&Path>) -> u32 {
    const UNKNOWN: u32 = 8;
    let Some(home) = home else { return UNKNOWN };
    let release = [home.join("release"), home.join("../release")]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok())
        .unwrap_or_default();
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
    let mut parts = line
        .unwrap_or_default()
        .split(['.', '"', '-', '+'])
        .map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(1)), Some(Ok(minor))) => minor,
        (Some(Ok(major)), _) => major,
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feature_version_is_read_from_old_and_new_releases() {
        let folder = tempfile::tempdir().unwrap();
        for (text, version) in [
            ("JAVA_VERSION=\"1.8.0_402\"\n", 8),
            ("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\n", 17),
            ("JAVA_VERSION=\"25\"\n", 25),
            ("", 8),
        ] {
            fs::write(folder.path().join("release"), text).unwrap();
            assert_eq!(feature_version(Some(folder.path())), version, "{text}");
        }
    }
}
