//! Writes the `Code` attribute of one method (JVMS §4.7.3).

use super::error::RewriteErrorKind;
use super::frames;
use super::pool::PoolEditor;
use super::positions::{Positions, Shift};
use super::snippet::Snippet;
use super::tables::{self, put_u16};
use crate::read::{Attribute, AttributeKind, ClassFile, Code, Member};

/// The most bytes that code may have (JVMS §4.7.3: less than 65536).
const MAX_CODE: usize = 65535;
/// The first class-file version with stack map frames.
const FIRST_WITH_FRAMES: u16 = 50;

/// What is to be done to one method.
#[derive(Default)]
pub(super) struct Plan {
    entry: Vec<u8>,
    entry_stack: u16,
    /// Places in `entry` where an initial frame must stand.
    entry_frames: Vec<u32>,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.entry.is_empty()
    }

    pub(super) fn inserted_length(&self) -> usize {
        self.entry.len()
    }

    pub(super) fn insert_at_entry(&mut self, snippet: Snippet) {
        self.entry_stack = self.entry_stack.max(snippet.max_stack);
        if self.entry.is_empty() {
            self.entry = snippet.code;
        } else {
            self.entry.extend(snippet.code);
        }
        if snippet.frame_after {
            self.entry_frames.push(self.entry.len() as u32);
        }
    }
}

/// Writes the content of the attribute.
pub(super) fn write<'a>(
    class: &'a ClassFile<'a>,
    _method: &Member,
    code: &Code<'a>,
    plan: &Plan,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    put_u16(out, code.max_stack.max(plan.entry_stack));
    put_u16(out, code.max_locals);
    let length = code.bytes.len() + plan.entry.len();
    if length > MAX_CODE {
        return Err(RewriteErrorKind::TooLarge { length });
    }
    out.extend((length as u32).to_be_bytes());
    out.extend(&plan.entry);
    out.extend(code.bytes);
    let positions = Shift(plan.entry.len() as u32);
    tables::write_handlers(code, &positions, &[], out)?;
    write_attributes(class, code, plan, &positions, pool, out)
}

fn write_attributes<'a>(
    class: &'a ClassFile<'a>,
    code: &Code<'a>,
    plan: &Plan,
    positions: &impl Positions,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let initial: &[u32] = if class.major >= FIRST_WITH_FRAMES {
        &plan.entry_frames
    } else {
        &[]
    };
    let new_table = !initial.is_empty() && code.attribute(AttributeKind::StackMapTable).is_none();
    let count = code.attributes.len() + usize::from(new_table);
    put_u16(
        out,
        u16::try_from(count).map_err(|_| RewriteErrorKind::AttributeTooLong)?,
    );
    for attribute in &code.attributes {
        put_u16(out, attribute.name);
        let length_at = out.len();
        out.extend([0; 4]);
        write_attribute(attribute, positions, initial, out)?;
        patch_length(out, length_at)?;
    }
    if new_table {
        put_u16(out, pool.utf8(b"StackMapTable")?);
        let length_at = out.len();
        out.extend([0; 4]);
        frames::write_moved(None, positions, initial, out)?;
        patch_length(out, length_at)?;
    }
    Ok(())
}

fn write_attribute(
    attribute: &Attribute<'_>,
    positions: &impl Positions,
    initial: &[u32],
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    match attribute.kind {
        AttributeKind::LineNumberTable => tables::write_lines(attribute, positions, out),
        AttributeKind::LocalVariableTable | AttributeKind::LocalVariableTypeTable => {
            tables::write_locals(attribute, positions, out)
        }
        AttributeKind::RuntimeVisibleTypeAnnotations
        | AttributeKind::RuntimeInvisibleTypeAnnotations => {
            tables::write_type_annotations(attribute, positions, out)
        }
        AttributeKind::StackMapTable => {
            frames::write_moved(Some(attribute), positions, initial, out)
        }
        _ => {
            out.extend(attribute.content);
            Ok(())
        }
    }
}

/// Writes the length of what stands behind `at` into the 4 bytes there.
pub(super) fn patch_length(out: &mut [u8], at: usize) -> Result<(), RewriteErrorKind> {
    let length =
        u32::try_from(out.len() - at - 4).map_err(|_| RewriteErrorKind::AttributeTooLong)?;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
