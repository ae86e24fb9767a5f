//! The statements of straight code.
//!
//! In bytecode a statement is a run of instructions between two places where
//! the operand stack is empty: whatever it computes it has stored, passed on or
//! thrown away by its end.

use std::ops::Range;

use super::error::RewriteErrorKind;
use super::simulate::simulate;
use super::types::State;
use crate::read::opcode;
use crate::read::{ClassFile, Member};

/// The statements of a method in their order, as ranges of its code; `None` if
/// its code has a branch or a handler, or there is none. The return at the end
/// is a statement of its own.
pub fn statements(class: &ClassFile<'_>, method: &Member) -> Option<Vec<Range<u16>>> {
    let code = class.code(method).ok()??;
    if code.handlers().next().is_some() {
        return None;
    }
    let starts = starts(class, method).ok()??;
    let end = code.bytes.len() as u16;
    let ends = starts.iter().skip(1).copied().chain([end]);
    Some(
        starts
            .iter()
            .copied()
            .zip(ends)
            .map(|(s, e)| s..e)
            .collect(),
    )
}

/// Where the stack is empty; `None` where control parts.
fn starts(class: &ClassFile<'_>, method: &Member) -> Result<Option<Vec<u16>>, RewriteErrorKind> {
    let Some(code) = class.code(method)? else {
        return Ok(None);
    };
    let length = code.bytes.len() as u32;
    let initial = State::initial(class, method)?;
    let mut starts = Vec::new();
    let mut straight = true;
    simulate(class, &code, initial, &[], |instruction, state| {
        instruction.operand.for_each_target(|_| straight = false);
        straight &= !opcode::ends_block(instruction.opcode) || instruction.end() == length;
        if state.is_some_and(|state| state.stack.is_empty()) {
            starts.push(instruction.pc);
        }
    })?;
    Ok(straight.then_some(starts))
}
