//! The tables of a `Code` attribute that hold places in the code.

use std::collections::BTreeMap;

use super::error::RewriteErrorKind;
use super::positions::Positions;
use crate::read::{Attribute, Code, Cursor, Handler, ReadErrorKind, skip_annotation};

pub(super) fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_be_bytes());
}

/// Narrows a place in the new code. Code is at most 65535 bytes long, so only
/// a place that was past the end before can be too large.
pub(super) fn put_pc(out: &mut Vec<u8>, pc: u32) -> Result<(), RewriteErrorKind> {
    let pc = u16::try_from(pc).map_err(|_| RewriteErrorKind::NotAnInstruction(pc))?;
    put_u16(out, pc);
    Ok(())
}

/// Writes the exception table with `added` behind the entries it has; those
/// hold places in the new code already.
pub(super) fn write_handlers(
    code: &Code<'_>,
    positions: &impl Positions,
    added: &[Handler],
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let count = code.handler_count() + added.len();
    let count = u16::try_from(count).map_err(|_| RewriteErrorKind::AttributeTooLong)?;
    put_u16(out, count);
    for handler in code.handlers() {
        put_pc(out, positions.boundary(handler.start as u32))?;
        put_pc(out, positions.boundary(handler.end as u32))?;
        put_pc(out, positions.target(handler.handler as u32)?)?;
        put_u16(out, handler.catch_type);
    }
    for handler in added {
        for value in [
            handler.start,
            handler.end,
            handler.handler,
            handler.catch_type,
        ] {
            put_u16(out, value);
        }
    }
    Ok(())
}

/// `LineNumberTable`: place and line of each entry.
pub(super) fn write_lines(
    attribute: &Attribute<'_>,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let mut cursor = attribute.cursor();
    let count = cursor.u16()?;
    let entries = cursor.clone();
    put_u16(out, count);
    let mut of_deleted_code = false;
    for _ in 0..count {
        let pc = cursor.u16()? as u32;
        of_deleted_code |= positions.is_deleted(pc);
        put_pc(out, positions.boundary(pc))?;
        out.extend(cursor.bytes(2)?);
    }
    cursor.expect_end()?;
    if of_deleted_code {
        drop_lines_of_deleted_code(entries, count, positions, out)?;
    }
    Ok(())
}

/// The JVM takes the first entry that stands at a place. Deleted code that left
/// its entries behind would give its line to what follows. `out` ends with the
/// entries as they were moved.
fn drop_lines_of_deleted_code(
    mut entries: Cursor<'_>,
    count: u16,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    // For each new place, the last old place that came to it.
    let mut last = BTreeMap::new();
    let mut old = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let pc = entries.u16()? as u32;
        entries.u16()?;
        old.push(pc);
        let latest = last.entry(positions.boundary(pc)).or_insert(pc);
        *latest = pc.max(*latest);
    }
    let moved = out.split_off(out.len() - 4 * old.len());
    let kept_at = out.len() - 2;
    let mut kept = 0_u16;
    for (pc, entry) in old.into_iter().zip(moved.chunks_exact(4)) {
        let replaced = last[&positions.boundary(pc)] > pc;
        if !(positions.is_deleted(pc) && replaced) {
            out.extend(entry);
            kept += 1;
        }
    }
    out[kept_at..kept_at + 2].copy_from_slice(&kept.to_be_bytes());
    Ok(())
}

/// `LocalVariableTable` and `LocalVariableTypeTable`, which have one form.
pub(super) fn write_locals(
    attribute: &Attribute<'_>,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let mut cursor = attribute.cursor();
    let count = cursor.u16()?;
    put_u16(out, count);
    for _ in 0..count {
        write_range(&mut cursor, positions, out)?;
        // Name, descriptor or signature, and the local's number.
        out.extend(cursor.bytes(6)?);
    }
    cursor.expect_end()?;
    Ok(())
}

fn write_range(
    cursor: &mut Cursor<'_>,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let (start, length) = (cursor.u16()? as u32, cursor.u16()? as u32);
    let new_start = positions.boundary(start);
    put_pc(out, new_start)?;
    put_pc(out, positions.boundary(start + length) - new_start)
}

/// `RuntimeVisibleTypeAnnotations` and its invisible twin, within code.
pub(super) fn write_type_annotations(
    attribute: &Attribute<'_>,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let mut cursor = attribute.cursor();
    let count = cursor.u16()?;
    let count_at = out.len();
    put_u16(out, count);
    let mut kept = 0_u16;
    for _ in 0..count {
        let start = out.len();
        let alive = write_target(&mut cursor, positions, out)?;
        let steps = cursor.u8()?;
        out.push(steps);
        out.extend(cursor.bytes(steps as usize * 2)?);
        out.extend(skip_annotation(&mut cursor)?);
        if alive {
            kept += 1;
        } else {
            out.truncate(start);
        }
    }
    cursor.expect_end()?;
    out[count_at..count_at + 2].copy_from_slice(&kept.to_be_bytes());
    Ok(())
}

/// Writes what an annotation stands on (JVMS table 4.7.20-B), and says whether
/// that is still there.
fn write_target(
    cursor: &mut Cursor<'_>,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<bool, RewriteErrorKind> {
    let offset = cursor.offset();
    let tag = cursor.u8()?;
    out.push(tag);
    match tag {
        0x40 | 0x41 => {
            let parts = cursor.u16()?;
            put_u16(out, parts);
            for _ in 0..parts {
                write_range(cursor, positions, out)?;
                out.extend(cursor.bytes(2)?);
            }
        }
        0x43..=0x4B => {
            let pc = cursor.u16()? as u32;
            let rest = cursor.bytes(usize::from(tag >= 0x47))?;
            if positions.is_deleted(pc) {
                return Ok(false);
            }
            // A place that is no instruction stays as wrong as it was.
            let place = positions.instruction(pc);
            put_pc(out, place.unwrap_or_else(|| positions.boundary(pc)))?;
            out.extend(rest);
        }
        // Targets that belong to classes, fields and methods; a compiler that
        // puts one into code has its reasons, and it holds no place.
        0x00 | 0x01 | 0x16 => out.extend(cursor.bytes(1)?),
        // New handlers come last, so the number of an old one (0x42) stays.
        0x10 | 0x11 | 0x12 | 0x17 | 0x42 => out.extend(cursor.bytes(2)?),
        0x13..=0x15 => {}
        _ => return Err(ReadErrorKind::UnknownTarget(tag).at(offset).into()),
    }
    Ok(true)
}
