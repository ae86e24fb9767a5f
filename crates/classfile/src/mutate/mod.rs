//! Makes classes with one fault each, to have something for tests to find.
//!
//! [`mutants`] lists what can be planted in a class; each [`Mutant`] has an id
//! that is the same whenever the class file is, and says in words what it
//! does. [`plant`] makes the class with the fault. What comes out is valid: a
//! JVM that verifies everything loads it.
//!
//! Beside faults in code there are structural ones, which tell whether a
//! selection looks further than at the code that ran: the first value of a
//! field, a method that comes to override an inherited one, an annotation.

mod code;
mod plant;
mod structure;

use std::fmt;

use fewest_model::{ClassName, MethodKey};

pub use plant::plant;
pub use structure::{Overridable, overridable_methods};

use crate::read::{ClassFile, ReadError};
use crate::rewrite::Snippet;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// One arithmetic operation became another.
    Arithmetic,
    /// A condition was negated, or its boundary moved.
    Condition,
    /// A number or text became another.
    Constant,
    /// A method returns another value.
    Return,
    /// A call is gone; what it would have returned is zero or null.
    Call,
    /// A field starts with another value.
    FieldValue,
    /// A class overrides a method that it inherited.
    Override,
    /// An annotation is gone, or its default is another.
    Annotation,
}

impl Operator {
    pub const ALL: [Self; 8] = [
        Self::Arithmetic,
        Self::Condition,
        Self::Constant,
        Self::Return,
        Self::Call,
        Self::FieldValue,
        Self::Override,
        Self::Annotation,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Condition => "condition",
            Self::Constant => "constant",
            Self::Return => "return",
            Self::Call => "call",
            Self::FieldValue => "field-value",
            Self::Override => "override",
            Self::Annotation => "annotation",
        }
    }

    /// Whether it changes the class around the code.
    pub const fn is_structural(self) -> bool {
        matches!(self, Self::FieldValue | Self::Override | Self::Annotation)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fault that can be planted in a class.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Names the fault among all of a project: class, place and operator.
    pub id: String,
    pub operator: Operator,
    pub class: ClassName,
    /// The method whose code it is in; none for most structural ones.
    pub method: Option<MethodKey>,
    pub line: Option<u16>,
    /// What it does, as in "com.acme.Foo.bar: `+` became `-` at line 42".
    pub words: String,
    edit: Edit,
}

/// What is to be done to the class file.
#[derive(Clone, Debug, PartialEq)]
enum Edit {
    /// Bytes of the same number at an offset.
    Bytes { offset: usize, bytes: Vec<u8> },
    /// Code before an instruction.
    Before {
        method: usize,
        pc: u16,
        snippet: Snippet,
    },
    /// Code in place of the instruction at `pc`, which ends at `end`.
    Instead {
        method: usize,
        pc: u16,
        end: u16,
        snippet: Snippet,
    },
    /// A constant in place of one that `ldc`, `ldc_w` or `ldc2_w` loads.
    Load {
        method: usize,
        pc: u16,
        end: u16,
        constant: NewConstant,
    },
    /// The index of a new constant at an offset behind the constant pool.
    Index {
        offset: usize,
        constant: NewConstant,
    },
    /// A method more.
    Method { method: Overridable },
    /// One annotation less: where it stands, and where the length and the
    /// count of its table do.
    Annotation {
        start: usize,
        end: usize,
        length_offset: usize,
    },
}

/// A constant that the class may not have yet.
#[derive(Clone, Debug, PartialEq)]
enum NewConstant {
    Integer(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// As modified UTF-8.
    String(Vec<u8>),
    /// A text that is no string, as annotations hold it.
    Utf8(Vec<u8>),
}

/// All faults that can be planted in a class, in the order of its code.
///
/// `overridable` are the methods that the class inherits and may override; see
/// [`overridable_methods`].
pub fn mutants(
    class: &ClassFile<'_>,
    overridable: &[Overridable],
) -> Result<Vec<Mutant>, ReadError> {
    if class.is_module() {
        return Ok(Vec::new());
    }
    let mut mutants = code::mutants(class)?;
    mutants.extend(structure::mutants(class, overridable)?);
    Ok(mutants)
}
