//! The `StackMapTable` attribute (JVMS §4.7.4).

use super::attribute::Attribute;
use super::{Cursor, ReadError, ReadErrorKind};

/// A stack map frame. `pc` is resolved from the deltas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub pc: u32,
    pub kind: FrameKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Same,
    SameLocals1(VerificationType),
    /// The last one to three locals are gone.
    Chop(u8),
    /// One to three locals more.
    Append(Vec<VerificationType>),
    Full {
        locals: Vec<VerificationType>,
        stack: Vec<VerificationType>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerificationType {
    Top,
    Integer,
    Float,
    Double,
    Long,
    Null,
    UninitializedThis,
    /// Index of a class constant.
    Object(u16),
    /// Offset in the code of the `new` that made the object.
    Uninitialized(u16),
}

/// Reads all frames of a `StackMapTable` attribute.
pub fn read_frames(attribute: &Attribute<'_>) -> Result<Vec<Frame>, ReadError> {
    let mut cursor = attribute.cursor();
    let count = cursor.u16()? as usize;
    let mut frames = Vec::with_capacity(count.min(cursor.remaining()));
    let mut next = 0;
    for _ in 0..count {
        let (delta, kind) = read_frame(&mut cursor)?;
        let pc = next + delta as u32;
        frames.push(Frame { pc, kind });
        next = pc + 1;
    }
    cursor.expect_end()?;
    Ok(frames)
}

fn read_frame(cursor: &mut Cursor<'_>) -> Result<(u16, FrameKind), ReadError> {
    let offset = cursor.offset();
    let tag = cursor.u8()?;
    Ok(match tag {
        0..=63 => (tag as u16, FrameKind::Same),
        64..=127 => (tag as u16 - 64, FrameKind::SameLocals1(read_type(cursor)?)),
        247 => (cursor.u16()?, FrameKind::SameLocals1(read_type(cursor)?)),
        248..=250 => (cursor.u16()?, FrameKind::Chop(251 - tag)),
        251 => (cursor.u16()?, FrameKind::Same),
        252..=254 => {
            let delta = cursor.u16()?;
            (
                delta,
                FrameKind::Append(read_types(cursor, tag as usize - 251)?),
            )
        }
        255 => {
            let delta = cursor.u16()?;
            let locals = cursor.u16()? as usize;
            let locals = read_types(cursor, locals)?;
            let stack = cursor.u16()? as usize;
            (
                delta,
                FrameKind::Full {
                    locals,
                    stack: read_types(cursor, stack)?,
                },
            )
        }
        128..=246 => return Err(ReadErrorKind::UnknownFrame(tag).at(offset)),
    })
}

fn read_types(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<VerificationType>, ReadError> {
    let mut types = Vec::with_capacity(count.min(cursor.remaining()));
    for _ in 0..count {
        types.push(read_type(cursor)?);
    }
    Ok(types)
}

fn read_type(cursor: &mut Cursor<'_>) -> Result<VerificationType, ReadError> {
    let offset = cursor.offset();
    Ok(match cursor.u8()? {
        0 => VerificationType::Top,
        1 => VerificationType::Integer,
        2 => VerificationType::Float,
        3 => VerificationType::Double,
        4 => VerificationType::Long,
        5 => VerificationType::Null,
        6 => VerificationType::UninitializedThis,
        7 => VerificationType::Object(cursor.u16()?),
        8 => VerificationType::Uninitialized(cursor.u16()?),
        tag => return Err(ReadErrorKind::UnknownVerificationType(tag).at(offset)),
    })
}
