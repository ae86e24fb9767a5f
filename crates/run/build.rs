//! Builds the agent's library, so that it can be carried inside of `fewest`.
//!
//! Cargo cannot depend on a `cdylib` yet, so this calls Cargo once more with a
//! target folder of its own. It always builds for release: the agent runs in
//! the users' JVMs, and a slow one would hide there in a debug build.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let workspace = here.join("../..");
    for folder in ["agent", "classfile", "model", "trace"] {
        let path = here.join("..").join(folder);
        println!("cargo::rerun-if-changed={}", path.join("src").display());
        println!(
            "cargo::rerun-if-changed={}",
            path.join("Cargo.toml").display()
        );
    }
    println!("cargo::rerun-if-changed=build.rs");

    let target = PathBuf::from(variable("OUT_DIR")).join("agent");
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        .args([
            "build",
            "--release",
            "--lib",
            "--package",
            "fewest-agent",
            "--manifest-path",
        ])
        .arg(workspace.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target);
    // Settings of the outer build that would leak into the inner one.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_FEATURE_")
            || name.starts_with("CARGO_CFG_")
            || name == "CARGO_ENCODED_RUSTFLAGS"
        {
            cargo.env_remove(name);
        }
    }
    let status = cargo.status().expect("cargo can be started");
    assert!(status.success(), "the agent could not be built: {cargo:?}");

    let library = target.join("release").join("libfewest_agent.so");
    println!(
        "cargo::rustc-env=FEWEST_AGENT_LIBRARY={}",
        library.display()
    );
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
