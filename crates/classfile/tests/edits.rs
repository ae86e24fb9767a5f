//! Random edits change the fingerprints they should, and no other.
//!
//! Every edit says itself which parts it changes; that is what the reference
//! of fingerprints promises, written down a second time and without any look
//! at how fingerprints are taken. Edits never undo each other: code and tables
//! grow, numbers are counted up, flags are only set. So what a sequence of
//! edits changes is what its members change, taken together.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::sync::LazyLock;

use fewest_classfile::changes::{Change, ChangeType, compare};
use fewest_classfile::fingerprint::{ClassFingerprints, DebugInfo, Fingerprinter, Options};
use fewest_classfile::read::{
    Attribute, AttributeKind, ClassFile, Code, ConstantTag, ElementValue, Member, access, opcode,
    read_annotations, read_element_value, read_parameter_annotations,
};
use fewest_classfile::rewrite::{Around, ClassEditor, RewriteErrorKind, Snippet};
use fewest_model::MethodKey;
use fewest_testkit::{Compilation, Javac, Jdk, TestProject};
use proptest::prelude::*;

/// Numbers beyond 65535 stand in the constant pool.
const FOR_ALL: &str = r#"
    package p;

    import java.lang.annotation.*;
    import java.util.function.*;

    @Retention(RetentionPolicy.RUNTIME)
    @interface Seen { int value() default 100_001; long[] more() default { 7L }; }

    @Retention(RetentionPolicy.CLASS)
    @interface Hidden { int value(); }

    interface Shape {
        int SIDES = 100_003;
        int area(int by);
        default int twice(int by) { return area(by) * 2 + SIDES; }
        static Shape unit() { return by -> by + 100_005; }
    }

    enum Colour {
        RED { int weight() { return 100_006; } }, GREEN, BLUE;
        int weight() {
            switch (this) {
                case RED: return 1;
                case GREEN: return 100_007;
                default: return ordinal();
            }
        }
    }

    abstract class Chooser<T extends Comparable<T>> {
        protected abstract T pick(T one, T other);
        T least(Iterable<? extends T> all, T first) {
            T least = first;
            for (T one : all) {
                least = pick(least, one);
            }
            return least;
        }
    }

    @Seen(100_009) @Hidden(100_011)
    class Worker extends Chooser<String> implements Shape {
        static final int LIMIT = 100_013;
        static final long FAR = 1L << 40;
        static final double RATE = 2.5;
        static final int[] TABLE = new int[10];
        @Seen(100_015) @Hidden(100_017) protected int count;
        private final String name;

        static {
            for (int i = 0; i < TABLE.length; i++) {
                TABLE[i] = i * 100_019;
            }
        }

        Worker(String name) { this.name = name == null ? "none" : name; }
        public Worker() { this("worker"); }

        @Override public int area(int by) {
            try {
                return LIMIT / by;
            } catch (ArithmeticException e) {
                return 100_021;
            } finally {
                count++;
            }
        }

        @Override protected String pick(String one, String other) {
            return one.compareTo(other) < 0 ? one : other;
        }

        public synchronized long sum(int... values) {
            long sum = FAR;
            for (int i = 0; i < values.length; i++) {
                sum += values[i];
            }
            return sum;
        }

        public native float outside(long much, Object what);

        private int secret(int x) {
            int steps = 0;
            while (x > 100_023) {
                x /= 2;
                steps++;
            }
            return steps;
        }

        static int kind(String text) {
            switch (text) {
                case "one": return 1;
                case "two": return 100_025;
                default: return text.length();
            }
        }

        Supplier<Integer> later(int x) { return () -> secret(x) + 100_027; }

        @Deprecated @Seen(value = 100_029, more = { 3L, 5L }) @Hidden(100_031)
        Object labelled(@Seen(100_033) Object what, double by) throws Exception {
            synchronized (this) {
                Object made = new Object() { public String toString() { return name + what; } };
                return by > RATE ? made : new int[2][3];
            }
        }
    }
"#;

const FOR_NEW: &str = r#"
    package p;

    record Point(@Seen(100_035) int x, long y) implements Comparable<Point> {
        static final float SCALE = 0.5f;
        Point {
            if (x < 0) throw new IllegalArgumentException("below 0: " + x);
        }
        @Override public int compareTo(Point other) { return Integer.compare(x, other.x); }
        String shown() { return "point " + x * SCALE + " " + (y + 100_037L); }
    }

    sealed interface Tree permits Leaf, Node {}
    final class Leaf implements Tree {}
    final class Node implements Tree {
        Tree left, right;
        int depth(Tree tree) {
            int depth = 0;
            for (; tree instanceof Node node; tree = node.left) { depth++; }
            return depth;
        }
    }
