//! How much of what a test uses has changed, for the order of tests.

use std::collections::{BTreeMap, HashMap};

use fewest_model::{ClassName, Element};
use fewest_order::is_named_after;
use fewest_select::verdict::Evidence;
use roaring::RoaringBitmap;

use super::evidence::RecordEvidence;

/// How much of what a test uses has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedUses {
    /// Numbers of the changed elements, the same for all tests of a task.
    pub changed: Vec<u32>,
    /// Whether the test is named after a class that some of them are part of.
    pub is_named_after: bool,
    /// How many elements it uses.
    pub total: usize,
}

/// The elements that have changed, by the versions of them that are no longer
/// there.
pub(super) struct ChangedElements {
    stale: RoaringBitmap,
    of_version: HashMap<u32, ChangedElement>,
}

struct ChangedElement {
    number: u32,
    /// The outermost class that it is part of.
    class: Option<ClassName>,
}

impl ChangedElements {
    pub(super) fn of(stale: &RoaringBitmap, element: impl Fn(u32) -> Option<Element>) -> Self {
        let mut numbers: BTreeMap<Element, u32> = BTreeMap::new();
        let mut of_version = HashMap::new();
        for version in stale {
            if let Some(element) = element(version) {
                let next = numbers.len() as u32;
                let class = element.class().map(ClassName::outermost);
                let number = *numbers.entry(element).or_insert(next);
                of_version.insert(version, ChangedElement { number, class });
            }
        }
        Self {
            stale: stale.clone(),
            of_version,
        }
    }

    /// What of a test's uses has changed, by the record that says it best.
    pub(super) fn among_uses_of(
        &self,
        test: &ClassName,
        records: &[RecordEvidence<'_>],
    ) -> Option<ChangedUses> {
        let of_today = records
            .iter()
            .find(|record| record.is_of_this_environment());
        let uses = of_today.or(records.first())?.uses().ok()?;
        let total = uses.len() as usize;
        let stale = uses & &self.stale;
        let elements = || {
            stale
                .iter()
                .filter_map(|version| self.of_version.get(&version))
        };
        let mut classes = elements().filter_map(|element| element.class.as_ref());
        let is_named_after = classes.any(|class| is_named_after(test.simple(), class.simple()));
        let mut changed: Vec<u32> = elements().map(|element| element.number).collect();
        changed.sort_unstable();
        changed.dedup();
        Some(ChangedUses {
            changed,
            is_named_after,
            total,
        })
    }
}
