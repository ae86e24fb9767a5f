//! Bytes that are no class file, or not a sound one: a typed error with an
//! offset, never a panic.

#[path = "rewrite_support/class_builder.rs"]
mod class_builder;
#[path = "rewrite_support/exercise.rs"]
mod exercise;

use class_builder::{ClassBuilder, utf8};
use exercise::{do_everything, read_all};
use fewest_classfile::read::{ClassFile, ReadError, ReadErrorKind, opcode};

/// The seeds of the fuzzer, which hold every kind of attribute.
fn seeds() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/read");
    let mut seeds: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    seeds.sort();
    seeds
}

fn error_of(bytes: &[u8]) -> ReadError {
    do_everything(bytes);
    read_all(bytes).unwrap_err()
}

#[test]
fn the_seeds_themselves_are_sound() {
    let seeds = seeds();
    assert!(seeds.len() > 10);
    for seed in seeds {
        read_all(&seed).unwrap();
        do_everything(&seed);
    }
}

#[test]
fn a_class_cut_short_anywhere_is_an_error_within_what_is_there() {
    for seed in seeds() {
        for length in 0..seed.len() {
            let error = ClassFile::read(&seed[..length]).unwrap_err();
            assert!(error.offset <= length, "{error} of {length}");
            assert!(
                matches!(error.kind, ReadErrorKind::Truncated { .. }),
                "{error} of {length}"
            );
        }
    }
}

#[test]
fn a_changed_byte_never_panics() {
    for seed in seeds() {
        for at in 0..seed.len() {
            let mut bytes = seed.clone();
            for value in [0, 0x7F, 0xFF, seed[at].wrapping_add(1)] {
                bytes[at] = value;
                if let Err(error) = read_all(&bytes) {
                    assert!(error.offset <= bytes.len(), "{error}");
                }
            }
            // Whatever can be done is done to a part of them; the fuzzer does
            // it to all.
            if at % 16 == 0 {
                do_everything(&bytes);
            }
        }
    }
}

#[test]
fn bytes_after_the_class_are_an_error_at_their_place() {
    let mut bytes = ClassBuilder::default().build();
    let length = bytes.len();
    bytes.push(0);
    let error = error_of(&bytes);
    assert_eq!(error.offset, length);
    assert_eq!(error.kind, ReadErrorKind::TrailingBytes { count: 1 });
}

#[test]
fn what_starts_otherwise_is_no_class() {
    let error = error_of(b"PK\x03\x04 and so on");
    assert_eq!(error.kind, ReadErrorKind::NotAClass(0x504B_0304));
    assert_eq!(error.offset, 0);
    let mut bytes = ClassBuilder::default().build();
    bytes[7] = 200;
    let error = error_of(&bytes);
    assert_eq!(error.offset, 4);
    assert!(matches!(
        error.kind,
        ReadErrorKind::UnknownVersion {
            major: 200,
            minor: 0
        }
    ));
}

#[test]
fn counts_that_promise_too_much_are_cut_short() {
    // The constant pool, interfaces, fields, methods and attributes.
    let bytes = ClassBuilder::default().build();
    let class = ClassFile::read(&bytes).unwrap();
    let method = &class.methods()[0];
    let interfaces = class.access_offset + 6;
    let counts = [
        interfaces,
        interfaces + 2,
        method.offset - 2,
        method.offset + 6,
    ];
    for at in counts {
        let mut bytes = bytes.clone();
        bytes[at..at + 2].copy_from_slice(&[0xFF, 0xFF]);
        let error = error_of(&bytes);
        assert!(error.offset > at, "{error}");
    }
    let mut bytes = bytes.clone();
    bytes[8..10].copy_from_slice(&[0xFF, 0xFF]);
    // What follows the pool is read as constants, until one makes no sense.
    assert!(error_of(&bytes).offset >= class.access_offset);
}

#[test]
fn indexes_past_the_pool_or_to_the_wrong_kind_are_errors_at_their_place() {
    let bytes = ClassBuilder::default().build();
    let class = ClassFile::read(&bytes).unwrap();
    let (this_class, method) = (class.access_offset + 2, &class.methods()[0]);
    for (at, expected) in [
        (this_class, "class"),
        (this_class + 2, "class"),
        (method.offset + 2, "text"),
        (method.offset + 8, "text"),
    ] {
        for index in [900_u16, 0xFFFF, 2, 5] {
            let mut bytes = bytes.clone();
            let old = [bytes[at], bytes[at + 1]];
            bytes[at..at + 2].copy_from_slice(&index.to_be_bytes());
            let fits = (expected == "class") == (index == 2);
            if old == index.to_be_bytes() || (fits && index < 900) {
                continue;
            }
            let error = error_of(&bytes);
            let bad = ReadErrorKind::BadIndex { index, expected };
            assert_eq!((error.kind, error.offset), (bad, at));
        }
    }
}

