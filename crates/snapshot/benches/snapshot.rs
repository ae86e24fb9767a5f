//! How long a snapshot takes, warm and cold.
//!
//! The trees are copies of the classes of a JDK's modules, each copy below a
//! folder of its own (`copy0/java/lang/String.class`), so sizes, numbers of
//! methods and directory shapes are those of real code. Files are in the page
//! cache: cold means without the snapshot's own cache.
//!
//!     cargo bench -p fewest-snapshot

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use divan::Bencher;
use fewest_model::{ClassName, Element};
use fewest_snapshot::{Settings, Snapshot};
use fewest_testkit::Jdk;

const SIZES: [usize; 2] = [5_000, 100_000];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn cold(bencher: Bencher, classes: usize) {
    let tree = tree(classes);
    bencher.bench(|| take(&tree, None));
}

#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn warm(bencher: Bencher, classes: usize) {
    let tree = tree(classes);
    let cache = warm_cache(&tree);
    bencher.bench(|| take(&tree, Some(&cache)));
}

#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn warm_with_one_changed_class(bencher: Bencher, classes: usize) {
    let tree = tree(classes);
    let cache = warm_cache(&tree);
    let changed = tree.join("copy0/java/lang/Object.class");
    bencher
        .with_inputs(|| {
            let file = fs::File::options().write(true).open(&changed).unwrap();
            file.set_modified(SystemTime::now()).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        })
        .bench_values(|()| take(&tree, Some(&cache)));
}

/// What selection asks: the fingerprints of every class and of its methods.
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn ask_for_every_method(bencher: Bencher, classes: usize) {
    let tree = tree(classes);
    let snapshot = take(&tree, Some(&warm_cache(&tree)));
    let elements: Vec<Element> = snapshot
        .classes()
        .flat_map(|view| {
            let name: ClassName = view.name().clone();
            let methods = view.methods();
            let methods: Vec<_> = methods
                .map(|method| Element::Method(name.clone(), method.key()))
                .collect();
            methods
        })
        .collect();
    bencher
        .counter(divan::counter::ItemsCount::new(elements.len()))
        .bench(|| {
            elements
                .iter()
                .filter(|element| !snapshot.fingerprint(element).is_absent())
                .count()
        });
}

fn take(tree: &Path, cache: Option<&Path>) -> Snapshot {
    let mut settings = Settings::new(tree, 17);
    settings.cache = cache.map(Path::to_owned);
    Snapshot::take(&[tree.to_owned()], settings)
}

fn warm_cache(tree: &Path) -> PathBuf {
    let cache = tree.with_extension("cache");
    take(tree, Some(&cache));
    cache
}

/// A folder with so many classes, made once and kept with cargo's output.
fn tree(classes: usize) -> PathBuf {
    let folder = fewest_testkit::cache_dir().join(format!("snapshot-bench/{classes}"));
    if folder.exists() {
        return folder;
    }
    let unfinished = folder.with_extension("unfinished");
    let _ = fs::remove_dir_all(&unfinished);
    let jdk = Jdk::feature(17).or_else(|| Jdk::all().pop());
    let corpus = jdk.expect("a JDK is installed").modules().unwrap();
    let copies = classes.div_ceil(corpus.len());
    let names = (0..copies).flat_map(|copy| corpus.classes().map(move |class| (copy, class)));
    for (copy, class) in names.take(classes) {
        let (_module, name) = class.name.split_once('/').unwrap();
        let path = unfinished.join(format!("copy{copy}/{name}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, class.bytes).unwrap();
    }
    fs::rename(&unfinished, &folder).unwrap();
    folder
}
