//! The canonical form of code.
//!
//! Places are numbers of instructions, so that neither padding nor the length
//! of an encoding counts. `ldc_w`, `goto_w` and `jsr_w` are written as their
//! short forms, and `wide` not at all: they differ in reach only.

use super::attribute::write_raw;
use super::{Canonical, DebugInfo, Options, Symbols, annotation};
use crate::read::opcode::{self, Form, GOTO, GOTO_W, JSR, JSR_W, LDC, LDC_W};
use crate::read::{Attribute, AttributeKind, Code, Instruction, Operand, ReadError, ReadErrorKind};

/// Memory that is used again from method to method.
#[derive(Debug, Default)]
pub(super) struct CodeScratch {
    places: Places,
    fixups: Vec<Fixup>,
}

/// A place in the canonical form that waits for the number of an instruction.
#[derive(Debug)]
struct Fixup {
    at: usize,
    target: i64,
    /// Offset of the branch in the class file.
    from: usize,
}

/// Which instruction starts where.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// One more than the number of the instruction that starts at an offset in
    /// the code, 0 where none starts.
    numbers: Vec<u16>,
    count: u16,
}

impl Places {
    fn reset(&mut self, length: usize) {
        self.numbers.clear();
        self.numbers.resize(length, 0);
        self.count = 0;
    }

    /// Says that the `count`th instruction starts at `pc`.
    #[inline]
    fn mark(&mut self, pc: usize, count: u16) {
        self.numbers[pc] = count;
    }

    /// The number of the instruction at `pc`; the end of the code counts as
    /// one more.
    pub(super) fn number(&self, pc: i64) -> Option<u16> {
        match self.numbers.get(usize::try_from(pc).ok()?) {
            Some(0) => None,
            Some(number) => Some(number - 1),
            None => (pc == self.numbers.len() as i64).then_some(self.count),
        }
    }

    /// The number of the instruction that a branch goes to.
    fn target(&self, pc: i64, from: usize) -> Result<u16, ReadError> {
        self.number(pc)
            .filter(|&number| number < self.count)
            .ok_or_else(|| ReadErrorKind::BadTarget(pc).at(from))
    }

    /// An end that may be the end of the code.
    fn end(&self, pc: i64, from: usize) -> Result<u16, ReadError> {
        self.number(pc)
            .ok_or_else(|| ReadErrorKind::BadTarget(pc).at(from))
    }
}

pub(super) fn write_code(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    code: &Code<'_>,
    scratch: &mut CodeScratch,
    debug_info: DebugInfo,
) -> Result<(), ReadError> {
    write_instructions(out, symbols, code, scratch)?;
    write_handlers(out, symbols, code, &scratch.places)?;
    write_attributes(out, symbols, code, &scratch.places, debug_info)
}

fn write_instructions(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    code: &Code<'_>,
    scratch: &mut CodeScratch,
) -> Result<(), ReadError> {
    let CodeScratch { places, fixups } = scratch;
    places.reset(code.bytes.len());
    fixups.clear();
    let count_at = out.len();
    out.u16(0);
    let mut pc = 0;
    let mut count = 0;
    while let Some(&opcode) = code.bytes.get(pc) {
        count += 1;
        places.mark(pc, count);
        let length = SELF_CONTAINED[opcode as usize] as usize;
        if length != 0
            && let Some(bytes) = code.bytes[pc..].first_chunk::<4>()
        {
            out.keep(*bytes, length);
            pc += length;
            continue;
        }
        let from = code.offset + pc;
        // Most of the others name a constant by two bytes, and need not be
        // taken apart.
        if let [_, high, low, ..] = code.bytes[pc..]
            && opcode::form(opcode) == Form::Constant2
        {
            let index = u16::from_be_bytes([high, low]);
            out.named(normal_opcode(opcode), symbols.constant(index, from + 1)?);
            pc += 3;
            continue;
        }
        let instruction = code.instruction_at(pc)?;
        write_instruction(out, symbols, &instruction, from, |out, target| {
            let at = out.len();
            out.u16(0);
            fixups.push(Fixup { at, target, from });
        })?;
        pc = instruction.end() as usize;
    }
    places.count = count;
    out.patch_u16(count_at, count);
    for fixup in &*fixups {
        out.patch_u16(fixup.at, places.target(fixup.target, fixup.from)?);
    }
    Ok(())
}

