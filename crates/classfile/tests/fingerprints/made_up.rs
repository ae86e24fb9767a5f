//! Class files that no compiler writes.

use fewest_classfile::changes::compare;
use fewest_classfile::fingerprint::{ClassFingerprints, Options, fingerprint};
use fewest_classfile::graph::Graph;
use fewest_classfile::read::{ClassFile, ReadError, ReadErrorKind};
use fewest_classfile::references::{StateUse, references, state_uses};

use crate::fixture::{Program, compile};

/// A class file under construction.
#[derive(Default)]
struct Maker {
    pool: Vec<u8>,
    count: u16,
    methods: Vec<u8>,
    method_count: u16,
    bootstrap_methods: Vec<u8>,
    bootstrap_count: u16,
}

impl Maker {
    fn constant(&mut self, bytes: &[u8]) -> u16 {
        self.pool.extend(bytes);
        self.count += 1;
        self.count
    }

    fn utf8(&mut self, text: &str) -> u16 {
        let mut bytes = vec![1];
        bytes.extend((text.len() as u16).to_be_bytes());
        bytes.extend(text.as_bytes());
        self.constant(&bytes)
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> u16 {
        let mut bytes = vec![tag];
        bytes.extend(first.to_be_bytes());
        bytes.extend(second.to_be_bytes());
        self.constant(&bytes)
    }

    fn single(&mut self, tag: u8, index: u16) -> u16 {
        let mut bytes = vec![tag];
        bytes.extend(index.to_be_bytes());
        self.constant(&bytes)
    }

    fn string(&mut self, text: &str) -> u16 {
        let text = self.utf8(text);
        self.single(8, text)
    }

    fn method(&mut self, name: &str, code: &[u8]) {
        let (name, descriptor) = (self.utf8(name), self.utf8("()V"));
        let attribute = self.utf8("Code");
        let mut content = vec![0, 9, 0, 99];
        content.extend((code.len() as u32).to_be_bytes());
        content.extend(code);
        content.extend([0; 4]);
        for part in [0x0009, name, descriptor, 1, attribute] {
            self.methods.extend(part.to_be_bytes());
        }
        self.methods.extend((content.len() as u32).to_be_bytes());
        self.methods.extend(content);
        self.method_count += 1;
    }

    /// A bootstrap method that takes the given arguments.
    fn bootstrap(&mut self, handle: u16, arguments: &[u16]) -> u16 {
        for part in [handle, arguments.len() as u16].iter().chain(arguments) {
            self.bootstrap_methods.extend(part.to_be_bytes());
        }
        self.bootstrap_count += 1;
        self.bootstrap_count - 1
    }

    fn handle(&mut self) -> u16 {
        let (name, descriptor) = (self.utf8("boot"), self.utf8("()V"));
        let owner = self.utf8("p/Boot");
        let owner = self.single(7, owner);
        let name_and_type = self.pair(12, name, descriptor);
        let member = self.pair(10, owner, name_and_type);
        let mut bytes = vec![15, 6];
        bytes.extend(member.to_be_bytes());
        self.constant(&bytes)
    }

    fn finish(mut self) -> Vec<u8> {
        let name = self.utf8("p/A");
        let class = self.single(7, name);
        let bootstrap_name = self.utf8("BootstrapMethods");
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61];
        bytes.extend((self.count + 1).to_be_bytes());
        bytes.extend(&self.pool);
        for part in [0x0021, class, 0, 0, 0, self.method_count] {
            bytes.extend(part.to_be_bytes());
        }
        bytes.extend(&self.methods);
        for part in [1, bootstrap_name] {
            bytes.extend(part.to_be_bytes());
        }
        bytes.extend((self.bootstrap_methods.len() as u32 + 2).to_be_bytes());
        bytes.extend(self.bootstrap_count.to_be_bytes());
        bytes.extend(&self.bootstrap_methods);
        bytes
    }
}

fn of(bytes: &[u8]) -> Result<ClassFingerprints, ReadError> {
    fingerprint(&ClassFile::read(bytes)?, Options::default())
}

fn with_code(code: &[u8]) -> Vec<u8> {
    let mut maker = Maker::default();
    maker.method("m", code);
    maker.finish()
}

const RETURN: u8 = 177;

#[test]
fn encodings_of_one_instruction_are_equal() {
    let same = [
        // iload 5, iinc 5 by 3, ret 5.
        (
            vec![21, 5, 87, 132, 5, 3, 169, 5],
            vec![196, 21, 0, 5, 87, 196, 132, 0, 5, 0, 3, 196, 169, 0, 5],
        ),
        // A jump over nothing.
        (vec![167, 0, 3, RETURN], vec![200, 0, 0, 0, 5, RETURN]),
    ];
    for (short, long) in &same {
        assert_eq!(
            of(&with_code(short)).unwrap(),
            of(&with_code(long)).unwrap()
        );
    }
}

