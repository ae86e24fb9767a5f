//! What the agent costs the JVM that it is a guest in, beside other agents.
//!
//! Every round runs each variant once, so that whatever else the machine does
//! meets all of them, and ratios are taken to the plain JVM of the same round.
//! Names of workloads on the command line leave out the others.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fewest_agent::Config;
use fewest_testkit::{Compilation, Javac, Jdk, Run, TestProject, maven_jar, maven_jars};
use fewest_trace::ParentWindows;

const ASM: &str = "org.ow2.asm:asm:9.8";
const JACOCO: &str = "org.jacoco:org.jacoco.agent:0.8.13:runtime";
const COLD_CLASSES: u32 = 1500;
const ROUNDS: usize = 9;

fn main() {
    // `cargo test --benches` asks for no measurement.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    let asked: Vec<String> = env::args()
        .skip(1)
        .filter(|name| !name.starts_with('-'))
        .collect();
    println!("medians of ratios to the plain JVM [quartiles]");
    for jdk in Jdk::old_and_new() {
        println!("\nJDK {}", jdk.version());
        let stage = Stage::new(jdk);
        for workload in stage.workloads() {
            if asked.is_empty() || asked.iter().any(|name| name == workload.name) {
                stage.measure(&workload);
            }
        }
    }
}

/// What is loaded into the JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Plain,
    /// Probes, windows and initializers.
    Probes,
    /// The default: files, resources, settings and reflection too.
    Things,
    /// The classes of receivers besides, as `hybrid-lookup` asks for.
    Receivers,
    /// A probe in each block besides, as `hybrid-block` asks for.
    Blocks,
    Jacoco,
    Asm,
}

impl Variant {
    const ALL: [Self; 7] = [
        Self::Plain,
        Self::Probes,
        Self::Things,
        Self::Receivers,
        Self::Blocks,
        Self::Jacoco,
        Self::Asm,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain JVM",
            Self::Probes => "fewest, things=off",
            Self::Things => "fewest",
            Self::Receivers => "fewest, receivers",
            Self::Blocks => "fewest, blocks",
            Self::Jacoco => "JaCoCo 0.8.13",
            Self::Asm => "ASM, same probes",
        }
    }

    /// How fewest's agent is set up, where it is the one that is loaded.
    fn config(self) -> Option<Config> {
        let things = Config {
            things: true,
            ..Config::default()
        };
        match self {
            Self::Probes => Some(Config::default()),
            Self::Things => Some(things),
            Self::Receivers => Some(Config {
                receivers: true,
                ..things
            }),
            Self::Blocks => Some(Config {
                blocks: true,
                ..things
            }),
            Self::Plain | Self::Jacoco | Self::Asm => None,
        }
    }
}

struct Workload {
    name: &'static str,
    main: &'static str,
    arguments: Vec<String>,
    class_path: Vec<PathBuf>,
    /// Whether it runs tests, which open windows.
    has_tests: bool,
    /// How many classes it loads beside those of the JDK, where that is known.
    classes: Option<u32>,
    /// Rounds to run for each that a short one gets.
    share: usize,
}

/// What one JVM has taken.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    processor: Duration,
    resident_kilobytes: u32,
}

/// Everything that the JVMs need, in one folder.
struct Stage {
    jdk: Jdk,
    project: TestProject,
    asm_agent: PathBuf,
    jacoco: PathBuf,
    fewest: PathBuf,
    rounds: usize,
}

impl Stage {
    fn new(jdk: Jdk) -> Self {
        let project = TestProject::new();
        let junit = maven_jar("junit:junit:4.13.2").expect("Maven Central");
        let programs = Compilation::new()
            .source("Hello.java", include_str!("java/Hello.java"))
            .source("Cold.java", include_str!("java/Cold.java"))
            .source("Hot.java", include_str!("java/Hot.java"))
            .source("Threads.java", include_str!("java/Threads.java"))
            .source("Suite.java", include_str!("java/Suite.java"))
            .options(["--release", "8", "-nowarn", "-Xlint:-options"])
            .classpath([junit]);
        Javac::new(&Jdk::default())
            .compile(&programs, &project.path("classes"))
            .expect("the programs compile");
        Self {
            asm_agent: asm_agent(&Jdk::default(), &project),
            jacoco: maven_jar(JACOCO).expect("Maven Central"),
            fewest: env::var_os("FEWEST_AGENT").map_or_else(built_agent, PathBuf::from),
            rounds: env::var("FEWEST_BENCH_ROUNDS")
                .ok()
                .and_then(|rounds| rounds.parse().ok())
                .unwrap_or(ROUNDS),
            jdk,
            project,
        }
    }

