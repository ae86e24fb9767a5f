//! On objects of which classes each method is known to have run.
//!
//! The gate class keeps the last two classes of each method in an array, so
//! that a call which tells nothing new costs a comparison. Whenever what was
//! used is counted for someone else from here on, the array is replaced by an
//! empty one, and every class is told of again.

use crate::holder;
use crate::jvmti::{Global, Jni, Local};

/// The array of known classes in the gate class.
#[derive(Default)]
pub(crate) struct Receivers {
    gate: Option<Global>,
    /// How many slots the array has room for.
    room: u32,
    /// Whether anything was told of since it was made.
    told: bool,
}

impl Receivers {
    pub(crate) fn of_gate(jni: Jni<'_>, gate: Local<'_>) -> Self {
        Self {
            gate: jni.global(gate),
            ..Self::default()
        }
    }

    /// From here on every class is told of again; false where that fails.
    pub(crate) fn forget(&mut self, jni: Jni<'_>, slots: u32) -> bool {
        if !self.told && slots <= self.room {
            return true;
        }
        self.told = false;
        self.renew(jni, slots)
    }

    /// A class was told of, and will be remembered. Methods beyond the room of
    /// the array tell of every call, so it grows.
    pub(crate) fn remember(&mut self, jni: Jni<'_>, slots: u32) {
        self.told = true;
        if slots > self.room {
            // Where it fails, methods go on telling of every call.
            let _ = self.renew(jni, slots);
        }
    }

    fn renew(&mut self, jni: Jni<'_>, slots: u32) -> bool {
        let room = slots.next_power_of_two();
        let (name, descriptor) = holder::KNOWN_FIELD;
        let renewed = self
            .gate
            .as_ref()
            .and_then(|gate| gate.as_local(jni))
            .is_some_and(|gate| jni.set_new_array(gate, name, descriptor, 2 * room));
        if renewed {
            self.room = room;
        }
        renewed
    }
}
