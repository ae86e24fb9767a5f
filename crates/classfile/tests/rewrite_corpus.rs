//! Rewrites the classes of JDKs and of libraries, and has real JVMs judge them.
//!
//! `./x test` runs a sample. The whole takes minutes and is run by
//!
//! ```sh
//! cargo test --release -p fewest-classfile --test rewrite_corpus -- --ignored --nocapture
//! ```
//!
//! which prints totals; `docs/design/rewriting.md` holds those of the last run.

mod rewrite_support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fewest_classfile::read::{ClassFile, Code, Operand, opcode};
use fewest_classfile::rewrite::{ClassEditor, RewriteErrorKind, Rewritten, Snippet};
use fewest_testkit::{ClassCorpus, Compilation, JavaRun, Javac, Jdk, TestProject, maven_jars};
use rewrite_support::{lay_out_anew, methods_with_code, nops};

/// Small jars, of which the sample takes all.
const SAMPLE_JARS: &[&str] = &[
    // Class-file version 45 and 46, with `jsr`.
    "commons-logging:commons-logging:1.0.4",
    "log4j:log4j:1.2.17",
    "com.google.guava:failureaccess:1.0.2",
    "org.jetbrains.kotlin:kotlin-stdlib:1.9.24",
];

/// Different compilers, languages, ages and sizes.
const ALL_JARS: &[&str] = &[
    "org.jetbrains.kotlin:kotlin-stdlib:2.2.0",
    "org.scala-lang:scala-library:2.13.16",
    "org.scala-lang:scala3-compiler_3:3.3.4",
    "org.apache.groovy:groovy:4.0.27",
    "com.google.guava:guava:33.4.8-jre",
    "org.springframework:spring-core:6.2.8",
    "org.bouncycastle:bcprov-jdk18on:1.81",
    // Before Java 5.
    "xerces:xercesImpl:2.12.2",
    "xalan:xalan:2.7.3",
    "log4j:log4j:1.2.17",
    "commons-logging:commons-logging:1.0.4",
    "commons-collections:commons-collections:2.1",
    "rhino:js:1.6R7",
    "bsh:bsh:1.3.0",
    "jython:jython:2.1",
    // Compilers and generators other than javac.
    "org.eclipse.jdt:ecj:3.38.0",
    "org.aspectj:aspectjweaver:1.9.24",
    "org.clojure:clojure:1.12.1",
    "org.jruby:jruby-core:9.4.12.0",
    "net.bytebuddy:byte-buddy:1.17.6",
    "org.codehaus.groovy:groovy-all:2.4.21",
    // Large, or full of generated code.
    "io.netty:netty-all:4.0.56.Final",
    "org.hibernate.orm:hibernate-core:6.6.18.Final",
    "org.apache.commons:commons-math3:3.6.1",
    "com.h2database:h2:2.3.232",
    "com.ibm.icu:icu4j:77.1",
    "org.antlr:antlr4:4.13.2",
    "com.fasterxml.jackson.core:jackson-databind:2.19.1",
    "org.apache.lucene:lucene-core:10.2.2",
    // Only so that the others link.
    "org.ow2.asm:asm:9.8",
    "org.slf4j:slf4j-api:2.0.17",
    "io.projectreactor:reactor-core:3.7.7",
    "org.reactivestreams:reactive-streams:1.0.4",
    "jakarta.persistence:jakarta.persistence-api:3.1.0",
    "com.fasterxml.jackson.core:jackson-core:2.19.1",
    "com.fasterxml.jackson.core:jackson-annotations:2.19.1",
    "org.scala-lang:scala3-library_3:3.3.4",
    "org.scala-lang:tasty-core_3:3.3.4",
    "org.springframework:spring-jcl:6.2.8",
];

/// In the sample, every so-many-th class of each JDK.
const SAMPLE_STEP: usize = 97;

