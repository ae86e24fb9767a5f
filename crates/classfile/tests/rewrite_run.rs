//! Rewritten programs, run by a JVM that verifies everything.

mod rewrite_support;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use fewest_classfile::read::{ClassFile, Operand, opcode};
use fewest_classfile::rewrite::{Around, ClassEditor, RewriteErrorKind, Snippet};
use fewest_testkit::{Compilation, JavaRun, Javac, Jdk, TestProject};
use rewrite_support::{method_named, methods_with_code, nops};

/// The class files of one program, by name.
type Program = Vec<(String, Vec<u8>)>;

static FIXTURE: LazyLock<Program> = LazyLock::new(|| {
    let source = Compilation::new()
        .source("Fixture.java", include_str!("rewrite_java/Fixture.java"))
        .source("Hits.java", include_str!("rewrite_java/Hits.java"));
    compile(&source)
});

static EXITS: LazyLock<Program> = LazyLock::new(|| {
    let source = Compilation::new()
        .source("Exits.java", include_str!("rewrite_java/Exits.java"))
        .source("Log.java", include_str!("rewrite_java/Log.java"));
    compile(&source)
});

fn jdk() -> Jdk {
    Jdk::all().into_iter().next().expect("a JDK is installed")
}

fn compile(compilation: &Compilation) -> Program {
    let project = TestProject::new();
    let classes = project.path("classes");
    Javac::new(&jdk()).compile(compilation, &classes).unwrap();
    let mut program = Vec::new();
    collect(&classes, &classes, &mut program);
    program.sort();
    program
}

fn collect(root: &Path, folder: &Path, program: &mut Program) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, program);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            program.push((name.to_owned(), fs::read(&path).unwrap()));
        }
    }
}

fn run(program: &Program, main: &str) -> String {
    let project = TestProject::new();
    for (name, bytes) in program {
        project.write(Path::new("classes").join(name), bytes);
    }
    JavaRun::new(&jdk(), main)
        .jvm_args(["-Xverify:all"])
        .classpath([project.path("classes")])
        .succeed()
        .unwrap()
        .stdout
}

/// Edits each method of each class but those that inserted code calls.
fn edit_all(
    program: &Program,
    mut edit: impl FnMut(&mut ClassEditor<'_>, &ClassFile<'_>),
) -> Program {
    let edited = program.iter().map(|(name, bytes)| {
        if name.ends_with("Hits.class") || name.ends_with("Log.class") {
            return (name.clone(), bytes.clone());
        }
        let class = ClassFile::read(bytes).unwrap();
        let mut editor = ClassEditor::new(&class);
        edit(&mut editor, &class);
        let bytes = editor
            .finish()
            .unwrap_or_else(|error| panic!("{error}: {}", error.kind));
        (name.clone(), bytes)
    });
    edited.collect()
}

fn probe(editor: &mut ClassEditor<'_>) -> Snippet {
    let hits = editor.field_ref(b"fewest/probe/Hits", b"A", b"[B").unwrap();
    Snippet::probe(hits, 1)
}

/// `Log.add(id)`
fn log(editor: &mut ClassEditor<'_>, id: u8) -> Snippet {
    let add = editor
        .method_ref(b"fixture/Log", b"add", b"(I)V", false)
        .unwrap();
    let [high, low] = add.to_be_bytes();
    let code = vec![opcode::BIPUSH, id, opcode::INVOKESTATIC, high, low];
    Snippet::straight(code, 1)
}

#[test]
fn a_program_with_probes_before_every_instruction_does_the_same() {
    let expected = run(&FIXTURE, "fixture.Fixture");
    assert!(expected.contains("caught too many: 5"), "{expected}");
    let edited = edit_all(&FIXTURE, |editor, class| {
        for (method, code) in methods_with_code(class) {
            let snippet = probe(editor);
            for instruction in code.instructions() {
                let pc = instruction.unwrap().pc;
                editor.insert_before(method, pc, snippet.clone()).unwrap();
            }
            editor.insert_at_entry(method, snippet).unwrap();
        }
    });
    assert_eq!(run(&edited, "fixture.Fixture"), expected);
}

