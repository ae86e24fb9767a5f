//! Names of classes and methods, as the virtual machine writes them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The binary name of a class in VM form: `com/acme/Foo$Inner`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClassName(Arc<str>);

impl ClassName {
    /// Takes a name in VM form.
    pub fn new(internal: impl Into<Arc<str>>) -> Self {
        Self(internal.into())
    }

    /// Takes a name as Java programs print it: `com.acme.Foo$Inner`.
    pub fn from_dotted(dotted: &str) -> Self {
        Self(dotted.replace('.', "/").into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as Java programs print it.
    pub fn dotted(&self) -> String {
        self.0.replace('/', ".")
    }

    /// The last part of the name, for a person who knows the package.
    pub fn simple(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The class that the source nests this one in, or the class itself.
    ///
    /// Goes by the name alone. A `$` at the start of a name is part of it, as
    /// in `$Proxy12`.
    #[must_use]
    pub fn outermost(&self) -> Self {
        let start = self.0.rfind('/').map_or(0, |slash| slash + 1);
        match self.0[start..]
            .char_indices()
            .skip(1)
            .find(|&(_, c)| c == '$')
        {
            Some((dollar, _)) => Self::new(&self.0[..start + dollar]),
            None => self.clone(),
        }
    }
}

impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for ClassName {
    fn from(internal: &str) -> Self {
        Self::new(internal)
    }
}

/// A method within its class: name and descriptor.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MethodKey {
    pub name: Arc<str>,
    pub descriptor: Arc<str>,
}

impl MethodKey {
    pub fn new(name: impl Into<Arc<str>>, descriptor: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            descriptor: descriptor.into(),
        }
    }

    pub fn static_initializer() -> Self {
        Self::new("<clinit>", "()V")
    }

    pub fn is_static_initializer(&self) -> bool {
        &*self.name == "<clinit>"
    }

    pub fn is_constructor(&self) -> bool {
        &*self.name == "<init>"
    }
}

impl fmt::Display for MethodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.descriptor)
    }
}

impl fmt::Debug for MethodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_classes_belong_to_the_outermost_one() {
        let outermost = |name: &str| ClassName::new(name).outermost().to_string();
        assert_eq!(outermost("p/A$B$C"), "p/A");
        assert_eq!(outermost("p/A"), "p/A");
        assert_eq!(outermost("A$1"), "A");
        assert_eq!(outermost("p/$Proxy12"), "p/$Proxy12");
        assert_eq!(outermost("p$q/A$B"), "p$q/A");
    }

    #[test]
    fn dotted_and_internal_names_convert_both_ways() {
        let name = ClassName::from_dotted("com.acme.Foo$Bar");
        assert_eq!(name.as_str(), "com/acme/Foo$Bar");
        assert_eq!(name.dotted(), "com.acme.Foo$Bar");
        assert_eq!(name.simple(), "Foo$Bar");
    }
}
