//! Signatures of the tests' code, by which orders tell which tests are alike.
//!
//! A test's source text is taken where the build knows its sources, and the
//! tokens of its bytecode elsewhere. Signatures are kept under a fingerprint of
//! what they were made from, one file for each task of a module, so that
//! nothing is worked out twice. A wrong or lost one can only change an order.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use fewest_build::TaskRequest;
use fewest_classfile::read::{ClassFile, opcode};
use fewest_model::{ClassName, Fingerprint};
use fewest_order::{SIGNATURE_FORMAT, Signature};
use fewest_snapshot::Snapshot;
use fewest_trace::FileStamp;
use rayon::prelude::*;

use crate::project::Project;
use crate::tests_of_task::outermost_classes;

/// Signatures of the sources of a task's tests in the making, while the class
/// path is looked at and the tests are judged.
pub(crate) struct Signing {
    sources: JoinHandle<Signatures>,
}

/// The signatures of a task's tests.
pub(crate) struct Signatures {
    cache: PathBuf,
    /// As they were kept, by what they were made from.
    kept: BTreeMap<Fingerprint, Signature>,
    /// Those of this task, by what they were made from.
    of_task: BTreeMap<Fingerprint, Signature>,
    by_class: BTreeMap<ClassName, Signature>,
    /// How many had to be worked out.
    made: usize,
}

impl Signing {
    /// Begins with what needs no class path.
    pub(crate) fn begin(project: &Project, request: &TaskRequest) -> Self {
        let cache = cache_file(project, request);
        let roots = request.test_sources.clone();
        let classes = request.test_classes.clone().unwrap_or_default();
        Self {
            sources: thread::spawn(move || {
                let mut signatures = Signatures::kept(cache);
                let classes: Vec<ClassName> = outermost_classes(&classes).into_iter().collect();
                signatures.add_sources(&roots, &classes);
                signatures
            }),
        }
    }

    /// Adds what only the class path can tell, and keeps all for the next time.
    pub(crate) fn end<'a>(
        self,
        snapshot: &Snapshot,
        classes: impl Iterator<Item = &'a ClassName>,
    ) -> Signatures {
        // A thread that panicked leaves an order without likeness.
        let mut signatures = self
            .sources
            .join()
            .unwrap_or_else(|_| Signatures::kept(PathBuf::new()));
        for class in classes {
            signatures.add_bytecode(snapshot, class);
        }
        // Who cannot write here works them out again next time.
        let _ = signatures.keep();
        signatures
    }
}

impl Signatures {
    pub(crate) fn of(&self, class: &ClassName) -> Signature {
        self.by_class
            .get(class)
            .copied()
            .unwrap_or(Signature::EMPTY)
    }

    fn kept(cache: PathBuf) -> Self {
        let kept = fs::read(&cache).ok().and_then(|bytes| unpack(&bytes));
        Self {
            kept: kept.unwrap_or_default(),
            cache,
            of_task: BTreeMap::new(),
            by_class: BTreeMap::new(),
            made: 0,
        }
    }

    fn add_sources(&mut self, roots: &[PathBuf], classes: &[ClassName]) {
        let kept = &self.kept;
        let found: Vec<(&ClassName, Fingerprint, Signature, bool)> = classes
            .par_iter()
            .filter_map(|class| {
                let (file, print) = source_of(roots, class)?;
                if let Some(known) = kept.get(&print) {
                    return Some((class, print, *known, false));
                }
                let text = fs::read(file).ok()?;
                Some((class, print, Signature::of_text(&text), true))
            })
            .collect();
        for (class, print, signature, is_new) in found {
            self.add(class, print, signature, is_new);
        }
    }

    fn add_bytecode(&mut self, snapshot: &Snapshot, class: &ClassName) {
        if self.by_class.contains_key(class) {
            return;
        }
        let Some(view) = snapshot.class(class) else {
            return;
        };
        let print = Fingerprint::combine(b"bytecode", [view.class()]);
        if let Some(known) = self.kept.get(&print).copied() {
            self.add(class, print, known, false);
        } else if let Some(signature) = snapshot
            .class_bytes(class)
            .ok()
            .and_then(|bytes| of_bytecode(&bytes))
        {
            self.add(class, print, signature, true);
        }
    }

    fn add(&mut self, class: &ClassName, print: Fingerprint, signature: Signature, is_new: bool) {
        self.of_task.insert(print, signature);
        self.by_class.insert(class.clone(), signature);
        self.made += usize::from(is_new);
    }

    /// Writes to a file beside, then renames: a reader sees all or nothing.
    fn keep(&self) -> io::Result<()> {
        if self.made == 0 && self.of_task.len() == self.kept.len() {
            return Ok(());
        }
        if let Some(folder) = self.cache.parent() {
            fs::create_dir_all(folder)?;
        }
        let half = self
            .cache
            .with_extension(format!("{}.new", std::process::id()));
        fs::write(&half, pack(&self.of_task))?;
        fs::rename(half, &self.cache)
    }
}

