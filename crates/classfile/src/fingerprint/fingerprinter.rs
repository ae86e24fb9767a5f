//! Takes the fingerprints of class after class.

use fewest_model::{Fingerprint, MethodKey};

use super::code::{CodeScratch, write_code};
use super::head::{write_attributes, write_declaration, write_head};
use super::names::Names;
use super::{Canonical, ClassFingerprints, MethodFingerprint, Options, SymbolCache, Symbols};
use crate::annotations;
use crate::read::{ClassFile, Member, ReadError};

/// What a fingerprint is of, so that equal bytes of different things differ.
/// A new canonical form gets new tags.
mod tag {
    pub(super) const HEAD: u8 = 1;
    pub(super) const SHAPE: u8 = 2;
    pub(super) const CLASS: u8 = 3;
    pub(super) const METHOD: u8 = 4;
    pub(super) const SIGNATURE: u8 = 5;
    pub(super) const FRAME: u8 = 6;
}

/// Takes the fingerprints of class after class, and keeps its memory in
/// between.
#[derive(Debug, Default)]
pub struct Fingerprinter {
    options: Options,
    symbols: SymbolCache,
    code: CodeScratch,
    out: Canonical,
    set: Vec<Fingerprint>,
    names: Names,
}

impl Fingerprinter {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    pub fn fingerprint(&mut self, class: &ClassFile<'_>) -> Result<ClassFingerprints, ReadError> {
        let head = self.head(class)?;
        let methods = self.methods(class)?;
        self.set.clear();
        self.set
            .extend(methods.iter().map(|method| method.fingerprint));
        let whole = self.head_with_set(tag::CLASS, head);
        Ok(ClassFingerprints {
            name: class.name(),
            super_name: class.super_name(),
            interfaces: class.interface_names()?,
            access: class.access,
            head,
            shape: self.shape(class, head)?,
            class: whole,
            methods,
        })
    }

    fn head(&mut self, class: &ClassFile<'_>) -> Result<Fingerprint, ReadError> {
        self.out.clear();
        self.out.u8(tag::HEAD);
        write_head(&mut self.out, class, self.options.debug_info)?;
        Ok(self.out.finish())
    }

    fn methods(&mut self, class: &ClassFile<'_>) -> Result<Vec<MethodFingerprint>, ReadError> {
        let mut symbols = Symbols::new(class, &mut self.symbols);
        let mut methods = Vec::with_capacity(class.methods().len());
        for method in class.methods() {
            self.out.clear();
            self.out.u8(tag::METHOD);
            write_method(
                &mut self.out,
                &mut symbols,
                method,
                &mut self.code,
                self.options,
            )?;
            methods.push(MethodFingerprint {
                key: MethodKey {
                    name: self
                        .names
                        .get(class.pool.utf8(method.name, method.offset + 2)?),
                    descriptor: self
                        .names
                        .get(class.pool.utf8(method.descriptor, method.offset + 4)?),
                },
                access: method.access,
                fingerprint: self.out.finish(),
            });
        }
        Ok(methods)
    }

    fn shape(
        &mut self,
        class: &ClassFile<'_>,
        head: Fingerprint,
    ) -> Result<Fingerprint, ReadError> {
        self.set.clear();
        for method in class.methods() {
            if method.is_static() || method.is_private() || is_initializer(class, method)? {
                continue;
            }
            self.out.clear();
            self.out.u8(tag::SIGNATURE);
            write_declaration(&mut self.out, class, method)?;
            self.set.push(self.out.finish());
        }
        Ok(self.head_with_set(tag::SHAPE, head))
    }

    /// What a test class is apart from its tests: the head, the declarations of
    /// instance methods that take part in method lookup, and whatever carries
    /// annotations, by which frameworks find set-up and tear-down.
    pub fn frame(&mut self, class: &ClassFile<'_>, junit3: bool) -> Result<Fingerprint, ReadError> {
        let head = self.head(class)?;
        self.set.clear();
        for method in class.methods() {
            let key = class.method_key(method)?;
            let annotations = annotations::of_member(class, method)?;
            let looked_up =
                !(method.is_static() || method.is_private() || key.name.starts_with('<'));
            if annotations::is_test(method, &key, &annotations, junit3)
                || (annotations.is_empty() && !looked_up)
            {
                continue;
            }
            self.out.clear();
            self.out.u8(tag::SIGNATURE);
            write_outside_of_code(&mut self.out, class, method, self.options)?;
            self.set.push(self.out.finish());
        }
        Ok(self.head_with_set(tag::FRAME, head))
    }

    fn head_with_set(&mut self, tag: u8, head: Fingerprint) -> Fingerprint {
        self.out.clear();
        self.out.u8(tag);
        self.out.fingerprint(head);
        self.out.set(&mut self.set);
        self.out.finish()
    }
}

fn is_initializer(class: &ClassFile<'_>, method: &Member) -> Result<bool, ReadError> {
    Ok(class.pool.utf8(method.name, method.offset + 2)?.first() == Some(&b'<'))
}

fn write_method(
    out: &mut Canonical,
    symbols: &mut Symbols<'_, '_>,
    method: &Member,
    scratch: &mut CodeScratch,
    options: Options,
) -> Result<(), ReadError> {
    let class = symbols.class;
    write_outside_of_code(out, class, method, options)?;
    let code = class.code(method)?;
    out.u8(u8::from(code.is_some()));
    code.map_or(Ok(()), |code| {
        write_code(out, symbols, &code, scratch, options.debug_info)
    })
}

/// Writes all of a method but its code.
pub(crate) fn write_outside_of_code(
    out: &mut Canonical,
    class: &ClassFile<'_>,
    method: &Member,
    options: Options,
) -> Result<(), ReadError> {
    write_declaration(out, class, method)?;
    let attributes = class.attributes_of(method);
    write_attributes(out, class, attributes, options.debug_info)
}
