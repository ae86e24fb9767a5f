//! What instructions do to the operand stack, by slots.

use crate::read::opcode as op;
use crate::read::{Instruction, Operand};

/// How many slots an instruction takes and leaves that moves no object.
pub(super) fn plain_effect(opcode: u8) -> (usize, usize) {
    // Instructions come in the order int, long, float, double.
    let width = |kind: u8| if kind % 2 == 1 { 2 } else { 1 };
    match opcode {
        op::ACONST_NULL..=op::ICONST_5
        | op::BIPUSH
        | op::SIPUSH
        | op::LDC
        | op::LDC_W
        | op::FCONST_0..=op::FCONST_2
        | op::NEW => (0, 1),
        op::LCONST_0 | op::LCONST_1 | op::DCONST_0 | op::DCONST_1 | op::LDC2_W => (0, 2),
        op::ILOAD..=op::DLOAD => (0, width(opcode - op::ILOAD)),
        op::ILOAD_0..=op::DLOAD_3 => (0, width((opcode - op::ILOAD_0) / 4)),
        op::LALOAD | op::DALOAD => (2, 2),
        op::IALOAD..=op::SALOAD => (2, 1),
        op::ISTORE..=op::DSTORE => (width(opcode - op::ISTORE), 0),
        op::ISTORE_0..=op::DSTORE_3 => (width((opcode - op::ISTORE_0) / 4), 0),
        op::LASTORE | op::DASTORE => (4, 0),
        op::IASTORE..=op::SASTORE => (3, 0),
        op::POP | op::MONITORENTER | op::MONITOREXIT | op::ATHROW => (1, 0),
        op::POP2 => (2, 0),
        op::IADD..=op::DREM => {
            let width = width((opcode - op::IADD) % 4);
            (2 * width, width)
        }
        op::ISHL..=op::LUSHR => (1, 0),
        op::IAND..=op::LXOR => {
            let width = width((opcode - op::IAND) % 2);
            (2 * width, width)
        }
        // Three conversions from each kind of number.
        op::I2L..=op::D2F => {
            let (from, to) = ((opcode - op::I2L) / 3, (opcode - op::I2L) % 3);
            let to = if to < from { to } else { to + 1 };
            (width(from), width(to))
        }
        op::LCMP | op::DCMPL | op::DCMPG => (4, 1),
        op::FCMPL | op::FCMPG => (2, 1),
        op::IFEQ..=op::IFLE | op::IFNULL | op::IFNONNULL => (1, 0),
        op::IF_ICMPEQ..=op::IF_ACMPNE => (2, 0),
        op::TABLESWITCH | op::LOOKUPSWITCH => (1, 0),
        op::IRETURN..=op::DRETURN => (width(opcode - op::IRETURN), 0),
        op::NEWARRAY | op::ANEWARRAY | op::ARRAYLENGTH | op::INSTANCEOF => (1, 1),
        // `nop`, `iinc`, negations, conversions within int, jumps, `return`.
        _ => (0, 0),
    }
}

/// Which local an instruction names; `short` is the opcode for local 0.
pub(super) fn local(instruction: &Instruction<'_>, short: u8) -> usize {
    match instruction.operand {
        Operand::Local(local) => local as usize,
        _ => (instruction.opcode - short) as usize,
    }
}

/// How many slots a value of a type takes.
pub(super) fn slots(descriptor: &str) -> usize {
    if matches!(descriptor, "J" | "D") {
        2
    } else {
        1
    }
}