"#;

/// Classes as of Java 8 and of Java 17, which nest, concatenate and call
/// private methods in different ways.
static CLASSES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let jdk = Jdk::all()
        .into_iter()
        .find(|jdk| jdk.feature_version() >= 17)
        .expect("a JDK of 17 or newer is installed");
    let common = [
        "-g",
        "-proc:none",
        "-Xlint:-options",
        "-nowarn",
        "--release",
    ];
    let old = Compilation::new()
        .source("p/Worker.java", FOR_ALL)
        .options(common)
        .options(["8"]);
    let new = Compilation::new()
        .source("p/Worker.java", FOR_ALL)
        .source("p/Point.java", FOR_NEW)
        .options(common)
        .options(["17"]);
    let project = TestProject::new();
    let folders = [project.path("8"), project.path("17")];
    Javac::new(&jdk)
        .compile_all([(&old, folders[0].as_path()), (&new, folders[1].as_path())])
        .expect("the fixtures compile");
    let mut files: Vec<_> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder.join("p")).expect("the package"))
        .map(|entry| entry.expect("a class file").path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| fs::read(file).expect("a class file"))
        .collect()
});

/// What differs between two versions of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    head: bool,
    shape: bool,
    class: bool,
    changed: BTreeSet<MethodKey>,
    added: BTreeSet<MethodKey>,
    gone: BTreeSet<MethodKey>,
}

impl Parts {
    fn none() -> Self {
        Self::default()
    }

    /// The head, and what is made of it.
    fn head() -> Self {
        Self {
            head: true,
            shape: true,
            class: true,
            ..Self::default()
        }
    }

    /// One method, and what is made of it.
    fn method(key: MethodKey) -> Self {
        Self {
            class: true,
            changed: BTreeSet::from([key]),
            ..Self::default()
        }
    }

    fn with_shape(mut self, shape: bool) -> Self {
        self.shape |= shape;
        self
    }

    fn with_added(mut self, key: MethodKey) -> Self {
        self.added.insert(key);
        self
    }

    fn and(mut self, other: Self) -> Self {
        self.head |= other.head;
        self.shape |= other.shape;
        self.class |= other.class;
        self.added.extend(other.added);
        self.changed.extend(other.changed);
        // A change to what came meanwhile is no change to what was.
        self.changed.retain(|key| !self.added.contains(key));
        self
    }

    fn between(old: &ClassFingerprints, new: &ClassFingerprints) -> Self {
        let keys = |class: &ClassFingerprints| -> BTreeSet<MethodKey> {
            class.methods.iter().map(|one| one.key.clone()).collect()
        };
        let content = |class: &ClassFingerprints, key: &MethodKey| {
            let method = class.methods.iter().find(|one| one.key == *key);
            method.map(|method| method.fingerprint)
        };
        let (before, after) = (keys(old), keys(new));
        Self {
            head: old.head != new.head,
            shape: old.shape != new.shape,
            class: old.class != new.class,
            changed: before
                .intersection(&after)
                .filter(|key| content(old, key) != content(new, key))
                .cloned()
                .collect(),
            added: after.difference(&before).cloned().collect(),
            gone: before.difference(&after).cloned().collect(),
        }
    }
}

/// What an edit changes.
#[derive(Clone, Debug, Default)]
struct Effect {
    always: Parts,
    /// What it changes beyond that if debug information counts.
    tracked: Parts,
}

impl Effect {
    fn debug(tracked: Parts) -> Self {
        Self {
            always: Parts::none(),
            tracked,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            always: self.always.and(other.always),
            tracked: self.tracked.and(other.tracked),
        }
    }

    fn expected(&self, debug_info: DebugInfo) -> Parts {
        match debug_info {
            DebugInfo::Ignore => self.always.clone(),
            DebugInfo::Track => self.always.clone().and(self.tracked.clone()),
        }
    }
}

