//! Lays the instructions of a method out anew.

use std::ops::Range;

use super::error::{DeletionFault, RewriteErrorKind};
use super::positions::Positions;
use super::snippet::Snippet;
use crate::read::opcode::{self, Form};
use crate::read::{Code, Instruction, Operand, ReadErrorKind};

/// Length of `goto_w` and `jsr_w`.
const FAR_JUMP: u32 = 5;
/// Length of a conditional branch with a two-byte offset.
const NEAR_BRANCH: u32 = 3;

/// The old instructions with what stands before each of them, and where all of
/// it lies in the new code.
pub(super) struct Layout<'a, 'p> {
    code: &'p Code<'a>,
    instructions: Vec<Instruction<'a>>,
    /// For each instruction, whether its offset takes four bytes now.
    widened: Vec<bool>,
    /// For each instruction, what was put before it.
    inserted: Vec<Vec<&'p Snippet>>,
    deleted: Vec<bool>,
    /// For each byte of the old code and its end, the index of the instruction
    /// that starts there, or `NONE`.
    starts: Vec<u32>,
    /// For each byte of the old code and its end, where a branch to it goes.
    targets: Vec<u32>,
    /// For each instruction, where it is itself.
    places: Vec<u32>,
    entry: &'p [u8],
}

const NONE: u32 = u32::MAX;

impl<'a, 'p> Layout<'a, 'p> {
    /// Takes the code apart. Nothing is placed yet.
    pub(super) fn new(code: &'p Code<'a>, entry: &'p [u8]) -> Result<Self, RewriteErrorKind> {
        let mut instructions = Vec::with_capacity(code.bytes.len() / 2);
        let mut starts = vec![NONE; code.bytes.len() + 1];
        for instruction in code.instructions() {
            let instruction = instruction?;
            starts[instruction.pc as usize] = instructions.len() as u32;
            instructions.push(instruction);
        }
        let count = instructions.len();
        let layout = Self {
            code,
            instructions,
            widened: vec![false; count],
            inserted: vec![Vec::new(); count],
            deleted: vec![false; count],
            targets: vec![0; starts.len()],
            starts,
            places: vec![0; count],
            entry,
        };
        layout.check_targets()?;
        Ok(layout)
    }

    fn check_targets(&self) -> Result<(), RewriteErrorKind> {
        for instruction in &self.instructions {
            let mut bad = None;
            instruction.operand.for_each_target(|target| {
                if self.index_at(target).is_none() {
                    bad.get_or_insert(target);
                }
            });
            if let Some(target) = bad {
                let offset = self.code.offset + instruction.pc as usize;
                return Err(ReadErrorKind::BadTarget(target).at(offset).into());
            }
        }
        Ok(())
    }

    pub(super) fn instructions(&self) -> &[Instruction<'a>] {
        &self.instructions
    }

    /// Puts code before the instruction at `pc`, behind what is there already.
    pub(super) fn insert(&mut self, pc: u16, snippet: &'p Snippet) -> Result<(), RewriteErrorKind> {
        let index = self.index(pc as u32)?;
        self.inserted[index].push(snippet);
        Ok(())
    }

    /// Takes out the instructions of a range.
    pub(super) fn delete(&mut self, range: &Range<u16>) -> Result<(), RewriteErrorKind> {
        let fault = |fault| RewriteErrorKind::CannotDelete {
            start: range.start,
            end: range.end,
            fault,
        };
        if range.is_empty() {
            return Err(fault(DeletionFault::Empty));
        }
        let first = self.index(range.start as u32)?;
        // The end of the code is no instruction: a method cannot run into it.
        let end = self.index(range.end as u32)?;
        for instruction in &self.instructions[first..end] {
            if leaves_line(instruction.opcode) {
                return Err(fault(DeletionFault::Branch(instruction.pc)));
            }
        }
        self.check_no_way_into(range).map_err(fault)?;
        self.check_handlers(range).map_err(fault)?;
        self.deleted[first..end].fill(true);
        Ok(())
    }

    fn check_no_way_into(&self, range: &Range<u16>) -> Result<(), DeletionFault> {
        let inside = |pc: i64| pc > range.start as i64 && pc < range.end as i64;
        for instruction in &self.instructions {
            let mut into = false;
            instruction
                .operand
                .for_each_target(|target| into |= inside(target));
            if into {
                return Err(DeletionFault::BranchedInto(instruction.pc));
            }
        }
        Ok(())
    }

    fn check_handlers(&self, range: &Range<u16>) -> Result<(), DeletionFault> {
        let inside = |pc: u16| pc > range.start && pc < range.end;
        for (index, handler) in self.code.handlers().enumerate() {
            let cut = [handler.start, handler.end, handler.handler]
                .into_iter()
                .any(inside);
            let emptied = handler.start >= range.start && handler.end <= range.end;
            if cut || emptied {
                return Err(DeletionFault::Handler(index));
            }
        }
        Ok(())
    }

