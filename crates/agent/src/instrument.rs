//! Puts probes and hooks into a class as it loads.

use fewest_classfile::fingerprint::Options;
use fewest_classfile::graph::Graph;
use fewest_classfile::read::{
    AttributeKind, ClassFile, Member, ReadError, access, opcode, read_annotations,
};
use fewest_classfile::rewrite::{ClassEditor, RewriteError, Snippet, statements};
use fewest_model::MethodKey;
use fewest_trace::{MethodBlocks, MethodStatements};
use thiserror::Error;

use crate::gate;
use crate::holder;
use crate::hooks::{self, Hook, Listen};
use crate::registry::{Numbers, PROBES_PER_HOLDER};
use crate::settings::{SettingRead, SettingReads};

#[derive(Debug, Error)]
pub(crate) enum InstrumentError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
}

/// A class with probes in it.
pub(crate) struct Instrumented {
    pub(crate) bytes: Vec<u8>,
    /// Methods that could not be given a probe, by their place in the class.
    pub(crate) blind: Vec<u16>,
}

/// The methods of a class in their order, by name and descriptor.
pub(crate) fn method_keys(class: &ClassFile<'_>) -> Result<Vec<MethodKey>, ReadError> {
    class
        .methods()
        .iter()
        .map(|method| class.method_key(method))
        .collect()
}

/// The blocks of a class's methods, and where those after the first begin.
#[derive(Debug, Default)]
pub(crate) struct ClassBlocks {
    pub(crate) methods: Vec<MethodBlocks>,
    starts: Vec<Vec<u16>>,
}

impl ClassBlocks {
    pub(crate) fn of(class: &ClassFile<'_>) -> Result<Self, ReadError> {
        let mut blocks = Self::default();
        for method in class.methods() {
            let graph = Graph::of(class, method, Options::default())?;
            let starts: Vec<u16> = graph
                .iter()
                .flat_map(|graph| graph.blocks.iter().skip(1))
                .map(|block| block.code.start as u16)
                .collect();
            blocks.methods.push(MethodBlocks {
                count: graph.as_ref().map_or(0, |graph| graph.blocks.len() as u16),
                flow: graph.as_ref().map_or(0, Graph::flow),
                probed: graph.is_some(),
            });
            blocks.starts.push(starts);
        }
        Ok(blocks)
    }

    /// Where the probed blocks of a method begin.
    fn starts(&self, method: usize) -> &[u16] {
        match self.methods.get(method) {
            Some(blocks) if blocks.probed => &self.starts[method],
            _ => &[],
        }
    }

    /// The number of the first block probe of each method.
    fn first_probes(&self, numbers: Numbers) -> Vec<u32> {
        let mut next = numbers.first_probe + self.methods.len() as u32;
        let first = |blocks: &MethodBlocks| {
            let first = next;
            next += blocks.probes();
            first
        };
        self.methods.iter().map(first).collect()
    }
}

/// What to put into classes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probing<'a> {
    pub(crate) statements: &'a [MethodStatements],
    pub(crate) numbers: Numbers,
    pub(crate) things: bool,
    pub(crate) receivers: bool,
    pub(crate) methods: bool,
}

/// Puts a probe at the entry of every method and at the start of `blocks`,
/// watches the static initializer, and listens where a test framework runs
/// tests and where settings are read. A method that is too large for probes in
/// its blocks goes without, which `blocks` then says.
pub(crate) fn instrument(
    class: &ClassFile<'_>,
    keys: &[MethodKey],
    probing: Probing<'_>,
    blocks: &mut ClassBlocks,
) -> Result<Instrumented, InstrumentError> {
    let instrumented = instrument_once(class, keys, probing, blocks)?;
    let mut again = false;
    for &method in &instrumented.blind {
        if let Some(blocks) = blocks.methods.get_mut(method as usize) {
            again |= std::mem::take(&mut blocks.probed);
        }
    }
    if again {
        instrument_once(class, keys, probing, blocks)
    } else {
        Ok(instrumented)
    }
}

