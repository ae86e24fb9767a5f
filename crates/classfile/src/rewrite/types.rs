//! What the JVM's verifier knows about locals and operand stack.

use std::borrow::Cow;

use super::error::RewriteErrorKind;
use crate::read::{
    Attribute, ClassFile, FrameKind, Member, ReadError, ReadErrorKind, VerificationType, access,
    read_frames,
};

/// The type of one slot. Long and double take two, of which the second is
/// [`Type::Second`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type<'a> {
    Top,
    Integer,
    Float,
    Long,
    Double,
    Second,
    Null,
    UninitializedThis,
    /// A class by its name, or an array by its descriptor.
    Object(Cow<'a, [u8]>),
    /// The place of the `new` in the old code.
    Uninitialized(u16),
}

impl<'a> Type<'a> {
    pub(super) fn object(name: &'a [u8]) -> Self {
        Self::Object(Cow::Borrowed(name))
    }

    pub(crate) fn is_wide(&self) -> bool {
        matches!(self, Self::Long | Self::Double)
    }
}

/// Locals and operand stack by slots.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct State<'a> {
    pub(super) locals: Vec<Type<'a>>,
    pub(super) stack: Vec<Type<'a>>,
}

impl<'a> State<'a> {
    /// What a method starts with (JVMS §4.10.1.6).
    pub(super) fn initial(
        class: &ClassFile<'a>,
        method: &Member,
    ) -> Result<Self, RewriteErrorKind> {
        let name = class.pool.utf8(method.name, method.offset + 2)?;
        let descriptor = class.pool.utf8(method.descriptor, method.offset + 4)?;
        let mut state = Self::default();
        if method.access & access::STATIC == 0 {
            let this = class.raw_name();
            state
                .locals
                .push(if name == b"<init>" && this != b"java/lang/Object" {
                    Type::UninitializedThis
                } else {
                    Type::object(this)
                });
        }
        let (parameters, _) = parse_method(descriptor, method.offset + 4)?;
        for parameter in parameters {
            push(&mut state.locals, parameter);
        }
        Ok(state)
    }

    pub(super) fn has_uninitialized_this(&self) -> bool {
        self.locals
            .iter()
            .chain(&self.stack)
            .any(|slot| *slot == Type::UninitializedThis)
    }
}

/// Puts a value onto slots.
pub(super) fn push<'a>(slots: &mut Vec<Type<'a>>, value: Type<'a>) {
    let wide = value.is_wide();
    slots.push(value);
    if wide {
        slots.push(Type::Second);
    }
}

/// The values without second slots and without unused locals at the end, as a
/// stack map frame lists them.
pub(super) fn values<'s, 'a>(slots: &'s [Type<'a>]) -> Vec<&'s Type<'a>> {
    let mut values: Vec<_> = slots.iter().filter(|slot| **slot != Type::Second).collect();
    while values.last().is_some_and(|last| **last == Type::Top) {
        values.pop();
    }
    values
}

/// All frames of a method with nothing left out, by their places in the code.
pub(super) fn whole_frames<'a>(
    class: &ClassFile<'a>,
    method: &Member,
    attribute: Option<&Attribute<'a>>,
) -> Result<Vec<(u32, State<'a>)>, RewriteErrorKind> {
    let Some(attribute) = attribute else {
        return Ok(Vec::new());
    };
    let mut locals = State::initial(class, method)?.locals;
    let mut frames = Vec::new();
    let slots = |types: Vec<VerificationType>| -> Result<Vec<Type<'a>>, ReadError> {
        let mut slots = Vec::with_capacity(types.len());
        for value in types {
            push(&mut slots, from_frame(class, value, attribute.offset)?);
        }
        Ok(slots)
    };
    for frame in read_frames(attribute)? {
        let stack = match frame.kind {
            FrameKind::Same => Vec::new(),
            FrameKind::SameLocals1(value) => slots(vec![value])?,
            FrameKind::Chop(count) => {
                chop(&mut locals, count);
                Vec::new()
            }
            FrameKind::Append(values) => {
                locals.extend(slots(values)?);
                Vec::new()
            }
            FrameKind::Full { locals: new, stack } => {
                locals = slots(new)?;
                slots(stack)?
            }
        };
        let state = State {
            locals: locals.clone(),
            stack,
        };
        frames.push((frame.pc, state));
    }
    Ok(frames)
}

