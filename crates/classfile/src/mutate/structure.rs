//! Faults in the declarations of a class.

use fewest_model::{ClassName, MethodKey};

use super::code::other_constant;
use super::{Edit, Mutant, NewConstant, Operator};
use crate::read::{
    Attribute, AttributeKind, ClassFile, Constant, ElementValue, Member, ReadError, access,
    decode_modified_utf8, read_element_value, skip_annotation,
};

/// A method that a class inherits and may override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overridable {
    pub key: MethodKey,
    /// The flags that an overriding method needs.
    pub access: u16,
    /// The class that declares it.
    pub from: ClassName,
}

/// The methods that a class with these superclasses, nearest first, may
/// override and does not yet. Methods of `java.lang.Object` come along if the
/// last superclass given extends it.
pub fn overridable_methods(
    class: &ClassFile<'_>,
    superclasses: &[ClassFile<'_>],
) -> Result<Vec<Overridable>, ReadError> {
    let special = access::INTERFACE | access::ANNOTATION | access::ENUM;
    if class.access & special != 0 || class.methods().is_empty() {
        return Ok(Vec::new());
    }
    let mut seen = keys(class)?;
    let mut found = Vec::new();
    for superclass in superclasses {
        for method in superclass.methods() {
            let key = superclass.method_key(method)?;
            if seen.contains(&key) {
                continue;
            }
            seen.push(key.clone());
            if may_override(class, superclass, method) && !is_special(&key) {
                found.push(Overridable {
                    key,
                    access: method.access & (access::PUBLIC | access::PROTECTED),
                    from: superclass.name(),
                });
            }
        }
    }
    let top = superclasses.last().unwrap_or(class);
    if top.super_name().is_some_and(|name| name.as_str() == OBJECT) {
        found.extend(of_object().filter(|method| !seen.contains(&method.key)));
    }
    Ok(found)
}

const OBJECT: &str = "java/lang/Object";

fn of_object() -> impl Iterator<Item = Overridable> {
    [
        ("hashCode", "()I"),
        ("toString", "()Ljava/lang/String;"),
        ("equals", "(Ljava/lang/Object;)Z"),
    ]
    .into_iter()
    .map(|(name, descriptor)| Overridable {
        key: MethodKey::new(name, descriptor),
        access: access::PUBLIC,
        from: ClassName::new(OBJECT),
    })
}

fn keys(class: &ClassFile<'_>) -> Result<Vec<MethodKey>, ReadError> {
    let methods = class.methods().iter();
    methods.map(|method| class.method_key(method)).collect()
}

fn is_special(key: &MethodKey) -> bool {
    key.is_constructor() || key.is_static_initializer()
}

fn may_override(class: &ClassFile<'_>, superclass: &ClassFile<'_>, method: &Member) -> bool {
    let bars = access::STATIC | access::FINAL | access::PRIVATE | access::ABSTRACT | access::BRIDGE;
    let shared = access::PUBLIC | access::PROTECTED;
    let package = |class: &ClassFile<'_>| {
        let name = class.name();
        let end = name.as_str().rfind('/').unwrap_or(0);
        name.as_str()[..end].to_owned()
    };
    method.access & bars == 0
        && (method.access & shared != 0 || package(class) == package(superclass))
}

pub(super) fn mutants(
    class: &ClassFile<'_>,
    overridable: &[Overridable],
) -> Result<Vec<Mutant>, ReadError> {
    let mut shape = Shape {
        class,
        name: class.name(),
        found: Vec::new(),
    };
    for method in overridable {
        shape.overriding(method);
    }
    for field in class.fields() {
        shape.constant_value(field)?;
        let name = class.pool.text(field.name, field.offset + 2)?;
        shape.annotations(&format!(".{name}"), class.attributes_of(field))?;
    }
    for method in class.methods() {
        let key = class.method_key(method)?;
        let attributes = class.attributes_of(method);
        shape.annotations(&format!(".{}{}", key.name, key.descriptor), attributes)?;
        if let Some(default) = class.attribute_of(method, AttributeKind::AnnotationDefault) {
            shape.annotation_default(&key, &default)?;
        }
    }
    shape.annotations("", class.attributes())?;
    Ok(shape.found)
}

/// A class while faults around its code are looked for.
struct Shape<'a> {
    class: &'a ClassFile<'a>,
    name: ClassName,
    found: Vec<Mutant>,
}

