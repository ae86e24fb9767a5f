//! New constants behind those that a class has.

use std::collections::HashMap;

use super::error::RewriteErrorKind;
use crate::read::{ClassFile, ConstantTag};

/// The highest value of `constant_pool_count` (JVMS §4.1).
const MAX_COUNT: usize = 65535;

/// The constant pool of a class that is being edited.
///
/// A constant is known by its bytes, tag first. Existing ones are looked for by
/// comparing bytes one constant after the other: an edit needs a handful, and
/// an index over a whole pool would cost more than it saves.
pub(super) struct PoolEditor<'a> {
    class: &'a ClassFile<'a>,
    known: HashMap<Vec<u8>, u16>,
    added: Vec<u8>,
    count: usize,
}

impl<'a> PoolEditor<'a> {
    pub(super) fn new(class: &'a ClassFile<'a>) -> Self {
        Self {
            class,
            known: HashMap::new(),
            added: Vec::new(),
            count: class.pool.count(),
        }
    }

    /// One more than the highest index.
    pub(super) fn count(&self) -> u16 {
        self.count as u16
    }

    /// The bytes of the new constants.
    pub(super) fn added(&self) -> &[u8] {
        &self.added
    }

    pub(super) fn utf8(&mut self, text: &[u8]) -> Result<u16, RewriteErrorKind> {
        let length = u16::try_from(text.len())
            .map_err(|_| RewriteErrorKind::TextTooLong { length: text.len() })?;
        let mut constant = Vec::with_capacity(3 + text.len());
        constant.push(ConstantTag::Utf8 as u8);
        constant.extend(length.to_be_bytes());
        constant.extend(text);
        self.intern(constant, true)
    }

    pub(super) fn class(&mut self, name: &[u8]) -> Result<u16, RewriteErrorKind> {
        let name = self.utf8(name)?;
        self.intern_with(ConstantTag::Class, &[name])
    }

    pub(super) fn string(&mut self, text: &[u8]) -> Result<u16, RewriteErrorKind> {
        let text = self.utf8(text)?;
        self.intern_with(ConstantTag::String, &[text])
    }

    pub(super) fn integer(&mut self, value: i32) -> Result<u16, RewriteErrorKind> {
        let mut constant = vec![ConstantTag::Integer as u8];
        constant.extend(value.to_be_bytes());
        self.intern(constant, true)
    }

    pub(super) fn long(&mut self, value: i64) -> Result<u16, RewriteErrorKind> {
        let mut constant = vec![ConstantTag::Long as u8];
        constant.extend(value.to_be_bytes());
        self.intern(constant, true)
    }

    pub(super) fn float(&mut self, value: f32) -> Result<u16, RewriteErrorKind> {
        let mut constant = vec![ConstantTag::Float as u8];
        constant.extend(value.to_be_bytes());
        self.intern(constant, true)
    }

    pub(super) fn double(&mut self, value: f64) -> Result<u16, RewriteErrorKind> {
        let mut constant = vec![ConstantTag::Double as u8];
        constant.extend(value.to_be_bytes());
        self.intern(constant, true)
    }

    pub(super) fn name_and_type(
        &mut self,
        name: &[u8],
        descriptor: &[u8],
    ) -> Result<u16, RewriteErrorKind> {
        let (name, descriptor) = (self.utf8(name)?, self.utf8(descriptor)?);
        self.intern_with(ConstantTag::NameAndType, &[name, descriptor])
    }

    pub(super) fn member(
        &mut self,
        tag: ConstantTag,
        owner: &[u8],
        name: &[u8],
        descriptor: &[u8],
    ) -> Result<u16, RewriteErrorKind> {
        let class = self.class(owner)?;
        let name_and_type = self.name_and_type(name, descriptor)?;
        self.intern_with(tag, &[class, name_and_type])
    }

    /// A constant that is made of others.
    fn intern_with(&mut self, tag: ConstantTag, parts: &[u16]) -> Result<u16, RewriteErrorKind> {
        let mut constant = Vec::with_capacity(1 + 2 * parts.len());
        constant.push(tag as u8);
        constant.extend(parts.iter().flat_map(|part| part.to_be_bytes()));
        // No old constant names a new one, so it need not be looked for.
        let may_exist = !parts.iter().any(|&part| self.is_new(part));
        self.intern(constant, may_exist)
    }

    fn is_new(&self, index: u16) -> bool {
        index as usize >= self.class.pool.count()
    }

    fn intern(&mut self, constant: Vec<u8>, may_exist: bool) -> Result<u16, RewriteErrorKind> {
        if let Some(&index) = self.known.get(&constant) {
            return Ok(index);
        }
        let old = if may_exist {
            self.find(&constant)
        } else {
            None
        };
        let index = match old {
            Some(index) => index,
            None => self.append(&constant)?,
        };
        self.known.insert(constant, index);
        Ok(index)
    }

    fn find(&self, constant: &[u8]) -> Option<u16> {
        let (bytes, pool) = (self.class.bytes, &self.class.pool);
        (1..pool.count() as u16).find(|&index| {
            pool.offset_of(index)
                .is_some_and(|offset| bytes[offset..].starts_with(constant))
        })
    }

    fn append(&mut self, constant: &[u8]) -> Result<u16, RewriteErrorKind> {
        // Long and double take two places (JVMS §4.4.5).
        let places = match constant.first() {
            Some(&tag) if tag == ConstantTag::Long as u8 || tag == ConstantTag::Double as u8 => 2,
            _ => 1,
        };
        if self.count + places > MAX_COUNT {
            return Err(RewriteErrorKind::PoolFull);
        }
        let index = self.count as u16;
        self.count += places;
        self.added.extend(constant);
        Ok(index)
    }
}
