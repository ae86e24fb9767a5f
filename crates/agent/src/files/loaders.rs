//! Which threads are opening jars for class loaders.

use std::cell::Cell;

thread_local! {
    /// How many calls of class loaders that open jars this thread is inside of.
    static LOADER_CALLS: Cell<u32> = const { Cell::new(0) };
}

/// A class loader begins to open a jar on this thread.
pub(crate) fn loader_opens() {
    LOADER_CALLS.set(LOADER_CALLS.get() + 1);
}

/// A class loader has opened a jar on this thread, or failed to.
pub(crate) fn loader_has_opened() {
    LOADER_CALLS.set(LOADER_CALLS.get().saturating_sub(1));
}

/// Whether this thread is opening a jar for a class loader.
pub(crate) fn is_loader_opening() -> bool {
    LOADER_CALLS.get() > 0
}
