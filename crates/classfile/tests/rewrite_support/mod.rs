//! What the tests of the rewriter share.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test binary uses its own part"
)]

mod class_builder;

pub(crate) use class_builder::{ClassBuilder, utf8};
use fewest_classfile::read::{ClassFile, Code, opcode};
use fewest_classfile::rewrite::{ClassEditor, Snippet};

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

/// The index of a method by its name.
pub(crate) fn method_named(class: &ClassFile<'_>, name: &str) -> usize {
    let named = |index: &usize| {
        let key = class.method_key(&class.methods()[*index]).unwrap();
        *key.name == *name
    };
    (0..class.methods().len())
        .find(named)
        .unwrap_or_else(|| panic!("no method {name}"))
}

/// Code that does nothing.
pub(crate) fn nops(count: usize) -> Snippet {
    Snippet::straight(vec![opcode::NOP; count], 0)
}
