//! What edits do to a class, on classes small enough to look at.

mod rewrite_support;

use std::fmt::Write;

use fewest_classfile::read::{
    AttributeKind, ClassFile, Code, FrameKind, Handler, Operand, VerificationType, opcode,
    read_frames,
};
use fewest_classfile::rewrite::{
    Around, ClassEditor, DeletionFault, RewriteError, RewriteErrorKind, Snippet,
};
use rewrite_support::{ClassBuilder, lay_out_anew, nops, utf8};

fn edit(bytes: &[u8], edit: impl FnOnce(&mut ClassEditor<'_>)) -> Result<Vec<u8>, RewriteError> {
    let class = ClassFile::read(bytes).unwrap();
    let mut editor = ClassEditor::new(&class);
    edit(&mut editor);
    editor.finish()
}

fn with_code<T>(bytes: &[u8], look: impl FnOnce(&Code<'_>) -> T) -> T {
    let class = ClassFile::read(bytes).unwrap();
    let code = class.code(&class.methods()[0]).unwrap().unwrap();
    look(&code)
}

/// Mnemonics with places and targets, one line each.
fn listing(code: &Code<'_>) -> String {
    let mut lines = Vec::new();
    for instruction in code.instructions() {
        let instruction = instruction.unwrap();
        let mut line = format!("{} {}", instruction.pc, opcode::name(instruction.opcode));
        instruction
            .operand
            .for_each_target(|target| write!(line, " {target}").unwrap());
        lines.push(line);
    }
    lines.join("\n")
}

fn be(values: &[u16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

/// `if (local 0 == 0) skip a nop`, with all tables.
fn branching() -> ClassBuilder {
    ClassBuilder {
        descriptor: "(I)V",
        code: vec![
            opcode::ILOAD_0,
            opcode::IFEQ,
            0,
            4,
            opcode::NOP,    // at 4
            opcode::RETURN, // at 5
        ],
        handlers: vec![[0, 5, 5, 0]],
        attributes: vec![
            ("StackMapTable", be(&[1]).into_iter().chain([5]).collect()),
            ("LineNumberTable", be(&[3, 0, 10, 4, 11, 5, 12])),
            ("LocalVariableTable", be(&[2, 0, 6, 5, 6, 0, 4, 2, 5, 6, 1])),
        ],
        ..ClassBuilder::default()
    }
}

#[test]
fn entry_probe_moves_places_but_not_those_at_the_start() {
    let before = branching().build();
    let after = edit(&before, |editor| {
        let hits = editor.field_ref(b"p/Hits", b"A", b"[B").unwrap();
        editor
            .insert_at_entry(0, Snippet::probe(hits, 300))
            .unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        let expected = "0 getstatic\n3 sipush\n6 iconst_1\n7 bastore\n\
                        8 iload_0\n9 ifeq 13\n12 nop\n13 return";
        assert_eq!(listing(code), expected);
        assert_eq!(code.max_stack, 3);
        let handler = Handler {
            start: 0,
            end: 13,
            handler: 13,
            catch_type: 0,
        };
        assert_eq!(code.handlers().collect::<Vec<_>>(), [handler]);
        let content = |kind| code.attribute(kind).unwrap().content.to_vec();
        assert_eq!(
            content(AttributeKind::LineNumberTable),
            be(&[3, 0, 10, 12, 11, 13, 12])
        );
        assert_eq!(
            content(AttributeKind::LocalVariableTable),
            be(&[2, 0, 14, 5, 6, 0, 12, 2, 5, 6, 1])
        );
        let table = code.attribute(AttributeKind::StackMapTable).unwrap();
        let frames = read_frames(&table).unwrap();
        assert_eq!((frames.len(), frames[0].pc), (1, 13));
    });
}

#[test]
fn cheap_path_and_general_path_write_the_same() {
    let before = branching().build();
    let probe = |editor: &mut ClassEditor<'_>| {
        let hits = editor.field_ref(b"p/Hits", b"A", b"[B").unwrap();
        editor
            .insert_at_entry(0, Snippet::probe(hits, 300))
            .unwrap();
    };
    let cheap = edit(&before, probe).unwrap();
    let general = edit(&before, |editor| {
        probe(editor);
        editor.lay_out(0).unwrap();
    })
    .unwrap();
    assert_eq!(cheap, general);
}

#[test]
fn code_at_entry_runs_in_the_order_of_insertion() {
    let after = edit(&ClassBuilder::default().build(), |editor| {
        let push = |opcode| Snippet::straight(vec![opcode, opcode::POP], 1);
        editor.insert_at_entry(0, push(opcode::ICONST_1)).unwrap();
        editor.insert_at_entry(0, push(opcode::ICONST_2)).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        let expected = "0 iconst_1\n1 pop\n2 iconst_2\n3 pop\n4 return";
        assert_eq!(listing(code), expected);
    });
}

#[test]
fn constants_that_are_there_are_used_again() {
    let bytes = ClassBuilder::default().build();
    let class = ClassFile::read(&bytes).unwrap();
    let count = class.pool.count() as u16;
    let mut editor = ClassEditor::new(&class);
    assert_eq!(editor.utf8(b"m").unwrap(), 5);
    assert_eq!(editor.class(b"p/A").unwrap(), 2);
    assert_eq!(editor.class(b"p/B").unwrap(), count + 1);
    assert_eq!(editor.class(b"p/B").unwrap(), count + 1);
    assert_eq!(editor.long(7).unwrap(), count + 2);
    assert_eq!(editor.integer(7).unwrap(), count + 4);
    let method = editor.method_ref(b"p/B", b"m", b"()V", false).unwrap();
    assert_eq!(method, count + 6);
    let interface = editor.method_ref(b"p/B", b"m", b"()V", true).unwrap();
    assert_eq!(interface, count + 7);
    let bytes = editor.finish().unwrap();
    let class = ClassFile::read(&bytes).unwrap();
    assert_eq!(class.pool.count() as u16, count + 8);
    let member = class.pool.member(interface, 0).unwrap();
    assert_eq!((member.class, member.name), (&b"p/B"[..], &b"m"[..]));
    assert!(member.interface);
}

#[test]
fn a_full_constant_pool_is_an_error_that_names_the_class() {
    let mut builder = ClassBuilder::default();
    let used = usize::from(ClassBuilder::FIRST_EXTRA);
    builder.constants = vec![vec![3, 0, 0, 0, 0]; 65535 - used - 1];
    let bytes = builder.build();
    let class = ClassFile::read(&bytes).unwrap();
    assert_eq!(class.pool.count(), 65534);
    let mut editor = ClassEditor::new(&class);
    editor.utf8(b"one more fits").unwrap();
    let error = editor.utf8(b"but not two").unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::PoolFull);
    assert_eq!(error.to_string(), "could not rewrite `p/A`");
}

#[test]
fn a_method_past_64_kib_is_named_and_left_as_it_was() {
    let mut code = vec![opcode::NOP; 65528];
    code.push(opcode::RETURN);
    let builder = ClassBuilder {
        code,
        ..ClassBuilder::default()
    };
    let bytes = builder.build();
    let class = ClassFile::read(&bytes).unwrap();
    let probed = || {
        let mut editor = ClassEditor::new(&class);
        editor.insert_at_entry(0, nops(8)).unwrap();
        editor
    };
    let error = probed().finish().unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::TooLarge { length: 65537 });
    assert_eq!(error.to_string(), "could not rewrite `p/A.m()V`");
    let rewritten = probed().finish_what_fits();
    assert_eq!(rewritten.bytes, bytes);
    assert_eq!(rewritten.left_alone.len(), 1);
    assert_eq!(rewritten.left_alone[0].method, 0);
    assert_eq!(rewritten.left_alone[0].error, error);
}

#[test]
fn code_before_an_instruction_is_run_by_branches_to_it() {
    let after = edit(&branching().build(), |editor| {
        editor.insert_before(0, 5, nops(3)).unwrap();
        editor.insert_before(0, 1, nops(1)).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        let expected = "0 iload_0\n1 nop\n2 ifeq 6\n5 nop\n6 nop\n7 nop\n8 nop\n9 return";
        assert_eq!(listing(code), expected);
        let handler = code.handlers().next().unwrap();
        assert_eq!((handler.start, handler.end, handler.handler), (0, 6, 6));
    });
}

#[test]
fn padding_of_switches_follows_their_place() {
    let mut code = vec![opcode::ILOAD_0, opcode::TABLESWITCH, 0, 0];
    for value in [19, 0, 0, 19] {
        code.extend(i32::to_be_bytes(value));
    }
    code.push(opcode::RETURN); // at 20
    let builder = ClassBuilder {
        descriptor: "(I)V",
        code,
        major: 48,
        ..ClassBuilder::default()
    };
    for shift in 1..=8 {
        let after = edit(&builder.build(), |editor| {
            editor.insert_at_entry(0, nops(shift)).unwrap();
        })
        .unwrap();
        with_code(&after, |code| {
            let switch = code.instructions().nth(shift + 1).unwrap().unwrap();
            let end = i64::from(switch.end());
            let Operand::Table(table) = switch.operand else {
                panic!("{:?}", switch.operand);
            };
            assert_eq!(table.default, end);
            assert_eq!(table.targets().collect::<Vec<_>>(), [end]);
            assert_eq!(code.instructions().last().unwrap().unwrap().pc as i64, end);
        });
    }
}

#[test]
fn a_branch_that_no_longer_reaches_is_widened_and_gets_a_frame() {
    let after = edit(&branching().build(), |editor| {
        editor.insert_before(0, 5, nops(10)).unwrap();
        editor.insert_before(0, 4, nops(32766)).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        let text = listing(code);
        let end = 9 + 32766 + 1;
        assert!(
            text.starts_with(&format!("0 iload_0\n1 ifne 9\n4 goto_w {end}\n9 nop")),
            "{}",
            &text[..60]
        );
        let table = code.attribute(AttributeKind::StackMapTable).unwrap();
        let frames = read_frames(&table).unwrap();
        assert_eq!(frames[0].pc, 9);
        let expected = FrameKind::Full {
            locals: vec![VerificationType::Integer],
            stack: vec![],
        };
        assert_eq!(frames[0].kind, expected);
        assert_eq!(frames[1].pc, end);
    });
}

#[test]
fn a_branch_that_just_reaches_stays_short() {
    // From the branch at 1 to its target: 3 + nops + 1.
    let after = edit(&branching().build(), |editor| {
        editor.insert_before(0, 4, nops(32763)).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        assert!(listing(code).starts_with("0 iload_0\n1 ifeq 32768\n"));
    });
}

#[test]
fn old_classes_get_no_frames() {
    let mut builder = branching();
    builder.major = 49;
    builder.attributes.remove(0);
    let after = edit(&builder.build(), |editor| {
        editor.insert_before(0, 4, nops(40000)).unwrap();
        editor.on_exit(0, nops(1), nops(1), false).unwrap();
        let branching = Snippet {
            code: vec![opcode::GOTO, 0, 3],
            max_stack: 0,
            frame_after: true,
        };
        editor.insert_at_entry(0, branching).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        assert!(code.attribute(AttributeKind::StackMapTable).is_none());
    });
}

#[test]
fn exit_code_stands_before_returns_and_in_the_last_handler() {
    let after = edit(&branching().build(), |editor| {
        editor.on_exit(0, nops(2), nops(1), false).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        let expected = "0 iload_0\n1 ifeq 5\n4 nop\n5 nop\n6 nop\n7 return\n8 nop\n9 athrow";
        assert_eq!(listing(code), expected);
        let handlers: Vec<_> = code
            .handlers()
            .map(|handler| (handler.start, handler.end, handler.handler))
            .collect();
        // The method's own handler, then ours around the code before return.
        assert_eq!(handlers, [(0, 5, 5), (0, 5, 8), (7, 8, 8)]);
        let table = code.attribute(AttributeKind::StackMapTable).unwrap();
        let frames = read_frames(&table).unwrap();
        let last = frames.last().unwrap();
        assert_eq!(last.pc, 8);
        let FrameKind::Full { locals, stack } = &last.kind else {
            panic!("{last:?}");
        };
        assert_eq!((locals.len(), stack.len()), (0, 1));
    });
}

#[test]
fn this_is_promised_to_a_handler_only_if_it_is_there() {
    let error = edit(&branching().build(), |editor| {
        editor.on_exit(0, nops(1), nops(1), true).unwrap();
    })
    .unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::ThisOverwritten);
}

