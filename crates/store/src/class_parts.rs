//! What the classes behind versions consist of.
//!
//! A record names a class by one fingerprint, which tells whether the class
//! has changed but not how. For that, each version of a whole class has a row
//! with its parts. It adds nothing to what a record proves: where it is
//! missing, as in a store of an older fewest, only the kind of a change is not
//! known.

use fewest_classfile::fingerprint::{ClassFingerprints, MethodFingerprint};
use fewest_model::{ClassName, Fingerprint, MethodKey};
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension};

use crate::codec::{Malformed, Packer, Unpacker};
use crate::error::Fault;
use crate::record::VersionId;
use crate::sum::Sum;

fn parts_sum(version: VersionId, parts: &[u8]) -> i64 {
    Sum::of("class_parts")
        .integer(i64::from(version.0))
        .bytes(parts)
        .finish()
}

/// Keeps the parts of a class, unless they are kept already.
pub(crate) fn save(
    connection: &Connection,
    version: VersionId,
    class: &ClassFingerprints,
) -> Result<(), Fault> {
    let known = connection
        .prepare_cached("SELECT 1 FROM class_parts WHERE version = ?")?
        .exists((version.0,))?;
    if known {
        return Ok(());
    }
    let parts = pack(class);
    if parts.len() > LIMIT {
        return Ok(());
    }
    let parts = deflate(&parts);
    connection
        .prepare_cached("INSERT INTO class_parts (version, parts, sum) VALUES (?, ?, ?)")?
        .execute((version.0, &parts, parts_sum(version, &parts)))?;
    Ok(())
}

/// The class behind a version, if its parts are kept.
pub(crate) fn load(
    connection: &Connection,
    version: VersionId,
    name: ClassName,
    class: Fingerprint,
) -> Result<Option<ClassFingerprints>, Fault> {
    let row = connection
        .prepare_cached("SELECT parts, sum FROM class_parts WHERE version = ?")?
        .query_row((version.0,), |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()?;
    let Some((parts, sum)) = row else {
        return Ok(None);
    };
    if sum != parts_sum(version, &parts) {
        return Err(Fault::sum("class_parts", i64::from(version.0)));
    }
    Ok(Some(unpack(&inflate(&parts)?, name, class)?))
}

/// Drops the parts of versions that no record uses.
pub(crate) fn drop_unused(connection: &Connection, used: &RoaringBitmap) -> Result<(), Fault> {
    let mut statement = connection.prepare("SELECT version FROM class_parts")?;
    let versions = statement.query_map((), |row| row.get::<_, u32>(0))?;
    let mut unused = Vec::new();
    for version in versions {
        let version = version?;
        if !used.contains(version) {
            unused.push(version);
        }
    }
    for version in unused {
        connection
            .prepare_cached("DELETE FROM class_parts WHERE version = ?")?
            .execute((version,))?;
    }
    Ok(())
}

/// A class with more than this is not kept: a length that is read must be
/// small enough to make room for.
const LIMIT: usize = 1 << 26;

/// Names and descriptors repeat each other, so this halves the parts. Their
/// length comes first.
fn deflate(parts: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut deflated = vec![0; compressor.deflate_compress_bound(parts.len())];
    let length = compressor
        .deflate_compress(parts, &mut deflated)
        .expect("there is room for the most that it can take");
    let mut packer = Packer::default();
    packer.integer(parts.len() as u64);
    let mut bytes = packer.finish();
    bytes.extend_from_slice(&deflated[..length]);
    bytes
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut unpacker = Unpacker::new(bytes);
    let length = unpacker.small()? as usize;
    if length > LIMIT {
        return Err(Malformed);
    }
    let mut parts = vec![0; length];
    let found = Decompressor::new().deflate_decompress(unpacker.rest(), &mut parts);
    match found {
        Ok(found) if found == length => Ok(parts),
        _ => Err(Malformed),
    }
}

fn pack(class: &ClassFingerprints) -> Vec<u8> {
    let mut packer = Packer::default();
    packer.integer(u64::from(class.access));
    packer.fingerprint(&class.head);
    packer.fingerprint(&class.shape);
    // A class without a superclass has the empty name there, which none has.
    let super_name = class.super_name.as_ref();
    packer.text(super_name.map_or("", ClassName::as_str));
    packer.integer(class.interfaces.len() as u64);
    for interface in &class.interfaces {
        packer.text(interface.as_str());
    }
    for method in &class.methods {
        packer.integer(u64::from(method.access));
        packer.fingerprint(&method.fingerprint);
        packer.text(&method.key.name);
        packer.text(&method.key.descriptor);
    }
    packer.finish()
}

fn unpack(
    parts: &[u8],
    name: ClassName,
    class: Fingerprint,
) -> Result<ClassFingerprints, Malformed> {
    let mut unpacker = Unpacker::new(parts);
    let access = flags(&mut unpacker)?;
    let (head, shape) = (unpacker.fingerprint()?, unpacker.fingerprint()?);
    let super_name = unpacker.text()?;
    let interfaces = (0..unpacker.small()?)
        .map(|_| unpacker.text().map(ClassName::new))
        .collect::<Result<_, _>>()?;
    let mut methods = Vec::new();
    while !unpacker.is_empty() {
        methods.push(MethodFingerprint {
            access: flags(&mut unpacker)?,
            fingerprint: unpacker.fingerprint()?,
            key: MethodKey::new(unpacker.text()?, unpacker.text()?),
        });
    }
    Ok(ClassFingerprints {
        name,
        super_name: (!super_name.is_empty()).then(|| ClassName::new(super_name)),
        interfaces,
        access,
        head,
        shape,
        class,
        methods,
    })
}

fn flags(unpacker: &mut Unpacker<'_>) -> Result<u16, Malformed> {
    u16::try_from(unpacker.integer()?).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn methods() -> impl Strategy<Value = Vec<MethodFingerprint>> {
        let method = (
            "[a-z<>]{1,8}",
            "\\([IJ]{0,3}\\)V",
            any::<u16>(),
            any::<u8>(),
        );
        let method = method.prop_map(|(name, descriptor, access, content)| MethodFingerprint {
            key: MethodKey::new(name, descriptor),
            access,
            fingerprint: Fingerprint::of(&[content]),
        });
        prop::collection::vec(method, 0..5)
    }

    proptest! {
        #[test]
        fn a_class_comes_back_as_it_was(
            super_name in prop::option::of("[a-z/]{1,9}"),
            interfaces in prop::collection::vec("[a-z/]{1,9}", 0..3),
            access in any::<u16>(),
            methods in methods(),
        ) {
            let class = ClassFingerprints {
                name: "p/A".into(),
                super_name: super_name.as_deref().map(ClassName::new),
                interfaces: interfaces.iter().map(|name| ClassName::new(name.as_str())).collect(),
                access,
                head: Fingerprint::of(b"head"),
                shape: Fingerprint::of(b"shape"),
                class: Fingerprint::of(b"class"),
                methods,
            };
            let parts = inflate(&deflate(&pack(&class))).unwrap();
            let unpacked = unpack(&parts, class.name.clone(), class.class).unwrap();
            prop_assert_eq!(unpacked, class);
        }

        #[test]
        fn any_bytes_end_in_a_class_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _ = unpack(&bytes, "p/A".into(), Fingerprint::ABSENT);
            let _ = inflate(&bytes);
            let mut cut = deflate(&bytes);
            cut.pop();
            prop_assert!(inflate(&cut).is_err());
        }
    }
}
