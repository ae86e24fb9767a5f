//! The JDKs of this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::Key;
use crate::corpus::{ClassCorpus, CorpusError};

/// One installed JDK: a runtime with its compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    home: PathBuf,
    feature: u32,
    version: String,
}

impl Default for Jdk {
    /// The JDK of `JAVA_HOME`, else the one whose `javac` is on the path, else
    /// the oldest known one. Panics if there is none, since no test that asks
    /// can go on.
    fn default() -> Self {
        home_from_environment()
            .into_iter()
            .chain(home_from_path())
            .find_map(|home| Self::at(&home))
            .or_else(|| Self::all().into_iter().next())
            .expect("no JDK found; `./x setup` installs one")
    }
}

impl Jdk {
    /// All JDKs in `FEWEST_JDKS` (separated by colons), `JAVA_HOME`, the path
    /// and `/usr/lib/jvm`, oldest first. A JDK with several names comes once.
    pub fn all() -> Vec<Self> {
        let listed = env::var_os("FEWEST_JDKS").unwrap_or_default();
        let mut jdks: Vec<_> = env::split_paths(&listed)
            .chain(home_from_environment())
            .chain(home_from_path())
            .chain(homes_of_the_system())
            .filter_map(|home| Self::at(&home))
            .collect();
        jdks.sort_by(|a, b| {
            (a.feature, &a.version, &a.home).cmp(&(b.feature, &b.version, &b.home))
        });
        jdks.dedup_by(|a, b| a.home == b.home);
        jdks
    }

    /// The JDK of a feature release, as `Jdk::feature(25)`.
    pub fn feature(feature: u32) -> Option<Self> {
        Self::all().into_iter().find(|jdk| jdk.feature == feature)
    }

    /// The JDK that a test's child JVMs are of: that of the feature version in
    /// `FEWEST_TEST_JDK`, else the default one. It panics where there is no such
    /// JDK, since a test on another one would prove nothing.
    pub fn under_test() -> Self {
        Self::asked_for().unwrap_or_default()
    }

    /// The JDKs of a test that needs an old and a new one: 17 and 25, or the
    /// one in `FEWEST_TEST_JDK` alone.
    pub fn old_and_new() -> Vec<Self> {
        if let Some(asked_for) = Self::asked_for() {
            return vec![asked_for];
        }
        let found: Vec<Self> = [17, 25].into_iter().filter_map(Self::feature).collect();
        if found.is_empty() {
            return vec![Self::default()];
        }
        found
    }

    fn asked_for() -> Option<Self> {
        let feature = env::var("FEWEST_TEST_JDK").ok()?;
        let jdk = feature.parse().ok().and_then(Self::feature);
        Some(jdk.unwrap_or_else(|| {
            panic!("FEWEST_TEST_JDK is `{feature}`, and FEWEST_JDKS names no such JDK")
        }))
    }

    /// Whether this JDK is of a feature version or a later one. Where it is
    /// not, the test's output says what was left out for that.
    pub fn is_at_least(&self, feature: u32, what: &str) -> bool {
        let enough = self.feature >= feature;
        if !enough {
            println!("left out on JDK {}: {what} needs {feature}", self.feature);
        }
        enough
    }

    /// The JDK in a folder, if that holds one.
    pub fn at(home: &Path) -> Option<Self> {
        let home = home.canonicalize().ok()?;
        if !home.join("bin/javac").is_file() {
            return None;
        }
        let release = fs::read_to_string(home.join("release")).ok()?;
        let feature = feature_of(release_value(&release, "JAVA_VERSION")?)?;
        let version = release_value(&release, "JAVA_RUNTIME_VERSION")
            .or_else(|| release_value(&release, "JAVA_VERSION"))?
            .to_owned();
        Some(Self {
            home,
            feature,
            version,
        })
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// 8, 17, 25 …
    pub fn feature_version(&self) -> u32 {
        self.feature
    }

    /// The whole version, as `17.0.15+6-Debian-1deb12u1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    pub fn javac(&self) -> PathBuf {
        self.home.join("bin/javac")
    }

