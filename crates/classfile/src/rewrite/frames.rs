//! Writes `StackMapTable` anew (JVMS §4.7.4).

use std::collections::BTreeMap;

use super::error::RewriteErrorKind;
use super::pool::PoolEditor;
use super::positions::Positions;
use super::tables::{put_pc, put_u16};
use super::types::{State, Type, values};
use crate::read::{Attribute, Cursor, ReadErrorKind};

/// Frames that an edit adds.
#[derive(Default)]
pub(super) struct NewFrames<'a> {
    /// Places in the new code for frames equal to the initial one. They stand
    /// before all others.
    pub(super) initial: Vec<u32>,
    /// Places in the new code for other frames, in order. Uninitialized objects
    /// are named by the old place of their `new`.
    pub(super) whole: Vec<(u32, State<'a>)>,
}

impl NewFrames<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.initial.is_empty() && self.whole.is_empty()
    }
}

/// Writes the frames of `attribute`, if there is one, at their new places, with
/// new initial frames before them.
///
/// Only deltas and the places of `new` change: frames are differences to the
/// frame before, and none of the old ones goes away.
pub(super) fn write_moved(
    attribute: Option<&Attribute<'_>>,
    positions: &impl Positions,
    initial: &[u32],
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let count_at = out.len();
    put_u16(out, 0);
    let mut writer = Deltas::default();
    for &pc in initial {
        write_same(writer.delta_to(pc)?, out);
    }
    if let Some(attribute) = attribute {
        let mut cursor = attribute.cursor();
        let mut next = 0;
        for _ in 0..cursor.u16()? {
            next = write_frame(&mut cursor, next, positions, &mut writer, out)?;
        }
        cursor.expect_end()?;
    }
    writer.write_count(out, count_at)
}

/// Writes old frames and new ones, all of them in full: a frame in between
/// would change what the differences behind it mean. `old` are the frames of
/// the method by old places.
pub(super) fn write_whole<'a>(
    old: &[(u32, State<'a>)],
    new: &NewFrames<'a>,
    positions: &impl Positions,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let mut frames = BTreeMap::new();
    for (pc, state) in old {
        let place = positions.target(*pc)?;
        if frames.insert(place, state).is_some() {
            return Err(RewriteErrorKind::FramesMeet(place));
        }
    }
    for (place, state) in &new.whole {
        // A frame that stands there already says as much.
        frames.entry(*place).or_insert(state);
    }
    let count_at = out.len();
    put_u16(out, 0);
    let mut writer = Deltas::default();
    for &pc in &new.initial {
        write_same(writer.delta_to(pc)?, out);
    }
    for (pc, state) in frames {
        out.push(255);
        put_u16(out, writer.delta_to(pc)?);
        write_values(&values(&state.locals), positions, pool, out)?;
        write_values(&values(&state.stack), positions, pool, out)?;
    }
    writer.write_count(out, count_at)
}

fn write_values<'a>(
    values: &[&Type<'a>],
    positions: &impl Positions,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let count = u16::try_from(values.len()).map_err(|_| RewriteErrorKind::AttributeTooLong)?;
    put_u16(out, count);
    for value in values {
        match value {
            Type::Top | Type::Second => out.push(0),
            Type::Integer => out.push(1),
            Type::Float => out.push(2),
            Type::Double => out.push(3),
            Type::Long => out.push(4),
            Type::Null => out.push(5),
            Type::UninitializedThis => out.push(6),
            Type::Object(name) => {
                out.push(7);
                put_u16(out, pool.class(name)?);
            }
            Type::Uninitialized(pc) => {
                out.push(8);
                put_new(*pc, positions, out)?;
            }
        }
    }
    Ok(())
}

/// The place of a `new` that has not been followed by its constructor.
fn put_new(pc: u16, positions: &impl Positions, out: &mut Vec<u8>) -> Result<(), RewriteErrorKind> {
    let pc = pc as u32;
    let moved = positions.instruction(pc);
    put_pc(out, moved.ok_or(RewriteErrorKind::NotAnInstruction(pc))?)
}

/// Whether the first frame of a table stands at the start of the code.
pub(super) fn starts_at_zero(attribute: &Attribute<'_>) -> bool {
    match attribute.content {
        [0, 0, ..] => false,
        [_, _, 0 | 64, ..] | [_, _, 247..=255, 0, 0, ..] => true,
        _ => false,
    }
}

/// Counts frames and turns places into differences.
#[derive(Default)]
struct Deltas {
    count: u32,
    /// The place from which the next difference counts.
    next: u32,
}

impl Deltas {
    fn delta_to(&mut self, pc: u32) -> Result<u16, RewriteErrorKind> {
        let delta = pc
            .checked_sub(self.next)
            .and_then(|delta| u16::try_from(delta).ok())
            .ok_or(RewriteErrorKind::FramesMeet(pc))?;
        self.count += 1;
        self.next = pc + 1;
        Ok(delta)
    }

    fn write_count(&self, out: &mut [u8], at: usize) -> Result<(), RewriteErrorKind> {
        let count = u16::try_from(self.count).map_err(|_| RewriteErrorKind::AttributeTooLong)?;
        out[at..at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }
}

/// Copies one frame; `next` is the old place from which its delta counts, and
/// what comes back is the same for the next frame.
fn write_frame(
    cursor: &mut Cursor<'_>,
    next: u32,
    positions: &impl Positions,
    writer: &mut Deltas,
    out: &mut Vec<u8>,
) -> Result<u32, RewriteErrorKind> {
    let offset = cursor.offset();
    let tag = cursor.u8()?;
    let old_delta = match tag {
        0..=63 => tag as u16,
        64..=127 => tag as u16 - 64,
        128..=246 => return Err(ReadErrorKind::UnknownFrame(tag).at(offset).into()),
        247..=255 => cursor.u16()?,
    };
    let old = next + old_delta as u32;
    let delta = writer.delta_to(positions.target(old)?)?;
    match tag {
        // The shortest form, unless a longer one was there and still holds.
        0..=63 => write_same(delta, out),
        64..=127 => write_same_locals_1_tag(delta, out),
        251 if delta != old_delta => write_same(delta, out),
        247 if delta != old_delta => write_same_locals_1_tag(delta, out),
        _ => {
            out.push(tag);
            put_u16(out, delta);
        }
    }
    match tag {
        64..=127 | 247 => write_types(cursor, 1, positions, out)?,
        252..=254 => write_types(cursor, tag as u16 - 251, positions, out)?,
        255 => {
            for _ in ["locals", "stack"] {
                let count = cursor.u16()?;
                put_u16(out, count);
                write_types(cursor, count, positions, out)?;
            }
        }
        _ => {}
    }
    Ok(old + 1)
}

fn write_same(delta: u16, out: &mut Vec<u8>) {
    if delta < 64 {
        out.push(delta as u8);
    } else {
        out.push(251);
        put_u16(out, delta);
    }
}

fn write_same_locals_1_tag(delta: u16, out: &mut Vec<u8>) {
    if delta < 64 {
        out.push(64 + delta as u8);
    } else {
        out.push(247);
        put_u16(out, delta);
    }
}

fn write_types(
    cursor: &mut Cursor<'_>,
    count: u16,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    for _ in 0..count {
        let offset = cursor.offset();
        let tag = cursor.u8()?;
        out.push(tag);
        match tag {
            0..=6 => {}
            7 => out.extend(cursor.bytes(2)?),
            8 => put_new(cursor.u16()?, positions, out)?,
            _ => {
                return Err(ReadErrorKind::UnknownVerificationType(tag)
                    .at(offset)
                    .into());
            }
        }
    }
    Ok(())
}
