//! Renames a method and puts another in its place that calls it.

use super::code::{FIRST_WITH_FRAMES, patch_length, put_code_length, reserve_length};
use super::error::RewriteErrorKind;
use super::plan::{Around, Wrapper};
use super::pool::PoolEditor;
use super::tables::put_u16;
use super::types::{Type, parse_method};
use crate::read::{AttributeKind, ClassFile, ConstantTag, Member, access, opcode};

/// `strictfp`, which says something up to Java 16 (JVMS table 4.6-A).
const STRICT: u16 = 0x0800;
/// What a renamed method keeps; all else is what callers see, and they see the
/// wrapper.
const BODY_FLAGS: u16 = access::STATIC | access::SYNCHRONIZED | access::NATIVE | STRICT;

/// Whether a method may be wrapped under a new name.
pub(super) fn check(
    class: &ClassFile<'_>,
    method: &Member,
    new_name: &[u8],
) -> Result<(), RewriteErrorKind> {
    let text = |index| class.pool.utf8(index, method.offset);
    let (name, descriptor) = (text(method.name)?, text(method.descriptor)?);
    match name {
        // Other methods may not call it, nor assign final fields.
        b"<init>" => return Err(RewriteErrorKind::CannotWrap("<init>")),
        b"<clinit>" => return Err(RewriteErrorKind::CannotWrap("<clinit>")),
        _ => {}
    }
    for other in class.methods() {
        if text(other.name)? == new_name && text(other.descriptor)? == descriptor {
            return Err(RewriteErrorKind::NameTaken);
        }
    }
    Ok(())
}

/// Flags and name of the renamed method.
pub(super) fn write_body_head(
    method: &Member,
    wrapper: &Wrapper,
    pool: &mut PoolEditor<'_>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let flags = method.access & BODY_FLAGS | access::PRIVATE | access::SYNTHETIC;
    put_u16(out, flags);
    put_u16(out, pool.utf8(&wrapper.new_name)?);
    put_u16(out, method.descriptor);
    Ok(())
}

/// Writes the wrapper: what reflection sees is copied, the code is new.
pub(super) fn write<'a>(
    class: &'a ClassFile<'a>,
    method: &Member,
    wrapper: &Wrapper,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    put_u16(
        out,
        method.access & !(access::NATIVE | access::SYNCHRONIZED),
    );
    put_u16(out, method.name);
    put_u16(out, method.descriptor);
    let kept = || {
        let attributes = class.attributes_of(method).iter();
        attributes.filter(|attribute| attribute.kind != AttributeKind::Code)
    };
    let count = u16::try_from(kept().count() + 1);
    put_u16(out, count.map_err(|_| RewriteErrorKind::AttributeTooLong)?);
    for attribute in kept() {
        let end = attribute.offset + attribute.content.len();
        out.extend(&class.bytes[attribute.offset - 6..end]);
    }
    put_u16(out, pool.utf8(b"Code")?);
    let length_at = reserve_length(out);
    Call::new(class, method, &wrapper.new_name, pool)?.write(class, &wrapper.around, pool, out)?;
    patch_length(out, length_at)
}

/// The call in a wrapper.
struct Call {
    code: Vec<u8>,
    parameter_slots: u16,
    result_slots: u16,
    return_opcode: u8,
}

