//! What can be wrong with a class file.

use thiserror::Error;

/// What is wrong, and where in the class file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} at offset {offset}")]
pub struct ReadError {
    pub offset: usize,
    pub kind: ReadErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadErrorKind {
    #[error("no class file: it starts with {0:#010x} instead of 0xcafebabe")]
    NotAClass(u32),
    #[error("unknown class-file version {major}.{minor}")]
    UnknownVersion { major: u16, minor: u16 },
    #[error("cut short: {needed} more bytes expected")]
    Truncated { needed: usize },
    #[error("{count} bytes too many")]
    TrailingBytes { count: usize },
    #[error("a long or double whose second place is past the constant pool")]
    HalfConstant,
    #[error("unknown constant kind {0}")]
    UnknownConstant(u8),
    #[error("index {index} is no {expected} in the constant pool")]
    BadIndex { index: u16, expected: &'static str },
    #[error("index {index} is past the bootstrap methods")]
    BadBootstrapIndex { index: u16 },
    #[error("unknown instruction {0:#04x}")]
    UnknownOpcode(u8),
    #[error("instruction {0:#04x} cannot be wide")]
    NotWide(u8),
    #[error("code length {0} is outside of 1 to 65535")]
    CodeLength(u32),
    #[error("target {0} is no instruction")]
    BadTarget(i64),
    #[error("a switch from {low} to {high}")]
    BadSwitch { low: i32, high: i32 },
    #[error("unknown frame type {0}")]
    UnknownFrame(u8),
    #[error("unknown verification type {0}")]
    UnknownVerificationType(u8),
    #[error("unknown element value tag {0:#04x}")]
    UnknownElementValue(u8),
    #[error("unknown type annotation target {0:#04x}")]
    UnknownTarget(u8),
    #[error("nested more than {0} deep")]
    TooDeep(usize),
    #[error("malformed descriptor")]
    BadDescriptor,
}

impl ReadErrorKind {
    pub(crate) fn at(self, offset: usize) -> ReadError {
        ReadError { offset, kind: self }
    }
}