#[test]
fn sample_of_the_corpus_is_rewritten_and_verifies() {
    let jvm = Jvms::new();
    for jdk in Jdk::all() {
        let modules = jdk.modules().unwrap();
        let what = format!("JDK {}", jdk.feature_version());
        jvm.check(&what, &classes_of(&modules), SAMPLE_STEP, Judge::Verify);
    }
    jvm.check("jars", &jvm.pack(SAMPLE_JARS), 1, Judge::Both);
}

#[test]
#[ignore = "takes minutes and fetches 150 MB of jars; run it in release, as the header says"]
fn all_of_the_corpus_is_rewritten_and_verifies() {
    let jvm = Jvms::new();
    for jdk in Jdk::all() {
        let modules = jdk.modules().unwrap();
        let what = format!("JDK {}", jdk.feature_version());
        jvm.check(&what, &classes_of(&modules), 1, Judge::Verify);
    }
    jvm.check("jars", &jvm.pack(ALL_JARS), 1, Judge::Both);
}

/// The JDK itself with probes in all of its modules: it starts, compiles a
/// program, and links all of its classes.
#[test]
#[ignore = "writes 250 MB per JDK and links 26,000 classes; run it in release"]
fn jdks_run_with_all_of_themselves_probed() {
    for jdk in Jdk::all() {
        let project = TestProject::new();
        let holder = Compilation::new()
            .source(
                "java/lang/FewestHits.java",
                "package java.lang; public class FewestHits { public static final byte[] A = new byte[1 << 15]; }",
            )
            // Before modules anybody could write into `java.lang`.
            .options(["-source", "8", "-target", "8", "-Xlint:-options"]);
        Javac::new(&jdk)
            .compile(&holder, &project.path("java.base"))
            .unwrap();
        let mut modules = BTreeSet::new();
        for class in jdk.modules().unwrap().classes() {
            let read = ClassFile::read(class.bytes).unwrap();
            let rewritten = probe_entries_of(&read, b"java/lang/FewestHits").unwrap();
            assert!(rewritten.left_alone.is_empty());
            if !read.is_module() && !is_primordial(class.name) {
                project.write(class.name, rewritten.bytes);
                modules.insert(class.name.split('/').next().unwrap().to_owned());
            }
        }
        let source =
            Compilation::new().source("LinkAll.java", include_str!("rewrite_java/LinkAll.java"));
        Javac::new(&jdk)
            .compile(&source, &project.path("classes"))
            .unwrap();
        let mut options = vec![
            "-Xverify:all".to_owned(),
            "--add-modules=ALL-SYSTEM".to_owned(),
        ];
        for module in modules {
            options.push(format!(
                "--patch-module={module}={}",
                project.path(&module).display()
            ));
        }
        let hello = project.write(
            "Hello.java",
            "class Hello { int f(int x) { return x + 1; } }",
        );
        JavaRun::new(&jdk, "com.sun.tools.javac.Main")
            .jvm_args(&options)
            .args([hello])
            .timeout(Duration::from_secs(600))
            .succeed()
            .unwrap();
        assert!(project.exists("Hello.class"));
        let said = JavaRun::new(&jdk, "LinkAll")
            .jvm_args(&options)
            .classpath([project.path("classes")])
            .timeout(Duration::from_secs(1200))
            .succeed()
            .unwrap()
            .stdout;
        println!("JDK {}: {said}", jdk.feature_version());
        assert!(said.contains("probes ran"), "{said}");
        assert!(!said.contains("BAD "), "{said}");
    }
}

