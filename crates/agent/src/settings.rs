//! Environment variables and system properties that code reads by name.
//!
//! The calls are watched where they stand, in the classes that get probes. What
//! the JDK reads on its own behalf is part of the environment of a record.
//! Whoever asks for all variables or all properties, or makes a method
//! reference to such a call, may read any of them: the name is then
//! [`EVERYTHING`].

use fewest_classfile::read::{ClassFile, Constant, opcode};

use crate::hooks::Hook;

/// Stands for all names at once.
pub(crate) const EVERYTHING: &str = "*";

/// What stands on the operand stack above the name, before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Above {
    Nothing,
    /// A default that takes one place.
    One,
    /// A default that takes two places: a `long`.
    Two,
    /// There is no name: everything is read.
    NoName,
}

/// A method that reads a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SettingRead {
    pub(crate) hook: Hook,
    pub(crate) above: Above,
}

impl SettingRead {
    fn of(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<Self> {
        let hook = match (class, name) {
            (b"java/lang/System", b"getenv") => Hook::Variable,
            (b"java/lang/System", b"getProperty" | b"getProperties")
            | (b"java/lang/Integer", b"getInteger")
            | (b"java/lang/Long", b"getLong")
            | (b"java/lang/Boolean", b"getBoolean") => Hook::Property,
            _ => return None,
        };
        let parameters = descriptor.strip_prefix(b"(")?;
        let above = match parameters.strip_prefix(b"Ljava/lang/String;") {
            None => Above::NoName,
            Some(rest) if rest.starts_with(b")") => Above::Nothing,
            Some(rest) if rest.starts_with(b"J)") => Above::Two,
            Some(_) => Above::One,
        };
        Some(Self { hook, above })
    }

    /// Code that calls `note(name, null, hook)` and leaves the stack as it was.
    pub(crate) fn code(self, note: u16) -> Vec<u8> {
        let mut code = Vec::new();
        match self.above {
            Above::NoName => code.push(opcode::ACONST_NULL), // Stack: …, null
            Above::Nothing => code.push(opcode::DUP),        // Stack: …, name, name
            // Stack: …, default, name, name
            Above::One => code.extend([opcode::SWAP, opcode::DUP]),
            Above::Two => code.extend([opcode::DUP2_X1, opcode::POP2, opcode::DUP]),
        }
        code.extend([opcode::ACONST_NULL, opcode::BIPUSH, self.hook as u8]);
        code.push(opcode::INVOKESTATIC);
        code.extend(note.to_be_bytes());
        match self.above {
            Above::NoName | Above::Nothing => {}
            // Stack: …, name, default
            Above::One => code.push(opcode::SWAP),
            Above::Two => code.extend([opcode::DUP_X2, opcode::POP]),
        }
        code
    }

    /// How much operand stack [`SettingRead::code`] takes.
    pub(crate) const MAX_STACK: u16 = 4;
}

/// The calls of one class that read settings.
#[derive(Debug, Default)]
pub(crate) struct SettingReads {
    /// By the index of the method reference.
    calls: Vec<(u16, SettingRead)>,
    /// Read by a method that the class refers to without calling it.
    referred: Vec<Hook>,
}

impl SettingReads {
    /// Most classes have none, which the constant pool tells.
    pub(crate) fn of(class: &ClassFile<'_>) -> Self {
        let mut reads = Self::default();
        if is_launcher(class.raw_name()) {
            return reads;
        }
        for (index, constant) in class.pool.iter() {
            if let Constant::Methodref { .. } = constant
                && let Ok(member) = class.pool.member(index, 0)
                && member.name.starts_with(b"get")
                && let Some(read) = SettingRead::of(member.class, member.name, member.descriptor)
            {
                reads.calls.push((index, read));
            }
        }
        if !reads.calls.is_empty() {
            reads.find_references(class);
        }
        reads
    }

    fn find_references(&mut self, class: &ClassFile<'_>) {
        for (_, constant) in class.pool.iter() {
            if let Constant::MethodHandle { reference, .. } = constant
                && let Some(read) = self.call(reference)
                && !self.referred.contains(&read.hook)
            {
                self.referred.push(read.hook);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What to note before an instruction. Any `invokedynamic` of a class that
    /// refers to such a method may be the one that uses the reference.
    pub(crate) fn before(&self, opcode: u8, constant: u16) -> Vec<SettingRead> {
        match opcode {
            opcode::INVOKESTATIC => self.call(constant).into_iter().collect(),
            opcode::INVOKEDYNAMIC => self
                .referred
                .iter()
                .map(|&hook| SettingRead {
                    hook,
                    above: Above::NoName,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    fn call(&self, constant: u16) -> Option<SettingRead> {
        let found = self.calls.iter().find(|(index, _)| *index == constant);
        found.map(|(_, read)| *read)
    }
}

/// Whether a class starts tests for a build tool. Such programs look at all
/// settings, some of which differ in each run, and hand on what tests get.
fn is_launcher(class: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 4] = [
        b"org/apache/maven/surefire/",
        b"org/gradle/",
        b"worker/org/gradle/",
        b"com/intellij/rt/",
    ];
    PREFIXES.iter().any(|prefix| class.starts_with(prefix))
}

/// Whether a property is set by the JDK from what it is and where it runs.
///
/// Its version and home are part of a record's environment, the class path is
/// looked at entry by entry, and the operating system is not what changes
/// under test. What people set, or what differs between users, is not listed:
/// `user.home`, `user.dir`, `user.name`, `user.language`, `user.timezone`,
/// `java.io.tmpdir`, `file.encoding` and the like count.
pub(crate) fn is_given_by_the_jdk(property: &str) -> bool {
    const NAMES: [&str; 11] = [
        "file.separator",
        "java.class.path",
        "java.class.version",
        "java.home",
        "java.version",
        "java.version.date",
        "line.separator",
        "os.arch",
        "os.name",
        "os.version",
        "path.separator",
    ];
    const PREFIXES: [&str; 5] = [
        "java.runtime.",
        "java.specification.",
        "java.vendor",
        "java.vm.",
        "sun.arch.",
    ];
    NAMES.contains(&property) || PREFIXES.iter().any(|prefix| property.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn above(class: &str, name: &str, descriptor: &str) -> Option<(Hook, Above)> {
        SettingRead::of(class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
            .map(|read| (read.hook, read.above))
    }

    #[test]
    fn methods_are_known_by_class_name_and_parameters() {
        let string = "Ljava/lang/String;";
        let system =
            |name, parameters: &str| above("java/lang/System", name, &format!("({parameters})X"));
        assert_eq!(
            system("getenv", string),
            Some((Hook::Variable, Above::Nothing))
        );
        assert_eq!(system("getenv", ""), Some((Hook::Variable, Above::NoName)));
        assert_eq!(
            system("getProperty", &format!("{string}{string}")),
            Some((Hook::Property, Above::One))
        );
        assert_eq!(
            system("getProperties", ""),
            Some((Hook::Property, Above::NoName))
        );
        assert_eq!(system("getLogger", string), None);
        assert_eq!(
            above("java/lang/Long", "getLong", &format!("({string}J)X")),
            Some((Hook::Property, Above::Two))
        );
        assert_eq!(above("p/System", "getenv", "()X"), None);
    }

    #[test]
    fn properties_that_people_set_count() {
        for name in ["user.home", "java.io.tmpdir", "file.encoding", "my.flag"] {
            assert!(!is_given_by_the_jdk(name), "{name}");
        }
        for name in ["java.version", "java.vm.name", "os.name", "line.separator"] {
            assert!(is_given_by_the_jdk(name), "{name}");
        }
    }
}