fn instrument_once(
    class: &ClassFile<'_>,
    keys: &[MethodKey],
    probing: Probing<'_>,
    blocks: &ClassBlocks,
) -> Result<Instrumented, InstrumentError> {
    let Probing {
        numbers, things, ..
    } = probing;
    let first_block_probes = blocks.first_probes(numbers);
    let mut editor = Editor::new(class);
    let settings = if things {
        SettingReads::of(class)
    } else {
        SettingReads::default()
    };
    let name = class.name();
    for (index, (method, key)) in class.methods().iter().zip(keys).enumerate() {
        if class.attribute_of(method, AttributeKind::Code).is_none() {
            continue;
        }
        let probe = editor.probe(numbers.first_probe + index as u32)?;
        editor.inner.insert_at_entry(index, probe)?;
        for (&start, number) in blocks
            .starts(index)
            .iter()
            .zip(first_block_probes.get(index).copied().unwrap_or_default()..)
        {
            let probe = editor.probe(number)?;
            editor.inner.insert_before(index, start, probe)?;
        }
        if probing.receivers && is_looked_up(class, method, key) {
            editor.tell_receiver(index, numbers.first_slot + index as u32)?;
        }
        if key.is_static_initializer() && method.is_static() {
            editor.watch_initializer(index, numbers.class)?;
        }
        if let Some((hook, listen)) =
            hooks::framework_hook(name.as_str(), &key.name, &key.descriptor)
            && method.access & access::ABSTRACT == 0
            && (probing.methods || !hook.is_of_method_alone())
        {
            editor.listen(index, method, hook, listen)?;
        }
        if !settings.is_empty() {
            editor.watch_settings(index, class, method, &settings)?;
        }
    }
    for &told in probing.statements {
        editor.tell_statements(class, told)?;
    }
    let rewritten = editor.inner.finish_what_fits();
    let blind = rewritten
        .left_alone
        .iter()
        .map(|left| left.method as u16)
        .collect();
    Ok(Instrumented {
        bytes: rewritten.bytes,
        blind,
    })
}

/// The test methods whose statements can be told apart, with how many they
/// have: those of straight code that frameworks know by annotation or name.
pub(crate) fn test_statements(class: &ClassFile<'_>, keys: &[MethodKey]) -> Vec<(u16, u16)> {
    let mut found = Vec::new();
    for (index, (method, key)) in class.methods().iter().zip(keys).enumerate() {
        let by_name = key.name.starts_with("test") && &*key.descriptor == "()V";
        if (by_name || has_test_annotation(class, method))
            && !method.is_static()
            && let Some(statements) = statements(class, method)
        {
            found.push((index as u16, statements.len() as u16));
        }
    }
    found
}

/// Whether a method has an annotation that is called `Test` in its framework.
fn has_test_annotation(class: &ClassFile<'_>, method: &Member) -> bool {
    class
        .attribute_of(method, AttributeKind::RuntimeVisibleAnnotations)
        .and_then(|attribute| read_annotations(&mut attribute.cursor()).ok())
        .into_iter()
        .flatten()
        .filter_map(|annotation| {
            let pool = &class.pool;
            pool.utf8(annotation.type_descriptor, annotation.offset)
                .ok()
        })
        .any(|descriptor| descriptor.ends_with(b"/Test;"))
}

/// Listens in a class of the JDK.
pub(crate) fn instrument_jdk(
    class: &ClassFile<'_>,
    keys: &[MethodKey],
) -> Result<Vec<u8>, InstrumentError> {
    let mut editor = Editor::new(class);
    let name = class.name();
    for (index, (method, key)) in class.methods().iter().zip(keys).enumerate() {
        if let Some((hook, listen)) = hooks::jdk_hook(name.as_str(), &key.name, &key.descriptor)
            && class.attribute_of(method, AttributeKind::Code).is_some()
        {
            editor.listen(index, method, hook, listen)?;
        }
    }
    Ok(editor.inner.finish()?)
}

/// Whether which object a method runs on decides that it is this method. Where
/// nothing can override it, the class that declares it says all.
fn is_looked_up(class: &ClassFile<'_>, method: &Member, key: &MethodKey) -> bool {
    let fixed = access::STATIC | access::PRIVATE | access::FINAL;
    method.access & fixed == 0 && class.access & access::FINAL == 0 && !key.is_constructor()
}

/// Code that loads an object from a local, or null.
fn load(local: Option<u8>) -> Vec<u8> {
    match local {
        Some(local) => vec![opcode::ALOAD, local],
        None => vec![opcode::ACONST_NULL],
    }
}

