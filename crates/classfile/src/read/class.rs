//! The outer structure of a class file (JVMS §4.1).

use std::ops::Range;

use fewest_model::{ClassName, MethodKey};

use super::attribute::{Attribute, AttributeKind};
use super::code::Code;
use super::pool::{BootstrapMethod, ConstantPool};
use super::{Cursor, Indexes, ReadError, ReadErrorKind, mutf8};

/// The first class-file version there was (JDK 1.0 and 1.1).
pub const FIRST_MAJOR: u16 = 45;
/// The newest class-file version known here (Java 25).
pub const LAST_MAJOR: u16 = 69;

/// Access flags (JVMS tables 4.1-B, 4.5-A and 4.6-A).
pub mod access {
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const BRIDGE: u16 = 0x0040;
    pub const VARARGS: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ANNOTATION: u16 = 0x2000;
    pub const ENUM: u16 = 0x4000;
    pub const MODULE: u16 = 0x8000;
}

/// A class file, taken apart as far as its attributes.
#[derive(Clone, Debug)]
pub struct ClassFile<'a> {
    pub bytes: &'a [u8],
    pub major: u16,
    pub minor: u16,
    pub pool: ConstantPool<'a>,
    pub access: u16,
    /// Offset of the access flags; `this_class`, `super_class` and the
    /// interfaces follow.
    pub access_offset: usize,
    pub this_class: u16,
    pub super_class: u16,
    pub interfaces: Indexes<'a>,
    fields: Vec<Member>,
    methods: Vec<Member>,
    own_attributes: Range<u32>,
    /// Attributes of all members, then those of the class.
    attributes: Vec<Attribute<'a>>,
}

/// A field or a method.
#[derive(Clone, Debug)]
pub struct Member {
    pub access: u16,
    pub name: u16,
    pub descriptor: u16,
    /// Offset of the member in the class file.
    pub offset: usize,
    /// Offset of the first byte after the member.
    pub end: usize,
    attributes: Range<u32>,
}

/// A component of a record class (JVMS §4.7.30).
#[derive(Clone, Debug)]
pub struct RecordComponent<'a> {
    pub name: u16,
    pub descriptor: u16,
    /// Offset of the component in the class file.
    pub offset: usize,
    pub attributes: Vec<Attribute<'a>>,
}

impl Member {
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    pub fn is_private(&self) -> bool {
        self.access & access::PRIVATE != 0
    }

    pub fn is_abstract(&self) -> bool {
        self.access & access::ABSTRACT != 0
    }
}

impl<'a> ClassFile<'a> {
    /// Reads the outer structure.
    ///
    /// Memory is bounded by a small multiple of the input: a table's claimed
    /// length is believed only as far as there are bytes for it.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let mut cursor = Cursor::new(bytes, 0);
        let magic = cursor.u32()?;
        if magic != 0xCAFE_BABE {
            return Err(ReadErrorKind::NotAClass(magic).at(0));
        }
        let (minor, major) = (cursor.u16()?, cursor.u16()?);
        if !(FIRST_MAJOR..=LAST_MAJOR).contains(&major) {
            return Err(ReadErrorKind::UnknownVersion { major, minor }.at(4));
        }
        let pool = ConstantPool::read(bytes, &mut cursor)?;
        let access_offset = cursor.offset();
        let access = cursor.u16()?;
        let this_class = cursor.u16()?;
        let super_class = cursor.u16()?;
        pool.class_name(this_class, access_offset + 2)?;
        pool.optional_class_name(super_class, access_offset + 4)?;
        let interfaces = cursor.indexes()?;

