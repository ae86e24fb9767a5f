//! How fast classes are read and fingerprinted, on the classes of `java.base`.

use divan::Bencher;
use divan::counter::BytesCount;
use fewest_classfile::fingerprint::{Fingerprinter, Options, raw};
use fewest_classfile::read::ClassFile;
use fewest_testkit::{ClassCorpus, Jdk};

fn main() {
    divan::main();
}

/// Runs `work` on every class of `java.base` of the newest JDK.
fn on_corpus(bencher: Bencher<'_, '_>, mut work: impl FnMut(&[u8])) {
    let corpus = corpus();
    let classes: Vec<&[u8]> = corpus
        .classes()
        .filter(|class| class.name.starts_with("java.base/"))
        .map(|class| class.bytes)
        .collect();
    let bytes: usize = classes.iter().map(|class| class.len()).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| classes.iter().for_each(|class| work(class)));
}

fn corpus() -> ClassCorpus {
    let newest = Jdk::all()
        .into_iter()
        .max_by_key(Jdk::feature_version)
        .expect("a JDK is installed");
    newest.modules().expect("the runtime image can be read")
}

#[divan::bench]
fn read(bencher: Bencher<'_, '_>) {
    on_corpus(bencher, |bytes| {
        divan::black_box(ClassFile::read(bytes).expect("a class of the JDK"));
    });
}

#[divan::bench]
fn read_and_fingerprint(bencher: Bencher<'_, '_>) {
    let mut fingerprinter = Fingerprinter::new(Options::default());
    on_corpus(bencher, |bytes| {
        let class = ClassFile::read(bytes).expect("a class of the JDK");
        divan::black_box(fingerprinter.fingerprint(&class).expect("a sound class"));
    });
}

#[divan::bench]
fn raw_fingerprint(bencher: Bencher<'_, '_>) {
    on_corpus(bencher, |bytes| {
        divan::black_box(raw(bytes));
    });
}