struct Editor<'a> {
    inner: ClassEditor<'a>,
}

impl<'a> Editor<'a> {
    fn new(class: &'a ClassFile<'a>) -> Self {
        Self {
            inner: ClassEditor::new(class),
        }
    }

    fn probe(&mut self, probe: u32) -> Result<Snippet, RewriteError> {
        let holder = holder::probes_name(probe / PROBES_PER_HOLDER);
        let (field, descriptor) = holder::PROBES_FIELD;
        let array =
            self.inner
                .field_ref(holder.as_bytes(), field.as_bytes(), descriptor.as_bytes())?;
        let id = (probe % PROBES_PER_HOLDER) as i16;
        Ok(Snippet::probe(array, id))
    }

    /// `statement(number)` before each statement of a method.
    fn tell_statements(
        &mut self,
        class: &ClassFile<'_>,
        told: MethodStatements,
    ) -> Result<(), RewriteError> {
        let index = told.method as usize;
        let method = class.methods().get(index);
        let statements = method.and_then(|method| statements(class, method));
        for (statement, number) in statements.into_iter().flatten().zip(told.first..) {
            let target = self.gate("statement", "(I)V")?;
            let number = self.inner.integer(number as i32)?;
            let mut code = vec![opcode::LDC_W];
            code.extend(number.to_be_bytes()); // Stack: int
            code.push(opcode::INVOKESTATIC);
            code.extend(target.to_be_bytes()); // Stack: empty
            let snippet = Snippet::straight(code, 1);
            self.inner.insert_before(index, statement.start, snippet)?;
        }
        Ok(())
    }

    /// `receiver(this, slot)` at the entry of a method.
    fn tell_receiver(&mut self, method: usize, slot: u32) -> Result<(), RewriteError> {
        let (name, descriptor) = gate::RECEIVER;
        let target = self.inner.method_ref(
            gate::GATE.as_bytes(),
            name.as_bytes(),
            descriptor.as_bytes(),
            false,
        )?;
        let slot = self.inner.integer(slot as i32)?;
        let mut code = vec![opcode::ALOAD_0, opcode::LDC_W]; // Stack: Object
        code.extend(slot.to_be_bytes()); // Stack: Object, int
        code.push(opcode::INVOKESTATIC);
        code.extend(target.to_be_bytes()); // Stack: empty
        code.push(opcode::NOP); // Padding keeps the insertion on the cheap path.
        self.inner
            .insert_at_entry(method, Snippet::straight(code, 2))
    }

    fn watch_initializer(&mut self, method: usize, class: u32) -> Result<(), RewriteError> {
        let class = self.inner.integer(class as i32)?;
        let call = |editor: &mut Self, gate: &str| {
            let target = editor.gate(gate, "(I)V")?;
            let mut code = vec![opcode::LDC_W];
            code.extend(class.to_be_bytes());
            code.push(opcode::INVOKESTATIC);
            code.extend(target.to_be_bytes());
            Ok::<_, RewriteError>(Snippet::straight(code, 1))
        };
        let begin = call(self, "beginInitializer")?;
        let end = call(self, "endInitializer")?;
        self.inner.insert_at_entry(method, begin)?;
        self.inner.on_exit(method, end.clone(), end, false)
    }

    fn watch_settings(
        &mut self,
        index: usize,
        class: &ClassFile<'_>,
        method: &Member,
        settings: &SettingReads,
    ) -> Result<(), InstrumentError> {
        let Some(code) = class.code(method)? else {
            return Ok(());
        };
        for instruction in code.instructions() {
            let instruction = instruction?;
            let Some(constant) = instruction.constant() else {
                continue;
            };
            for read in settings.before(instruction.opcode, constant) {
                let note = self.gate("note", "(Ljava/lang/Object;Ljava/lang/Object;I)V")?;
                let snippet = Snippet::straight(read.code(note), SettingRead::MAX_STACK);
                self.inner.insert_before(index, instruction.pc, snippet)?;
            }
        }
        Ok(())
    }

