//! The canonical form of attributes, outside of code.

use super::symbols::write_constant;
use super::{Canonical, DebugInfo, annotation};
use crate::read::{Attribute, AttributeKind, ClassFile, Cursor, ReadError};

/// Whether an attribute of a class, field, method or record component counts.
///
/// `Code`, `Record` and `InnerClasses` count and are written by others.
/// `BootstrapMethods` counts where its entries are used. `Deprecated` tells compilers only, and a
/// comment can bring it about.
pub(super) fn counts(kind: AttributeKind, debug_info: DebugInfo) -> bool {
    match kind {
        AttributeKind::BootstrapMethods
        | AttributeKind::Code
        | AttributeKind::Deprecated
        | AttributeKind::InnerClasses
        | AttributeKind::RuntimeInvisibleAnnotations
        | AttributeKind::RuntimeInvisibleParameterAnnotations
        | AttributeKind::RuntimeInvisibleTypeAnnotations => false,
        AttributeKind::SourceFile | AttributeKind::SourceDebugExtension => {
            debug_info == DebugInfo::Track
        }
        _ => true,
    }
}

/// Puts attributes in an order that does not depend on the class file's.
pub(super) fn sort(class: &ClassFile<'_>, attributes: &mut [Attribute<'_>]) {
    if attributes.len() < 2 {
        return;
    }
    attributes.sort_by(|a, b| {
        a.kind.cmp(&b.kind).then_with(|| {
            // Unknown ones are told apart by name.
            let name = |attribute: &Attribute<'_>| class.pool.utf8(attribute.name, 0).ok();
            name(a).cmp(&name(b))
        })
    });
}

/// Writes one attribute that `counts` and is not `Record`.
pub(super) fn write(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
) -> Result<(), ReadError> {
    use AttributeKind as Kind;
    let tag = match attribute.kind {
        Kind::Signature => b'g',
        Kind::ConstantValue => b'c',
        Kind::Synthetic => b'y',
        Kind::Exceptions => b'x',
        Kind::MethodParameters => b'p',
        Kind::AnnotationDefault => b'd',
        Kind::RuntimeVisibleAnnotations => b'a',
        Kind::RuntimeVisibleParameterAnnotations => b'b',
        Kind::RuntimeVisibleTypeAnnotations => b't',
        Kind::EnclosingMethod => b'e',
        Kind::NestHost => b'h',
        Kind::NestMembers => b'n',
        Kind::PermittedSubclasses => b's',
        Kind::SourceFile => b'f',
        Kind::Module => b'm',
        Kind::ModulePackages => b'q',
        Kind::ModuleMainClass => b'r',
        // An attribute at a place where the specification gives it no meaning
        // is treated as an unknown one.
        _ => return write_raw(out, class, attribute),
    };
    out.u8(tag);
    let mut cursor = attribute.cursor();
    match attribute.kind {
        Kind::RuntimeVisibleAnnotations => {
            return annotation::write_annotations(out, class, attribute);
        }
        Kind::RuntimeVisibleParameterAnnotations => {
            return annotation::write_parameter_annotations(out, class, attribute);
        }
        Kind::RuntimeVisibleTypeAnnotations => {
            return annotation::write_type_annotations(out, class, attribute, None);
        }
        Kind::AnnotationDefault => return annotation::write_default(out, class, attribute),
        Kind::Signature | Kind::SourceFile => write_utf8(out, class, &mut cursor)?,
        Kind::ConstantValue => {
            let from = cursor.offset();
            write_constant(out, class, cursor.u16()?, from)?;
        }
        Kind::Exceptions | Kind::PermittedSubclasses => {
            write_classes(out, class, &mut cursor)?;
        }
        Kind::NestMembers => write_class_set(out, class, &mut cursor)?,
        Kind::ModulePackages => write_package_set(out, class, &mut cursor)?,
        Kind::NestHost | Kind::ModuleMainClass => write_class(out, class, &mut cursor)?,
        Kind::MethodParameters => write_parameters(out, class, &mut cursor)?,
        Kind::EnclosingMethod => write_enclosing_method(out, class, &mut cursor)?,
        Kind::Module => write_module(out, class, &mut cursor)?,
        _ => {}
    }
    cursor.expect_end()
}

/// Writes an attribute by its bytes. Indexes in it stay what they are, so a
/// new order of the constant pool counts as a change: nothing here knows which
/// bytes are indexes.
pub(super) fn write_raw(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
) -> Result<(), ReadError> {
    out.u8(b'?');
    out.text(class.pool.utf8(attribute.name, attribute.offset - 6)?);
    out.text(attribute.content);
    Ok(())
}

fn write_utf8(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let from = cursor.offset();
    out.text(class.pool.utf8(cursor.u16()?, from)?);
    Ok(())
}

