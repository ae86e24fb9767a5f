//! In which order the tests of a run go, and which part of them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use fewest_model::TestId;
use fewest_order::{Algorithm, Budget, ParseAlgorithmError, Shard};
use serde::{Deserialize, Serialize};

/// What the user wants of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderSettings {
    pub by: OrderBy,
    /// Decides between tests that are equally good.
    pub seed: u64,
    /// Whether all tests are put in order and then those dropped that do not
    /// run, instead of ordering only those that do.
    pub all_first: bool,
    pub budget: Option<Budget>,
    pub shard: Option<Shard>,
    /// The only tests that are to run.
    pub only: Option<BTreeSet<TestId>>,
}

impl OrderSettings {
    /// Whether it can keep tests from running that should.
    pub fn leaves_out(&self) -> bool {
        self.budget.is_some() || self.shard.is_some() || self.only.is_some()
    }

    /// The same order for a task of which nothing may be left out.
    pub(crate) fn of_everything(&self) -> Self {
        Self {
            budget: None,
            shard: None,
            only: None,
            ..self.clone()
        }
    }
}

/// The name of an order, or `none` for the build's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum OrderBy {
    /// The best order where tests are left out, and the build's own where all
    /// run: tests that depend on their order then end as without fewest.
    #[default]
    Auto,
    None,
    Algorithm(Algorithm),
}

impl OrderBy {
    pub fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Auto => Some(Algorithm::default()),
            Self::None => None,
            Self::Algorithm(algorithm) => Some(algorithm),
        }
    }
}

impl fmt::Display for OrderBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::None => f.pad("none"),
            Self::Algorithm(algorithm) => algorithm.fmt(f),
        }
    }
}

impl FromStr for OrderBy {
    type Err = ParseAlgorithmError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            text => text.parse().map(Self::Algorithm),
        }
    }
}

impl TryFrom<String> for OrderBy {
    type Error = ParseAlgorithmError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<OrderBy> for String {
    fn from(by: OrderBy) -> Self {
        by.to_string()
    }
}
