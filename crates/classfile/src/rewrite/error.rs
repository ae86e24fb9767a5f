//! What can keep a method from being rewritten.

use fewest_model::{ClassName, MethodKey};
use thiserror::Error;

use crate::read::ReadError;

/// What went wrong, and in which method.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("could not rewrite {}", place(class, method.as_ref()))]
pub struct RewriteError {
    pub class: ClassName,
    /// `None` when the whole class is meant.
    pub method: Option<MethodKey>,
    #[source]
    pub kind: RewriteErrorKind,
}

fn place(class: &ClassName, method: Option<&MethodKey>) -> String {
    match method {
        Some(method) => format!("`{class}.{method}`"),
        None => format!("`{class}`"),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RewriteErrorKind {
    #[error("the code would have {length} bytes, and 65535 is the most")]
    TooLarge { length: usize },
    #[error("the constant pool is full")]
    PoolFull,
    #[error("a text of {length} bytes is too long for the constant pool")]
    TextTooLong { length: usize },
    #[error("the operand stack would be deeper than 65535")]
    StackTooDeep,
    #[error("an attribute would be longer than its length can say")]
    AttributeTooLong,
    #[error("there is no method {0}")]
    NoSuchMethod(usize),
    #[error("the method has no code")]
    NoCode,
    #[error("{0} is not the place of an instruction")]
    NotAnInstruction(u32),
    #[error("two stack map frames would meet at {0}")]
    FramesMeet(u32),
    #[error("malformed code")]
    Read(#[from] ReadError),
}
