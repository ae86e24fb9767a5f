//! What is left out or run as one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The unit of selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entity {
    /// A test class with everything in it.
    #[default]
    Class,
    /// A test method, where the methods of a class can be told apart.
    Method,
}

impl Entity {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Method => "method",
        }
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no entity; there are class and method")]
pub struct ParseEntityError(String);

impl FromStr for Entity {
    type Err = ParseEntityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Class, Self::Method]
            .into_iter()
            .find(|entity| entity.name() == text)
            .ok_or_else(|| ParseEntityError(text.to_owned()))
    }
}
