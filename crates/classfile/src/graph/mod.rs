//! Control flow within a method.
//!
//! [`Graph::of`] cuts a method into basic blocks with their edges, those to
//! exception handlers included. [`dangerous_blocks`] walks two versions of a
//! method in step and finds the old blocks after which they part ways.
//! [`Graph::walk`] and [`Graph::fingerprint_of`] tell the same for the blocks
//! that one test ran, without the old version at hand.

mod blocks;
mod executed;
mod walk;

use std::ops::Range;

use fewest_model::{ClassName, Fingerprint};

pub(crate) use blocks::leaders;
pub use walk::dangerous_blocks;

/// A method as basic blocks. Block 0 is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// All of the method that is not in a block: flags, name, descriptor, and
    /// attributes that count.
    pub declaration: Fingerprint,
    /// In the order of their places.
    pub blocks: Vec<Block>,
}

/// Instructions that run one after the other, unless one throws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Offsets in the code.
    pub code: Range<u32>,
    /// Numbers of the instructions.
    pub instructions: Range<u32>,
    /// What the instructions do, without where control goes afterwards.
    pub fingerprint: Fingerprint,
    /// Where control goes on: the target of a branch before the next block,
    /// the default of a switch before its cases in their order.
    pub successors: Vec<usize>,
    /// Where exceptions go, in the order in which handlers are tried.
    pub handlers: Vec<HandlerEdge>,
}

impl Graph {
    /// Stands for how the blocks lead to each other, whatever they do.
    pub fn flow(&self) -> u32 {
        let number = |block: usize| (block as u32).to_be_bytes();
        let mut bytes = Vec::new();
        for block in &self.blocks {
            let handlers = block.handlers.iter().map(|edge| number(edge.block));
            bytes.extend(number(block.successors.len()));
            bytes.extend(block.successors.iter().copied().flat_map(number));
            bytes.extend(number(block.handlers.len()));
            bytes.extend(handlers.flatten());
        }
        let [a, b, c, d, ..] = *Fingerprint::of(&bytes).as_bytes();
        u32::from_be_bytes([a, b, c, d])
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandlerEdge {
    /// `None` for everything, as in `finally`.
    pub catch_type: Option<ClassName>,
    pub block: usize,
}
