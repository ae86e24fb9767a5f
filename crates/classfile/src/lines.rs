//! Which lines of its source the code of a class was compiled from.
//!
//! For those who know which lines of a file changed and ask which classes that
//! can be. Debug attributes are a compiler's word and may be missing; then
//! nothing is told, and the caller has to take the whole file.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use fewest_model::MethodKey;

use crate::read::{Attribute, AttributeKind, ClassFile, Member, ReadError, access};

/// What a class tells of its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLines {
    /// The name of the source file, without its folder.
    pub file: Option<String>,
    /// From the first to the last line of each method's code.
    methods: Vec<RangeInclusive<u32>>,
    /// The lines of constructors, among which are those of fields that get
    /// their value there. Members lie between them, so they form no range.
    constructors: BTreeSet<u32>,
    /// Whether there is code whose lines are not told.
    pub has_code_without_lines: bool,
    pub is_interface: bool,
    /// Whether there is a field whose value compilers copy to other classes.
    pub has_constants: bool,
}

impl SourceLines {
    pub fn of(class: &ClassFile<'_>) -> Result<Self, ReadError> {
        let mut lines = Self {
            file: source_file(class)?,
            is_interface: class.is_interface(),
            has_constants: has_constants(class),
            ..Self::default()
        };
        for method in class.methods() {
            let Some(code) = class.code(method)? else {
                continue;
            };
            let Some(table) = code.attribute(AttributeKind::LineNumberTable) else {
                lines.has_code_without_lines = true;
                continue;
            };
            let of_method = line_numbers(&table)?;
            let key = class.method_key(method)?;
            if key.is_constructor() {
                lines.constructors.extend(of_method);
            } else if key.is_static_initializer() || is_made_up(method, &key) {
                // A constant may stand on the same line.
            } else if let (Some(&first), Some(&last)) = (of_method.first(), of_method.last()) {
                lines.methods.push(first..=last);
            }
        }
        Ok(lines)
    }

    /// Whether a line can only belong to a method, since code of the method
    /// stands before and after it.
    pub fn is_within_method(&self, line: u32) -> bool {
        let mut methods = self.methods.iter();
        methods.any(|method| *method.start() < line && line < *method.end())
    }

    /// Whether code of a method or of a constructor stands on a line.
    pub fn has_code_on(&self, line: u32) -> bool {
        self.constructors.contains(&line) || self.methods.iter().any(|lines| lines.contains(&line))
    }

    /// Whether one method goes on from a line to the next.
    pub fn goes_on_after(&self, line: u32) -> bool {
        let mut methods = self.methods.iter();
        methods.any(|method| method.contains(&line) && method.contains(&(line + 1)))
    }
}

/// Whether no source has the method. Compilers give such methods any line; only
/// the bodies of lambdas have their own.
fn is_made_up(method: &Member, key: &MethodKey) -> bool {
    method.access & access::SYNTHETIC != 0 && !key.name.starts_with("lambda$")
}

fn source_file(class: &ClassFile<'_>) -> Result<Option<String>, ReadError> {
    let Some(attribute) = class.attribute(AttributeKind::SourceFile) else {
        return Ok(None);
    };
    let mut cursor = attribute.cursor();
    let from = cursor.offset();
    let text = class.pool.text(cursor.u16()?, from)?;
    Ok(Some(text.into_owned()))
}

/// Private constants are copied as well, but not out of their nest.
fn has_constants(class: &ClassFile<'_>) -> bool {
    class.fields().iter().any(|field| {
        field.access & access::STATIC != 0
            && !field.is_private()
            && class
                .attribute_of(field, AttributeKind::ConstantValue)
                .is_some()
    })
}

fn line_numbers(table: &Attribute<'_>) -> Result<BTreeSet<u32>, ReadError> {
    let mut cursor = table.cursor();
    let mut lines = BTreeSet::new();
    for _ in 0..cursor.u16()? {
        let _pc = cursor.u16()?;
        lines.insert(u32::from(cursor.u16()?));
    }
    cursor.expect_end()?;
    Ok(lines)
}
