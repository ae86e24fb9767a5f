//! What a caller says before a snapshot is taken.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fewest_classfile::fingerprint::DebugInfo;

/// How to look at a class path.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Files are named relative to this folder when they are below it.
    pub root: PathBuf,
    /// The feature version of the JDK that will run the tests (8, 17, 25, …).
    /// It decides which part of a multi-release jar is seen.
    pub feature_version: u32,
    pub debug_info: DebugInfo,
    /// Where to keep what was learned, or nowhere.
    pub cache: Option<PathBuf>,
    /// The environment variables that the tests would see.
    pub variables: BTreeMap<String, String>,
    /// The system properties that the tests would see.
    pub properties: BTreeMap<String, String>,
}

impl Settings {
    /// Looks from `root` with the given JDK, ignores debug information, keeps
    /// no cache, and knows no variables and no properties.
    pub fn new(root: impl Into<PathBuf>, feature_version: u32) -> Self {
        Self {
            root: root.into(),
            feature_version,
            debug_info: DebugInfo::Ignore,
            cache: None,
            variables: BTreeMap::new(),
            properties: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }
}
