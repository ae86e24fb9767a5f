//! Follows types through code without branches.
//!
//! Where control flow meets, a class of version 50 or later says the types in a
//! stack map frame. Between two frames each instruction has one predecessor, so
//! the types at any place follow from the frame before it, and no class but the
//! one at hand need be known.

use std::borrow::Cow;

use super::error::RewriteErrorKind;
use super::types::{State, Type, parse_method, parse_type, push};
use crate::read::opcode::{self as op};
use crate::read::{ClassFile, Code, Constant, Instruction, Operand};

/// Types before each instruction that is reached, told to `each` in order.
/// `frames` are the method's frames by place, sorted.
pub(super) fn simulate<'a>(
    class: &'a ClassFile<'a>,
    code: &Code<'a>,
    initial: State<'a>,
    frames: &[(u32, State<'a>)],
    mut each: impl FnMut(&Instruction<'a>, Option<&State<'a>>),
) -> Result<(), RewriteErrorKind> {
    let mut state = Some(initial);
    let mut frames = frames.iter().peekable();
    for instruction in code.instructions() {
        let instruction = instruction?;
        while let Some((_, frame)) = frames.next_if(|(pc, _)| *pc <= instruction.pc as u32) {
            state = Some(frame.clone());
        }
        each(&instruction, state.as_ref());
        if let Some(types) = &mut state {
            let mut step = Step {
                class,
                code,
                offset: code.offset + instruction.pc as usize,
                types,
            };
            if !step.run(&instruction)? {
                state = None;
            }
        }
    }
    Ok(())
}

/// One instruction at work on the types.
struct Step<'s, 'a> {
    class: &'a ClassFile<'a>,
    code: &'s Code<'a>,
    offset: usize,
    types: &'s mut State<'a>,
}

impl<'a> Step<'_, 'a> {
    /// Whether the next instruction follows.
    fn run(&mut self, instruction: &Instruction<'a>) -> Result<bool, RewriteErrorKind> {
        let opcode = instruction.opcode;
        match opcode {
            op::NOP | op::IINC | op::INEG..=op::DNEG => {}
            op::ACONST_NULL => self.push(Type::Null),
            op::ICONST_M1..=op::ICONST_5 | op::BIPUSH | op::SIPUSH => self.push(Type::Integer),
            op::LCONST_0 | op::LCONST_1 => self.push(Type::Long),
            op::FCONST_0..=op::FCONST_2 => self.push(Type::Float),
            op::DCONST_0 | op::DCONST_1 => self.push(Type::Double),
            op::LDC | op::LDC_W | op::LDC2_W => self.constant(instruction)?,
            op::ILOAD..=op::ALOAD_3 => self.load(instruction)?,
            op::IALOAD..=op::SALOAD => self.array_load(opcode)?,
            op::ISTORE..=op::ASTORE_3 => self.store(instruction)?,
            op::IASTORE | op::FASTORE | op::AASTORE..=op::SASTORE => self.pop(3)?,
            op::LASTORE | op::DASTORE => self.pop(4)?,
            op::POP | op::MONITORENTER | op::MONITOREXIT => self.pop(1)?,
            op::POP2 => self.pop(2)?,
            op::DUP..=op::DUP_X2 => self.duplicate(1, (opcode - op::DUP) as usize)?,
            op::DUP2..=op::DUP2_X2 => self.duplicate(2, (opcode - op::DUP2) as usize)?,
            op::SWAP => {
                let length = self.types.stack.len();
                if length < 2 {
                    return Err(self.unknown());
                }
                self.types.stack.swap(length - 1, length - 2);
            }
            op::IADD..=op::DREM => {
                let kind = number((opcode - op::IADD) % 4);
                let slots = if kind.is_wide() { 4 } else { 2 };
                self.replace(slots, kind)?;
            }
            op::ISHL..=op::LUSHR => self.pop(1)?,
            op::IAND..=op::LXOR => {
                let kind = number((opcode - op::IAND) % 2);
                let slots = if kind.is_wide() { 4 } else { 2 };
                self.replace(slots, kind)?;
            }
            op::I2L..=op::D2F => self.convert(opcode)?,
            op::I2B..=op::I2S => self.replace(1, Type::Integer)?,
            op::LCMP | op::DCMPL | op::DCMPG => self.replace(4, Type::Integer)?,
            op::FCMPL | op::FCMPG => self.replace(2, Type::Integer)?,
            op::IFEQ..=op::IFLE | op::IFNULL | op::IFNONNULL => self.pop(1)?,
            op::IF_ICMPEQ..=op::IF_ACMPNE => self.pop(2)?,
            op::GOTO
            | op::GOTO_W
            | op::TABLESWITCH
            | op::LOOKUPSWITCH
            | op::IRETURN..=op::RETURN
            | op::ATHROW => return Ok(false),
            op::GETSTATIC => {
                let field = self.field(instruction)?;
                self.push(field);
            }
            op::PUTSTATIC => {
                let field = self.field(instruction)?;
                self.pop(slots_of(&field))?;
            }
            op::GETFIELD => {
                let field = self.field(instruction)?;
                self.replace(1, field)?;
            }
            op::PUTFIELD => {
                let field = self.field(instruction)?;
                self.pop(1 + slots_of(&field))?;
            }
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => self.invoke(instruction)?,
            op::NEW => self.push(Type::Uninitialized(instruction.pc)),
            op::NEWARRAY => {
                let array = self.primitive_array(instruction)?;
                self.replace(1, array)?;
            }
            op::ANEWARRAY => {
                let array = self.array_of(instruction)?;
                self.replace(1, array)?;
            }
            op::ARRAYLENGTH | op::INSTANCEOF => self.replace(1, Type::Integer)?,
            op::CHECKCAST => {
                let class = self.class_operand(instruction)?;
                self.replace(1, Type::object(class))?;
            }
            op::MULTIANEWARRAY => {
                let Operand::MultiArray { dimensions, .. } = instruction.operand else {
                    return Err(self.unknown());
                };
                let class = self.class_operand(instruction)?;
                self.replace(dimensions as usize, Type::object(class))?;
            }
            // `jsr` and `ret` are no instructions where there are frames.
            _ => return Err(self.unknown()),
        }
        Ok(true)
    }

    fn push(&mut self, value: Type<'a>) {
        push(&mut self.types.stack, value);
    }

    fn pop(&mut self, slots: usize) -> Result<(), RewriteErrorKind> {
        let stack = &mut self.types.stack;
        match stack.len().checked_sub(slots) {
            Some(rest) => {
                stack.truncate(rest);
                Ok(())
            }
            None => Err(self.unknown()),
        }
    }

    fn replace(&mut self, slots: usize, value: Type<'a>) -> Result<(), RewriteErrorKind> {
        self.pop(slots)?;
        self.push(value);
        Ok(())
    }

    /// Puts a copy of the top slots below `below` more slots.
    fn duplicate(&mut self, slots: usize, below: usize) -> Result<(), RewriteErrorKind> {
        let stack = &mut self.types.stack;
        let length = stack.len();
        if length < slots + below {
            return Err(self.unknown());
        }
        let copy = stack[length - slots..].to_vec();
        let at = length - slots - below;
        stack.splice(at..at, copy);
        Ok(())
    }

    fn constant(&mut self, instruction: &Instruction<'a>) -> Result<(), RewriteErrorKind> {
        let index = instruction.constant().ok_or_else(|| self.unknown())?;
        let value = match self.class.pool.get(index, self.offset)? {
            Constant::Integer(_) => Type::Integer,
            Constant::Float(_) => Type::Float,
            Constant::Long(_) => Type::Long,
            Constant::Double(_) => Type::Double,
            Constant::String { .. } => Type::object(b"java/lang/String"),
            Constant::Class { .. } => Type::object(b"java/lang/Class"),
            Constant::MethodType { .. } => Type::object(b"java/lang/invoke/MethodType"),
            Constant::MethodHandle { .. } => Type::object(b"java/lang/invoke/MethodHandle"),
            Constant::Dynamic { name_and_type, .. } => {
                let name_and_type = self.class.pool.name_and_type(name_and_type, self.offset)?;
                parse_type(name_and_type.descriptor, self.offset)?
            }
            _ => return Err(self.unknown()),
        };
        self.push(value);
        Ok(())
    }

    fn load(&mut self, instruction: &Instruction<'a>) -> Result<(), RewriteErrorKind> {
        let (kind, local) = local_of(instruction, op::ILOAD, op::ILOAD_0);
        let value = if kind == 4 {
            let value = self.types.locals.get(local).cloned();
            value.ok_or_else(|| self.unknown())?
        } else {
            number(kind)
        };
        self.push(value);
        Ok(())
    }

    fn store(&mut self, instruction: &Instruction<'a>) -> Result<(), RewriteErrorKind> {
        let (kind, local) = local_of(instruction, op::ISTORE, op::ISTORE_0);
        let value = if kind == 4 {
            let value = self.types.stack.last().cloned();
            value.ok_or_else(|| self.unknown())?
        } else {
            number(kind)
        };
        self.pop(slots_of(&value))?;
        self.set_local(local, value);
        Ok(())
    }

    fn set_local(&mut self, local: usize, value: Type<'a>) {
        let locals = &mut self.types.locals;
        let end = local + slots_of(&value);
        if locals.len() < end {
            locals.resize(end, Type::Top);
        }
        // What loses one of its two slots is gone.
        if locals[local] == Type::Second {
            locals[local - 1] = Type::Top;
        }
        if locals.get(end) == Some(&Type::Second) {
            locals[end] = Type::Top;
        }
        if value.is_wide() {
            locals[local + 1] = Type::Second;
        }
        locals[local] = value;
    }

    fn array_load(&mut self, opcode: u8) -> Result<(), RewriteErrorKind> {
        let value = match opcode {
            op::LALOAD => Type::Long,
            op::FALOAD => Type::Float,
            op::DALOAD => Type::Double,
            op::AALOAD => self.element()?,
            _ => Type::Integer,
        };
        self.replace(2, value)
    }

    /// The element type of the array below the top of the stack.
    fn element(&self) -> Result<Type<'a>, RewriteErrorKind> {
        let stack = &self.types.stack;
        let array = stack.len().checked_sub(2).map(|at| &stack[at]);
        match array {
            Some(Type::Null) => Ok(Type::Null),
            Some(Type::Object(Cow::Borrowed(name))) => {
                let element = name.strip_prefix(b"[").ok_or_else(|| self.unknown())?;
                Ok(parse_type(element, self.offset)?)
            }
            Some(Type::Object(Cow::Owned(name))) => {
                let element = name.strip_prefix(b"[").ok_or_else(|| self.unknown())?;
                match parse_type(element, self.offset)? {
                    Type::Object(name) => Ok(Type::Object(Cow::Owned(name.into_owned()))),
                    _ => Err(self.unknown()),
                }
            }
            _ => Err(self.unknown()),
        }
    }

    fn convert(&mut self, opcode: u8) -> Result<(), RewriteErrorKind> {
        // Three conversions from each of int, long, float and double.
        let from = (opcode - op::I2L) / 3;
        let to = (opcode - op::I2L) % 3;
        let to = number(if to < from { to } else { to + 1 });
        self.replace(slots_of(&number(from)), to)
    }

    fn field(&self, instruction: &Instruction<'a>) -> Result<Type<'a>, RewriteErrorKind> {
        let index = instruction.constant().ok_or_else(|| self.unknown())?;
        let field = self.class.pool.member(index, self.offset)?;
        Ok(parse_type(field.descriptor, self.offset)?)
    }

    fn invoke(&mut self, instruction: &Instruction<'a>) -> Result<(), RewriteErrorKind> {
        let index = instruction.constant().ok_or_else(|| self.unknown())?;
        let pool = &self.class.pool;
        let (name, descriptor) =
            if let Constant::InvokeDynamic { name_and_type, .. } = pool.get(index, self.offset)? {
                let target = pool.name_and_type(name_and_type, self.offset)?;
                (target.name, target.descriptor)
            } else {
                let target = pool.member(index, self.offset)?;
                (target.name, target.descriptor)
            };
        let (parameters, result) = parse_method(descriptor, self.offset)?;
        self.pop(parameters.iter().map(slots_of).sum())?;
        if !matches!(instruction.opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC) {
            let receiver = self.types.stack.pop().ok_or_else(|| self.unknown())?;
            if name == b"<init>" {
                self.initialize(&receiver)?;
            }
        }
        if let Some(result) = result {
            self.push(result);
        }
        Ok(())
    }

    /// After a constructor's return all copies of its object are whole.
    fn initialize(&mut self, object: &Type<'a>) -> Result<(), RewriteErrorKind> {
        let whole = match object {
            Type::UninitializedThis => Type::object(self.class.raw_name()),
            Type::Uninitialized(pc) => Type::object(self.class_made_at(*pc)?),
            _ => return Err(self.unknown()),
        };
        let State { locals, stack } = &mut *self.types;
        for slot in locals.iter_mut().chain(stack) {
            if slot == object {
                *slot = whole.clone();
            }
        }
        Ok(())
    }

    fn class_made_at(&self, pc: u16) -> Result<&'a [u8], RewriteErrorKind> {
        match self.code.bytes.get(pc as usize..) {
            Some(&[op::NEW, high, low, ..]) => {
                let index = u16::from_be_bytes([high, low]);
                Ok(self.class.pool.class_name(index, self.offset)?)
            }
            _ => Err(RewriteErrorKind::NotAnInstruction(pc as u32)),
        }
    }

    fn class_operand(&self, instruction: &Instruction<'a>) -> Result<&'a [u8], RewriteErrorKind> {
        let index = instruction.constant().ok_or_else(|| self.unknown())?;
        Ok(self.class.pool.class_name(index, self.offset)?)
    }

    fn primitive_array(&self, instruction: &Instruction<'a>) -> Result<Type<'a>, RewriteErrorKind> {
        // JVMS table 6.5.newarray-A.
        let descriptor: &[u8] = match instruction.operand {
            Operand::Value(4) => b"[Z",
            Operand::Value(5) => b"[C",
            Operand::Value(6) => b"[F",
            Operand::Value(7) => b"[D",
            Operand::Value(8) => b"[B",
            Operand::Value(9) => b"[S",
            Operand::Value(10) => b"[I",
            Operand::Value(11) => b"[J",
            _ => return Err(self.unknown()),
        };
        Ok(Type::object(descriptor))
    }

    fn array_of(&self, instruction: &Instruction<'a>) -> Result<Type<'a>, RewriteErrorKind> {
        let element = self.class_operand(instruction)?;
        let mut descriptor = Vec::with_capacity(element.len() + 3);
        descriptor.push(b'[');
        if element.starts_with(b"[") {
            descriptor.extend(element);
        } else {
            descriptor.push(b'L');
            descriptor.extend(element);
            descriptor.push(b';');
        }
        Ok(Type::Object(Cow::Owned(descriptor)))
    }

    fn unknown(&self) -> RewriteErrorKind {
        RewriteErrorKind::NoFrame((self.offset - self.code.offset) as u32)
    }
}

fn slots_of(value: &Type<'_>) -> usize {
    if value.is_wide() { 2 } else { 1 }
}

/// Instructions come in the order int, long, float, double, reference.
fn number<'a>(kind: u8) -> Type<'a> {
    match kind {
        0 => Type::Integer,
        1 => Type::Long,
        2 => Type::Float,
        _ => Type::Double,
    }
}

/// Which kind of value a load or store moves, and which local it names. `first`
/// is the opcode for int with an operand, `short` the one for int and local 0.
fn local_of(instruction: &Instruction<'_>, first: u8, short: u8) -> (u8, usize) {
    if let Operand::Local(local) = instruction.operand {
        (instruction.opcode - first, local as usize)
    } else {
        let short = instruction.opcode - short;
        (short / 4, (short % 4) as usize)
    }
}

/// The local that an instruction stores to.
pub(super) fn stored_local(instruction: &Instruction<'_>) -> Option<usize> {
    match instruction.opcode {
        op::ISTORE..=op::ASTORE_3 => Some(local_of(instruction, op::ISTORE, op::ISTORE_0).1),
        _ => None,
    }
}
