//! Walks two versions of a method in step.

use std::collections::BTreeSet;

use super::{Block, Graph};

/// The old blocks at which the versions part ways: whoever ran none of them
/// would run the same in the new version.
///
/// The walk starts at both entries and follows edges of the same place, those
/// to handlers included. Where two blocks differ in what they do, in how many
/// ways lead on, or in what is caught, the old one is dangerous and the walk
/// goes no further; whatever lies behind was reached through it.
pub fn dangerous_blocks(old: &Graph, new: &Graph) -> BTreeSet<usize> {
    if old.declaration != new.declaration {
        return (0..old.blocks.len()).collect();
    }
    let mut dangerous = BTreeSet::new();
    let mut seen = BTreeSet::from([(0, 0)]);
    let mut queue = vec![(0, 0)];
    while let Some((before, after)) = queue.pop() {
        let pair = (&old.blocks[before], &new.blocks[after]);
        if differ(pair.0, pair.1) {
            dangerous.insert(before);
            continue;
        }
        queue.extend(edges(pair.0, pair.1).filter(|&edge| seen.insert(edge)));
    }
    dangerous
}

fn differ(old: &Block, new: &Block) -> bool {
    let caught = |block: &Block| {
        let handlers = block.handlers.iter();
        handlers
            .map(|edge| edge.catch_type.clone())
            .collect::<Vec<_>>()
    };
    old.fingerprint != new.fingerprint
        || old.successors.len() != new.successors.len()
        || old.handlers.len() != new.handlers.len()
        || caught(old) != caught(new)
}

/// Blocks that are reached by the same edge.
fn edges(old: &Block, new: &Block) -> impl Iterator<Item = (usize, usize)> {
    let handlers = |block: &Block| {
        let edges = block.handlers.iter();
        edges.map(|edge| edge.block).collect::<Vec<_>>()
    };
    let successors = old.successors.iter().copied().zip(new.successors.clone());
    successors.chain(handlers(old).into_iter().zip(handlers(new)))
}