impl From<Parts> for Effect {
    fn from(always: Parts) -> Self {
        Self {
            always,
            tracked: Parts::none(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    // Through the rewriter.
    LayOut,
    UnusedConstants,
    NopsAtEntry,
    ProbeAtEntry,
    NopsBefore,
    ConstantBefore,
    OnExit,
    Delete,
    Wrap,
    // Byte by byte.
    SwapMethods,
    MoveLines,
    RenameVariable,
    DropDebugTables,
    RenameSource,
    Number,
    CatchAll,
    MethodFlag,
    MakePrivate,
    MakeStatic,
    ClassFlag,
    Version,
    AddField,
    AddNeutralAttribute,
    AddCountingAttribute,
}

const BY_REWRITER: [Kind; 9] = [
    Kind::LayOut,
    Kind::UnusedConstants,
    Kind::NopsAtEntry,
    Kind::ProbeAtEntry,
    Kind::NopsBefore,
    Kind::ConstantBefore,
    Kind::OnExit,
    Kind::Delete,
    Kind::Wrap,
];

const BY_BYTES: [Kind; 15] = [
    Kind::SwapMethods,
    Kind::MoveLines,
    Kind::RenameVariable,
    Kind::DropDebugTables,
    Kind::RenameSource,
    Kind::Number,
    Kind::CatchAll,
    Kind::MethodFlag,
    Kind::MakePrivate,
    Kind::MakeStatic,
    Kind::ClassFlag,
    Kind::Version,
    Kind::AddField,
    Kind::AddNeutralAttribute,
    Kind::AddCountingAttribute,
];

/// An edit, and where to make it: places are taken modulo how many there are.
#[derive(Clone, Copy, Debug)]
struct Edit {
    kind: Kind,
    /// Which method, field or constant.
    member: usize,
    /// Which instruction, flag, entry or other method.
    detail: usize,
    amount: u8,
}

fn edits(kinds: &[Kind], count: Range<usize>) -> impl Strategy<Value = Vec<Edit>> + use<> {
    let edit = (
        prop::sample::select(kinds.to_vec()),
        any::<u16>(),
        any::<u16>(),
        1..40_u8,
    )
        .prop_map(|(kind, member, detail, amount)| Edit {
            kind,
            member: member.into(),
            detail: detail.into(),
            amount,
        });
    prop::collection::vec(edit, count)
}

/// Makes an edit, or says that the class has no place for it. `serial` keeps
/// new names apart.
fn apply(bytes: &[u8], edit: Edit, serial: usize) -> Option<(Vec<u8>, Effect)> {
    let class = ClassFile::read(bytes).unwrap();
    if BY_REWRITER.contains(&edit.kind) {
        let mut editor = ClassEditor::new(&class);
        let effect = rewrite(&mut editor, &class, edit, serial)?;
        return Some((finish(editor), effect.into()));
    }
    match edit.kind {
        Kind::SwapMethods => swap_methods(&class, edit),
        Kind::MoveLines => move_lines(&class, edit),
        Kind::RenameVariable => rename_variable(&class, edit, serial),
        Kind::DropDebugTables => drop_debug_tables(&class, edit),
        Kind::RenameSource => rename_source(&class, serial),
        Kind::Number => change_number(&class, edit),
        Kind::CatchAll => catch_all(&class, edit),
        Kind::MethodFlag | Kind::MakePrivate | Kind::MakeStatic => change_flags(&class, edit),
        Kind::ClassFlag => {
            let flags = class.access | access::SYNTHETIC;
            let bytes = patched(bytes, class.access_offset, flags);
            (class.access != flags).then(|| (bytes, Parts::head().into()))
        }
        Kind::Version => {
            let minor = class.minor + u16::from(edit.amount);
            Some((patched(bytes, 4, minor), Parts::head().into()))
        }
        Kind::AddField => Some(add_field(bytes, serial)),
        _ => add_attribute(bytes, edit, serial),
    }
}

fn finish(editor: ClassEditor<'_>) -> Vec<u8> {
    editor
        .finish()
        .unwrap_or_else(|error| panic!("{error}: {}", error.kind))
}

fn pick<T>(all: &[T], place: usize) -> Option<&T> {
    all.get(place.checked_rem(all.len())?)
}

fn key(class: &ClassFile<'_>, method: &Member) -> MethodKey {
    class.method_key(method).unwrap()
}

/// Whether a search for a method can end at this one.
fn takes_part_in_lookup(class: &ClassFile<'_>, method: &Member) -> bool {
    !method.is_private() && !method.is_static() && !is_initializer(class, method)
}

fn is_initializer(class: &ClassFile<'_>, method: &Member) -> bool {
    let key = key(class, method);
    key.is_constructor() || key.is_static_initializer()
}

/// Makes one of the edits that the rewriter offers.
fn rewrite(
    editor: &mut ClassEditor<'_>,
    class: &ClassFile<'_>,
    edit: Edit,
    serial: usize,
) -> Option<Parts> {
    match edit.kind {
        Kind::UnusedConstants => {
            editor
                .string(format!("unused {serial}").as_bytes())
                .unwrap();
            editor.long(i64::from(edit.amount) << 50).unwrap();
            return Some(Parts::none());
        }
        Kind::Wrap => return wrap(editor, class, edit, serial),
        _ => {}
    }
    let (method, code) = pick_code(class, edit.member)?;
    let nops = Snippet::straight(vec![opcode::NOP; edit.amount.into()], 0);
    match edit.kind {
        Kind::LayOut => {
            editor.lay_out(method).unwrap();
            return Some(Parts::none());
        }
        Kind::NopsAtEntry => editor.insert_at_entry(method, nops),
        Kind::ProbeAtEntry => {
            let hits = editor.field_ref(b"p/Hits", b"A", b"[B").unwrap();
            editor.insert_at_entry(method, Snippet::probe(hits, edit.amount.into()))
        }
        Kind::NopsBefore => editor.insert_before(method, place(&code, edit.detail)?, nops),
        Kind::ConstantBefore => {
            let number = editor.integer(1_000_000 + i32::from(edit.amount)).unwrap();
            let [high, low] = number.to_be_bytes();
            let snippet = Snippet::straight(vec![opcode::LDC_W, high, low, opcode::POP], 1);
            editor.insert_before(method, place(&code, edit.detail)?, snippet)
        }
        Kind::OnExit => editor.on_exit(method, nops.clone(), nops, false),
        _ => editor.delete(method, deletable(class, method, &code, edit.detail)?),
    }
    .unwrap();
    Some(Parts::method(key(class, &class.methods()[method])))
}

/// The method under the old name is another one, the old one comes under a new
/// name. Callers see no difference, unless it was native or synchronized.
fn wrap(
    editor: &mut ClassEditor<'_>,
    class: &ClassFile<'_>,
    edit: Edit,
    serial: usize,
) -> Option<Parts> {
    let method = edit.member.checked_rem(class.methods().len())?;
    let member = &class.methods()[method];
    if member.is_abstract() || is_initializer(class, member) {
        return None;
    }
    let new_name = format!("wrapped{serial}");
    editor
        .wrap(method, new_name.as_bytes(), Around::default())
        .unwrap();
    let old = key(class, member);
    let new = MethodKey::new(new_name, old.descriptor.as_ref());
    let other_flags = member.access & (access::NATIVE | access::SYNCHRONIZED) != 0;
    let shape = other_flags && takes_part_in_lookup(class, member);
    Some(Parts::method(old).with_added(new).with_shape(shape))
}

/// A method that has code, by its index.
fn pick_code<'a>(class: &ClassFile<'a>, place: usize) -> Option<(usize, Code<'a>)> {
    let methods = class.methods().iter().enumerate();
    let with_code: Vec<_> = methods
        .filter_map(|(index, method)| Some((index, class.code(method).unwrap()?)))
        .collect();
    pick(&with_code, place).cloned()
}

fn place(code: &Code<'_>, place: usize) -> Option<u16> {
    let places: Vec<_> = code.instructions().map(|one| one.unwrap().pc).collect();
    pick(&places, place).copied()
}

/// An `iinc`, without which the operand stack is as it was; not one that an
/// exception handler begins or ends with, which the rewriter refuses.
fn deletable(
    class: &ClassFile<'_>,
    method: usize,
    code: &Code<'_>,
    place: usize,
) -> Option<Range<u16>> {
    let ranges: Vec<_> = code
        .instructions()
        .map(Result::unwrap)
        .filter(|one| one.opcode == opcode::IINC)
        .map(|one| one.pc..one.end() as u16)
        .collect();
    let range = pick(&ranges, place)?.clone();
    let mut editor = ClassEditor::new(class);
    editor.delete(method, range.clone()).unwrap();
    match editor.finish() {
        Ok(_) => Some(range),
        Err(error) => {
            let refused = matches!(error.kind, RewriteErrorKind::CannotDelete { .. });
            assert!(refused, "{error}: {}", error.kind);
            None
        }
    }
}

fn swap_methods(class: &ClassFile<'_>, edit: Edit) -> Option<(Vec<u8>, Effect)> {
    let methods = class.methods();
    let (one, other) = (pick(methods, edit.member)?, pick(methods, edit.detail)?);
    let (first, second) = if one.offset < other.offset {
        (one, other)
    } else {
        (other, one)
    };
    if first.offset == second.offset {
        return None;
    }
    let bytes = class.bytes;
    let swapped = [
        &bytes[..first.offset],
        &bytes[second.offset..second.end],
        &bytes[first.end..second.offset],
        &bytes[first.offset..first.end],
        &bytes[second.end..],
    ];
    Some((swapped.concat(), Parts::none().into()))
}

fn move_lines(class: &ClassFile<'_>, edit: Edit) -> Option<(Vec<u8>, Effect)> {
    let (method, code) = pick_code(class, edit.member)?;
    let lines = code.attribute(AttributeKind::LineNumberTable)?;
    let mut bytes = class.bytes.to_vec();
    for entry in 0..lines.content.len() / 4 {
        // Each entry is a place and a line, behind the number of entries.
        let at = lines.offset + 2 + 4 * entry + 2;
        bytes = patched(&bytes, at, u16_at(&bytes, at) + u16::from(edit.amount));
    }
    let key = key(class, &class.methods()[method]);
    Some((bytes, Effect::debug(Parts::method(key))))
}

fn rename_variable(class: &ClassFile<'_>, edit: Edit, serial: usize) -> Option<(Vec<u8>, Effect)> {
    let (method, code) = pick_code(class, edit.member)?;
    let variables = code.attribute(AttributeKind::LocalVariableTable)?;
    let entry = edit.detail.checked_rem(variables.content.len() / 10)?;
    let (bytes, name) = with_text(class, &format!("variable{serial}"));
    let moved = bytes.len() - class.bytes.len();
    // Place and length stand before the name.
    let at = moved + variables.offset + 2 + 10 * entry + 4;
    let key = key(class, &class.methods()[method]);
    let effect = Effect::debug(Parts::method(key));
    Some((patched(&bytes, at, name), effect))
}

fn drop_debug_tables(class: &ClassFile<'_>, edit: Edit) -> Option<(Vec<u8>, Effect)> {
    let (method, code) = pick_code(class, edit.member)?;
    let is_debug = |one: &&Attribute<'_>| {
        matches!(
            one.kind,
            AttributeKind::LineNumberTable
                | AttributeKind::LocalVariableTable
                | AttributeKind::LocalVariableTypeTable
        )
    };
    code.attributes.iter().find(is_debug)?;
    let member = &class.methods()[method];
    let attribute = class.attribute_of(member, AttributeKind::Code)?;
    let table = code.attributes.first()?.offset - 6 - 2;
    let kept: Vec<_> = code
        .attributes
        .iter()
        .filter(|one| !is_debug(one))
        .collect();
    let mut content = class.bytes[attribute.offset..table].to_vec();
    content.extend((kept.len() as u16).to_be_bytes());
    for one in kept {
        content.extend(&class.bytes[one.offset - 6..one.offset + one.content.len()]);
    }
    let bytes = [
        &class.bytes[..attribute.offset - 4],
        &(content.len() as u32).to_be_bytes(),
        &content,
        &class.bytes[attribute.offset + attribute.content.len()..],
    ];
    let effect = Effect::debug(Parts::method(key(class, member)));
    Some((bytes.concat(), effect))
}

fn rename_source(class: &ClassFile<'_>, serial: usize) -> Option<(Vec<u8>, Effect)> {
    let source = class.attribute(AttributeKind::SourceFile)?;
    let (bytes, name) = with_text(class, &format!("Source{serial}.java"));
    let at = source.offset + bytes.len() - class.bytes.len();
    Some((patched(&bytes, at, name), Effect::debug(Parts::head())))
}

/// Counts a number of the constant pool up, whoever uses it.
fn change_number(class: &ClassFile<'_>, edit: Edit) -> Option<(Vec<u8>, Effect)> {
    let (index, at) = *pick(&numbers(class), edit.member)?;
    let mut bytes = class.bytes.to_vec();
    let old = u32::from_be_bytes(*bytes[at..].first_chunk().unwrap());
    let new = old.wrapping_add(edit.amount.into());
    bytes[at..at + 4].copy_from_slice(&new.to_be_bytes());
    Some((bytes, users(class, index).into()))
}

/// The numbers of the constant pool, with where their last four bytes stand.
fn numbers(class: &ClassFile<'_>) -> Vec<(u16, usize)> {
    (1..class.pool.count() as u16)
        .filter_map(|index| {
            let length = match class.pool.tag(index)? {
                ConstantTag::Integer | ConstantTag::Float => 4,
                ConstantTag::Long | ConstantTag::Double => 8,
                _ => return None,
            };
            Some((index, class.pool.offset_of(index)? + 1 + length - 4))
        })
        .collect()
}

/// The parts that use a number.
fn users(class: &ClassFile<'_>, index: u16) -> Parts {
    let mut parts = Parts::none();
    let fields = class.fields().iter().map(|one| class.attributes_of(one));
    if fields
        .chain([class.attributes()])
        .any(|of| mention(class, of, index))
    {
        parts = parts.and(Parts::head());
    }
    for method in class.methods() {
        let code = class.code(method).unwrap();
        let mut instructions = code.iter().flat_map(Code::instructions);
        if mention(class, class.attributes_of(method), index)
            || instructions.any(|one| one.unwrap().constant() == Some(index))
        {
            parts = parts.and(Parts::method(key(class, method)));
        }
    }
    parts
}

/// Whether attributes that count mention a number.
fn mention(class: &ClassFile<'_>, attributes: &[Attribute<'_>], index: u16) -> bool {
    attributes.iter().any(|attribute| {
        let mut cursor = attribute.cursor();
        match attribute.kind {
            AttributeKind::ConstantValue => cursor.u16().unwrap() == index,
            AttributeKind::AnnotationDefault => {
                holds(&read_element_value(&mut cursor).unwrap(), index)
            }
            AttributeKind::RuntimeVisibleAnnotations => {
                let annotations = read_annotations(&mut cursor).unwrap();
                let mut elements = annotations.iter().flat_map(|one| &one.elements);
                elements.any(|(_, value)| holds(value, index))
            }
            AttributeKind::RuntimeVisibleParameterAnnotations => {
                let annotations = read_parameter_annotations(&mut cursor).unwrap().concat();
                let mut elements = annotations.iter().flat_map(|one| &one.elements);
                elements.any(|(_, value)| holds(value, index))
            }
            AttributeKind::Record => {
                let components = class.record_components(attribute).unwrap();
                components
                    .iter()
                    .any(|one| mention(class, &one.attributes, index))
            }
            _ => false,
        }
    })
}

