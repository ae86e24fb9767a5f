//! The classes that rewritten code calls into, made byte by byte.
//!
//! They live in `java.lang`, where every class loader and module sees them.
//! Class-file version 48 needs no stack maps, so they can be written here
//! without a compiler.

use crate::registry::PROBES_PER_HOLDER;

/// The class whose native methods lead into the agent.
pub(crate) const GATE: &str = "java/lang/$Fewest";

/// The native methods of [`GATE`], with their descriptors.
pub(crate) const GATE_METHODS: [(&str, &str); 5] = [
    ("enter", "(Ljava/lang/Object;Ljava/lang/Object;I)Z"),
    ("exit", "(I)V"),
    ("note", "(Ljava/lang/Object;Ljava/lang/Object;I)V"),
    ("beginInitializer", "(I)V"),
    ("endInitializer", "(I)V"),
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
    push(&mut members, &[0, GATE_METHODS.len() as u16]);
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
    let name_and_type = pool.add(&[12], &[field, descriptor]);
    let field_ref = pool.add(&[9], &[header.this_class, name_and_type]);
    let size = PROBES_PER_HOLDER.to_be_bytes();
    let size = pool.add(&[3, size[0], size[1], size[2], size[3]], &[]);
    let (clinit, void, code) = (pool.utf8("<clinit>"), pool.utf8("()V"), pool.utf8("Code"));

    let mut members = Vec::new();
    push(
        &mut members,
        &[1, PUBLIC | STATIC | FINAL | SYNTHETIC, field, descriptor, 0],
    );
    push(&mut members, &[1, STATIC, clinit, void, 1, code]);
    let mut body = vec![0x13]; // ldc_w: int
    body.extend(size.to_be_bytes());
    body.extend([0xbc, 8]); // newarray byte: [B
    body.push(0xb3); // putstatic
    body.extend(field_ref.to_be_bytes());
    body.push(0xb1); // return
    members.extend((12 + body.len() as u32).to_be_bytes());
    push(&mut members, &[1, 0]);
    members.extend((body.len() as u32).to_be_bytes());
    members.extend(body);
    push(&mut members, &[0, 0]);
    class_file(&pool, &header, &members)
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

/// A constant pool in the making.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    count: u16,
}

impl Pool {
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
        assert_eq!(gate.methods().len(), GATE_METHODS.len());

        let probes = probes_class(3);
        let probes = ClassFile::read(&probes).unwrap();
        assert_eq!(probes.name().as_str(), "java/lang/$FewestProbes3");
        let code = probes.code(&probes.methods()[0]).unwrap().unwrap();
        assert_eq!(code.instructions().map(Result::unwrap).count(), 4);
    }
}
