//! Constants by what they say.
//!
//! A constant is replaced by the fingerprint of its content with everything it
//! refers to, so that two pools in different orders give the same. Writing the
//! content itself at each use would let a small file with a long string and
//! many uses of it grow beyond bounds, and so would a dynamic constant that
//! names others several times over.

use std::cell::OnceCell;

use fewest_model::Fingerprint;

use super::Canonical;
use crate::read::{
    BootstrapMethod, ClassFile, Constant, MAX_NESTING, NameAndType, ReadError, ReadErrorKind,
};

/// Memory that is used again from class to class.
#[derive(Debug, Default)]
pub(crate) struct SymbolCache {
    /// By index; absent where not asked for yet.
    fingerprints: Vec<Fingerprint>,
    text: Canonical,
}

/// The constants of one class.
pub(crate) struct Symbols<'c, 'a> {
    pub(crate) class: &'c ClassFile<'a>,
    cache: &'c mut SymbolCache,
    bootstrap_methods: OnceCell<Vec<BootstrapMethod<'a>>>,
}

impl<'c, 'a> Symbols<'c, 'a> {
    pub(crate) fn new(class: &'c ClassFile<'a>, cache: &'c mut SymbolCache) -> Self {
        cache.fingerprints.clear();
        cache
            .fingerprints
            .resize(class.pool.count(), Fingerprint::ABSENT);
        Self {
            class,
            cache,
            bootstrap_methods: OnceCell::new(),
        }
    }

    /// What stands for the constant at `index`; `from` is where the index
    /// stands, for errors.
    #[inline]
    pub(crate) fn constant(&mut self, index: u16, from: usize) -> Result<Fingerprint, ReadError> {
        match self.cache.fingerprints.get(index as usize) {
            Some(&known) if !known.is_absent() => Ok(known),
            _ => self.compute(index, from, 0),
        }
    }

    fn compute(&mut self, index: u16, from: usize, depth: usize) -> Result<Fingerprint, ReadError> {
        let fingerprint = match self.class.pool.get(index, from)? {
            Constant::Dynamic {
                bootstrap,
                name_and_type,
            }
            | Constant::InvokeDynamic {
                bootstrap,
                name_and_type,
            } => self.dynamic(bootstrap, name_and_type, from, depth)?,
            constant => {
                self.cache.text.clear();
                write_constant(&mut self.cache.text, self.class, constant, from)?;
                self.cache.text.finish()
            }
        };
        self.cache.fingerprints[index as usize] = fingerprint;
        Ok(fingerprint)
    }

    /// A dynamic constant with its bootstrap method and static arguments.
    ///
    /// Arguments may be dynamic constants again. The depth is bounded, which
    /// also ends constants that are made from themselves.
    fn dynamic(
        &mut self,
        bootstrap: u16,
        name_and_type: u16,
        from: usize,
        depth: usize,
    ) -> Result<Fingerprint, ReadError> {
        if depth >= MAX_NESTING {
            return Err(ReadErrorKind::TooDeep(MAX_NESTING).at(from));
        }
        let method = self.bootstrap_method(bootstrap, from)?;
        let mut parts = Vec::with_capacity(method.arguments.len() + 1);
        for (from, index) in [(from, method.method)]
            .into_iter()
            .chain(method.arguments.iter())
        {
            let known = self.cache.fingerprints.get(index as usize);
            parts.push(match known {
                Some(&known) if !known.is_absent() => known,
                _ => self.compute(index, from, depth + 1)?,
            });
        }
        let NameAndType { name, descriptor } =
            self.class.pool.name_and_type(name_and_type, from)?;
        let text = &mut self.cache.text;
        text.clear();
        text.u8(17);
        text.text(name);
        text.text(descriptor);
        for part in parts {
            text.fingerprint(part);
        }
        Ok(text.finish())
    }

    fn bootstrap_method(&self, index: u16, from: usize) -> Result<BootstrapMethod<'a>, ReadError> {
        let methods = if let Some(methods) = self.bootstrap_methods.get() {
            methods
        } else {
            let methods = self.class.bootstrap_methods()?;
            self.bootstrap_methods.get_or_init(|| methods)
        };
        methods
            .get(index as usize)
            .copied()
            .ok_or_else(|| ReadErrorKind::BadBootstrapIndex { index }.at(from))
    }
}

/// Writes a constant that is not dynamic. The tags are those of JVMS §4.4.
pub(super) fn write_constant(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    constant: Constant<'_>,
    from: usize,
) -> Result<(), ReadError> {
    let pool = &class.pool;
    match constant {
        Constant::Utf8(text) => {
            out.u8(1);
            out.text(text);
        }
        Constant::Integer(value) => {
            out.u8(3);
            out.u32(value as u32);
        }
        Constant::Float(bits) => {
            out.u8(4);
            out.u32(bits);
        }
        Constant::Long(value) => {
            out.u8(5);
            out.u64(value as u64);
        }
        Constant::Double(bits) => {
            out.u8(6);
            out.u64(bits);
        }
        Constant::Class { name } => write_text(out, class, 7, name, from)?,
        Constant::String { text } => write_text(out, class, 8, text, from)?,
        Constant::MethodType { descriptor } => write_text(out, class, 16, descriptor, from)?,
        Constant::Module { name } => write_text(out, class, 19, name, from)?,
        Constant::Package { name } => write_text(out, class, 20, name, from)?,
        Constant::Fieldref {
            class: owner,
            name_and_type,
        } => write_member(out, class, 9, owner, name_and_type, from)?,
        Constant::Methodref {
            class: owner,
            name_and_type,
        } => write_member(out, class, 10, owner, name_and_type, from)?,
        Constant::InterfaceMethodref {
            class: owner,
            name_and_type,
        } => write_member(out, class, 11, owner, name_and_type, from)?,
        Constant::NameAndType { name, descriptor } => {
            write_text(out, class, 12, name, from)?;
            out.text(pool.utf8(descriptor, from)?);
        }
        Constant::MethodHandle { kind, reference } => {
            out.u8(15);
            out.u8(kind);
            // A handle refers to a member and to nothing else, so this does
            // not go deeper.
            let member = pool.get(reference, from)?;
            if !is_member(member) {
                return Err(ReadErrorKind::BadIndex {
                    index: reference,
                    expected: "field or method",
                }
                .at(from));
            }
            write_constant(out, class, member, from)?;
        }
        // Where these may stand, they are written with their arguments.
        Constant::Dynamic { bootstrap, .. } | Constant::InvokeDynamic { bootstrap, .. } => {
            return Err(ReadErrorKind::BadBootstrapIndex { index: bootstrap }.at(from));
        }
    }
    Ok(())
}

fn is_member(constant: Constant<'_>) -> bool {
    matches!(
        constant,
        Constant::Fieldref { .. }
            | Constant::Methodref { .. }
            | Constant::InterfaceMethodref { .. }
    )
}

fn write_text(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    tag: u8,
    text: u16,
    from: usize,
) -> Result<(), ReadError> {
    out.u8(tag);
    out.text(class.pool.utf8(text, from)?);
    Ok(())
}

fn write_member(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    tag: u8,
    owner: u16,
    name_and_type: u16,
    from: usize,
) -> Result<(), ReadError> {
    out.u8(tag);
    out.text(class.pool.class_name(owner, from)?);
    let NameAndType { name, descriptor } = class.pool.name_and_type(name_and_type, from)?;
    out.text(name);
    out.text(descriptor);
    Ok(())
}