/// Each method is torn apart at each of its branches in turn, so that every
/// branch there is gets widened at some time, with the frames that asks for.
#[test]
fn a_program_whose_branches_are_far_does_the_same() {
    let expected = run(&FIXTURE, "fixture.Fixture");
    let mut widened = 0;
    for round in 0.. {
        let mut more = false;
        let edited = edit_all(&FIXTURE, |editor, class| {
            for (method, code) in methods_with_code(class) {
                let mut branches = code
                    .instructions()
                    .map(Result::unwrap)
                    .filter(|instruction| matches!(instruction.operand, Operand::Branch(_)));
                if let Some(branch) = branches.nth(round) {
                    more = true;
                    widened += 1;
                    let Operand::Branch(target) = branch.operand else {
                        unreachable!()
                    };
                    let gap = if target > i64::from(branch.pc) {
                        branch.end() as u16
                    } else {
                        branch.pc
                    };
                    editor.insert_before(method, gap, nops(32768)).unwrap();
                }
            }
        });
        if !more {
            break;
        }
        assert_eq!(run(&edited, "fixture.Fixture"), expected, "round {round}");
    }
    assert!(widened > 40, "only {widened} branches");
}

#[test]
fn inserted_code_may_branch_to_its_end_wherever_it_stands() {
    let expected = run(&FIXTURE, "fixture.Fixture");
    let skip = Snippet {
        code: vec![opcode::ICONST_0, opcode::IFEQ, 0, 4, opcode::NOP],
        max_stack: 1,
        frame_after: true,
    };
    let edited = edit_all(&FIXTURE, |editor, class| {
        for (method, code) in methods_with_code(class) {
            for instruction in code.instructions() {
                let pc = instruction.unwrap().pc;
                editor.insert_before(method, pc, skip.clone()).unwrap();
            }
            editor.insert_at_entry(method, skip.clone()).unwrap();
            editor.insert_at_entry(method, skip.clone()).unwrap();
        }
    });
    assert_eq!(run(&edited, "fixture.Fixture"), expected);
}

#[test]
fn exits_are_seen_by_return_and_by_exception() {
    let edited = edit_all(&EXITS, |editor, class| {
        for (method, _) in methods_with_code(class) {
            let key = class.method_key(&class.methods()[method]).unwrap();
            if ["main", "say"].contains(&&*key.name) {
                continue;
            }
            let (entry, on_return, on_throw) = (log(editor, 1), log(editor, 2), log(editor, 3));
            editor.insert_at_entry(method, entry).unwrap();
            let with_this = !class.methods()[method].is_static();
            editor
                .on_exit(method, on_return, on_throw, with_this)
                .unwrap();
        }
    });
    let expected = "\
init: 3 [1 2]
broken: NumberFormatException [1 3]
constructor: 4 [1 2]
constructor: / by zero [1 3]
either: firstsecond [1 2 1 2]
rescue: null [1 2 1 2 1 3]
add: 34.0 [1 2 1 2]
add: no number [1 2 1 3]
speak: wordword [1 1 2 1 2 2 1 2]
reflection: public transient synchronized true true []
";
    // The lambda's body runs twice within `twice`; `transient` is how Java
    // prints the flag of a method with a variable number of arguments.
    assert_eq!(run(&edited, "fixture.Exits"), expected);
}

