//! The class that rewritten code calls into.
//!
//! Most of its methods are native and lead into the agent. Two remember what
//! they have told, so that only news costs such a call. What they remember is
//! taken from them whenever what is used counts for someone else from there on
//! ([`crate::known`]), and then everything is told again.

use crate::assemble::{
    self, FIELD_REF, Header, METHOD_REF, Method, NATIVE, PUBLIC, Pool, STATIC, SYNTHETIC, push,
};
use crate::hooks::Hook;

/// The class, in `java.lang`, where every class loader and module sees it.
pub(crate) const GATE: &str = "java/lang/$Fewest";

/// The method of [`GATE`] that tells which object a method runs on.
pub(crate) const RECEIVER: (&str, &str) = ("receiver", "(Ljava/lang/Object;I)V");

/// The method of [`GATE`] that tells of a class whose members are looked at.
pub(crate) const REFLECTED: (&str, &str) = ("reflected", "(Ljava/lang/Class;)V");

/// The static field of [`GATE`] with the classes of objects that each method is
/// known to have run on: two for each slot.
pub(crate) const RECEIVERS_FIELD: &str = "K";

/// The static field of [`GATE`] with names of classes whose members are known
/// to have been looked at, or null.
pub(crate) const NAMES_FIELD: &str = "N";

/// The type of these fields.
pub(crate) const OBJECTS: &str = "[Ljava/lang/Object;";

/// How many names there is room for, by the last bits of their hash codes.
const NAMES: u16 = 256;

/// The native methods of [`GATE`], with their descriptors.
pub(crate) const GATE_METHODS: [(&str, &str); 7] = [
    ("enter", "(Ljava/lang/Object;Ljava/lang/Object;I)Z"),
    ("exit", "(I)V"),
    ("note", "(Ljava/lang/Object;Ljava/lang/Object;I)V"),
    ("beginInitializer", "(I)V"),
    ("endInitializer", "(I)V"),
    ("statement", "(I)V"),
    ("received", "(Ljava/lang/Object;I)V"),
];

/// The bytes of [`GATE`].
pub(crate) fn gate_class() -> Vec<u8> {
    let mut pool = Pool::default();
    let header = assemble::header(&mut pool, GATE);
    let mut members = Vec::new();
    let objects = pool.utf8(OBJECTS);
    push(&mut members, &[2]);
    let [known, names] = [RECEIVERS_FIELD, NAMES_FIELD].map(|field| {
        let field = pool.utf8(field);
        let access = PUBLIC | STATIC | SYNTHETIC;
        push(&mut members, &[access, field, objects, 0]);
        pool.member(FIELD_REF, header.this_class, field, objects)
    });
    push(&mut members, &[3 + GATE_METHODS.len() as u16]);
    let mut empty = vec![0x03, 0xbd]; // iconst_0, anewarray: [Object
    empty.extend(header.super_class.to_be_bytes());
    Method::initializer(empty, known).write(&mut pool, &mut members);
    receiver_method(&mut pool, &header, known, &mut members);
    reflected_method(&mut pool, &header, names, &mut members);
    for (name, descriptor) in GATE_METHODS {
        let (name, descriptor) = (pool.utf8(name), pool.utf8(descriptor));
        push(
            &mut members,
            &[PUBLIC | STATIC | NATIVE | SYNTHETIC, name, descriptor, 0],
        );
    }
    assemble::class_file(&pool, &header, &members)
}

/// Tells of an object's class unless it is one of the last two that were told
/// of for the slot:
///
/// ```java
/// static void receiver(Object object, int slot) {
///     Object type = object.getClass();
///     Object[] known = K;
///     int at = slot << 1;
///     if (at < known.length) {
///         if (known[at] == type || known[at + 1] == type) return;
///         received(type, slot);
///         known[at + 1] = known[at];
///         known[at] = type;
///     } else {
///         received(type, slot);
///     }
/// }
/// ```
///
/// A class is remembered after it was told of, in the array that was there
/// before: whoever finds it there can be sure that it was told of since the
/// array was made.
fn receiver_method(pool: &mut Pool, header: &Header, known: u16, members: &mut Vec<u8>) {
    let (name, descriptor) = (pool.utf8("getClass"), pool.utf8("()Ljava/lang/Class;"));
    let get_class = pool.member(METHOD_REF, header.super_class, name, descriptor);
    let (name, descriptor) = (pool.utf8("received"), pool.utf8("(Ljava/lang/Object;I)V"));
    let received = pool.member(METHOD_REF, header.this_class, name, descriptor);
    let [get_class, known, received] = [get_class, known, received].map(u16::to_be_bytes);
    // Locals: 0 object, 1 slot, 2 type, 3 known, 4 at.
    #[rustfmt::skip]
    let body = vec![
        0x2a, // 0: aload_0
        0xb6, get_class[0], get_class[1], // 1: invokevirtual
        0x4d, // 4: astore_2
        0xb2, known[0], known[1], // 5: getstatic
        0x4e, // 8: astore_3
        0x1b, // 9: iload_1
        0x04, // 10: iconst_1
        0x78, // 11: ishl
        0x36, 4, // 12: istore 4
        0x15, 4, // 14: iload 4
        0x2d, // 16: aload_3
        0xbe, // 17: arraylength
        0xa2, 0, 42, // 18: if_icmpge 60
        0x2d, // 21: aload_3
        0x15, 4, // 22: iload 4
        0x32, // 24: aaload
        0x2c, // 25: aload_2
        0xa5, 0, 33, // 26: if_acmpeq 59
        0x2d, // 29: aload_3
        0x15, 4, // 30: iload 4
        0x04, // 32: iconst_1
        0x60, // 33: iadd
        0x32, // 34: aaload
        0x2c, // 35: aload_2
        0xa5, 0, 23, // 36: if_acmpeq 59
        0x2c, // 39: aload_2
        0x1b, // 40: iload_1
        0xb8, received[0], received[1], // 41: invokestatic
        0x2d, // 44: aload_3
        0x15, 4, // 45: iload 4
        0x04, // 47: iconst_1
        0x60, // 48: iadd
        0x2d, // 49: aload_3
        0x15, 4, // 50: iload 4
        0x32, // 52: aaload
        0x53, // 53: aastore
        0x2d, // 54: aload_3
        0x15, 4, // 55: iload 4
        0x2c, // 57: aload_2
        0x53, // 58: aastore
        0xb1, // 59: return
        0x2c, // 60: aload_2
        0x1b, // 61: iload_1
        0xb8, received[0], received[1], // 62: invokestatic
        0xb1, // 65: return
    ];
    let method = Method {
        access: PUBLIC | STATIC | SYNTHETIC,
        name: RECEIVER.0,
        descriptor: RECEIVER.1,
        max_stack: 4,
        max_locals: 5,
        body,
    };
    method.write(pool, members);
}

