//! The classes that rewritten code calls into, made byte by byte.
//!
//! They live in `java.lang`, where every class loader and module sees them.
//! Class-file version 48 needs no stack maps, so they can be written here
//! without a compiler.

use crate::registry::PROBES_PER_HOLDER;

/// The class whose native methods lead into the agent.
pub(crate) const GATE: &str = "java/lang/$Fewest";

/// The method of [`GATE`] that tells which object a method runs on.
pub(crate) const RECEIVER: (&str, &str) = ("receiver", "(Ljava/lang/Object;I)V");

/// The static field of [`GATE`] with the classes of objects that each method is
/// known to have run on: two for each slot.
pub(crate) const KNOWN_FIELD: (&str, &str) = ("K", "[Ljava/lang/Object;");

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

/// The name of the holder with the given number.
pub(crate) fn probes_name(holder: u32) -> String {
    format!("java/lang/$FewestProbes{holder}")
}

/// The static final field that holds a holder's probes.
pub(crate) const PROBES_FIELD: (&str, &str) = ("A", "[B");

const PUBLIC: u16 = 0x0001;
const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const SUPER: u16 = 0x0020;
const NATIVE: u16 = 0x0100;
const SYNTHETIC: u16 = 0x1000;

/// The bytes of [`GATE`].
pub(crate) fn gate_class() -> Vec<u8> {
    let mut pool = Pool::default();
    let header = header(&mut pool, GATE);
    let mut members = Vec::new();
    let (field, descriptor) = (pool.utf8(KNOWN_FIELD.0), pool.utf8(KNOWN_FIELD.1));
    let access = PUBLIC | STATIC | SYNTHETIC;
    push(&mut members, &[1, access, field, descriptor, 0]);
    push(&mut members, &[2 + GATE_METHODS.len() as u16]);
    let known = pool.member(FIELD_REF, header.this_class, field, descriptor);
    let mut empty = vec![0x03, 0xbd]; // iconst_0, anewarray: [Object
    empty.extend(header.super_class.to_be_bytes());
    Method::initializer(empty, known).write(&mut pool, &mut members);
    receiver_method(&mut pool, &header, known, &mut members);
    for (name, descriptor) in GATE_METHODS {
        let (name, descriptor) = (pool.utf8(name), pool.utf8(descriptor));
        push(
            &mut members,
            &[PUBLIC | STATIC | NATIVE | SYNTHETIC, name, descriptor, 0],
        );
    }
    class_file(&pool, &header, &members)
}

/// The bytes of a holder: `public static final byte[] A = new byte[32768]`.
pub(crate) fn probes_class(holder: u32) -> Vec<u8> {
    let name = probes_name(holder);
    let mut pool = Pool::default();
    let header = header(&mut pool, &name);
    let (field, descriptor) = (pool.utf8(PROBES_FIELD.0), pool.utf8(PROBES_FIELD.1));
    let field_ref = pool.member(FIELD_REF, header.this_class, field, descriptor);
    let size = PROBES_PER_HOLDER.to_be_bytes();
    let size = pool.add(&[3, size[0], size[1], size[2], size[3]], &[]);

    let mut members = Vec::new();
    push(
        &mut members,
        &[1, PUBLIC | STATIC | FINAL | SYNTHETIC, field, descriptor, 0],
    );
    push(&mut members, &[1]);
    let mut array = vec![0x13]; // ldc_w: int
    array.extend(size.to_be_bytes());
    array.extend([0xbc, 8]); // newarray byte: [B
    Method::initializer(array, field_ref).write(&mut pool, &mut members);
    class_file(&pool, &header, &members)
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

/// A method with code and nothing else.
struct Method {
    access: u16,
    name: &'static str,
    descriptor: &'static str,
    max_stack: u16,
    max_locals: u16,
    body: Vec<u8>,
}

impl Method {
    /// Sets a static field to what `code` leaves on the stack.
    fn initializer(mut code: Vec<u8>, field: u16) -> Self {
        code.push(0xb3); // putstatic
        code.extend(field.to_be_bytes());
        code.push(0xb1); // return
        Self {
            access: STATIC,
            name: "<clinit>",
            descriptor: "()V",
            max_stack: 1,
            max_locals: 0,
            body: code,
        }
    }

    fn write(&self, pool: &mut Pool, members: &mut Vec<u8>) {
        let (name, descriptor) = (pool.utf8(self.name), pool.utf8(self.descriptor));
        let code = pool.utf8("Code");
        push(members, &[self.access, name, descriptor, 1, code]);
        members.extend((12 + self.body.len() as u32).to_be_bytes());
        push(members, &[self.max_stack, self.max_locals]);
        members.extend((self.body.len() as u32).to_be_bytes());
        members.extend(&self.body);
        push(members, &[0, 0]);
    }
}

struct Header {
    this_class: u16,
    super_class: u16,
}

fn header(pool: &mut Pool, name: &str) -> Header {
    let name = pool.utf8(name);
    let this_class = pool.add(&[7], &[name]);
    let object = pool.utf8("java/lang/Object");
    let super_class = pool.add(&[7], &[object]);
    Header {
        this_class,
        super_class,
    }
}

fn class_file(pool: &Pool, header: &Header, members: &[u8]) -> Vec<u8> {
    let mut bytes = 0xCAFE_BABE_u32.to_be_bytes().to_vec();
    push(&mut bytes, &[0, 48, pool.count + 1]);
    bytes.extend(&pool.bytes);
    let access = PUBLIC | FINAL | SUPER | SYNTHETIC;
    push(
        &mut bytes,
        &[access, header.this_class, header.super_class, 0],
    );
    bytes.extend(members);
    push(&mut bytes, &[0]);
    bytes
}

const FIELD_REF: u8 = 9;
const METHOD_REF: u8 = 10;

/// A constant pool in the making.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    count: u16,
}

impl Pool {
    fn member(&mut self, kind: u8, class: u16, name: u16, descriptor: u16) -> u16 {
        let name_and_type = self.add(&[12], &[name, descriptor]);
        self.add(&[kind], &[class, name_and_type])
    }

    fn utf8(&mut self, text: &str) -> u16 {
        let mut constant = vec![1];
        constant.extend((text.len() as u16).to_be_bytes());
        constant.extend(text.as_bytes());
        self.add(&constant, &[])
    }

    fn add(&mut self, start: &[u8], indexes: &[u16]) -> u16 {
        self.bytes.extend(start);
        push(&mut self.bytes, indexes);
        self.count += 1;
        self.count
    }
}

fn push(bytes: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        bytes.extend(value.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use fewest_classfile::read::ClassFile;

    use super::*;

    #[test]
    fn both_classes_are_well_formed() {
        let gate = gate_class();
        let gate = ClassFile::read(&gate).unwrap();
        assert_eq!(gate.name().as_str(), GATE);
        assert_eq!(gate.methods().len(), 2 + GATE_METHODS.len());
        let receiver = gate.code(&gate.methods()[1]).unwrap().unwrap();
        let places: Vec<u16> = receiver.instructions().map(|i| i.unwrap().pc).collect();
        assert!([59, 60].iter().all(|target| places.contains(target)));

        let probes = probes_class(3);
        let probes = ClassFile::read(&probes).unwrap();
        assert_eq!(probes.name().as_str(), "java/lang/$FewestProbes3");
        let code = probes.code(&probes.methods()[0]).unwrap().unwrap();
        assert_eq!(code.instructions().map(Result::unwrap).count(), 4);
    }
}
