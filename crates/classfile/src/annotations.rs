//! Annotations by name, for those who ask what a class says of itself.

use fewest_model::{ClassName, MethodKey};

use crate::read::{
    Attribute, AttributeKind, ClassFile, Constant, ElementValue, Member, ReadError,
    decode_modified_utf8, read_annotations,
};

/// An annotation that is kept at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub class: ClassName,
    /// The elements that are given, by name.
    pub elements: Vec<(String, AnnotationValue)>,
}

/// The value of an annotation's element, as far as anybody asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationValue {
    Class(ClassName),
    Boolean(bool),
    /// The name of an enum's constant.
    Enum(String),
    List(Vec<AnnotationValue>),
    Other,
}

impl Annotation {
    pub fn value(&self, name: &str) -> Option<&AnnotationValue> {
        let found = self.elements.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }
}

/// The annotations of a class itself.
pub fn of_class(class: &ClassFile<'_>) -> Result<Vec<Annotation>, ReadError> {
    of_attributes(class, class.attributes())
}

/// The annotations of a field or method.
pub fn of_member(class: &ClassFile<'_>, member: &Member) -> Result<Vec<Annotation>, ReadError> {
    of_attributes(class, class.attributes_of(member))
}

fn of_attributes(
    class: &ClassFile<'_>,
    attributes: &[Attribute<'_>],
) -> Result<Vec<Annotation>, ReadError> {
    let mut found = Vec::new();
    let visible =
        |attribute: &&Attribute<'_>| attribute.kind == AttributeKind::RuntimeVisibleAnnotations;
    for attribute in attributes.iter().filter(visible) {
        for annotation in read_annotations(&mut attribute.cursor())? {
            let from = annotation.offset;
            let mut elements = Vec::with_capacity(annotation.elements.len());
            for (name, value) in &annotation.elements {
                let name = class.pool.text(*name, from)?.into_owned();
                elements.push((name, value_of(class, value, from)?));
            }
            found.push(Annotation {
                class: described(class, annotation.type_descriptor, from)?,
                elements,
            });
        }
    }
    Ok(found)
}

fn value_of(
    class: &ClassFile<'_>,
    value: &ElementValue,
    from: usize,
) -> Result<AnnotationValue, ReadError> {
    Ok(match value {
        ElementValue::Class(index) => AnnotationValue::Class(described(class, *index, from)?),
        ElementValue::Constant { tag: b'Z', index } => match class.pool.get(*index, from)? {
            Constant::Integer(number) => AnnotationValue::Boolean(number != 0),
            _ => AnnotationValue::Other,
        },
        ElementValue::Enum { name, .. } => {
            AnnotationValue::Enum(class.pool.text(*name, from)?.into_owned())
        }
        ElementValue::Array(values) => AnnotationValue::List(
            values
                .iter()
                .map(|value| value_of(class, value, from))
                .collect::<Result<_, _>>()?,
        ),
        _ => AnnotationValue::Other,
    })
}

/// The class that a descriptor stands for.
fn described(class: &ClassFile<'_>, index: u16, from: usize) -> Result<ClassName, ReadError> {
    let text = decode_modified_utf8(class.pool.utf8(index, from)?);
    let name = text
        .strip_prefix('L')
        .and_then(|name| name.strip_suffix(';'));
    Ok(ClassName::new(name.unwrap_or(&text)))
}

/// Annotations by which the frameworks know a plain test method.
const TESTS: [&str; 3] = [
    "org/junit/Test",
    "org/junit/jupiter/api/Test",
    "org/testng/annotations/Test",
];

/// Whether a method is a test: by its annotation, or by its name where the
/// class is one of JUnit 3.
pub fn is_test(method: &Member, key: &MethodKey, annotations: &[Annotation], junit3: bool) -> bool {
    let annotated = || {
        annotations
            .iter()
            .any(|a| TESTS.contains(&a.class.as_str()))
    };
    if junit3 {
        const PUBLIC: u16 = 1;
        return method.access & PUBLIC != 0
            && !method.is_static()
            && key.name.starts_with("test")
            && &*key.descriptor == "()V";
    }
    annotated()
}
