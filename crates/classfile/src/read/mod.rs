//! Takes a class file apart without copying it.
//!
//! [`ClassFile::read`] checks the outer structure: constant pool, members and
//! the extent of every attribute. What stands inside an attribute is read on
//! demand by the functions and iterators of this module, so a caller pays only
//! for what it looks at. Every error names the offset in the class file.

mod annotation;
mod attribute;
mod class;
mod code;
mod cursor;
mod error;
mod frames;
mod mutf8;
pub mod opcode;
mod pool;

pub(crate) use annotation::skip_annotation;
pub use annotation::{
    Annotation, ElementValue, MAX_NESTING, TypeAnnotation, TypeTarget, read_annotations,
    read_element_value, read_parameter_annotations, read_type_annotations,
};
pub use attribute::{Attribute, AttributeKind};
pub use class::{ClassFile, FIRST_MAJOR, LAST_MAJOR, Member, RecordComponent, access};
pub use code::{Code, Handler, Instruction, Instructions, LookupSwitch, Operand, TableSwitch};
pub use cursor::{Cursor, Indexes};
pub use error::{ReadError, ReadErrorKind};
pub use frames::{Frame, FrameKind, VerificationType, read_frames};
pub use mutf8::decode as decode_modified_utf8;
pub use pool::{
    BootstrapMethod, Constant, ConstantPool, ConstantTag, MemberReference, NameAndType,
};
