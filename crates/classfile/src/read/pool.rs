//! The constant pool (JVMS §4.4).

use std::borrow::Cow;

use super::{Cursor, ReadError, ReadErrorKind, mutf8};

/// Kinds of constants, by their tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ConstantTag {
    Utf8 = 1,
    Integer = 3,
    Float = 4,
    Long = 5,
    Double = 6,
    Class = 7,
    String = 8,
    Fieldref = 9,
    Methodref = 10,
    InterfaceMethodref = 11,
    NameAndType = 12,
    MethodHandle = 15,
    MethodType = 16,
    Dynamic = 17,
    InvokeDynamic = 18,
    Module = 19,
    Package = 20,
}

impl ConstantTag {
    fn from_byte(tag: u8) -> Option<Self> {
        Some(match tag {
            1 => Self::Utf8,
            3 => Self::Integer,
            4 => Self::Float,
            5 => Self::Long,
            6 => Self::Double,
            7 => Self::Class,
            8 => Self::String,
            9 => Self::Fieldref,
            10 => Self::Methodref,
            11 => Self::InterfaceMethodref,
            12 => Self::NameAndType,
            15 => Self::MethodHandle,
            16 => Self::MethodType,
            17 => Self::Dynamic,
            18 => Self::InvokeDynamic,
            19 => Self::Module,
            20 => Self::Package,
            _ => return None,
        })
    }

    /// How many bytes follow the tag; `None` for text, which carries its length.
    fn fixed_length(self) -> Option<usize> {
        match self {
            Self::Utf8 => None,
            Self::Class | Self::String | Self::MethodType | Self::Module | Self::Package => Some(2),
            Self::MethodHandle => Some(3),
            Self::Integer
            | Self::Float
            | Self::Fieldref
            | Self::Methodref
            | Self::InterfaceMethodref
            | Self::NameAndType
            | Self::Dynamic
            | Self::InvokeDynamic => Some(4),
            Self::Long | Self::Double => Some(8),
        }
    }

    /// Long and double take two places (JVMS §4.4.5).
    fn is_wide(self) -> bool {
        matches!(self, Self::Long | Self::Double)
    }
}

/// A constant with its parts. Texts are modified UTF-8 as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant<'a> {
    Utf8(&'a [u8]),
    Integer(i32),
    /// The bits, so that different NaNs stay different.
    Float(u32),
    Long(i64),
    /// The bits, so that different NaNs stay different.
    Double(u64),
    Class {
        name: u16,
    },
    String {
        text: u16,
    },
    Fieldref {
        class: u16,
        name_and_type: u16,
    },
    Methodref {
        class: u16,
        name_and_type: u16,
    },
    InterfaceMethodref {
        class: u16,
        name_and_type: u16,
    },
    NameAndType {
        name: u16,
        descriptor: u16,
    },
    MethodHandle {
        kind: u8,
        reference: u16,
    },
    MethodType {
        descriptor: u16,
    },
    Dynamic {
        bootstrap: u16,
        name_and_type: u16,
    },
    InvokeDynamic {
        bootstrap: u16,
        name_and_type: u16,
    },
    Module {
        name: u16,
    },
    Package {
        name: u16,
    },
}

/// A name and a descriptor, as modified UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameAndType<'a> {
    pub name: &'a [u8],
    pub descriptor: &'a [u8],
}

/// A field or method of a class that code names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberReference<'a> {
    pub class: &'a [u8],
    pub name: &'a [u8],
    pub descriptor: &'a [u8],
    /// Whether the class is named as an interface.
    pub interface: bool,
}

/// An entry of the `BootstrapMethods` attribute.
#[derive(Clone, Copy, Debug)]
pub struct BootstrapMethod<'a> {
    /// Index of a `MethodHandle`.
    pub method: u16,
    /// Indexes of the static arguments.
    pub arguments: super::Indexes<'a>,
}

/// The constant pool: where each constant starts.
#[derive(Clone, Debug)]
pub struct ConstantPool<'a> {
    bytes: &'a [u8],
    /// Offset of each constant's tag in `bytes`; 0 where there is none.
    offsets: Vec<u32>,
}

