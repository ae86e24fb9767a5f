//! Looks into a jar.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use fewest_classfile::fingerprint::Options;
use fewest_model::{Fingerprint, Hasher};
use libdeflater::Decompressor;
use rawzip::{ErrorKind, ZipArchive};
use thiserror::Error;

use crate::cache::Cache;
use crate::content::{Content, is_class_file};
use crate::entry::{FoundDirectory, FoundFile, assemble, key};
use crate::manifest::{self, Manifest};
use crate::stat::Stat;
use crate::table::{Location, Meta, Opaque, Table, Zipped};

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const LOCAL_HEADER: usize = 30;
const LOCAL_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
/// What deflate can make of one byte at most.
const MOST_PER_BYTE: u64 = 1032;
/// A resource larger than this is known by its checksum and size alone.
const HUGE: u64 = 256 << 20;

pub(crate) fn load(path: &Path, stat: Stat, cache: &Cache, options: Options) -> Table {
    let key = key(path);
    let old = cache.load(&key).filter(|table| table.meta().stat.is_some());
    if let Some(table) = old {
        if table.meta().trusted && table.meta().stat == Some(stat) {
            return table;
        }
        return read(path, stat, Some(&table), key, cache, options);
    }
    read(path, stat, None, key, cache, options)
}

fn read(
    path: &Path,
    stat: Stat,
    old: Option<&Table>,
    key: String,
    cache: &Cache,
    options: Options,
) -> Table {
    let mut meta = Meta {
        path: key,
        stat: Some(stat),
        trusted: cache.trusts(&stat),
        ..Meta::default()
    };
    let bytes = fs::read(path).unwrap_or_else(|error| {
        meta.trusted = false;
        meta.opaque = Some(Opaque::unreadable(&error));
        Vec::new()
    });
    let mut found = list(&bytes, old).unwrap_or_else(|error| {
        if meta.opaque.is_none() && !error.is_ignored_by_the_jvm() {
            meta.opaque = Some(Opaque {
                reason: error.to_string(),
                fingerprint: Fingerprint::of(&bytes),
            });
        }
        Vec::new()
    });
    let manifest = manifest_of(&bytes, &found);
    meta.multi_release = manifest.multi_release;
    meta.class_path = manifest.class_path;
    let table = assemble(&mut found, old, meta, |_, file| {
        Some(content(&bytes, file, options))
    });
    cache.save(&table);
    table
}

#[derive(Debug, Error)]
enum JarError {
    #[error("not a jar: it has no table of contents")]
    NotAJar,
    #[error("its table of contents is broken: {0}")]
    Broken(rawzip::Error),
}

impl JarError {
    /// The JVM passes over a file that is no archive, such as a native library
    /// or a descriptor that a build puts on the class path.
    fn is_ignored_by_the_jvm(&self) -> bool {
        matches!(self, Self::NotAJar)
    }
}

impl From<rawzip::Error> for JarError {
    fn from(error: rawzip::Error) -> Self {
        match error.kind() {
            ErrorKind::MissingEndOfCentralDirectory => Self::NotAJar,
            _ => Self::Broken(error),
        }
    }
}

/// Reads the table of contents.
fn list(bytes: &[u8], old: Option<&Table>) -> Result<Vec<FoundDirectory>, JarError> {
    let archive = ZipArchive::from_slice(bytes)?;
    let mut directories: BTreeMap<String, (bool, BTreeMap<String, Zipped>)> = BTreeMap::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry()? {
        let name = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
        if let Some(directory) = name.strip_suffix('/') {
            directories.entry(directory.to_owned()).or_default().0 = true;
            continue;
        }
        let (directory, file) = name.rsplit_once('/').unwrap_or(("", &name));
        let zipped = Zipped {
            size: entry.uncompressed_size_hint(),
            crc: entry.crc32(),
            method: entry.compression_method().as_u16(),
            compressed_size: entry.compressed_size_hint(),
            offset: entry.local_header_offset(),
        };
        // Of two entries with one name the JVM finds the later one.
        let files = &mut directories.entry(directory.to_owned()).or_default().1;
        files.insert(file.to_owned(), zipped);
    }
    Ok(directories
        .into_iter()
        .map(|(name, (explicit, files))| FoundDirectory {
            files: files
                .into_iter()
                .map(|(file, zipped)| found_file(&name, file, zipped, old))
                .collect(),
            name,
            explicit,
        })
        .collect())
}

fn found_file(directory: &str, name: String, zipped: Zipped, old: Option<&Table>) -> FoundFile {
    let kept = old.and_then(|old| {
        let item = old.find_item(&old.find_directory(directory)?.items, &name)?;
        // An entry that once did not match its own checksum is not known by it.
        let same = item.doubt().is_none()
            && matches!(item.location(), Location::Zipped(before)
                if before.crc == zipped.crc && before.size == zipped.size);
        same.then_some(item.index)
    });
    FoundFile {
        name,
        location: Location::Zipped(zipped),
        trusted: true,
        kept,
    }
}

fn manifest_of(bytes: &[u8], found: &[FoundDirectory]) -> Manifest {
    let file = found
        .iter()
        .filter(|directory| directory.name.eq_ignore_ascii_case(manifest::DIRECTORY))
        .flat_map(|directory| &directory.files)
        .find(|file| file.name.eq_ignore_ascii_case(manifest::NAME));
    match file.map(|file| &file.location) {
        Some(Location::Zipped(zipped)) => slice(bytes, zipped)
            .and_then(|data| inflate(zipped, data))
            .map(|text| Manifest::parse(&text))
            .unwrap_or_default(),
        _ => Manifest::default(),
    }
}

