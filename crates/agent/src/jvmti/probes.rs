//! Reads out the probes: which were hit, and sets them back.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Global, Jni};
use crate::holder;
use crate::registry::PROBES_PER_HOLDER;

/// The arrays that probes write to, one for each holder class.
#[derive(Default)]
pub(crate) struct ProbeArrays {
    classes: Vec<Global>,
    arrays: Vec<Global>,
}

impl ProbeArrays {
    /// Defines holders until there are `count` of them.
    pub(crate) fn define(&mut self, jni: Jni<'_>, count: u32) -> bool {
        while (self.classes.len() as u32) < count {
            let number = self.classes.len() as u32;
            let bytes = holder::probes_class(number);
            let class = jni
                .define_boot_class(&holder::probes_name(number), &bytes)
                .and_then(|class| jni.global(class));
            match class {
                Some(class) => self.classes.push(class),
                None => return false,
            }
        }
        true
    }

    pub(crate) fn count(&self) -> u32 {
        self.classes.len() as u32
    }

    /// The numbers below `end` of the probes that were hit since the last
    /// call, or `None` if the arrays cannot be read safely. The last array is
    /// empty for the most part, and looking through it would take longest.
    pub(crate) fn drain(&mut self, jni: Jni<'_>, end: u32) -> Option<Vec<u32>> {
        self.find_arrays(jni)?;
        let mut hits = Vec::new();
        for (number, array) in self.arrays.iter().enumerate() {
            let first = number as u32 * PROBES_PER_HOLDER;
            let used = end.saturating_sub(first).min(PROBES_PER_HOLDER);
            if used == 0 {
                break;
            }
            let whole =
                jni.critical_bytes(array, PROBES_PER_HOLDER as usize, |bytes, copied| {
                    // A copy would be written back over probes that are hit meanwhile.
                    if !copied {
                        drain_array(bytes, used, first, &mut hits);
                    }
                    !copied
                })?;
            if !whole {
                return None;
            }
        }
        Some(hits)
    }

    /// Initializes holders that are new, and keeps their arrays.
    fn find_arrays(&mut self, jni: Jni<'_>) -> Option<()> {
        for class in &self.classes[self.arrays.len()..] {
            let array = jni.static_object(class.as_local(jni)?, c"A", c"[B")?;
            self.arrays.push(jni.global(array)?);
        }
        Some(())
    }
}

/// Takes the hits out of the `used` part of one array. Java's threads go on
/// writing into it.
fn drain_array(bytes: *mut u8, used: u32, first: u32, hits: &mut Vec<u32>) {
    // The elements of an array stand at a multiple of 4 in every layout of
    // HotSpot, also with compact headers, but not always at a multiple of 8.
    for word in 0..used.div_ceil(4) as usize {
        #[expect(clippy::cast_ptr_alignment, reason = "aligned, as said above")]
        // SAFETY: `used` is at most the array's 32,768 bytes, which the
        // critical section keeps in place; Java writes single bytes, and only
        // ones, so that whole words may be swapped.
        let cell = unsafe { AtomicU32::from_ptr(bytes.cast::<u32>().add(word)) };
        if cell.load(Ordering::Relaxed) == 0 {
            continue;
        }
        for (byte, value) in cell
            .swap(0, Ordering::Relaxed)
            .to_ne_bytes()
            .into_iter()
            .enumerate()
        {
            if value != 0 {
                hits.push(first + (word * 4 + byte) as u32);
            }
        }
    }
}