impl<'a> ConstantPool<'a> {
    /// Reads the pool that `cursor` stands at; `bytes` is the whole class file.
    pub(super) fn read(bytes: &'a [u8], cursor: &mut Cursor<'a>) -> Result<Self, ReadError> {
        let count = cursor.u16()? as usize;
        let mut offsets = Vec::with_capacity(count.min(cursor.remaining() / 3 + 2));
        offsets.push(0);
        while offsets.len() < count {
            let offset = cursor.offset();
            let byte = cursor.u8()?;
            let tag = ConstantTag::from_byte(byte)
                .ok_or_else(|| ReadErrorKind::UnknownConstant(byte).at(offset))?;
            let length = match tag.fixed_length() {
                Some(length) => length,
                None => cursor.u16()? as usize,
            };
            cursor.bytes(length)?;
            offsets.push(offset as u32);
            if tag.is_wide() {
                if offsets.len() == count {
                    return Err(ReadErrorKind::HalfConstant.at(offset));
                }
                offsets.push(0);
            }
        }
        Ok(Self { bytes, offsets })
    }

    /// One more than the highest index, as the class file counts.
    pub fn count(&self) -> usize {
        self.offsets.len()
    }

    /// Where the constant stands in the class file.
    pub fn offset_of(&self, index: u16) -> Option<usize> {
        match self.offsets.get(index as usize) {
            None | Some(0) => None,
            Some(&offset) => Some(offset as usize),
        }
    }

