//! A set of numbers that is cheap to add to.

use fewest_trace::Uses;

/// Numbers of probes and things that something used.
#[derive(Debug, Default)]
pub(crate) struct UseSet {
    probes: NumberSet,
    things: NumberSet,
}

impl UseSet {
    pub(crate) fn add_probes(&mut self, probes: &[u32]) {
        for &probe in probes {
            self.probes.add(probe);
        }
    }

    pub(crate) fn add_thing(&mut self, thing: u32) {
        self.things.add(thing);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.probes.members.is_empty() && self.things.members.is_empty()
    }

    pub(crate) fn into_uses(self) -> Uses {
        Uses {
            probes: self.probes.into_sorted(),
            things: self.things.into_sorted(),
        }
    }
}

/// A bitmap to ask and a list to read out.
#[derive(Debug, Default)]
struct NumberSet {
    bits: Vec<u64>,
    members: Vec<u32>,
}

impl NumberSet {
    fn add(&mut self, number: u32) {
        let (word, bit) = (number as usize / 64, 1_u64 << (number % 64));
        if word >= self.bits.len() {
            self.bits.resize((word + 1).next_power_of_two(), 0);
        }
        if self.bits[word] & bit == 0 {
            self.bits[word] |= bit;
            self.members.push(number);
        }
    }

    fn into_sorted(mut self) -> Vec<u32> {
        self.members.sort_unstable();
        self.members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_sorted_and_once() {
        let mut set = UseSet::default();
        set.add_probes(&[70_000, 3, 3, 0]);
        set.add_thing(1);
        set.add_thing(1);
        assert_eq!(
            set.into_uses(),
            Uses {
                probes: vec![0, 3, 70_000],
                things: vec![1]
            }
        );
    }
}
