//! Tests and how they ended.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ClassName;

/// What selection decides about: a test class, or one method of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TestId {
    /// The module that the test belongs to, empty where there is only one.
    pub module: Arc<str>,
    /// The outermost class.
    pub class: ClassName,
    /// One method of the class, where methods are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Arc<str>>,
}

impl TestId {
    pub fn of_class(module: impl Into<Arc<str>>, class: ClassName) -> Self {
        Self {
            module: module.into(),
            class,
            method: None,
        }
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.class.dotted())?;
        match &self.method {
            Some(method) => write!(f, "#{method}"),
            None => Ok(()),
        }
    }
}

/// How a test ended. Later ones are worse; the worst of a class's parts is
/// the outcome of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Everything ran and passed.
    Passed,
    /// Some part was disabled or gave up on an assumption: no evidence.
    Skipped,
    /// It passed only on a retry.
    Flaky,
    /// It failed.
    Failed,
    /// It began and did not end: its JVM died or was killed.
    Unfinished,
}

impl Outcome {
    /// Whether this outcome lets a record stand for the test.
    pub fn is_evidence(self) -> bool {
        self == Self::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clean_pass_is_evidence() {
        use Outcome::{Failed, Flaky, Passed, Skipped, Unfinished};
        assert!(Passed.is_evidence());
        assert!(
            [Skipped, Flaky, Failed, Unfinished]
                .iter()
                .all(|o| !o.is_evidence())
        );
        assert_eq!([Passed, Failed, Skipped].into_iter().max(), Some(Failed));
    }
}
