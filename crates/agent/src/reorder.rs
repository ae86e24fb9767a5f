//! Puts test classes in the order that `fewest` wants, where a framework is
//! about to take them up.
//!
//! Nothing is ever taken away: an array gets its own elements back in another
//! order, and a child of an engine is put back where it was taken from. Classes
//! that the order does not name come first, as they are new.

use std::collections::HashMap;

use fewest_model::ClassName;

use crate::frameworks::Frameworks;
use crate::jvmti::Local;

/// Which classes come when.
#[derive(Debug, Default)]
pub(crate) struct WantedOrder(HashMap<ClassName, usize>);

impl WantedOrder {
    pub(crate) fn new(classes: Vec<ClassName>) -> Self {
        Self(classes.into_iter().zip(1..).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of a class, 0 for one that is not named.
    fn place(&self, class: Option<&ClassName>) -> usize {
        let place = class.and_then(|class| self.0.get(class));
        place.copied().unwrap_or(0)
    }
}

/// Sorts an array of classes.
pub(crate) fn class_array<'o>(
    frameworks: Frameworks<'_>,
    array: Local<'_>,
    order: impl FnOnce() -> Option<&'o WantedOrder>,
) {
    let jni = frameworks.jni;
    let length = jni.array_length(array);
    let classes: Vec<Local<'_>> = (0..length)
        .filter_map(|index| jni.element(array, index))
        .collect();
    // Null among them is the framework's to complain of.
    if classes.len() < 2 || classes.len() != length as usize {
        return;
    }
    let Some(order) = order().filter(|order| !order.is_empty()) else {
        return;
    };
    let mut placed: Vec<(usize, Local<'_>)> = classes
        .into_iter()
        .map(|class| {
            let subject = frameworks.java_class(class);
            (order.place(subject.as_ref().map(|test| &test.class)), class)
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    for (index, (_, class)) in (0..).zip(placed) {
        jni.set_element(array, index, class);
    }
}

/// Sorts the classes that an engine of the JUnit Platform has found.
pub(crate) fn engine<'o>(
    frameworks: Frameworks<'_>,
    request: Local<'_>,
    order: impl FnOnce() -> Option<&'o WantedOrder>,
) {
    let sort = || {
        let jni = frameworks.jni;
        let descriptor = c"()Lorg/junit/platform/engine/TestDescriptor;";
        let root = jni.call(request, c"getRootTestDescriptor", descriptor)?;
        // What an engine runs within a suite has the order of the suite.
        let in_suite = frameworks.optional(root, c"getParent").is_some();
        if in_suite || !keeps_children(frameworks, root) || has_own_order(frameworks, request) {
            return None;
        }
        let children = jni.call(root, c"getChildren", c"()Ljava/util/Set;")?;
        let children = jni.call(children, c"toArray", c"()[Ljava/lang/Object;")?;
        let count = jni.array_length(children);
        let order = if count > 1 { order()? } else { return None };
        let mut placed: Vec<(usize, Local<'_>)> = (0..count)
            .filter_map(|index| jni.element(children, index))
            .map(|child| {
                let subject = frameworks.platform(child);
                (order.place(subject.as_ref().map(|test| &test.class)), child)
            })
            .filter(|(place, _)| *place > 0)
            .collect();
        placed.sort_by_key(|(place, _)| *place);
        // A set that keeps the order in which it was filled: whoever is put
        // back is the last.
        let descriptor = c"(Lorg/junit/platform/engine/TestDescriptor;)V";
        for (_, child) in placed {
            jni.call_void(root, c"removeChild", descriptor, &[child]);
            jni.call_void(root, c"addChild", descriptor, &[child]);
        }
        Some(())
    };
    let _ = sort();
}

/// Whether a descriptor is known to take back the children that it gave away.
fn keeps_children(frameworks: Frameworks<'_>, root: Local<'_>) -> bool {
    const KNOWN: &str = "org/junit/platform/engine/support/descriptor/EngineDescriptor";
    let mut class = frameworks.jni.class_of(root);
    while let Some(at) = class {
        if frameworks.jvmti.class_name(at).as_deref() == Some(KNOWN) {
            return true;
        }
        class = frameworks.jni.superclass(at);
    }
    false
}

/// Whether the build asks Jupiter for an order of classes.
fn has_own_order(frameworks: Frameworks<'_>, request: Local<'_>) -> bool {
    let jni = frameworks.jni;
    let ask = || {
        let name = jni.new_string(c"junit.jupiter.testclass.order.default")?;
        let parameters = jni.call(
            request,
            c"getConfigurationParameters",
            c"()Lorg/junit/platform/engine/ConfigurationParameters;",
        )?;
        let get = c"(Ljava/lang/String;)Ljava/util/Optional;";
        jni.call_with(parameters, c"get", get, Some(name))
    };
    ask().is_none_or(|set| jni.call_boolean(set, c"isPresent"))
}