#[test]
fn wrappers_stand_in_for_methods_and_see_both_ways_out() {
    let edited = edit_all(&EXITS, |editor, class| {
        for method in 0..class.methods().len() {
            let member = &class.methods()[method];
            let key = class.method_key(member).unwrap();
            if ["main", "say"].contains(&&*key.name) || member.is_abstract() {
                continue;
            }
            let around = Around {
                before: log(editor, 1),
                after_return: log(editor, 2),
                after_throw: Some(log(editor, 3)),
            };
            let new_name = format!("{}$body", key.name);
            let wrapped = editor.wrap(method, new_name.as_bytes(), around);
            if key.is_constructor() || key.is_static_initializer() {
                let kind = wrapped.unwrap_err().kind;
                assert!(matches!(kind, RewriteErrorKind::CannotWrap(_)), "{kind}");
            } else {
                wrapped.unwrap();
                let body = log(editor, 4);
                if key.name.starts_with("add") {
                    editor.insert_at_entry(method, body).unwrap();
                }
            }
        }
    });
    let expected = "\
init: 3 []
broken: NumberFormatException []
constructor: 4 []
constructor: / by zero []
either: firstsecond [1 2 1 2]
rescue: null [1 2 1 2 1 3]
add: 34.0 [1 4 2]
add: no number [1 4 3]
speak: wordword [1 1 2 1 2 2 1 2]
reflection: public transient true true []
";
    assert_eq!(run(&edited, "fixture.Exits"), expected);
}

#[test]
fn a_deleted_statement_is_not_run() {
    let edited = edit_all(&FIXTURE, |editor, class| {
        if class.name().as_str() != "fixture/Fixture" {
            return;
        }
        // `System.out.println(trace)`, the only statement that reads the field
        // between a read of `out` and a call of `println`.
        let main = method_named(class, "main");
        let code = class.code(&class.methods()[main]).unwrap().unwrap();
        let all: Vec<_> = code.instructions().map(Result::unwrap).collect();
        let field = |index: usize| match all[index].opcode {
            opcode::GETSTATIC => {
                class
                    .pool
                    .member(all[index].constant().unwrap(), 0)
                    .unwrap()
                    .name
            }
            _ => b"",
        };
        let start = (0..all.len() - 3)
            .find(|&index| field(index) == b"out" && field(index + 1) == b"trace")
            .unwrap();
        editor
            .delete(main, all[start].pc..all[start + 3].pc)
            .unwrap();
    });
    let expected = run(&FIXTURE, "fixture.Fixture");
    let said = run(&edited, "fixture.Fixture");
    let gone: Vec<_> = expected
        .lines()
        .filter(|line| !said.contains(line))
        .collect();
    assert_eq!(gone.len(), 1, "{said}");
    assert!(gone[0].contains("four"), "{gone:?}");
}

#[test]
fn one_method_too_large_leaves_the_others_probed() {
    let body = "x++;".repeat(21_800);
    let text = format!(
        "public class Big {{\
           static int small(int x) {{ return x + 1; }}\
           static int big(int x) {{ {body} return x; }}\
           public static void main(String[] args) {{ System.out.println(small(1) + big(2)); }}\
         }}"
    );
    let source = Compilation::new()
        .source("Big.java", text)
        .source("Hits.java", include_str!("rewrite_java/Hits.java"))
        .options(["-g:none"]);
    let program = compile(&source);
    let (_, bytes) = program
        .iter()
        .find(|(name, _)| name == "Big.class")
        .unwrap();
    let class = ClassFile::read(bytes).unwrap();
    let mut editor = ClassEditor::new(&class);
    for (method, _) in methods_with_code(&class) {
        let snippet = probe(&mut editor);
        for _ in 0..20 {
            editor.insert_at_entry(method, snippet.clone()).unwrap();
        }
    }
    let rewritten = editor.finish_what_fits();
    let left: Vec<_> = rewritten
        .left_alone
        .iter()
        .map(|left| left.method)
        .collect();
    assert_eq!(left, [method_named(&class, "big")]);
    let again = ClassFile::read(&rewritten.bytes).unwrap();
    let length = |class: &ClassFile<'_>, name: &str| {
        let method = &class.methods()[method_named(class, name)];
        class.code(method).unwrap().unwrap().bytes.len()
    };
    assert_eq!(length(&again, "small"), length(&class, "small") + 160);
    assert_eq!(length(&again, "big"), length(&class, "big"));
    let mut program = program.clone();
    for (name, bytes) in &mut program {
        if name == "Big.class" {
            bytes.clone_from(&rewritten.bytes);
        }
    }
    assert_eq!(run(&program, "Big"), "21804\n");
}
