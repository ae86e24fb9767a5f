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
    BootstrapMethod, ClassFile, Constant, ConstantTag, MAX_NESTING, NameAndType, ReadError,
    ReadErrorKind,
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
        let is_dynamic = matches!(
            self.class.pool.tag(index),
            Some(ConstantTag::Dynamic | ConstantTag::InvokeDynamic)
        );
        let fingerprint = if is_dynamic {
            self.dynamic(index, from, depth)?
        } else {
            let text = &mut self.cache.text;
            text.clear();
            write_constant(text, self.class, index, from)?;
            text.finish()
        };
        self.cache.fingerprints[index as usize] = fingerprint;
        Ok(fingerprint)
    }

    /// A dynamic constant with its bootstrap method and static arguments.
    ///
    /// Arguments may be dynamic constants again. The depth is bounded, which
    /// also ends constants that are made from themselves.
    fn dynamic(&mut self, index: u16, from: usize, depth: usize) -> Result<Fingerprint, ReadError> {
        let (Constant::Dynamic {
            bootstrap,
            name_and_type,
        }
        | Constant::InvokeDynamic {
            bootstrap,
            name_and_type,
        }) = self.class.pool.get(index, from)?
        else {
            return Err(not(index, "dynamic constant", from));
        };
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
    index: u16,
    from: usize,
) -> Result<(), ReadError> {
    let pool = &class.pool;
    let tag = pool
        .tag(index)
        .ok_or_else(|| not(index, "constant", from))?;
    out.u8(tag as u8);
    if is_member(tag) {
        let member = pool.member(index, from)?;
        out.text(member.class);
        out.text(member.name);
        out.text(member.descriptor);
        return Ok(());
    }
    match pool.get(index, from)? {
        Constant::Utf8(text) => out.text(text),
        Constant::Integer(value) => out.u32(value as u32),
        Constant::Float(bits) => out.u32(bits),
        Constant::Long(value) => out.u64(value as u64),
        Constant::Double(bits) => out.u64(bits),
        Constant::Class { name: text }
        | Constant::String { text }
        | Constant::MethodType { descriptor: text }
        | Constant::Module { name: text }
        | Constant::Package { name: text } => out.text(pool.utf8(text, from)?),
        Constant::NameAndType { name, descriptor } => {
            out.text(pool.utf8(name, from)?);
            out.text(pool.utf8(descriptor, from)?);
        }
        Constant::MethodHandle { kind, reference } => {
            // A handle refers to a member and to nothing else, so this does
            // not go deeper.
            if !pool.tag(reference).is_some_and(is_member) {
                return Err(not(reference, "field or method", from));
            }
            out.u8(kind);
            write_constant(out, class, reference, from)?;
        }
        // Where dynamic constants may stand, they are written with their
        // arguments.
        _ => return Err(not(index, "constant of this place", from)),
    }
    Ok(())
}

#[inline]
fn is_member(tag: ConstantTag) -> bool {
    matches!(
        tag,
        ConstantTag::Fieldref | ConstantTag::Methodref | ConstantTag::InterfaceMethodref
    )
}

fn not(index: u16, expected: &'static str, from: usize) -> ReadError {
    ReadErrorKind::BadIndex { index, expected }.at(from)
}
