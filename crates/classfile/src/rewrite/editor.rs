//! Collects edits to one class, and writes it.

use super::code::{self, Plan};
use super::error::{RewriteError, RewriteErrorKind};
use super::pool::PoolEditor;
use super::snippet::Snippet;
use super::tables::put_u16;
use crate::read::{AttributeKind, ClassFile, ConstantTag, Member, decode_modified_utf8};
use fewest_model::MethodKey;

/// Where the constant pool's count stands in a class file.
const POOL_COUNT: usize = 8;

/// Edits to the methods of one class.
///
/// Methods are named by their index in [`ClassFile::methods`], places in code
/// are those of the class as it was read, whatever was inserted meanwhile.
pub struct ClassEditor<'a> {
    class: &'a ClassFile<'a>,
    pool: PoolEditor<'a>,
    /// One for each method.
    plans: Vec<Plan>,
}

/// A class of which some methods may have been left as they were.
#[derive(Debug)]
pub struct Rewritten {
    pub bytes: Vec<u8>,
    /// Why, for each method that was left alone.
    pub left_alone: Vec<LeftAlone>,
}

/// A method that could not be rewritten, and so is as it was.
#[derive(Debug)]
pub struct LeftAlone {
    /// Its index in [`ClassFile::methods`].
    pub method: usize,
    pub error: RewriteError,
}

impl<'a> ClassEditor<'a> {
    pub fn new(class: &'a ClassFile<'a>) -> Self {
        Self {
            class,
            pool: PoolEditor::new(class),
            plans: class.methods().iter().map(|_| Plan::default()).collect(),
        }
    }

    /// Whether the method can be edited; abstract and native ones cannot.
    pub fn has_code(&self, method: usize) -> bool {
        let method = self.class.methods().get(method);
        method.is_some_and(|method| self.code_of(method))
    }

    fn code_of(&self, method: &Member) -> bool {
        let attributes = self.class.attributes_of(method);
        attributes
            .iter()
            .any(|attribute| attribute.kind == AttributeKind::Code)
    }

    /// Puts code before the first instruction. It runs once per call: a branch
    /// back to the first instruction does not run it again. Several snippets
    /// run in the order in which they were inserted.
    pub fn insert_at_entry(&mut self, method: usize, snippet: Snippet) -> Result<(), RewriteError> {
        self.plan(method)?.insert_at_entry(snippet);
        Ok(())
    }

    /// The class with all edits. The first method that cannot be rewritten
    /// fails the whole.
    pub fn finish(self) -> Result<Vec<u8>, RewriteError> {
        let mut rewritten = self.finish_what_fits();
        if rewritten.left_alone.is_empty() {
            Ok(rewritten.bytes)
        } else {
            Err(rewritten.left_alone.swap_remove(0).error)
        }
    }

    /// The class with the edits that are possible. A method that cannot be
    /// rewritten, for its size above all, is left as it was and named.
    pub fn finish_what_fits(mut self) -> Rewritten {
        let class = self.class;
        let mut left_alone = Vec::new();
        let inserted: usize = self.plans.iter().map(Plan::inserted_length).sum();
        let mut body = Vec::with_capacity(class.bytes.len() - class.access_offset + inserted + 64);
        let mut copied = class.access_offset;
        for (index, (member, plan)) in class.methods().iter().zip(&self.plans).enumerate() {
            if plan.is_empty() {
                continue;
            }
            body.extend(&class.bytes[copied..member.offset]);
            copied = member.offset;
            let start = body.len();
            match write_method(class, member, plan, &mut self.pool, &mut body) {
                Ok(()) => copied = member.end,
                Err(kind) => {
                    body.truncate(start);
                    left_alone.push(LeftAlone {
                        method: index,
                        error: self.error(Some(member), kind),
                    });
                }
            }
        }
        body.extend(&class.bytes[copied..]);
        Rewritten {
            bytes: self.assemble(&body),
            left_alone,
        }
    }

