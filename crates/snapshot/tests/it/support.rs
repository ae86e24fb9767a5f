//! Small class files and jars, made by hand so that no compiler is needed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fewest_model::{ClassName, Element, Fingerprint, MethodKey};
use fewest_snapshot::{Settings, Snapshot};

pub(crate) const PUBLIC: u16 = 0x0001;
pub(crate) const PRIVATE: u16 = 0x0002;
pub(crate) const STATIC: u16 = 0x0008;
pub(crate) const ABSTRACT: u16 = 0x0400;
const INTERFACE: u16 = 0x0200;
const SUPER: u16 = 0x0020;

/// A class in the making.
#[derive(Clone)]
pub(crate) struct Class {
    name: String,
    super_name: String,
    access: u16,
    interfaces: Vec<String>,
    fields: Vec<(String, String)>,
    methods: Vec<(u16, String, String, u16)>,
}

impl Class {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            super_name: "java/lang/Object".to_owned(),
            access: PUBLIC | SUPER,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
        }
    }

    pub(crate) fn interface(name: &str) -> Self {
        Self {
            access: PUBLIC | INTERFACE | ABSTRACT,
            ..Self::new(name)
        }
    }

    pub(crate) fn extends(mut self, name: &str) -> Self {
        name.clone_into(&mut self.super_name);
        self
    }

    pub(crate) fn implements(mut self, name: &str) -> Self {
        self.interfaces.push(name.to_owned());
        self
    }

    pub(crate) fn field(mut self, name: &str, descriptor: &str) -> Self {
        self.fields.push((name.to_owned(), descriptor.to_owned()));
        self
    }

    /// A public method `()V` whose code pushes a number and drops it.
    pub(crate) fn method(self, name: &str, number: u16) -> Self {
        self.method_with(PUBLIC, name, "()V", number)
    }

    pub(crate) fn method_with(
        mut self,
        access: u16,
        name: &str,
        descriptor: &str,
        number: u16,
    ) -> Self {
        let method = (access, name.to_owned(), descriptor.to_owned(), number);
        self.methods.push(method);
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut pool = Pool::default();
        let mut body = Vec::new();
        let (this, parent) = (pool.class(&self.name), pool.class(&self.super_name));
        push(&mut body, &[self.access, this, parent]);
        push(&mut body, &[self.interfaces.len() as u16]);
        for interface in &self.interfaces {
            push(&mut body, &[pool.class(interface)]);
        }
        push(&mut body, &[self.fields.len() as u16]);
        for (name, descriptor) in &self.fields {
            push(
                &mut body,
                &[PUBLIC, pool.utf8(name), pool.utf8(descriptor), 0],
            );
        }
        push(&mut body, &[self.methods.len() as u16]);
        for (access, name, descriptor, number) in &self.methods {
            push(
                &mut body,
                &[*access, pool.utf8(name), pool.utf8(descriptor)],
            );
            if access & ABSTRACT != 0 {
                push(&mut body, &[0]);
                continue;
            }
            // sipush number; pop; return
            let code = [&[0x11][..], &number.to_be_bytes(), &[0x57, 0xB1]].concat();
            push(
                &mut body,
                &[1, pool.utf8("Code"), 0, 12 + code.len() as u16],
            );
            push(&mut body, &[1, 1, 0, code.len() as u16]);
            body.extend_from_slice(&code);
            push(&mut body, &[0, 0]);
        }
        push(&mut body, &[0]);

        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE];
        push(&mut bytes, &[0, 52, pool.next + 1]);
        bytes.extend_from_slice(&pool.bytes);
        bytes.extend_from_slice(&body);
        bytes
    }
}

#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    known: BTreeMap<(u8, String), u16>,
    next: u16,
}

impl Pool {
    fn utf8(&mut self, text: &str) -> u16 {
        let content = [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat();
        self.add(1, text, &content)
    }

    fn class(&mut self, name: &str) -> u16 {
        let index = self.utf8(name);
        self.add(7, name, &index.to_be_bytes())
    }

    fn add(&mut self, tag: u8, key: &str, content: &[u8]) -> u16 {
        if let Some(&index) = self.known.get(&(tag, key.to_owned())) {
            return index;
        }
        self.bytes.push(tag);
        self.bytes.extend_from_slice(content);
        self.next += 1;
        self.known.insert((tag, key.to_owned()), self.next);
        self.next
    }
}

fn push(bytes: &mut Vec<u8>, words: &[u16]) {
    for word in words {
        bytes.extend_from_slice(&word.to_be_bytes());
    }
}

/// A jar in the making.
#[derive(Clone, Default)]
pub(crate) struct Jar(Vec<Zipped>);

#[derive(Clone)]
struct Zipped {
    name: String,
    content: Vec<u8>,
    crc: u32,
    deflated: bool,
}

impl Jar {
    pub(crate) fn manifest(self, text: &str) -> Self {
        self.with("META-INF/MANIFEST.MF", text.as_bytes())
    }

    pub(crate) fn with(self, name: &str, content: &[u8]) -> Self {
        self.with_checksum(name, content, crc32fast::hash(content))
    }

    pub(crate) fn with_checksum(mut self, name: &str, content: &[u8], crc: u32) -> Self {
        // Both ways of storing get their turn.
        let deflated = self.0.len() % 2 == 1 && !content.is_empty();
        self.0.push(Zipped {
            name: name.to_owned(),
            content: content.to_vec(),
            crc,
            deflated,
        });
        self
    }

    pub(crate) fn class(self, class: &Class) -> Self {
        self.with(&format!("{}.class", class.name), &class.bytes())
    }

