//! Class files of a large project that nobody wrote.
//!
//! Each class has a name of its own, fields, and methods whose code calls
//! methods of other classes, so that all that is fingerprinted is there: about
//! two kilobytes and a dozen methods, as in the libraries that the other
//! evaluations use. No code here ever runs.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use fewest_model::ClassName;

/// Methods of each class, its constructor not counted.
pub(crate) const METHODS: usize = 10;
/// Classes of each package.
const PER_PACKAGE: usize = 40;

pub(crate) fn name(number: usize) -> ClassName {
    ClassName::new(format!(
        "com/example/project/package{}/Worker{number}",
        number / PER_PACKAGE
    ))
}

pub(crate) fn method_name(method: usize) -> String {
    format!("compute{method}")
}

pub(crate) const DESCRIPTOR: &str = "(ILjava/lang/String;)I";

/// Writes so many classes below a folder.
pub(crate) fn write_tree(folder: &Path, classes: usize) -> io::Result<()> {
    for number in 0..classes {
        let path = folder.join(format!("{}.class", name(number)));
        if number % PER_PACKAGE == 0
            && let Some(package) = path.parent()
        {
            fs::create_dir_all(package)?;
        }
        fs::write(path, bytes(number, classes, 0))?;
    }
    Ok(())
}

/// A class file. `edit` is a constant in the code of its first method: another
/// one makes another method and leaves the rest of the class as it is.
pub(crate) fn bytes(number: usize, classes: usize, edit: i32) -> Vec<u8> {
    let mut pool = Pool::default();
    let this = pool.class(name(number).as_str());
    let object = pool.class("java/lang/Object");
    let mut members = Vec::new();
    let fields: usize = 3;
    for field in 0..fields {
        put(&mut members, &[0x0002, pool.utf8(&format!("value{field}"))]);
        put(&mut members, &[pool.utf8("I"), 0]);
    }
    put(&mut members, &[METHODS as u16 + 1]);
    let constructor = pool.method("java/lang/Object", "<init>", "()V");
    let mut code = vec![0x2a, 0xb7];
    put(&mut code, &[constructor]);
    code.push(0xb1);
    write_method(&mut members, &mut pool, 0x0001, "<init>", "()V", &code);
    for method in 0..METHODS {
        let constant = if method == 0 { edit } else { 7 };
        let code = body(&mut pool, number, classes, method, constant);
        let name = method_name(method);
        write_method(&mut members, &mut pool, 0x0009, &name, DESCRIPTOR, &code);
    }
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe];
    put(&mut out, &[0, 52, pool.count + 1]);
    out.extend(&pool.bytes);
    put(&mut out, &[0x0021, this, object, 0, fields as u16]);
    out.extend(members);
    put(&mut out, &[0]);
    out
}

/// Calls of methods of other classes, each with what the one before returned.
fn body(pool: &mut Pool, number: usize, classes: usize, method: usize, constant: i32) -> Vec<u8> {
    // iload_0, ldc the constant, iadd
    let mut code = vec![0x1a, 0x13];
    put(
        &mut code,
        &[pool.integer(constant.wrapping_add(method as i32))],
    );
    code.push(0x60);
    for call in 0..4 {
        let other = (number * 31 + method * 7 + call * 101 + 1) % classes;
        let callee = method_name((method + call) % METHODS);
        // ldc a text, invokestatic
        code.push(0x13);
        put(
            &mut code,
            &[pool.string(&format!("step {method} of {call}"))],
        );
        code.push(0xb8);
        put(
            &mut code,
            &[pool.method(name(other).as_str(), &callee, DESCRIPTOR)],
        );
    }
    code.push(0xac);
    code
}

fn write_method(
    out: &mut Vec<u8>,
    pool: &mut Pool,
    access: u16,
    name: &str,
    descriptor: &str,
    code: &[u8],
) {
    put(out, &[access, pool.utf8(name), pool.utf8(descriptor), 1]);
    put(out, &[pool.utf8("Code")]);
    out.extend(u32::to_be_bytes(12 + code.len() as u32));
    put(out, &[3, 2]);
    out.extend(u32::to_be_bytes(code.len() as u32));
    out.extend(code);
    put(out, &[0, 0]);
}

fn put(out: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        out.extend(value.to_be_bytes());
    }
}

/// A constant pool; each constant has one place.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    count: u16,
    places: HashMap<Vec<u8>, u16>,
}

impl Pool {
    fn add(&mut self, entry: Vec<u8>) -> u16 {
        if let Some(place) = self.places.get(&entry) {
            return *place;
        }
        self.count += 1;
        self.bytes.extend(&entry);
        self.places.insert(entry, self.count);
        self.count
    }

    fn utf8(&mut self, text: &str) -> u16 {
        let mut entry = vec![1];
        put(&mut entry, &[text.len() as u16]);
        entry.extend(text.as_bytes());
        self.add(entry)
    }

    fn integer(&mut self, value: i32) -> u16 {
        let mut entry = vec![3];
        entry.extend(value.to_be_bytes());
        self.add(entry)
    }

    /// An entry that names others.
    fn refer(&mut self, tag: u8, places: &[u16]) -> u16 {
        let mut entry = vec![tag];
        put(&mut entry, places);
        self.add(entry)
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.refer(7, &[name])
    }

    fn string(&mut self, text: &str) -> u16 {
        let text = self.utf8(text);
        self.refer(8, &[text])
    }

    fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        let class = self.class(class);
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let signature = self.refer(12, &[name, descriptor]);
        self.refer(10, &[class, signature])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewest_classfile::read::ClassFile;

    #[test]
    fn classes_read_as_class_files() {
        let bytes = bytes(41, 100, 0);
        let class = ClassFile::read(&bytes).unwrap();
        assert_eq!(class.methods().len(), METHODS + 1);
        assert!((1_000..4_000).contains(&bytes.len()), "{}", bytes.len());
    }
}