impl Call {
    fn new<'a>(
        class: &'a ClassFile<'a>,
        method: &Member,
        name: &[u8],
        pool: &mut PoolEditor<'a>,
    ) -> Result<Self, RewriteErrorKind> {
        let descriptor = class.pool.utf8(method.descriptor, method.offset + 4)?;
        let (parameters, result) = parse_method(descriptor, method.offset + 4)?;
        let mut code = Vec::new();
        let mut local = 0;
        if !method.is_static() {
            load(opcode::ALOAD, &mut local, 1, &mut code);
        }
        for parameter in &parameters {
            let (kind, slots) = kind_of(parameter);
            load(opcode::ILOAD + kind, &mut local, slots, &mut code);
        }
        code.push(if method.is_static() {
            opcode::INVOKESTATIC
        } else {
            opcode::INVOKESPECIAL
        });
        let tag = if class.is_interface() {
            ConstantTag::InterfaceMethodref
        } else {
            ConstantTag::Methodref
        };
        put_u16(
            &mut code,
            pool.member(tag, class.raw_name(), name, descriptor)?,
        );
        let (return_opcode, result_slots) = match &result {
            None => (opcode::RETURN, 0),
            Some(result) => {
                let (kind, slots) = kind_of(result);
                (opcode::IRETURN + kind, slots)
            }
        };
        Ok(Self {
            code,
            parameter_slots: local,
            result_slots,
            return_opcode,
        })
    }

    fn write(
        &self,
        class: &ClassFile<'_>,
        around: &Around,
        pool: &mut PoolEditor<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), RewriteErrorKind> {
        let (before, after) = (&around.before, &around.after_return);
        let on_throw = around.after_throw.as_ref();
        if after.frame_after || on_throw.is_some_and(|snippet| snippet.frame_after) {
            return Err(RewriteErrorKind::BranchInSnippet);
        }
        let depths = [
            Some(before.max_stack),
            Some(self.parameter_slots.max(self.result_slots)),
            after.max_stack.checked_add(self.result_slots),
            on_throw.map_or(Some(0), |snippet| snippet.max_stack.checked_add(1)),
        ];
        let depth = depths
            .into_iter()
            .map(|depth| depth.ok_or(RewriteErrorKind::StackTooDeep));
        put_u16(
            out,
            depth
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .max()
                .unwrap_or(0),
        );
        put_u16(out, self.parameter_slots);

        let call_start = before.code.len();
        let call_end = call_start + self.code.len();
        let handler = call_end + after.code.len() + 1;
        let handler_length = on_throw.map_or(0, |snippet| snippet.code.len() + 1);
        put_code_length(handler + handler_length, out)?;
        out.extend(&before.code);
        out.extend(&self.code);
        out.extend(&after.code);
        out.push(self.return_opcode);
        if let Some(snippet) = on_throw {
            out.extend(&snippet.code);
            out.push(opcode::ATHROW);
            put_u16(out, 1);
            for place in [call_start, call_end, handler, 0] {
                put_u16(out, place as u16);
            }
        } else {
            put_u16(out, 0);
        }

        let frame_after_entry = before.frame_after.then_some(call_start);
        let frame_of_handler = on_throw.map(|_| handler);
        if class.major < FIRST_WITH_FRAMES
            || (frame_after_entry.is_none() && frame_of_handler.is_none())
        {
            put_u16(out, 0);
            return Ok(());
        }
        put_u16(out, 1);
        put_u16(out, pool.utf8(b"StackMapTable")?);
        let length_at = reserve_length(out);
        let frames = [frame_after_entry, frame_of_handler];
        put_u16(out, frames.iter().flatten().count() as u16);
        let mut next = 0;
        if let Some(place) = frame_after_entry {
            out.push(251); // same locals as at the start, empty stack
            put_u16(out, place as u16);
            next = place + 1;
        }
        if let Some(place) = frame_of_handler {
            out.push(247); // same locals as at the start, the exception
            put_u16(out, (place - next) as u16);
            out.push(7);
            put_u16(out, pool.class(b"java/lang/Throwable")?);
        }
        patch_length(out, length_at)
    }
}

fn load(opcode: u8, local: &mut u16, slots: u16, code: &mut Vec<u8>) {
    if let Ok(local) = u8::try_from(*local) {
        code.extend([opcode, local]);
    } else {
        code.extend([opcode::WIDE, opcode]);
        put_u16(code, *local);
    }
    *local += slots;
}

/// The distance of the opcodes for a type from those for int, and its slots.
fn kind_of(value: &Type<'_>) -> (u8, u16) {
    match value {
        Type::Integer => (0, 1),
        Type::Long => (1, 2),
        Type::Float => (2, 1),
        Type::Double => (3, 2),
        _ => (4, 1),
    }
}
