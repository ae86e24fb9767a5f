//! Collects edits to one class, and writes it.

use std::ops::Range;

use fewest_model::MethodKey;

use super::code::{CodeWriter, patch_length, reserve_length};
use super::error::{RewriteError, RewriteErrorKind};
use super::plan::{Around, Plan, Wrapper};
use super::pool::PoolEditor;
use super::snippet::Snippet;
use super::tables::put_u16;
use super::wrapper;
use crate::read::{AttributeKind, ClassFile, ConstantTag, Member, decode_modified_utf8};

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

    /// Puts code before the instruction at `pc`. Branches to `pc` run it too,
    /// and it is covered by the exception handlers, lines and variables that
    /// cover the instruction. Several snippets at one place run in the order in
    /// which they were inserted.
    pub fn insert_before(
        &mut self,
        method: usize,
        pc: u16,
        snippet: Snippet,
    ) -> Result<(), RewriteError> {
        self.plan(method)?.before.push((pc, snippet));
        Ok(())
    }

    /// Puts code before every return, and code that runs when an exception
    /// leaves the method and then throws it on.
    ///
    /// `on_throw` starts with the exception on the stack and must leave it
    /// there; it may hold no branch. Its only local is `this`, if asked for
    /// `with_this`, which a method that overwrites local 0 cannot offer. The
    /// handler comes last, so the method's own handlers go first. It covers the
    /// old code and what was inserted before it, but neither code at entry nor
    /// `on_return`; in a constructor it covers only what runs after the call of
    /// the other constructor. Code of several calls runs in their order.
    pub fn on_exit(
        &mut self,
        method: usize,
        on_return: Snippet,
        on_throw: Snippet,
        with_this: bool,
    ) -> Result<(), RewriteError> {
        if on_throw.frame_after {
            let member = self.class.methods().get(method);
            return Err(self.error(member, RewriteErrorKind::BranchInSnippet));
        }
        self.plan(method)?.on_exit(on_return, on_throw, with_this);
        Ok(())
    }

    /// Gives the method another name, and its old name to a new method that
    /// calls it. The new method is what reflection shows: it has the flags
    /// (without `native` and `synchronized`), annotations and signature of the
    /// old one. The old one becomes private and synthetic, and keeps all edits
    /// that were made to it. Stack traces have one frame more. Constructors and
    /// static initializers cannot be wrapped; native methods can, but then the
    /// JVM looks for their code under the new name.
    pub fn wrap(
        &mut self,
        method: usize,
        new_name: &[u8],
        around: Around,
    ) -> Result<(), RewriteError> {
        let member = self.member(method)?;
        if member.is_abstract() {
            return Err(self.error(Some(member), RewriteErrorKind::NoCode));
        }
        wrapper::check(self.class, member, new_name)
            .map_err(|kind| self.error(Some(member), kind))?;
        self.plans[method].wrapper = Some(Wrapper {
            new_name: new_name.to_vec(),
            around,
        });
        Ok(())
    }

    /// Takes out the instructions from `range.start` up to `range.end`. They
    /// must be a straight line: no branch into it but to its start, none out of
    /// it, no boundary of an exception handler inside. That the code around it
    /// works without it, with the same operand stack at both ends, is the
    /// caller's care.
    pub fn delete(&mut self, method: usize, range: Range<u16>) -> Result<(), RewriteError> {
        self.plan(method)?.deleted.push(range);
        Ok(())
    }

    /// Lays the method's code out anew although no edit asks for it. The bytes
    /// must come out as they were; tests hold the rewriter to this.
    pub fn lay_out(&mut self, method: usize) -> Result<(), RewriteError> {
        self.plan(method)?.relayout = true;
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
        self.count_wrappers(&left_alone, &mut body);
        Rewritten {
            bytes: self.assemble(&body),
            left_alone,
        }
    }

    /// Wrappers are methods more.
    fn count_wrappers(&self, left_alone: &[LeftAlone], body: &mut [u8]) {
        let failed = |index| left_alone.iter().any(|method| method.method == index);
        let plans = self.plans.iter().enumerate();
        let wrappers = plans
            .filter(|(index, plan)| plan.wrapper.is_some() && !failed(*index))
            .count();
        if let (1.., Some(first)) = (wrappers, self.class.methods().first()) {
            let count = self.class.methods().len() + wrappers;
            let at = first.offset - 2 - self.class.access_offset;
            body[at..at + 2].copy_from_slice(&(count as u16).to_be_bytes());
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
        let member = self.member(method)?;
        if !self.code_of(member) {
            return Err(self.error(Some(member), RewriteErrorKind::NoCode));
        }
        Ok(&mut self.plans[method])
    }

    fn member(&self, method: usize) -> Result<&'a Member, RewriteError> {
        let member = self.class.methods().get(method);
        member.ok_or_else(|| self.error(None, RewriteErrorKind::NoSuchMethod(method)))
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

    pub fn float(&mut self, value: f32) -> Result<u16, RewriteError> {
        let index = self.pool.float(value);
        self.of_class(index)
    }

    pub fn double(&mut self, value: f64) -> Result<u16, RewriteError> {
        let index = self.pool.double(value);
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

/// Writes a method with all that was done to it.
fn write_method<'a>(
    class: &'a ClassFile<'a>,
    method: &Member,
    plan: &Plan,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let Some(wrapper) = &plan.wrapper else {
        // Flags, name and descriptor.
        out.extend(&class.bytes[method.offset..method.offset + 6]);
        return write_attributes(class, method, plan, pool, out);
    };
    wrapper::write(class, method, wrapper, pool, out)?;
    wrapper::write_body_head(method, wrapper, pool, out)?;
    let code = class.attribute_of(method, AttributeKind::Code);
    put_u16(out, u16::from(code.is_some()));
    if code.is_some() {
        write_code(class, method, plan, pool, out)?;
    }
    Ok(())
}

/// Copies the method's attributes, with its code replaced.
fn write_attributes<'a>(
    class: &'a ClassFile<'a>,
    method: &Member,
    plan: &Plan,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let code = class
        .attribute_of(method, AttributeKind::Code)
        .ok_or(RewriteErrorKind::NoCode)?;
    // Name and length stand in the 6 bytes before an attribute's content.
    out.extend(&class.bytes[method.offset + 6..code.offset - 6]);
    write_code(class, method, plan, pool, out)?;
    out.extend(&class.bytes[code.offset + code.content.len()..method.end]);
    Ok(())
}

fn write_code<'a>(
    class: &'a ClassFile<'a>,
    method: &Member,
    plan: &Plan,
    pool: &mut PoolEditor<'a>,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    let attribute = class
        .attribute_of(method, AttributeKind::Code)
        .ok_or(RewriteErrorKind::NoCode)?;
    put_u16(out, attribute.name);
    let length_at = reserve_length(out);
    if plan.changes_code() {
        let code = class.code(method)?.ok_or(RewriteErrorKind::NoCode)?;
        let mut writer = CodeWriter {
            class,
            method,
            code: &code,
            plan,
            pool,
        };
        writer.write(out)?;
    } else {
        out.extend(attribute.content);
    }
    patch_length(out, length_at)
}
