//! What is to be done to one method.

use std::ops::Range;

use super::snippet::Snippet;

#[derive(Default)]
pub(super) struct Plan {
    /// The code at entry, all snippets in one.
    pub(super) entry: Vec<u8>,
    pub(super) entry_stack: u16,
    /// Places in `entry` where an initial frame must stand.
    pub(super) entry_frames: Vec<u32>,
    /// Code before the instruction at a place.
    pub(super) before: Vec<(u16, Snippet)>,
    pub(super) exit: Option<Exit>,
    pub(super) deleted: Vec<Range<u16>>,
    pub(super) wrapper: Option<Wrapper>,
    /// Lay the code out anew although nothing asks for it.
    pub(super) relayout: bool,
}

/// Code for the ways out of a method.
#[derive(Default)]
pub(super) struct Exit {
    pub(super) on_return: Vec<Snippet>,
    /// All in one, because it holds no branch.
    pub(super) on_throw: Snippet,
    /// Whether local 0 is `this` where `on_throw` runs.
    pub(super) with_this: bool,
}

/// A method that takes the name of another and calls it.
pub(super) struct Wrapper {
    pub(super) new_name: Vec<u8>,
    pub(super) around: Around,
}

/// Code around the call in a wrapper.
///
/// The locals are the method's parameters throughout.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Before the call, with nothing on the stack.
    pub before: Snippet,
    /// After the call, with the result on the stack. May hold no branch.
    pub after_return: Snippet,
    /// When the call throws, with the exception on the stack, which is thrown
    /// on afterwards. May hold no branch. No handler if absent.
    pub after_throw: Option<Snippet>,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        !self.changes_code() && self.wrapper.is_none()
    }

    pub(super) fn changes_code(&self) -> bool {
        !self.entry.is_empty() || self.needs_layout()
    }

    /// Whether the cheap path will not do. It asks for code at entry only, and
    /// for a length that keeps the tables of switches where they must be.
    pub(super) fn needs_layout(&self) -> bool {
        !self.entry.len().is_multiple_of(4)
            || !self.before.is_empty()
            || self.exit.is_some()
            || !self.deleted.is_empty()
            || self.relayout
    }

    /// About how many bytes the method will grow.
    pub(super) fn inserted_length(&self) -> usize {
        let before: usize = self.before.iter().map(|(_, code)| code.code.len()).sum();
        self.entry.len() + before
    }

    pub(super) fn on_exit(&mut self, on_return: Snippet, on_throw: Snippet, with_this: bool) {
        let exit = self.exit.get_or_insert_default();
        exit.on_return.push(on_return);
        exit.on_throw.code.extend(on_throw.code);
        exit.on_throw.max_stack = exit.on_throw.max_stack.max(on_throw.max_stack);
        exit.with_this |= with_this;
    }

    pub(super) fn insert_at_entry(&mut self, snippet: Snippet) {
        self.entry_stack = self.entry_stack.max(snippet.max_stack);
        if self.entry.is_empty() {
            self.entry = snippet.code;
        } else {
            self.entry.extend(snippet.code);
        }
        if snippet.frame_after {
            self.entry_frames.push(self.entry.len() as u32);
        }
    }
}
