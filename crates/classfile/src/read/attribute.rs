//! Attributes (JVMS §4.7), told apart by name.

use super::Cursor;

/// Every attribute of JVMS §4.7, and those it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttributeKind {
    AnnotationDefault,
    BootstrapMethods,
    Code,
    ConstantValue,
    Deprecated,
    EnclosingMethod,
    Exceptions,
    InnerClasses,
    LineNumberTable,
    LocalVariableTable,
    LocalVariableTypeTable,
    MethodParameters,
    Module,
    ModuleMainClass,
    ModulePackages,
    NestHost,
    NestMembers,
    PermittedSubclasses,
    Record,
    RuntimeInvisibleAnnotations,
    RuntimeInvisibleParameterAnnotations,
    RuntimeInvisibleTypeAnnotations,
    RuntimeVisibleAnnotations,
    RuntimeVisibleParameterAnnotations,
    RuntimeVisibleTypeAnnotations,
    Signature,
    SourceDebugExtension,
    SourceFile,
    StackMapTable,
    Synthetic,
    Unknown,
}

impl AttributeKind {
    pub(super) fn from_name(name: &[u8]) -> Self {
        match name {
            b"AnnotationDefault" => Self::AnnotationDefault,
            b"BootstrapMethods" => Self::BootstrapMethods,
            b"Code" => Self::Code,
            b"ConstantValue" => Self::ConstantValue,
            b"Deprecated" => Self::Deprecated,
            b"EnclosingMethod" => Self::EnclosingMethod,
            b"Exceptions" => Self::Exceptions,
            b"InnerClasses" => Self::InnerClasses,
            b"LineNumberTable" => Self::LineNumberTable,
            b"LocalVariableTable" => Self::LocalVariableTable,
            b"LocalVariableTypeTable" => Self::LocalVariableTypeTable,
            b"MethodParameters" => Self::MethodParameters,
            b"Module" => Self::Module,
            b"ModuleMainClass" => Self::ModuleMainClass,
            b"ModulePackages" => Self::ModulePackages,
            b"NestHost" => Self::NestHost,
            b"NestMembers" => Self::NestMembers,
            b"PermittedSubclasses" => Self::PermittedSubclasses,
            b"Record" => Self::Record,
            b"RuntimeInvisibleAnnotations" => Self::RuntimeInvisibleAnnotations,
            b"RuntimeInvisibleParameterAnnotations" => Self::RuntimeInvisibleParameterAnnotations,
            b"RuntimeInvisibleTypeAnnotations" => Self::RuntimeInvisibleTypeAnnotations,
            b"RuntimeVisibleAnnotations" => Self::RuntimeVisibleAnnotations,
            b"RuntimeVisibleParameterAnnotations" => Self::RuntimeVisibleParameterAnnotations,
            b"RuntimeVisibleTypeAnnotations" => Self::RuntimeVisibleTypeAnnotations,
            b"Signature" => Self::Signature,
            b"SourceDebugExtension" => Self::SourceDebugExtension,
            b"SourceFile" => Self::SourceFile,
            b"StackMapTable" => Self::StackMapTable,
            b"Synthetic" => Self::Synthetic,
            _ => Self::Unknown,
        }
    }
}

/// An attribute: what it is and where its content stands.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    pub kind: AttributeKind,
    /// Index of its name in the constant pool.
    pub name: u16,
    /// Offset of the content in the class file; name and length stand 6 bytes
    /// before it.
    pub offset: usize,
    pub content: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// Reads the content from its start.
    pub fn cursor(&self) -> Cursor<'a> {
        Cursor::new(self.content, self.offset)
    }
}
