//! Faults in the code of methods.

use fewest_model::MethodKey;

use super::plant::nothing;
use super::{Edit, Mutant, NewConstant, Operator};
use crate::read::opcode::{self as op, Form};
use crate::read::{
    AttributeKind, ClassFile, Code, Constant, Instruction, Member, Operand, ReadError, access,
};
use crate::rewrite::{Snippet, Type, parse_method};

pub(super) fn mutants(class: &ClassFile<'_>) -> Result<Vec<Mutant>, ReadError> {
    let mut found = Vec::new();
    for (index, method) in class.methods().iter().enumerate() {
        // A bridge only calls the method that is meant.
        if method.access & access::BRIDGE != 0 {
            continue;
        }
        let Some(code) = class.code(method)? else {
            continue;
        };
        let mut body = Body {
            class,
            index,
            key: class.method_key(method)?,
            lines: lines(&code)?,
            code,
            found: &mut found,
        };
        body.search(method)?;
    }
    Ok(found)
}

/// One method while its faults are looked for.
struct Body<'a, 'f> {
    class: &'a ClassFile<'a>,
    index: usize,
    key: MethodKey,
    code: Code<'a>,
    /// Where each line starts, by place.
    lines: Vec<(u16, u16)>,
    found: &'f mut Vec<Mutant>,
}

impl Body<'_, '_> {
    fn search(&mut self, method: &Member) -> Result<(), ReadError> {
        let descriptor = self.class.pool.utf8(method.descriptor, method.offset + 4)?;
        let instructions: Vec<Instruction<'_>> =
            self.code.instructions().collect::<Result<_, _>>()?;
        let mut before = None;
        for instruction in &instructions {
            self.arithmetic(instruction);
            self.condition(instruction);
            self.constant(instruction)?;
            self.returned(instruction, descriptor, before);
            self.call(instruction)?;
            self.field_value(instruction)?;
            before = Some(instruction.opcode);
        }
        Ok(())
    }

    fn arithmetic(&mut self, instruction: &Instruction<'_>) {
        if let Operand::Increment { by, .. } = instruction.operand {
            self.increment(instruction, by);
        } else if let Some((to, words)) = other_arithmetic(instruction.opcode) {
            let edit = self.patch(instruction.pc as usize, vec![to]);
            self.add(Operator::Arithmetic, instruction, op::name(to), words, edit);
        }
    }

    fn increment(&mut self, instruction: &Instruction<'_>, by: i16) {
        let (at, bytes) = if instruction.wide {
            (4, by.wrapping_neg().to_be_bytes().to_vec())
        } else {
            (2, vec![(by as i8).wrapping_neg() as u8])
        };
        // The smallest number is its own negation, and so is zero.
        if bytes != self.code.bytes[instruction.pc as usize + at..][..bytes.len()] {
            let edit = self.patch(instruction.pc as usize + at, bytes);
            let words = format!("adding {by} became subtracting it");
            self.add(Operator::Arithmetic, instruction, "negate", &words, edit);
        }
    }

    fn condition(&mut self, instruction: &Instruction<'_>) {
        if op::form(instruction.opcode) != Form::Branch2 {
            return;
        }
        let pc = instruction.pc as usize;
        if let Some(to) = negation(instruction.opcode) {
            let edit = self.patch(pc, vec![to]);
            let words = "a condition was negated";
            self.add(Operator::Condition, instruction, "negate", words, edit);
        }
        if let Some(to) = other_boundary(instruction.opcode) {
            let edit = self.patch(pc, vec![to]);
            let words = "the boundary of a comparison moved by one";
            self.add(Operator::Condition, instruction, "boundary", words, edit);
        }
    }

