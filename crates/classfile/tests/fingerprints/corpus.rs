//! Classes by the thousand: of the installed JDKs, and of jars that other
//! compilers wrote.

use fewest_classfile::fingerprint::{Fingerprinter, Options, fingerprint};
use fewest_classfile::graph::{Graph, dangerous_blocks};
use fewest_classfile::read::ClassFile;
use fewest_classfile::references::references;
use fewest_testkit::{Jdk, maven_jars};

use crate::fixture::{files_below, unpack};

/// Old and new compilers of several languages; the oldest write subroutines.
const JARS: [&str; 4] = [
    "commons-logging:commons-logging:1.0.4",
    "log4j:log4j:1.2.17",
    "com.google.guava:failureaccess:1.0.2",
    "org.jetbrains.kotlin:kotlin-stdlib:1.9.24",
];

/// Every class is fingerprinted, and one in `SAMPLE` is looked at closely.
const SAMPLE: usize = 29;

fn check<'a>(classes: impl Iterator<Item = (&'a str, &'a [u8])>) -> usize {
    let mut fingerprinter = Fingerprinter::new(Options::default());
    let mut count = 0;
    for (number, (name, bytes)) in classes.enumerate() {
        let class = ClassFile::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let fingerprints = fingerprinter
            .fingerprint(&class)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        if number % SAMPLE == 0 {
            // What was looked at before must not matter.
            let again = fingerprint(&class, Options::default()).expect("it worked before");
            assert_eq!(fingerprints, again, "{name}");
            look_closely(name, &class);
        }
        count += 1;
    }
    count
}

fn look_closely(name: &str, class: &ClassFile<'_>) {
    let found = references(class).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(found.methods.len(), class.methods().len());
    for method in class.methods() {
        let graph = Graph::of(class, method, Options::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(graph) = graph {
            let code = class.code(method).expect("it worked before");
            check_graph(name, &graph, code.expect("it has a graph").bytes.len());
        }
    }
}

/// Blocks cover the code without gaps, edges lead to blocks, and a method has
/// nothing to fear from itself.
fn check_graph(name: &str, graph: &Graph, length: usize) {
    let mut end = 0;
    for block in &graph.blocks {
        assert_eq!(block.code.start, end, "{name}");
        end = block.code.end;
        let handlers = block.handlers.iter().map(|edge| edge.block);
        for target in block.successors.iter().copied().chain(handlers) {
            assert!(target < graph.blocks.len(), "{name}");
        }
    }
    assert_eq!(end as usize, length, "{name}");
    assert!(dangerous_blocks(graph, graph).is_empty(), "{name}");
}

#[test]
fn classes_of_the_jdks_have_fingerprints() {
    for jdk in Jdk::all().iter().filter(|jdk| jdk.feature_version() >= 11) {
        let corpus = jdk.modules().expect("the runtime image can be read");
        // All of them take a minute without optimisation.
        let step = if cfg!(debug_assertions) { 7 } else { 1 };
        let classes = corpus.classes().step_by(step);
        let count = check(classes.map(|class| (class.name, class.bytes)));
        assert!(count > 1000, "{count}");
    }
}

#[test]
fn classes_of_other_compilers_have_fingerprints() {
    for jar in maven_jars(&JARS).expect("Maven Central") {
        let folder = unpack(&jar);
        let files = files_below(folder.root());
        let classes = files.iter();
        let count = check(classes.map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
        assert!(count > 0, "{}", jar.display());
    }
}
