//! What the code of a method names.

use std::collections::BTreeSet;

use fewest_model::ClassName;

use super::descriptor::{element_class, for_each_in_descriptor};
use super::{MemberUse, MethodReferences, UseKind};
use crate::graph::leaders;
use crate::read::opcode::{
    GETFIELD, GETSTATIC, INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL, PUTFIELD,
    PUTSTATIC,
};
use crate::read::{
    BootstrapMethod, ClassFile, Code, Constant, Instruction, Member, MemberReference, ReadError,
    ReadErrorKind, decode_modified_utf8,
};

/// Collects what the code of a method names; nothing for a method without
/// code.
pub fn references(class: &ClassFile<'_>, method: &Member) -> Result<MethodReferences, ReadError> {
    let Some(code) = class.code(method)? else {
        return Ok(MethodReferences::default());
    };
    let mut collector = Collector {
        class,
        bootstrap_methods: None,
        seen: BTreeSet::new(),
        references: MethodReferences::default(),
    };
    collector.code(&code)?;
    Ok(collector.references)
}

struct Collector<'c, 'a> {
    class: &'c ClassFile<'a>,
    bootstrap_methods: Option<Vec<BootstrapMethod<'a>>>,
    /// Constants that need no second look.
    seen: BTreeSet<u16>,
    references: MethodReferences,
}

impl<'a> Collector<'_, 'a> {
    fn code(&mut self, code: &Code<'a>) -> Result<(), ReadError> {
        let instructions = code.instructions().collect::<Result<Vec<_>, _>>()?;
        let leaders = leaders(code, &instructions)?;
        // The last constant string of the basic block.
        let mut string = None;
        for instruction in &instructions {
            if leaders[instruction.pc as usize] {
                string = None;
            }
            let from = code.offset + instruction.pc as usize + 1;
            if let Some(index) = instruction.constant() {
                match self.class.pool.get(index, from)? {
                    Constant::String { text } => string = Some(self.class.pool.utf8(text, from)?),
                    _ => self.named(instruction, index, from, string)?,
                }
            }
        }
        for (index, handler) in code.handlers().enumerate() {
            if handler.catch_type != 0 {
                self.constant(handler.catch_type, code.handler_offset(index) + 6)?;
            }
        }
        Ok(())
    }

    fn named(
        &mut self,
        instruction: &Instruction<'_>,
        index: u16,
        from: usize,
        string: Option<&[u8]>,
    ) -> Result<(), ReadError> {
        let Some(kind) = use_kind(instruction.opcode) else {
            return self.constant(index, from);
        };
        let member = self.class.pool.member(index, from)?;
        if let Some(string) = string.filter(|_| loads_by_name(&member)) {
            self.references.by_name.extend(class_in_string(string));
        }
        self.member(kind, &member, from)
    }

    /// Notes what a constant names: that of an instruction which takes any
    /// loadable constant, or a bootstrap argument.
    ///
    /// Bootstrap arguments go on a list instead of the stack, because dynamic
    /// constants can be nested as deep as the pool is long.
    fn constant(&mut self, index: u16, from: usize) -> Result<(), ReadError> {
        let mut queue = vec![(index, from)];
        while let Some((index, from)) = queue.pop() {
            if !self.seen.insert(index) {
                continue;
            }
            let pool = &self.class.pool;
            match pool.get(index, from)? {
                Constant::Class { name } => {
                    let name = element_class(pool.utf8(name, from)?);
                    self.references.classes.extend(name);
                }
                Constant::MethodType { descriptor } => {
                    self.described(pool.utf8(descriptor, from)?, from)?;
                }
                Constant::MethodHandle { kind, reference } => {
                    let member = pool.member(reference, from)?;
                    self.member(handle_kind(kind, index, from)?, &member, from)?;
                }
                Constant::Dynamic {
                    bootstrap,
                    name_and_type,
                }
                | Constant::InvokeDynamic {
                    bootstrap,
                    name_and_type,
                } => {
                    let descriptor = pool.name_and_type(name_and_type, from)?.descriptor;
                    self.described(descriptor, from)?;
                    let method = self.bootstrap_method(bootstrap, from)?;
                    queue.push((method.method, from));
                    let arguments = method.arguments.iter();
                    queue.extend(arguments.map(|(from, index)| (index, from)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn bootstrap_method(
        &mut self,
        index: u16,
        from: usize,
    ) -> Result<BootstrapMethod<'a>, ReadError> {
        let methods = match self.bootstrap_methods.take() {
            Some(methods) => methods,
            None => self.class.bootstrap_methods()?,
        };
        let method = methods.get(index as usize).copied();
        self.bootstrap_methods = Some(methods);
        method.ok_or_else(|| ReadErrorKind::BadBootstrapIndex { index }.at(from))
    }

    fn member(
        &mut self,
        kind: UseKind,
        member: &MemberReference<'_>,
        from: usize,
    ) -> Result<(), ReadError> {
        self.described(member.descriptor, from)?;
        self.references.classes.extend(element_class(member.class));
        self.references.members.insert(MemberUse::new(kind, member));
        Ok(())
    }

    fn described(&mut self, descriptor: &[u8], from: usize) -> Result<(), ReadError> {
        for_each_in_descriptor(descriptor, from, |name| {
            self.references.described.insert(name);
        })
    }
}

fn use_kind(opcode: u8) -> Option<UseKind> {
    Some(match opcode {
        GETSTATIC => UseKind::GetStatic,
        PUTSTATIC => UseKind::PutStatic,
        GETFIELD => UseKind::GetField,
        PUTFIELD => UseKind::PutField,
        INVOKESTATIC => UseKind::InvokeStatic,
        INVOKESPECIAL => UseKind::InvokeSpecial,
        INVOKEVIRTUAL => UseKind::InvokeVirtual,
        INVOKEINTERFACE => UseKind::InvokeInterface,
        _ => return None,
    })
}

/// The instruction that a method handle stands for (JVMS table 5.4.3.5-A).
fn handle_kind(kind: u8, index: u16, from: usize) -> Result<UseKind, ReadError> {
    Ok(match kind {
        1 => UseKind::GetField,
        2 => UseKind::GetStatic,
        3 => UseKind::PutField,
        4 => UseKind::PutStatic,
        5 => UseKind::InvokeVirtual,
        6 => UseKind::InvokeStatic,
        7 | 8 => UseKind::InvokeSpecial,
        9 => UseKind::InvokeInterface,
        _ => {
            return Err(ReadErrorKind::BadIndex {
                index,
                expected: "method handle of a known kind",
            }
            .at(from));
        }
    })
}

/// Whether a call takes the name of a class as a string.
fn loads_by_name(member: &MemberReference<'_>) -> bool {
    match member.name {
        b"forName" => {
            member.class == b"java/lang/Class" && member.descriptor.starts_with(b"(Ljava/lang/")
        }
        b"loadClass" => member.descriptor.starts_with(b"(Ljava/lang/String;"),
        _ => false,
    }
}

/// The class that a string such as `p.A$B` or `[Lp.A;` names.
fn class_in_string(string: &[u8]) -> Option<ClassName> {
    let text = decode_modified_utf8(string);
    let name = element_class(text.as_bytes())?;
    Some(ClassName::from_dotted(name.as_str())).filter(|name| !name.as_str().is_empty())
}
