//! What the gate class remembers to have told.
//!
//! It keeps that in arrays, so that a call which tells nothing new costs a
//! comparison. Whenever what is used counts for someone else from here on, the
//! arrays are taken from it, and everything is told of again.
//!
//! Other threads may be telling meanwhile. Each writes into the array that it
//! has found before, so what it tells of is in no array that comes after. For
//! that to hold, [`Receivers::remember`] and [`Names::remember`] come *before*
//! what is told of is counted, and forgetting and the change of who it counts
//! for happen under the ledger's lock.

use crate::gate;
use crate::jvmti::{Jni, Local, StaticArray};

/// On objects of which classes each method is known to have run.
#[derive(Default)]
pub(crate) struct Receivers {
    array: Option<StaticArray>,
    /// How many slots the array has room for.
    room: u32,
    /// Whether anything was told of since it was made.
    told: bool,
}

impl Receivers {
    pub(crate) fn of_gate(jni: Jni<'_>, gate: Local<'_>) -> Self {
        Self {
            array: jni.static_array(gate, gate::RECEIVERS_FIELD, gate::OBJECTS),
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

    /// The gate class reads the length of the array, so it must not be null.
    fn renew(&mut self, jni: Jni<'_>, slots: u32) -> bool {
        let room = slots.next_power_of_two();
        let array = self.array.as_ref();
        let renewed = array.is_some_and(|array| jni.renew(array, 2 * room));
        if renewed {
            self.room = room;
        }
        renewed
    }
}

/// Names of classes whose members are known to have been looked at.
#[derive(Default)]
pub(crate) struct Names {
    array: Option<StaticArray>,
    /// Whether any was told of since the array was taken away.
    told: bool,
}

impl Names {
    pub(crate) fn of_gate(jni: Jni<'_>, gate: Local<'_>) -> Self {
        Self {
            array: jni.static_array(gate, gate::NAMES_FIELD, gate::OBJECTS),
            told: false,
        }
    }

    /// From here on every name is told of again; false where that fails.
    pub(crate) fn forget(&mut self, jni: Jni<'_>) -> bool {
        if !std::mem::take(&mut self.told) {
            return true;
        }
        let array = self.array.as_ref();
        array.is_some_and(|array| jni.clear(array))
    }

    /// A name was told of, and will be remembered.
    pub(crate) fn remember(&mut self) {
        self.told = true;
    }
}
