//! The script `./x` on machines that lack something.
//!
//! Each test makes a machine of stubs: a folder that is the whole path, with
//! the few basic programs the script may count on and a stand-in for every
//! other one. A stand-in notes its call, so that nothing is really installed.

#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use fewest_testkit::{Finished, Run, TestProject};

const BASICS: [&str; 8] = [
    "sh", "cat", "dirname", "env", "mkdir", "mktemp", "rm", "sed",
];
const MISSING_TOOL: Option<i32> = Some(3);

struct Machine {
    project: TestProject,
}

impl Machine {
    /// Has a root user and nothing else.
    fn bare() -> Self {
        let project = TestProject::new();
        fs::create_dir(project.path("bin")).unwrap();
        project.write("calls", "");
        for name in BASICS {
            symlink(real(name), project.path("bin").join(name)).unwrap();
        }
        Self { project }.with("id", "echo 0")
    }

    fn complete() -> Self {
        ["cc", "git", "javac", "mvn", "rustup"]
            .into_iter()
            .fold(Self::bare(), |machine, name| machine.with(name, ""))
            .with("apt-get", "")
            .with("cargo", "echo cargo 1.9999.0")
    }

    fn with(self, name: &str, script: &str) -> Self {
        self.program(&format!("bin/{name}"), script);
        self
    }

    fn without(self, name: &str) -> Self {
        self.project.remove(format!("bin/{name}"));
        self
    }

    fn program(&self, path: &str, script: &str) {
        let calls = self.project.path("calls");
        let name = Path::new(path).file_name().unwrap().display();
        let text = format!(
            "#!{}\necho {name} \"$@\" >>'{}'\n{script}\n",
            real("sh").display(),
            calls.display()
        );
        let file = self.project.write(path, text);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn x(&self, arguments: &[&str]) -> Finished {
        self.x_with(arguments, "FEWEST_INSTALL", "")
    }

    fn x_with(&self, arguments: &[&str], variable: &str, value: &str) -> Finished {
        Run::new(script())
            .args(arguments)
            .env("PATH", self.project.path("bin"))
            .env("HOME", self.project.path("home"))
            .env_remove("CARGO_HOME")
            .env_remove("RUSTUP_TOOLCHAIN")
            .env(variable, value)
            .finish()
            .unwrap()
    }

    /// The calls of stand-ins that would have changed the machine.
    fn installations(&self) -> Vec<String> {
        self.project
            .read("calls")
            .lines()
            .filter(|call| ["apt-get", "curl", "rustup", "sudo"].contains(&first_word(call)))
            .map(str::to_owned)
            .collect()
    }
}

fn first_word(call: &str) -> &str {
    call.split(' ').next().unwrap_or_default()
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../x")
}

fn real(program: &str) -> PathBuf {
    env::split_paths(&env::var_os("PATH").unwrap())
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("no `{program}` on the path"))
}

#[test]
fn help_names_every_command() {
    let help = Machine::bare().x(&["help"]);
    assert!(help.success());
    for command in ["test", "demo", "lint", "bench", "setup", "help"] {
        assert!(
            help.stdout.contains(&format!("\n  {command} ")),
            "{command}"
        );
    }
}

#[test]
fn an_unknown_command_is_wrong_usage() {
    let finished = Machine::bare().x(&["tset"]);
    assert_eq!(finished.code(), Some(2));
    assert!(finished.stderr.contains("`tset`"), "{}", finished.stderr);
}

#[test]
fn a_complete_machine_is_left_alone_in_silence() {
    let machine = Machine::complete();
    let finished = machine.x(&["setup"]);
    assert!(finished.success(), "{}", finished.stderr);
    assert_eq!(finished.stdout + &finished.stderr, "");
    assert_eq!(machine.installations(), [""; 0]);
}

#[test]
fn with_installing_forbidden_one_line_says_all_that_is_missing() {
    let machine = Machine::bare().with("apt-get", "").with("curl", "");
    let finished = machine.x_with(&["setup"], "FEWEST_INSTALL", "no");
    assert_eq!(finished.code(), MISSING_TOOL);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    for wanted in ["gcc", "maven", "git", "Rust 1."] {
        assert!(finished.stderr.contains(wanted), "{}", finished.stderr);
    }
    assert_eq!(machine.installations(), [""; 0]);
}