    /// All classes of this JDK's modules. Made once and kept.
    pub fn modules(&self) -> Result<ClassCorpus, CorpusError> {
        ClassCorpus::of(self)
    }

    /// Writes all classes of this JDK's modules below a folder, as
    /// `java.base/java/lang/Object.class`.
    pub fn extract_modules(&self, folder: &Path) -> Result<(), CorpusError> {
        self.modules()?.extract(folder)
    }

    /// A name for cache entries that depend on this JDK. The folder is part of
    /// it, because two vendors may give the same version.
    pub(crate) fn key(&self) -> String {
        let mut key = Key::default();
        key.part(&self.version);
        key.part(self.home.as_os_str().as_encoded_bytes());
        format!("{}-{}", self.feature, &key.name()[..16])
    }
}

fn home_from_environment() -> Option<PathBuf> {
    env::var_os("JAVA_HOME").map(PathBuf::from)
}

/// `javac` is often a chain of links that ends in the `bin` folder of a JDK.
fn home_from_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let javac = env::split_paths(&path)
        .map(|folder| folder.join("javac"))
        .find(|file| file.is_file())?
        .canonicalize()
        .ok()?;
    Some(javac.parent()?.parent()?.to_path_buf())
}

fn homes_of_the_system() -> Vec<PathBuf> {
    fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

/// The value of a line `NAME="value"` in a JDK's `release` file.
fn release_value<'a>(release: &'a str, name: &str) -> Option<&'a str> {
    release.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.trim().trim_matches('"'))
    })
}

/// Up to Java 8 the feature stood in second place: `1.8.0_402`.
fn feature_of(version: &str) -> Option<u32> {
    version
        .strip_prefix("1.")
        .unwrap_or(version)
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feature_version_is_read_in_both_styles() {
        assert_eq!(feature_of("1.8.0_402"), Some(8));
        assert_eq!(feature_of("17.0.15"), Some(17));
        assert_eq!(feature_of("25"), Some(25));
        assert_eq!(feature_of("26-ea"), Some(26));
        assert_eq!(feature_of("ea"), None);
    }

    #[test]
    fn a_release_value_needs_the_whole_name() {
        let release = "JAVA_VERSION_DATE=\"2025\"\nJAVA_VERSION=\"17.0.15\"\n";
        assert_eq!(release_value(release, "JAVA_VERSION"), Some("17.0.15"));
        assert_eq!(release_value(release, "JAVA"), None);
    }

    #[test]
    fn a_folder_without_a_compiler_is_no_jdk() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("release"), "JAVA_VERSION=\"17\"\n").unwrap();
        assert_eq!(Jdk::at(folder.path()), None);
    }

    #[test]
    fn every_known_jdk_comes_once_and_the_default_is_among_them() {
        let all = Jdk::all();
        let mut homes: Vec<_> = all.iter().map(Jdk::home).collect();
        homes.sort();
        let count = homes.len();
        homes.dedup();
        assert_eq!(homes.len(), count);
        assert!(all.contains(&Jdk::default()), "{all:#?}");
    }

    #[test]
    fn a_later_jdk_is_enough_and_an_earlier_one_is_not() {
        let jdk = Jdk {
            home: PathBuf::new(),
            feature: 11,
            version: "11.0.1".into(),
        };
        assert!(jdk.is_at_least(8, "a") && jdk.is_at_least(11, "b"));
        assert!(!jdk.is_at_least(17, "c"));
    }

    #[test]
    fn jvm_and_compiler_of_every_jdk_say_the_version_we_read() {
        for jdk in Jdk::all() {
            let said = crate::Run::new(jdk.java())
                .arg("-version")
                .succeed()
                .unwrap();
            assert!(said.stderr.contains(jdk.version()), "{}", said.stderr);
            assert!(jdk.javac().is_file());
            assert_eq!(
                Jdk::feature(jdk.feature_version()).unwrap().feature,
                jdk.feature
            );
        }
    }
}
