//! Numbers for classes and their methods' probes.

use std::collections::HashMap;

use fewest_model::{ClassName, MethodKey};
use fewest_trace::{ClassEntry, Event, MethodBlocks, MethodStatements};

/// How many probes one holder class has room for: `sipush` reaches that far.
pub(crate) const PROBES_PER_HOLDER: u32 = 32_768;

/// Gives out numbers and keeps which class has which.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    classes: HashMap<ClassName, Vec<Registered>>,
    next_class: u32,
    next_probe: u32,
    next_slot: u32,
    next_statement: u32,
    /// The first slot and the first probe of each class.
    slots: Vec<(u32, u32)>,
    events: Vec<Event>,
}

/// The numbers of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) class: u32,
    pub(crate) first_probe: u32,
    /// The first of the numbers by which methods tell of their receivers. They
    /// follow each other as those of the methods' probes do, without gaps for
    /// blocks.
    pub(crate) first_slot: u32,
}

#[derive(Debug)]
struct Registered {
    numbers: Numbers,
    methods: Box<[MethodKey]>,
    blocks: Box<[MethodBlocks]>,
}

impl Registry {
    /// The numbers of a class with these methods. A class that is loaded again
    /// by another loader, or transformed again, gets the same numbers as long
    /// as its methods are the same: uses are kept by name in the end.
    pub(crate) fn numbers(
        &mut self,
        name: &ClassName,
        methods: &[MethodKey],
        blocks: &[MethodBlocks],
    ) -> Numbers {
        let known = self.classes.entry(name.clone()).or_default();
        if let Some(found) = known
            .iter()
            .find(|known| *known.methods == *methods && *known.blocks == *blocks)
        {
            return found.numbers;
        }
        let numbers = Numbers {
            class: self.next_class,
            first_probe: self.next_probe,
            first_slot: self.next_slot,
        };
        self.next_class += 1;
        let block_probes: u32 = blocks.iter().map(MethodBlocks::probes).sum();
        self.next_probe += methods.len() as u32 + block_probes;
        self.next_slot += methods.len() as u32;
        self.slots.push((numbers.first_slot, numbers.first_probe));
        known.push(Registered {
            numbers,
            methods: methods.into(),
            blocks: blocks.into(),
        });
        numbers
    }

    /// Tells the trace about a class that has been rewritten.
    pub(crate) fn add_entry(&mut self, entry: ClassEntry) {
        self.events.push(Event::Class(entry));
    }

    pub(crate) fn knows(&self, name: &ClassName) -> bool {
        self.classes.contains_key(name)
    }

    /// How many probes have numbers, which are those below.
    pub(crate) fn probes(&self) -> u32 {
        self.next_probe
    }

    /// Gives numbers to statements, so many for each method. They are not
    /// given again to a class that is transformed again: each time its methods
    /// tell by the numbers of that time.
    pub(crate) fn number_statements(&mut self, counts: &[(u16, u16)]) -> Vec<MethodStatements> {
        let mut numbered = Vec::new();
        for &(method, count) in counts {
            numbered.push(MethodStatements {
                method,
                first: self.next_statement,
                count,
            });
            self.next_statement += u32::from(count);
        }
        numbered
    }

    /// How many slots for receivers have numbers.
    pub(crate) fn slots(&self) -> u32 {
        self.next_slot
    }

    /// The probe of the method that a slot belongs to.
    pub(crate) fn probe_of_slot(&self, slot: u32) -> Option<u32> {
        let after = self.slots.partition_point(|(first, _)| *first <= slot);
        let (first_slot, first_probe) = self.slots.get(after.checked_sub(1)?)?;
        Some(first_probe + (slot - first_slot))
    }

    /// How many holders the numbers given out so far need.
    #[cfg(test)]
    pub(crate) fn holders(&self) -> u32 {
        self.next_probe.div_ceil(PROBES_PER_HOLDER).max(1)
    }

    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(names: &[&str]) -> Vec<MethodKey> {
        names
            .iter()
            .map(|name| MethodKey::new(*name, "()V"))
            .collect()
    }

    #[test]
    fn the_same_class_gets_the_same_numbers() {
        let mut registry = Registry::default();
        let a = registry.numbers(&"A".into(), &methods(&["x", "y"]), &[]);
        let b = registry.numbers(&"B".into(), &methods(&["x"]), &[]);
        assert_eq!(
            a,
            Numbers {
                class: 0,
                first_probe: 0,
                first_slot: 0
            }
        );
        assert_eq!(
            b,
            Numbers {
                class: 1,
                first_probe: 2,
                first_slot: 2
            }
        );
        assert_eq!(registry.numbers(&"A".into(), &methods(&["x", "y"]), &[]), a);
    }

    #[test]
    fn another_class_of_the_same_name_gets_other_numbers() {
        let mut registry = Registry::default();
        let one = registry.numbers(&"A".into(), &methods(&["x"]), &[]);
        let other = registry.numbers(&"A".into(), &methods(&["y"]), &[]);
        assert_ne!(one, other);
    }

    #[test]
    fn a_million_methods_fit() {
        let mut registry = Registry::default();
        let many = methods(&["x"; 1000]);
        for class in 0..1000 {
            registry.numbers(&ClassName::new(format!("C{class}")), &many, &[]);
        }
        assert_eq!(registry.holders(), 31);
    }

    #[test]
    fn a_slot_leads_to_its_methods_probe_whatever_blocks_lie_between() {
        let mut registry = Registry::default();
        let blocks = [MethodBlocks {
            count: 5,
            flow: 1,
            probed: true,
        }];
        registry.numbers(&"A".into(), &methods(&["x"]), &blocks);
        let b = registry.numbers(&"B".into(), &methods(&["x", "y"]), &[]);
        assert_eq!((b.first_probe, b.first_slot), (5, 1));
        assert_eq!(registry.probe_of_slot(0), Some(0));
        assert_eq!(registry.probe_of_slot(2), Some(6));
    }
}
