//! What is learned of a file by reading it.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use fewest_classfile::fingerprint::{ClassFingerprints, Fingerprinter, Options};
use fewest_classfile::read::{ClassFile, ReadError};
use fewest_model::{Fingerprint, Hasher};

/// What a file of a folder or a jar holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Resource(Fingerprint),
    Class(Box<ClassContent>),
    Doubtful(Doubtful),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClassContent {
    pub(crate) fingerprints: ClassFingerprints,
    /// Names and descriptors.
    pub(crate) fields: Vec<(Arc<str>, Arc<str>)>,
}

/// Something that could not be read, with a fingerprint that changes when its
/// bytes do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubtful {
    pub(crate) is_class: bool,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) reason: String,
    /// Whether the bytes were seen, so that the fingerprint stands for them.
    pub(crate) seen: bool,
}

#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the JVM knows no other spelling"
)]
pub(crate) fn is_class_file(name: &str) -> bool {
    name.ends_with(".class")
}

impl Content {
    /// Looks into bytes that stand under the given name.
    pub(crate) fn of(name: &str, bytes: &[u8], options: Options) -> Self {
        if !is_class_file(name) {
            return Self::Resource(Fingerprint::of(bytes));
        }
        match read_class(bytes, options) {
            Ok(class) => Self::Class(Box::new(class)),
            Err(error) => Self::doubtful(name, Fingerprint::of(bytes), error.to_string()),
        }
    }

    pub(crate) fn doubtful(name: &str, fingerprint: Fingerprint, reason: String) -> Self {
        Self::Doubtful(Doubtful {
            is_class: is_class_file(name),
            fingerprint,
            reason,
            seen: true,
        })
    }

    /// Stands for bytes that nobody could look at.
    pub(crate) fn unreadable(name: &str, error: &io::Error) -> Self {
        Self::Doubtful(Doubtful {
            is_class: is_class_file(name),
            fingerprint: unknown_fingerprint(),
            reason: error.to_string(),
            seen: false,
        })
    }

    /// Whether this was learned from the bytes.
    pub(crate) fn was_seen(&self) -> bool {
        !matches!(self, Self::Doubtful(Doubtful { seen: false, .. }))
    }
}

fn read_class(bytes: &[u8], options: Options) -> Result<ClassContent, ReadError> {
    thread_local! {
        /// Keeps its buffers between classes.
        static FINGERPRINTER: RefCell<Option<(Options, Fingerprinter)>> = const { RefCell::new(None) };
    }
    let class = ClassFile::read(bytes)?;
    let fingerprints = FINGERPRINTER.with_borrow_mut(|kept| {
        let (_, fingerprinter) = match kept {
            Some(kept) if kept.0 == options => kept,
            _ => kept.insert((options, Fingerprinter::new(options))),
        };
        fingerprinter.fingerprint(&class)
    })?;
    let fields = class
        .fields()
        .iter()
        .map(|field| {
            let name = class.pool.text(field.name, field.offset + 2)?;
            let descriptor = class.pool.text(field.descriptor, field.offset + 4)?;
            Ok((name.into(), descriptor.into()))
        })
        .collect::<Result<_, ReadError>>()?;
    Ok(ClassContent {
        fingerprints,
        fields,
    })
}

/// The fingerprint of a file's bytes, however many there are.
pub(crate) fn hash_file(path: &Path) -> io::Result<Fingerprint> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(length) => hasher.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A fingerprint that equals no other, not even that of the same thing a
/// moment later: whatever depends on it has changed.
pub(crate) fn unknown_fingerprint() -> Fingerprint {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{SystemTime, UNIX_EPOCH};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut hasher = Hasher::default();
    hasher.update(b"unknown");
    hasher.update(&now.as_nanos().to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    hasher.finish()
}
