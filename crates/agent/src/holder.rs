//! The classes that probes write to.
//!
//! They live in `java.lang`, where every class loader and module sees them.

use crate::assemble::{self, FIELD_REF, FINAL, Method, PUBLIC, Pool, STATIC, SYNTHETIC, push};
use crate::registry::PROBES_PER_HOLDER;

/// The name of the holder with the given number.
pub(crate) fn probes_name(holder: u32) -> String {
    format!("java/lang/$FewestProbes{holder}")
}

/// The static final field that holds a holder's probes.
pub(crate) const PROBES_FIELD: (&str, &str) = ("A", "[B");

/// The bytes of a holder: `public static final byte[] A = new byte[32768]`.
pub(crate) fn probes_class(holder: u32) -> Vec<u8> {
    let name = probes_name(holder);
    let mut pool = Pool::default();
    let header = assemble::header(&mut pool, &name);
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
    assemble::class_file(&pool, &header, &members)
}

#[cfg(test)]
mod tests {
    use fewest_classfile::read::ClassFile;

    use super::*;

    #[test]
    fn the_class_is_well_formed() {
        let probes = probes_class(3);
        let probes = ClassFile::read(&probes).unwrap();
        assert_eq!(probes.name().as_str(), "java/lang/$FewestProbes3");
        let code = probes.code(&probes.methods()[0]).unwrap().unwrap();
        assert_eq!(code.instructions().map(Result::unwrap).count(), 4);
    }
}
