//! Writes `StackMapTable` anew (JVMS §4.7.4).

use super::error::RewriteErrorKind;
use super::positions::Positions;
use super::tables::{put_pc, put_u16};
use crate::read::{Attribute, Cursor, ReadErrorKind};

/// Writes the frames of `attribute`, if there is one, at their new places, with
/// a frame equal to the initial one at each place in `initial`. These stand
/// before all others.
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
        let delta = writer.delta_to(pc)?;
        write_same(delta, out);
    }
    if let Some(attribute) = attribute {
        let mut cursor = attribute.cursor();
        let mut next = 0;
        for _ in 0..cursor.u16()? {
            next = write_frame(&mut cursor, next, positions, &mut writer, out)?;
        }
        cursor.expect_end()?;
    }
    let count = u16::try_from(writer.count).map_err(|_| RewriteErrorKind::AttributeTooLong)?;
    out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
    Ok(())
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
        0..=63 => write_same(delta, out),
        64..=127 => write_same_locals_1_tag(delta, out),
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
    match delta {
        0..=63 => out.push(delta as u8),
        _ => {
            out.push(251);
            put_u16(out, delta);
        }
    }
}

fn write_same_locals_1_tag(delta: u16, out: &mut Vec<u8>) {
    match delta {
        0..=63 => out.push(64 + delta as u8),
        _ => {
            out.push(247);
            put_u16(out, delta);
        }
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
            8 => {
                let new = cursor.u16()? as u32;
                let moved = positions.instruction(new);
                put_pc(out, moved.ok_or(RewriteErrorKind::NotAnInstruction(new))?)?;
            }
            _ => {
                return Err(ReadErrorKind::UnknownVerificationType(tag)
                    .at(offset)
                    .into());
            }
        }
    }
    Ok(())
}
