//! Reads a trace up to its last whole event.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::{Event, FORMAT, MAGIC};

/// What a trace says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub events: Vec<Event>,
    /// Where the first frame stands that is not whole, if there is one.
    pub cut_at: Option<usize>,
}

impl Trace {
    /// Whether the JVM ended in an orderly way and nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.cut_at.is_none() && matches!(self.events.last(), Some(Event::End { .. }))
    }
}

#[derive(Debug, Error)]
#[error("failed to read trace at `{path}`")]
pub struct ReadTraceError {
    pub path: PathBuf,
    #[source]
    pub kind: ReadTraceErrorKind,
}

#[derive(Debug, Error)]
pub enum ReadTraceErrorKind {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is no trace of fewest")]
    NotATrace,
    #[error("it has format {found}, and this version of fewest reads format {FORMAT}")]
    OtherFormat { found: u16 },
}

pub fn read_file(path: &Path) -> Result<Trace, ReadTraceError> {
    std::fs::read(path)
        .map_err(ReadTraceErrorKind::from)
        .and_then(|bytes| read(&bytes))
        .map_err(|kind| ReadTraceError {
            path: path.to_owned(),
            kind,
        })
}

/// Reads the bytes of a trace.
pub fn read(bytes: &[u8]) -> Result<Trace, ReadTraceErrorKind> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or(ReadTraceErrorKind::NotATrace)?;
    let (format, mut rest) = rest
        .split_first_chunk()
        .ok_or(ReadTraceErrorKind::NotATrace)?;
    let found = u16::from_le_bytes(*format);
    if found != FORMAT {
        return Err(ReadTraceErrorKind::OtherFormat { found });
    }
    let mut trace = Trace::default();
    while !rest.is_empty() {
        let Some((event, after)) = read_frame(rest) else {
            trace.cut_at = Some(bytes.len() - rest.len());
            break;
        };
        trace.events.push(event);
        rest = after;
    }
    Ok(trace)
}

fn read_frame(bytes: &[u8]) -> Option<(Event, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let (payload, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    if crc32fast::hash(payload) != u32::from_le_bytes(*checksum) {
        return None;
    }
    match postcard::take_from_bytes(payload) {
        Ok((event, [])) => Some((event, rest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fewest_model::{ClassName, MethodKey, Outcome};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        ClassEntry, FileStamp, Jvm, MethodBlocks, Thing, Uses, WindowClose, WindowOpen, Writer,
    };

    fn events() -> Vec<Event> {
        let class = ClassName::new("p/ATest");
        vec![
            Event::Jvm(Jvm {
                pid: 7,
                class_path: vec!["target/classes".into()],
                ..Jvm::default()
            }),
            Event::Class(ClassEntry {
                id: 0,
                name: class.clone(),
                first_probe: 0,
                methods: vec![MethodKey::new("<init>", "()V"), MethodKey::new("t", "()V")],
                supertypes: vec![ClassName::new("p/Base")],
                blind: vec![],
                statements: vec![],
                blocks: vec![MethodBlocks {
                    count: 3,
                    flow: 7,
                    probed: true,
                }],
            }),
            Event::Thing {
                id: 0,
                thing: Thing::File {
                    path: "/x".into(),
                    stamp: FileStamp::Absent,
                },
            },
            Event::Opened(WindowOpen {
                window: 0,
                class,
                method: None,
                at: 12,
            }),
            Event::Closed(WindowClose {
                window: 0,
                outcome: Outcome::Passed,
                millis: 5,
                tests: 1,
                uses: Uses {
                    probes: vec![0, 1, 70_000],
                    things: vec![0],
                },
                lingers: false,
            }),
            Event::End { unseen: vec![] },
        ]
    }

    fn written(events: &[Event]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for event in events {
            writer.add(event).unwrap();
            writer.flush().unwrap();
        }
        bytes
    }

    #[test]
    fn a_whole_trace_reads_back_as_written() {
        let trace = read(&written(&events())).unwrap();
        assert_eq!(trace.events, events());
        assert!(trace.is_complete());
    }

    #[test]
    fn a_trace_cut_anywhere_reads_up_to_the_last_whole_event() {
        let bytes = written(&events());
        for length in 10..bytes.len() {
            let trace = read(&bytes[..length]).unwrap();
            assert!(!trace.is_complete());
            assert!(events().starts_with(&trace.events));
        }
    }

    #[test]
    fn other_files_and_formats_are_refused() {
        assert!(matches!(read(b"PK"), Err(ReadTraceErrorKind::NotATrace)));
        let mut bytes = written(&events());
        bytes[8] = 99;
        assert!(matches!(
            read(&bytes),
            Err(ReadTraceErrorKind::OtherFormat { found: 99 })
        ));
    }

    proptest! {
        #[test]
        fn a_damaged_byte_never_yields_another_event(at in 10_usize..200, flip in 1_u8..) {
            let mut bytes = written(&events());
            let at = at % (bytes.len() - 10) + 10;
            bytes[at] ^= flip;
            let trace = read(&bytes).unwrap();
            prop_assert!(!trace.is_complete());
            prop_assert!(events().starts_with(&trace.events));
        }
    }
}
