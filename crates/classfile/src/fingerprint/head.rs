//! The canonical form of what a class declares about itself and its fields.

use super::attribute::write_inner_classes;
use super::{Canonical, DebugInfo, attribute};
use crate::read::{Attribute, AttributeKind, ClassFile, Member, ReadError};

pub(super) fn write_head(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    debug_info: DebugInfo,
) -> Result<(), ReadError> {
    out.u16(class.major);
    out.u16(class.minor);
    out.u16(class.access);
    out.text(class.raw_name());
    let super_name = class
        .pool
        .optional_class_name(class.super_class, class.access_offset + 4)?;
    out.u8(u8::from(super_name.is_some()));
    out.text(super_name.unwrap_or_default());
    out.u16(class.interfaces.len() as u16);
    for (from, index) in class.interfaces.iter() {
        out.text(class.pool.class_name(index, from)?);
    }
    out.u8(u8::from(has_static_initializer(class)?));
    out.u16(class.fields().len() as u16);
    for field in class.fields() {
        write_declaration(out, class, field)?;
        write_attributes(out, class, class.attributes_of(field), debug_info)?;
    }
    write_attributes(out, class, class.attributes(), debug_info)?;
    write_inner_classes(out, class)
}

/// A class that gets an initializer runs it where nothing ran before, and no
/// method changed.
fn has_static_initializer(class: &ClassFile<'_>) -> Result<bool, ReadError> {
    for method in class.methods() {
        if class.pool.utf8(method.name, method.offset + 2)? == b"<clinit>" {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes a field's or method's flags, name and descriptor.
pub(super) fn write_declaration(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    member: &Member,
) -> Result<(), ReadError> {
    out.u16(member.access);
    out.text(class.pool.utf8(member.name, member.offset + 2)?);
    out.text(class.pool.utf8(member.descriptor, member.offset + 4)?);
    Ok(())
}

/// Writes the attributes that count, in an order of their own.
pub(super) fn write_attributes(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attributes: &[Attribute<'_>],
    debug_info: DebugInfo,
) -> Result<(), ReadError> {
    let mut counting = attributes
        .iter()
        .filter(|attribute| attribute::counts(attribute.kind, debug_info));
    // Most members have none or one, and need neither memory nor order.
    let Some(first) = counting.next() else {
        out.u16(0);
        return Ok(());
    };
    let Some(second) = counting.next() else {
        out.u16(1);
        return write_attribute(out, class, first, debug_info);
    };
    let mut sorted: Vec<_> = [*first, *second]
        .into_iter()
        .chain(counting.copied())
        .collect();
    attribute::sort(class, &mut sorted);
    out.u16(sorted.len() as u16);
    for attribute in &sorted {
        write_attribute(out, class, attribute, debug_info)?;
    }
    Ok(())
}

fn write_attribute(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
    debug_info: DebugInfo,
) -> Result<(), ReadError> {
    match attribute.kind {
        AttributeKind::Record => write_record(out, class, attribute, debug_info),
        _ => attribute::write(out, class, attribute),
    }
}

fn write_record(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
    debug_info: DebugInfo,
) -> Result<(), ReadError> {
    let components = class.record_components(attribute)?;
    out.u8(b'R');
    out.u16(components.len() as u16);
    for component in &components {
        out.text(class.pool.utf8(component.name, component.offset)?);
        out.text(
            class
                .pool
                .utf8(component.descriptor, component.offset + 2)?,
        );
        write_attributes(out, class, &component.attributes, debug_info)?;
    }
    Ok(())
}
