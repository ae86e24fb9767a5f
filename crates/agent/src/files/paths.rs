//! Paths as bytes: how they are written, and what they tell by themselves.

use std::path::Path;
use std::sync::Arc;

/// So many digits in a row stand in names that were drawn at random.
const DIGITS_OF_A_RANDOM_NAME: usize = 8;

/// An absolute path without `.`, `..` and double slashes.
pub(super) type Normal = Vec<u8>;

/// Whether a path is a folder for reports or lies in one. Surefire asks for it
/// from within the JVM before the first test, and makes it afterwards.
pub(super) fn is_report(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/')
        .any(|part| part == b"surefire-reports" || part == b"failsafe-reports")
}

pub(super) fn looks_random(name: &[u8]) -> bool {
    name.split(|byte| !byte.is_ascii_digit())
        .any(|digits| digits.len() >= DIGITS_OF_A_RANDOM_NAME)
}

pub(super) fn is_at_or_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || folder == b"/")
}

pub(super) fn parent(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/');
    &path[..end.unwrap_or(0)]
}

pub(super) fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// The path as seen from `directory`, which is normal itself.
pub(super) fn normal(directory: &[u8], path: &[u8]) -> Normal {
    let mut normal = Vec::with_capacity(directory.len() + path.len() + 1);
    if !path.starts_with(b"/") && directory != b"/" {
        normal.extend(directory);
    }
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => normal.truncate(parent(&normal).len()),
            part => {
                normal.push(b'/');
                normal.extend(part);
            }
        }
    }
    if normal.is_empty() {
        normal.push(b'/');
    }
    normal
}

pub(super) fn text(path: &[u8]) -> Arc<str> {
    String::from_utf8_lossy(path).into()
}

/// The folders that a JDK keeps its own files in: its home, and wherever the
/// settings lie that a distribution has put elsewhere and linked to.
pub(crate) fn folders_of_jdk(home: &Path) -> Vec<Vec<u8>> {
    const LINKED: [&str; 5] = [
        "conf/net.properties",
        "conf/security/java.security",
        "lib/net.properties",
        "lib/security/java.security",
        "lib/security/cacerts",
    ];
    let links = LINKED.iter().filter_map(|name| {
        let file = home.join(name).canonicalize().ok()?;
        file.parent().map(Path::to_path_buf)
    });
    [Some(home.to_path_buf()), home.canonicalize().ok()]
        .into_iter()
        .flatten()
        .chain(links)
        .map(|folder| folder.into_os_string().into_encoded_bytes())
        .collect()
}

/// The path of a `file:` URL, whose path part is given.
pub(crate) fn path_of_url(path: &str) -> Option<Vec<u8>> {
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
    }
    Some(decoded)
}
