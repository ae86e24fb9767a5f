//! Probes in blocks, and the classes of receivers: what the techniques between
//! methods and statements ask for.

mod windows_support;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use fewest_agent::Config;
use fewest_testkit::{Jdk, maven_jars};
use fewest_trace::{ClassEntry, Event, Thing, Trace, Uses, read_file};
use windows_support::{Stage, agent_library, assert_same, trace_files};

const MAIN: &str = "org.junit.runner.JUnitCore";

fn junit() -> Vec<PathBuf> {
    maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap()
}

/// A trace of a JVM with all probes, and that the JVM did as without them.
fn trace(stage: &Stage, jdk: &Jdk, tests: &[&str]) -> Trace {
    let folder = stage.project.path("agent");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let config = Config {
        folder,
        things: true,
        receivers: true,
        blocks: true,
        statements: true,
        ..Config::default()
    };
    let path = stage.project.write("agent/agent.conf", config.to_text());
    let option = format!(
        "-agentpath:{}={}",
        agent_library().display(),
        path.display()
    );
    let tests = || tests.iter().copied();
    let plain = stage.plain(jdk, MAIN).args(tests()).finish().unwrap();
    let traced = stage
        .plain(jdk, MAIN)
        .jvm_args([option])
        .args(tests())
        .finish()
        .unwrap();
    assert!(plain.success(), "{}", plain.stdout);
    assert_same(&plain, &traced);
    let files = trace_files(&stage.project.path("agent"));
    assert_eq!(files.len(), 1, "{files:?}");
    let trace = read_file(&files[0]).unwrap();
    assert!(trace.is_complete());
    trace
}

/// What a test class used, in all of its windows.
fn uses(trace: &Trace, test: &str) -> Uses {
    let events = || trace.events.iter();
    let windows: Vec<u32> = events()
        .filter_map(|event| match event {
            Event::Opened(open) if open.class.as_str() == test => Some(open.window),
            _ => None,
        })
        .collect();
    let mut all = Uses::default();
    for event in events() {
        if let Event::Closed(close) = event
            && windows.contains(&close.window)
        {
            all.probes.extend(&close.uses.probes);
            all.things.extend(&close.uses.things);
        }
    }
    all
}

fn class<'a>(trace: &'a Trace, name: &str) -> &'a ClassEntry {
    trace
        .events
        .iter()
        .find_map(|event| match event {
            Event::Class(class) if class.name.as_str() == name => Some(class),
            _ => None,
        })
        .expect("the class was loaded")
}

/// The blocks of a method that a test ran, the first one aside.
fn blocks(trace: &Trace, test: &str, name: &str, method: &str) -> BTreeSet<usize> {
    let class = class(trace, name);
    let probes = uses(trace, test).probes.into_iter();
    probes
        .filter_map(|probe| class.place(probe))
        .filter(|(key, _)| &*key.name == method)
        .filter_map(|(_, block)| block)
        .collect()
}

/// The classes that a test ran a method on.
fn receivers(trace: &Trace, test: &str, name: &str, method: &str) -> BTreeSet<String> {
    let class = class(trace, name);
    let used = uses(trace, test).things;
    let things = trace.events.iter().filter_map(|event| match event {
        Event::Thing { id, thing } if used.contains(id) => Some(thing),
        _ => None,
    });
    things
        .filter_map(|thing| match thing {
            Thing::Receiver { class: on, probe } => {
                let (key, _) = class.place(*probe)?;
                (&*key.name == method).then(|| on.to_string())
            }
            _ => None,
        })
        .collect()
}

