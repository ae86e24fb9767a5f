//! Writes events so that a killed JVM leaves only whole ones.

use std::io::{self, Write};

use crate::{Event, FORMAT, MAGIC};

/// Appends events to a file.
///
/// Events gather in memory until [`Writer::flush`], which hands them to the
/// operating system in one call. From there they outlive the process.
#[derive(Debug)]
pub struct Writer<W: Write> {
    file: W,
    pending: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a trace.
    pub fn new(file: W) -> Self {
        let mut pending = Vec::with_capacity(4096);
        pending.extend_from_slice(MAGIC);
        pending.extend_from_slice(&FORMAT.to_le_bytes());
        Self { file, pending }
    }

    /// Adds an event; it is on its way to the file after the next flush.
    pub fn add(&mut self, event: &Event) -> io::Result<()> {
        let start = self.pending.len();
        self.pending.extend_from_slice(&[0; 8]);
        let pending = std::mem::take(&mut self.pending);
        self.pending = postcard::to_extend(event, pending).map_err(io::Error::other)?;
        let payload = &self.pending[start + 8..];
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let checksum = crc32fast::hash(payload);
        self.pending[start..start + 4].copy_from_slice(&length.to_le_bytes());
        self.pending[start + 4..start + 8].copy_from_slice(&checksum.to_le_bytes());
        Ok(())
    }

    /// How many bytes wait for a flush.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.pending)?;
        self.pending.clear();
        self.file.flush()
    }
}