#[test]
fn a_straight_line_is_deleted_with_its_line_number() {
    let after = edit(&branching().build(), |editor| {
        editor.delete(0, 4..5).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        assert_eq!(listing(code), "0 iload_0\n1 ifeq 4\n4 return");
        let lines = code.attribute(AttributeKind::LineNumberTable).unwrap();
        assert_eq!(lines.content, be(&[2, 0, 10, 4, 12]));
    });
}

#[test]
fn what_is_no_straight_line_is_not_deleted() {
    let mut builder = branching();
    builder.handlers = vec![[4, 5, 5, 0]];
    let bytes = builder.build();
    let fault = |range: std::ops::Range<u16>| {
        let kind = edit(&bytes, |editor| editor.delete(0, range).unwrap())
            .unwrap_err()
            .kind;
        match kind {
            RewriteErrorKind::CannotDelete { fault, .. } => Ok(fault),
            other => Err(other),
        }
    };
    assert_eq!(fault(0..4), Ok(DeletionFault::Branch(1)));
    assert_eq!(fault(4..5), Ok(DeletionFault::Handler(0)));
    assert_eq!(fault(4..4), Ok(DeletionFault::Empty));
    assert_eq!(fault(2..4), Err(RewriteErrorKind::NotAnInstruction(2)));
    assert_eq!(fault(5..6), Err(RewriteErrorKind::NotAnInstruction(6)));
}

