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
    #[error("the types at {0} are not known, so no stack map frame can stand there")]
    NoFrame(u32),
    #[error("instructions {start} to {end} cannot be deleted: {fault}")]
    CannotDelete {
        start: u16,
        end: u16,
        fault: DeletionFault,
    },
    #[error("a method named {0} cannot be wrapped")]
    CannotWrap(&'static str),
    #[error("there is such a method already")]
    NameTaken,
    #[error("local 0 is overwritten, so a handler cannot have `this` in it")]
    ThisOverwritten,
    #[error("this code may hold no branch")]
    BranchInSnippet,
    #[error("malformed code")]
    Read(#[from] ReadError),
}

/// Why a range of instructions is no straight line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DeletionFault {
    #[error("the range is empty")]
    Empty,
    #[error("control leaves it at {0}")]
    Branch(u16),
    #[error("the instruction at {0} branches into it")]
    BranchedInto(u16),
    #[error("a stack map frame stands in it at {0}")]
    Frame(u32),
    #[error("entry {0} of the exception table begins, ends or lies within it")]
    Handler(usize),
}
