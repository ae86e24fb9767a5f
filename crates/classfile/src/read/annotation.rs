//! Annotations (JVMS §4.7.16 to §4.7.22).

use super::{Cursor, ReadError, ReadErrorKind};

/// How deep annotations may be nested. Compilers write a handful of levels;
/// the limit keeps a made-up file from using up the stack.
pub const MAX_NESTING: usize = 128;

/// An annotation: its type and its elements in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Index of the type's descriptor.
    pub type_descriptor: u16,
    /// Index of each element's name, with its value.
    pub elements: Vec<(u16, ElementValue)>,
    /// Offset in the class file, for errors about its indexes.
    pub offset: usize,
}

/// The value of an annotation's element. Numbers are constant-pool indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementValue {
    /// A primitive (`B C D F I J S Z`) or a string (`s`).
    Constant {
        tag: u8,
        index: u16,
    },
    Enum {
        type_descriptor: u16,
        name: u16,
    },
    Class(u16),
    Annotation(Annotation),
    Array(Vec<ElementValue>),
}

/// What a type annotation stands on (JVMS table 4.7.20-A).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeTarget {
    TypeParameter {
        tag: u8,
        index: u8,
    },
    Supertype {
        index: u16,
    },
    TypeParameterBound {
        tag: u8,
        parameter: u8,
        bound: u8,
    },
    /// A field's type, a method's result or its receiver.
    Empty {
        tag: u8,
    },
    FormalParameter {
        index: u8,
    },
    Throws {
        index: u16,
    },
    /// Start, length and local of each part of a variable's life.
    LocalVariable {
        tag: u8,
        parts: Vec<(u16, u16, u16)>,
    },
    Catch {
        index: u16,
    },
    /// An instruction.
    Offset {
        tag: u8,
        pc: u16,
    },
    TypeArgument {
        tag: u8,
        pc: u16,
        index: u8,
    },
}

/// An annotation on the use of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeAnnotation {
    pub target: TypeTarget,
    /// Steps into the type: kind and type-argument index of each.
    pub path: Vec<(u8, u8)>,
    pub annotation: Annotation,
}

/// Reads a table of annotations.
pub fn read_annotations(cursor: &mut Cursor<'_>) -> Result<Vec<Annotation>, ReadError> {
    let count = cursor.u16()? as usize;
    let mut annotations = Vec::with_capacity(count.min(cursor.remaining() / 4));
    for _ in 0..count {
        annotations.push(read_annotation(cursor, 0)?);
    }
    Ok(annotations)
}

/// Reads the annotations of each parameter.
pub fn read_parameter_annotations(
    cursor: &mut Cursor<'_>,
) -> Result<Vec<Vec<Annotation>>, ReadError> {
    let count = cursor.u8()?;
    (0..count).map(|_| read_annotations(cursor)).collect()
}

/// Reads a table of type annotations.
pub fn read_type_annotations(cursor: &mut Cursor<'_>) -> Result<Vec<TypeAnnotation>, ReadError> {
    let count = cursor.u16()? as usize;
    let mut annotations = Vec::with_capacity(count.min(cursor.remaining() / 6));
    for _ in 0..count {
        let target = read_target(cursor)?;
        let steps = cursor.u8()? as usize;
        let path = cursor
            .bytes(steps * 2)?
            .chunks_exact(2)
            .map(|step| (step[0], step[1]))
            .collect();
        annotations.push(TypeAnnotation {
            target,
            path,
            annotation: read_annotation(cursor, 0)?,
        });
    }
    Ok(annotations)
}

/// Reads one value, as `AnnotationDefault` holds it.
pub fn read_element_value(cursor: &mut Cursor<'_>) -> Result<ElementValue, ReadError> {
    read_value(cursor, 0)
}

/// The bytes of one annotation, which is read past.
pub(crate) fn skip_annotation<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], ReadError> {
    let mut ahead = cursor.clone();
    read_annotation(&mut ahead, 0)?;
    cursor.bytes(ahead.position() - cursor.position())
}

fn read_annotation(cursor: &mut Cursor<'_>, depth: usize) -> Result<Annotation, ReadError> {
    let offset = cursor.offset();
    let type_descriptor = cursor.u16()?;
    let count = cursor.u16()? as usize;
    let mut elements = Vec::with_capacity(count.min(cursor.remaining() / 5));
    for _ in 0..count {
        elements.push((cursor.u16()?, read_value(cursor, depth)?));
    }
    Ok(Annotation {
        type_descriptor,
        elements,
        offset,
    })
}

fn read_value(cursor: &mut Cursor<'_>, depth: usize) -> Result<ElementValue, ReadError> {
    let offset = cursor.offset();
    if depth >= MAX_NESTING {
        return Err(ReadErrorKind::TooDeep(MAX_NESTING).at(offset));
    }
    let tag = cursor.u8()?;
    Ok(match tag {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' => ElementValue::Constant {
            tag,
            index: cursor.u16()?,
        },
        b'e' => ElementValue::Enum {
            type_descriptor: cursor.u16()?,
            name: cursor.u16()?,
        },
        b'c' => ElementValue::Class(cursor.u16()?),
        b'@' => ElementValue::Annotation(read_annotation(cursor, depth + 1)?),
        b'[' => {
            let count = cursor.u16()? as usize;
            let mut values = Vec::with_capacity(count.min(cursor.remaining() / 3));
            for _ in 0..count {
                values.push(read_value(cursor, depth + 1)?);
            }
            ElementValue::Array(values)
        }
        _ => return Err(ReadErrorKind::UnknownElementValue(tag).at(offset)),
    })
}

fn read_target(cursor: &mut Cursor<'_>) -> Result<TypeTarget, ReadError> {
    let offset = cursor.offset();
    let tag = cursor.u8()?;
    Ok(match tag {
        0x00 | 0x01 => TypeTarget::TypeParameter {
            tag,
            index: cursor.u8()?,
        },
        0x10 => TypeTarget::Supertype {
            index: cursor.u16()?,
        },
        0x11 | 0x12 => TypeTarget::TypeParameterBound {
            tag,
            parameter: cursor.u8()?,
            bound: cursor.u8()?,
        },
        0x13..=0x15 => TypeTarget::Empty { tag },
        0x16 => TypeTarget::FormalParameter {
            index: cursor.u8()?,
        },
        0x17 => TypeTarget::Throws {
            index: cursor.u16()?,
        },
        0x40 | 0x41 => TypeTarget::LocalVariable {
            tag,
            parts: read_parts(cursor)?,
        },
        0x42 => TypeTarget::Catch {
            index: cursor.u16()?,
        },
        0x43..=0x46 => TypeTarget::Offset {
            tag,
            pc: cursor.u16()?,
        },
        0x47..=0x4B => TypeTarget::TypeArgument {
            tag,
            pc: cursor.u16()?,
            index: cursor.u8()?,
        },
        _ => return Err(ReadErrorKind::UnknownTarget(tag).at(offset)),
    })
}

fn read_parts(cursor: &mut Cursor<'_>) -> Result<Vec<(u16, u16, u16)>, ReadError> {
    let count = cursor.u16()? as usize;
    let mut parts = Vec::with_capacity(count.min(cursor.remaining() / 6));
    for _ in 0..count {
        parts.push((cursor.u16()?, cursor.u16()?, cursor.u16()?));
    }
    Ok(parts)
}