#[test]
fn code_of_length_zero_is_an_error() {
    let builder = ClassBuilder {
        code: Vec::new(),
        ..ClassBuilder::default()
    };
    let error = error_of(&builder.build());
    assert_eq!(error.kind, ReadErrorKind::CodeLength(0));
}

#[test]
fn unknown_and_unfinished_instructions_are_errors_at_their_place() {
    for (code, kind) in [
        (vec![opcode::NOP, 0xCB], ReadErrorKind::UnknownOpcode(0xCB)),
        (
            vec![opcode::NOP, opcode::SIPUSH, 1],
            ReadErrorKind::Truncated { needed: 1 },
        ),
        (
            vec![opcode::NOP, opcode::WIDE, opcode::NOP],
            ReadErrorKind::NotWide(opcode::NOP),
        ),
        (
            [opcode::NOP, opcode::TABLESWITCH]
                .into_iter()
                .chain([0; 6])
                .chain([0, 0, 0, 9, 0, 0, 0, 1])
                .collect(),
            ReadErrorKind::BadSwitch { low: 9, high: 1 },
        ),
        (
            // As many pairs as a lookup switch can claim.
            [opcode::NOP, opcode::LOOKUPSWITCH]
                .into_iter()
                .chain([0; 6])
                .chain([0x7F, 0xFF, 0xFF, 0xFF])
                .collect(),
            ReadErrorKind::Truncated {
                needed: 0x7FFF_FFFF * 8,
            },
        ),
    ] {
        let builder = ClassBuilder {
            code,
            ..ClassBuilder::default()
        };
        assert_eq!(error_of(&builder.build()).kind, kind);
    }
}

#[test]
fn annotations_nested_ten_thousand_deep_are_an_error() {
    for open in [&[b'[', 0, 1][..], &[b'@', 0, 6, 0, 1, 0, 6][..]] {
        let mut content = vec![0, 1, 0, 6, 0, 1, 0, 6];
        for _ in 0..10_000 {
            content.extend(open);
        }
        content.extend([b'I', 0, 6]);
        for name in ["RuntimeVisibleTypeAnnotations", "RuntimeVisibleAnnotations"] {
            let mut content = content.clone();
            if name.contains("Type") {
                // An empty target and an empty path.
                content.splice(2..2, [0x13, 0]);
            }
            let builder = ClassBuilder {
                attributes: vec![(name, content)],
                ..ClassBuilder::default()
            };
            let error = error_of(&builder.build());
            assert!(matches!(error.kind, ReadErrorKind::TooDeep(_)), "{error}");
        }
    }
}

#[test]
fn a_pool_whose_entries_name_each_other_does_not_loop() {
    let builder = ClassBuilder {
        constants: vec![
            vec![7, 0, 8],        // a class named by itself
            vec![12, 0, 9, 0, 9], // a name and type made of itself
            vec![9, 0, 8, 0, 9],  // a field of both
            vec![18, 0, 0, 0, 9], // no bootstrap method
            vec![15, 1, 0, 12],   // a handle on itself
            utf8("plain"),
        ],
        code: vec![opcode::GETSTATIC, 0, 10, opcode::RETURN],
        ..ClassBuilder::default()
    };
    do_everything(&builder.build());
}

/// Found by the fuzzer: the pool was taken to be one place larger than it is.
#[test]
fn a_long_in_the_last_place_of_the_pool_is_an_error() {
    let long = vec![5, 0, 0, 0, 0, 0, 0, 0, 7];
    let builder = ClassBuilder {
        constants: vec![long.clone(), long],
        ..ClassBuilder::default()
    };
    // The builder counts one place for each constant.
    let mut bytes = builder.build();
    let count = ClassBuilder::FIRST_EXTRA + 3;
    bytes[8..10].copy_from_slice(&count.to_be_bytes());
    let error = error_of(&bytes);
    assert_eq!(error.kind, ReadErrorKind::HalfConstant);
    bytes[8..10].copy_from_slice(&(count + 1).to_be_bytes());
    read_all(&bytes).unwrap();
}