    fn assemble(&self, body: &[u8]) -> Vec<u8> {
        let class = self.class;
        let added = self.pool.added();
        let mut bytes = Vec::with_capacity(class.access_offset + added.len() + body.len());
        bytes.extend(&class.bytes[..POOL_COUNT]);
        put_u16(&mut bytes, self.pool.count());
        bytes.extend(&class.bytes[POOL_COUNT + 2..class.access_offset]);
        bytes.extend(added);
        bytes.extend(body);
        bytes
    }

    fn plan(&mut self, method: usize) -> Result<&mut Plan, RewriteError> {
        let class = self.class;
        let Some(member) = class.methods().get(method) else {
            return Err(self.error(None, RewriteErrorKind::NoSuchMethod(method)));
        };
        if !self.code_of(member) {
            return Err(self.error(Some(member), RewriteErrorKind::NoCode));
        }
        Ok(&mut self.plans[method])
    }

    fn error(&self, method: Option<&Member>, kind: RewriteErrorKind) -> RewriteError {
        let text = |index| match self.class.pool.utf8(index, 0) {
            Ok(text) => decode_modified_utf8(text),
            Err(_) => "?".into(),
        };
        RewriteError {
            class: self.class.name(),
            method: method.map(|method| MethodKey::new(text(method.name), text(method.descriptor))),
            kind,
        }
    }
}

/// Constants. An existing one is used again, a new one comes behind all others.
/// Texts are modified UTF-8.
impl ClassEditor<'_> {
    pub fn utf8(&mut self, text: &[u8]) -> Result<u16, RewriteError> {
        let index = self.pool.utf8(text);
        self.of_class(index)
    }

    /// A class by its name, `p/A`, or by its descriptor for an array.
    pub fn class(&mut self, name: &[u8]) -> Result<u16, RewriteError> {
        let index = self.pool.class(name);
        self.of_class(index)
    }

    pub fn string(&mut self, text: &[u8]) -> Result<u16, RewriteError> {
        let index = self.pool.string(text);
        self.of_class(index)
    }

    pub fn integer(&mut self, value: i32) -> Result<u16, RewriteError> {
        let index = self.pool.integer(value);
        self.of_class(index)
    }

    pub fn long(&mut self, value: i64) -> Result<u16, RewriteError> {
        let index = self.pool.long(value);
        self.of_class(index)
    }

    pub fn name_and_type(&mut self, name: &[u8], descriptor: &[u8]) -> Result<u16, RewriteError> {
        let index = self.pool.name_and_type(name, descriptor);
        self.of_class(index)
    }

    pub fn field_ref(
        &mut self,
        owner: &[u8],
        name: &[u8],
        descriptor: &[u8],
    ) -> Result<u16, RewriteError> {
        let index = self
            .pool
            .member(ConstantTag::Fieldref, owner, name, descriptor);
        self.of_class(index)
    }

    /// A method; `interface` says whether its owner is one.
    pub fn method_ref(
        &mut self,
        owner: &[u8],
        name: &[u8],
        descriptor: &[u8],
        interface: bool,
    ) -> Result<u16, RewriteError> {
        let tag = if interface {
            ConstantTag::InterfaceMethodref
        } else {
            ConstantTag::Methodref
        };
        let index = self.pool.member(tag, owner, name, descriptor);
        self.of_class(index)
    }

    fn of_class<T>(&self, result: Result<T, RewriteErrorKind>) -> Result<T, RewriteError> {
        result.map_err(|kind| self.error(None, kind))
    }
}

/// Writes a method with its code replaced and all else as it was.
fn write_method<'a>(
    class: &'a ClassFile<'a>,
    method: &Member,
    plan: &Plan,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let attribute = class
        .attribute_of(method, AttributeKind::Code)
        .ok_or(RewriteErrorKind::NoCode)?;
    let code = class.code(method)?.ok_or(RewriteErrorKind::NoCode)?;
    // Name and length stand in the 6 bytes before an attribute's content.
    out.extend(&class.bytes[method.offset..attribute.offset - 4]);
    let length_at = out.len();
    out.extend([0; 4]);
    code::write(class, method, &code, plan, pool, out)?;
    code::patch_length(out, length_at)?;
    let end = attribute.offset + attribute.content.len();
    out.extend(&class.bytes[end..method.end]);
    Ok(())
}