#[test]
fn a_branch_into_the_middle_forbids_deletion() {
    let builder = ClassBuilder {
        descriptor: "(I)V",
        major: 48,
        code: vec![
            opcode::ILOAD_0,
            opcode::IFEQ,
            0,
            4,
            opcode::NOP,
            opcode::NOP, // at 5, a target
            opcode::RETURN,
        ],
        ..ClassBuilder::default()
    };
    let error = edit(&builder.build(), |editor| {
        editor.delete(0, 4..6).unwrap();
    })
    .unwrap_err();
    let expected = RewriteErrorKind::CannotDelete {
        start: 4,
        end: 6,
        fault: DeletionFault::BranchedInto(1),
    };
    assert_eq!(error.kind, expected);
}

#[test]
fn unusual_encodings_are_kept_when_nothing_moves() {
    let mut code = vec![opcode::ILOAD_0, opcode::TABLESWITCH, 7, 9];
    for value in [19, 0, 0, 19] {
        code.extend(i32::to_be_bytes(value));
    }
    code.push(opcode::RETURN);
    let builder = ClassBuilder {
        descriptor: "(I)V",
        code,
        attributes: vec![
            // `same_frame_extended` where `same_frame` would do.
            ("StackMapTable", vec![0, 1, 251, 0, 20]),
            ("p.Unknown", vec![1, 2, 3]),
            // Places that no table should hold.
            ("LineNumberTable", be(&[2, 3, 1, 900, 2])),
        ],
        ..ClassBuilder::default()
    };
    let bytes = builder.build();
    assert_eq!(lay_out_anew(&ClassFile::read(&bytes).unwrap()), bytes);
}

