//! How fast classes get probes, on all classes of the newest JDK. One item is
//! one class, so items per second tell the time per class.

use divan::Bencher;
use divan::counter::ItemsCount;
use fewest_classfile::read::ClassFile;
use fewest_classfile::rewrite::{ClassEditor, Snippet};
use fewest_testkit::Jdk;

fn main() {
    divan::main();
}

fn on_corpus(bencher: Bencher<'_, '_>, mut work: impl FnMut(&[u8])) {
    let newest = Jdk::all()
        .into_iter()
        .max_by_key(Jdk::feature_version)
        .expect("a JDK is installed");
    let corpus = newest.modules().expect("the runtime image can be read");
    let classes: Vec<&[u8]> = corpus.classes().map(|class| class.bytes).collect();
    bencher
        .counter(ItemsCount::new(classes.len()))
        .bench_local(|| classes.iter().for_each(|class| work(class)));
}

fn probed<'a>(
    class: &'a ClassFile<'a>,
    mut insert: impl FnMut(&mut ClassEditor<'a>, usize, Snippet),
) -> Vec<u8> {
    let mut editor = ClassEditor::new(class);
    let hits = editor.field_ref(b"java/lang/$Holder", b"A", b"[B");
    let hits = hits.expect("the pool has room");
    for (method, id) in (0..class.methods().len()).zip(0..) {
        if editor.has_code(method) {
            insert(&mut editor, method, Snippet::probe(hits, id));
        }
    }
    editor.finish_what_fits().bytes
}

#[divan::bench]
fn read(bencher: Bencher<'_, '_>) {
    on_corpus(bencher, |bytes| {
        divan::black_box(ClassFile::read(bytes).expect("a class of the JDK"));
    });
}

#[divan::bench]
fn read_and_probe_entries(bencher: Bencher<'_, '_>) {
    on_corpus(bencher, |bytes| {
        let class = ClassFile::read(bytes).expect("a class of the JDK");
        divan::black_box(probed(&class, |editor, method, probe| {
            editor.insert_at_entry(method, probe).expect("it has code");
        }));
    });
}

/// The general path, for comparison.
#[divan::bench]
fn read_and_probe_first_instructions(bencher: Bencher<'_, '_>) {
    on_corpus(bencher, |bytes| {
        let class = ClassFile::read(bytes).expect("a class of the JDK");
        divan::black_box(probed(&class, |editor, method, probe| {
            editor.insert_before(method, 0, probe).expect("it has code");
        }));
    });
}