/// How long an instruction is that names neither a constant nor a place, by
/// opcode; 0 for all others.
static SELF_CONTAINED: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut opcode = 0;
    while opcode < 256 {
        lengths[opcode] = match opcode::form(opcode as u8) {
            Form::Plain => 1,
            Form::Byte | Form::ArrayType | Form::Local => 2,
            Form::Short | Form::Increment => 3,
            _ => 0,
        };
        opcode += 1;
    }
    lengths
};

/// Writes an instruction; each branch target goes to `write_target`.
///
/// An instruction that names neither a constant nor a place is written as its
/// shortest encoding. Left out are numbers that follow from the rest: the
/// argument count of `invokeinterface`, padding and zeros.
pub(crate) fn write_instruction(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    instruction: &Instruction<'_>,
    from: usize,
    mut write_target: impl FnMut(&mut Canonical, i64),
) -> Result<(), ReadError> {
    let opcode = normal_opcode(instruction.opcode);
    match &instruction.operand {
        Operand::None => out.u8(opcode),
        Operand::Value(value) => {
            out.u8(opcode);
            if opcode == opcode::SIPUSH {
                out.bytes(&(*value as i16).to_be_bytes());
            } else {
                out.u8(*value as u8);
            }
        }
        Operand::Local(local) => {
            if let Ok(local) = u8::try_from(*local) {
                out.bytes(&[opcode, local]);
            } else {
                out.bytes(&[opcode::WIDE, opcode]);
                out.u16(*local);
            }
        }
        Operand::Increment { local, by } => {
            if let (Ok(local), Ok(by)) = (u8::try_from(*local), i8::try_from(*by)) {
                out.bytes(&[opcode, local, by as u8]);
            } else {
                out.bytes(&[opcode::WIDE, opcode]);
                out.u16(*local);
                out.u16(*by as u16);
            }
        }
        Operand::Constant(index) | Operand::Dynamic(index) | Operand::Interface { index, .. } => {
            out.named(opcode, symbols.constant(*index, from + 1)?);
        }
        Operand::MultiArray { index, dimensions } => {
            out.named(opcode, symbols.constant(*index, from + 1)?);
            out.u8(*dimensions);
        }
        Operand::Branch(target) => {
            out.u8(opcode);
            write_target(out, *target);
        }
        Operand::Table(switch) => {
            out.u8(opcode);
            out.u32(switch.low as u32);
            out.u32(switch.high as u32);
            write_target(out, switch.default);
            for target in switch.targets() {
                write_target(out, target);
            }
        }
        Operand::Lookup(switch) => {
            out.u8(opcode);
            out.u32(switch.pairs().len() as u32);
            write_target(out, switch.default);
            for (key, target) in switch.pairs() {
                out.u32(key as u32);
                write_target(out, target);
            }
        }
    }
    Ok(())
}

/// The opcode that stands for all encodings of an instruction.
#[inline]
fn normal_opcode(opcode: u8) -> u8 {
    match opcode {
        LDC_W => LDC,
        GOTO_W => GOTO,
        JSR_W => JSR,
        other => other,
    }
}

fn write_handlers(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    code: &Code<'_>,
    places: &Places,
) -> Result<(), ReadError> {
    out.u16(code.handler_count() as u16);
    for (index, handler) in code.handlers().enumerate() {
        let from = code.handler_offset(index);
        out.u16(places.target(handler.start as i64, from)?);
        out.u16(places.end(handler.end as i64, from + 2)?);
        out.u16(places.target(handler.handler as i64, from + 4)?);
        out.u8(u8::from(handler.catch_type != 0));
        if handler.catch_type != 0 {
            out.fingerprint(symbols.constant(handler.catch_type, from + 6)?);
        }
    }
    Ok(())
}