        let mut attributes = Vec::new();
        let fields = read_members(&mut cursor, &pool, &mut attributes)?;
        let methods = read_members(&mut cursor, &pool, &mut attributes)?;
        let own_attributes = read_attributes(&mut cursor, &pool, &mut attributes)?;
        cursor.expect_end()?;
        Ok(Self {
            bytes,
            major,
            minor,
            pool,
            access,
            access_offset,
            this_class,
            super_class,
            interfaces,
            fields,
            methods,
            own_attributes,
            attributes,
        })
    }

    /// The class's own name, as modified UTF-8.
    pub fn raw_name(&self) -> &'a [u8] {
        self.pool
            .class_name(self.this_class, 0)
            .expect("checked when the class was read")
    }

    pub fn name(&self) -> ClassName {
        ClassName::new(mutf8::decode(self.raw_name()))
    }

    pub fn super_name(&self) -> Option<ClassName> {
        let name = self
            .pool
            .optional_class_name(self.super_class, 0)
            .expect("checked when the class was read");
        name.map(|name| ClassName::new(mutf8::decode(name)))
    }

    pub fn interface_names(&self) -> Result<Vec<ClassName>, ReadError> {
        self.interfaces
            .iter()
            .map(|(from, index)| {
                Ok(ClassName::new(mutf8::decode(
                    self.pool.class_name(index, from)?,
                )))
            })
            .collect()
    }

    pub fn is_interface(&self) -> bool {
        self.access & access::INTERFACE != 0
    }

    pub fn is_module(&self) -> bool {
        self.access & access::MODULE != 0
    }

    pub fn fields(&self) -> &[Member] {
        &self.fields
    }

    pub fn methods(&self) -> &[Member] {
        &self.methods
    }

    /// The attributes of the class itself.
    pub fn attributes(&self) -> &[Attribute<'a>] {
        &self.attributes[self.own_attributes.start as usize..self.own_attributes.end as usize]
    }

    pub fn attributes_of(&self, member: &Member) -> &[Attribute<'a>] {
        &self.attributes[member.attributes.start as usize..member.attributes.end as usize]
    }

    /// The first attribute of the class of the given kind.
    pub fn attribute(&self, kind: AttributeKind) -> Option<Attribute<'a>> {
        self.attributes()
            .iter()
            .find(|attribute| attribute.kind == kind)
            .copied()
    }

    pub fn attribute_of(&self, member: &Member, kind: AttributeKind) -> Option<Attribute<'a>> {
        self.attributes_of(member)
            .iter()
            .find(|attribute| attribute.kind == kind)
            .copied()
    }

    pub fn method_key(&self, method: &Member) -> Result<MethodKey, ReadError> {
        Ok(MethodKey::new(
            self.pool.text(method.name, method.offset + 2)?,
            self.pool.text(method.descriptor, method.offset + 4)?,
        ))
    }

    /// The code of a method, or `None` for abstract and native ones.
    pub fn code(&self, method: &Member) -> Result<Option<Code<'a>>, ReadError> {
        match self.attribute_of(method, AttributeKind::Code) {
            Some(attribute) => Code::read(&attribute, &self.pool).map(Some),
            None => Ok(None),
        }
    }

    /// The components that a `Record` attribute lists.
    pub fn record_components(
        &self,
        record: &Attribute<'a>,
    ) -> Result<Vec<RecordComponent<'a>>, ReadError> {
        let mut cursor = record.cursor();
        let count = cursor.u16()? as usize;
        let mut components = Vec::with_capacity(count.min(cursor.remaining() / 6));
        for _ in 0..count {
            let offset = cursor.offset();
            let (name, descriptor) = (cursor.u16()?, cursor.u16()?);
            let mut attributes = Vec::new();
            read_attributes(&mut cursor, &self.pool, &mut attributes)?;
            components.push(RecordComponent {
                name,
                descriptor,
                offset,
                attributes,
            });
        }
        cursor.expect_end()?;
        Ok(components)
    }

    /// The entries of the `BootstrapMethods` attribute.
    pub fn bootstrap_methods(&self) -> Result<Vec<BootstrapMethod<'a>>, ReadError> {
        let Some(attribute) = self.attribute(AttributeKind::BootstrapMethods) else {
            return Ok(Vec::new());
        };
        let mut cursor = attribute.cursor();
        let count = cursor.u16()? as usize;
        let mut methods = Vec::with_capacity(count.min(cursor.remaining() / 4));
        for _ in 0..count {
            let method = cursor.u16()?;
            methods.push(BootstrapMethod {
                method,
                arguments: cursor.indexes()?,
            });
        }
        cursor.expect_end()?;
        Ok(methods)
    }
}

fn read_members<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
    attributes: &mut Vec<Attribute<'a>>,
) -> Result<Vec<Member>, ReadError> {
    let count = cursor.u16()? as usize;
    let mut members = Vec::with_capacity(count.min(cursor.remaining() / 8));
    for _ in 0..count {
        let offset = cursor.offset();
        let (access, name, descriptor) = (cursor.u16()?, cursor.u16()?, cursor.u16()?);
        let attributes = read_attributes(cursor, pool, attributes)?;
        let end = cursor.offset();
        members.push(Member {
            access,
            name,
            descriptor,
            offset,
            end,
            attributes,
        });
    }
    Ok(members)
}

/// Reads a table of attributes onto the end of `attributes`, and returns which
/// of them it added.
pub(super) fn read_attributes<'a>(
    cursor: &mut Cursor<'a>,
    pool: &ConstantPool<'a>,
    attributes: &mut Vec<Attribute<'a>>,
) -> Result<Range<u32>, ReadError> {
    let start = attributes.len() as u32;
    for _ in 0..cursor.u16()? {
        let name_offset = cursor.offset();
        let name = cursor.u16()?;
        let kind = AttributeKind::from_name(pool.utf8(name, name_offset)?);
        let length = cursor.u32()? as usize;
        let offset = cursor.offset();
        attributes.push(Attribute {
            kind,
            name,
            offset,
            content: cursor.bytes(length)?,
        });
    }
    Ok(start..attributes.len() as u32)
}
