//! Looking at the members of a class counts for every test that does so, though
//! the JVM's classes tell of it only where it is news.

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fewest_testkit::Jdk;
use fewest_trace::{Event, Thing, Uses};
use support::{Suite, Traced};

/// The names of classes among what was used, whose members were looked at.
fn reflected(trace: &Traced, uses: &Uses) -> BTreeSet<String> {
    let things = trace.events.iter().filter_map(|event| match event {
        Event::Thing {
            id,
            thing: Thing::Reflected(class),
        } if uses.things.contains(id) => Some(class.as_str().to_owned()),
        _ => None,
    });
    things.collect()
}

/// The same of a test class.
fn reflected_by(trace: &Traced, test: &str) -> BTreeSet<String> {
    let windows: BTreeSet<u32> = trace
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Opened(open) if open.class.as_str() == test => Some(open.window),
            _ => None,
        })
        .collect();
    let uses = trace.events.iter().filter_map(|event| match event {
        Event::Closed(close) if windows.contains(&close.window) => Some(&close.uses),
        _ => None,
    });
    uses.flat_map(|uses| reflected(trace, uses)).collect()
}

fn run(suite: &Suite, jdk: &Jdk) -> Traced {
    let plain = suite.plain(jdk).finish().unwrap();
    support::assert_same(&plain, &suite.traced(jdk).finish().unwrap());
    assert_eq!(plain.code(), Some(0), "{}", plain.stdout);
    suite.trace()
}

#[test]
fn each_test_and_each_initializer_is_told_of_the_same_class() {
    const LOOK: &str = "for (int i = 0; i < 100; i++) {
        assertEquals(1, Looked.class.getDeclaredFields().length);
        assertEquals(0, int.class.getDeclaredFields().length);
    }";
    for jdk in Jdk::old_and_new() {
        let late = format!("{LOOK} assertEquals(1, Late.COUNT);");
        let suite = Suite::new(
            &[("ATest", LOOK), ("BTest", &late), ("CTest", "")],
            &[
                ("Looked.java", "class Looked { int field; }"),
                (
                    "Late.java",
                    "class Late { static final int COUNT = Looked.class.getDeclaredFields().length; }",
                ),
            ],
        );
        let trace = run(&suite, &jdk);
        assert!(reflected_by(&trace, "ATest").contains("Looked"));
        assert!(reflected_by(&trace, "BTest").contains("Looked"));
        assert!(!reflected_by(&trace, "CTest").contains("Looked"));
        let initializer = trace.events.iter().any(|event| match event {
            Event::Initialized { uses, .. } => reflected(&trace, uses).contains("Looked"),
            _ => false,
        });
        assert!(
            initializer,
            "the test had looked before the initializer did"
        );
    }
}

#[test]
fn finding_a_member_for_a_method_handle_is_a_look_at_its_class() {
    let finds = |member: &str| {
        format!(
            "java.lang.invoke.MethodHandles.Lookup lookup = java.lang.invoke.MethodHandles.lookup();
            java.lang.invoke.MethodType type = java.lang.invoke.MethodType.methodType(void.class);
            try {{ lookup.{member}; }} catch (ReflectiveOperationException e) {{ }}"
        )
    };
    let tests = [
        ("ATest", finds("findStatic(Found.class, \"no\", type)")),
        ("BTest", finds("findVirtual(Found.class, \"method\", type)")),
        ("CTest", finds("findConstructor(Found.class, type)")),
        (
            "DTest",
            finds("findStaticGetter(Found.class, \"no\", int.class)"),
        ),
        ("ETest", finds("bind(new Found(), \"method\", type)")),
        // Handles that the JVM makes for a lambda and a method reference.
        (
            "FTest",
            "Runnable one = () -> new Found().method(); one.run();
            Runnable two = new Found()::method; two.run();"
                .to_owned(),
        ),
    ];
    let tests = tests.each_ref().map(|(name, body)| (*name, body.as_str()));
    let found = ("Found.java", "class Found { void method() { } }");
    for jdk in Jdk::old_and_new() {
        let trace = run(&Suite::new(&tests, &[found]), &jdk);
        for (test, _) in tests {
            let looks = reflected_by(&trace, test).contains("Found");
            assert_eq!(looks, test != "FTest", "{test}");
        }
    }
}

/// A thread of nobody's looks at many classes all the time. While a test runs,
/// it goes through all of them, whatever it has told for the test before.
#[test]
fn a_thread_that_never_stops_looking_is_told_of_in_every_test() {
    const CLASSES: usize = 40;
    const TESTS: usize = 20;
    let mut classes = String::new();
    let mut list = String::new();
    for number in 0..CLASSES {
        let _ = writeln!(classes, "class Looked{number} {{ }}");
        let _ = write!(list, "Looked{number}.class, ");
    }
    let looker = format!(
        "class Looker extends Thread {{
            static final Class<?>[] CLASSES = {{ {list} }};
            static volatile int rounds;
            static {{ Looker it = new Looker(); it.setDaemon(true); it.start(); }}
            public void run() {{
                for (;; rounds++) for (Class<?> each : CLASSES) each.getDeclaredMethods();
            }}
            static void wholeRound() throws Exception {{
                int begun = rounds;
                while (rounds < begun + 2) Thread.sleep(1);
            }}
        }}"
    );
    let names: Vec<String> = (0..TESTS).map(|number| format!("T{number}Test")).collect();
    let tests: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "Looker.wholeRound();"))
        .collect();
    let suite = Suite::new(
        &tests,
        &[("Looked.java", &classes), ("Looker.java", &looker)],
    );
    for jdk in Jdk::old_and_new() {
        let trace = run(&suite, &jdk);
        for name in &names {
            let told = reflected_by(&trace, name);
            let missing: Vec<_> = (0..CLASSES)
                .map(|number| format!("Looked{number}"))
                .filter(|class| !told.contains(class))
                .collect();
            assert!(missing.is_empty(), "{name} is not told of {missing:?}");
        }
        std::fs::remove_dir_all(suite.project.path("agent/traces")).unwrap();
    }
}