    /// Finds a place for everything. Branches that do not reach are widened,
    /// which moves others, until all reach: no branch is ever narrowed, so this
    /// ends.
    pub(super) fn place(&mut self) {
        loop {
            self.place_once();
            if !self.widen() {
                return;
            }
        }
    }

    fn place_once(&mut self) {
        let mut at = self.entry.len() as u32;
        for index in 0..self.instructions.len() {
            let instruction = &self.instructions[index];
            let pc = instruction.pc as usize;
            self.targets[pc] = at;
            at += length_of(&self.inserted[index]);
            self.places[index] = at;
            let length = if self.deleted[index] {
                0
            } else {
                self.length_at(index, at)
            };
            // Places within an instruction are wrong in any table, but what
            // was wrong stays as wrong as it was.
            for inner in 1..instruction.length {
                self.targets[pc + inner as usize] = at + inner.min(length);
            }
            at += length;
        }
        self.targets[self.code.bytes.len()] = at;
    }

    /// The length of an instruction at its new place.
    fn length_at(&self, index: usize, at: u32) -> u32 {
        let instruction = &self.instructions[index];
        match instruction.operand {
            Operand::Table(_) | Operand::Lookup(_) => {
                instruction.length - padding(instruction.pc as u32) + padding(at)
            }
            Operand::Branch(_) if self.widened[index] => {
                if is_conditional(instruction.opcode) {
                    NEAR_BRANCH + FAR_JUMP
                } else {
                    FAR_JUMP
                }
            }
            _ => instruction.length,
        }
    }

    fn widen(&mut self) -> bool {
        let mut changed = false;
        for (index, instruction) in self.instructions.iter().enumerate() {
            if self.widened[index] || opcode::form(instruction.opcode) != Form::Branch2 {
                continue;
            }
            if let Operand::Branch(target) = instruction.operand {
                let offset = self.offset_to(index, target);
                if i16::try_from(offset).is_err() {
                    self.widened[index] = true;
                    changed = true;
                }
            }
        }
        changed
    }

    /// The distance from an instruction to a branch target, in the new code.
    fn offset_to(&self, index: usize, target: i64) -> i32 {
        self.targets[target as usize] as i32 - self.places[index] as i32
    }

    /// The length of the code, with what stands at entry.
    pub(super) fn length(&self) -> u32 {
        self.targets[self.code.bytes.len()]
    }

    /// The old places that need a frame because the conditional branch before
    /// them was widened: the branch skips a `goto_w`, and where it lands the
    /// JVM wants a frame.
    pub(super) fn new_targets(&self) -> impl Iterator<Item = u32> {
        let widened = self.instructions.iter().zip(&self.widened);
        widened
            .filter(|(instruction, widened)| **widened && is_conditional(instruction.opcode))
            .map(|(instruction, _)| instruction.end())
    }

    /// The ends of inserted code that need a frame: the old place, and the new
    /// place of the frame.
    pub(super) fn frames_after(&self) -> Vec<(u32, u32)> {
        let mut frames = Vec::new();
        for (instruction, snippets) in self.instructions.iter().zip(&self.inserted) {
            let mut at = self.targets[instruction.pc as usize];
            for snippet in snippets {
                at += snippet.code.len() as u32;
                if snippet.frame_after {
                    frames.push((instruction.pc as u32, at));
                }
            }
        }
        frames
    }

    /// The new ranges of instructions for which `covered` holds, with the code
    /// before them, but without the last `tail(instruction)` bytes of that.
    pub(super) fn ranges(
        &self,
        mut covered: impl FnMut(&Instruction<'a>) -> bool,
        mut tail: impl FnMut(&Instruction<'a>) -> u32,
    ) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let mut add = |range: Range<u32>| match ranges.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        };
        for (index, instruction) in self.instructions.iter().enumerate() {
            if !covered(instruction) {
                continue;
            }
            let place = self.places[index];
            add(self.targets[instruction.pc as usize]..place - tail(instruction));
            add(place..self.targets[instruction.end() as usize]);
        }
        ranges
    }

