//! Follows objects through the code of a method.
//!
//! Locals count with everything that is ever stored in them, and where control
//! flow meets, a slot of the stack with everything that may be there, so the
//! answer errs on the side of more origins.

use std::collections::{BTreeMap, BTreeSet};

use fewest_model::MethodKey;

use super::origins::{Origins, StateUse};
use super::stack::{local, plain_effect, slots};
use super::state::{
    Holder, changes_its_receiver, is_of_jdk, is_thread_local, parameters, result,
    writes_into_arguments,
};
use super::{MemberUse, UseKind};
use crate::read::opcode as op;
use crate::read::{
    ClassFile, Code, Constant, Instruction, Member, Operand, ReadError, access,
    decode_modified_utf8,
};

const PASSES: usize = 50;

/// What a method does to objects, and where the objects come from that it
/// returns. `makers` are methods of the class that return what they made.
pub(super) fn follow(
    class: &ClassFile<'_>,
    method: &Member,
    makers: &BTreeSet<MethodKey>,
) -> Result<(StateUse, Origins), ReadError> {
    let Some(code) = class.code(method)? else {
        return Ok((StateUse::default(), Origins::ANY));
    };
    let mut flow = Flow {
        class,
        code: &code,
        makers,
        fields: Vec::new(),
        locals: vec![Origins::NONE; code.max_locals as usize],
        joins: BTreeMap::new(),
        stack: Vec::new(),
        grown: true,
        changed: Origins::NONE,
        handed_on: Origins::NONE,
        returned: Origins::NONE,
    };
    flow.enter(method, &class.method_key(method)?);
    for handler in code.handlers() {
        flow.joins.insert(handler.handler, vec![Origins::GIVEN]);
    }
    // Two or three passes do for what compilers write.
    for _ in 0..PASSES {
        if std::mem::take(&mut flow.grown) {
            flow.pass()?;
        }
    }
    if flow.grown {
        flow.give_up();
    }
    let returned = flow.returned;
    Ok((flow.into_use(), returned))
}

struct Flow<'f, 'a> {
    class: &'f ClassFile<'a>,
    code: &'f Code<'a>,
    makers: &'f BTreeSet<MethodKey>,
    /// The static fields that have a bit.
    fields: Vec<MemberUse>,
    locals: Vec<Origins>,
    /// The stacks at places that are jumped to.
    joins: BTreeMap<u16, Vec<Origins>>,
    /// By slots, as everything here.
    stack: Vec<Origins>,
    /// Whether something was learned that the code before did not know.
    grown: bool,
    changed: Origins,
    handed_on: Origins,
    returned: Origins,
}

