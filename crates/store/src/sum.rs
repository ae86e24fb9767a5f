//! A checksum over the columns of a row.
//!
//! SQLite notices a broken tree but not a flipped bit inside a value, and a
//! version missing from a record would leave out a test that must run. Each
//! row therefore carries a sum of what it holds.

/// Sums up the columns of one row, in their order.
pub(crate) struct Sum(crc32fast::Hasher);

impl Sum {
    /// The table's name keeps a row from passing for one of another table.
    pub(crate) fn of(table: &str) -> Self {
        Self(crc32fast::Hasher::new()).text(table)
    }

    pub(crate) fn integer(mut self, value: i64) -> Self {
        self.0.update(&value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self = self.integer(bytes.len() as i64);
        self.0.update(bytes);
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// A missing text differs from an empty one.
    pub(crate) fn optional(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.integer(1).text(text),
            None => self.integer(0),
        }
    }

    pub(crate) fn finish(self) -> i64 {
        i64::from(self.0.finalize())
    }
}
