//! Which elements of a record count.

use std::fmt;
use std::str::FromStr;

use fewest_model::{ElementKind, Watch};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A way to tell which tests can be affected.
///
/// A record holds the elements of its own technique and of all coarser ones
/// that watch, or of all static ones, and says what was watched. A technique
/// looks at its own elements; where a record was made with less, the test runs.
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
    /// As `Hybrid`, but a method that is added or taken away counts only where
    /// it is found for the objects that the test worked with (`HyRTS` with
    /// receiver types).
    HybridLookup,
    /// As `HybridLookup`, but of a method only the blocks that ran count
    /// (HyRTS-B).
    HybridBlock,
    /// A test runs when a class has changed that its code leads to, as class
    /// files tell (`ClassSRTS`, as in STARTS). Nothing is watched.
    Static,
    /// The same by a search from what changed, and what failed lately runs too
    /// (FEST).
    StaticFull,
}

impl Technique {
    pub const ALL: [Self; 7] = [
        Self::All,
        Self::File,
        Self::Hybrid,
        Self::HybridLookup,
        Self::HybridBlock,
        Self::Static,
        Self::StaticFull,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::File => "file",
            Self::Hybrid => "hybrid",
            Self::HybridLookup => "hybrid-lookup",
            Self::HybridBlock => "hybrid-block",
            Self::Static => "static",
            Self::StaticFull => "static-full",
        }
    }

    /// Whether it goes by class files alone, so that nobody need watch the tests.
    pub const fn is_static(self) -> bool {
        matches!(self, Self::Static | Self::StaticFull)
    }

    /// Whether elements of this kind count.
    pub fn counts(self, kind: ElementKind) -> bool {
        use ElementKind as Kind;
        match kind {
            Kind::Reachable => self.is_static(),
            Kind::Class => self == Self::File,
            Kind::Shape => self == Self::Hybrid,
            Kind::Method => matches!(self, Self::Hybrid | Self::HybridLookup),
            Kind::Blocks => self == Self::HybridBlock,
            Kind::Lookup | Kind::Frame => {
                matches!(self, Self::Hybrid | Self::HybridLookup | Self::HybridBlock)
            }
            Kind::Head | Kind::Receiver | Kind::Overrides => {
                matches!(self, Self::HybridLookup | Self::HybridBlock)
            }
            // It says what a record can answer, and never changes.
            Kind::Watched => false,
            Kind::Whole | Kind::Resource | Kind::Listing | Kind::Variable | Kind::Property => {
                !self.is_static()
            }
            // A project may declare files as inputs of a test for every technique.
            Kind::File | Kind::Matches => true,
        }
    }

    /// What must have been watched for a record to answer.
    pub fn needs(self) -> Option<Watch> {
        match self {
            Self::All => None,
            Self::File | Self::Hybrid => Some(Watch::Uses),
            Self::HybridLookup => Some(Watch::Receivers),
            Self::HybridBlock => Some(Watch::Blocks),
            Self::Static | Self::StaticFull => Some(Watch::ClassFiles),
        }
    }

    /// Whether the agent has to tell on which objects methods ran.
    pub fn watches_receivers(self) -> bool {
        matches!(self, Self::HybridLookup | Self::HybridBlock)
    }

    /// Whether the agent has to tell which blocks ran.
    pub fn watches_blocks(self) -> bool {
        self == Self::HybridBlock
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no technique; there are {names}", names = names())]
pub struct ParseTechniqueError(String);

fn names() -> String {
    Technique::ALL.map(Technique::name).join(", ")
}

impl FromStr for Technique {
    type Err = ParseTechniqueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|technique| technique.name() == text)
            .ok_or_else(|| ParseTechniqueError(text.to_owned()))
    }
}