#[test]
fn type_annotations_in_code_follow_their_instruction() {
    let annotation = be(&[6, 0]);
    let mut content = be(&[3]);
    content.extend([0x44]); // `new` at 0
    content.extend(be(&[0]));
    content.extend([0x40]); // a local from 0 to 5
    content.extend(be(&[1, 0, 5, 1]));
    content.extend([0x47]); // a cast at 4
    content.extend(be(&[4]));
    content.extend([0]);
    // After each target: an empty path and the annotation.
    let mut table = content[..2].to_vec();
    for part in [2..5, 5..14, 14..18] {
        table.extend(&content[part]);
        table.push(0);
        table.extend(&annotation);
    }
    let mut builder = branching();
    builder.attributes = vec![
        ("StackMapTable", vec![0, 1, 5]),
        ("RuntimeVisibleTypeAnnotations", table),
    ];
    let bytes = builder.build();
    assert_eq!(lay_out_anew(&ClassFile::read(&bytes).unwrap()), bytes);
    let targets = |bytes: &[u8]| {
        with_code(bytes, |code| {
            let kind = AttributeKind::RuntimeVisibleTypeAnnotations;
            let mut cursor = code.attribute(kind).unwrap().cursor();
            let all = fewest_classfile::read::read_type_annotations(&mut cursor).unwrap();
            let all: Vec<_> = all.iter().map(|one| format!("{:?}", one.target)).collect();
            all.join("\n")
        })
    };
    let inserted = edit(&bytes, |editor| {
        editor.insert_at_entry(0, nops(4)).unwrap();
        editor.insert_before(0, 4, nops(1)).unwrap();
    })
    .unwrap();
    assert_eq!(
        targets(&inserted),
        "Offset { tag: 68, pc: 4 }\n\
         LocalVariable { tag: 64, parts: [(0, 10, 1)] }\n\
         TypeArgument { tag: 71, pc: 9, index: 0 }"
    );
    let deleted = edit(&bytes, |editor| editor.delete(0, 4..5).unwrap()).unwrap();
    assert_eq!(
        targets(&deleted),
        "Offset { tag: 68, pc: 0 }\nLocalVariable { tag: 64, parts: [(0, 4, 1)] }"
    );
}