    pub(crate) fn class_for(self, version: u32, class: &Class) -> Self {
        let name = format!("META-INF/versions/{version}/{}.class", class.name);
        self.with(&name, &class.bytes())
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for entry in &self.0 {
            let data = entry.data();
            let header = entry.header(data.len());
            let offset = bytes.len() as u32;
            bytes.extend_from_slice(b"PK\x03\x04");
            bytes.extend_from_slice(&header);
            bytes.extend_from_slice(entry.name.as_bytes());
            bytes.extend_from_slice(&data);
            directory.extend_from_slice(b"PK\x01\x02\x14\0");
            directory.extend_from_slice(&header);
            directory.extend_from_slice(&[0; 10]);
            directory.extend_from_slice(&offset.to_le_bytes());
            directory.extend_from_slice(entry.name.as_bytes());
        }
        let start = bytes.len() as u32;
        let count = (self.0.len() as u16).to_le_bytes();
        bytes.extend_from_slice(&directory);
        bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        bytes.extend_from_slice(&count);
        bytes.extend_from_slice(&count);
        bytes.extend_from_slice(&(directory.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&start.to_le_bytes());
        bytes.extend_from_slice(&[0, 0]);
        bytes
    }
}

impl Zipped {
    fn data(&self) -> Vec<u8> {
        if !self.deflated {
            return self.content.clone();
        }
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut data = vec![0; compressor.deflate_compress_bound(self.content.len())];
        let length = compressor
            .deflate_compress(&self.content, &mut data)
            .expect("the buffer is large enough");
        data.truncate(length);
        data
    }

    /// What local header and directory have in common.
    fn header(&self, compressed: usize) -> Vec<u8> {
        let mut header = vec![
            20,
            0,
            0,
            8,
            if self.deflated { 8 } else { 0 },
            0,
            0,
            0,
            0,
            0,
        ];
        header.extend_from_slice(&self.crc.to_le_bytes());
        header.extend_from_slice(&(compressed as u32).to_le_bytes());
        header.extend_from_slice(&(self.content.len() as u32).to_le_bytes());
        header.extend_from_slice(&(self.name.len() as u16).to_le_bytes());
        header.extend_from_slice(&[0, 0]);
        header
    }
}

/// A folder with a class path in it.
pub(crate) struct Checkout {
    folder: tempfile::TempDir,
}

impl Checkout {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("folders");
        fs::write(path, content).expect("a file");
    }

    pub(crate) fn class(&self, entry: &str, class: &Class) {
        self.write(&format!("{entry}/{}.class", class.name), &class.bytes());
    }

    pub(crate) fn jar(&self, name: &str, jar: &Jar) {
        self.write(name, &jar.bytes());
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("it was there");
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(self.folder.path(), 17)
    }

    /// A snapshot without a cache.
    pub(crate) fn cold(&self, class_path: &[&str]) -> Snapshot {
        take(class_path, self.settings())
    }

    /// A snapshot with the cache of earlier ones.
    pub(crate) fn warm(&self, class_path: &[&str]) -> Snapshot {
        take(class_path, self.settings().with_cache(self.cache()))
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.path(".fewest/cache")
    }

    /// The cache files with their contents.
    pub(crate) fn cache_files(&self) -> BTreeMap<PathBuf, (std::time::SystemTime, Vec<u8>)> {
        fs::read_dir(self.cache())
            .expect("a cache")
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let time = fs::metadata(&path).expect("a file").modified();
                let content = fs::read(&path).expect("a file");
                (path, (time.expect("a time"), content))
            })
            .collect()
    }
}

pub(crate) fn take(class_path: &[&str], settings: Settings) -> Snapshot {
    let class_path: Vec<_> = class_path.iter().map(PathBuf::from).collect();
    Snapshot::take(&class_path, settings)
}

/// Lets the clock of the file system go on, so that what was written is older
/// than what comes next.
pub(crate) fn settle() {
    std::thread::sleep(Duration::from_millis(30));
}

pub(crate) fn class_print(snapshot: &Snapshot, name: &str) -> Fingerprint {
    snapshot.fingerprint(&Element::Class(name.into()))
}

pub(crate) fn method_print(snapshot: &Snapshot, class: &str, method: &str) -> Fingerprint {
    let key = MethodKey::new(method, "()V");
    snapshot.fingerprint(&Element::Method(class.into(), key))
}

pub(crate) fn lookup(
    snapshot: &Snapshot,
    class: &str,
    name: &str,
    descriptor: &str,
) -> Fingerprint {
    let key = MethodKey::new(name, descriptor);
    snapshot.fingerprint(&Element::Lookup(class.into(), key))
}

pub(crate) fn file_print(snapshot: &Snapshot, name: &str) -> Fingerprint {
    snapshot.fingerprint(&Element::File(name.into()))
}

/// Everything a snapshot says, for comparing two.
pub(crate) fn dump(snapshot: &Snapshot, resources: &[String], root: &Path) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for view in snapshot.classes() {
        let origin = view.origin().to_string();
        let _ = writeln!(
            text,
            "{} {} {:x} {:?} {:?} {} {} {} {:?} {}",
            view.name(),
            view.declared_name(),
            view.access(),
            view.super_name(),
            view.interfaces().collect::<Vec<ClassName>>(),
            view.head(),
            view.shape(),
            view.class(),
            view.doubt(),
            origin.replace(&root.display().to_string(), ""),
        );
        for method in view.methods() {
            let _ = writeln!(text, "  {method:?}");
        }
        let _ = writeln!(text, "  {}", class_print(snapshot, view.name().as_str()));
    }
    for name in resources {
        let _ = writeln!(text, "{name} {}", snapshot.resource(name));
    }
    let _ = writeln!(text, "{:?}", snapshot.doubts());
    text
}
