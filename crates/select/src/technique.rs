//! Which elements of a record count.

use std::fmt;
use std::str::FromStr;

use fewest_model::ElementKind;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A way to tell which tests can be affected.
///
/// A record holds the elements of all dynamic techniques; a technique looks
/// at its own. So a record made under one serves the others too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// Every test runs.
    All,
    /// A test runs when a class or file that it used has changed (Ekstazi).
    File,
    /// A test runs when a method that it ran, the shape of a class that it
    /// used, or a file has changed (`HyRTS`).
    #[default]
    Hybrid,
}

impl Technique {
    pub const ALL: [Self; 3] = [Self::All, Self::File, Self::Hybrid];

    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::File => "file",
            Self::Hybrid => "hybrid",
        }
    }

    /// Whether elements of this kind count.
    pub fn counts(self, kind: ElementKind) -> bool {
        use ElementKind as Kind;
        match kind {
            Kind::Class => self == Self::File,
            Kind::Head | Kind::Shape | Kind::Method | Kind::Lookup => self == Self::Hybrid,
            Kind::Whole
            | Kind::Resource
            | Kind::File
            | Kind::Listing
            | Kind::Matches
            | Kind::Variable
            | Kind::Property => true,
        }
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no technique; there are all, file and hybrid")]
pub struct ParseTechniqueError(String);

impl FromStr for Technique {
    type Err = ParseTechniqueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|technique| technique.name() == text)
            .ok_or_else(|| ParseTechniqueError(text.to_owned()))
    }
}
