//! Reads big-endian values and keeps count of where it stands.

use super::{ReadError, ReadErrorKind};

/// A place in a class file, and the end of the part that may be read.
///
/// Offsets are those of the whole class file, also when only an attribute's
/// content may be read, so that errors can be found in a hex dump.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    start: usize,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Reads `bytes`, of which the first stands at `offset` in the class file.
    pub fn new(bytes: &'a [u8], offset: usize) -> Self {
        Self {
            bytes,
            start: offset,
            at: 0,
        }
    }

    /// The offset in the class file of what is read next.
    pub fn offset(&self) -> usize {
        self.start + self.at
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// How far this cursor has gone since it was made.
    pub fn position(&self) -> usize {
        self.at
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], ReadError> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) {
            Some(slice) => {
                self.at += count;
                Ok(slice)
            }
            None => Err(self.truncated(count)),
        }
    }

    pub fn u8(&mut self) -> Result<u8, ReadError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, ReadError> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn i16(&mut self) -> Result<i16, ReadError> {
        self.array().map(i16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, ReadError> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn i32(&mut self) -> Result<i32, ReadError> {
        self.array().map(i32::from_be_bytes)
    }

    /// A table of `u16` after its own `u16` count.
    pub fn indexes(&mut self) -> Result<Indexes<'a>, ReadError> {
        let count = self.u16()? as usize;
        let offset = self.offset();
        Ok(Indexes {
            bytes: self.bytes(count * 2)?,
            offset,
        })
    }

    /// Fails if anything is left.
    pub fn expect_end(&self) -> Result<(), ReadError> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(ReadErrorKind::TrailingBytes { count }.at(self.offset())),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.truncated(N)),
        }
    }

    fn truncated(&self, count: usize) -> ReadError {
        let needed = count - self.remaining();
        ReadErrorKind::Truncated { needed }.at(self.offset())
    }
}

/// A table of constant-pool indexes.
#[derive(Clone, Copy, Debug)]
pub struct Indexes<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Indexes<'a> {
    pub fn len(&self) -> usize {
        self.bytes.len() / 2
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The indexes, each with its offset in the class file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, u16)> + use<'a> {
        let offset = self.offset;
        self.bytes
            .chunks_exact(2)
            .enumerate()
            .map(move |(i, pair)| (offset + 2 * i, u16::from_be_bytes([pair[0], pair[1]])))
    }
}