    fn constant(&mut self, instruction: &Instruction<'_>) -> Result<(), ReadError> {
        let pc = instruction.pc as usize;
        let (edit, words) = match (instruction.opcode, instruction.operand) {
            (opcode, _) if other_short_constant(opcode).is_some() => {
                let to = other_short_constant(opcode).unwrap_or(opcode);
                let words = format!("`{}` became `{}`", value_of(opcode), value_of(to));
                (self.patch(pc, vec![to]), words)
            }
            (op::BIPUSH, Operand::Value(value)) => {
                let to = next(value, i8::MAX.into());
                let edit = self.patch(pc + 1, vec![to as u8]);
                (edit, format!("`{value}` became `{to}`"))
            }
            (op::SIPUSH, Operand::Value(value)) => {
                let to = next(value, i16::MAX.into());
                let edit = self.patch(pc + 1, (to as i16).to_be_bytes().to_vec());
                (edit, format!("`{value}` became `{to}`"))
            }
            (op::LDC | op::LDC_W | op::LDC2_W, Operand::Constant(index)) => {
                let from = self.code.offset + pc;
                let constant = self.class.pool.get(index, from)?;
                let Some((constant, words)) = other_constant(self.class, constant, from)? else {
                    return Ok(());
                };
                let edit = Edit::Load {
                    method: self.index,
                    pc: instruction.pc,
                    end: instruction.end() as u16,
                    constant,
                };
                (edit, words)
            }
            _ => return Ok(()),
        };
        self.add(Operator::Constant, instruction, "other", &words, edit);
        Ok(())
    }

    fn returned(&mut self, instruction: &Instruction<'_>, descriptor: &[u8], before: Option<u8>) {
        if !op::is_return(instruction.opcode) || instruction.opcode == op::RETURN {
            return;
        }
        // Null for null would change nothing.
        if before == Some(op::ACONST_NULL) {
            return;
        }
        let result = descriptor.iter().position(|&byte| byte == b')');
        let result = result.map_or(&[][..], |at| &descriptor[at + 1..]);
        let (snippet, words) = other_value(result);
        let words = format!("what is returned {words}");
        let edit = self.before(instruction, snippet);
        self.add(Operator::Return, instruction, "other", &words, edit);
    }

    fn call(&mut self, instruction: &Instruction<'_>) -> Result<(), ReadError> {
        let receiver = match instruction.opcode {
            op::INVOKESTATIC => 0,
            op::INVOKEVIRTUAL | op::INVOKEINTERFACE | op::INVOKESPECIAL => 1,
            _ => return Ok(()),
        };
        let from = self.code.offset + instruction.pc as usize;
        let called = self
            .class
            .pool
            .member(instruction.constant().unwrap_or(0), from)?;
        if called.name == b"<init>" {
            return Ok(());
        }
        let (parameters, result) = parse_method(called.descriptor, from)?;
        let mut code: Vec<u8> = parameters.iter().rev().map(drop_of).collect();
        code.extend(std::iter::repeat_n(op::POP, receiver));
        code.extend(result.as_ref().map(nothing));
        let snippet = Snippet::straight(code, 2);
        let name = crate::read::decode_modified_utf8(called.name);
        let words = match &result {
            None => format!("the call of `{name}` is gone"),
            Some(Type::Object(_)) => format!("null stands for the call of `{name}`"),
            Some(_) => format!("zero stands for the call of `{name}`"),
        };
        let edit = Edit::Instead {
            method: self.index,
            pc: instruction.pc,
            end: instruction.end() as u16,
            snippet,
        };
        self.add(Operator::Call, instruction, "gone", &words, edit);
        Ok(())
    }

    /// What constructors and initializers put into fields of their class.
    fn field_value(&mut self, instruction: &Instruction<'_>) -> Result<(), ReadError> {
        let initializes = match instruction.opcode {
            op::PUTFIELD => self.key.is_constructor(),
            op::PUTSTATIC => self.key.is_static_initializer(),
            _ => false,
        };
        if !initializes {
            return Ok(());
        }
        let from = self.code.offset + instruction.pc as usize;
        let field = self
            .class
            .pool
            .member(instruction.constant().unwrap_or(0), from)?;
        if field.class != self.class.raw_name() || self.is_made_up(field.name) {
            return Ok(());
        }
        let (snippet, words) = other_value(field.descriptor);
        let name = crate::read::decode_modified_utf8(field.name);
        let words = format!("what `{name}` starts with {words}");
        let edit = self.before(instruction, snippet);
        self.add(Operator::FieldValue, instruction, "other", &words, edit);
        Ok(())
    }

    /// Whether the compiler and not a person named a field.
    fn is_made_up(&self, name: &[u8]) -> bool {
        self.class.fields().iter().any(|field| {
            field.access & access::SYNTHETIC != 0
                && self.class.pool.utf8(field.name, field.offset + 2).ok() == Some(name)
        })
    }