/// The JVM runs these before it can load the class that holds the probes.
fn is_primordial(name: &str) -> bool {
    [
        "java.base/java/lang/Object.class",
        "java.base/java/lang/ref/",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

type NamedClass = (String, Vec<u8>);
/// `None` when the constant pool is full.
type Rewriter = fn(&ClassFile<'_>) -> Option<Rewritten>;

/// Who says whether a class is right.
#[derive(Clone, Copy, PartialEq)]
enum Judge {
    /// The verifier of JDK 25 as a library, which knows class-file versions
    /// from 50 on.
    Verify,
    /// That, and a JVM that loads and links the classes, which knows all.
    Both,
}

struct Jvms {
    project: TestProject,
    verifying: Option<Jdk>,
    loading: Jdk,
}

impl Jvms {
    fn new() -> Self {
        let project = TestProject::new();
        let verifying = Jdk::feature(25);
        let loading = Jdk::feature(17).or_else(|| Jdk::all().into_iter().next());
        let loading = loading.expect("a JDK is installed");
        let sources: [(&str, &str); 4] = [
            ("Classes.java", include_str!("rewrite_java/Classes.java")),
            ("Pack.java", include_str!("rewrite_java/Pack.java")),
            ("Load.java", include_str!("rewrite_java/Load.java")),
            ("Hits.java", include_str!("rewrite_java/Hits.java")),
        ];
        let mut compilation = Compilation::new();
        for (path, text) in sources {
            compilation = compilation.source(path, text);
        }
        Javac::new(&loading)
            .compile(&compilation, &project.path("load"))
            .unwrap();
        if let Some(jdk) = &verifying {
            let compilation = Compilation::new()
                .source("Classes.java", include_str!("rewrite_java/Classes.java"))
                .source("Verify.java", include_str!("rewrite_java/Verify.java"));
            Javac::new(jdk)
                .compile(&compilation, &project.path("verify"))
                .unwrap();
        }
        Self {
            project,
            verifying,
            loading,
        }
    }

    /// The classes of jars from Maven Central.
    fn pack(&self, jars: &[&str]) -> Vec<NamedClass> {
        let jars = maven_jars(jars).unwrap();
        let packed = self.project.path("jars");
        let arguments = std::iter::once(packed.clone()).chain(jars);
        self.run(&self.loading, "Pack", "load", &[], arguments);
        read_classes(&packed)
    }

    /// Rewrites every `step`th class in all ways.
    fn check(&self, what: &str, classes: &[NamedClass], step: usize, judge: Judge) {
        let original = self.project.path("original");
        write_classes(&original, classes);
        let sample: Vec<_> = classes.iter().step_by(step).collect();
        same_bytes_when_laid_out_anew(what, &sample);
        let mut files = vec![original];
        for (number, (how, rewriter)) in REWRITERS.iter().enumerate() {
            let (rewritten, summary) = rewrite(&sample, *rewriter);
            println!("{what}, {how}: {summary}");
            let file = self.project.path(format!("rewritten{number}"));
            write_classes(&file, &rewritten);
            files.push(file);
        }
        let mut open: Option<Vec<BTreeSet<String>>> = None;
        if let Some(jdk) = &self.verifying {
            let said = self.run(jdk, "Verify", "verify", &[], files.clone());
            open = Some(judged(what, jdk, &said));
        }
        if judge == Judge::Both {
            let options = [
                "-Xverify:all".to_owned(),
                format!("-Xbootclasspath/a:{}", self.project.path("load").display()),
            ];
            let said = self.run(&self.loading, "Load", "load", &options, files);
            let unlinked = judged(what, &self.loading, &said);
            open = Some(match open {
                None => unlinked,
                Some(unverified) => std::iter::zip(unverified, unlinked)
                    .map(|(left, right)| &left & &right)
                    .collect(),
            });
        }
        for ((how, _), open) in REWRITERS.iter().zip(open.into_iter().flatten()) {
            println!("{what}, {how}: {} classes judged by nobody", open.len());
        }
    }

    fn run(
        &self,
        jdk: &Jdk,
        main: &str,
        classes: &str,
        options: &[String],
        arguments: impl IntoIterator<Item = PathBuf>,
    ) -> String {
        JavaRun::new(jdk, main)
            .jvm_args(options)
            .classpath([self.project.path(classes)])
            .args(arguments)
            .timeout(Duration::from_secs(1200))
            .succeed()
            .unwrap()
            .stdout
    }
}

const REWRITERS: [(&str, Rewriter); 4] = [
    ("a probe at every entry", probe_entries),
    ("a probe at every block", probe_blocks),
    ("code at every exit", hook_exits),
    ("branches torn apart", tear_branches),
];

/// Takes what a judge said; returns, for each way of rewriting, the classes of
/// which the judge could not say anything.
fn judged(what: &str, jdk: &Jdk, said: &str) -> Vec<BTreeSet<String>> {
    let mut open = vec![BTreeSet::new()];
    for line in said.lines() {
        assert!(!line.starts_with("BAD "), "{line}");
        if let Some(name) = line.strip_prefix("OPEN ") {
            open.last_mut().unwrap().insert(name.to_owned());
        }
        if let Some(total) = line.strip_prefix("DONE ") {
            println!("{what}, judged by JDK {}: {total}", jdk.feature_version());
            open.push(BTreeSet::new());
        }
    }
    open.pop();
    assert_eq!(open.len(), REWRITERS.len(), "{said}");
    open
}

fn classes_of(modules: &ClassCorpus) -> Vec<NamedClass> {
    modules
        .classes()
        .map(|class| (class.name.to_owned(), class.bytes.to_vec()))
        .collect()
}

fn same_bytes_when_laid_out_anew(what: &str, classes: &[&NamedClass]) {
    let start = Instant::now();
    let mut methods = 0;
    for (name, bytes) in classes {
        let class = ClassFile::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        methods += methods_with_code(&class).len();
        let again = lay_out_anew(&class);
        assert!(again == *bytes, "{name} differs");
    }
    println!(
        "{what}: {} classes with {methods} methods laid out anew to the same bytes in {:?}",
        classes.len(),
        start.elapsed()
    );
}

fn rewrite(classes: &[&NamedClass], rewrite: Rewriter) -> (Vec<NamedClass>, String) {
    let mut summary = String::new();
    let mut rewritten = Vec::with_capacity(classes.len());
    let mut time = Duration::ZERO;
    let mut pool_full = 0;
    let mut left_alone = 0;
    for (name, bytes) in classes {
        let start = Instant::now();
        let class = ClassFile::read(bytes).unwrap();
        let result = rewrite(&class);
        time += start.elapsed();
        let Some(result) = result else {
            pool_full += 1;
            writeln!(summary, "\n  left alone, constant pool full: {name}").unwrap();
            continue;
        };
        for method in &result.left_alone {
            let kind = &method.error.kind;
            let expected = matches!(
                kind,
                RewriteErrorKind::TooLarge { .. } | RewriteErrorKind::PoolFull
            );
            assert!(expected, "{}: {kind}", method.error);
            left_alone += 1;
            write!(summary, "\n  left alone: {}: {kind}", method.error).unwrap();
        }
        rewritten.push((name.clone(), result.bytes));
    }
    let total = format!(
        "{} classes in {time:?}, {:.1} µs per class with reading; {pool_full} classes and {left_alone} methods left alone{summary}",
        classes.len(),
        time.as_secs_f64() * 1e6 / f64::from(classes.len() as u32),
    );
    (rewritten, total)
}

fn probe(editor: &mut ClassEditor<'_>, id: i16) -> Option<Snippet> {
    let hits = editor.field_ref(b"fewest/probe/Hits", b"A", b"[B").ok()?;
    Some(Snippet::probe(hits, id))
}

fn probe_entries(class: &ClassFile<'_>) -> Option<Rewritten> {
    probe_entries_of(class, b"fewest/probe/Hits")
}

fn probe_entries_of(class: &ClassFile<'_>, holder: &[u8]) -> Option<Rewritten> {
    let mut editor = ClassEditor::new(class);
    let hits = editor.field_ref(holder, b"A", b"[B").ok()?;
    for method in 0..class.methods().len() {
        if editor.has_code(method) {
            let snippet = Snippet::probe(hits, method as i16);
            editor.insert_at_entry(method, snippet).unwrap();
        }
    }
    Some(editor.finish_what_fits())
}

fn probe_blocks(class: &ClassFile<'_>) -> Option<Rewritten> {
    let mut editor = ClassEditor::new(class);
    for (method, code) in methods_with_code(class) {
        for pc in block_leaders(&code) {
            let snippet = probe(&mut editor, (pc % 32768) as i16)?;
            editor.insert_before(method, pc, snippet).unwrap();
        }
    }
    Some(editor.finish_what_fits())
}

/// A probe at every return and one in a handler for all else, and a branch over
/// nothing at entry, which needs a frame.
fn hook_exits(class: &ClassFile<'_>) -> Option<Rewritten> {
    let mut editor = ClassEditor::new(class);
    for (method, _) in methods_with_code(class) {
        let snippet = probe(&mut editor, 1)?;
        let with_this = false;
        editor
            .on_exit(method, snippet.clone(), snippet, with_this)
            .unwrap();
        let skip = vec![opcode::ICONST_0, opcode::IFEQ, 0, 4, opcode::NOP];
        let branching = Snippet {
            code: skip,
            max_stack: 1,
            frame_after: true,
        };
        editor.insert_at_entry(method, branching).unwrap();
    }
    Some(editor.finish_what_fits())
}

/// A gap behind the first conditional branch of a method, so wide that branches
/// over it must be widened and need frames. The gap takes room, so this is done
/// to one method of a class and to one class in 16.
#[expect(
    clippy::unnecessary_wraps,
    reason = "all ways of rewriting have one signature"
)]
fn tear_branches(class: &ClassFile<'_>) -> Option<Rewritten> {
    let mut editor = ClassEditor::new(class);
    let longest = methods_with_code(class)
        .into_iter()
        .filter(|(_, code)| code.bytes.len() < 30_000)
        .max_by_key(|(_, code)| code.bytes.len());
    if let (Some((method, code)), 0) = (longest, class.bytes.len() % 16) {
        let branch = code
            .instructions()
            .map(Result::unwrap)
            .find(|instruction| matches!(instruction.operand, Operand::Branch(target) if target > i64::from(instruction.end())));
        if let Some(branch) = branch {
            let gap = branch.end() as u16;
            editor.insert_before(method, gap, nops(32_768)).unwrap();
        }
    }
    Some(editor.finish_what_fits())
}

/// Where basic blocks start: at entry, where branches and handlers go, and
/// behind branches.
fn block_leaders(code: &Code<'_>) -> BTreeSet<u16> {
    let mut leaders = BTreeSet::from([0]);
    for instruction in code.instructions() {
        let instruction = instruction.unwrap();
        let mut branches = opcode::ends_block(instruction.opcode);
        instruction.operand.for_each_target(|target| {
            leaders.insert(target as u16);
            branches = true;
        });
        if branches && (instruction.end() as usize) < code.bytes.len() {
            leaders.insert(instruction.end() as u16);
        }
    }
    leaders.extend(code.handlers().map(|handler| handler.handler));
    leaders
}

fn write_classes(file: &Path, classes: &[NamedClass]) {
    let mut out = Vec::new();
    for (name, bytes) in classes {
        for block in [name.as_bytes(), bytes] {
            out.extend((block.len() as u32).to_be_bytes());
            out.extend(block);
        }
    }
    fs::write(file, out).unwrap();
}

fn read_classes(file: &Path) -> Vec<NamedClass> {
    let bytes = fs::read(file).unwrap();
    let mut rest = &bytes[..];
    let mut block = || {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let (block, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
        rest = tail;
        Some(block.to_vec())
    };
    let mut classes = Vec::new();
    while let Some(name) = block() {
        classes.push((String::from_utf8(name).unwrap(), block().unwrap()));
    }
    classes
}
