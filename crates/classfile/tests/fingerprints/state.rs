//! Which objects behind static fields a method changes.

use std::fmt::Write;

use fewest_classfile::read::ClassFile;
use fewest_classfile::references::{empty_arrays, state_uses};

use crate::fixture::{Program, compile};

const SOURCE: &str = r#"
import java.util.*;
import java.util.function.*;

class Box { List<String> list = new ArrayList<>(); void grow() { list.add("x"); } }
class A {
    static final Map<String, List<String>> MAP = new HashMap<>();
    static final Map<String, Integer> OTHER = new HashMap<>();
    static final String[] NAMES = {"a"};
    static final String[] NONE = {};
    static String[] perhaps = {};
    static final int[] NUMBERS = new int[0];
    static final List<String>[] LISTS = null;
    static final Box BOX = new Box();
    static final ThreadLocal<Set<Object>> LOCAL = ThreadLocal.withInitial(HashSet::new);
    final List<String> own = new ArrayList<>();

    // Those that change what stands behind a field.
    void put() { MAP.put("a", null); }
    void inList() { MAP.get("a").add("b"); }
    void inView() { for (List<String> list : MAP.values()) { list.clear(); } }
    void byIterator() { Iterator<String> all = MAP.keySet().iterator(); all.next(); all.remove(); }
    void byEntry() { for (Map.Entry<String, Integer> e : OTHER.entrySet()) { e.setValue(2); } }
    void byLocal(boolean b) { Map<String, Integer> map = new HashMap<>(); if (b) { map = OTHER; } map.put("a", 1); }
    void byTernary(boolean b) { (b ? OTHER : new HashMap<String, Integer>()).put("a", b ? 1 : 2); }
    void byReference(List<String> list) { list.forEach(LISTS[0]::add); }
    void byCollections() { Collections.sort(LISTS[1]); }
    void store(String name) { NAMES[0] = name; }
    void storeList() { LISTS[0] = new ArrayList<>(); }
    void copyInto(String[] from) { System.arraycopy(from, 0, NAMES, 0, 1); }
    void ofObject() { BOX.list.add("a"); }

    // Those that let others do it.
    Map<String, Integer> give() { return OTHER; }
    void pass() { take(OTHER); }
    void toLambda() { MAP.forEach((key, list) -> list.add(key)); }
    void keep() { Object[] all = new Object[1]; all[0] = OTHER; }

    // Those that change what they are given.
    void take(Map<String, Integer> map) { map.put("a", 1); }
    void toOwn() { own.add("a"); }
    void toOwnByReference(List<String> list) { list.forEach(own::add); }
    void toReturned() { give().put("a", 1); }

    // Those that change nothing that outlives them.
    int read() { return OTHER.get("a") + MAP.size() + NAMES.length; }
    void fill() { Map<String, Integer> map = new HashMap<>(OTHER); map.put("a", OTHER.get("b")); }
    String[] fresh() { String[] names = new String[NAMES.length]; names[0] = NAMES[0]; return names; }
    private static Set<Object> registry() { return LOCAL.get(); }
    void register(Object object) { registry().add(object); }
    private static List<String> make() { List<String> list = new ArrayList<>(); return list; }
    void addToMade() { make().add(OTHER.toString()); }
}
"#;

/// Method, fields whose objects it changes, those it hands on, and whether it
/// changes what it is given.
const EXPECTED: &str = "\
put               | MAP     |         |
inList            | MAP     |         |
inView            | MAP     |         |
byIterator        | MAP     |         |
byEntry           | OTHER   |         |
byLocal           | OTHER   |         |
byTernary         | OTHER   |         |
byReference       | LISTS   | LISTS   |
byCollections     | LISTS   | LISTS   |
store             | NAMES   |         |
storeList         | LISTS   |         |
copyInto          | NAMES   |         | given
ofObject          | BOX     |         | given
give              |         | OTHER   |
pass              |         | OTHER   |
toLambda          |         | MAP     |
keep              |         | OTHER   |
take              |         |         | given
toOwn             |         |         | given
toOwnByReference  |         |         | given
toReturned        |         |         | given
read              |         |         |
fill              |         |         |
fresh             |         | NAMES   |
registry          |         |         |
register          |         |         |
make              |         |         |
addToMade         |         |         |
lambda$toLambda$0 |         |         | given
";

fn class_file() -> Vec<u8> {
    let program = Program {
        source: SOURCE,
        options: &["--release", "11"],
    };
    let mut files = compile(&[program]).remove(0);
    files.remove("A.class").unwrap()
}

#[test]
fn arrays_without_elements_are_known() {
    let file = class_file();
    let empty = empty_arrays(&ClassFile::read(&file).unwrap()).unwrap();
    let names: Vec<&str> = empty.iter().map(|name| &**name).collect();
    assert_eq!(names, ["NONE", "NUMBERS"]);
}

#[test]
fn a_change_is_told_from_a_look() {
    let file = class_file();
    let class = ClassFile::read(&file).unwrap();
    let mut told = String::new();
    for (method, state) in class.methods().iter().zip(state_uses(&class).unwrap()) {
        let name = class.method_key(method).unwrap().name;
        if name.starts_with('<') {
            continue;
        }
        let list = |fields: &std::collections::BTreeSet<_>| {
            let names = fields
                .iter()
                .map(|field: &fewest_classfile::references::MemberUse| {
                    field.member.name.to_string()
                });
            names.collect::<Vec<_>>().join(" ")
        };
        let given = if state.changes_given { "given" } else { "" };
        let (changed, handed_on) = (list(&state.changed), list(&state.handed_on));
        let line = format!("{name:18}| {changed:8}| {handed_on:8}| {given}");
        writeln!(told, "{}", line.trim_end()).unwrap();
    }
    assert_eq!(told, EXPECTED);
}
