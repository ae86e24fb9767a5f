//! Reading and fingerprinting against the same work done by ASM on a warm JVM.
//!
//! Both get the classes of `java.base` from memory, on one thread. Processor
//! time and the best round count, because the machine may be busy with other
//! things; the JVM's compiler and collector have threads of their own and are
//! not counted.

use std::fs;
use std::hint::black_box;
use std::slice;
use std::time::Duration;

use fewest_classfile::fingerprint::{Fingerprinter, Options};
use fewest_classfile::read::ClassFile;
use fewest_testkit::{JavaRun, Jdk, TestProject, compile, maven_jar};
use rustix::time::{ClockId, clock_gettime};

const ASM: &str = "org.ow2.asm:asm:9.8";
/// After a third of these, the JVM has compiled all it is going to.
const ROUNDS: usize = 60;

fn main() {
    // `cargo test --benches` asks for no measurement.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let jdk = Jdk::all()
        .into_iter()
        .max_by_key(Jdk::feature_version)
        .expect("a JDK is installed");
    let corpus = jdk.modules().expect("the runtime image can be read");
    let classes: Vec<&[u8]> = corpus
        .classes()
        .filter(|class| class.name.starts_with("java.base/"))
        .map(|class| class.bytes)
        .collect();
    let bytes: usize = classes.iter().map(|class| class.len()).sum();
    let megabytes = f64::from(u32::try_from(bytes).expect("less than 4 GB")) / 1e6;
    println!(
        "{} classes of java.base {}, {megabytes:.1} MB",
        classes.len(),
        jdk.version()
    );
    let rate = |best: Duration| megabytes / best.as_secs_f64();
    let cheap = rate(best_of_asm(&jdk, &classes, "cheap"));
    let same = rate(best_of_asm(&jdk, &classes, "same"));
    let read = rate(best_of(|| {
        for bytes in &classes {
            black_box(ClassFile::read(bytes).expect("a class of the JDK"));
        }
    }));
    let mut fingerprinter = Fingerprinter::new(Options::default());
    let fewest = rate(best_of(|| {
        for bytes in &classes {
            let class = ClassFile::read(bytes).expect("a class of the JDK");
            black_box(fingerprinter.fingerprint(&class).expect("a sound class"));
        }
    }));
    println!("fewest, reading           {read:6.0} MB/s");
    println!("fewest, fingerprints      {fewest:6.0} MB/s");
    println!(
        "ASM, the same             {same:6.0} MB/s, {:4.1} x",
        fewest / same
    );
    println!(
        "ASM, the cheapest hash    {cheap:6.0} MB/s, {:4.1} x",
        fewest / cheap
    );
}

fn best_of(mut round: impl FnMut()) -> Duration {
    let rounds = (0..ROUNDS).map(|_| {
        let start = processor_time();
        round();
        processor_time().saturating_sub(start)
    });
    rounds.min().expect("at least one round")
}

/// What this thread has used so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn best_of_asm(jdk: &Jdk, classes: &[&[u8]], mode: &str) -> Duration {
    let asm = maven_jar(ASM).expect("Maven Central");
    let project = TestProject::new();
    let tool = project.path("tool");
    let source = [(
        "AsmFingerprint.java",
        include_str!("java/AsmFingerprint.java"),
    )];
    compile(jdk, &source, &[], slice::from_ref(&asm), &tool).expect("the tool compiles");
    let packed = project.path("classes");
    let with_length = |class: &&[u8]| [&(class.len() as u32).to_be_bytes(), *class].concat();
    let content: Vec<u8> = classes.iter().flat_map(with_length).collect();
    fs::write(&packed, content).expect("a temporary file");
    let finished = JavaRun::new(jdk, "AsmFingerprint")
        .classpath([&tool, &asm])
        .args([
            packed.into_os_string(),
            ROUNDS.to_string().into(),
            mode.into(),
        ])
        .timeout(Duration::from_secs(600))
        .succeed()
        .expect("ASM reads the classes");
    finished
        .stdout
        .lines()
        .map(|line| Duration::from_nanos(line.parse().expect("nanoseconds")))
        .min()
        .expect("at least one round")
}
