//! Laws that hold for every edit, tried on random ones.

mod rewrite_support;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use fewest_classfile::read::{ClassFile, Code, Instruction, opcode};
use fewest_classfile::rewrite::ClassEditor;
use fewest_testkit::Jdk;
use proptest::prelude::*;
use rewrite_support::{methods_with_code, nops};

/// Classes with every sort of code that javac writes.
static CLASSES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let jdk = Jdk::all().into_iter().next().expect("a JDK is installed");
    let modules = jdk.modules().unwrap();
    let wanted = [
        "java.base/java/lang/String.class",
        "java.base/java/lang/Thread.class",
        "java.base/java/math/BigDecimal.class",
        "java.base/java/util/Formatter.class",
        "java.base/java/util/HashMap.class",
        "java.base/java/util/concurrent/CompletableFuture.class",
        "java.base/java/util/regex/Pattern.class",
        "java.base/java/util/zip/ZipFile.class",
        "java.base/java/util/Map.class",
        "java.base/sun/security/x509/X500Name.class",
        "java.desktop/javax/swing/text/html/HTML.class",
        "jdk.compiler/com/sun/tools/javac/code/Types.class",
        "jdk.compiler/com/sun/tools/javac/jvm/Gen.class",
    ];
    let classes = modules.classes();
    classes
        .filter(|class| wanted.contains(&class.name))
        .map(|class| class.bytes.to_vec())
        .collect()
});

/// Nops to be put into one method: before which instructions, how many.
#[derive(Clone, Debug)]
struct Insertions {
    at_entry: usize,
    before: BTreeMap<u16, usize>,
}

/// A class, one of its methods and what to insert.
fn insertions() -> impl Strategy<Value = (usize, usize, Insertions)> {
    (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..12_usize,
        prop::collection::vec((any::<prop::sample::Index>(), 1..70_usize), 0..12),
    )
        .prop_map(|(class, method, at_entry, places)| {
            let class_index = class.index(CLASSES.len());
            let class = ClassFile::read(&CLASSES[class_index]).unwrap();
            let methods = methods_with_code(&class);
            let (method, code) = &methods[method.index(methods.len())];
            let pcs: Vec<_> = instructions(code).iter().map(|one| one.pc).collect();
            let before = places
                .iter()
                .map(|(place, count)| (pcs[place.index(pcs.len())], *count))
                .collect();
            (class_index, *method, Insertions { at_entry, before })
        })
}

fn instructions<'a>(code: &Code<'a>) -> Vec<Instruction<'a>> {
    code.instructions().map(Result::unwrap).collect()
}

fn insert(bytes: &[u8], method: usize, insertions: &Insertions) -> Vec<u8> {
    let class = ClassFile::read(bytes).unwrap();
    let mut editor = ClassEditor::new(&class);
    if insertions.at_entry > 0 {
        let snippet = nops(insertions.at_entry);
        editor.insert_at_entry(method, snippet).unwrap();
    }
    for (&pc, &count) in &insertions.before {
        editor.insert_before(method, pc, nops(count)).unwrap();
    }
    editor.finish().unwrap()
}

/// Where the inserted nops are, told from the old code: the padding of
/// switches makes new places more than sums of lengths.
fn inserted_ranges(old: &Code<'_>, new: &Code<'_>, insertions: &Insertions) -> Vec<Range<u16>> {
    let new = instructions(new);
    let mut at = 0;
    let mut ranges = Vec::new();
    let mut skip = |count: usize, at: &mut usize| {
        if count > 0 {
            let start = new[*at].pc;
            *at += count;
            ranges.push(start..new[*at].pc);
        }
    };
    skip(insertions.at_entry, &mut at);
    for instruction in instructions(old) {
        let count = insertions.before.get(&instruction.pc);
        skip(count.copied().unwrap_or(0), &mut at);
        at += 1;
    }
    ranges
}

fn code_of<'a>(class: &ClassFile<'a>, method: usize) -> Code<'a> {
    class.code(&class.methods()[method]).unwrap().unwrap()
}

/// Opcode, operand bytes or, for branches, the numbers of the instructions that
/// are gone to; nops in `without` are not counted.
fn shape(code: &Code<'_>, without: &[Range<u16>]) -> Vec<(u8, Vec<u8>, Vec<usize>)> {
    let inserted = |pc: u16| without.iter().any(|range| range.contains(&pc));
    let kept: Vec<_> = instructions(code)
        .into_iter()
        .filter(|instruction| !inserted(instruction.pc))
        .collect();
    let number = |target: i64| kept.partition_point(|one| i64::from(one.pc) < target);
    let shape = kept.iter().map(|instruction| {
        let mut targets = Vec::new();
        let operand = &instruction.operand;
        operand.for_each_target(|target| targets.push(number(target)));
        let bytes = &code.bytes[instruction.pc as usize..instruction.end() as usize];
        let bytes = if targets.is_empty() { bytes } else { &[] };
        (instruction.opcode, bytes.to_vec(), targets)
    });
    shape.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn without_what_was_inserted_the_code_is_the_old_one((index, method, what) in insertions()) {
        let old_bytes = &CLASSES[index];
        let new_bytes = insert(old_bytes, method, &what);
        let (old, new) = (ClassFile::read(old_bytes).unwrap(), ClassFile::read(&new_bytes).unwrap());
        let (old_code, new_code) = (code_of(&old, method), code_of(&new, method));
        let ranges = inserted_ranges(&old_code, &new_code, &what);
        for range in &ranges {
            let bytes = &new_code.bytes[range.start as usize..range.end as usize];
            prop_assert!(bytes.iter().all(|&byte| byte == opcode::NOP));
        }
        prop_assert_eq!(shape(&new_code, &ranges), shape(&old_code, &[]));
    }

    #[test]
    fn all_else_in_the_class_stays_as_it_was((index, method, what) in insertions()) {
        let old_bytes = &CLASSES[index];
        let new_bytes = insert(old_bytes, method, &what);
        let (old, new) = (ClassFile::read(old_bytes).unwrap(), ClassFile::read(&new_bytes).unwrap());
        let (before, after) = (&old.methods()[method], &new.methods()[method]);
        prop_assert_eq!(&old_bytes[..before.offset], &new_bytes[..after.offset]);
        prop_assert_eq!(&old_bytes[before.end..], &new_bytes[after.end..]);
    }

    #[test]
    fn deleting_what_was_inserted_gives_the_old_bytes((index, method, what) in insertions()) {
        let old_bytes = &CLASSES[index];
        let new_bytes = insert(old_bytes, method, &what);
        let (old, new) = (ClassFile::read(old_bytes).unwrap(), ClassFile::read(&new_bytes).unwrap());
        let ranges = inserted_ranges(&code_of(&old, method), &code_of(&new, method), &what);
        let mut editor = ClassEditor::new(&new);
        for range in ranges {
            editor.delete(method, range).unwrap();
        }
        prop_assert!(editor.finish().unwrap() == *old_bytes);
    }
}
