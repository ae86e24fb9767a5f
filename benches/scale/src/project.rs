//! A project whose every test has a record: classes, a store, and the request
//! of a build that is about to run the tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use fewest_build::{FORMAT, TaskRequest};
use fewest_model::{ClassName, Element, MethodKey, TestId, Version, Watch};
use fewest_run::{OrderSettings, Project, ProjectFile, RunFolder, RunSettings, environment};
use fewest_select::{Entity, Technique};
use fewest_snapshot::{Settings, Snapshot};
use fewest_store::{Environment, Pass, Store, Writer};
use roaring::RoaringBitmap;

use crate::classes;

/// How large a project is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) classes: usize,
    pub(crate) tests: usize,
    /// Classes that one test uses.
    pub(crate) used: usize,
}

/// A folder with all of it.
pub(crate) struct Large {
    pub(crate) size: Size,
    root: PathBuf,
    /// The folder of the task that asks.
    pub(crate) task: PathBuf,
}

impl Large {
    pub(crate) fn make(root: &Path, size: Size) -> Result<Self> {
        let classes = root.join("classes");
        classes::write_tree(&classes, size.classes)
            .with_context(|| format!("failed to write classes to `{}`", classes.display()))?;
        let request = request(root, size);
        let project = Project::at(root);
        let run = RunFolder::create(&project, &settings(root))?;
        let task = run.path().join("task");
        fs::create_dir_all(&task)
            .with_context(|| format!("failed to make `{}`", task.display()))?;
        request.write(&task)?;
        fill_store(&project, &request, size)?;
        Ok(Self {
            size,
            root: root.to_owned(),
            task,
        })
    }

    /// Drops what is known of files, so that each class is read again.
    pub(crate) fn forget_files(&self) -> Result<()> {
        let cache = Project::at(&self.root).snapshot_cache();
        if cache.exists() {
            fs::remove_dir_all(&cache)
                .with_context(|| format!("failed to remove `{}`", cache.display()))?;
        }
        Ok(())
    }

    /// Changes the first method of a class.
    pub(crate) fn edit(&self, class: usize, edit: i32) -> Result<()> {
        let path = self
            .root
            .join("classes")
            .join(format!("{}.class", classes::name(class)));
        fs::write(&path, classes::bytes(class, self.size.classes, edit))
            .with_context(|| format!("failed to write `{}`", path.display()))
    }

    /// The tests that use the first method of a class.
    pub(crate) fn users(&self, class: usize) -> usize {
        let uses = |test: &usize| {
            uses_of(*test, self.size).any(|(used, method)| used == class && method == Some(0))
        };
        (0..self.size.tests).filter(uses).count()
    }
}

fn settings(root: &Path) -> RunSettings {
    RunSettings {
        since: None,
        root: root.to_owned(),
        technique: Technique::Hybrid,
        entity: Entity::default(),
        file: ProjectFile::default(),
        order: OrderSettings::default(),
        full_run_due: false,
        quiet: false,
        collect: true,
        shadow: false,
        agent: root.join("no-agent"),
        revision: None,
        started_at: 0,
        command: "bench".to_owned(),
    }
}

fn request(root: &Path, size: Size) -> TaskRequest {
    TaskRequest {
        format: FORMAT,
        module: String::new(),
        task: "bench".to_owned(),
        basedir: root.to_owned(),
        classpath: vec![root.join("classes")],
        test_classes: Some((0..size.tests).map(test_name).collect()),
        test_sources: Vec::new(),
        run_all: None,
        reports: None,
        started_at: 0,
        java_home: None,
        jvm_args: Vec::new(),
        system_properties: BTreeMap::new(),
        environment: BTreeMap::new(),
        settings: BTreeMap::new(),
    }
}

fn test_name(test: usize) -> ClassName {
    ClassName::new(format!(
        "com/example/project/package{}/Test{test}",
        test / 40
    ))
}

/// What a test uses: classes, and of most of them some methods. A third is used
/// by many tests, as utilities are; the rest lies near the test.
fn uses_of(test: usize, size: Size) -> impl Iterator<Item = (usize, Option<usize>)> {
    (0..size.used).flat_map(move |number| {
        let class = if number % 3 == 0 {
            number * 31 % size.classes
        } else {
            (test * 5 + number * 7) % size.classes
        };
        let methods = (0..classes::METHODS)
            .filter(move |method| !(test + method + number).is_multiple_of(3))
            .map(Some);
        std::iter::once(None)
            .chain(methods)
            .map(move |method| (class, method))
    })
}

fn fill_store(project: &Project, request: &TaskRequest, size: Size) -> Result<()> {
    // The feature version of a request that names no JDK is 8.
    let snapshot = Snapshot::take(&request.classpath, Settings::new(&request.basedir, 8));
    let variables = std::env::vars().collect();
    let facts = environment(request, &snapshot, &ProjectFile::default(), &variables);
    let facts = Arc::new(facts);
    let mut store = Store::open(&project.folder())?.store;
    let mut writer = store.write()?;
    let watched = Element::Watched(Watch::Uses);
    let watched = number(&mut writer, &snapshot, watched)?;
    let mut numbers = Vec::with_capacity(size.classes);
    for class in 0..size.classes {
        numbers.push(numbers_of(&mut writer, &snapshot, &classes::name(class))?);
    }
    for test in 0..size.tests {
        let mut uses: RoaringBitmap = uses_of(test, size)
            .flat_map(|(class, method)| numbers[class].of(method))
            .collect();
        uses.insert(watched);
        writer.add_pass(&pass(test, &facts), uses)?;
    }
    writer.commit()?;
    Ok(())
}

/// The numbers that a store has for the versions of a class.
struct Numbers {
    /// The class as a whole, for `file`, and its shape, for `hybrid`.
    class: [u32; 2],
    methods: Vec<u32>,
}

impl Numbers {
    fn of(&self, method: Option<usize>) -> Vec<u32> {
        match method {
            None => self.class.to_vec(),
            Some(method) => vec![self.methods[method]],
        }
    }
}

fn numbers_of(writer: &mut Writer<'_>, snapshot: &Snapshot, class: &ClassName) -> Result<Numbers> {
    let methods = (0..classes::METHODS).map(|method| {
        let key = MethodKey::new(classes::method_name(method), classes::DESCRIPTOR);
        number(writer, snapshot, Element::Method(class.clone(), key))
    });
    let methods = methods.collect::<Result<_>>()?;
    Ok(Numbers {
        class: [
            number(writer, snapshot, Element::Class(class.clone()))?,
            number(writer, snapshot, Element::Shape(class.clone()))?,
        ],
        methods,
    })
}

fn number(writer: &mut Writer<'_>, snapshot: &Snapshot, element: Element) -> Result<u32> {
    let fingerprint = snapshot.fingerprint(&element);
    let version = Version {
        element,
        fingerprint,
    };
    Ok(writer.intern(&version)?.0)
}

fn pass(test: usize, facts: &Arc<Environment>) -> Pass {
    Pass {
        test: TestId::of_class("", test_name(test)),
        environment: facts.clone(),
        made_at: 0,
        millis: 100,
        revision: None,
    }
}
