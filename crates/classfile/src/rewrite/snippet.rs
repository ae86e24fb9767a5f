//! Code to be put into a method.

use crate::read::opcode;

/// Instructions that leave locals and operand stack as they found them.
///
/// What the JVM's verifier asks of them stays with the caller: the code is
/// whole instructions, falls through its end, and branches only within itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    pub code: Vec<u8>,
    /// How much operand stack the code takes above what is there.
    pub max_stack: u16,
    /// The code branches to its own end, so that a stack map frame must stand
    /// there. It may hold no other branch, and no switch.
    pub frame_after: bool,
}

impl Snippet {
    /// Code without branches.
    pub fn straight(code: Vec<u8>, max_stack: u16) -> Self {
        Self {
            code,
            max_stack,
            frame_after: false,
        }
    }

    /// `array[id] = 1` for a static byte array by the index of its field
    /// reference. Exactly 8 bytes, so that it takes the cheap path at entry.
    pub fn probe(array: u16, id: i16) -> Self {
        let [array_high, array_low] = array.to_be_bytes();
        let [id_high, id_low] = id.to_be_bytes();
        let code = vec![
            opcode::GETSTATIC, // Stack: [B
            array_high,
            array_low,
            opcode::SIPUSH, // Stack: [B, int
            id_high,
            id_low,
            opcode::ICONST_1, // Stack: [B, int, int
            opcode::BASTORE,  // Stack: empty
        ];
        Self::straight(code, 3)
    }
}
