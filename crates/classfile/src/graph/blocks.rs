//! Cuts code into basic blocks.

use fewest_model::ClassName;

use super::{Block, Graph, HandlerEdge};
use crate::fingerprint::{
    Canonical, Options, SymbolCache, Symbols, write_code_attributes, write_instruction,
    write_outside_of_code,
};
use crate::read::opcode::{self, GOTO, GOTO_W, JSR, JSR_W, RET};
use crate::read::{
    ClassFile, Code, Instruction, Member, ReadError, ReadErrorKind, decode_modified_utf8,
};

impl Graph {
    /// The graph of a method, or `None` if it has no code.
    ///
    /// Code with subroutines (`jsr` and `ret`, which compilers stopped to write
    /// with Java 6) becomes a single block without edges: where `ret` goes is
    /// not written in it.
    pub fn of(
        class: &ClassFile<'_>,
        method: &Member,
        options: Options,
    ) -> Result<Option<Self>, ReadError> {
        let Some(code) = class.code(method)? else {
            return Ok(None);
        };
        let mut cache = SymbolCache::default();
        let mut symbols = Symbols::new(class, &mut cache);
        let mut out = Canonical::default();
        write_outside_of_code(&mut out, class, method, options)?;
        write_code_attributes(&mut out, &mut symbols, &code, options)?;
        let declaration = out.finish();
        let instructions = code.instructions().collect::<Result<Vec<_>, _>>()?;
        let mut builder = Builder {
            class,
            code: &code,
            symbols,
            out,
        };
        let blocks = if instructions.iter().any(is_subroutine) {
            builder.single_block(&instructions)?
        } else {
            builder.blocks(&instructions)?
        };
        Ok(Some(Self {
            declaration,
            blocks,
        }))
    }
}

fn is_subroutine(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.opcode, JSR | JSR_W | RET)
}

struct Builder<'c, 'a> {
    class: &'c ClassFile<'a>,
    code: &'c Code<'a>,
    symbols: Symbols<'c, 'a>,
    out: Canonical,
}

impl Builder<'_, '_> {
    fn blocks(&mut self, instructions: &[Instruction<'_>]) -> Result<Vec<Block>, ReadError> {
        let leaders = leaders(self.code, instructions)?;
        // The block that starts at each offset, for edges.
        let mut block_at = vec![None; self.code.bytes.len()];
        let starts: Vec<usize> = (0..instructions.len())
            .filter(|&number| leaders[instructions[number].pc as usize])
            .collect();
        for (block, &start) in starts.iter().enumerate() {
            block_at[instructions[start].pc as usize] = Some(block);
        }
        let ends = starts.iter().skip(1).copied().chain([instructions.len()]);
        starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| self.block(&instructions[start..end], start, &block_at))
            .collect()
    }

