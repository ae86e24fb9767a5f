//! Compiles the Maven extension and packs it into a jar.
//!
//! Only a JDK is needed: what the extension uses of Maven's interface stands
//! in `stubs`, is compiled along, and left out of the jar, because Maven
//! brings the real classes. The jar holds its entries sorted, stored and
//! without dates, so that equal classes give equal jars.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The package of the classes that belong into the jar.
const OWN_CLASSES: &str = "fewest/";

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("cannot build the Maven extension: {message}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    println!("cargo:rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(variable("OUT_DIR")?);
    let home = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../java/maven-extension");
    println!("cargo:rerun-if-changed={}", home.display());

    let mut sources = files(&home.join("src"))?;
    sources.extend(files(&home.join("stubs"))?);
    let classes = out.join("classes");
    compile(&sources, &classes)?;

    let mut entries = entries(&classes, OWN_CLASSES)?;
    entries.extend(self::entries(&home.join("resources"), "")?);
    entries.sort();
    let jar = stored_zip(&entries);
    fs::write(out.join("maven-extension.jar"), jar).map_err(|e| e.to_string())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|e| format!("{name}: {e}"))
}

/// Every file below a directory, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                walk(&path, found)?;
            } else {
                found.push(path);
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    walk(directory, &mut found).map_err(|e| format!("{}: {e}", directory.display()))?;
    found.sort();
    Ok(found)
}

fn compile(sources: &[PathBuf], classes: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(classes);
    fs::create_dir_all(classes).map_err(|e| e.to_string())?;
    let javac = javac();
    let level: &[&str] = if is_java_8(&javac)? {
        &["-source", "8", "-target", "8"]
    } else {
        &["--release", "8"]
    };
    let output = Command::new(&javac)
        .args(level)
        // Newer compilers call Java 8 obsolete, which is known here.
        .args(["-Xlint:-options", "-proc:none", "-encoding", "UTF-8", "-d"])
        .arg(classes)
        .args(sources)
        .output()
        .map_err(|e| format!("{}: {e}", javac.display()))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn javac() -> PathBuf {
    let name = format!("javac{}", env::consts::EXE_SUFFIX);
    env::var_os("JAVA_HOME")
        .map(|home| Path::new(&home).join("bin").join(&name))
        .filter(|javac| javac.exists())
        .unwrap_or_else(|| name.into())
}

fn is_java_8(javac: &Path) -> Result<bool, String> {
    let output = Command::new(javac).arg("-version").output().map_err(|e| {
        format!("no Java compiler: set JAVA_HOME to a JDK, or put `javac` on the PATH ({e})")
    })?;
    // Java 8 writes its version to the error stream.
    let version = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&version).contains("javac 1.8"))
}

/// Names with `/` and contents of the files below a directory.
fn entries(directory: &Path, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut entries = Vec::new();
    for path in files(directory)? {
        let name = path
            .strip_prefix(directory)
            .map_err(|e| e.to_string())?
            .to_string_lossy()
            .replace('\\', "/");
        if name.starts_with(prefix) {
            let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            entries.push((name, bytes));
        }
    }
    Ok(entries)
}

/// A zip file without compression (APPNOTE.TXT 4.3), dated 1980-01-01.
fn stored_zip(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = Vec::new();
    let mut directory = Vec::new();
    for (name, bytes) in entries {
        let offset = zip.len() as u32;
        let header = common_header(name, bytes);
        zip.extend(b"PK\x03\x04");
        zip.extend(&header);
        zip.extend(name.as_bytes());
        zip.extend(bytes);

        directory.extend(b"PK\x01\x02");
        directory.extend(10u16.to_le_bytes()); // version made by
        directory.extend(&header);
        directory.extend([0; 10]); // comment, disk, attributes
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = zip.len() as u32;
    let count = (entries.len() as u16).to_le_bytes();
    zip.extend(&directory);
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend(count);
    zip.extend(count);
    zip.extend((directory.len() as u32).to_le_bytes());
    zip.extend(start.to_le_bytes());
    zip.extend([0; 2]); // comment
    zip
}

/// The fields that the local header and the central directory share.
fn common_header(name: &str, bytes: &[u8]) -> Vec<u8> {
    let size = (bytes.len() as u32).to_le_bytes();
    let mut header = Vec::new();
    header.extend(10u16.to_le_bytes()); // version needed
    header.extend([0; 4]); // flags, stored
    header.extend(0u16.to_le_bytes()); // midnight
    header.extend(0x21u16.to_le_bytes()); // 1980-01-01
    header.extend(crc32fast::hash(bytes).to_le_bytes());
    header.extend(size);
    header.extend(size);
    header.extend((name.len() as u16).to_le_bytes());
    header.extend([0; 2]); // extra field
    header
}
