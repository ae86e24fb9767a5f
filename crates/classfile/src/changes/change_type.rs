//! The change types of `HyRTS`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

macro_rules! change_types {
    ($($name:ident $description:literal;)*) => {
        /// What kind of change it is, by the abbreviations of `HyRTS`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ChangeType {
            $(#[doc = $description] $name,)*
        }

        impl ChangeType {
            pub const ALL: [Self; [$($description),*].len()] = [$(Self::$name),*];

            /// The abbreviation.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// What it means, for a person.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$name => $description,)*
                }
            }
        }
    };
}

change_types! {
    AF "class file added";
    DF "class file deleted";
    CH "class head changed";
    CF "class file changed";
    ASI "static initializer added";
    DSI "static initializer deleted";
    CSI "static initializer changed";
    AI "constructor added";
    DI "constructor deleted";
    CI "constructor changed";
    ASM "static method added";
    DSM "static method deleted";
    CSM "static method changed";
    AIM "instance method added";
    DIM "instance method deleted";
    CIM "instance method changed";
    LC "method lookup ends in another class";
}

impl ChangeType {
    /// Whether it is about one method that a class declares.
    pub const fn is_of_method(self) -> bool {
        !matches!(self, Self::AF | Self::DF | Self::CH | Self::CF | Self::LC)
    }
}

impl fmt::Display for ChangeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no change type")]
pub struct ParseChangeTypeError(String);

impl FromStr for ChangeType {
    type Err = ParseChangeTypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| ParseChangeTypeError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_print_and_parse() {
        for kind in ChangeType::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("cim".parse::<ChangeType>().is_err());
    }
}