    fn before(&self, instruction: &Instruction<'_>, snippet: Snippet) -> Edit {
        Edit::Before {
            method: self.index,
            pc: instruction.pc,
            snippet,
        }
    }

    fn patch(&self, at: usize, bytes: Vec<u8>) -> Edit {
        Edit::Bytes {
            offset: self.code.offset + at,
            bytes,
        }
    }

    fn add(
        &mut self,
        operator: Operator,
        instruction: &Instruction<'_>,
        how: &str,
        words: &str,
        edit: Edit,
    ) {
        let class = self.class.name();
        let line = self.line_of(instruction.pc);
        let at = line.map_or(String::new(), |line| format!(" at line {line}"));
        self.found.push(Mutant {
            id: format!("{class}#{}@{}:{operator}:{how}", self.key, instruction.pc),
            operator,
            words: format!("{}.{}: {words}{at}", class.dotted(), self.key.name),
            class,
            method: Some(self.key.clone()),
            line,
            edit,
        });
    }

    fn line_of(&self, pc: u16) -> Option<u16> {
        let after = self.lines.partition_point(|&(start, _)| start <= pc);
        Some(self.lines[after.checked_sub(1)?].1)
    }
}

/// Places and lines, by place.
fn lines(code: &Code<'_>) -> Result<Vec<(u16, u16)>, ReadError> {
    let mut lines = Vec::new();
    for table in &code.attributes {
        if table.kind == AttributeKind::LineNumberTable {
            let mut cursor = table.cursor();
            for _ in 0..cursor.u16()? {
                lines.push((cursor.u16()?, cursor.u16()?));
            }
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

/// What takes a value off the stack.
fn drop_of(value: &Type<'_>) -> u8 {
    if value.is_wide() { op::POP2 } else { op::POP }
}

/// Code that makes another value of the one on the stack, and what it does.
fn other_value(descriptor: &[u8]) -> (Snippet, &'static str) {
    let (code, slots, words) = match descriptor {
        b"Z" => (vec![op::ICONST_1, op::IXOR], 1, "is the opposite"),
        b"B" | b"C" | b"S" | b"I" => (vec![op::ICONST_1, op::IADD], 1, "is one more"),
        b"J" => (vec![op::LCONST_1, op::LADD], 2, "is one more"),
        // A large number is the same after one more, and zero is its own
        // opposite. Both together leave only a half as it was.
        b"F" => (
            vec![op::FNEG, op::FCONST_1, op::FADD],
            1,
            "is one more than its opposite",
        ),
        b"D" => (
            vec![op::DNEG, op::DCONST_1, op::DADD],
            2,
            "is one more than its opposite",
        ),
        _ => (vec![op::POP, op::ACONST_NULL], 0, "is null"),
    };
    (Snippet::straight(code, slots), words)
}

/// Another operation with the same operands, and the change in words.
fn other_arithmetic(opcode: u8) -> Option<(u8, &'static str)> {
    // The four types of one operation follow each other.
    let of_four = |from: u8, to: u8| to + (opcode - from);
    Some(match opcode {
        op::IADD..=op::DADD => (of_four(op::IADD, op::ISUB), "`+` became `-`"),
        op::ISUB..=op::DSUB => (of_four(op::ISUB, op::IADD), "`-` became `+`"),
        op::IMUL..=op::DMUL => (of_four(op::IMUL, op::IDIV), "`*` became `/`"),
        op::IDIV..=op::DDIV => (of_four(op::IDIV, op::IMUL), "`/` became `*`"),
        op::IREM..=op::DREM => (of_four(op::IREM, op::IMUL), "`%` became `*`"),
        op::INEG..=op::DNEG => (op::NOP, "a negation is gone"),
        op::ISHL | op::LSHL => (of_four(op::ISHL, op::ISHR), "`<<` became `>>`"),
        op::ISHR | op::LSHR => (of_four(op::ISHR, op::ISHL), "`>>` became `<<`"),
        op::IUSHR | op::LUSHR => (of_four(op::IUSHR, op::ISHL), "`>>>` became `<<`"),
        op::IAND | op::LAND => (of_four(op::IAND, op::IOR), "`&` became `|`"),
        op::IOR | op::LOR => (of_four(op::IOR, op::IAND), "`|` became `&`"),
        op::IXOR | op::LXOR => (of_four(op::IXOR, op::IAND), "`^` became `&`"),
        _ => return None,
    })
}

fn negation(opcode: u8) -> Option<u8> {
    Some(match opcode {
        // Each stands beside its opposite: eq ne, lt ge, gt le.
        op::IFEQ..=op::IF_ACMPNE => ((opcode - op::IFEQ) ^ 1) + op::IFEQ,
        op::IFNULL => op::IFNONNULL,
        op::IFNONNULL => op::IFNULL,
        _ => return None,
    })
}

fn other_boundary(opcode: u8) -> Option<u8> {
    Some(match opcode {
        op::IFLT => op::IFLE,
        op::IFLE => op::IFLT,
        op::IFGT => op::IFGE,
        op::IFGE => op::IFGT,
        op::IF_ICMPLT => op::IF_ICMPLE,
        op::IF_ICMPLE => op::IF_ICMPLT,
        op::IF_ICMPGT => op::IF_ICMPGE,
        op::IF_ICMPGE => op::IF_ICMPGT,
        _ => return None,
    })
}

/// Constants that an opcode stands for. One and zero change places, since they
/// may be truth values.
fn other_short_constant(opcode: u8) -> Option<u8> {
    Some(match opcode {
        op::ICONST_M1
        | op::ICONST_0
        | op::ICONST_2..=op::ICONST_4
        | op::LCONST_0
        | op::FCONST_0
        | op::DCONST_0 => opcode + 1,
        op::ICONST_1 | op::ICONST_5 | op::LCONST_1 | op::FCONST_1 | op::FCONST_2 | op::DCONST_1 => {
            opcode - 1
        }
        _ => return None,
    })
}

fn value_of(opcode: u8) -> i32 {
    let from = match opcode {
        op::ICONST_M1..=op::ICONST_5 => op::ICONST_0,
        op::LCONST_0 | op::LCONST_1 => op::LCONST_0,
        op::FCONST_0..=op::FCONST_2 => op::FCONST_0,
        _ => op::DCONST_0,
    };
    i32::from(opcode) - i32::from(from)
}

fn next(value: i32, most: i32) -> i32 {
    if value == most { value - 1 } else { value + 1 }
}

/// Another constant of the same type, and the change in words.
pub(super) fn other_constant(
    class: &ClassFile<'_>,
    constant: Constant<'_>,
    from: usize,
) -> Result<Option<(NewConstant, String)>, ReadError> {
    let became = |old: String, new: String| format!("`{old}` became `{new}`");
    Ok(Some(match constant {
        Constant::Integer(value) => {
            let to = value.wrapping_add(1);
            let words = became(value.to_string(), to.to_string());
            (NewConstant::Integer(to), words)
        }
        Constant::Long(value) => {
            let to = value.wrapping_add(1);
            let words = became(value.to_string(), to.to_string());
            (NewConstant::Long(to), words)
        }
        Constant::Float(bits) => {
            let value = f32::from_bits(bits);
            let mirrored = 1.0 - value;
            // A half is its own mirror image, and so is what is no number.
            let same = mirrored.to_bits() == bits || value.is_nan();
            let to = if same { 0.0 } else { mirrored };
            let words = became(value.to_string(), to.to_string());
            (NewConstant::Float(to), words)
        }
        Constant::Double(bits) => {
            let value = f64::from_bits(bits);
            let mirrored = 1.0 - value;
            // A half is its own mirror image, and so is what is no number.
            let same = mirrored.to_bits() == bits || value.is_nan();
            let to = if same { 0.0 } else { mirrored };
            let words = became(value.to_string(), to.to_string());
            (NewConstant::Double(to), words)
        }
        Constant::String { text } => {
            let mut to = class.pool.utf8(text, from)?.to_vec();
            // One letter more might be more than a constant can hold.
            if to.len() == usize::from(u16::MAX) {
                to.clear();
            } else {
                to.push(b'x');
            }
            (NewConstant::String(to), "a text became another".to_owned())
        }
        _ => return Ok(None),
    }))
}