/// Writes the attributes of code that count, with the numbers of the
/// instructions they speak of.
pub(crate) fn write_code_attributes(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    code: &Code<'_>,
    options: Options,
) -> Result<(), ReadError> {
    let mut places = Places::default();
    places.reset(code.bytes.len());
    for instruction in code.instructions() {
        places.count += 1;
        places.mark(instruction?.pc as usize, places.count);
    }
    write_attributes(out, symbols, code, &places, options.debug_info)
}

fn write_attributes(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    code: &Code<'_>,
    places: &Places,
    debug_info: DebugInfo,
) -> Result<(), ReadError> {
    let counting = code
        .attributes
        .iter()
        .filter(|attribute| counts(attribute.kind, debug_info));
    // Compilers write these in one order only, and hardly ever more than one.
    let mut sorted: Vec<&Attribute<'_>> = counting.collect();
    sorted.sort_by_key(|attribute| attribute.kind);
    out.u8(sorted.len() as u8);
    for attribute in sorted {
        match attribute.kind {
            AttributeKind::RuntimeVisibleTypeAnnotations => {
                out.u8(b't');
                annotation::write_type_annotations(out, symbols.class, attribute, Some(places))?;
            }
            AttributeKind::LineNumberTable => write_lines(out, attribute, places)?,
            AttributeKind::LocalVariableTable | AttributeKind::LocalVariableTypeTable => {
                write_locals(out, symbols, attribute, places)?;
            }
            _ => write_raw(out, symbols.class, attribute)?,
        }
    }
    Ok(())
}

fn counts(kind: AttributeKind, debug_info: DebugInfo) -> bool {
    match kind {
        AttributeKind::StackMapTable | AttributeKind::RuntimeInvisibleTypeAnnotations => false,
        AttributeKind::LineNumberTable
        | AttributeKind::LocalVariableTable
        | AttributeKind::LocalVariableTypeTable => debug_info == DebugInfo::Track,
        _ => true,
    }
}

/// Writes a place that nothing checks: compilers have written wrong ones.
pub(super) fn write_unchecked_place(out: &mut Canonical, places: Option<&Places>, pc: i64) {
    if let Some(number) = places.and_then(|places| places.number(pc)) {
        out.u8(1);
        out.u16(number);
    } else {
        out.u8(0);
        out.u32(pc as u32);
    }
}

fn write_lines(
    out: &mut Canonical,
    attribute: &Attribute<'_>,
    places: &Places,
) -> Result<(), ReadError> {
    let mut cursor = attribute.cursor();
    let count = cursor.u16()?;
    out.u8(b'l');
    out.u16(count);
    for _ in 0..count {
        write_unchecked_place(out, Some(places), cursor.u16()? as i64);
        out.u16(cursor.u16()?);
    }
    cursor.expect_end()
}

fn write_locals(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    attribute: &Attribute<'_>,
    places: &Places,
) -> Result<(), ReadError> {
    let mut cursor = attribute.cursor();
    let count = cursor.u16()?;
    out.u8(if attribute.kind == AttributeKind::LocalVariableTable {
        b'v'
    } else {
        b'w'
    });
    out.u16(count);
    for _ in 0..count {
        let (start, length) = (cursor.u16()? as i64, cursor.u16()? as i64);
        write_unchecked_place(out, Some(places), start);
        write_unchecked_place(out, Some(places), start + length);
        for _ in 0..2 {
            let from = cursor.offset();
            out.text(symbols.class.pool.utf8(cursor.u16()?, from)?);
        }
        out.u16(cursor.u16()?);
    }
    cursor.expect_end()
}
