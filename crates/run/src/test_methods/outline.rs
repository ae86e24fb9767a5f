//! Test classes as far as it matters whether their methods can be told apart.

use fewest_classfile::annotations::{self as known, Annotation};
use fewest_classfile::read::{ClassFile, Member, ReadError, access};
use fewest_classfile::references::{MethodReferences, method_references};
use fewest_model::{ClassName, MethodKey};

pub(super) const TEST_CASE: &str = "junit/framework/TestCase";
pub(super) const JUPITER_NESTED: &str = "org/junit/jupiter/api/Nested";

/// A class as far as it matters here.
pub(super) struct Outline {
    pub(super) name: ClassName,
    pub(super) super_name: Option<ClassName>,
    pub(super) interfaces: Vec<ClassName>,
    pub(super) annotations: Vec<Annotation>,
    pub(super) fields: Vec<Field>,
    pub(super) methods: Vec<Method>,
}

impl Outline {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let file = ClassFile::read(bytes)?;
        let mut fields = Vec::new();
        for field in file.fields() {
            fields.push(Field {
                is_static: field.is_static(),
                is_final: field.access & access::FINAL != 0,
                descriptor: file
                    .pool
                    .text(field.descriptor, field.offset + 4)?
                    .into_owned(),
                annotations: known::of_member(&file, field)?,
            });
        }
        let mut methods = Vec::new();
        for method in file.methods() {
            methods.push(Method {
                key: file.method_key(method)?,
                member: method.clone(),
                annotations: known::of_member(&file, method)?,
                references: method_references(&file, method)?,
            });
        }
        Ok(Self {
            name: file.name(),
            super_name: file.super_name(),
            interfaces: file.interface_names()?,
            annotations: known::of_class(&file)?,
            fields,
            methods,
        })
    }

    pub(super) fn is_nested_test(&self) -> bool {
        let mut classes = self.annotations.iter().map(|a| a.class.as_str());
        classes.any(|class| class == JUPITER_NESTED)
    }

    /// Whether each object of it belongs to one of another class.
    pub(super) fn is_inner_of(&self, outer: &ClassName) -> bool {
        let of_outer = format!("(L{outer};");
        let constructors = || self.methods.iter().filter(|m| m.key.is_constructor());
        constructors().count() > 0
            && constructors().all(|method| method.key.descriptor.starts_with(&of_outer))
    }
}

pub(super) struct Field {
    pub(super) is_static: bool,
    pub(super) is_final: bool,
    pub(super) descriptor: String,
    pub(super) annotations: Vec<Annotation>,
}

pub(super) struct Method {
    pub(super) key: MethodKey,
    pub(super) member: Member,
    pub(super) annotations: Vec<Annotation>,
    pub(super) references: MethodReferences,
}

impl Method {
    pub(super) fn is_test(&self, junit3: bool) -> bool {
        known::is_test(&self.member, &self.key, &self.annotations, junit3)
    }

    /// Whether it can override or be overridden.
    pub(super) fn is_virtual(&self) -> bool {
        !self.member.is_static() && !self.member.is_private() && !self.key.name.starts_with('<')
    }

    pub(super) fn is_annotated(&self, names: &[&str]) -> bool {
        let mut classes = self.annotations.iter().map(|a| a.class.as_str());
        classes.any(|class| names.contains(&class))
    }
}

/// The class that another one is nested in, by its name.
pub(super) fn enclosing(class: &ClassName) -> Option<ClassName> {
    let (outer, _) = class.as_str().rsplit_once('$')?;
    Some(outer.into())
}

pub(super) fn is_foreign(class: &ClassName) -> bool {
    let name = class.as_str();
    name == TEST_CASE
        || ["java/", "jdk/", "kotlin/"]
            .iter()
            .any(|p| name.starts_with(p))
}