/// Writes a text whose index may be 0 for none.
fn write_optional_utf8(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let from = cursor.offset();
    match cursor.u16()? {
        0 => out.u8(0),
        index => {
            out.u8(1);
            out.text(class.pool.utf8(index, from)?);
        }
    }
    Ok(())
}

fn write_class(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let from = cursor.offset();
    out.text(class.pool.class_name(cursor.u16()?, from)?);
    Ok(())
}

fn write_classes(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let classes = cursor.indexes()?;
    out.u16(classes.len() as u16);
    for (from, index) in classes.iter() {
        out.text(class.pool.class_name(index, from)?);
    }
    Ok(())
}

fn write_class_set(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let names = cursor.indexes()?.iter();
    let names = names.map(|(from, index)| class.pool.class_name(index, from));
    write_sorted(out, names.collect::<Result<_, _>>()?);
    Ok(())
}

fn write_package_set(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let names = cursor.indexes()?.iter();
    let names = names.map(|(from, index)| class.pool.package_name(index, from));
    write_sorted(out, names.collect::<Result<_, _>>()?);
    Ok(())
}

fn write_sorted(out: &mut Canonical, mut names: Vec<&[u8]>) {
    names.sort_unstable();
    out.u16(names.len() as u16);
    for name in names {
        out.text(name);
    }
}

/// Names and flags of parameters, which reflection shows.
fn write_parameters(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let count = cursor.u8()?;
    out.u8(count);
    for _ in 0..count {
        write_optional_utf8(out, class, cursor)?;
        out.u16(cursor.u16()?);
    }
    Ok(())
}

fn write_enclosing_method(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    write_class(out, class, cursor)?;
    let from = cursor.offset();
    match cursor.u16()? {
        0 => out.u8(0),
        index => {
            let method = class.pool.name_and_type(index, from)?;
            out.u8(1);
            out.text(method.name);
            out.text(method.descriptor);
        }
    }
    Ok(())
}

/// Writes the entries that say something about this class: its own, those of
/// its members, and those of local and anonymous classes.
///
/// A compiler adds an entry for every nested class that code names, say
/// `Map.Entry`. The virtual machine looks at none of those, and if they
/// counted, a change in one method would be a change of the whole class.
pub(super) fn write_inner_classes(
    out: &mut Canonical,
    class: &ClassFile<'_>,
) -> Result<(), ReadError> {
    let mut entries = Vec::new();
    let Some(attribute) = class.attribute(AttributeKind::InnerClasses) else {
        out.set(&mut entries);
        return Ok(());
    };
    let mut cursor = attribute.cursor();
    let own = class.raw_name();
    for _ in 0..cursor.u16()? {
        let start = out.len();
        let from = cursor.offset();
        let inner = class.pool.class_name(cursor.u16()?, from)?;
        let outer = class.pool.optional_class_name(cursor.u16()?, from + 2)?;
        out.text(inner);
        out.u8(u8::from(outer.is_some()));
        out.text(outer.unwrap_or_default());
        write_optional_utf8(out, class, &mut cursor)?;
        out.u16(cursor.u16()?);
        let entry = out.finish_from(start);
        if inner == own || outer.is_none_or(|outer| outer == own) {
            entries.push(entry);
        }
    }
    cursor.expect_end()?;
    out.set(&mut entries);
    Ok(())
}

/// Writes what a module declares (JVMS §4.7.25), in its order.
fn write_module(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    write_module_name(out, class, cursor)?;
    out.u16(cursor.u16()?);
    write_optional_utf8(out, class, cursor)?;
    let requires = cursor.u16()?;
    out.u16(requires);
    for _ in 0..requires {
        write_module_name(out, class, cursor)?;
        out.u16(cursor.u16()?);
        write_optional_utf8(out, class, cursor)?;
    }
    // Exports, then opens.
    for _ in 0..2 {
        let count = cursor.u16()?;
        out.u16(count);
        for _ in 0..count {
            write_package(out, class, cursor)?;
            out.u16(cursor.u16()?);
            let to = cursor.u16()?;
            out.u16(to);
            for _ in 0..to {
                write_module_name(out, class, cursor)?;
            }
        }
    }
    write_classes(out, class, cursor)?;
    let provides = cursor.u16()?;
    out.u16(provides);
    for _ in 0..provides {
        write_class(out, class, cursor)?;
        write_classes(out, class, cursor)?;
    }
    Ok(())
}

fn write_module_name(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let from = cursor.offset();
    out.text(class.pool.module_name(cursor.u16()?, from)?);
    Ok(())
}

fn write_package(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    cursor: &mut Cursor<'_>,
) -> Result<(), ReadError> {
    let from = cursor.offset();
    out.text(class.pool.package_name(cursor.u16()?, from)?);
    Ok(())
}
