//! The part of a method that ran, apart from the rest of it.
//!
//! A [`Walk`] goes from the entry over executed blocks only, along edges that
//! lead to executed blocks. Its fingerprint tells what those blocks do and
//! where those edges lead. A version of the method in which the same walk has
//! the same fingerprint would have run the same: an edge that the walk leaves
//! out was never taken, so what lies behind it does not count.
//!
//! This is the walk in step of [`super::dangerous_blocks`], cut in two, so that
//! the old version's graph need not be kept.

use std::collections::{BTreeMap, BTreeSet};

use fewest_model::{Fingerprint, Walk};

use super::{Block, Graph};

impl Graph {
    /// The walk over the blocks that ran. Where they do not hang together, as
    /// code that was changed by somebody else can have it, all of the method
    /// counts.
    pub fn walk(&self, executed: &BTreeSet<usize>) -> Walk {
        let mut order = Order::default();
        let mut masks = Vec::new();
        while let Some(block) = order.next() {
            let Some(block) = self.blocks.get(block) else {
                return Walk::whole();
            };
            let mask = edges(block)
                .map(|target| {
                    let taken = executed.contains(&target);
                    if taken {
                        order.number(target);
                    }
                    taken
                })
                .collect();
            masks.push(mask);
        }
        if order.met().eq(executed) {
            Walk::of_masks(&masks)
        } else {
            Walk::whole()
        }
    }

    /// What a walk meets in this version. `None` where the whole method counts.
    pub fn fingerprint_of(&self, walk: &Walk) -> Option<Fingerprint> {
        let masks = walk.masks()?;
        let mut order = Order::default();
        let mut parts = vec![self.declaration];
        for mask in &masks {
            let Some(block) = order.next().and_then(|block| self.blocks.get(block)) else {
                // The walk has lost its way: no version of old looks like it.
                return Some(Fingerprint::combine(b"lost", parts));
            };
            parts.push(block.fingerprint);
            parts.push(caught(block));
            let taken = edges(block).enumerate();
            let taken = taken.filter(|(edge, _)| mask.get(*edge) == Some(&true));
            let numbers: Vec<u32> = taken.map(|(_, target)| order.number(target)).collect();
            parts.push(ways_on(block, &numbers));
        }
        Some(Fingerprint::combine(b"walk", parts))
    }
}

/// Numbers blocks as a walk meets them.
struct Order {
    numbers: BTreeMap<usize, u32>,
    blocks: Vec<usize>,
    next: usize,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            numbers: BTreeMap::from([(0, 0)]),
            blocks: vec![0],
            next: 0,
        }
    }
}

impl Order {
    /// The next block to look at.
    fn next(&mut self) -> Option<usize> {
        let block = self.blocks.get(self.next).copied();
        self.next += 1;
        block
    }

    fn number(&mut self, block: usize) -> u32 {
        let blocks = &mut self.blocks;
        *self.numbers.entry(block).or_insert_with(|| {
            blocks.push(block);
            (blocks.len() - 1) as u32
        })
    }

    fn met(&self) -> impl Iterator<Item = &usize> {
        self.numbers.keys()
    }
}

/// Where control may go from a block: on, or to a handler.
fn edges(block: &Block) -> impl Iterator<Item = usize> {
    let handlers = block.handlers.iter().map(|edge| edge.block);
    block.successors.iter().copied().chain(handlers)
}

/// What the handlers around a block catch, in their order.
fn caught(block: &Block) -> Fingerprint {
    let types = block.handlers.iter().map(|edge| match &edge.catch_type {
        Some(class) => Fingerprint::of(class.as_str().as_bytes()),
        None => Fingerprint::ABSENT,
    });
    Fingerprint::combine(b"caught", types)
}

fn ways_on(block: &Block, numbers: &[u32]) -> Fingerprint {
    let count = block.successors.len() as u32;
    let bytes: Vec<u8> = [count]
        .iter()
        .chain(numbers)
        .flat_map(|number| number.to_be_bytes())
        .collect();
    Fingerprint::of(&bytes)
}
