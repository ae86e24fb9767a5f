//! The agent's library, carried inside of this program.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use fewest_agent::Config;
use fewest_model::Fingerprint;
use thiserror::Error;

static LIBRARY: &[u8] = include_bytes!(env!("FEWEST_AGENT_LIBRARY"));

#[derive(Debug, Error)]
#[error("failed to unpack the agent into `{}`", path.display())]
pub struct UnpackAgentError {
    path: PathBuf,
    source: io::Error,
}

/// Unpacks the library into a folder, unless it is there already.
///
/// Its name follows its content, so versions of fewest live side by side, and
/// a library that a JVM has loaded is never written to.
pub fn unpack_agent(folder: &Path) -> Result<PathBuf, UnpackAgentError> {
    let print = Fingerprint::of(LIBRARY).to_string();
    let path = folder.join(format!("libfewest_agent-{}.so", &print[..16]));
    // A JVM refuses to start with a broken library, so a look at the length
    // would not do.
    if fs::read(&path).is_ok_and(|bytes| bytes == LIBRARY) {
        return Ok(path);
    }
    let unpack = || {
        fs::create_dir_all(folder)?;
        let half = folder.join(format!(".agent-{}", std::process::id()));
        let mut file = fs::File::create(&half)?;
        file.write_all(LIBRARY)?;
        file.sync_all()?;
        fs::rename(&half, &path)
    };
    match unpack() {
        Ok(()) => Ok(path),
        Err(source) => Err(UnpackAgentError { path, source }),
    }
}

/// Starts a JVM with the agent, and says what is wrong if it does not work.
pub fn check_agent(java: &Path, agent: &Path) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("fewest-check-{}", std::process::id()));
    let checked = check_in(&folder, java, agent);
    let _ = fs::remove_dir_all(&folder);
    checked
}

fn check_in(folder: &Path, java: &Path, agent: &Path) -> Result<(), String> {
    let config = Config {
        folder: folder.to_owned(),
        things: true,
        ..Config::default()
    };
    let path = folder.join("agent.conf");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, config.to_text()))
        .map_err(|error| format!("`{}`: {error}", path.display()))?;
    let argument = format!("-agentpath:{}={}", agent.display(), path.display());
    let output = Command::new(java)
        .args([&argument, "-version"])
        .output()
        .map_err(|error| error.to_string())?;
    if let Ok(note) = fs::read_to_string(path.with_extension("failed")) {
        return Err(note);
    }
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    Err(last.unwrap_or("the JVM ended without a word").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_unpacked_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = unpack_agent(folder.path()).unwrap();
        let first = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(unpack_agent(folder.path()).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), first);
        assert_eq!(fs::read(&path).unwrap()[..4], *b"\x7fELF");
    }

    #[test]
    fn a_broken_library_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = unpack_agent(folder.path()).unwrap();
        fs::write(&path, vec![0; LIBRARY.len()]).unwrap();
        unpack_agent(folder.path()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), LIBRARY);
    }
}
