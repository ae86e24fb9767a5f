//! Control flow, and what an edit makes dangerous.

use std::collections::BTreeSet;
use std::fmt::Write;

use fewest_classfile::fingerprint::Options;
use fewest_classfile::graph::{Graph, dangerous_blocks};
use fewest_classfile::read::ClassFile;

use crate::fixture::{Files, Program, compile};

fn graph(files: &Files) -> Graph {
    let class = ClassFile::read(&files["A.class"]).unwrap();
    let method = class
        .methods()
        .iter()
        .find(|method| &*class.method_key(method).unwrap().name == "m")
        .expect("a method `m`");
    Graph::of(&class, method, Options::default())
        .unwrap()
        .expect("`m` has code")
}

fn graphs<const N: usize>(sources: [&str; N]) -> [Graph; N] {
    let options = &["--release", "17"];
    let programs = sources.map(|source| Program { source, options });
    let compiled = compile(&programs);
    std::array::from_fn(|number| graph(&compiled[number]))
}

fn show(graph: &Graph) -> String {
    let mut text = String::new();
    for (number, block) in graph.blocks.iter().enumerate() {
        let _ = write!(
            text,
            "{number}: {}..{} -> {:?}",
            block.instructions.start, block.instructions.end, block.successors
        );
        for edge in &block.handlers {
            let caught = edge.catch_type.as_ref().map_or("all", |name| name.simple());
            let _ = write!(text, ", {caught} -> {}", edge.block);
        }
        text.push('\n');
    }
    text
}

#[test]
fn blocks_end_where_control_parts() {
    let [graph] = graphs(["class A { int m(int i) {
        while (i > 0) { if (i == 7) return 1; i--; }
        return 2;
    } }"]);
    // A branch leads to its target before it leads on.
    assert_eq!(
        show(&graph),
        "\
0: 0..2 -> [4, 1]
1: 2..5 -> [3, 2]
2: 5..7 -> []
3: 7..9 -> [0]
4: 9..11 -> []
"
    );
}

#[test]
fn switches_lead_to_their_default_first() {
    let [graph] = graphs(["class A { int m(int i) {
        switch (i) { case 1: return 10; case 2: return 20; case 4: return 40; default: return 0; }
    } }"]);
    assert_eq!(graph.blocks[0].successors, [4, 1, 2, 4, 3]);
}

#[test]
fn handlers_are_edges_of_the_blocks_they_cover() {
    let [graph] = graphs(["class A { void m() {
        System.gc();
        try { m(); } catch (IllegalStateException e) { m(); } finally { System.gc(); }
    } }"]);
    assert_eq!(
        show(&graph),
        "\
0: 0..1 -> [1]
1: 1..3 -> [2], IllegalStateException -> 3, all -> 5
2: 3..5 -> [6]
3: 5..8 -> [4], all -> 5
4: 8..10 -> [6]
5: 10..14 -> []
6: 14..15 -> []
"
    );
}

/// Which statements of the old version are dangerous, by the numbers that they
/// pass to `at`.
fn dangerous(old: &str, new: &str) -> BTreeSet<usize> {
    let body = |body: &str| {
        format!(
            "class A {{ static void at(int i) {{}} void m(int i) throws Exception {{ {body} }} }}"
        )
    };
    let (old, new) = (body(old), body(new));
    let [old, new] = graphs([&old, &new]);
    let dangerous = dangerous_blocks(&old, &new);
    for executed in executions(&old) {
        let walk = old.walk(&executed);
        let same = old.fingerprint_of(&walk) == new.fingerprint_of(&walk);
        assert!(same || !executed.is_disjoint(&dangerous), "{executed:?}");
    }
    dangerous
}

/// The blocks that runs of a method can go through: one set for each way that
/// takes every edge at most once.
fn executions(graph: &Graph) -> BTreeSet<BTreeSet<usize>> {
    let mut found = BTreeSet::new();
    let mut ways = vec![(0, BTreeSet::from([0]))];
    while let Some((at, executed)) = ways.pop() {
        let block = &graph.blocks[at];
        let handlers = block.handlers.iter().map(|edge| edge.block);
        for next in block.successors.iter().copied().chain(handlers) {
            let mut further = executed.clone();
            if further.insert(next) {
                ways.push((next, further));
            }
        }
        found.insert(executed);
    }
    found
}

/// Whether a run over these blocks is the same in both versions.
fn same_for(old: &str, new: &str, executed: &[usize]) -> bool {
    let [old, new] = graphs([old, new]);
    let walk = old.walk(&executed.iter().copied().collect());
    assert!(walk.masks().is_some(), "the blocks hang together");
    old.fingerprint_of(&walk) == new.fingerprint_of(&walk)
}