#[test]
fn root_gets_the_missing_packages_and_no_other() {
    let machine = Machine::complete().without("mvn").without("git");
    let finished = machine.x(&["setup"]);
    assert!(finished.success(), "{}", finished.stderr);
    assert_eq!(
        machine.installations(),
        [
            "apt-get update -q",
            "apt-get install -y -q --no-install-recommends maven git"
        ]
    );
}

#[test]
fn another_user_installs_by_sudo_when_it_asks_for_no_password() {
    let machine = Machine::complete()
        .without("mvn")
        .with("id", "echo 1000")
        .with("sudo", "shift; exec \"$@\"")
        .with("true", "");
    let finished = machine.x(&["setup"]);
    assert!(finished.success(), "{}", finished.stderr);
    let calls = machine.installations();
    assert!(
        calls.contains(&"sudo -n apt-get update -q".to_owned()),
        "{calls:?}"
    );
}

#[test]
fn another_user_is_told_what_to_install_when_sudo_wants_a_password() {
    let machine = Machine::complete()
        .without("mvn")
        .with("id", "echo 1000")
        .with("sudo", "exit 1");
    let finished = machine.x(&["setup"]);
    assert_eq!(finished.code(), MISSING_TOOL);
    assert!(
        finished.stderr.contains("please install maven"),
        "{}",
        finished.stderr
    );
}

#[test]
fn rust_comes_by_rustup_and_is_used_at_once() {
    // The stand-in for the installer puts a cargo where rustup would.
    let machine = Machine::complete().without("rustup").without("cargo").with(
        "curl",
        "while [ \"$1\" != -o ]; do shift; done\n\
         echo 'mkdir -p \"$HOME/.cargo\" && mv \"$HOME/../new\" \"$HOME/.cargo/bin\"' >\"$2\"",
    );
    symlink(real("mv"), machine.project.path("bin/mv")).unwrap();
    fs::create_dir(machine.project.path("home")).unwrap();
    machine.program("new/cargo", "echo cargo 1.9999.0");
    let finished = machine.x(&["setup"]);
    assert!(finished.success(), "{}", finished.stderr);
    assert!(machine.project.exists("home/.cargo/bin/cargo"));
    assert_eq!(machine.installations().len(), 1);
}

#[test]
fn an_old_default_toolchain_gives_way_to_an_installed_stable_one() {
    let machine = Machine::complete().with(
        "cargo",
        "if [ \"$RUSTUP_TOOLCHAIN\" = stable ]; then echo cargo 1.9999.0; else echo cargo 1.60.0; fi",
    );
    let finished = machine.x(&["setup"]);
    assert!(finished.success(), "{}", finished.stderr);
    assert_eq!(machine.installations(), [""; 0]);
}

#[test]
fn a_rust_that_cannot_be_fetched_is_asked_for() {
    let machine = Machine::complete()
        .without("rustup")
        .with("cargo", "echo cargo 1.60.0")
        .with("curl", "exit 6");
    let finished = machine.x(&["setup"]);
    assert_eq!(finished.code(), MISSING_TOOL);
    assert!(
        finished.stderr.contains("please install Rust 1."),
        "{}",
        finished.stderr
    );
}

#[test]
fn packages_that_cannot_be_fetched_are_asked_for() {
    let machine = Machine::complete()
        .without("mvn")
        .with("apt-get", "exit 100");
    let finished = machine.x(&["setup"]);
    assert_eq!(finished.code(), MISSING_TOOL);
    assert!(
        finished.stderr.contains("please install maven"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_check_that_fails_fails_the_test_command() {
    let failing_at = |step: &str| {
        let script = format!(
            "case \"$*\" in --version) echo cargo 1.9999.0 ;; *--version) ;; '{step}'*) exit 101 ;; esac"
        );
        let machine = Machine::complete().with("cargo", &script);
        machine.x(&["test"]).code()
    };
    for step in ["fmt", "clippy", "build", "nextest run", "test"] {
        assert_eq!(failing_at(step), Some(101), "{step}");
    }
    assert_eq!(failing_at("nothing"), Some(0));
}
