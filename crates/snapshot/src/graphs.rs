//! Control flow of the methods that blocks are asked about.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use fewest_classfile::fingerprint::Options;
use fewest_classfile::graph::Graph;
use fewest_classfile::read::{ClassFile, ReadError};
use fewest_model::{ClassName, MethodKey};

use crate::snapshot::Snapshot;

type Methods = HashMap<MethodKey, Graph>;

/// The graphs of each class that was asked for, read once.
#[derive(Default)]
pub(crate) struct Graphs(Mutex<HashMap<ClassName, Option<Arc<Methods>>>>);

impl Graphs {
    /// The graphs of a class, or `None` where it cannot be read.
    pub(crate) fn of_class(
        &self,
        snapshot: &Snapshot,
        options: Options,
        class: &ClassName,
    ) -> Option<Arc<Methods>> {
        if let Some(known) = self.0.lock().ok()?.get(class) {
            return known.clone();
        }
        let methods = snapshot
            .class_bytes(class)
            .ok()
            .and_then(|bytes| graphs(&bytes, options).ok())
            .map(Arc::new);
        let mut known = self.0.lock().ok()?;
        known.insert(class.clone(), methods.clone());
        methods
    }
}

fn graphs(bytes: &[u8], options: Options) -> Result<Methods, ReadError> {
    let class = ClassFile::read(bytes)?;
    let mut methods = Methods::new();
    for method in class.methods() {
        if let Some(graph) = Graph::of(&class, method, options)? {
            methods.insert(class.method_key(method)?, graph);
        }
    }
    Ok(methods)
}