    /// Writes the code.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.entry);
        for index in 0..self.instructions.len() {
            for snippet in &self.inserted[index] {
                out.extend(&snippet.code);
            }
            if !self.deleted[index] {
                self.write_instruction(index, out);
            }
        }
    }

    fn write_instruction(&self, index: usize, out: &mut Vec<u8>) {
        let instruction = &self.instructions[index];
        let old = &self.code.bytes[instruction.pc as usize..instruction.end() as usize];
        match instruction.operand {
            Operand::Branch(target) => self.write_branch(index, target, out),
            Operand::Table(switch) => {
                self.write_switch_head(index, old, switch.default, out);
                out.extend(switch.low.to_be_bytes());
                out.extend(switch.high.to_be_bytes());
                for target in switch.targets() {
                    out.extend(self.offset_to(index, target).to_be_bytes());
                }
            }
            Operand::Lookup(switch) => {
                self.write_switch_head(index, old, switch.default, out);
                out.extend((switch.pairs().len() as i32).to_be_bytes());
                for (key, target) in switch.pairs() {
                    out.extend(key.to_be_bytes());
                    out.extend(self.offset_to(index, target).to_be_bytes());
                }
            }
            _ => out.extend(old),
        }
    }

    fn write_branch(&self, index: usize, target: i64, out: &mut Vec<u8>) {
        let opcode = self.instructions[index].opcode;
        let offset = self.offset_to(index, target);
        if opcode::form(opcode) == Form::Branch4 {
            out.push(opcode);
            out.extend(offset.to_be_bytes());
        } else if !self.widened[index] {
            out.push(opcode);
            out.extend((offset as i16).to_be_bytes());
        } else if is_conditional(opcode) {
            out.push(inverted(opcode));
            out.extend(((NEAR_BRANCH + FAR_JUMP) as i16).to_be_bytes());
            out.push(opcode::GOTO_W);
            out.extend((offset - NEAR_BRANCH as i32).to_be_bytes());
        } else {
            out.push(if opcode == opcode::JSR {
                opcode::JSR_W
            } else {
                opcode::GOTO_W
            });
            out.extend(offset.to_be_bytes());
        }
    }

    fn write_switch_head(&self, index: usize, old: &[u8], default: i64, out: &mut Vec<u8>) {
        let old_padding = padding(self.instructions[index].pc as u32);
        let new_padding = padding(self.places[index]);
        out.push(old[0]);
        if old_padding == new_padding {
            // Padding may be anything; what was there stays.
            out.extend(&old[1..=old_padding as usize]);
        } else {
            out.resize(out.len() + new_padding as usize, 0);
        }
        out.extend(self.offset_to(index, default).to_be_bytes());
    }

    fn index(&self, pc: u32) -> Result<usize, RewriteErrorKind> {
        self.index_at(pc as i64)
            .ok_or(RewriteErrorKind::NotAnInstruction(pc))
    }

    fn index_at(&self, pc: i64) -> Option<usize> {
        match self.starts.get(usize::try_from(pc).ok()?) {
            None | Some(&NONE) => None,
            Some(&index) => Some(index as usize),
        }
    }
}

impl Positions for Layout<'_, '_> {
    fn target(&self, pc: u32) -> Result<u32, RewriteErrorKind> {
        self.index(pc)?;
        Ok(self.targets[pc as usize])
    }

    fn boundary(&self, pc: u32) -> u32 {
        match self.targets.get(pc as usize) {
            _ if pc == 0 => 0,
            Some(&target) => target,
            // Past the end, where no table should point, and as far past it.
            None => self.length() + (pc - self.code.bytes.len() as u32),
        }
    }

    fn instruction(&self, pc: u32) -> Option<u32> {
        let index = self.index_at(pc as i64)?;
        (!self.deleted[index]).then_some(self.places[index])
    }

    fn is_deleted(&self, pc: u32) -> bool {
        self.index_at(pc as i64)
            .is_some_and(|index| self.deleted[index])
    }
}

fn length_of(snippets: &[&Snippet]) -> u32 {
    snippets
        .iter()
        .map(|snippet| snippet.code.len() as u32)
        .sum()
}

/// The bytes between the opcode of a switch at `pc` and its table.
fn padding(pc: u32) -> u32 {
    3 - pc % 4
}

fn is_conditional(opcode: u8) -> bool {
    matches!(
        opcode,
        opcode::IFEQ..=opcode::IF_ACMPNE | opcode::IFNULL | opcode::IFNONNULL
    )
}

/// Whether control may go elsewhere than to the next instruction.
fn leaves_line(opcode: u8) -> bool {
    matches!(opcode, opcode::IFEQ..=opcode::RETURN | opcode::ATHROW)
        || matches!(opcode, opcode::IFNULL..=opcode::JSR_W)
}

/// The branch that is taken when `opcode` is not.
fn inverted(opcode: u8) -> u8 {
    match opcode {
        // Pairs start at odd numbers here, and at even ones for null checks.
        opcode::IFEQ..=opcode::IF_ACMPNE => ((opcode + 1) ^ 1) - 1,
        _ => opcode ^ 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverting_a_branch_twice_gives_it_back() {
        assert_eq!(inverted(opcode::IFEQ), opcode::IFNE);
        assert_eq!(inverted(opcode::IFLT), opcode::IFGE);
        assert_eq!(inverted(opcode::IFGT), opcode::IFLE);
        assert_eq!(inverted(opcode::IF_ICMPEQ), opcode::IF_ICMPNE);
        assert_eq!(inverted(opcode::IF_ACMPEQ), opcode::IF_ACMPNE);
        assert_eq!(inverted(opcode::IFNULL), opcode::IFNONNULL);
        for opcode in (0..=255).filter(|&opcode| is_conditional(opcode)) {
            assert!(is_conditional(inverted(opcode)));
            assert_eq!(inverted(inverted(opcode)), opcode);
        }
    }
}
