//! The things a test can use, and their versions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{ClassName, Fingerprint, MethodKey};

/// A thing a test can use.
///
/// The textual form is one letter, a space, and the name: `M p/A.m(I)V`,
/// `F schema/a.sql`. It is what the store keeps and reports show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// A class as a whole, used in the ordinary way. File-level techniques
    /// depend on it; method-level ones look at its finer parts.
    Class(ClassName),
    /// A class as a whole at every level: it was looked at by reflection, or
    /// it belongs to the test itself.
    Whole(ClassName),
    /// A class as a whole that the code of the test leads to, whether it runs
    /// or not. Static techniques depend on it and on nothing else.
    Reachable(ClassName),
    /// What a class declares about itself and its fields.
    Head(ClassName),
    /// The head and the signatures of the instance methods that take part in
    /// method lookup.
    Shape(ClassName),
    /// What a test class is apart from its test methods: the head, and the
    /// other methods that take part in method lookup or that a framework finds
    /// by their annotations.
    Frame(ClassName),
    /// One method.
    Method(ClassName, MethodKey),
    /// The executed part of a method: its blocks, as a walk through them, or
    /// the whole of it.
    Blocks(ClassName, MethodKey, Walk),
    /// The class in which the search for a member of the named class ends.
    Lookup(ClassName, MethodKey),
    /// The same for a method that ran on an object of the named class.
    Receiver(ClassName, MethodKey),
    /// The signatures of the instance methods of a class, where code that
    /// cannot be watched may call any of them.
    Overrides(ClassName),
    /// Everything that the class path holds under a name, in its order.
    Resource(Arc<str>),
    /// A file: its content, or that it is a directory. Relative to the
    /// project's root when below it.
    File(Arc<str>),
    /// The names in a directory.
    Listing(Arc<str>),
    /// The names of all files that a pattern matches, as in `schema/**/*.sql`.
    Matches(Arc<str>),
    /// An environment variable.
    Variable(Arc<str>),
    /// A system property.
    Property(Arc<str>),
    /// What was watched when the record was made. It never changes; a
    /// technique asks for it to know whether a record can answer.
    Watched(Watch),
}

/// How a test went through a method, as a text of [`Walk::of_masks`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Walk(Arc<str>);

impl Walk {
    /// All of the method, however it is walked through.
    pub fn whole() -> Self {
        Self("*".into())
    }

    /// For each block in the order in which the walk meets it, which of its
    /// edges lead on to another block of the walk.
    pub fn of_masks(masks: &[Vec<bool>]) -> Self {
        let bit = |&on: &bool| if on { '1' } else { '0' };
        let words: Vec<String> = masks
            .iter()
            .map(|mask| mask.iter().map(bit).collect())
            .collect();
        Self(words.join(".").into())
    }

    /// `None` for the whole method.
    pub fn masks(&self) -> Option<Vec<Vec<bool>>> {
        if &*self.0 == "*" {
            return None;
        }
        let mask = |word: &str| word.chars().map(|bit| bit == '1').collect();
        Some(self.0.split('.').map(mask).collect())
    }
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Walk {
    type Err = ParseElementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "*" || text.chars().all(|c| matches!(c, '0' | '1' | '.')) {
            Ok(Self(text.into()))
        } else {
            Err(ParseElementError(text.to_owned()))
        }
    }
}

/// What can be watched while tests run, or learned without running them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watch {
    /// Methods, files and settings: what every run with the agent tells.
    Uses,
    /// On objects of which classes methods ran.
    Receivers,
    /// Which blocks of methods ran.
    Blocks,
    /// What the code of the tests leads to. Nobody watches for it.
    ClassFiles,
}

impl Watch {
    pub const ALL: [Self; 4] = [Self::Uses, Self::Receivers, Self::Blocks, Self::ClassFiles];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Uses => "uses",
            Self::Receivers => "receivers",
            Self::Blocks => "blocks",
            Self::ClassFiles => "class files",
        }
    }
}

/// Which sort of thing an [`Element`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementKind {
    Class,
    Whole,
    Reachable,
    Head,
    Shape,
    Frame,
    Method,
    Blocks,
    Lookup,
    Receiver,
    Overrides,
    Resource,
    File,
    Listing,
    Matches,
    Variable,
    Property,
    Watched,
}