fn content(bytes: &[u8], file: &FoundFile, options: Options) -> Content {
    let Location::Zipped(zipped) = &file.location else {
        return Content::Resource(Fingerprint::ABSENT);
    };
    if zipped.size > HUGE && !is_class_file(&file.name) {
        return Content::Resource(fingerprint_of_marks(zipped));
    }
    let data = slice(bytes, zipped);
    match data.and_then(|data| inflate(zipped, data)) {
        Ok(content) => Content::of(&file.name, &content, options),
        Err(error) => Content::doubtful(
            &file.name,
            Fingerprint::combine(
                b"unreadable entry",
                [
                    fingerprint_of_marks(zipped),
                    Fingerprint::of(data.unwrap_or_default()),
                ],
            ),
            error.to_string(),
        ),
    }
}

fn fingerprint_of_marks(zipped: &Zipped) -> Fingerprint {
    let mut hasher = Hasher::default();
    hasher.update(b"huge entry");
    hasher.update(&zipped.size.to_le_bytes());
    hasher.update(&zipped.crc.to_le_bytes());
    hasher.finish()
}

/// What can be wrong with one entry of a jar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum EntryError {
    #[error("the jar ends before the entry does")]
    CutShort,
    #[error("compression method {0} is unknown")]
    UnknownMethod(u16),
    #[error("{size} bytes cannot come from {compressed} compressed ones")]
    ImpossibleSize { size: u64, compressed: u64 },
    #[error("the compressed bytes are broken")]
    Broken,
    #[error("the checksum does not match")]
    WrongChecksum,
}

/// The compressed bytes of an entry.
fn slice<'a>(jar: &'a [u8], zipped: &Zipped) -> Result<&'a [u8], EntryError> {
    let header = usize::try_from(zipped.offset)
        .ok()
        .and_then(|offset| jar.get(offset..))
        .ok_or(EntryError::CutShort)?;
    let start = data_offset(header)?;
    usize::try_from(zipped.compressed_size)
        .ok()
        .and_then(|size| header.get(start..start.checked_add(size)?))
        .ok_or(EntryError::CutShort)
}

/// How far after the start of its local header the data of an entry begins.
fn data_offset(header: &[u8]) -> Result<usize, EntryError> {
    let header = header
        .first_chunk::<LOCAL_HEADER>()
        .filter(|header| header.starts_with(&LOCAL_SIGNATURE))
        .ok_or(EntryError::CutShort)?;
    let name = u16::from_le_bytes([header[26], header[27]]);
    let extra = u16::from_le_bytes([header[28], header[29]]);
    Ok(LOCAL_HEADER + name as usize + extra as usize)
}

fn inflate(zipped: &Zipped, data: &[u8]) -> Result<Vec<u8>, EntryError> {
    let content = match zipped.method {
        STORED => data.to_vec(),
        DEFLATED => inflate_deflated(zipped.size, data)?,
        method => return Err(EntryError::UnknownMethod(method)),
    };
    if crc32fast::hash(&content) != zipped.crc {
        return Err(EntryError::WrongChecksum);
    }
    Ok(content)
}

fn inflate_deflated(size: u64, data: &[u8]) -> Result<Vec<u8>, EntryError> {
    let compressed = data.len() as u64;
    // No memory is taken on the word of a header alone.
    if size > compressed.saturating_mul(MOST_PER_BYTE) {
        return Err(EntryError::ImpossibleSize { size, compressed });
    }
    let mut content = vec![0; size as usize];
    let length = Decompressor::new()
        .deflate_decompress(data, &mut content)
        .map_err(|_| EntryError::Broken)?;
    content.truncate(length);
    Ok(content)
}

/// Reads one entry of a jar on disk.
pub(crate) fn read_entry(jar: &Path, zipped: &Zipped) -> io::Result<Vec<u8>> {
    let mut file = File::open(jar)?;
    let mut header = [0; LOCAL_HEADER];
    file.seek(SeekFrom::Start(zipped.offset))?;
    file.read_exact(&mut header)?;
    let start = data_offset(&header).map_err(io::Error::other)? as u64;
    file.seek(SeekFrom::Start(zipped.offset.saturating_add(start)))?;
    let mut data = Vec::new();
    file.take(zipped.compressed_size).read_to_end(&mut data)?;
    inflate(zipped, &data).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::Stamp;

    /// Puts an empty archive in place of another one, and puts the marks of
    /// the new one into the cache's table of the old one.
    fn look_after_a_lie(stamp: Stamp) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jar");
        let empty = [&b"PK\x05\x06"[..], &[0; 18]].concat();
        fs::write(&path, empty).unwrap();
        let stat = Stat::of(&fs::metadata(&path).unwrap());
        let cache = Cache::at(&folder.path().join("cache"), stamp);
        let meta = Meta {
            path: key(&path),
            stat: Some(stat),
            trusted: cache.trusts(&stat),
            multi_release: true,
            ..Meta::default()
        };
        cache.save(&assemble(&mut [], None, meta, |_, _| None));
        let table = load(&path, stat, &cache, Options::default());
        table.meta().multi_release
    }

    #[test]
    fn a_jar_with_the_marks_it_had_is_not_read() {
        assert!(look_after_a_lie(Stamp::ALWAYS));
    }

    #[test]
    fn a_jar_that_was_young_when_it_was_read_is_read_again() {
        assert!(!look_after_a_lie(Stamp::NEVER));
    }
}