fn cache_file(project: &Project, request: &TaskRequest) -> PathBuf {
    let name = format!("{}\n{}", request.module, request.task);
    let name = Fingerprint::of(name.as_bytes()).to_string();
    project.folder().join("signatures").join(&name[..16])
}

/// The file that a test class was most likely compiled from, and what stands
/// for its content.
fn source_of(roots: &[PathBuf], class: &ClassName) -> Option<(PathBuf, Fingerprint)> {
    const EXTENSIONS: [&str; 4] = ["java", "kt", "groovy", "scala"];
    roots.iter().find_map(|root| {
        EXTENSIONS.iter().find_map(|extension| {
            let file = root.join(format!("{}.{extension}", class.as_str()));
            Some((file.clone(), stamp_print(&file)?))
        })
    })
}

/// Stands for the content of a file as long as nobody turns back its clock.
fn stamp_print(file: &Path) -> Option<Fingerprint> {
    let FileStamp::File {
        size,
        modified_nanos,
    } = FileStamp::of(file)
    else {
        return None;
    };
    let path = Fingerprint::of(file.as_os_str().as_encoded_bytes());
    let stamp = [size.to_le_bytes(), modified_nanos.to_le_bytes()].concat();
    Some(Fingerprint::combine(
        b"source",
        [path, Fingerprint::of(&stamp)],
    ))
}

/// The signature of a class file: its instructions, with the names of what they
/// refer to, and without what a recompilation moves.
fn of_bytecode(bytes: &[u8]) -> Option<Signature> {
    let class = ClassFile::read(bytes).ok()?;
    let mut tokens: Vec<&[u8]> = Vec::new();
    for method in class.methods() {
        let Ok(Some(code)) = class.code(method) else {
            continue;
        };
        for instruction in code.instructions() {
            let instruction = instruction.ok()?;
            tokens.push(opcode::name(instruction.opcode).as_bytes());
            let Some(index) = instruction.constant() else {
                continue;
            };
            if let Ok(member) = class.pool.member(index, 0) {
                tokens.extend([member.class, member.name]);
            } else if let Ok(name) = class.pool.class_name(index, 0) {
                tokens.push(name);
            }
        }
    }
    Some(Signature::of_tokens(tokens))
}

const HEAD: &[u8] = b"fewest signatures";
const PRINT_BYTES: usize = 16;

fn pack(signatures: &BTreeMap<Fingerprint, Signature>) -> Vec<u8> {
    let mut bytes = HEAD.to_vec();
    bytes.extend(SIGNATURE_FORMAT.to_le_bytes());
    for (print, signature) in signatures {
        bytes.extend(print.as_bytes());
        bytes.extend(signature.to_bytes());
    }
    bytes
}

/// `None` for a file that is damaged or of another version.
fn unpack(bytes: &[u8]) -> Option<BTreeMap<Fingerprint, Signature>> {
    let bytes = bytes.strip_prefix(HEAD)?;
    let bytes = bytes.strip_prefix(&SIGNATURE_FORMAT.to_le_bytes())?;
    let entries = bytes.chunks_exact(PRINT_BYTES + Signature::BYTES);
    if !entries.remainder().is_empty() {
        return None;
    }
    entries
        .map(|entry| {
            let (print, signature) = entry.split_first_chunk()?;
            let signature = signature.first_chunk()?;
            let print = Fingerprint::from_bytes(*print);
            Some((print, Signature::from_bytes(signature)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_suite_needs_no_new_signature() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("src");
        let cache = folder.path().join("signatures/x");
        fs::create_dir_all(root.join("p")).unwrap();
        let classes: Vec<ClassName> = vec!["p/ATest".into(), "p/BTest".into(), "p/CTest".into()];
        fs::write(root.join("p/ATest.java"), "class ATest { int one; }").unwrap();
        fs::write(root.join("p/BTest.kt"), "class BTest { val two = 2 }").unwrap();
        let sign = || {
            let mut signatures = Signatures::kept(cache.clone());
            signatures.add_sources(std::slice::from_ref(&root), &classes);
            signatures.keep().unwrap();
            signatures
        };
        let first = sign();
        assert_eq!(first.made, 2);
        assert!(first.of(&classes[2]).is_empty());
        let second = sign();
        assert_eq!(second.made, 0);
        assert_eq!(second.by_class, first.by_class);
        fs::write(root.join("p/ATest.java"), "class ATest { String three; }").unwrap();
        assert_eq!(sign().made, 1);
        // A file that is cut short is no reason to fail.
        let bytes = fs::read(&cache).unwrap();
        fs::write(&cache, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(sign().made, 2);
    }
}
