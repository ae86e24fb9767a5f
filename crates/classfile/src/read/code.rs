//! The `Code` attribute (JVMS §4.7.3) and its instructions.

use super::attribute::{Attribute, AttributeKind};
use super::class::read_attributes;
use super::opcode::{self, Form};
use super::pool::ConstantPool;
use super::{Cursor, ReadError, ReadErrorKind};

/// The code of a method.
#[derive(Clone, Debug)]
pub struct Code<'a> {
    pub max_stack: u16,
    pub max_locals: u16,
    /// The instructions' bytes.
    pub bytes: &'a [u8],
    /// Offset of the first instruction in the class file.
    pub offset: usize,
    handlers: &'a [u8],
    handlers_offset: usize,
    pub attributes: Vec<Attribute<'a>>,
}

/// An entry of the exception table. Places are offsets in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    pub start: u16,
    /// Exclusive; may be the end of the code.
    pub end: u16,
    pub handler: u16,
    /// Index of the class that is caught, 0 for everything.
    pub catch_type: u16,
}

impl<'a> Code<'a> {
    pub(super) fn read(
        attribute: &Attribute<'a>,
        pool: &ConstantPool<'a>,
    ) -> Result<Self, ReadError> {
        let mut cursor = attribute.cursor();
        let max_stack = cursor.u16()?;
        let max_locals = cursor.u16()?;
        let length_offset = cursor.offset();
        let length = cursor.u32()?;
        if !(1..=65535).contains(&length) {
            return Err(ReadErrorKind::CodeLength(length).at(length_offset));
        }
        let offset = cursor.offset();
        let bytes = cursor.bytes(length as usize)?;
        let handler_count = cursor.u16()? as usize;
        let handlers_offset = cursor.offset();
        let handlers = cursor.bytes(handler_count * 8)?;
        let mut attributes = Vec::new();
        read_attributes(&mut cursor, pool, &mut attributes)?;
        cursor.expect_end()?;
        Ok(Self {
            max_stack,
            max_locals,
            bytes,
            offset,
            handlers,
            handlers_offset,
            attributes,
        })
    }

    pub fn instructions(&self) -> Instructions<'a> {
        Instructions {
            code: self.bytes,
            offset: self.offset,
            pc: 0,
        }
    }

    /// The instruction that starts at `pc`, for callers that know where one
    /// starts.
    #[inline]
    pub fn instruction_at(&self, pc: usize) -> Result<Instruction<'a>, ReadError> {
        Instructions {
            code: self.bytes,
            offset: self.offset,
            pc,
        }
        .read()
    }

    pub fn handler_count(&self) -> usize {
        self.handlers.len() / 8
    }

    /// The exception table in its order, which counts: the first match wins.
    pub fn handlers(&self) -> impl ExactSizeIterator<Item = Handler> + use<'a> {
        self.handlers.chunks_exact(8).map(|entry| {
            let value = |at: usize| u16::from_be_bytes([entry[at], entry[at + 1]]);
            Handler {
                start: value(0),
                end: value(2),
                handler: value(4),
                catch_type: value(6),
            }
        })
    }

    /// Offset in the class file of the exception table's entry `index`.
    pub fn handler_offset(&self, index: usize) -> usize {
        self.handlers_offset + 8 * index
    }

    pub fn attribute(&self, kind: AttributeKind) -> Option<Attribute<'a>> {
        self.attributes
            .iter()
            .find(|attribute| attribute.kind == kind)
            .copied()
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    /// Offset in the code.
    pub pc: u16,
    /// The opcode; the widened one after `wide`.
    pub opcode: u8,
    pub wide: bool,
    pub operand: Operand<'a>,
    /// How many bytes it takes, with `wide` and padding.
    pub length: u32,
}

impl Instruction<'_> {
    /// Offset in the code of the next instruction.
    pub fn end(&self) -> u32 {
        self.pc as u32 + self.length
    }

    /// The constant that the instruction names.
    pub fn constant(&self) -> Option<u16> {
        match self.operand {
            Operand::Constant(index)
            | Operand::Interface { index, .. }
            | Operand::Dynamic(index)
            | Operand::MultiArray { index, .. } => Some(index),
            _ => None,
        }
    }
}

/// What follows an opcode. Branch targets are offsets in the code; they are
/// not checked to be instructions.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    None,
    /// Of `bipush`, `sipush` and `newarray`.
    Value(i32),
    Constant(u16),
    Local(u16),
    Increment {
        local: u16,
        by: i16,
    },
    Branch(i64),
    Table(TableSwitch<'a>),
    Lookup(LookupSwitch<'a>),
    Interface {
        index: u16,
        count: u8,
    },
    Dynamic(u16),
    MultiArray {
        index: u16,
        dimensions: u8,
    },
}

impl Operand<'_> {
    /// Calls `each` with every place that the operand branches to, the default
    /// of a switch first.
    pub fn for_each_target(&self, mut each: impl FnMut(i64)) {
        match self {
            Self::Branch(target) => each(*target),
            Self::Table(switch) => {
                each(switch.default);
                switch.targets().for_each(each);
            }
            Self::Lookup(switch) => {
                each(switch.default);
                switch.pairs().for_each(|(_, target)| each(target));
            }
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct TableSwitch<'a> {
    pub default: i64,
    pub low: i32,
    pub high: i32,
    pc: u16,
    offsets: &'a [u8],
}

impl<'a> TableSwitch<'a> {
    /// The targets for `low` to `high`.
    pub fn targets(&self) -> impl ExactSizeIterator<Item = i64> + use<'a> {
        let pc = self.pc as i64;
        self.offsets
            .chunks_exact(4)
            .map(move |offset| pc + be_i32(offset) as i64)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LookupSwitch<'a> {
    pub default: i64,
    pc: u16,
    pairs: &'a [u8],
}

impl<'a> LookupSwitch<'a> {
    /// Keys with their targets.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (i32, i64)> + use<'a> {
        let pc = self.pc as i64;
        self.pairs
            .chunks_exact(8)
            .map(move |pair| (be_i32(&pair[..4]), pc + be_i32(&pair[4..]) as i64))
    }
}

fn be_i32(bytes: &[u8]) -> i32 {
    i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Reads instructions one after the other; ends after the first error.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    code: &'a [u8],
    offset: usize,
    pc: usize,
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>, ReadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.pc >= self.code.len() {
            return None;
        }
        let instruction = self.read();
        match &instruction {
            Ok(instruction) => self.pc += instruction.length as usize,
            Err(_) => self.pc = self.code.len(),
        }
        Some(instruction)
    }
}

