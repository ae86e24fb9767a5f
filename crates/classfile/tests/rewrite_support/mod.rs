//! What the tests of the rewriter share.

#![allow(dead_code, reason = "each test binary uses its own part")]

use fewest_classfile::read::{ClassFile, Code};
use fewest_classfile::rewrite::ClassEditor;

/// The methods that have code, by index.
pub(crate) fn methods_with_code<'a>(class: &ClassFile<'a>) -> Vec<(usize, Code<'a>)> {
    let methods = class.methods().iter().enumerate();
    methods
        .filter_map(|(index, method)| Some((index, class.code(method).unwrap()?)))
        .collect()
}

/// The class with every method sent through the general path unchanged.
pub(crate) fn lay_out_anew(class: &ClassFile<'_>) -> Vec<u8> {
    let mut editor = ClassEditor::new(class);
    for (method, _) in methods_with_code(class) {
        editor.lay_out(method).unwrap();
    }
    editor.finish().unwrap_or_else(|error| {
        panic!("{error}: {}", error.kind);
    })
}