fn holds(value: &ElementValue, number: u16) -> bool {
    match value {
        ElementValue::Constant { index, .. } => *index == number,
        ElementValue::Array(values) => values.iter().any(|value| holds(value, number)),
        _ => false,
    }
}

/// Lets a handler of one class of exceptions handle all.
fn catch_all(class: &ClassFile<'_>, edit: Edit) -> Option<(Vec<u8>, Effect)> {
    let (method, code) = pick_code(class, edit.member)?;
    let handlers: Vec<_> = code
        .handlers()
        .enumerate()
        .filter(|(_, handler)| handler.catch_type != 0)
        .collect();
    let (entry, _) = *pick(&handlers, edit.detail)?;
    let bytes = patched(class.bytes, code.handler_offset(entry) + 6, 0);
    let key = key(class, &class.methods()[method]);
    Some((bytes, Parts::method(key).into()))
}

/// Flags are part of the method, and of the shape if a search can find it.
fn change_flags(class: &ClassFile<'_>, edit: Edit) -> Option<(Vec<u8>, Effect)> {
    let method = pick(class.methods(), edit.member)?;
    let flags = match edit.kind {
        Kind::MakePrivate => {
            method.access & !(access::PUBLIC | access::PROTECTED) | access::PRIVATE
        }
        Kind::MakeStatic if is_initializer(class, method) => return None,
        Kind::MakeStatic => method.access | access::STATIC,
        _ => {
            let flags = [
                access::FINAL,
                access::BRIDGE,
                access::VARARGS,
                access::SYNTHETIC,
            ];
            method.access | pick(&flags, edit.detail)?
        }
    };
    if method.access == flags {
        return None;
    }
    let shape = takes_part_in_lookup(class, method);
    let parts = Parts::method(key(class, method)).with_shape(shape);
    Some((patched(class.bytes, method.offset, flags), parts.into()))
}