#[test]
fn the_padding_of_a_switch_does_not_count() {
    // iconst_0, tableswitch 0..0 whose ways all lead to the return behind it.
    let switch = |padding: &[u8], offset: u8| {
        let mut code = vec![170];
        code.extend(padding);
        for value in [offset, 0, 0, offset] {
            code.extend([0, 0, 0, value]);
        }
        code
    };
    // The jump in front takes three bytes or five, so the padding differs.
    let short = [&[167, 0, 3, 3][..], &switch(&[0; 3], 20), &[RETURN]].concat();
    let long = [&[200, 0, 0, 0, 5, 3][..], &switch(&[9], 18), &[RETURN]].concat();
    assert_eq!(
        of(&with_code(&short)).unwrap(),
        of(&with_code(&long)).unwrap()
    );
}

#[test]
fn the_reach_of_a_constant_does_not_count() {
    let with_ldc = |code: fn(u16) -> Vec<u8>| {
        let mut maker = Maker::default();
        let string = maker.string("text");
        maker.method("m", &code(string));
        of(&maker.finish()).unwrap()
    };
    let short = with_ldc(|index| vec![18, index as u8, 87, RETURN]);
    let long = with_ldc(|index| vec![19, 0, index as u8, 87, RETURN]);
    assert_eq!(short, long);
}

#[test]
fn a_string_differs_from_a_class_of_the_same_name() {
    let with_tag = |tag: u8| {
        let mut maker = Maker::default();
        let text = maker.utf8("p/B");
        let constant = maker.single(tag, text);
        maker.method("m", &[18, constant as u8, 87, RETURN]);
        of(&maker.finish()).unwrap().class
    };
    assert_ne!(with_tag(7), with_tag(8));
}

#[test]
fn branches_to_no_instruction_are_an_error() {
    // Into the middle of the jump, behind the end, and before the start.
    for target in [1_i16, 4, -1] {
        let [high, low] = target.to_be_bytes();
        let bytes = with_code(&[167, high, low, RETURN]);
        let error = of(&bytes).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::BadTarget(target.into()));
        let class = ClassFile::read(&bytes).unwrap();
        let method = &class.methods()[0];
        assert_eq!(Graph::of(&class, method, Options::default()), Err(error));
    }
}

#[test]
fn code_that_is_cut_short_is_an_error() {
    for code in [
        &[16_u8][..],
        &[RETURN, 17, 0],
        &[132, 1],
        &[18],
        &[196],
        &[170, 0],
    ] {
        let error = of(&with_code(code)).unwrap_err();
        assert!(
            matches!(error.kind, ReadErrorKind::Truncated { .. }),
            "{error}"
        );
    }
}

#[test]
fn equal_methods_are_no_reason_to_panic() {
    let twice = |second: u8| {
        let mut maker = Maker::default();
        maker.method("m", &[RETURN]);
        maker.method("m", &[second, RETURN]);
        of(&maker.finish()).unwrap()
    };
    let (old, new) = (twice(0), twice(3));
    let changes: Vec<_> = compare(&old, &new)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(changes, ["CF p/A", "CSM p/A.m()V"]);
    assert_eq!(compare(&old, &old), []);
}

#[test]
fn a_constant_made_from_itself_is_an_error() {
    let mut maker = Maker::default();
    let handle = maker.handle();
    let (name, descriptor) = (maker.utf8("x"), maker.utf8("I"));
    let name_and_type = maker.pair(12, name, descriptor);
    let own_index = maker.count + 1;
    let bootstrap = maker.bootstrap(handle, &[own_index]);
    let constant = maker.pair(17, bootstrap, name_and_type);
    assert_eq!(constant, own_index);
    maker.method("m", &[18, constant as u8, 87, RETURN]);
    let error = of(&maker.finish()).unwrap_err();
    assert!(matches!(error.kind, ReadErrorKind::TooDeep(_)), "{error}");
}

#[test]
fn constants_that_share_their_parts_stay_small() {
    let mut maker = Maker::default();
    let handle = maker.handle();
    let (name, descriptor) = (maker.utf8("x"), maker.utf8("I"));
    let name_and_type = maker.pair(12, name, descriptor);
    let mut constant = maker.string("seed");
    // Written out in full, the last one would hold 2 to the 100 seeds.
    for _ in 0..100 {
        let bootstrap = maker.bootstrap(handle, &[constant, constant]);
        constant = maker.pair(17, bootstrap, name_and_type);
    }
    let [high, low] = constant.to_be_bytes();
    maker.method("m", &[19, high, low, 87, RETURN]);
    of(&maker.finish()).unwrap();
}