impl<'a> Instructions<'a> {
    #[inline]
    fn read(&self) -> Result<Instruction<'a>, ReadError> {
        let pc = self.pc;
        let rest = self.code.get(pc..).unwrap_or_default();
        let mut cursor = Cursor::new(rest, self.offset + pc);
        let opcode = cursor.u8()?;
        if opcode == opcode::WIDE {
            return self.read_wide(cursor);
        }
        let target = |offset: i32| Operand::Branch(pc as i64 + offset as i64);
        let operand = match opcode::form(opcode) {
            Form::Plain => Operand::None,
            Form::Byte => Operand::Value(cursor.u8()? as i8 as i32),
            Form::Short => Operand::Value(cursor.i16()? as i32),
            Form::ArrayType => Operand::Value(cursor.u8()? as i32),
            Form::Constant1 => Operand::Constant(cursor.u8()? as u16),
            Form::Constant2 => Operand::Constant(cursor.u16()?),
            Form::Local => Operand::Local(cursor.u8()? as u16),
            Form::Increment => Operand::Increment {
                local: cursor.u8()? as u16,
                by: cursor.u8()? as i8 as i16,
            },
            Form::Branch2 => target(cursor.i16()? as i32),
            Form::Branch4 => target(cursor.i32()?),
            Form::TableSwitch => self.table_switch(&mut cursor)?,
            Form::LookupSwitch => self.lookup_switch(&mut cursor)?,
            Form::InvokeInterface => {
                let operand = Operand::Interface {
                    index: cursor.u16()?,
                    count: cursor.u8()?,
                };
                cursor.u8()?;
                operand
            }
            Form::InvokeDynamic => {
                let operand = Operand::Dynamic(cursor.u16()?);
                cursor.u16()?;
                operand
            }
            Form::MultiArray => Operand::MultiArray {
                index: cursor.u16()?,
                dimensions: cursor.u8()?,
            },
            Form::Wide | Form::Unknown => {
                return Err(ReadErrorKind::UnknownOpcode(opcode).at(self.offset + pc));
            }
        };
        let length = cursor.position() as u32;
        Ok(Instruction {
            pc: pc as u16,
            opcode,
            wide: false,
            operand,
            length,
        })
    }

    fn read_wide(&self, mut cursor: Cursor<'a>) -> Result<Instruction<'a>, ReadError> {
        let opcode = cursor.u8()?;
        let operand = match opcode::form(opcode) {
            Form::Local => Operand::Local(cursor.u16()?),
            Form::Increment => Operand::Increment {
                local: cursor.u16()?,
                by: cursor.i16()?,
            },
            _ => return Err(ReadErrorKind::NotWide(opcode).at(self.offset + self.pc)),
        };
        let length = cursor.position() as u32;
        Ok(Instruction {
            pc: self.pc as u16,
            opcode,
            wide: true,
            operand,
            length,
        })
    }

    fn table_switch(&self, cursor: &mut Cursor<'a>) -> Result<Operand<'a>, ReadError> {
        let default = self.switch_default(cursor)?;
        let at = cursor.offset();
        let (low, high) = (cursor.i32()?, cursor.i32()?);
        let count = high as i64 - low as i64 + 1;
        if count < 1 {
            return Err(ReadErrorKind::BadSwitch { low, high }.at(at));
        }
        let offsets = cursor.bytes(count as usize * 4)?;
        Ok(Operand::Table(TableSwitch {
            default,
            low,
            high,
            pc: self.pc as u16,
            offsets,
        }))
    }

    fn lookup_switch(&self, cursor: &mut Cursor<'a>) -> Result<Operand<'a>, ReadError> {
        let default = self.switch_default(cursor)?;
        let at = cursor.offset();
        let count = cursor.i32()?;
        let count = usize::try_from(count).map_err(|_| {
            ReadErrorKind::BadSwitch {
                low: 0,
                high: count,
            }
            .at(at)
        })?;
        let pairs = cursor.bytes(count.saturating_mul(8))?;
        Ok(Operand::Lookup(LookupSwitch {
            default,
            pc: self.pc as u16,
            pairs,
        }))
    }

    /// Skips the padding that puts a switch's table at a multiple of 4.
    fn switch_default(&self, cursor: &mut Cursor<'a>) -> Result<i64, ReadError> {
        cursor.bytes(3 - self.pc % 4)?;
        Ok(self.pc as i64 + cursor.i32()? as i64)
    }
}
