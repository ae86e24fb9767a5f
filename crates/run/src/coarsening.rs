//! Changes of methods that count as a change of the whole class.
//!
//! The study variants of `HyRTS`: for each type of change to a method, one can
//! ask what it costs and gains to look at the method instead of the class.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use fewest_classfile::changes::{ChangeType, compare};
use fewest_classfile::fingerprint::ClassFingerprints;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The types of change that count as a change of the class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Coarsening(BTreeSet<ChangeType>);

impl Coarsening {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a class has changed in a way that counts.
    pub(crate) fn meets(&self, old: &ClassFingerprints, new: &ClassFingerprints) -> bool {
        let changes = compare(old, new);
        changes.iter().any(|change| self.0.contains(&change.kind))
    }
}

impl FromIterator<Self> for Coarsening {
    fn from_iter<T: IntoIterator<Item = Self>>(parts: T) -> Self {
        Self(parts.into_iter().flat_map(|part| part.0).collect())
    }
}

impl fmt::Display for Coarsening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|kind| kind.name()).collect();
        f.write_str(&names.join(","))
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no type of change to methods; there are {names}", names = names())]
pub struct ParseCoarseningError(String);

fn names() -> String {
    let of_methods = ChangeType::ALL
        .into_iter()
        .filter(|kind| kind.is_of_method());
    let names: Vec<&str> = of_methods.map(ChangeType::name).collect();
    names.join(", ")
}

impl FromStr for Coarsening {
    type Err = ParseCoarseningError;

    /// Abbreviations with commas between them; the empty text has none.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |name: &str| {
            let kind: Option<ChangeType> = name.to_ascii_uppercase().parse().ok();
            kind.filter(|kind| kind.is_of_method())
                .ok_or_else(|| ParseCoarseningError(name.to_owned()))
        };
        let names = text.split(',').map(str::trim);
        names
            .filter(|_| !text.trim().is_empty())
            .map(parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl TryFrom<String> for Coarsening {
    type Error = ParseCoarseningError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Coarsening> for String {
    fn from(coarsening: Coarsening) -> Self {
        coarsening.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twelve_types_of_changes_to_methods_print_and_parse() {
        let all = "ASI,DSI,CSI,AI,DI,CI,ASM,DSM,CSM,AIM,DIM,CIM";
        let coarsening: Coarsening = all.parse().unwrap();
        assert_eq!(coarsening.0.len(), 12);
        assert_eq!(coarsening.to_string(), all);
        assert_eq!(
            "cim, aim".parse::<Coarsening>().unwrap().to_string(),
            "AIM,CIM"
        );
        assert!("".parse::<Coarsening>().unwrap().is_empty());
    }

    #[test]
    fn changes_of_more_or_less_than_a_method_are_refused_with_the_names_there_are() {
        for text in ["CF", "LC", "CIM,", "X"] {
            let error = text.parse::<Coarsening>().unwrap_err().to_string();
            assert!(error.contains("there are ASI, DSI, CSI, AI,"), "{error}");
        }
    }
}
