//! Class files written byte by byte, for the few classes that the agent brings
//! along.
//!
//! Class-file version 48 needs no stack maps, so that they can be written
//! without a compiler.

pub(crate) const PUBLIC: u16 = 0x0001;
pub(crate) const STATIC: u16 = 0x0008;
pub(crate) const FINAL: u16 = 0x0010;
const SUPER: u16 = 0x0020;
pub(crate) const NATIVE: u16 = 0x0100;
pub(crate) const SYNTHETIC: u16 = 0x1000;

/// A method with code and nothing else.
pub(crate) struct Method {
    pub(crate) access: u16,
    pub(crate) name: &'static str,
    pub(crate) descriptor: &'static str,
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) body: Vec<u8>,
}

impl Method {
    /// Sets a static field to what `code` leaves on the stack.
    pub(crate) fn initializer(mut code: Vec<u8>, field: u16) -> Self {
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

    pub(crate) fn write(&self, pool: &mut Pool, members: &mut Vec<u8>) {
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

/// Where a class's constants for itself and `Object` are.
pub(crate) struct Header {
    pub(crate) this_class: u16,
    pub(crate) super_class: u16,
}

pub(crate) fn header(pool: &mut Pool, name: &str) -> Header {
    let name = pool.utf8(name);
    let this_class = pool.add(&[7], &[name]);
    let object = pool.utf8("java/lang/Object");
    let super_class = pool.add(&[7], &[object]);
    Header {
        this_class,
        super_class,
    }
}

pub(crate) fn class_file(pool: &Pool, header: &Header, members: &[u8]) -> Vec<u8> {
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

pub(crate) const FIELD_REF: u8 = 9;
pub(crate) const METHOD_REF: u8 = 10;

/// A constant pool in the making.
#[derive(Default)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
    count: u16,
}

impl Pool {
    pub(crate) fn member(&mut self, kind: u8, class: u16, name: u16, descriptor: u16) -> u16 {
        let name_and_type = self.add(&[12], &[name, descriptor]);
        self.add(&[kind], &[class, name_and_type])
    }

    pub(crate) fn utf8(&mut self, text: &str) -> u16 {
        let mut constant = vec![1];
        constant.extend((text.len() as u16).to_be_bytes());
        constant.extend(text.as_bytes());
        self.add(&constant, &[])
    }

    pub(crate) fn add(&mut self, start: &[u8], indexes: &[u16]) -> u16 {
        self.bytes.extend(start);
        push(&mut self.bytes, indexes);
        self.count += 1;
        self.count
    }
}

pub(crate) fn push(bytes: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        bytes.extend(value.to_be_bytes());
    }
}
