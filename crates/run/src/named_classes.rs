//! What the classes of a snapshot name, for static techniques.

use fewest_classfile::read::ClassFile;
use fewest_classfile::references::references;
use fewest_model::ClassName;
use fewest_select::class_graph::{Named, NamedClasses};
use fewest_snapshot::Snapshot;

/// The classes of a snapshot, each read when it is asked for.
pub(crate) struct SnapshotNames<'a>(pub(crate) &'a Snapshot);

impl NamedClasses for SnapshotNames<'_> {
    fn named_by(&self, class: &ClassName) -> Named {
        if self.0.class(class).is_none() {
            return Named::Absent;
        }
        let Ok(bytes) = self.0.class_bytes(class) else {
            return Named::Unreadable;
        };
        let Ok(references) = ClassFile::read(&bytes).and_then(|class| references(&class)) else {
            return Named::Unreadable;
        };
        let named = references.classes().into_iter().cloned();
        Named::Classes(named.chain(package_info(class)).collect())
    }
}

/// The class that holds the annotations of a class's package. No code names it,
/// yet reflection finds it from every class of the package.
fn package_info(class: &ClassName) -> Option<ClassName> {
    let (package, simple) = class.as_str().rsplit_once('/')?;
    (simple != "package-info").then(|| ClassName::new(format!("{package}/package-info")))
}