fn chop(locals: &mut Vec<Type<'_>>, count: u8) {
    for _ in 0..count {
        if locals.pop() == Some(Type::Second) {
            locals.pop();
        }
    }
}

fn from_frame<'a>(
    class: &ClassFile<'a>,
    value: VerificationType,
    offset: usize,
) -> Result<Type<'a>, ReadError> {
    Ok(match value {
        VerificationType::Top => Type::Top,
        VerificationType::Integer => Type::Integer,
        VerificationType::Float => Type::Float,
        VerificationType::Double => Type::Double,
        VerificationType::Long => Type::Long,
        VerificationType::Null => Type::Null,
        VerificationType::UninitializedThis => Type::UninitializedThis,
        VerificationType::Object(index) => Type::object(class.pool.class_name(index, offset)?),
        VerificationType::Uninitialized(pc) => Type::Uninitialized(pc),
    })
}

/// The types of a method's parameters, and of its result if it has one.
pub(crate) fn parse_method(
    descriptor: &[u8],
    offset: usize,
) -> Result<(Vec<Type<'_>>, Option<Type<'_>>), ReadError> {
    let bad = || ReadErrorKind::BadDescriptor.at(offset);
    let mut rest = descriptor.strip_prefix(b"(").ok_or_else(bad)?;
    let mut parameters = Vec::new();
    while rest.first() != Some(&b')') {
        let (parameter, after) = parse_field(rest).ok_or_else(bad)?;
        parameters.push(parameter);
        rest = after;
    }
    match &rest[1..] {
        b"V" => Ok((parameters, None)),
        result => match parse_field(result) {
            Some((result, [])) => Ok((parameters, Some(result))),
            _ => Err(bad()),
        },
    }
}

/// The type of a field.
pub(super) fn parse_type(descriptor: &[u8], offset: usize) -> Result<Type<'_>, ReadError> {
    match parse_field(descriptor) {
        Some((value, [])) => Ok(value),
        _ => Err(ReadErrorKind::BadDescriptor.at(offset)),
    }
}

/// The type at the start of a descriptor, and what follows.
fn parse_field(descriptor: &[u8]) -> Option<(Type<'_>, &[u8])> {
    let (first, rest) = descriptor.split_first()?;
    Some(match first {
        b'B' | b'C' | b'I' | b'S' | b'Z' => (Type::Integer, rest),
        b'F' => (Type::Float, rest),
        b'J' => (Type::Long, rest),
        b'D' => (Type::Double, rest),
        b'L' => {
            let end = rest.iter().position(|&byte| byte == b';')?;
            (Type::object(&rest[..end]), &rest[end + 1..])
        }
        b'[' => {
            let dimensions = descriptor.iter().take_while(|&&byte| byte == b'[').count();
            let (_, after) = match descriptor.get(dimensions)? {
                b'[' => return None,
                _ => parse_field(&descriptor[dimensions..])?,
            };
            let length = descriptor.len() - after.len();
            (Type::object(&descriptor[..length]), after)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_become_types() {
        let (parameters, result) = parse_method(b"(I[[JLp/A;[Lp/B;D)[I", 0).unwrap();
        let expected = [
            Type::Integer,
            Type::object(b"[[J"),
            Type::object(b"p/A"),
            Type::object(b"[Lp/B;"),
            Type::Double,
        ];
        assert_eq!(parameters, expected);
        assert_eq!(result, Some(Type::object(b"[I")));
        assert_eq!(parse_method(b"()V", 0).unwrap(), (vec![], None));
    }

    #[test]
    fn malformed_descriptors_are_errors() {
        for bad in [
            "", "(", "()", "(V)V", "(L)V", "([)V", "()VV", "(Lp/A)V", "I", "()[V",
        ] {
            assert!(parse_method(bad.as_bytes(), 7).is_err(), "{bad}");
        }
    }
}