/// Tells of a class whose members are looked at, unless the last one that was
/// told of at the place of its name was called the same:
///
/// ```java
/// static void reflected(Class type) {
///     if (type.isPrimitive()) return;
///     String name = type.getName();
///     Object[] names = N;
///     if (names == null) N = names = new Object[256];
///     int at = name.hashCode() & 255;
///     if (names[at] == name) return;
///     note(type, null, REFLECTED);
///     names[at] = name;
/// }
/// ```
///
/// The trace goes by names, and a name keeps no class from being unloaded. The
/// JVM has each name once. A primitive type is nobody's to change, but a class
/// may be called like one.
///
/// As above, a name is remembered after it was told of, in the array that was
/// there before. The array that comes in the place of null is empty when others
/// get to see it, so it does not matter who took away what in between.
fn reflected_method(pool: &mut Pool, header: &Header, names: u16, members: &mut Vec<u8>) {
    let mut method = |class: &str, name: &str, descriptor: &str| {
        let class = pool.utf8(class);
        let class = pool.add(&[7], &[class]);
        let (name, descriptor) = (pool.utf8(name), pool.utf8(descriptor));
        pool.member(METHOD_REF, class, name, descriptor)
    };
    let is_primitive = method("java/lang/Class", "isPrimitive", "()Z");
    let get_name = method("java/lang/Class", "getName", "()Ljava/lang/String;");
    let hash_code = method("java/lang/String", "hashCode", "()I");
    let note = method(GATE, "note", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
    let [is_primitive, get_name, hash_code] =
        [is_primitive, get_name, hash_code].map(u16::to_be_bytes);
    let [names, object, note] = [names, header.super_class, note].map(u16::to_be_bytes);
    let (room, last) = (NAMES.to_be_bytes(), (NAMES - 1).to_be_bytes());
    // Locals: 0 type, 1 name, 2 names, 3 at.
    #[rustfmt::skip]
    let body = vec![
        0x2a, // 0: aload_0
        0xb6, is_primitive[0], is_primitive[1], // 1: invokevirtual
        0x9a, 0, 54, // 4: ifne 58
        0x2a, // 7: aload_0
        0xb6, get_name[0], get_name[1], // 8: invokevirtual
        0x4c, // 11: astore_1
        0xb2, names[0], names[1], // 12: getstatic
        0x4d, // 15: astore_2
        0x2c, // 16: aload_2
        0xc7, 0, 14, // 17: ifnonnull 31
        0x11, room[0], room[1], // 20: sipush
        0xbd, object[0], object[1], // 23: anewarray
        0x59, // 26: dup
        0x4d, // 27: astore_2
        0xb3, names[0], names[1], // 28: putstatic
        0x2b, // 31: aload_1
        0xb6, hash_code[0], hash_code[1], // 32: invokevirtual
        0x11, last[0], last[1], // 35: sipush
        0x7e, // 38: iand
        0x3e, // 39: istore_3
        0x2c, // 40: aload_2
        0x1d, // 41: iload_3
        0x32, // 42: aaload
        0x2b, // 43: aload_1
        0xa5, 0, 14, // 44: if_acmpeq 58
        0x2a, // 47: aload_0
        0x01, // 48: aconst_null
        0x10, Hook::Reflected as u8, // 49: bipush
        0xb8, note[0], note[1], // 51: invokestatic
        0x2c, // 54: aload_2
        0x1d, // 55: iload_3
        0x2b, // 56: aload_1
        0x53, // 57: aastore
        0xb1, // 58: return
    ];
    let method = Method {
        access: PUBLIC | STATIC | SYNTHETIC,
        name: REFLECTED.0,
        descriptor: REFLECTED.1,
        max_stack: 3,
        max_locals: 4,
        body,
    };
    method.write(pool, members);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fewest_classfile::read::ClassFile;

    use super::*;

    #[test]
    fn the_class_is_well_formed() {
        let gate = gate_class();
        let gate = ClassFile::read(&gate).unwrap();
        assert_eq!(gate.name().as_str(), GATE);
        assert_eq!(gate.methods().len(), 3 + GATE_METHODS.len());
        for (method, targets) in [(1, [59, 60]), (2, [31, 58])] {
            let code = gate.code(&gate.methods()[method]).unwrap().unwrap();
            let places: BTreeSet<u16> = code.instructions().map(|i| i.unwrap().pc).collect();
            assert!(targets.iter().all(|target| places.contains(target)));
        }
    }
}