    /// The constant at `index`, which stands at `from` in the class file.
    pub fn get(&self, index: u16, from: usize) -> Result<Constant<'a>, ReadError> {
        self.find(index).ok_or_else(|| bad(index, "constant", from))
    }

    /// Every constant with its index.
    pub fn iter(&self) -> impl Iterator<Item = (u16, Constant<'a>)> {
        (1..self.offsets.len() as u32)
            .filter_map(|index| Some((index as u16, self.find(index as u16)?)))
    }

    fn find(&self, index: u16) -> Option<Constant<'a>> {
        let offset = self.offset_of(index)?;
        let body = self.bytes.get(offset + 1..)?;
        let u16_at = |at: usize| Some(u16::from_be_bytes(*body.get(at..)?.first_chunk()?));
        let u32_at = |at: usize| Some(u32::from_be_bytes(*body.get(at..)?.first_chunk()?));
        let u64_at = |at: usize| Some(u64::from_be_bytes(*body.get(at..)?.first_chunk()?));
        Some(match ConstantTag::from_byte(self.bytes[offset])? {
            ConstantTag::Utf8 => Constant::Utf8(body.get(2..)?.get(..u16_at(0)? as usize)?),
            ConstantTag::Integer => Constant::Integer(u32_at(0)? as i32),
            ConstantTag::Float => Constant::Float(u32_at(0)?),
            ConstantTag::Long => Constant::Long(u64_at(0)? as i64),
            ConstantTag::Double => Constant::Double(u64_at(0)?),
            ConstantTag::Class => Constant::Class { name: u16_at(0)? },
            ConstantTag::String => Constant::String { text: u16_at(0)? },
            ConstantTag::Fieldref => Constant::Fieldref {
                class: u16_at(0)?,
                name_and_type: u16_at(2)?,
            },
            ConstantTag::Methodref => Constant::Methodref {
                class: u16_at(0)?,
                name_and_type: u16_at(2)?,
            },
            ConstantTag::InterfaceMethodref => Constant::InterfaceMethodref {
                class: u16_at(0)?,
                name_and_type: u16_at(2)?,
            },
            ConstantTag::NameAndType => Constant::NameAndType {
                name: u16_at(0)?,
                descriptor: u16_at(2)?,
            },
            ConstantTag::MethodHandle => Constant::MethodHandle {
                kind: *body.first()?,
                reference: u16_at(1)?,
            },
            ConstantTag::MethodType => Constant::MethodType {
                descriptor: u16_at(0)?,
            },
            ConstantTag::Dynamic => Constant::Dynamic {
                bootstrap: u16_at(0)?,
                name_and_type: u16_at(2)?,
            },
            ConstantTag::InvokeDynamic => Constant::InvokeDynamic {
                bootstrap: u16_at(0)?,
                name_and_type: u16_at(2)?,
            },
            ConstantTag::Module => Constant::Module { name: u16_at(0)? },
            ConstantTag::Package => Constant::Package { name: u16_at(0)? },
        })
    }

    /// The two bytes at `at` in the body of the constant at `index`, if that
    /// has the given tag.
    #[inline]
    fn part(&self, index: u16, tag: ConstantTag, at: usize) -> Option<u16> {
        let offset = *self.offsets.get(index as usize)? as usize;
        let constant = self.bytes.get(offset..)?;
        // There is no constant at offset 0, where the file's magic number has
        // no tag's value, so an index without a constant fails here too.
        if *constant.first()? != tag as u8 {
            return None;
        }
        Some(u16::from_be_bytes(*constant.get(at + 1..)?.first_chunk()?))
    }

    /// A text, as modified UTF-8. `from` is the offset of the index, for errors.
    #[inline]
    pub fn utf8(&self, index: u16, from: usize) -> Result<&'a [u8], ReadError> {
        self.find_utf8(index)
            .ok_or_else(|| bad(index, "text", from))
    }

    #[inline]
    fn find_utf8(&self, index: u16) -> Option<&'a [u8]> {
        let length = self.part(index, ConstantTag::Utf8, 0)? as usize;
        let start = self.offsets[index as usize] as usize + 3;
        self.bytes.get(start..start + length)
    }

    /// A text, decoded.
    pub fn text(&self, index: u16, from: usize) -> Result<Cow<'a, str>, ReadError> {
        self.utf8(index, from).map(mutf8::decode)
    }

    /// The name of a class constant: `p/A`, or a descriptor for arrays.
    #[inline]
    pub fn class_name(&self, index: u16, from: usize) -> Result<&'a [u8], ReadError> {
        match self.part(index, ConstantTag::Class, 0) {
            Some(name) => self.utf8(name, from),
            None => Err(bad(index, "class", from)),
        }
    }

    /// The name of a class constant, or `None` for index 0.
    pub fn optional_class_name(
        &self,
        index: u16,
        from: usize,
    ) -> Result<Option<&'a [u8]>, ReadError> {
        if index == 0 {
            Ok(None)
        } else {
            self.class_name(index, from).map(Some)
        }
    }

    /// The name of a module constant.
    pub fn module_name(&self, index: u16, from: usize) -> Result<&'a [u8], ReadError> {
        match self.find(index) {
            Some(Constant::Module { name }) => self.utf8(name, from),
            _ => Err(bad(index, "module", from)),
        }
    }

    /// The name of a package constant.
    pub fn package_name(&self, index: u16, from: usize) -> Result<&'a [u8], ReadError> {
        match self.find(index) {
            Some(Constant::Package { name }) => self.utf8(name, from),
            _ => Err(bad(index, "package", from)),
        }
    }

    #[inline]
    pub fn name_and_type(&self, index: u16, from: usize) -> Result<NameAndType<'a>, ReadError> {
        let part = |at| {
            self.part(index, ConstantTag::NameAndType, at)
                .ok_or_else(|| bad(index, "name and type", from))
        };
        Ok(NameAndType {
            name: self.utf8(part(0)?, from)?,
            descriptor: self.utf8(part(2)?, from)?,
        })
    }

    /// A field, method or interface method reference.
    #[inline]
    pub fn member(&self, index: u16, from: usize) -> Result<MemberReference<'a>, ReadError> {
        match self.tag(index) {
            Some(
                tag @ (ConstantTag::Fieldref
                | ConstantTag::Methodref
                | ConstantTag::InterfaceMethodref),
            ) => self.member_with(index, tag, from),
            _ => Err(bad(index, "field or method", from)),
        }
    }

    #[inline]
    fn member_with(
        &self,
        index: u16,
        tag: ConstantTag,
        from: usize,
    ) -> Result<MemberReference<'a>, ReadError> {
        let part = |at| {
            self.part(index, tag, at)
                .ok_or_else(|| bad(index, "field or method", from))
        };
        let NameAndType { name, descriptor } = self.name_and_type(part(2)?, from)?;
        Ok(MemberReference {
            class: self.class_name(part(0)?, from)?,
            name,
            descriptor,
            interface: tag == ConstantTag::InterfaceMethodref,
        })
    }

    /// The kind of the constant at `index`.
    #[inline]
    pub fn tag(&self, index: u16) -> Option<ConstantTag> {
        let offset = self.offset_of(index)?;
        ConstantTag::from_byte(*self.bytes.get(offset)?)
    }
}

fn bad(index: u16, expected: &'static str, from: usize) -> ReadError {
    ReadErrorKind::BadIndex { index, expected }.at(from)
}
