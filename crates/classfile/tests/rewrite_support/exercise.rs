//! Does everything with a class file that this crate can do.
//!
//! Shared by the tests of bad input and the fuzz target. No input may make any
//! of this panic or run on without end; what it returns may be an error.

use fewest_classfile::fingerprint::{Options, fingerprint};
use fewest_classfile::graph::{Graph, dangerous_blocks};
use fewest_classfile::read::{
    Attribute, AttributeKind, ClassFile, Code, ReadError, opcode, read_annotations,
    read_element_value, read_frames, read_parameter_annotations, read_type_annotations,
};
use fewest_classfile::references::{Outline, empty_arrays, references, state_uses};
use fewest_classfile::rewrite::{Around, ClassEditor, Snippet};

/// Reads all there is to read; the first error ends it.
pub(crate) fn read_all(bytes: &[u8]) -> Result<(), ReadError> {
    let class = ClassFile::read(bytes)?;
    class.interface_names()?;
    class.bootstrap_methods()?;
    read_attributes(class.attributes())?;
    for member in class.fields().iter().chain(class.methods()) {
        class.method_key(member)?;
        read_attributes(class.attributes_of(member))?;
    }
    for method in class.methods() {
        if let Some(code) = class.code(method)? {
            read_code(&code)?;
        }
    }
    Ok(())
}

fn read_code(code: &Code<'_>) -> Result<(), ReadError> {
    for instruction in code.instructions() {
        let instruction = instruction?;
        instruction.operand.for_each_target(|_| {});
        assert!(instruction.length > 0);
    }
    assert_eq!(code.handlers().len(), code.handler_count());
    read_attributes(&code.attributes)
}

fn read_attributes(attributes: &[Attribute<'_>]) -> Result<(), ReadError> {
    for attribute in attributes {
        let mut cursor = attribute.cursor();
        match attribute.kind {
            AttributeKind::StackMapTable => {
                read_frames(attribute)?;
            }
            AttributeKind::RuntimeVisibleAnnotations
            | AttributeKind::RuntimeInvisibleAnnotations => {
                read_annotations(&mut cursor)?;
            }
            AttributeKind::RuntimeVisibleParameterAnnotations
            | AttributeKind::RuntimeInvisibleParameterAnnotations => {
                read_parameter_annotations(&mut cursor)?;
            }
            AttributeKind::RuntimeVisibleTypeAnnotations
            | AttributeKind::RuntimeInvisibleTypeAnnotations => {
                read_type_annotations(&mut cursor)?;
            }
            AttributeKind::AnnotationDefault => {
                read_element_value(&mut cursor)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads, fingerprints, summarizes and rewrites.
pub(crate) fn do_everything(bytes: &[u8]) {
    // An error here must not keep the rest from being tried.
    let _ = read_all(bytes);
    let Ok(class) = ClassFile::read(bytes) else {
        return;
    };
    analyze(&class);
    rewrite(&class);
}

fn analyze(class: &ClassFile<'_>) {
    let options = Options::default();
    let first = fingerprint(class, options);
    assert_eq!(first, fingerprint(class, options));
    let _ = references(class);
    let _ = state_uses(class);
    let _ = empty_arrays(class);
    let _ = Outline::of(class);
    for method in class.methods() {
        if let Ok(Some(graph)) = Graph::of(class, method, options) {
            assert!(dangerous_blocks(&graph, &graph).is_empty());
            let all = (0..graph.blocks.len()).collect();
            let _ = graph.fingerprint_of(&graph.walk(&all));
        }
    }
}

fn rewrite(class: &ClassFile<'_>) {
    // What can be laid out anew comes out as it was.
    let mut editor = ClassEditor::new(class);
    for method in 0..class.methods().len() {
        let _ = editor.lay_out(method);
    }
    assert!(editor.finish_what_fits().bytes == class.bytes);

    rewritten(class, |editor, method, _| {
        let probe = probe(editor)?;
        editor.insert_at_entry(method, probe).ok()
    });
    rewritten(class, |editor, method, code| {
        let probe = probe(editor)?;
        let skip = Snippet {
            code: vec![opcode::GOTO, 0, 3],
            max_stack: 0,
            frame_after: true,
        };
        for instruction in code.instructions().map_while(Result::ok) {
            let pc = instruction.pc;
            editor.insert_before(method, pc, probe.clone()).ok()?;
            if pc % 7 == 0 {
                editor.insert_before(method, pc, skip.clone()).ok()?;
            }
        }
        editor.insert_at_entry(method, skip).ok()
    });
    rewritten(class, |editor, method, code| {
        let probe = probe(editor)?;
        if method > 0 {
            // A gap costs time; one per class is enough.
            return editor.on_exit(method, probe.clone(), probe, false).ok();
        }
        let gap = Snippet::straight(vec![opcode::NOP; 33_000], 0);
        let middle = code.instructions().nth(3)?.ok()?;
        editor.insert_before(method, middle.pc, gap).ok()?;
        editor.on_exit(method, probe.clone(), probe, false).ok()
    });
    rewritten(class, |editor, method, code| {
        let around = Around {
            before: probe(editor)?,
            after_return: Snippet::default(),
            after_throw: probe(editor),
        };
        let first = code.instructions().next()?.ok()?;
        editor.delete(method, 0..first.end() as u16).ok()?;
        editor.wrap(method, b"wrapped", around).ok()
    });
}

/// Edits the first methods, of which there can be very many, and reads what
/// comes out.
fn rewritten(
    class: &ClassFile<'_>,
    mut edit: impl FnMut(&mut ClassEditor<'_>, usize, &Code<'_>) -> Option<()>,
) {
    let mut editor = ClassEditor::new(class);
    for (index, method) in class.methods().iter().enumerate().take(8) {
        if let Ok(Some(code)) = class.code(method) {
            let _ = edit(&mut editor, index, &code);
        }
    }
    let bytes = editor.finish_what_fits().bytes;
    ClassFile::read(&bytes).expect("a rewritten class can be read");
}

fn probe(editor: &mut ClassEditor<'_>) -> Option<Snippet> {
    let hits = editor.field_ref(b"p/Hits", b"A", b"[B").ok()?;
    Some(Snippet::probe(hits, 7))
}
