//! The trace of this JVM, once there is something to tell.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fewest_trace::{Event, Writer};

/// Where events go: kept back while the JVM runs no tests, to a file later.
#[derive(Default)]
pub(crate) struct Output {
    kept: Vec<Event>,
    trace: Option<Trace>,
    /// Set when the disk refuses: what is lost must not look like nothing.
    failed: bool,
}

struct Trace {
    path: PathBuf,
    writer: Writer<File>,
}

impl Output {
    /// The trace's file name, once there is one.
    pub(crate) fn file_name(&self) -> Option<String> {
        let path = &self.trace.as_ref()?.path;
        Some(path.file_name()?.to_string_lossy().into_owned())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.trace.is_some()
    }

    /// Starts a trace in `folder`, and writes what was kept back.
    pub(crate) fn open(&mut self, folder: &Path, name: &str, first: &Event) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let path = folder.join(name);
        let mut writer = Writer::new(File::create_new(&path)?);
        writer.add(first)?;
        self.trace = Some(Trace { path, writer });
        let kept = std::mem::take(&mut self.kept);
        self.write(kept);
        Ok(())
    }

    /// Writes events. A trace that could not be written whole is cut where the
    /// trouble began, so that nobody takes it for complete.
    pub(crate) fn write(&mut self, events: Vec<Event>) {
        if self.failed || events.is_empty() {
            return;
        }
        let Some(trace) = &mut self.trace else {
            self.kept.extend(events);
            return;
        };
        let written = events
            .iter()
            .try_for_each(|event| trace.writer.add(event))
            .and_then(|()| trace.writer.flush());
        self.failed = written.is_err();
    }
}