#[test]
fn a_walk_sees_what_it_meets_and_nothing_else() {
    let old = "class A { int m(int i) { if (i > 0) { return 1; } return 2; } }";
    let other_way = "class A { int m(int i) { if (i > 0) { return 7; } return 2; } }";
    let longer =
        "class A { int m(int i) { if (i > 0) { while (i > 3) i--; return i; } return 2; } }";
    let question = "class A { int m(int i) { if (i > 1) { return 1; } return 2; } }";
    let flags = "class A { final int m(int i) { if (i > 0) { return 1; } return 2; } }";
    // Block 1 returns 1, block 2 returns 2.
    for (new, first, second) in [
        (old, true, true),
        (other_way, false, true),
        (longer, false, true),
        (question, false, false),
        (flags, false, false),
    ] {
        assert_eq!(same_for(old, new, &[0, 1]), first, "{new}");
        assert_eq!(same_for(old, new, &[0, 2]), second, "{new}");
    }
}

#[test]
fn a_handler_that_comes_to_catch_counts_for_who_ran_what_it_covers() {
    let old = "class A { void m(int i) { if (i > 0) { m(1); } m(2); } }";
    let new =
        "class A { void m(int i) { if (i > 0) { try { m(1); } catch (Error e) { } } m(2); } }";
    assert!(!same_for(old, new, &[0, 1, 2]));
    assert!(same_for(old, new, &[0, 2]));
}

#[test]
fn blocks_that_do_not_hang_together_are_the_whole_method() {
    let [graph] = graphs([
        "class A { int m(int i) { if (i > 0) { while (i > 3) i--; return i; } return 2; } }",
    ]);
    let apart = BTreeSet::from([0, graph.blocks.len() - 2]);
    assert_eq!(graph.walk(&apart).masks(), None);
    assert_eq!(graph.walk(&BTreeSet::from([0, 99])).masks(), None);
}

#[test]
fn equal_versions_have_no_danger() {
    let body = "if (i > 0) at(1); else at(2); try { at(3); } catch (Error e) { at(4); }";
    assert_eq!(dangerous(body, body), BTreeSet::new());
}

#[test]
fn a_change_on_one_way_leaves_the_other_safe() {
    let old = "if (i > 0) at(1); else at(2); at(9);";
    // Blocks: 0 the question, 1 and 2 its ways, 3 the rest.
    assert_eq!(
        dangerous(old, "if (i > 0) at(7); else at(2); at(9);"),
        [1].into()
    );
    assert_eq!(
        dangerous(old, "if (i > 0) at(1); else at(7); at(9);"),
        [2].into()
    );
    assert_eq!(
        dangerous(old, "if (i > 0) at(1); else at(2); at(7);"),
        [3].into()
    );
    assert_eq!(
        dangerous(old, "if (i < 0) at(1); else at(2); at(9);"),
        [0].into()
    );
}

#[test]
fn an_inserted_statement_is_met_where_the_versions_part() {
    let old = "if (i > 0) { at(1); } at(9);";
    let new = "if (i > 0) { at(1); } else { at(7); } at(9);";
    // Without the other way, the old version goes on to `at(9)` where the new
    // one comes to `at(7)`.
    assert_eq!(dangerous(old, new), [2].into());
}

#[test]
fn a_change_in_a_handler_endangers_the_handler_alone() {
    let old = "try { at(1); } catch (IllegalStateException e) { at(2); }";
    assert_eq!(
        dangerous(
            old,
            "try { at(1); } catch (IllegalStateException e) { at(7); }"
        ),
        [2].into()
    );
}

#[test]
fn a_change_of_what_is_caught_endangers_what_is_covered() {
    let old = "at(0); try { at(1); } catch (IllegalStateException e) { at(2); }";
    let other_type = "at(0); try { at(1); } catch (IllegalArgumentException e) { at(2); }";
    assert_eq!(dangerous(old, other_type), [1].into());
    // A handler less: `at(1)` stands in one block with `at(0)` then.
    assert_eq!(dangerous(old, "at(0); at(1);"), [0].into());
}

#[test]
fn a_key_of_a_switch_endangers_the_switch() {
    let old = "switch (i) { case 1: at(1); break; case 2: at(2); }";
    assert_eq!(
        dangerous(old, "switch (i) { case 1: at(1); break; case 3: at(2); }"),
        [0].into()
    );
    assert_eq!(
        dangerous(old, "switch (i) { case 1: at(1); break; case 2: at(7); }"),
        [2].into()
    );
}

#[test]
fn a_change_outside_of_the_code_endangers_all() {
    let [old, new] = graphs([
        "class A { void m(int i) { if (i > 0) m(0); } }",
        "class A { synchronized void m(int i) { if (i > 0) m(0); } }",
    ]);
    assert_eq!(dangerous_blocks(&old, &new).len(), old.blocks.len());
}
