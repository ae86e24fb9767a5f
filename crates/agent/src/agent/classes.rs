//! Classes as they load, and what their probes and calls tell as they run.

use fewest_classfile::read::{ClassFile, access};
use fewest_model::{ClassName, MethodKey};
use fewest_trace::{ClassEntry, Thing};

use super::{Agent, is_jdk_class, lock};
use crate::config::MethodWindows;
use crate::hooks;
use crate::instrument::{self, ClassBlocks, InstrumentError, Probing};
use crate::jvmti::{Jni, Local};
use crate::registry::PROBES_PER_HOLDER;

impl Agent {
    /// A class of the boot loader: left alone, but for the few of the JDK that
    /// tell about reflection and resources.
    pub(crate) fn boot_class_loads(&self, bytes: &[u8], again: bool) -> Option<Vec<u8>> {
        if !again || !self.config.things {
            return None;
        }
        let class = ClassFile::read(bytes).ok()?;
        if !hooks::JDK_CLASSES.contains(&class.name().as_str()) {
            return None;
        }
        let keys = instrument::method_keys(&class).ok()?;
        instrument::instrument_jdk(&class, &keys).ok()
    }

    /// A class of any other loader: the one that gets probes.
    pub(crate) fn class_loads(&self, jni: Jni<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
        match self.rewrite(jni, bytes) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                self.doubt(&format!("a class could not be rewritten: {error}"));
                None
            }
        }
    }

    fn rewrite(&self, jni: Jni<'_>, bytes: &[u8]) -> Result<Option<Vec<u8>>, InstrumentError> {
        let class = ClassFile::read(bytes)?;
        let name = class.name();
        if is_jdk_class(name.as_str()) || class.is_module() {
            return Ok(None);
        }
        let methods = instrument::method_keys(&class)?;
        let mut blocks = if self.config.blocks {
            ClassBlocks::of(&class)?
        } else {
            ClassBlocks::default()
        };
        let numbers = lock(&self.registry).numbers(&name, &methods, &blocks.methods);
        let probes = lock(&self.registry).probes();
        self.define_holders(jni, probes);
        let statements = if self.config.statements {
            lock(&self.registry).number_statements(&instrument::test_statements(&class, &methods))
        } else {
            Vec::new()
        };
        let probing = Probing {
            statements: &statements,
            numbers,
            things: self.config.things,
            receivers: self.config.receivers,
            methods: self.config.methods != MethodWindows::None,
        };
        let instrumented = instrument::instrument(&class, &methods, probing, &mut blocks)?;
        let mut supertypes = class.interface_names()?;
        supertypes.extend(class.super_name());
        let has_initializer = methods.iter().any(MethodKey::is_static_initializer);
        lock(&self.registry).add_entry(ClassEntry {
            id: numbers.class,
            name: name.clone(),
            first_probe: numbers.first_probe,
            methods,
            supertypes,
            blind: instrumented.blind,
            blocks: blocks.methods,
            statements,
        });
        if has_settable_statics(&class) {
            lock(&self.statics).expect(name.clone(), numbers.class, has_initializer);
        }
        lock(&self.ledger).add_thing(Thing::Defined(name));
        Ok(Some(instrumented.bytes))
    }

    /// Keeps one holder ahead of the numbers given out.
    fn define_holders(&self, jni: Jni<'_>, probes: u32) {
        let needed = probes.div_ceil(PROBES_PER_HOLDER) + 1;
        let mut arrays = lock(&self.probes);
        if arrays.count() < needed && !arrays.define(jni, needed) {
            drop(arrays);
            self.doubt("a class that probes write to could not be defined");
        }
    }

    /// A method ran on an object of a class that it was not yet known for.
    pub(crate) fn received(&self, jni: Jni<'_>, class: Local<'_>, slot: u32) {
        let (slots, probe) = {
            let registry = lock(&self.registry);
            (registry.slots(), registry.probe_of_slot(slot))
        };
        lock(&self.receivers).remember(jni, slots);
        let Some(probe) = probe else {
            return self.doubt("which objects methods run on could not be told");
        };
        let classes = self.named_classes(jni, class);
        let mut ledger = lock(&self.ledger);
        for class in classes {
            ledger.add_thing(Thing::Receiver { class, probe });
        }
    }

    /// A class by its name, or a nameless one by what it extends and
    /// implements: classes of lambdas have no file that could change.
    fn named_classes(&self, jni: Jni<'_>, class: Local<'_>) -> Vec<ClassName> {
        match self.jvmti.class_name(class) {
            Some(name) => vec![ClassName::new(name)],
            None => jni
                .superclass(class)
                .into_iter()
                .chain(self.jvmti.interfaces(jni, class))
                .filter_map(|supertype| self.jvmti.class_name(supertype))
                .map(ClassName::new)
                .collect(),
        }
    }

    /// A statement of a test method begins, and the one before it has ended.
    pub(crate) fn statement_begins(&self, jni: Jni<'_>, statement: u32) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        ledger.begin_statement(statement);
    }

    pub(crate) fn initializer_begins(&self, jni: Jni<'_>, class: u32) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        ledger.begin_initializer(class);
    }

    pub(crate) fn initializer_ends(&self, jni: Jni<'_>, class: u32) {
        let mut ledger = lock(&self.ledger);
        self.add_hits(jni, &mut ledger);
        ledger.end_initializer(class);
        self.statics_initialized(jni, class, &mut ledger);
    }
}

fn has_settable_statics(class: &ClassFile<'_>) -> bool {
    let is_settable = |access: u16| access & (access::STATIC | access::FINAL) == access::STATIC;
    class.fields().iter().any(|field| is_settable(field.access))
}