impl<'a> Flow<'_, 'a> {
    fn enter(&mut self, method: &Member, key: &MethodKey) {
        let this = (method.access & access::STATIC == 0).then_some("L;");
        let mut local = 0;
        for parameter in this.into_iter().chain(parameters(&key.descriptor)) {
            if let Some(slot) = self.locals.get_mut(local) {
                *slot = if is_reference(parameter) {
                    Origins::GIVEN
                } else {
                    Origins::NONE
                };
            }
            local += slots(parameter);
        }
    }

    /// Goes once over the code.
    fn pass(&mut self) -> Result<(), ReadError> {
        self.stack.clear();
        let mut follows = true;
        for instruction in self.code.instructions() {
            let instruction = instruction?;
            if let Some(join) = self.joins.get(&instruction.pc) {
                if follows {
                    let stack = std::mem::take(&mut self.stack);
                    self.join(instruction.pc, &stack);
                    self.stack = self.joins[&instruction.pc].clone();
                } else {
                    self.stack.clone_from(join);
                }
            } else if !follows {
                self.stack.clear();
            }
            self.step(&instruction)?;
            let stack = std::mem::take(&mut self.stack);
            instruction.operand.for_each_target(|target| {
                if let Ok(target) = u16::try_from(target) {
                    self.join(target, &stack);
                }
            });
            self.stack = stack;
            follows = !matches!(
                instruction.opcode,
                op::GOTO | op::GOTO_W | op::TABLESWITCH | op::LOOKUPSWITCH | op::ATHROW
            ) && !(op::IRETURN..=op::RETURN).contains(&instruction.opcode);
        }
        Ok(())
    }

    fn join(&mut self, pc: u16, stack: &[Origins]) {
        let Some(known) = self.joins.get_mut(&pc) else {
            self.joins.insert(pc, stack.to_vec());
            self.grown = true;
            return;
        };
        for (known, new) in known.iter_mut().zip(stack) {
            let both = known.with(*new);
            self.grown |= both != *known;
            *known = both;
        }
    }

    fn step(&mut self, instruction: &Instruction<'a>) -> Result<(), ReadError> {
        match instruction.opcode {
            op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => {
                let local = local(instruction, op::ALOAD_0);
                let value = self.locals.get(local).copied();
                self.stack.push(value.unwrap_or(Origins::ANY));
            }
            op::ASTORE | op::ASTORE_0..=op::ASTORE_3 => {
                let value = self.pop(1);
                let local = local(instruction, op::ASTORE_0);
                if let Some(known) = self.locals.get_mut(local) {
                    self.grown |= known.with(value) != *known;
                    *known = known.with(value);
                }
            }
            op::AALOAD => {
                self.pop(1);
                let array = self.pop(1);
                self.stack.push(array);
            }
            op::AASTORE => {
                let value = self.pop(1);
                self.hand_on(value);
                self.pop(1);
                let array = self.pop(1);
                // An array from elsewhere is no container.
                self.changed.0 |= array.0 & !Origins::GIVEN.0;
            }
            op::DUP..=op::DUP_X2 => self.duplicate(1, (instruction.opcode - op::DUP) as usize),
            op::DUP2..=op::DUP2_X2 => self.duplicate(2, (instruction.opcode - op::DUP2) as usize),
            op::SWAP => {
                let (top, below) = (self.pop(1), self.pop(1));
                self.stack.extend([top, below]);
            }
            op::CHECKCAST => {
                let value = self.pop(1);
                let index = instruction.constant().unwrap_or_default();
                let name = self
                    .class
                    .pool
                    .class_name(index, self.offset(instruction))?;
                let name = decode_modified_utf8(name);
                if name.starts_with('[') {
                    self.push_of_type(&name, value);
                } else {
                    self.push_of_type(&format!("L{name};"), value);
                }
            }
            op::ARETURN => {
                let value = self.pop(1);
                self.returned = self.returned.with(value);
                self.hand_on(value);
            }
            op::GETSTATIC | op::PUTSTATIC | op::GETFIELD | op::PUTFIELD => {
                self.field(instruction)?;
            }
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.invoke(instruction)?,
            op::INVOKEDYNAMIC => self.invoke_dynamic(instruction)?,
            op::MULTIANEWARRAY => {
                if let Operand::MultiArray { dimensions, .. } = instruction.operand {
                    self.pop(dimensions as usize);
                }
                self.stack.push(Origins::NONE);
            }
            // Where `ret` goes is not written in the code.
            op::JSR | op::JSR_W | op::RET => {
                self.give_up();
                self.stack.push(Origins::ANY);
            }
            opcode => {
                let (popped, pushed) = plain_effect(opcode);
                self.pop(popped);
                self.stack
                    .extend(std::iter::repeat_n(Origins::NONE, pushed));
            }
        }
        Ok(())
    }

    /// Whatever was read may have changed.
    fn give_up(&mut self) {
        self.changed = Origins::ANY;
        self.handed_on = Origins::ANY;
        self.returned = Origins::ANY;
    }

    fn offset(&self, instruction: &Instruction<'_>) -> usize {
        self.code.offset + instruction.pc as usize
    }

    /// Takes slots from the stack; what they held, together.
    fn pop(&mut self, slots: usize) -> Origins {
        let mut all = Origins::NONE;
        for _ in 0..slots {
            all = all.with(self.stack.pop().unwrap_or(Origins::ANY));
        }
        all
    }

    /// Pushes a value of a type, which has these origins if it can be changed.
    fn push_of_type(&mut self, descriptor: &str, origins: Origins) {
        let can_change = Holder::of(descriptor).is_some() || leads_on(descriptor);
        let value = if can_change { origins } else { Origins::NONE };
        self.stack.push(value);
        if slots(descriptor) == 2 {
            self.stack.push(Origins::NONE);
        }
    }

    fn duplicate(&mut self, slots: usize, below: usize) {
        let missing = (slots + below).saturating_sub(self.stack.len());
        self.stack
            .splice(0..0, std::iter::repeat_n(Origins::ANY, missing));
        let length = self.stack.len();
        let copy = self.stack[length - slots..].to_vec();
        let at = length - slots - below;
        self.stack.splice(at..at, copy);
    }

    fn hand_on(&mut self, value: Origins) {
        self.handed_on = self.handed_on.with(value);
    }

    fn change(&mut self, value: Origins) {
        self.changed = self.changed.with(value);
    }

    fn field(&mut self, instruction: &Instruction<'a>) -> Result<(), ReadError> {
        let kind = match instruction.opcode {
            op::GETSTATIC => UseKind::GetStatic,
            op::PUTSTATIC => UseKind::PutStatic,
            op::GETFIELD => UseKind::GetField,
            _ => UseKind::PutField,
        };
        let field = self.member(instruction, kind)?;
        let descriptor = field.member.descriptor.clone();
        match kind {
            UseKind::GetStatic => {
                let origins = if is_thread_local(&descriptor) {
                    Origins::NONE
                } else if Holder::of(&descriptor).is_some() {
                    self.bit(field)
                } else {
                    Origins::GIVEN
                };
                self.push_of_type(&descriptor, origins);
            }
            UseKind::GetField => {
                let object = self.pop(1);
                self.push_of_type(&descriptor, object.with(Origins::GIVEN));
            }
            _ => {
                let value = self.pop(slots(&descriptor));
                self.hand_on(value);
                if kind == UseKind::PutField {
                    self.pop(1);
                }
            }
        }
        Ok(())
    }

    fn bit(&mut self, field: MemberUse) -> Origins {
        let number = self.fields.iter().position(|known| *known == field);
        let number = number.unwrap_or_else(|| {
            self.fields.push(field);
            self.fields.len() - 1
        });
        Origins::field(number)
    }

    fn invoke(&mut self, instruction: &Instruction<'a>) -> Result<(), ReadError> {
        let kind = match instruction.opcode {
            op::INVOKESTATIC => UseKind::InvokeStatic,
            op::INVOKESPECIAL => UseKind::InvokeSpecial,
            op::INVOKEVIRTUAL => UseKind::InvokeVirtual,
            _ => UseKind::InvokeInterface,
        };
        let method = self.member(instruction, kind)?;
        let arguments = self.pop_arguments(&method.member.descriptor);
        let receiver = match kind {
            UseKind::InvokeStatic => Origins::NONE,
            _ => self.pop(1),
        };
        let all = receiver.with(arguments);
        let of_jdk = is_of_jdk(method.owner.as_str());
        if changes_its_receiver(&method) {
            let is_static = kind == UseKind::InvokeStatic;
            self.change(if is_static { all } else { receiver });
            self.hand_on(arguments);
        } else if !of_jdk {
            self.hand_on(all);
        } else if writes_into_arguments(&method.member.name) {
            self.change(all);
        } else if method.member.is_constructor() && Holder::of_class(&method.owner).is_none()
            || takes_function(&method.member.descriptor)
        {
            self.hand_on(all);
        }
        if let Some(result) = result(&method.member.descriptor) {
            let origins = if of_jdk {
                all
            } else if self.is_maker(&method) {
                Origins::NONE
            } else {
                Origins::GIVEN
            };
            self.push_of_type(result, origins);
        }
        Ok(())
    }

    /// A lambda may do anything to what it takes along, and a reference to a
    /// method that changes things does so.
    fn invoke_dynamic(&mut self, instruction: &Instruction<'a>) -> Result<(), ReadError> {
        let offset = self.offset(instruction);
        let index = instruction.constant().unwrap_or_default();
        let pool = &self.class.pool;
        let Constant::InvokeDynamic {
            bootstrap,
            name_and_type,
        } = pool.get(index, offset)?
        else {
            return Ok(());
        };
        let descriptor = pool.name_and_type(name_and_type, offset)?.descriptor;
        let descriptor = decode_modified_utf8(descriptor);
        let taken = self.pop_arguments(&descriptor);
        self.hand_on(taken);
        if self.stands_for_change(bootstrap)? {
            self.change(if taken.is_none() {
                Origins::GIVEN
            } else {
                taken
            });
        }
        if let Some(result) = result(&descriptor) {
            self.push_of_type(result, taken);
        }
        Ok(())
    }

    /// Whether a call site is bound to a method that changes its receiver.
    fn stands_for_change(&self, bootstrap: u16) -> Result<bool, ReadError> {
        let methods = self.class.bootstrap_methods()?;
        let Some(method) = methods.get(bootstrap as usize) else {
            return Ok(false);
        };
        let pool = &self.class.pool;
        for (from, index) in method.arguments.iter() {
            if let Constant::MethodHandle { reference, .. } = pool.get(index, from)? {
                let target = MemberUse::new(UseKind::InvokeVirtual, &pool.member(reference, from)?);
                if changes_its_receiver(&target) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn pop_arguments(&mut self, descriptor: &str) -> Origins {
        let count = parameters(descriptor).map(slots).sum();
        self.pop(count)
    }

    /// Whether the method that is called here is one of the class that makes
    /// what it returns.
    fn is_maker(&self, method: &MemberUse) -> bool {
        matches!(method.kind, UseKind::InvokeStatic | UseKind::InvokeSpecial)
            && method.owner.as_str().as_bytes() == self.class.raw_name()
            && self.makers.contains(&method.member)
    }

    fn member(&self, instruction: &Instruction<'a>, kind: UseKind) -> Result<MemberUse, ReadError> {
        let index = instruction.constant().unwrap_or_default();
        let member = self.class.pool.member(index, self.offset(instruction))?;
        Ok(MemberUse::new(kind, &member))
    }

    fn into_use(self) -> StateUse {
        let of = |origins: Origins| {
            let fields = self.fields.iter().enumerate();
            let of = fields.filter(|(number, _)| origins.has(Origins::field(*number)));
            of.map(|(_, field)| field.clone()).collect()
        };
        StateUse {
            changed: of(self.changed),
            handed_on: of(self.handed_on),
            changes_given: self.changed.has(Origins::GIVEN),
        }
    }
}

fn is_reference(descriptor: &str) -> bool {
    descriptor.starts_with(['L', '['])
}

/// Whether an object of a type of the JDK, which keeps nothing itself, leads to
/// others that can be changed.
fn leads_on(descriptor: &str) -> bool {
    const TYPES: [&str; 5] = [
        "Ljava/lang/Object;",
        "Ljava/lang/Iterable;",
        "Ljava/util/Iterator;",
        "Ljava/util/Optional;",
        "Ljava/util/stream/",
    ];
    TYPES.iter().any(|start| descriptor.starts_with(start))
}

/// Whether a method is given code to run.
fn takes_function(descriptor: &str) -> bool {
    parameters(descriptor).any(|parameter| parameter.starts_with("Ljava/util/function/"))
}