impl ElementKind {
    pub const ALL: [Self; 18] = [
        Self::Class,
        Self::Whole,
        Self::Reachable,
        Self::Head,
        Self::Shape,
        Self::Frame,
        Self::Method,
        Self::Blocks,
        Self::Lookup,
        Self::Receiver,
        Self::Overrides,
        Self::Resource,
        Self::File,
        Self::Listing,
        Self::Matches,
        Self::Variable,
        Self::Property,
        Self::Watched,
    ];

    /// The letter that starts the textual form.
    pub const fn letter(self) -> char {
        match self {
            Self::Class => 'C',
            Self::Whole => 'W',
            Self::Reachable => 'T',
            Self::Head => 'H',
            Self::Shape => 'S',
            Self::Frame => 'N',
            Self::Method => 'M',
            Self::Blocks => 'B',
            Self::Lookup => 'L',
            Self::Receiver => 'V',
            Self::Overrides => 'O',
            Self::Resource => 'R',
            Self::File => 'F',
            Self::Listing => 'D',
            Self::Matches => 'G',
            Self::Variable => 'E',
            Self::Property => 'P',
            Self::Watched => 'K',
        }
    }
}

impl Element {
    pub fn kind(&self) -> ElementKind {
        match self {
            Self::Class(_) => ElementKind::Class,
            Self::Whole(_) => ElementKind::Whole,
            Self::Reachable(_) => ElementKind::Reachable,
            Self::Head(_) => ElementKind::Head,
            Self::Shape(_) => ElementKind::Shape,
            Self::Frame(_) => ElementKind::Frame,
            Self::Method(..) => ElementKind::Method,
            Self::Blocks(..) => ElementKind::Blocks,
            Self::Lookup(..) => ElementKind::Lookup,
            Self::Receiver(..) => ElementKind::Receiver,
            Self::Overrides(_) => ElementKind::Overrides,
            Self::Resource(_) => ElementKind::Resource,
            Self::File(_) => ElementKind::File,
            Self::Listing(_) => ElementKind::Listing,
            Self::Matches(_) => ElementKind::Matches,
            Self::Variable(_) => ElementKind::Variable,
            Self::Property(_) => ElementKind::Property,
            Self::Watched(_) => ElementKind::Watched,
        }
    }

    /// The class that this element is, or is part of.
    pub fn class(&self) -> Option<&ClassName> {
        match self {
            Self::Class(class)
            | Self::Whole(class)
            | Self::Reachable(class)
            | Self::Head(class)
            | Self::Shape(class)
            | Self::Overrides(class)
            | Self::Frame(class)
            | Self::Method(class, _)
            | Self::Blocks(class, _, _)
            | Self::Lookup(class, _)
            | Self::Receiver(class, _) => Some(class),
            _ => None,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind().letter())?;
        match self {
            Self::Class(class)
            | Self::Whole(class)
            | Self::Reachable(class)
            | Self::Head(class)
            | Self::Shape(class)
            | Self::Frame(class)
            | Self::Overrides(class) => write!(f, "{class}"),
            Self::Method(class, method)
            | Self::Lookup(class, method)
            | Self::Receiver(class, method) => write!(f, "{class}.{method}"),
            Self::Blocks(class, method, walk) => write!(f, "{class}.{method} {walk}"),
            Self::Resource(name)
            | Self::File(name)
            | Self::Listing(name)
            | Self::Matches(name)
            | Self::Variable(name)
            | Self::Property(name) => f.write_str(name),
            Self::Watched(watch) => f.write_str(watch.name()),
        }
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not the name of an element")]
pub struct ParseElementError(String);

impl FromStr for Element {
    type Err = ParseElementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseElementError(text.to_owned());
        let (letter, name) = text.split_once(' ').ok_or_else(error)?;
        let kind = ElementKind::ALL
            .into_iter()
            .find(|kind| letter.chars().eq([kind.letter()]))
            .ok_or_else(error)?;
        let member = || {
            // A field's descriptor has no bracket; a name has neither of the
            // two, so the first dot ends the class.
            let (class, member) = name.split_once('.').ok_or_else(error)?;
            let end = member.find([':', '(']).ok_or_else(error)?;
            let key = MethodKey::new(&member[..end], &member[end..]);
            Ok::<_, ParseElementError>((ClassName::new(class), key))
        };
        Ok(match kind {
            ElementKind::Class => Self::Class(name.into()),
            ElementKind::Whole => Self::Whole(name.into()),
            ElementKind::Reachable => Self::Reachable(name.into()),
            ElementKind::Head => Self::Head(name.into()),
            ElementKind::Shape => Self::Shape(name.into()),
            ElementKind::Frame => Self::Frame(name.into()),
            ElementKind::Method => {
                let (class, method) = member()?;
                Self::Method(class, method)
            }
            ElementKind::Blocks => {
                let (class, method) = member()?;
                // Names may hold a space, and the walk holds none.
                let (descriptor, walk) = method.descriptor.rsplit_once(' ').ok_or_else(error)?;
                let walk = walk.parse()?;
                Self::Blocks(class, MethodKey::new(method.name, descriptor), walk)
            }
            ElementKind::Lookup => {
                let (class, method) = member()?;
                Self::Lookup(class, method)
            }
            ElementKind::Receiver => {
                let (class, method) = member()?;
                Self::Receiver(class, method)
            }
            ElementKind::Overrides => Self::Overrides(name.into()),
            ElementKind::Resource => Self::Resource(name.into()),
            ElementKind::File => Self::File(name.into()),
            ElementKind::Listing => Self::Listing(name.into()),
            ElementKind::Matches => Self::Matches(name.into()),
            ElementKind::Variable => Self::Variable(name.into()),
            ElementKind::Property => Self::Property(name.into()),
            ElementKind::Watched => {
                let watch = Watch::ALL.into_iter().find(|watch| watch.name() == name);
                Self::Watched(watch.ok_or_else(error)?)
            }
        })
    }
}

/// An element with the fingerprint of its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub element: Element,
    pub fingerprint: Fingerprint,
}