#[test]
fn methods_that_are_not_there_or_have_no_code_are_errors() {
    let bytes = branching().build();
    let class = ClassFile::read(&bytes).unwrap();
    let mut editor = ClassEditor::new(&class);
    let error = editor.insert_at_entry(1, nops(4)).unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::NoSuchMethod(1));
    let error = editor.wrap(0, b"m", Around::default()).unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::NameTaken);
    editor.insert_before(0, 2, nops(1)).unwrap();
    let error = editor.finish().unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::NotAnInstruction(2));
}

#[test]
fn too_deep_a_stack_and_too_long_a_text_are_errors() {
    let mut builder = branching();
    builder.max_stack = 65535;
    let error = edit(&builder.build(), |editor| {
        let push = Snippet::straight(vec![opcode::ICONST_0, opcode::POP], 1);
        editor.insert_before(0, 4, push).unwrap();
    })
    .unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::StackTooDeep);
    let bytes = branching().build();
    let class = ClassFile::read(&bytes).unwrap();
    let long = vec![b'x'; 65536];
    let error = ClassEditor::new(&class).utf8(&long).unwrap_err();
    assert_eq!(error.kind, RewriteErrorKind::TextTooLong { length: 65536 });
}

#[test]
fn wrong_branch_targets_are_errors_with_an_offset() {
    let mut builder = branching();
    builder.code[3] = 3; // into the middle of nothing: at 4, fine
    builder.code[2] = 1; // 256 further: past the end
    let bytes = builder.build();
    let error = edit(&bytes, |editor| editor.lay_out(0).unwrap()).unwrap_err();
    let RewriteErrorKind::Read(read) = error.kind else {
        panic!("{error}");
    };
    assert_eq!(&bytes[read.offset..read.offset + 3], &[opcode::IFEQ, 1, 3]);
}

#[test]
fn the_builder_builds_what_the_reader_reads() {
    let mut builder = branching();
    builder.constants.push(utf8("extra"));
    let bytes = builder.build();
    let class = ClassFile::read(&bytes).unwrap();
    let extra = class.pool.utf8(ClassBuilder::FIRST_EXTRA, 0).unwrap();
    assert_eq!(extra, b"extra");
}

/// Found by the fuzzer: the annotation was taken for one on deleted code.
#[test]
fn a_type_annotation_on_no_instruction_is_kept() {
    let mut builder = branching();
    let mut content = be(&[1]);
    content.push(0x43); // `instanceof` in the middle of the branch
    content.extend(be(&[2]));
    content.push(0);
    content.extend(be(&[6, 0]));
    builder.attributes = vec![
        ("StackMapTable", vec![0, 1, 5]),
        ("RuntimeVisibleTypeAnnotations", content),
    ];
    let bytes = builder.build();
    assert_eq!(lay_out_anew(&ClassFile::read(&bytes).unwrap()), bytes);
}

#[test]
fn exit_code_of_two_calls_runs_in_their_order() {
    let after = edit(&branching().build(), |editor| {
        let push = |opcode| Snippet::straight(vec![opcode, opcode::POP], 1);
        let (one, two) = (push(opcode::ICONST_1), push(opcode::ICONST_2));
        editor.on_exit(0, one.clone(), one, false).unwrap();
        editor.on_exit(0, two.clone(), two, false).unwrap();
    })
    .unwrap();
    with_code(&after, |code| {
        let expected = "0 iload_0\n1 ifeq 5\n4 nop\n5 iconst_1\n6 pop\n7 iconst_2\n8 pop\n9 return\n\
                        10 iconst_1\n11 pop\n12 iconst_2\n13 pop\n14 athrow";
        assert_eq!(listing(code), expected);
        let last = code.handlers().last().unwrap();
        assert_eq!((last.start, last.end, last.handler), (9, 10, 10));
    });
}