fn add_field(bytes: &[u8], serial: usize) -> (Vec<u8>, Effect) {
    let class = ClassFile::read(bytes).unwrap();
    let (bytes, name) = with_text(&class, &format!("field{serial}"));
    let class = ClassFile::read(&bytes).unwrap();
    let (bytes, descriptor) = with_text(&class, "I");
    let class = ClassFile::read(&bytes).unwrap();
    // Behind flags, this class, superclass and interfaces.
    let count = class.access_offset + 8 + 2 * class.interfaces.len();
    let end = class.fields().last().map_or(count + 2, |last| last.end);
    let field: Vec<u8> = [access::PRIVATE, name, descriptor, 0]
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    (with_entry(&bytes, count, end, &field), Parts::head().into())
}

/// Adds an attribute to the class, a field or a method.
fn add_attribute(bytes: &[u8], edit: Edit, serial: usize) -> Option<(Vec<u8>, Effect)> {
    let class = ClassFile::read(bytes).unwrap();
    let (odd, content) = (format!("p.Odd{serial}"), [edit.amount]);
    let (name, content): (&str, &[u8]) = if edit.kind == Kind::AddNeutralAttribute {
        let neutral: [(&str, &[u8]); 3] = [
            ("Deprecated", &[]),
            ("RuntimeInvisibleAnnotations", &[0, 0]),
            ("RuntimeInvisibleTypeAnnotations", &[0, 0]),
        ];
        *pick(&neutral, edit.detail)?
    } else {
        let counting: [(&str, &[u8]); 2] = [("Synthetic", &[]), (&odd, &content)];
        *pick(&counting, edit.detail)?
    };
    let (bytes, name) = with_text(&class, name);
    let class = ClassFile::read(&bytes).unwrap();
    let mut attribute = name.to_be_bytes().to_vec();
    attribute.extend((content.len() as u32).to_be_bytes());
    attribute.extend(content);

    let (fields, methods) = (class.fields(), class.methods());
    let place = edit.member % (fields.len() + methods.len() + 1);
    let (count, end, parts) = if let Some(member) = fields.iter().chain(methods).nth(place) {
        let parts = match place.checked_sub(fields.len()) {
            Some(_) => Parts::method(key(&class, member)),
            None => Parts::head(),
        };
        (member.offset + 6, member.end, parts)
    } else {
        let first = class.attributes().first()?;
        (first.offset - 8, bytes.len(), Parts::head())
    };
    let parts = if edit.kind == Kind::AddNeutralAttribute {
        Parts::none()
    } else {
        parts
    };
    Some((with_entry(&bytes, count, end, &attribute), parts.into()))
}