    fn workloads(&self) -> Vec<Workload> {
        let workload = |name, main, arguments: &[&str]| Workload {
            name,
            main,
            arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
            class_path: vec![self.project.path("classes")],
            has_tests: false,
            classes: None,
            share: 1,
        };
        let mut cold = workload("cold", "Cold", &[&COLD_CLASSES.to_string()]);
        let jars = maven_jars(&[
            "org.apache.commons:commons-collections4:4.4",
            "org.apache.commons:commons-math3:3.6.1",
        ])
        .expect("Maven Central");
        cold.arguments
            .extend(jars.iter().map(|jar| jar.display().to_string()));
        cold.class_path.extend(jars);
        cold.classes = Some(COLD_CLASSES);

        let mut suite = workload("suite", "Suite", &[]);
        let jars = maven_jars(&[
            "org.apache.commons:commons-collections4:4.4:tests",
            "org.apache.commons:commons-collections4:4.4",
            "junit:junit:4.13.2",
            "org.hamcrest:hamcrest-core:1.3",
            "org.easymock:easymock:4.0.2",
            "org.objenesis:objenesis:3.0.1",
            "org.apache.commons:commons-lang3:3.9",
        ])
        .expect("Maven Central");
        suite.arguments.push(jars[0].display().to_string());
        suite.class_path.extend(jars);
        suite.has_tests = true;
        suite.share = 3;

        vec![
            workload("hello", "Hello", &[]),
            cold,
            workload("hot", "Hot", &["300000"]),
            workload("threads", "Threads", &["20000000"]),
            suite,
        ]
    }

    fn measure(&self, workload: &Workload) {
        let rounds = self.rounds.div_ceil(workload.share);
        let mut costs = vec![Vec::new(); Variant::ALL.len()];
        let mut said: Option<String> = None;
        for round in 0..rounds {
            for offset in 0..Variant::ALL.len() {
                // Another one comes first in each round.
                let at = (round + offset) % Variant::ALL.len();
                let (cost, output) = self.run(workload, Variant::ALL[at]);
                costs[at].push(cost);
                let said = said.get_or_insert_with(|| output.clone());
                assert_eq!(*said, output, "{} differs", Variant::ALL[at].name());
            }
        }
        let said = said.unwrap_or_default();
        println!("\n{}: {}; {rounds} rounds", workload.name, said.trim());
        println!(
            "{:<20}{:>9}{:>9}{:>22}{:>22}{:>8}{:>12}",
            "", "wall ms", "CPU ms", "wall ratio", "CPU ratio", "MB", "µs/class"
        );
        for (variant, own) in Variant::ALL.into_iter().zip(&costs) {
            print_row(variant, own, &costs[0], workload.classes);
        }
    }

    /// One JVM from its start to its end, and what it printed.
    fn run(&self, workload: &Workload, variant: Variant) -> (Cost, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = folder.path().join("output");
        let stdout = File::create(&output).expect("a file for the output");
        let class_path: Vec<_> = workload
            .class_path
            .iter()
            .map(|entry| entry.display().to_string())
            .collect();
        let mut command = Command::new(self.jdk.java());
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
            command.env_remove(variable);
        }
        command
            .args(self.option(variant, workload, folder.path()))
            .args(["-cp", &class_path.join(":"), workload.main])
            .args(&workload.arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::null());
        let cost = cost_of(&mut command).expect("the JVM runs");
        let said = fs::read_to_string(output).expect("the output of the JVM");
        if variant.config().is_some() {
            let traces = fs::read_dir(folder.path().join("traces")).map_or(0, Iterator::count);
            assert_eq!(traces, 1, "the agent was at work");
        }
        // Whatever else a suite prints may differ from run to run.
        let last = said.lines().last().unwrap_or_default().to_owned();
        (cost, last)
    }

    fn option(&self, variant: Variant, workload: &Workload, folder: &Path) -> Option<String> {
        if let Some(config) = variant.config() {
            return Some(self.fewest_option(config, workload, folder));
        }
        match variant {
            Variant::Jacoco => {
                let report = folder.join("jacoco.exec");
                let agent = self.jacoco.display();
                Some(format!("-javaagent:{agent}=destfile={}", report.display()))
            }
            Variant::Asm => Some(format!("-javaagent:{}", self.asm_agent.display())),
            _ => None,
        }
    }

    fn fewest_option(&self, config: Config, workload: &Workload, folder: &Path) -> String {
        // Without tests, the JVM counts as started by one, because the agent
        // would write no trace otherwise.
        let parent = (!workload.has_tests).then(|| ParentWindows {
            trace: "parent.trace".into(),
            windows: vec![0],
        });
        let config = Config {
            folder: folder.to_owned(),
            parent,
            ..config
        };
        let path = folder.join("agent.conf");
        fs::write(&path, config.to_text()).expect("a temporary file");
        format!("-agentpath:{}={}", self.fewest.display(), path.display())
    }
}

