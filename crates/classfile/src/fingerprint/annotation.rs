//! The canonical form of annotations.
//!
//! The order of a list of annotations does not count, that of an annotation's
//! elements does.

use super::Canonical;
use super::code::{Places, write_unchecked_place};
use super::symbols::write_constant;
use crate::read::{
    Annotation, Attribute, ClassFile, ElementValue, ReadError, TypeTarget, read_annotations,
    read_element_value, read_parameter_annotations, read_type_annotations,
};

pub(super) fn write_annotations(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
) -> Result<(), ReadError> {
    let mut cursor = attribute.cursor();
    let annotations = read_annotations(&mut cursor)?;
    cursor.expect_end()?;
    write_set(out, class, &annotations)
}

pub(super) fn write_parameter_annotations(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
) -> Result<(), ReadError> {
    let mut cursor = attribute.cursor();
    let parameters = read_parameter_annotations(&mut cursor)?;
    cursor.expect_end()?;
    out.u8(parameters.len() as u8);
    parameters
        .iter()
        .try_for_each(|annotations| write_set(out, class, annotations))
}

pub(super) fn write_default(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
) -> Result<(), ReadError> {
    let mut cursor = attribute.cursor();
    let value = read_element_value(&mut cursor)?;
    cursor.expect_end()?;
    write_value(out, class, &value, attribute.offset)
}

/// Writes annotations on types; `places` are those of the code they stand in.
pub(super) fn write_type_annotations(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
    places: Option<&Places>,
) -> Result<(), ReadError> {
    let mut cursor = attribute.cursor();
    let annotations = read_type_annotations(&mut cursor)?;
    cursor.expect_end()?;
    let mut fingerprints = Vec::with_capacity(annotations.len());
    for annotation in &annotations {
        let start = out.len();
        write_target(out, &annotation.target, places);
        out.u8(annotation.path.len() as u8);
        for &(kind, argument) in &annotation.path {
            out.u8(kind);
            out.u8(argument);
        }
        write_annotation(out, class, &annotation.annotation)?;
        fingerprints.push(out.finish_from(start));
    }
    out.set(&mut fingerprints);
    Ok(())
}

fn write_set(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    annotations: &[Annotation],
) -> Result<(), ReadError> {
    let mut fingerprints = Vec::with_capacity(annotations.len());
    for annotation in annotations {
        let start = out.len();
        write_annotation(out, class, annotation)?;
        fingerprints.push(out.finish_from(start));
    }
    out.set(&mut fingerprints);
    Ok(())
}

fn write_annotation(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    annotation: &Annotation,
) -> Result<(), ReadError> {
    let from = annotation.offset;
    out.text(class.pool.utf8(annotation.type_descriptor, from)?);
    out.u16(annotation.elements.len() as u16);
    for (name, value) in &annotation.elements {
        out.text(class.pool.utf8(*name, from)?);
        write_value(out, class, value, from)?;
    }
    Ok(())
}

fn write_value(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    value: &ElementValue,
    from: usize,
) -> Result<(), ReadError> {
    match value {
        ElementValue::Constant { tag, index } => {
            out.u8(*tag);
            write_constant(out, class, *index, from)?;
        }
        ElementValue::Enum {
            type_descriptor,
            name,
        } => {
            out.u8(b'e');
            out.text(class.pool.utf8(*type_descriptor, from)?);
            out.text(class.pool.utf8(*name, from)?);
        }
        ElementValue::Class(index) => {
            out.u8(b'c');
            out.text(class.pool.utf8(*index, from)?);
        }
        ElementValue::Annotation(annotation) => {
            out.u8(b'@');
            write_annotation(out, class, annotation)?;
        }
        ElementValue::Array(values) => {
            out.u8(b'[');
            out.u16(values.len() as u16);
            for value in values {
                write_value(out, class, value, from)?;
            }
        }
    }
    Ok(())
}

fn write_target(out: &mut Canonical, target: &TypeTarget, places: Option<&Places>) {
    match target {
        TypeTarget::TypeParameter { tag, index } => {
            out.u8(*tag);
            out.u8(*index);
        }
        TypeTarget::Supertype { index } => {
            out.u8(0x10);
            out.u16(*index);
        }
        TypeTarget::TypeParameterBound {
            tag,
            parameter,
            bound,
        } => {
            out.u8(*tag);
            out.u8(*parameter);
            out.u8(*bound);
        }
        TypeTarget::Empty { tag } => out.u8(*tag),
        TypeTarget::FormalParameter { index } => {
            out.u8(0x16);
            out.u8(*index);
        }
        TypeTarget::Throws { index } => {
            out.u8(0x17);
            out.u16(*index);
        }
        TypeTarget::LocalVariable { tag, parts } => {
            out.u8(*tag);
            out.u16(parts.len() as u16);
            for &(start, length, local) in parts {
                write_unchecked_place(out, places, start as i64);
                write_unchecked_place(out, places, start as i64 + length as i64);
                out.u16(local);
            }
        }
        TypeTarget::Catch { index } => {
            out.u8(0x42);
            out.u16(*index);
        }
        TypeTarget::Offset { tag, pc } => {
            out.u8(*tag);
            write_unchecked_place(out, places, *pc as i64);
        }
        TypeTarget::TypeArgument { tag, pc, index } => {
            out.u8(*tag);
            write_unchecked_place(out, places, *pc as i64);
            out.u8(*index);
        }
    }
}
