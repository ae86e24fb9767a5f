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
    /// One method of the class, where methods are told apart, by its
    /// [name in the class](TestId::method_in).
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

    /// The name of a method in the outermost class of its test class: that of a
    /// nested class comes before it, as in `Inner$Deeper.method`. No class and no
    /// method has a dot in its name, so the two cannot be mixed up. `None` for a
    /// class that lies elsewhere.
    pub fn method_in(outermost: &ClassName, class: &ClassName, method: &str) -> Option<String> {
        let rest = class.as_str().strip_prefix(outermost.as_str())?;
        match rest.strip_prefix('$') {
            Some(nested) => Some(format!("{nested}.{method}")),
            None => rest.is_empty().then(|| method.to_owned()),
        }
    }

    /// The outermost class of a test that is printed as `text`.
    pub fn class_of(text: &str) -> ClassName {
        let class = text.split('#').next().unwrap_or(text);
        ClassName::from_dotted(class).outermost()
    }
}

/// `com.acme.FooTest`, `com.acme.FooTest#method` or, where the method is one of
/// a nested class, `com.acme.FooTest$Inner#method`.
impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.class.dotted())?;
        let Some(name) = &self.method else {
            return Ok(());
        };
        match name.rsplit_once('.') {
            Some((nested, method)) => write!(f, "${nested}#{method}"),
            None => write!(f, "#{name}"),
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
    fn a_method_of_a_nested_class_is_one_of_the_outermost() {
        let outermost = ClassName::new("com/acme/FooTest");
        let id = |class: &str, method| TestId {
            method: TestId::method_in(&outermost, &class.into(), method).map(Arc::from),
            ..TestId::of_class("", outermost.clone())
        };
        let printed = |class: &str| id(class, "adds").to_string();
        assert_eq!(printed("com/acme/FooTest"), "com.acme.FooTest#adds");
        let deep = id("com/acme/FooTest$In$Deep", "adds");
        assert_eq!(deep.method.as_deref(), Some("In$Deep.adds"));
        assert_eq!(deep.to_string(), "com.acme.FooTest$In$Deep#adds");
        assert_eq!(TestId::class_of(&deep.to_string()), outermost);
        assert_eq!(TestId::class_of("com.acme.FooTest"), outermost);
        for elsewhere in ["com/acme/FooTests", "com/acme/Base$In"] {
            assert_eq!(
                TestId::method_in(&outermost, &elsewhere.into(), "adds"),
                None
            );
        }
    }

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
