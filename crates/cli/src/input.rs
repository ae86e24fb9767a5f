//! Classes that a user names on the command line.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fewest_classfile::fingerprint::{ClassFingerprints, DebugInfo, Options, fingerprint};
use fewest_classfile::read::{ClassFile, LAST_MAJOR};
use fewest_model::{ClassName, Fingerprint};
use fewest_report::FingerprintedClass;
use fewest_snapshot::{ClassView, Origin, Settings, Snapshot};
use thiserror::Error;

/// The newest Java release whose class files are known.
pub(crate) const NEWEST_JAVA: u32 = LAST_MAJOR as u32 - 44;

const CLASS_MAGIC: [u8; 4] = [0xCA, 0xFE, 0xBA, 0xBE];

/// How to look at classes.
#[derive(clap::Args)]
pub(crate) struct ReadOptions {
    /// Let line numbers, source file names and local variable names count, too.
    #[arg(long)]
    debug_info: bool,
    /// Which Java release's part of a multi-release jar to look at.
    #[arg(long, value_name = "RELEASE", default_value_t = NEWEST_JAVA)]
    java: u32,
}

/// What was found at a path.
pub(crate) struct Input {
    /// Sorted by name.
    pub(crate) classes: Vec<FingerprintedClass>,
    /// What could not be looked into.
    pub(crate) doubts: Vec<String>,
}

/// Something on the command line that cannot be read.
#[derive(Debug, Error)]
pub(crate) enum InputError {
    #[error("cannot read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`", path.display())]
    UnreadableTests { path: PathBuf, source: io::Error },
    #[error("there are no classes in `{}`", path.display())]
    NoClasses { path: PathBuf },
}

impl InputError {
    /// What to do about it.
    pub(crate) const fn hint(&self) -> &'static str {
        match self {
            Self::UnreadableTests { .. } => "give files with tests, or folders of them",
            Self::Unreadable { .. } | Self::NoClasses { .. } => {
                "give a folder, a jar or a class file"
            }
        }
    }
}

impl Input {
    /// Looks into a folder, a jar or a class file.
    pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<Self, InputError> {
        let unreadable = |source| InputError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if metadata.is_file() && is_class_file(path).map_err(unreadable)? {
            let bytes = fs::read(path).map_err(unreadable)?;
            return Ok(Self::of_class(path, &bytes, options));
        }
        let input = Self::of_entry(&fs::canonicalize(path).map_err(unreadable)?, options);
        if metadata.is_file() && input.classes.is_empty() && input.doubts.is_empty() {
            return Err(InputError::NoClasses {
                path: path.to_owned(),
            });
        }
        Ok(input)
    }

    fn of_class(path: &Path, bytes: &[u8], options: &ReadOptions) -> Self {
        let read = ClassFile::read(bytes).and_then(|class| fingerprint(&class, options.options()));
        let class = match read {
            Ok(fingerprints) => FingerprintedClass {
                fingerprints,
                doubt: None,
            },
            Err(error) => FingerprintedClass {
                fingerprints: unreadable_class(path, Fingerprint::of(bytes)),
                doubt: Some(error.to_string()),
            },
        };
        Self {
            classes: vec![class],
            doubts: Vec::new(),
        }
    }

    fn of_entry(path: &Path, options: &ReadOptions) -> Self {
        let mut settings = Settings::new(path, options.java);
        settings.debug_info = options.options().debug_info;
        let snapshot = Snapshot::take(&[path.to_owned()], settings);
        let mut classes: Vec<_> = snapshot
            .classes()
            .filter(|view| is_in(view, path))
            .map(|view| FingerprintedClass {
                fingerprints: view.fingerprints(),
                doubt: view.doubt().map(str::to_owned),
            })
            .collect();
        classes.sort_by(|a, b| a.fingerprints.name.cmp(&b.fingerprints.name));
        let doubts = snapshot.doubts();
        Self {
            classes,
            doubts: doubts.iter().map(ToString::to_string).collect(),
        }
    }
}

impl ReadOptions {
    fn options(&self) -> Options {
        Options {
            debug_info: if self.debug_info {
                DebugInfo::Track
            } else {
                DebugInfo::Ignore
            },
        }
    }
}

fn is_class_file(path: &Path) -> io::Result<bool> {
    let mut magic = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut magic)?;
    Ok(magic == CLASS_MAGIC || path.extension().is_some_and(|name| name == "class"))
}

/// Whether a class is in the jar itself, not in one that its manifest names.
fn is_in(view: &ClassView<'_>, path: &Path) -> bool {
    match view.origin() {
        Origin::Jar(jar, _) => jar == path,
        Origin::File(file) => file.starts_with(path),
    }
}

fn unreadable_class(path: &Path, content: Fingerprint) -> ClassFingerprints {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    ClassFingerprints {
        name: ClassName::new(name.as_ref()),
        super_name: None,
        interfaces: Vec::new(),
        access: 0,
        head: content,
        shape: content,
        class: content,
        methods: Vec::new(),
    }
}