impl Serialize for Element {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn element() -> impl Strategy<Value = Element> {
        let class = || "[a-z$]{1,3}(/[A-Z$]{1,3}){0,2}".prop_map(|s| ClassName::new(s.as_str()));
        let method = || {
            ("(<init>|[a-z<>$-]{1,6})", r"\([IJZ]{0,3}\)V")
                .prop_map(|(name, descriptor)| MethodKey::new(name, descriptor))
        };
        let text = || "[a-z ./:()]{0,12}".prop_map(Arc::<str>::from);
        prop_oneof![
            class().prop_map(Element::Class),
            class().prop_map(Element::Whole),
            class().prop_map(Element::Reachable),
            class().prop_map(Element::Head),
            class().prop_map(Element::Shape),
            class().prop_map(Element::Frame),
            (class(), method()).prop_map(|(class, method)| Element::Method(class, method)),
            (class(), method()).prop_map(|(class, method)| Element::Lookup(class, method)),
            (class(), method()).prop_map(|(class, method)| Element::Receiver(class, method)),
            class().prop_map(Element::Overrides),
            (class(), method(), walk())
                .prop_map(|(class, method, walk)| Element::Blocks(class, method, walk)),
            (0..Watch::ALL.len()).prop_map(|at| Element::Watched(Watch::ALL[at])),
            text().prop_map(Element::Resource),
            text().prop_map(Element::File),
            text().prop_map(Element::Listing),
            text().prop_map(Element::Matches),
            text().prop_map(Element::Variable),
            text().prop_map(Element::Property),
        ]
    }

    fn walk() -> impl Strategy<Value = Walk> {
        let masks = proptest::collection::vec(proptest::collection::vec(any::<bool>(), 0..4), 1..4);
        prop_oneof![
            Just(Walk::whole()),
            masks.prop_map(|masks| Walk::of_masks(&masks))
        ]
    }

    proptest! {
        #[test]
        fn a_walk_says_its_masks(
            masks in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 0..4), 1..4)
        ) {
            prop_assert_eq!(Walk::of_masks(&masks).masks(), Some(masks));
        }

        #[test]
        fn the_textual_form_says_everything(element in element()) {
            prop_assert_eq!(element.to_string().parse(), Ok(element));
        }
    }

    #[test]
    fn garbage_is_refused() {
        for text in ["", "M", "Z a", "M a/b", "M a/b.c", "CC a"] {
            assert!(text.parse::<Element>().is_err(), "{text}");
        }
    }
}