const SOURCES: &[&str] = &[
    "public class Sign {
        static int of(int i) {
            if (i > 0) { return 1; }
            try {
                if (i == 0) { throw new IllegalStateException(); }
                return -1;
            } catch (IllegalStateException e) { return 0; }
        }
    }",
    "public class PlusTest {
        @org.junit.Test public void test() { org.junit.Assert.assertEquals(1, Sign.of(5)); }
    }",
    "public class ZeroTest {
        @org.junit.Test public void test() { org.junit.Assert.assertEquals(0, Sign.of(0)); }
    }",
    "public class Base {
        int twice(int i) { return 2 * once(i); }
        int once(int i) { return i; }
        final int fixed() { return 0; }
    }",
    "public class Left extends Base {}",
    "public class Right extends Base { @Override int once(int i) { return -i; } }",
    "public interface Step { int step(int i); default int steps(int i) { return step(step(i)); } }",
    "public class LeftTest {
        @org.junit.Test public void test() { new Left().twice(1); new Base().twice(1); new Left().fixed(); }
    }",
    "public class RightTest {
        static int sum;
        @org.junit.Test public void test() {
            Base[] all = {new Left(), new Right(), new Base()};
            for (int i = 0; i < 1000; i++) { sum += all[i % 3].twice(i); }
            Step step = i -> i + 1;
            org.junit.Assert.assertEquals(3, step.steps(1));
        }
    }",
];

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn each_test_tells_the_blocks_and_receivers_of_its_own() {
    let stage = Stage::new(SOURCES, &junit());
    for jdk in Jdk::old_and_new() {
        let tests = ["PlusTest", "ZeroTest", "LeftTest", "RightTest"];
        let trace = trace(&stage, &jdk, &tests);
        let plus = blocks(&trace, "PlusTest", "Sign", "of");
        let zero = blocks(&trace, "ZeroTest", "Sign", "of");
        assert_eq!(plus.len(), 1);
        assert!(zero.len() >= 3, "question, throw and handler: {zero:?}");
        assert!(plus.is_disjoint(&zero));

        let left = |method| receivers(&trace, "LeftTest", "Base", method);
        assert_eq!(left("twice"), names(&["Base", "Left"]));
        assert_eq!(left("once"), names(&["Base", "Left"]));
        assert_eq!(left("fixed"), names(&[]));
        // All are told of again for the next test, more than are remembered.
        let right = |class, method| receivers(&trace, "RightTest", class, method);
        assert_eq!(right("Base", "twice"), names(&["Base", "Left", "Right"]));
        assert_eq!(right("Base", "once"), names(&["Base", "Left"]));
        assert_eq!(right("Right", "once"), names(&["Right"]));
        // The class of a lambda has no name that means anything.
        assert!(right("Step", "steps").contains("Step"));
    }
}

/// A method that has no room for probes in its blocks, but for one at entry.
fn large() -> String {
    let body: Vec<String> = (0..2_700)
        .map(|number| format!("if (i == {number}) s += {number};\n"))
        .collect();
    let body = body.concat();
    format!("public class Large {{ static int of(int i) {{ int s = 0;\n{body} return s; }} }}")
}

#[test]
fn a_method_that_is_too_large_for_block_probes_keeps_that_of_its_entry() {
    let large = large();
    let test = "public class LargeTest { @org.junit.Test public void test() { Large.of(3); } }";
    let stage = Stage::new(&[&large, test], &junit());
    let trace = trace(&stage, &Jdk::under_test(), &["LargeTest"]);
    let entry = class(&trace, "Large");
    let at = entry
        .methods
        .iter()
        .position(|key| &*key.name == "of")
        .unwrap();
    assert!(!entry.blocks[at].probed);
    assert!(entry.blind.is_empty());
    assert!(
        entry
            .blocks
            .iter()
            .enumerate()
            .all(|(n, b)| n == at || b.probed)
    );
    let probe = entry.first_probe + at as u32;
    assert!(uses(&trace, "LargeTest").probes.contains(&probe));
    assert!(blocks(&trace, "LargeTest", "Large", "of").is_empty());
}

#[test]
fn each_statement_of_a_straight_test_tells_what_it_used() {
    let calls = "public class Calls {
        static int one() { return 1; }
        static int two() { return 2; }
        static int three() { return 3; }
    }";
    let test = "import static org.junit.Assert.*;
    public class StraightTest {
        @org.junit.Test public void straight() {
            int one = Calls.one();
            assertEquals(1, one);
            assertEquals(5, Calls.two() + Calls.three());
        }
        @org.junit.Test public void branching() {
            for (int i = 0; i < 2; i++) { assertEquals(1, Calls.one()); }
        }
    }";
    let test = test.replacen("import static org.junit.Assert.*;", "", 1);
    let test = test.replace("assertEquals", "org.junit.Assert.assertEquals");
    let stage = Stage::new(&[calls, test.trim()], &junit());
    for jdk in Jdk::old_and_new() {
        let trace = trace(&stage, &jdk, &["StraightTest"]);
        let test = class(&trace, "StraightTest");
        let [told] = test.statements[..] else {
            panic!("one method is straight: {:?}", test.statements);
        };
        assert_eq!(&*test.methods[told.method as usize].name, "straight");
        // Two assertions, the assignment before them, and the return.
        assert_eq!(told.count, 4);
        let ran: Vec<Vec<&str>> = (told.first..told.first + 4)
            .map(|number| {
                let uses = trace.events.iter().find_map(|event| match event {
                    Event::Statement {
                        statement, uses, ..
                    } if *statement == number => Some(uses),
                    _ => None,
                });
                let probes = uses.expect("it ran").probes.iter();
                let calls = class(&trace, "Calls");
                probes
                    .filter_map(|&probe| calls.place(probe))
                    .map(|(key, _)| &*key.name)
                    .collect()
            })
            .collect();
        assert_eq!(ran, [vec!["one"], vec![], vec!["two", "three"], vec![]]);
    }
}
