//! What a trace can say.

use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use fewest_model::{ClassName, MethodKey, Outcome};
use serde::{Deserialize, Serialize};

/// One entry of a trace, in the order in which things happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The JVM; the first event.
    Jvm(Jvm),
    /// A class got its numbers.
    Class(ClassEntry),
    /// A thing that is no method got its number.
    Thing { id: u32, thing: Thing },
    /// A test class or method begins.
    Opened(WindowOpen),
    /// A test class or method has ended.
    Closed(WindowClose),
    /// What threads that a test left behind used after it had ended.
    Late { window: u32, uses: Uses },
    /// What a statement of a test method used, and the windows that were open
    /// when it began: with more tests open than its own, it may say too much.
    Statement {
        statement: u32,
        windows: Vec<u32>,
        uses: Uses,
    },
    /// What the static initializer of a class used.
    Initialized { class: u32, uses: Uses },
    /// What was used while no test was running.
    Ambient { uses: Uses },
    /// A test class that was not run because it cannot be affected.
    LeftOut { class: ClassName },
    /// Something that takes away the proof: of one window, or of all.
    Doubt { window: Option<u32>, why: String },
    /// Static fields that code can set, and that are looked at from here on.
    Watched {
        class: ClassName,
        fields: Vec<Arc<str>>,
    },
    /// The window of a class has closed, and no other was open while it was.
    /// Those of the fields watched so far that are not as they were are named.
    Left {
        window: u32,
        fields: Vec<(ClassName, Arc<str>)>,
    },
    /// The JVM ended in an orderly way. Classes that were loaded from outside
    /// of the JDK without passing the agent are named.
    End { unseen: Vec<ClassName> },
}

/// The JVM that wrote the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jvm {
    pub pid: u32,
    /// Milliseconds since 1970.
    pub started_at: u64,
    pub java_home: String,
    pub java_version: String,
    pub class_path: Vec<String>,
    pub working_directory: String,
    /// The windows of another JVM that this one was started in.
    pub parent: Option<ParentWindows>,
    /// Whether it tells on which objects methods ran, and which blocks of
    /// methods.
    pub receivers: bool,
    pub blocks: bool,
}

/// Windows in the trace of the JVM that started this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentWindows {
    /// File name of the parent's trace.
    pub trace: String,
    pub windows: Vec<u32>,
}

/// A class and the numbers of its methods' probes, which follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassEntry {
    pub id: u32,
    pub name: ClassName,
    pub first_probe: u32,
    pub methods: Vec<MethodKey>,
    /// Its superclass and interfaces: what a class that no file defines, such
    /// as a mock, leads to.
    pub supertypes: Vec<ClassName>,
    /// Methods that could not be given a probe: whoever uses the class has to
    /// be taken for one that runs them.
    pub blind: Vec<u16>,
    /// The blocks of each method, where they have probes: those of the first
    /// method follow the probes of the last, and so on. A method's first block
    /// has none, since it runs whenever the method does.
    pub blocks: Vec<MethodBlocks>,
    /// The methods whose statements are told apart.
    pub statements: Vec<MethodStatements>,
}

/// The statements of a test method, which have numbers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodStatements {
    /// The method's place in its class.
    pub method: u16,
    pub first: u32,
    pub count: u16,
}

/// The blocks of a method, as far as a trace tells of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodBlocks {
    /// How many there are; 0 for a method without code.
    pub count: u16,
    /// Stands for how they lead to each other. Another agent may have changed
    /// the code before ours saw it.
    pub flow: u32,
    /// Whether they have probes. A method may be too large for them.
    pub probed: bool,
}

impl ClassEntry {
    /// How many numbers the class has.
    pub fn probes(&self) -> u32 {
        let blocks = self.blocks.iter().map(MethodBlocks::probes);
        self.methods.len() as u32 + blocks.sum::<u32>()
    }

    /// The method that a probe is in, and the block, but for one at a method's
    /// entry. `None` for a probe of another class.
    pub fn place(&self, probe: u32) -> Option<(&MethodKey, Option<usize>)> {
        let number = probe.checked_sub(self.first_probe)?;
        let Some(mut number) = number.checked_sub(self.methods.len() as u32) else {
            return Some((&self.methods[number as usize], None));
        };
        for (method, blocks) in self.methods.iter().zip(&self.blocks) {
            match number.checked_sub(blocks.probes()) {
                Some(rest) => number = rest,
                None => return Some((method, Some(number as usize + 1))),
            }
        }
        None
    }
}

impl MethodBlocks {
    /// How many numbers its blocks have.
    pub fn probes(&self) -> u32 {
        u32::from(self.count).saturating_sub(1)
    }
}

/// A thing that can be used and is no method.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Thing {
    /// A class whose members or annotations were looked at.
    Reflected(ClassName),
    /// A class that was looked up by name, found or not.
    Named(ClassName),
    /// A class that was defined.
    Defined(ClassName),
    /// A name that was looked up on the class path.
    Resource(Arc<str>),
    /// A file that was read or asked about, by its absolute path.
    File {
        path: Arc<str>,
        stamp: FileStamp,
    },
    /// A directory that was listed, by its absolute path.
    Listing(Arc<str>),
    Variable(Arc<str>),
    Property(Arc<str>),
    /// A program that was started and cannot be looked into.
    Program(Arc<str>),
    /// The method of a probe ran on an object of a class.
    Receiver {
        class: ClassName,
        probe: u32,
    },
}

/// How a file was when it was first looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FileStamp {
    Absent,
    Directory,
    File {
        size: u64,
        modified_nanos: i64,
    },
    /// It is there, and neither file nor directory: a device, a pipe.
    Other,
}

impl FileStamp {
    /// How a file is now. Links are followed.
    pub fn of(path: &Path) -> Self {
        let Ok(metadata) = std::fs::metadata(path) else {
            return Self::Absent;
        };
        if metadata.is_dir() {
            return Self::Directory;
        }
        if !metadata.is_file() {
            return Self::Other;
        }
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self::File {
            size: metadata.len(),
            modified_nanos: modified.map_or(0, |time| time.as_nanos() as i64),
        }
    }
}

/// A test class, or a method of one, begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowOpen {
    pub window: u32,
    /// The outermost class.
    pub class: ClassName,
    pub method: Option<Arc<str>>,
    /// Milliseconds since the JVM started.
    pub at: u64,
}

/// A test class, or a method of one, has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowClose {
    pub window: u32,
    pub outcome: Outcome,
    pub millis: u64,
    /// How many tests ended in it.
    pub tests: u32,
    pub uses: Uses,
    /// Threads that it started live on: an [`Event::Late`] follows.
    pub lingers: bool,
}

/// Numbers of what was used, each list sorted and without repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uses {
    #[serde(with = "crate::deltas")]
    pub probes: Vec<u32>,
    #[serde(with = "crate::deltas")]
    pub things: Vec<u32>,
}

impl Uses {
    pub fn is_empty(&self) -> bool {
        self.probes.is_empty() && self.things.is_empty()
    }
}