    fn listen(
        &mut self,
        index: usize,
        method: &Member,
        hook: Hook,
        listen: Listen,
    ) -> Result<(), RewriteError> {
        debug_assert!(
            method.access & access::STATIC == 0 || !matches!(listen, Listen::AtWithNumber { .. })
        );
        match listen {
            Listen::Around { subject, listener } => {
                let on_return = self.exit(hook as i8)?;
                let on_throw = self.exit(hook.when_thrown())?;
                let enter = self.enter(subject, listener, hook)?;
                self.inner.insert_at_entry(index, enter)?;
                self.inner.on_exit(index, on_return, on_throw, false)
            }
            Listen::At { first, .. } if hook == Hook::Reflected => self.reflected(index, first),
            Listen::At { first, second } => {
                let second = load(second);
                let number = vec![opcode::BIPUSH, hook as u8];
                self.note(index, first, second, number)
            }
            Listen::AtWithNumber { first, number } => {
                let number = vec![
                    opcode::BIPUSH,
                    hook as u8,
                    opcode::ILOAD,
                    number,
                    opcode::IADD,
                ];
                self.note(index, first, vec![opcode::ACONST_NULL], number)
            }
        }
    }

    /// `reflected(class)` at the entry of a method.
    fn reflected(&mut self, method: usize, class: u8) -> Result<(), RewriteError> {
        let (name, descriptor) = gate::REFLECTED;
        let target = self.inner.method_ref(
            gate::GATE.as_bytes(),
            name.as_bytes(),
            descriptor.as_bytes(),
            false,
        )?;
        let mut code = vec![opcode::ALOAD, class, opcode::INVOKESTATIC]; // Stack: Class
        code.extend(target.to_be_bytes()); // Stack: empty
        // Padding keeps the insertion on the cheap path.
        code.extend([opcode::NOP; 3]);
        self.inner
            .insert_at_entry(method, Snippet::straight(code, 1))
    }

    /// `note(first, second, number)` at the entry of a method.
    fn note(
        &mut self,
        method: usize,
        first: u8,
        second: Vec<u8>,
        number: Vec<u8>,
    ) -> Result<(), RewriteError> {
        let target = self.gate("note", "(Ljava/lang/Object;Ljava/lang/Object;I)V")?;
        let mut code = vec![opcode::ALOAD, first]; // Stack: Object
        code.extend(second); // Stack: Object, Object
        code.extend(number); // Stack: Object, Object, int
        code.push(opcode::INVOKESTATIC);
        code.extend(target.to_be_bytes()); // Stack: empty
        // Padding keeps the insertion on the cheap path.
        while code.len() % 4 != 0 {
            code.push(opcode::NOP);
        }
        self.inner
            .insert_at_entry(method, Snippet::straight(code, 4))
    }

    fn enter(
        &mut self,
        subject: u8,
        listener: Option<u8>,
        hook: Hook,
    ) -> Result<Snippet, RewriteError> {
        let target = self.gate("enter", "(Ljava/lang/Object;Ljava/lang/Object;I)Z")?;
        let mut code = vec![opcode::ALOAD, subject]; // Stack: Object
        code.extend(load(listener)); // Stack: Object, Object
        code.extend([opcode::BIPUSH, hook as u8, opcode::INVOKESTATIC]);
        code.extend(target.to_be_bytes()); // Stack: boolean
        if !hook.may_leave_out() {
            code.push(opcode::POP);
            return Ok(Snippet::straight(code, 3));
        }
        // if (enter(…)) return;
        code.extend([opcode::IFEQ, 0, 4, opcode::RETURN]);
        Ok(Snippet {
            code,
            max_stack: 3,
            frame_after: true,
        })
    }

    fn exit(&mut self, number: i8) -> Result<Snippet, RewriteError> {
        let target = self.gate("exit", "(I)V")?;
        let mut code = vec![opcode::BIPUSH, number.cast_unsigned(), opcode::INVOKESTATIC];
        code.extend(target.to_be_bytes());
        Ok(Snippet::straight(code, 1))
    }

    fn gate(&mut self, name: &str, descriptor: &str) -> Result<u16, RewriteError> {
        debug_assert!(gate::GATE_METHODS.contains(&(name, descriptor)));
        self.inner.method_ref(
            gate::GATE.as_bytes(),
            name.as_bytes(),
            descriptor.as_bytes(),
            false,
        )
    }
}
