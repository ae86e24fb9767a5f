//! What must be the same for a record to count, beside what the test used.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fewest_model::{Fingerprint, Hasher};

use crate::codec::{Malformed, Packer, Unpacker};

/// Named facts about where a test ran: the JDK, its arguments, the framework.
///
/// They are kept whole and not only as a fingerprint, so that a later change
/// can be named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    facts: BTreeMap<String, String>,
    fingerprint: Fingerprint,
}

/// One fact that differs between two environments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentChange {
    pub fact: String,
    /// The value before, if the fact was known then.
    pub before: Option<String>,
    /// The value after, if the fact is still known.
    pub after: Option<String>,
}

impl Environment {
    pub fn new(facts: BTreeMap<String, String>) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(b"fewest environment 1\0");
        hasher.update(&pack(&facts));
        Self {
            fingerprint: hasher.finish(),
            facts,
        }
    }

    pub fn facts(&self) -> &BTreeMap<String, String> {
        &self.facts
    }

    /// Two environments have the same fingerprint exactly if they have the
    /// same facts.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// What changed from this environment to a later one, by name of the fact.
    pub fn difference(&self, later: &Self) -> Vec<EnvironmentChange> {
        let names: BTreeSet<&String> = self.facts.keys().chain(later.facts.keys()).collect();
        names
            .into_iter()
            .filter(|&name| self.facts.get(name) != later.facts.get(name))
            .map(|name| EnvironmentChange {
                fact: name.clone(),
                before: self.facts.get(name).cloned(),
                after: later.facts.get(name).cloned(),
            })
            .collect()
    }

    pub(crate) fn pack(&self) -> Vec<u8> {
        pack(&self.facts)
    }

    pub(crate) fn unpack(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut unpacker = Unpacker::new(bytes);
        let mut facts = BTreeMap::new();
        while !unpacker.is_empty() {
            let name = unpacker.text()?.to_owned();
            facts.insert(name, unpacker.text()?.to_owned());
        }
        Ok(Self::new(facts))
    }
}

fn pack(facts: &BTreeMap<String, String>) -> Vec<u8> {
    let mut packer = Packer::default();
    for (name, value) in facts {
        packer.text(name);
        packer.text(value);
    }
    packer.finish()
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(facts: T) -> Self {
        Self::new(
            facts
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

impl fmt::Display for EnvironmentChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fact = &self.fact;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                write!(f, "{fact} changed from `{before}` to `{after}`")
            }
            (None, Some(after)) => write!(f, "{fact} is new: `{after}`"),
            (Some(before), None) => write!(f, "{fact} is gone, it was `{before}`"),
            (None, None) => write!(f, "{fact} is as it was"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn facts() -> impl Strategy<Value = BTreeMap<String, String>> {
        prop::collection::btree_map("[a-c]{0,2}", "[a-c]{0,2}", 0..4)
    }

    proptest! {
        #[test]
        fn equal_fingerprints_mean_equal_facts(a in facts(), b in facts()) {
            let (a, b) = (Environment::new(a), Environment::new(b));
            prop_assert_eq!(a.fingerprint() == b.fingerprint(), a.facts() == b.facts());
            prop_assert_eq!(a.difference(&b).is_empty(), a == b);
            prop_assert_eq!(Environment::unpack(&a.pack()).unwrap(), a);
        }
    }

    #[test]
    fn a_change_is_named() {
        let before = Environment::from_iter([("jdk", "17"), ("jvm-args", "-Xmx1g"), ("os", "x")]);
        let after = Environment::from_iter([("jdk", "17"), ("jvm-args", "-Xmx2g"), ("zone", "y")]);
        let changes: Vec<_> = before
            .difference(&after)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            changes,
            [
                "jvm-args changed from `-Xmx1g` to `-Xmx2g`",
                "os is gone, it was `x`",
                "zone is new: `y`",
            ]
        );
    }
}
