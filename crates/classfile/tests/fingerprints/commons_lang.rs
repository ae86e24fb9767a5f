//! A real library, compiled in many ways.

use std::fmt;
use std::fs;
use std::slice;

use fewest_classfile::changes::{ClassSet, compare_sets};
use fewest_classfile::fingerprint::Options;
use fewest_classfile::read::ClassFile;
use fewest_testkit::{Compilation, JavaRun, Javac, Jdk, TestProject, compile, maven_jar};

use crate::fixture::{Files, compile_all, files_below, fingerprints, newest_jdk, unpack};

const SOURCES: &str = "org.apache.commons:commons-lang3:3.14.0:sources";
/// Keeps javac from merging equal lambdas, as it does without line numbers.
const EVERY_LAMBDA: [&str; 1] = ["-XDdeduplicateLambdas=false"];
const ASM: &str = "org.ow2.asm:asm:9.8";

/// The sources by path.
fn sources() -> Vec<(String, String)> {
    let jar = maven_jar(SOURCES).expect("Maven Central");
    let folder = unpack(&jar);
    let mut sources = Vec::new();
    let mut queue = vec![folder.path("org")];
    while let Some(path) = queue.pop() {
        for entry in fs::read_dir(&path).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                queue.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "java")
            {
                let name = path.strip_prefix(folder.root()).expect("below the folder");
                let text = fs::read_to_string(&path).expect("a source");
                sources.push((name.to_string_lossy().into_owned(), text));
            }
        }
    }
    sources.sort();
    assert!(sources.len() > 200, "{}", sources.len());
    sources
}

fn compilation(sources: &[(String, String)], debug: &str) -> Compilation {
    let options = [
        "--release",
        "8",
        "-proc:none",
        "-nowarn",
        "-Xlint:none",
        debug,
    ];
    let start = Compilation::new().options(options);
    sources.iter().fold(start, |compilation, (path, text)| {
        compilation.source(path, text)
    })
}

fn prints(files: &Files) -> ClassSet {
    fingerprints(files, Options::default())
}

#[track_caller]
fn assert_same(old: &ClassSet, new: &ClassSet) {
    let changes = compare_sets(old, new);
    let first: Vec<_> = changes.iter().take(9).map(ToString::to_string).collect();
    assert!(first.is_empty(), "{} changes: {first:?}", changes.len());
    let parts = |set: &ClassSet| {
        let classes = set.values();
        classes
            .map(|class| (class.head, class.shape, class.class))
            .collect::<Vec<_>>()
    };
    assert_eq!(parts(old), parts(new));
}

/// Puts a comment and an empty line behind most lines. In a comment of the
/// source they are more comment.
fn with_comments(text: &str) -> String {
    let mut result = String::from("// A new first line.\n\n");
    for line in text.lines() {
        result.push_str(line);
        result.push('\n');
        if line.ends_with([';', '{', '}']) {
            result.push_str("// Said here.\n\n");
        }
    }
    result
}

/// What the compiler writes beside the code must not count. It writes other
/// code, too, when names of variables are asked for or line numbers are not: a
/// constant is then stored in its variable, and equal lambdas stay apart.
/// Both are kept equal here; [`a_debugger_changes_little`] counts them.
#[test]
fn neither_debug_information_nor_comments_nor_order_count() {
    let sources = sources();
    let commented: Vec<_> = sources
        .iter()
        .map(|(path, text)| (path.clone(), with_comments(text)))
        .collect();
    let compilations = [
        compilation(&sources, "-g:source,lines").options(EVERY_LAMBDA),
        compilation(&sources, "-g:none").options(EVERY_LAMBDA),
        compilation(&commented, "-g:source,lines").options(EVERY_LAMBDA),
    ];
    let compiled = compile_all(&newest_jdk(), &compilations.each_ref());
    let [with_debug, without_debug, commented] = &compiled[..] else {
        unreachable!("one folder for each compilation")
    };
    assert_ne!(with_debug, without_debug);
    assert_ne!(with_debug, commented);
    let original = prints(with_debug);
    assert!(original.len() > 300, "{}", original.len());
    assert_same(&original, &prints(without_debug));
    assert_same(&original, &prints(commented));
    let reversed: Files = with_debug
        .iter()
        .map(|(name, bytes)| (name.clone(), with_methods_reversed(bytes)))
        .collect();
    assert_ne!(with_debug, &reversed);
    assert_same(&original, &prints(&reversed));
}