/// The class with a text in its constant pool, and the text's index.
fn with_text(class: &ClassFile<'_>, text: &str) -> (Vec<u8>, u16) {
    let mut editor = ClassEditor::new(class);
    let index = editor.utf8(text.as_bytes()).unwrap();
    (finish(editor), index)
}

/// Puts an entry at the end of a table whose count stands at `count`.
fn with_entry(bytes: &[u8], count: usize, end: usize, entry: &[u8]) -> Vec<u8> {
    let bytes = patched(bytes, count, u16_at(bytes, count) + 1);
    [&bytes[..end], entry, &bytes[end..]].concat()
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn patched(bytes: &[u8], at: usize, value: u16) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    bytes
}

/// Holds two versions of a class to what the edits between them say.
fn check(old: &[u8], new: &[u8], effect: &Effect) -> Result<(), TestCaseError> {
    for debug_info in [DebugInfo::Ignore, DebugInfo::Track] {
        let mut fingerprinter = Fingerprinter::new(Options { debug_info });
        let mut of = |bytes| {
            let class = ClassFile::read(bytes).unwrap();
            fingerprinter.fingerprint(&class).unwrap()
        };
        let (before, after) = (of(old), of(new));
        let expected = effect.expected(debug_info);
        prop_assert_eq!(
            &Parts::between(&before, &after),
            &expected,
            "{} with {:?}",
            before.name,
            debug_info
        );
        prop_assert_eq!(
            compare(&before, &after),
            changes(&expected, &before, &after),
            "{:?}",
            debug_info
        );
    }
    Ok(())
}