/// The library as cargo built it for this benchmark.
fn built_agent() -> PathBuf {
    let exe = env::current_exe().expect("a benchmark has a path");
    let library = exe.with_file_name("libfewest_agent.so");
    assert!(library.is_file(), "`{}` is missing", library.display());
    library
}

/// A jar with the Java agent, which finds ASM by its manifest.
fn asm_agent(jdk: &Jdk, project: &TestProject) -> PathBuf {
    let asm = maven_jar(ASM).expect("Maven Central");
    let source = Compilation::new()
        .source("AsmAgent.java", include_str!("java/AsmAgent.java"))
        .classpath([&asm]);
    let classes = project.path("asm-agent");
    Javac::new(jdk)
        .compile(&source, &classes)
        .expect("the Java agent compiles");
    // Beside the agent's jar, the name alone is enough: a line of a manifest
    // is too short for many a path.
    fs::copy(&asm, project.path("asm.jar")).expect("a temporary file");
    let manifest = project.path("MANIFEST");
    fs::write(&manifest, "Premain-Class: AsmAgent\nClass-Path: asm.jar\n")
        .expect("a temporary file");
    let jar = project.path("asm-agent.jar");
    Run::new(jdk.home().join("bin/jar"))
        .arg("cfm")
        .args([&jar, &manifest])
        .arg("-C")
        .arg(&classes)
        .arg(".")
        .succeed()
        .expect("the jar is made");
    jar
}

/// Waits by `wait4`, which tells what the child has used.
fn cost_of(command: &mut Command) -> io::Result<Cost> {
    let start = Instant::now();
    let child = command.spawn()?;
    let mut status = 0;
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to variables of this function, and the child
    // is waited for only here.
    let waited = unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage) };
    if waited < 0 {
        return Err(io::Error::last_os_error());
    }
    if status != 0 {
        let line = format!("{command:?} ended with status {status}");
        return Err(io::Error::other(line));
    }
    Ok(Cost {
        wall: start.elapsed(),
        processor: duration(usage.ru_utime) + duration(usage.ru_stime),
        resident_kilobytes: usage.ru_maxrss as u32,
    })
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}

fn print_row(variant: Variant, own: &[Cost], plain: &[Cost], classes: Option<u32>) {
    let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
    let wall = |cost: &Cost| milliseconds(cost.wall);
    let processor = |cost: &Cost| milliseconds(cost.processor);
    let ratios = |measure: &dyn Fn(&Cost) -> f64| {
        let pairs = own.iter().zip(plain);
        let [low, middle, high] =
            quartiles(pairs.map(|(own, plain)| measure(own) / measure(plain)));
        format!("{middle:.2} [{low:.2}–{high:.2}]")
    };
    let median = |measure: &dyn Fn(&Cost) -> f64| quartiles(own.iter().map(measure))[1];
    let resident = median(&|cost| f64::from(cost.resident_kilobytes) / 1024.0);
    let per_class = classes
        .filter(|_| variant != Variant::Plain)
        .map(|classes| {
            let pairs = own.iter().zip(plain);
            let more = quartiles(pairs.map(|(own, plain)| processor(own) - processor(plain)))[1];
            format!("{:.0}", more * 1e3 / f64::from(classes))
        });
    println!(
        "{:<20}{:>9.0}{:>9.0}{:>22}{:>22}{:>8.0}{:>12}",
        variant.name(),
        median(&wall),
        median(&processor),
        ratios(&wall),
        ratios(&processor),
        resident,
        per_class.unwrap_or_default(),
    );
}

/// The lower quartile, the median and the upper quartile.
fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    [last / 4, last / 2, last - last / 4].map(|at| values[at])
}
