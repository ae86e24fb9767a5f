//! What a class names outside of its methods' code.

use fewest_model::ClassName;

use super::ClassReferences;
use super::descriptor::{element_class, for_each_in_descriptor, for_each_in_signature};
use crate::read::{
    Annotation, Attribute, AttributeKind, ClassFile, ElementValue, Indexes, ReadError,
    read_annotations, read_element_value, read_parameter_annotations, read_type_annotations,
};

pub(super) fn references(class: &ClassFile<'_>) -> Result<ClassReferences, ReadError> {
    let mut collector = Collector {
        class,
        references: ClassReferences::default(),
    };
    collector.class()?;
    // A class says its own name all over.
    collector.references.named.remove(&class.name());
    Ok(collector.references)
}

struct Collector<'c, 'a> {
    class: &'c ClassFile<'a>,
    references: ClassReferences,
}

impl<'a> Collector<'_, 'a> {
    fn class(&mut self) -> Result<(), ReadError> {
        let class = self.class;
        self.references.named.extend(class.super_name());
        self.references.named.extend(class.interface_names()?);
        for member in class.fields().iter().chain(class.methods()) {
            self.descriptor(member.descriptor, member.offset + 4)?;
            self.attributes(class.attributes_of(member))?;
        }
        for method in class.methods() {
            if let Some(code) = class.code(method)? {
                self.attributes(&code.attributes)?;
            }
        }
        self.attributes(class.attributes())
    }

    fn attributes(&mut self, attributes: &[Attribute<'a>]) -> Result<(), ReadError> {
        attributes
            .iter()
            .try_for_each(|attribute| self.attribute(attribute))
    }

    fn attribute(&mut self, attribute: &Attribute<'a>) -> Result<(), ReadError> {
        use AttributeKind as Kind;
        let mut cursor = attribute.cursor();
        match attribute.kind {
            Kind::Signature => {
                let from = cursor.offset();
                let signature = self.class.pool.utf8(cursor.u16()?, from)?;
                for_each_in_signature(signature, |name| {
                    self.references.named.insert(name);
                });
            }
            Kind::Exceptions | Kind::NestMembers | Kind::PermittedSubclasses => {
                self.classes(cursor.indexes()?)?;
            }
            // Classes for Java 8 know their nest only by this.
            Kind::InnerClasses => {
                for _ in 0..cursor.u16()? {
                    let from = cursor.offset();
                    self.class_constant(cursor.u16()?, from)?;
                    cursor.bytes(6)?;
                }
            }
            Kind::NestHost | Kind::EnclosingMethod => {
                let from = cursor.offset();
                self.class_constant(cursor.u16()?, from)?;
            }
            Kind::Record => {
                for component in self.class.record_components(attribute)? {
                    self.descriptor(component.descriptor, component.offset + 2)?;
                    self.attributes(&component.attributes)?;
                }
            }
            Kind::RuntimeVisibleAnnotations | Kind::RuntimeInvisibleAnnotations => {
                let annotations = read_annotations(&mut cursor)?;
                self.annotations(&annotations, attribute.kind)?;
            }
            Kind::RuntimeVisibleParameterAnnotations
            | Kind::RuntimeInvisibleParameterAnnotations => {
                for annotations in read_parameter_annotations(&mut cursor)? {
                    self.annotations(&annotations, attribute.kind)?;
                }
            }
            Kind::RuntimeVisibleTypeAnnotations | Kind::RuntimeInvisibleTypeAnnotations => {
                for annotation in read_type_annotations(&mut cursor)? {
                    self.annotations(&[annotation.annotation], attribute.kind)?;
                }
            }
            Kind::AnnotationDefault => {
                let value = read_element_value(&mut cursor)?;
                self.value(&value, attribute.offset, true)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn annotations(
        &mut self,
        annotations: &[Annotation],
        kind: AttributeKind,
    ) -> Result<(), ReadError> {
        let visible = matches!(
            kind,
            AttributeKind::RuntimeVisibleAnnotations
                | AttributeKind::RuntimeVisibleParameterAnnotations
                | AttributeKind::RuntimeVisibleTypeAnnotations
        );
        annotations
            .iter()
            .try_for_each(|annotation| self.annotation(annotation, visible))
    }

    fn annotation(&mut self, annotation: &Annotation, visible: bool) -> Result<(), ReadError> {
        let from = annotation.offset;
        let descriptor = self.class.pool.utf8(annotation.type_descriptor, from)?;
        for_each_in_descriptor(descriptor, from, |name| {
            if visible {
                self.references.annotations.insert(name.clone());
            }
            self.references.named.insert(name);
        })?;
        annotation
            .elements
            .iter()
            .try_for_each(|(_, value)| self.value(value, from, visible))
    }

    fn value(&mut self, value: &ElementValue, from: usize, visible: bool) -> Result<(), ReadError> {
        match value {
            ElementValue::Constant { .. } => Ok(()),
            ElementValue::Enum {
                type_descriptor: descriptor,
                ..
            }
            | ElementValue::Class(descriptor) => self.descriptor(*descriptor, from),
            ElementValue::Annotation(annotation) => self.annotation(annotation, visible),
            ElementValue::Array(values) => values
                .iter()
                .try_for_each(|value| self.value(value, from, visible)),
        }
    }

    fn descriptor(&mut self, index: u16, from: usize) -> Result<(), ReadError> {
        let descriptor = self.class.pool.utf8(index, from)?;
        for_each_in_descriptor(descriptor, from, |name: ClassName| {
            self.references.named.insert(name);
        })
    }

    fn classes(&mut self, classes: Indexes<'_>) -> Result<(), ReadError> {
        classes
            .iter()
            .try_for_each(|(from, index)| self.class_constant(index, from))
    }

    fn class_constant(&mut self, index: u16, from: usize) -> Result<(), ReadError> {
        let name = self.class.pool.class_name(index, from)?;
        self.references.named.extend(element_class(name));
        Ok(())
    }
}
