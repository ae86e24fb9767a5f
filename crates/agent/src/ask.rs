//! Asks `fewest` which test classes can be left out, and in what order the
//! others should run.
//!
//! Where no build tool has asked before the JVM started (`fewest exec`), the
//! JVM asks by itself, once, when its first test class is about to run. The
//! question and the answer are files in a task folder; see
//! `docs/reference/run-folder.md`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fewest_model::ClassName;
use fewest_trace::Jvm;
use serde_json::{Value, json};

use crate::methods::MethodNames;
use crate::reorder::WantedOrder;

/// What is to happen with the test classes of this JVM.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) left_out: HashSet<ClassName>,
    pub(crate) order: WantedOrder,
}

/// Without an answer every class runs, where the command puts it.
pub(crate) fn about_classes(program: &Path, task_folder: &Path, jvm: &Jvm) -> Answer {
    ask(program, task_folder, jvm).unwrap_or_default()
}

/// The test methods that need not run, as a build tool or this JVM was told.
pub(crate) fn methods_to_leave_out(task_folder: &Path) -> MethodNames {
    let read = || -> Option<MethodNames> {
        let answer = fs::read(task_folder.join("answer.json")).ok()?;
        skipped_methods(&serde_json::from_slice(&answer).ok()?)
    };
    read().unwrap_or_default()
}

fn skipped_methods(answer: &Value) -> Option<MethodNames> {
    if answer.get("format")?.as_u64()? != 1 {
        return None;
    }
    answer
        .get("skipMethods")?
        .as_array()?
        .iter()
        .map(|name| name.as_str()?.split_once('#'))
        .collect()
}

fn ask(program: &Path, task_folder: &Path, jvm: &Jvm) -> Option<Answer> {
    let arguments = jvm_arguments(&command_line()?);
    let request = json!({
        "format": 1,
        "module": "",
        "task": "exec",
        "basedir": jvm.working_directory,
        "classpath": jvm.class_path,
        "testClasses": null,
        "reports": null,
        "startedAt": jvm.started_at,
        "javaHome": jvm.java_home,
        "jvmArgs": arguments,
        "systemProperties": {},
        "environment": {},
        "settings": {},
    });
    fs::write(task_folder.join("request.json"), request.to_string()).ok()?;
    let status = Command::new(program)
        .arg("ask")
        .arg(task_folder)
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    if !status.success() {
        return None;
    }
    let answer = fs::read(task_folder.join("answer.json")).ok()?;
    read(&serde_json::from_slice(&answer).ok()?)
}

fn read(answer: &Value) -> Option<Answer> {
    if answer.get("format")?.as_u64()? != 1 {
        return None;
    }
    let classes = |member: &str| -> Option<Vec<ClassName>> {
        let names = answer.get(member)?.as_array()?.iter();
        names
            .map(|name| name.as_str().map(ClassName::new))
            .collect()
    };
    Some(Answer {
        left_out: classes("skip")?.into_iter().collect(),
        order: WantedOrder::new(classes("order").unwrap_or_default()),
    })
}

/// The words of this process's command line.
pub(crate) fn command_line() -> Option<Vec<String>> {
    let bytes = fs::read("/proc/self/cmdline").ok()?;
    let words = bytes.split(|&byte| byte == 0);
    Some(
        words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect(),
    )
}

/// The options of `java` among the words of a command line, without the class
/// path, which is told elsewhere, and without this agent.
fn jvm_arguments(words: &[String]) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-cp" | "-classpath" | "--class-path" => {
                words.next();
            }
            // These take the next word as their value.
            "--module-path"
            | "-p"
            | "--add-modules"
            | "--add-opens"
            | "--add-exports"
            | "--add-reads"
            | "--patch-module"
            | "--upgrade-module-path" => {
                arguments.push(word.clone());
                arguments.extend(words.next().cloned());
            }
            "-jar" => break,
            own if own.starts_with("-agentpath:") && own.contains("fewest") => {}
            option if option.starts_with('-') || option.starts_with('@') => {
                arguments.push(option.to_owned());
            }
            _ => break,
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn only_options_of_the_jvm_are_arguments() {
        let line = words(
            "java -ea -cp a:b -Dx=1 --add-opens a/b=c -agentpath:/l/libfewest_agent.so=x Main -v",
        );
        assert_eq!(
            jvm_arguments(&line),
            ["-ea", "-Dx=1", "--add-opens", "a/b=c"]
        );
        assert_eq!(
            jvm_arguments(&words("java -jar x.jar -q")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn methods_are_named_with_their_class() {
        let answer = json!({"format": 1, "skip": [], "skipMethods": ["p/A#m"]});
        let names = skipped_methods(&answer).unwrap();
        assert!(names.contains(&ClassName::new("p/A"), "m"));
        assert!(!names.contains(&ClassName::new("p/A"), "n"));
        for wrong in [json!(["p/A"]), json!([7]), json!("p/A#m")] {
            let answer = json!({"format": 1, "skipMethods": wrong});
            assert!(skipped_methods(&answer).is_none());
        }
        assert!(skipped_methods(&json!({"format": 2, "skipMethods": []})).is_none());
    }

    #[test]
    fn an_answer_of_another_format_leaves_nothing_out() {
        assert!(read(&json!({"format": 2, "skip": ["A"]})).is_none());
        assert!(read(&json!({"format": 1, "skip": [7]})).is_none());
        let answer = read(&json!({"format": 1, "skip": ["p/A"]})).unwrap();
        assert!(answer.left_out.contains(&ClassName::new("p/A")));
        assert!(answer.order.is_empty());
    }
}
