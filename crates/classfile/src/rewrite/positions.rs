//! Where the places of the old code lie in the new one.

use super::error::RewriteErrorKind;

/// Maps offsets in the old code to offsets in the new code.
///
/// There are three answers to "where is `pc` now", because inserted code stands
/// between the place that branches go to and the instruction itself, and code
/// at method entry stands before all of it.
pub(super) trait Positions {
    /// Where a branch to `pc` goes, and where the frame of that place stands.
    fn target(&self, pc: u32) -> Result<u32, RewriteErrorKind>;

    /// Where a range that starts or ends at `pc` starts or ends now. The start
    /// of the code stays the start, so that ranges which begin there cover the
    /// code at method entry.
    fn boundary(&self, pc: u32) -> u32;

    /// Where the instruction itself is; `None` when it was deleted.
    fn instruction(&self, pc: u32) -> Option<u32>;

    /// Whether the instruction was deleted.
    fn is_deleted(&self, pc: u32) -> bool;
}

/// Everything moved by the length of the code at method entry.
pub(super) struct Shift(pub(super) u32);

impl Positions for Shift {
    fn target(&self, pc: u32) -> Result<u32, RewriteErrorKind> {
        Ok(pc + self.0)
    }

    fn boundary(&self, pc: u32) -> u32 {
        if pc == 0 { 0 } else { pc + self.0 }
    }

    fn instruction(&self, pc: u32) -> Option<u32> {
        Some(pc + self.0)
    }

    fn is_deleted(&self, _: u32) -> bool {
        false
    }
}
