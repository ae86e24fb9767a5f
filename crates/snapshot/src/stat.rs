//! What the file system says of a file without opening it.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

const SECOND: i64 = 1_000_000_000;

/// The marks by which an unchanged file is known again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stat {
    pub(crate) size: u64,
    /// Nanoseconds since 1970. Anybody may set it to what it was.
    pub(crate) modified: i64,
    /// Nanoseconds since 1970. Only the kernel sets it, so it betrays an edit
    /// whose author put the other time back.
    pub(crate) changed: i64,
    pub(crate) inode: u64,
}

impl Stat {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(SECOND).saturating_add(rest);
        Self {
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(i64::MAX, |since| since.as_nanos() as i64);
        Self {
            size: metadata.len(),
            modified,
            changed: modified,
            inode: 0,
        }
    }
}

/// A moment of the file system's clock, before anything was read.
///
/// A file that changed at or after this moment may change once more within the
/// same tick of the clock and look the same. git calls such files racily
/// clean. What was learned of them is used now but not trusted next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(i64);

impl Stamp {
    /// Before everything: nothing is trusted.
    pub(crate) const NEVER: Self = Self(i64::MIN);

    /// After everything: all is trusted.
    #[cfg(test)]
    pub(crate) const ALWAYS: Self = Self(i64::MAX);

    /// Asks the clock that also stamps files, because the system's own is
    /// finer and runs ahead of it.
    pub(crate) fn now_in(folder: &Path) -> io::Result<Self> {
        let probe = tempfile::NamedTempFile::new_in(folder)?;
        Ok(Self(Stat::of(&probe.as_file().metadata()?).modified))
    }

    /// Whether a file with these marks will look different after any edit that
    /// comes after this moment.
    pub(crate) fn trusts(self, stat: &Stat) -> bool {
        let latest = stat.modified.max(stat.changed);
        // Times without a fraction come from a file system that counts whole
        // seconds, or two of them (FAT).
        let tick = if latest % SECOND == 0 { 2 * SECOND } else { 0 };
        latest.saturating_add(tick) < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(modified: i64, changed: i64) -> Stat {
        Stat {
            modified,
            changed,
            ..Stat::default()
        }
    }

    #[test]
    fn a_file_touched_in_the_same_tick_is_not_trusted() {
        let stamp = Stamp(5 * SECOND + 10);
        assert!(stamp.trusts(&stat(5 * SECOND + 9, 5 * SECOND + 9)));
        assert!(!stamp.trusts(&stat(5 * SECOND + 10, 3)));
        assert!(!stamp.trusts(&stat(3, 5 * SECOND + 10)));
        assert!(!Stamp::NEVER.trusts(&stat(3, 3)));
    }

    #[test]
    fn a_clock_of_whole_seconds_gets_two_of_them() {
        let stamp = Stamp(5 * SECOND + 10);
        assert!(!stamp.trusts(&stat(4 * SECOND, 4 * SECOND)));
        assert!(stamp.trusts(&stat(3 * SECOND, 3 * SECOND)));
    }
}
