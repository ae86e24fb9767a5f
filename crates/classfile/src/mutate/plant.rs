//! Makes the class file of a mutant.

use super::{Edit, Mutant, NewConstant, Overridable};
use crate::read::{ClassFile, opcode};
use crate::rewrite::{ClassEditor, RewriteError, Snippet, Type, parse_method};

/// The class with the fault. The mutant must be one of this class file.
pub fn plant(class: &ClassFile<'_>, mutant: &Mutant) -> Result<Vec<u8>, RewriteError> {
    let mut editor = ClassEditor::new(class);
    match &mutant.edit {
        Edit::Bytes { offset, bytes } => {
            let mut planted = class.bytes.to_vec();
            planted[*offset..*offset + bytes.len()].copy_from_slice(bytes);
            Ok(planted)
        }
        Edit::Before {
            method,
            pc,
            snippet,
        } => {
            editor.insert_before(*method, *pc, snippet.clone())?;
            editor.finish()
        }
        Edit::Instead {
            method,
            pc,
            end,
            snippet,
        } => {
            editor.insert_before(*method, *pc, snippet.clone())?;
            editor.delete(*method, *pc..*end)?;
            editor.finish()
        }
        Edit::Load {
            method,
            pc,
            end,
            constant,
        } => {
            let index = constant.add_to(&mut editor)?;
            editor.insert_before(*method, *pc, constant.load(index))?;
            editor.delete(*method, *pc..*end)?;
            editor.finish()
        }
        Edit::Index { offset, constant } => {
            let index = constant.add_to(&mut editor)?;
            let mut planted = editor.finish()?;
            let at = offset + planted.len() - class.bytes.len();
            planted[at..at + 2].copy_from_slice(&index.to_be_bytes());
            Ok(planted)
        }
        Edit::Method { method } => add_method(class, editor, method),
        Edit::Annotation {
            start,
            end,
            length_offset,
        } => Ok(remove_annotation(class, *start, *end, *length_offset)),
    }
}

impl NewConstant {
    fn add_to(&self, editor: &mut ClassEditor<'_>) -> Result<u16, RewriteError> {
        match self {
            Self::Integer(value) => editor.integer(*value),
            Self::Long(value) => editor.long(*value),
            Self::Float(value) => editor.float(*value),
            Self::Double(value) => editor.double(*value),
            Self::String(text) => editor.string(text),
            Self::Utf8(text) => editor.utf8(text),
        }
    }

    fn load(&self, index: u16) -> Snippet {
        let (opcode, slots) = match self {
            Self::Long(_) | Self::Double(_) => (opcode::LDC2_W, 2),
            _ => (opcode::LDC_W, 1),
        };
        let [high, low] = index.to_be_bytes();
        Snippet::straight(vec![opcode, high, low], slots)
    }
}

/// Adds a method that returns zero, null or nothing, behind all others.
fn add_method(
    class: &ClassFile<'_>,
    mut editor: ClassEditor<'_>,
    method: &Overridable,
) -> Result<Vec<u8>, RewriteError> {
    let (name, descriptor) = (&method.key.name, &method.key.descriptor);
    let name = editor.utf8(name.as_bytes())?;
    let descriptor_index = editor.utf8(descriptor.as_bytes())?;
    let code_name = editor.utf8(b"Code")?;
    let mut planted = editor.finish()?;
    let moved = planted.len() - class.bytes.len();
    // Only classes that have a method get another, so both are there.
    let (Some(first), Some(last)) = (class.methods().first(), class.methods().last()) else {
        return Ok(planted);
    };
    let count_at = first.offset - 2 + moved;
    let count = class.methods().len() as u16 + 1;
    planted[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());

    let code = return_of_nothing(descriptor.as_bytes());
    let mut bytes = Vec::new();
    for value in [method.access, name, descriptor_index, 1, code_name] {
        bytes.extend(value.to_be_bytes());
    }
    bytes.extend((12 + code.len() as u32).to_be_bytes());
    let locals = 1 + parameter_slots(descriptor.as_bytes());
    for value in [2, locals] {
        bytes.extend(u16::to_be_bytes(value));
    }
    bytes.extend((code.len() as u32).to_be_bytes());
    bytes.extend(code);
    // Neither exception handlers nor attributes.
    bytes.extend([0; 4]);
    let end = last.end + moved;
    planted.splice(end..end, bytes);
    Ok(planted)
}

fn return_of_nothing(descriptor: &[u8]) -> Vec<u8> {
    let result = parse_method(descriptor, 0)
        .ok()
        .and_then(|(_, result)| result);
    match result {
        None => vec![opcode::RETURN],
        Some(result) => vec![nothing(&result), return_opcode(&result)],
    }
}

/// The instruction that loads zero or null.
pub(super) fn nothing(value: &Type<'_>) -> u8 {
    match value {
        Type::Integer => opcode::ICONST_0,
        Type::Long => opcode::LCONST_0,
        Type::Float => opcode::FCONST_0,
        Type::Double => opcode::DCONST_0,
        _ => opcode::ACONST_NULL,
    }
}

fn return_opcode(value: &Type<'_>) -> u8 {
    match value {
        Type::Integer => opcode::IRETURN,
        Type::Long => opcode::LRETURN,
        Type::Float => opcode::FRETURN,
        Type::Double => opcode::DRETURN,
        _ => opcode::ARETURN,
    }
}

fn parameter_slots(descriptor: &[u8]) -> u16 {
    let parameters = parse_method(descriptor, 0).map_or(Vec::new(), |(parameters, _)| parameters);
    let slots = parameters
        .iter()
        .map(|value| 1 + u16::from(value.is_wide()));
    slots.sum()
}

/// Takes an annotation out of its table; the count stands behind the length.
fn remove_annotation(
    class: &ClassFile<'_>,
    start: usize,
    end: usize,
    length_offset: usize,
) -> Vec<u8> {
    let mut planted = class.bytes.to_vec();
    let count_offset = length_offset + 4;
    let length = u32::from_be_bytes(*planted[length_offset..].first_chunk().unwrap_or(&[0; 4]));
    let count = u16::from_be_bytes(*planted[count_offset..].first_chunk().unwrap_or(&[0; 2]));
    let length = length - (end - start) as u32;
    planted[length_offset..length_offset + 4].copy_from_slice(&length.to_be_bytes());
    planted[count_offset..count_offset + 2].copy_from_slice(&(count - 1).to_be_bytes());
    planted.drain(start..end);
    planted
}
