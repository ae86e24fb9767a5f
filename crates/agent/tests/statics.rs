//! What windows tell of the static fields that they leave changed.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use fewest_testkit::Jdk;
use fewest_trace::Event;
use support::{Suite, Traced};

/// Fields of `State` and `Twice` that each test class left in the window in
/// which its test ran. `None` where the agent does not say.
fn left(trace: &Traced) -> BTreeMap<String, Option<Vec<String>>> {
    let mut classes = BTreeMap::new();
    let mut ran = Vec::new();
    let mut left = BTreeMap::new();
    for event in &trace.events {
        match event {
            Event::Opened(open) => {
                classes.insert(open.window, open.class.to_string());
            }
            Event::Closed(close) if close.tests > 0 => ran.push(close.window),
            Event::Left { window, fields } => {
                let fields = fields.iter();
                let own = fields.filter(|(class, _)| ["State", "Twice"].contains(&class.as_str()));
                let names = own.map(|(class, name)| format!("{class}.{name}"));
                left.insert(*window, names.collect());
            }
            _ => {}
        }
    }
    let by_class = ran
        .iter()
        .map(|window| (classes[window].clone(), left.remove(window)));
    by_class.collect()
}

fn watched(trace: &Traced) -> BTreeSet<String> {
    let classes = trace.events.iter().filter_map(|event| match event {
        Event::Watched { class, .. } => Some(class.to_string()),
        _ => None,
    });
    classes.collect()
}

const STATE: (&str, &str) = (
    "State.java",
    "public class State {
        static boolean flag; static byte tiny; static char letter; static short low; static int number;
        static long big = 5; static float real; static double exact = 0.0; static Object object = new Object();
        static final int CONSTANT = 1;
    }",
);

/// Loads `Twice` by two loaders, neither of which is that of the tests.
const LOAD_TWICE: &str = "java.net.URL[] urls = { new File(\"classes\").toURI().toURL() };
    for (int i = 0; i < 2; i++) {
        ClassLoader loader = new java.net.URLClassLoader(urls, null);
        Class.forName(\"Twice\", true, loader);
    }";

#[test]
fn a_window_tells_which_static_fields_it_leaves_changed() {
    for jdk in Jdk::old_and_new() {
        let suite = Suite::new(
            &[
                ("ATest", "assertEquals(5, State.big);"),
                (
                    "BTest",
                    "State.flag = true; State.tiny++; State.letter++; State.low++; State.number++;
                     State.big++; State.real++; State.exact = -0.0; State.object = new Object();",
                ),
                ("CTest", "State.number++; State.number--; Object o = State.object; State.object = null; State.object = o;"),
                ("DTest", "State.real = Float.NaN; State.number = -1;"),
                ("ETest", "State.real = Float.NaN; State.object.hashCode();"),
                ("FTest", LOAD_TWICE),
                ("GTest", ""),
                // A window within a window.
                ("HTest", "org.junit.runner.JUnitCore.runClasses(InnerTest.class);"),
                (
                    "ITest",
                    "Thread thread = new Thread(() -> { synchronized (State.class) { try { State.class.wait(60000); }
                       catch (InterruptedException e) { State.number = 7; } } });
                     thread.setDaemon(true);
                     thread.start();",
                ),
            ],
            &[
                STATE,
                ("Twice.java", "public class Twice { static int number; }"),
                (
                    "InnerTest.java",
                    "public class InnerTest { @org.junit.Test public void test() { State.number++; } }",
                ),
            ],
        );
        let finished = suite.traced(&jdk).finish().unwrap();
        assert_eq!(finished.code(), Some(0), "{}", finished.stdout);
        let trace = suite.trace();
        let told: Vec<String> = left(&trace)
            .into_iter()
            .map(|(class, left)| match left {
                Some(fields) => format!("{class}: {}", fields.join(" "))
                    .trim_end()
                    .to_owned(),
                None => format!("{class} does not say"),
            })
            .collect();
        let expected = [
            "ATest:",
            "BTest: State.flag State.tiny State.letter State.low State.number State.big State.real \
             State.exact State.object",
            "CTest:",
            "DTest: State.number State.real",
            "ETest:",
            "FTest: Twice.number",
            "GTest: Twice.number",
            "HTest does not say",
            "ITest does not say",
            "InnerTest does not say",
        ];
        assert_eq!(told, expected, "JDK {}", jdk.version());
        assert!(watched(&trace).contains("State"));
    }
}
