//! What is not told by a test class itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fewest_build::TaskRequest;
use fewest_model::{ClassName, Fingerprint};
use fewest_snapshot::Snapshot;

/// What is not told by a test class itself. Most runs never ask.
pub(super) struct Surroundings {
    /// The classes within an outermost one.
    pub(super) nested: BTreeMap<ClassName, Vec<ClassName>>,
    /// Whether JUnit 5 is told to do something in another way.
    pub(super) jupiter_settings: bool,
    /// The same of the order of nested classes.
    pub(super) jupiter_class_order: bool,
}

impl Surroundings {
    pub(super) fn of(snapshot: &Snapshot, request: &TaskRequest, command: &str) -> Self {
        let mut nested: BTreeMap<ClassName, Vec<ClassName>> = BTreeMap::new();
        for class in snapshot.classes() {
            let name = class.name();
            if name.as_str().contains('$') {
                nested
                    .entry(name.outermost())
                    .or_default()
                    .push(name.clone());
            }
        }
        Self {
            nested,
            jupiter_settings: jupiter_is_told(&HOW_METHODS_RUN, snapshot, request, command),
            jupiter_class_order: jupiter_is_told(&[CLASS_ORDER], snapshot, request, command),
        }
    }
}

/// Settings of JUnit 5 that change how the methods of a class run.
const HOW_METHODS_RUN: [&str; 3] = [
    "testinstance.lifecycle",
    "testmethod.order",
    "extensions.autodetection",
];
const CLASS_ORDER: &str = "testclass.order";

/// Whether somebody makes such a setting.
fn jupiter_is_told(
    keys: &[&str],
    snapshot: &Snapshot,
    request: &TaskRequest,
    command: &str,
) -> bool {
    const FILE: &str = "junit-platform.properties";
    let tells = |text: &str| keys.iter().any(|key| text.contains(key));
    let properties = request.system_properties.iter();
    let settings = request.settings.iter();
    if tells(command)
        || request.jvm_args.iter().any(|arg| tells(arg))
        || properties
            .chain(settings)
            .any(|(name, value)| tells(name) || tells(value))
    {
        return true;
    }
    if snapshot.resource(FILE) == Fingerprint::ABSENT {
        return false;
    }
    let texts: Vec<String> = snapshot
        .entries()
        .map(|entry: &Path| entry.join(FILE))
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    // Within a jar it is not looked for.
    texts.is_empty() || texts.iter().any(|text| tells(text))
}