impl Shape<'_> {
    fn overriding(&mut self, method: &Overridable) {
        let key = &method.key;
        let place = format!("#{key}");
        let words = format!(
            ": overrides `{}` of {} and does nothing there",
            key.name,
            method.from.dotted()
        );
        let edit = Edit::Method {
            method: method.clone(),
        };
        self.add(Operator::Override, &place, "added", &words, edit);
    }

    fn constant_value(&mut self, field: &Member) -> Result<(), ReadError> {
        let class = self.class;
        let Some(value) = class.attribute_of(field, AttributeKind::ConstantValue) else {
            return Ok(());
        };
        let constant = class.pool.get(value.cursor().u16()?, value.offset)?;
        let descriptor = class.pool.utf8(field.descriptor, field.offset + 4)?;
        let other = match (descriptor, constant) {
            (b"Z", Constant::Integer(value)) => {
                let to = i32::from(value == 0);
                Some((NewConstant::Integer(to), format!("`{value}` became `{to}`")))
            }
            // Only what fits into the field is a valid value.
            (b"B" | b"S" | b"C", Constant::Integer(value)) => {
                let to = if value > 0 { value - 1 } else { value + 1 };
                Some((NewConstant::Integer(to), format!("`{value}` became `{to}`")))
            }
            _ => other_constant(class, constant, value.offset)?,
        };
        let Some((constant, change)) = other else {
            return Ok(());
        };
        let place = format!(".{}", class.pool.text(field.name, field.offset + 2)?);
        let words = format!("{place}: {change} as its constant value");
        let edit = Edit::Index {
            offset: value.offset,
            constant,
        };
        self.add(Operator::FieldValue, &place, "constant", &words, edit);
        Ok(())
    }

    fn annotations(&mut self, place: &str, attributes: &[Attribute<'_>]) -> Result<(), ReadError> {
        for table in attributes {
            if table.kind != AttributeKind::RuntimeVisibleAnnotations {
                continue;
            }
            let mut cursor = table.cursor();
            for number in 0..cursor.u16()? {
                let start = cursor.offset();
                let bytes = skip_annotation(&mut cursor)?;
                let index = u16::from_be_bytes(*bytes.first_chunk().unwrap_or(&[0; 2]));
                let name = decode_modified_utf8(self.class.pool.utf8(index, start)?);
                let name = name.trim_start_matches('L').trim_end_matches(';');
                let member = place.split('(').next().unwrap_or(place);
                let words = format!(
                    "{member}: the annotation @{} is gone",
                    name.replace('/', ".")
                );
                let edit = Edit::Annotation {
                    start,
                    end: start + bytes.len(),
                    length_offset: table.offset - 4,
                };
                let how = format!("gone-{number}");
                self.add(Operator::Annotation, place, &how, &words, edit);
            }
        }
        Ok(())
    }

    fn annotation_default(
        &mut self,
        key: &MethodKey,
        default: &Attribute<'_>,
    ) -> Result<(), ReadError> {
        let ElementValue::Constant { tag, index } = read_element_value(&mut default.cursor())?
        else {
            return Ok(());
        };
        let constant = self.class.pool.get(index, default.offset + 1)?;
        let other = match (tag, constant) {
            (b's', Constant::Utf8(text)) if text.len() < usize::from(u16::MAX) => {
                NewConstant::Utf8([text, b"x"].concat())
            }
            (b'Z', Constant::Integer(value)) => NewConstant::Integer(i32::from(value == 0)),
            (b'B' | b'S' | b'C', Constant::Integer(value)) => {
                NewConstant::Integer(if value > 0 { value - 1 } else { value + 1 })
            }
            _ => match other_constant(self.class, constant, default.offset + 1)? {
                Some((constant, _)) => constant,
                None => return Ok(()),
            },
        };
        let place = format!(".{key}");
        let words = format!(".{}: its default value is another", key.name);
        let edit = Edit::Index {
            // The tag comes first.
            offset: default.offset + 1,
            constant: other,
        };
        self.add(Operator::Annotation, &place, "default", &words, edit);
        Ok(())
    }

    fn add(&mut self, operator: Operator, place: &str, how: &str, words: &str, edit: Edit) {
        self.found.push(Mutant {
            id: format!("{}{place}:{operator}:{how}", self.name),
            operator,
            class: self.name.clone(),
            method: None,
            line: None,
            words: format!("{}{words}", self.name.dotted()),
            edit,
        });
    }
}