#[test]
fn a_debugger_changes_little() {
    let sources = sources();
    let compilations = [
        compilation(&sources, "-g"),
        compilation(&sources, "-g:none"),
    ];
    let compiled = compile_all(&newest_jdk(), &compilations.each_ref());
    let equal = Equal::between(&prints(&compiled[0]), &prints(&compiled[1]));
    println!("-g and -g:none: {equal}");
    assert!(equal.methods.0 * 100 > equal.methods.1 * 99, "{equal}");
}

/// The class file with its methods in the opposite order.
fn with_methods_reversed(bytes: &[u8]) -> Vec<u8> {
    let class = ClassFile::read(bytes).expect("a sound class");
    let methods = class.methods();
    let (Some(first), Some(last)) = (methods.first(), methods.last()) else {
        return bytes.to_vec();
    };
    let mut result = bytes[..first.offset].to_vec();
    for method in methods.iter().rev() {
        result.extend(&bytes[method.offset..method.end]);
    }
    result.extend(&bytes[last.end..]);
    result
}

/// ASM numbers constants in the order in which it meets them, sorts attributes
/// its own way, and takes `ldc` or `ldc_w` as the numbers ask.
#[test]
fn the_order_of_constants_does_not_count_in_jvm_rewritten_classes() {
    let jdk = newest_jdk();
    let asm = maven_jar(ASM).expect("Maven Central");
    let project = TestProject::new();
    let [classes, tool, rewritten] =
        ["classes", "tool", "rewritten"].map(|name| project.path(name));
    Javac::new(&jdk)
        .compile(&compilation(&sources(), "-g"), &classes)
        .expect("the library compiles");
    let source = [("Rewrite.java", include_str!("java/Rewrite.java"))];
    compile(&jdk, &source, &[], slice::from_ref(&asm), &tool).expect("the tool compiles");
    JavaRun::new(&jdk, "Rewrite")
        .classpath([&tool, &asm])
        .args([&classes, &rewritten])
        .succeed()
        .expect("ASM rewrites the library");
    let (original, rewritten) = (files_below(&classes), files_below(&rewritten));
    let differs = |(name, bytes): &(&String, &Vec<u8>)| rewritten[*name] != **bytes;
    let moved = original.iter().filter(differs).count();
    assert!(moved > 200, "ASM moved constants in {moved} classes only");
    assert_same(&prints(&original), &prints(&rewritten));
}

/// Two compilers may write different code for one source. How often, the
/// documentation tells; that it stays the exception is checked here.
#[test]
fn two_compilers_mostly_agree() {
    let jdks = Jdk::all();
    let oldest = jdks.iter().min_by_key(|jdk| jdk.feature_version());
    let newest = jdks.iter().max_by_key(|jdk| jdk.feature_version());
    let (Some(oldest), Some(newest)) = (oldest, newest) else {
        return;
    };
    if oldest.feature_version() < 9 || oldest.feature_version() == newest.feature_version() {
        eprintln!("needs two JDKs from 9 on");
        return;
    }
    let compilation = compilation(&sources(), "-g");
    let [old, new] = [oldest, newest].map(|jdk| prints(&compile_all(jdk, &[&compilation])[0]));
    let equal = Equal::between(&old, &new);
    println!(
        "JDK {} and {}: {equal}",
        oldest.feature_version(),
        newest.feature_version()
    );
    assert!(equal.methods.0 * 10 > equal.methods.1 * 9, "{equal}");
    assert!(equal.classes.0 * 10 > equal.classes.1 * 7, "{equal}");
}

/// How many of how many are equal.
struct Equal {
    classes: (usize, usize),
    methods: (usize, usize),
}

impl Equal {
    fn between(old: &ClassSet, new: &ClassSet) -> Self {
        let mut equal = Self {
            classes: (0, 0),
            methods: (0, 0),
        };
        for (name, before) in old {
            let Some(after) = new.get(name) else { continue };
            equal.classes.0 += usize::from(before.class == after.class);
            equal.classes.1 += 1;
            let kept = |method| after.methods.contains(method);
            equal.methods.0 += before.methods.iter().filter(|method| kept(method)).count();
            equal.methods.1 += before.methods.len();
        }
        equal
    }
}

impl fmt::Display for Equal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (classes, methods) = (self.classes, self.methods);
        write!(f, "{} of {} classes and ", classes.0, classes.1)?;
        write!(f, "{} of {} methods are equal", methods.0, methods.1)
    }
}