/// The changes to be reported: of head and file, then by method.
fn changes(parts: &Parts, old: &ClassFingerprints, new: &ClassFingerprints) -> Vec<Change> {
    let whole = [(ChangeType::CH, parts.head), (ChangeType::CF, parts.class)];
    let mut all: Vec<_> = whole
        .into_iter()
        .filter_map(|(kind, is_so)| is_so.then_some((kind, None)))
        .collect();
    for key in parts.changed.union(&parts.added) {
        let before = (!parts.added.contains(key)).then(|| sort_of(old, key));
        let after = sort_of(new, key);
        let kinds = match before {
            None => vec![format!("A{after}")],
            Some(before) if before == after => vec![format!("C{after}")],
            Some(before) => vec![format!("D{before}"), format!("A{after}")],
        };
        for kind in kinds {
            all.push((kind.parse().unwrap(), Some(key.clone())));
        }
    }
    all.into_iter()
        .map(|(kind, member)| Change {
            class: old.name.clone(),
            kind,
            member,
        })
        .collect()
}

/// The end of the change types about methods such as this.
fn sort_of(class: &ClassFingerprints, key: &MethodKey) -> &'static str {
    let method = class.methods.iter().find(|one| one.key == *key).unwrap();
    match &*key.name {
        "<clinit>" => "SI",
        "<init>" => "I",
        _ if method.access & access::STATIC != 0 => "SM",
        _ => "IM",
    }
}