#[test]
fn subroutines_make_one_block() {
    // jsr to a subroutine that stores its return address and comes back.
    let code = [168, 0, 4, RETURN, 58, 1, 169, 1];
    let bytes = with_code(&code);
    let class = ClassFile::read(&bytes).unwrap();
    let graph = Graph::of(&class, &class.methods()[0], Options::default());
    let blocks = graph.unwrap().expect("code").blocks;
    assert_eq!(blocks.len(), 1);
    assert_eq!(
        (blocks[0].code.clone(), &blocks[0].successors[..]),
        (0..8, &[][..])
    );
}

/// What code does to objects, in which a `getstatic` reads a map.
fn state_of(code: impl FnOnce([u8; 3]) -> Vec<u8>) -> StateUse {
    let mut maker = Maker::default();
    let (name, descriptor) = (maker.utf8("map"), maker.utf8("Ljava/util/Map;"));
    let owner = maker.utf8("p/B");
    let owner = maker.single(7, owner);
    let name_and_type = maker.pair(12, name, descriptor);
    let [high, low] = maker.pair(9, owner, name_and_type).to_be_bytes();
    maker.method("m", &code([178, high, low]));
    let bytes = maker.finish();
    let class = ClassFile::read(&bytes).unwrap();
    state_uses(&class).unwrap().remove(0)
}

#[test]
fn code_that_cannot_be_followed_may_change_all_that_it_reads() {
    const ALOAD: u8 = 25;
    const ASTORE: u8 = 58;
    const POP: u8 = 87;
    const JSR: u8 = 168;
    let read = |get: [u8; 3]| [&get[..], &[POP, RETURN]].concat();
    assert_eq!(state_of(read), StateUse::default());
    let with_subroutine = |get: [u8; 3]| {
        let code = [&get[..], &[POP, JSR, 0, 4, RETURN, ASTORE, 1, 169, 1]];
        code.concat()
    };
    // What is in the last local comes to the one before it with each pass.
    let chain = |length: u8, get: [u8; 3]| {
        let moves = (0..length).flat_map(|local| [ALOAD, local + 1, ASTORE, local]);
        let moves: Vec<u8> = moves.collect();
        [&moves[..], &get[..], &[ASTORE, length, RETURN]].concat()
    };
    assert_eq!(state_of(|get| chain(5, get)), StateUse::default());
    let long_chain = |get: [u8; 3]| chain(90, get);
    for state in [state_of(with_subroutine), state_of(long_chain)] {
        let changed: Vec<&str> = state.changed.iter().map(|f| &*f.member.name).collect();
        assert_eq!(changed, ["map"]);
        assert_eq!(state.changed, state.handed_on);
        assert!(state.changes_given);
    }
}

/// Everything that is computed from a class, for the sake of not panicking.
fn look_at_everything(bytes: &[u8]) -> Result<(), ReadError> {
    let class = ClassFile::read(bytes)?;
    let mut result = of(bytes).map(drop);
    result = references(&class).map(drop).and(result);
    for method in class.methods() {
        let graph = Graph::of(&class, method, Options::default());
        result = graph.map(drop).and(result);
    }
    result
}

#[test]
fn damaged_classes_are_errors_and_nothing_worse() {
    let program = Program {
        source: "import java.lang.annotation.*;
            @Retention(RetentionPolicy.RUNTIME) @interface P { int[] value() default {}; }
            @P({1, 2}) class A<T extends Comparable<T>> {
                static final long F = 7;
                String m(@P(3) int i, Object o) throws java.io.IOException {
                    try { switch (i) { case 1: return \"x\" + i; case 9000: i += 300; } }
                    catch (Error e) { Runnable r = () -> System.out.println(o); r.run(); }
                    return o instanceof String s ? s : null;
                }
            }",
        options: &["--release", "17", "-g"],
    };
    let bytes = &compile(&[program])[0]["A.class"];
    look_at_everything(bytes).expect("a sound class");
    let mut errors = 0;
    for offset in 0..bytes.len() {
        for value in [
            0,
            1,
            0x7F,
            0xFF,
            bytes[offset] ^ 1,
            bytes[offset].wrapping_add(1),
        ] {
            let mut damaged = bytes.clone();
            damaged[offset] = value;
            errors += usize::from(look_at_everything(&damaged).is_err());
        }
        errors += usize::from(look_at_everything(&bytes[..offset]).is_err());
    }
    assert!(errors > bytes.len(), "{errors} errors");
}
