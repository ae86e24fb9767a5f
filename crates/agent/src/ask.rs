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

/// What is to happen with test methods.
#[derive(Default)]
pub(crate) struct MethodAnswer {
    /// Classes whose methods are to be told apart.
    pub(crate) by_method: HashSet<ClassName>,
    pub(crate) left_out: MethodNames,
}

/// What a build tool or this JVM was told about test methods. Without an answer
/// every method runs.
pub(crate) fn about_methods(task_folder: &Path) -> MethodAnswer {
    let read = || -> Option<MethodAnswer> {
        let answer = fs::read(task_folder.join("answer.json")).ok()?;
        read_methods(&serde_json::from_slice(&answer).ok()?)
    };
    read().unwrap_or_default()
}

fn read_methods(answer: &Value) -> Option<MethodAnswer> {
    if answer.get("format")?.as_u64()? != 1 {
        return None;
    }
    let left_out = answer.get("skipMethods")?.as_array()?.iter();
    Some(MethodAnswer {
        by_method: classes(answer, "byMethod").unwrap_or_default(),
        left_out: left_out
            .map(|name| name.as_str()?.split_once('#'))
            .collect::<Option<_>>()?,
    })
}

/// The classes that a member of an answer names.
fn classes<C: FromIterator<ClassName>>(answer: &Value, member: &str) -> Option<C> {
    let names = answer.get(member)?.as_array()?.iter();
    names
        .map(|name| name.as_str().map(ClassName::new))
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
    Some(Answer {
        left_out: classes(answer, "skip")?,
        order: WantedOrder::new(classes(answer, "order").unwrap_or_default()),
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
        let names = read_methods(&answer).unwrap().left_out;
        assert!(names.contains(&ClassName::new("p/A"), "m"));
        assert!(!names.contains(&ClassName::new("p/A"), "n"));
        for wrong in [json!(["p/A"]), json!([7]), json!("p/A#m")] {
            let answer = json!({"format": 1, "skipMethods": wrong});
            assert!(read_methods(&answer).is_none());
        }
        assert!(read_methods(&json!({"format": 2, "skipMethods": []})).is_none());
    }

    #[test]
    fn the_classes_that_are_gone_into_are_named() {
        let read = |members| read_methods(&members).unwrap().by_method;
        let answer = json!({"format": 1, "skipMethods": [], "byMethod": ["p/A"]});
        assert_eq!(read(answer), HashSet::from([ClassName::new("p/A")]));
        assert!(read(json!({"format": 1, "skipMethods": []})).is_empty());
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