/// How many places there are for an edit, or more.
fn places(class: &ClassFile<'_>, kind: Kind) -> usize {
    match kind {
        Kind::Number => numbers(class).len(),
        Kind::AddNeutralAttribute | Kind::AddCountingAttribute => {
            class.fields().len() + class.methods().len() + 1
        }
        _ => class.methods().len(),
    }
}

/// Every edit at every member of every class. Also shows that none of them is
/// never made, which would leave the random ones without a meaning.
#[test]
fn each_edit_changes_what_it_should_and_nothing_else() {
    for kind in BY_REWRITER.into_iter().chain(BY_BYTES) {
        let mut made = 0;
        for bytes in CLASSES.iter() {
            let places = 0..places(&ClassFile::read(bytes).unwrap(), kind);
            for (member, detail) in places.flat_map(|member| [(member, 0), (member, 1)]) {
                let edit = Edit {
                    kind,
                    member,
                    detail,
                    amount: 3,
                };
                let Some((new, effect)) = apply(bytes, edit, 0) else {
                    continue;
                };
                made += 1;
                if let Err(error) = check(bytes, &new, &effect) {
                    panic!("{edit:?}: {error}");
                }
            }
        }
        assert!(made > 0, "{kind:?} was never made");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn edits_one_after_the_other_change_what_each_of_them_changes(
        class in any::<prop::sample::Index>(),
        edits in edits(&[&BY_REWRITER[..], &BY_BYTES[..]].concat(), 1..9),
    ) {
        let original = class.get(&CLASSES);
        let mut bytes = original.clone();
        let mut all = Effect::default();
        for (serial, &edit) in edits.iter().enumerate() {
            if let Some((new, effect)) = apply(&bytes, edit, serial) {
                check(&bytes, &new, &effect)?;
                bytes = new;
                all = all.and(effect);
            }
        }
        check(original, &bytes, &all)?;
    }

    #[test]
    fn edits_in_one_pass_of_the_rewriter_change_what_each_of_them_changes(
        class in any::<prop::sample::Index>(),
        edits in edits(&BY_REWRITER, 1..9),
    ) {
        let original = class.get(&CLASSES);
        let class = ClassFile::read(original).unwrap();
        let mut editor = ClassEditor::new(&class);
        let mut all = Effect::default();
        let mut wrapped = BTreeSet::new();
        for (serial, &edit) in edits.iter().enumerate() {
            // Of several wrappers of one method, the last counts.
            let method = edit.member.checked_rem(class.methods().len());
            if edit.kind == Kind::Wrap && !wrapped.insert(method) {
                continue;
            }
            if let Some(parts) = rewrite(&mut editor, &class, edit, serial) {
                all = all.and(parts.into());
            }
        }
        check(original, &finish(editor), &all)?;
    }

    #[test]
    fn an_edit_that_is_undone_changes_nothing(
        class in any::<prop::sample::Index>(),
        member in any::<u16>(),
        detail in any::<u16>(),
        amount in 1..40_u8,
    ) {
        let original = class.get(&CLASSES);
        let class = ClassFile::read(original).unwrap();
        let found = pick_code(&class, member.into());
        prop_assume!(found.is_some());
        let (method, code) = found.unwrap();
        let at = place(&code, detail.into()).unwrap();
        let mut editor = ClassEditor::new(&class);
        let nops = Snippet::straight(vec![opcode::NOP; amount.into()], 0);
        editor.insert_before(method, at, nops).unwrap();
        let edited = finish(editor);
        let key = key(&class, &class.methods()[method]);
        check(original, &edited, &Parts::method(key).into())?;

        let class = ClassFile::read(&edited).unwrap();
        let mut editor = ClassEditor::new(&class);
        editor.delete(method, at..at + u16::from(amount)).unwrap();
        check(original, &finish(editor), &Effect::default())?;
    }
}