    fn block(
        &mut self,
        instructions: &[Instruction<'_>],
        number: usize,
        block_at: &[Option<usize>],
    ) -> Result<Block, ReadError> {
        let (first, last) = match instructions {
            [only] => (only, only),
            [first, .., last] => (first, last),
            [] => unreachable!("a block starts with an instruction"),
        };
        self.out.clear();
        for instruction in instructions {
            // A jump to where control goes anyway is no deed of its own.
            if !matches!(instruction.opcode, GOTO | GOTO_W) {
                let from = self.code.offset + instruction.pc as usize;
                write_instruction(
                    &mut self.out,
                    &mut self.symbols,
                    instruction,
                    from,
                    |_, _| {},
                )?;
            }
        }
        Ok(Block {
            code: first.pc as u32..last.end(),
            instructions: number as u32..(number + instructions.len()) as u32,
            fingerprint: self.out.finish(),
            successors: self.successors(last, block_at)?,
            handlers: self.handlers(first.pc, block_at)?,
        })
    }

    fn successors(
        &self,
        last: &Instruction<'_>,
        block_at: &[Option<usize>],
    ) -> Result<Vec<usize>, ReadError> {
        let mut targets = Vec::new();
        last.operand.for_each_target(|target| targets.push(target));
        if !opcode::ends_block(last.opcode) {
            targets.push(last.end() as i64);
        }
        let from = self.code.offset + last.pc as usize;
        let block = |target| block_of(block_at, target, from);
        targets.into_iter().map(block).collect()
    }

    /// The handlers that cover a block. Its first instruction decides, because
    /// blocks are cut where covered ranges start and end.
    fn handlers(&self, pc: u16, block_at: &[Option<usize>]) -> Result<Vec<HandlerEdge>, ReadError> {
        let mut edges = Vec::new();
        for (index, handler) in self.code.handlers().enumerate() {
            if !(handler.start..handler.end).contains(&pc) {
                continue;
            }
            let from = self.code.handler_offset(index);
            let catch_type = self
                .class
                .pool
                .optional_class_name(handler.catch_type, from + 6)?;
            edges.push(HandlerEdge {
                catch_type: catch_type.map(|name| ClassName::new(decode_modified_utf8(name))),
                block: block_of(block_at, handler.handler as i64, from + 4)?,
            });
        }
        Ok(edges)
    }

    /// All of the code as one block, handlers and targets included.
    fn single_block(&mut self, instructions: &[Instruction<'_>]) -> Result<Vec<Block>, ReadError> {
        self.out.clear();
        for instruction in instructions {
            let from = self.code.offset + instruction.pc as usize;
            let pc = instruction.pc as i64;
            write_instruction(
                &mut self.out,
                &mut self.symbols,
                instruction,
                from,
                |out, target| out.u32((target - pc) as u32),
            )?;
        }
        for (index, handler) in self.code.handlers().enumerate() {
            for place in [handler.start, handler.end, handler.handler] {
                self.out.u16(place);
            }
            if handler.catch_type != 0 {
                let from = self.code.handler_offset(index) + 6;
                let catch_type = self.symbols.constant(handler.catch_type, from)?;
                self.out.fingerprint(catch_type);
            }
        }
        Ok(vec![Block {
            code: 0..self.code.bytes.len() as u32,
            instructions: 0..instructions.len() as u32,
            fingerprint: self.out.finish(),
            successors: Vec::new(),
            handlers: Vec::new(),
        }])
    }
}

fn block_of(block_at: &[Option<usize>], target: i64, from: usize) -> Result<usize, ReadError> {
    usize::try_from(target)
        .ok()
        .and_then(|target| *block_at.get(target)?)
        .ok_or_else(|| ReadErrorKind::BadTarget(target).at(from))
}

/// By offset in the code, whether a basic block starts there: at the entry, at
/// targets, after branches, and where ranges of handlers start and end.
pub(crate) fn leaders(
    code: &Code<'_>,
    instructions: &[Instruction<'_>],
) -> Result<Vec<bool>, ReadError> {
    let length = code.bytes.len();
    let mut is_instruction = vec![false; length];
    for instruction in instructions {
        is_instruction[instruction.pc as usize] = true;
    }
    let mut leaders = vec![false; length];
    let mut mark = |target: i64, from: usize| match usize::try_from(target) {
        Ok(pc) if is_instruction.get(pc) == Some(&true) => {
            leaders[pc] = true;
            Ok(())
        }
        _ => Err(ReadErrorKind::BadTarget(target).at(from)),
    };
    mark(0, code.offset)?;
    for instruction in instructions {
        let from = code.offset + instruction.pc as usize;
        let mut branches = opcode::ends_block(instruction.opcode);
        let mut result = Ok(());
        instruction.operand.for_each_target(|target| {
            branches = true;
            if result.is_ok() {
                result = mark(target, from);
            }
        });
        result?;
        if branches && (instruction.end() as usize) < length {
            mark(instruction.end() as i64, from)?;
        }
    }
    for (index, handler) in code.handlers().enumerate() {
        let from = code.handler_offset(index);
        mark(handler.start as i64, from)?;
        mark(handler.handler as i64, from + 4)?;
        if handler.end as usize != length {
            mark(handler.end as i64, from + 2)?;
        }
    }
    Ok(leaders)
}
