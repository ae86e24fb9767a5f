//! Class names in descriptors and signatures.

use std::borrow::Cow;

use fewest_model::ClassName;

use crate::read::{ReadError, ReadErrorKind, decode_modified_utf8};

/// Calls `each` with every class in a descriptor (JVMS §4.3).
pub(super) fn for_each_in_descriptor(
    descriptor: &[u8],
    from: usize,
    mut each: impl FnMut(ClassName),
) -> Result<(), ReadError> {
    let mut rest = descriptor;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first == b'L' {
            let end = rest
                .iter()
                .position(|&byte| byte == b';')
                .ok_or_else(|| ReadErrorKind::BadDescriptor.at(from))?;
            each(class_name(&rest[..end]));
            rest = &rest[end + 1..];
        }
    }
    Ok(())
}

/// The class that a class constant stands for, arrays reduced to what they
/// hold; `None` for arrays of primitives.
pub(super) fn element_class(name: &[u8]) -> Option<ClassName> {
    let element = name.iter().position(|&byte| byte != b'[')?;
    match (element, &name[element..]) {
        (0, name) | (_, [b'L', name @ .., b';']) => Some(class_name(name)),
        _ => None,
    }
}

fn class_name(name: &[u8]) -> ClassName {
    match decode_modified_utf8(name) {
        Cow::Borrowed(name) => ClassName::new(name),
        Cow::Owned(name) => ClassName::new(name),
    }
}

/// Calls `each` with every class in a generic signature (JVMS §4.7.9.1).
///
/// The virtual machine does not check signatures, and tools that rewrite
/// classes leave wrong ones, so what makes no sense is passed over: the
/// descriptor names the same classes but for type arguments.
pub(super) fn for_each_in_signature(signature: &[u8], mut each: impl FnMut(ClassName)) {
    let mut scanner = Scanner { rest: signature };
    // The names of the types that type arguments are being read of.
    let mut open: Vec<Vec<u8>> = Vec::new();
    let mut formal = scanner.skip(b'<');
    if formal {
        scanner.until(b":");
    }
    while let Some(byte) = scanner.next() {
        match byte {
            b'L' => {
                let name = scanner.until(b"<;.").to_vec();
                each(class_name(&name));
                open.push(name);
                continue;
            }
            b'.' => {
                // A member of a parameterised type: the file calls it
                // `Outer$Member`.
                let member = scanner.until(b"<;.").to_vec();
                if let Some(outer) = open.last_mut() {
                    outer.push(b'$');
                    outer.extend(member);
                    each(class_name(outer));
                }
                continue;
            }
            b';' => {
                open.pop();
            }
            b'T' => {
                scanner.until(b";");
                scanner.next();
            }
            b'>' if open.is_empty() => {
                formal = false;
                continue;
            }
            _ => continue,
        }
        // A type has ended. Among type parameters, the name of the next one
        // follows, or a further bound, or the end.
        if formal && open.is_empty() && !matches!(scanner.rest.first(), Some(b':' | b'>') | None) {
            scanner.until(b":");
        }
    }
}

struct Scanner<'a> {
    rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.rest.first() == Some(&byte);
        if is_next {
            self.rest = &self.rest[1..];
        }
        is_next
    }

    /// Everything up to one of `ends` or the end of the text.
    fn until(&mut self, ends: &[u8]) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| ends.contains(byte));
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(text: &str) -> String {
        let mut names = Vec::new();
        for_each_in_signature(text.as_bytes(), |name| names.push(name.to_string()));
        names.join(" ")
    }

    #[test]
    fn descriptors_name_classes_and_arrays_of_them() {
        let mut names = Vec::new();
        let descriptor = b"(ILp/A;[[Lp/B;J)[Lq/LC;";
        for_each_in_descriptor(descriptor, 0, |name| names.push(name.to_string())).unwrap();
        assert_eq!(names, ["p/A", "p/B", "q/LC"]);
        assert!(for_each_in_descriptor(b"(Lp/A", 7, |_| {}).is_err());
    }

    #[test]
    fn arrays_count_as_what_they_hold() {
        let show = |name: &[u8]| element_class(name).map(|name| name.to_string());
        assert_eq!(show(b"p/A").as_deref(), Some("p/A"));
        assert_eq!(show(b"[[Lp/A;").as_deref(), Some("p/A"));
        assert_eq!(show(b"[[I"), None);
        assert_eq!(show(b"[["), None);
    }

    #[test]
    fn signatures_name_type_arguments() {
        assert_eq!(
            signature("Lp/A<Lp/B;[TT;*+Lp/C<Lp/D;>;>;"),
            "p/A p/B p/C p/D"
        );
        assert_eq!(signature("(Lp/A<-Lp/B;>;ITT;)V^Lp/E;^TX;"), "p/A p/B p/E");
    }

    #[test]
    fn names_of_type_parameters_are_no_classes() {
        assert_eq!(
            signature("<LT:Lp/A<Lp/B;>;TL:TLT;:Lp/I;L::Lp/J;>Lp/S<TLT;>;Lp/K;"),
            "p/A p/B p/I p/J p/S p/K"
        );
    }

    #[test]
    fn members_of_parameterised_types_are_nested_classes() {
        assert_eq!(
            signature("Lp/A<Lp/B;>.C<Lp/D;>.E;"),
            "p/A p/B p/A$C p/D p/A$C$E"
        );
    }

    #[test]
    fn nonsense_comes_to_an_end() {
        for text in ["L", "<", "<T", "Lp/A<", "T", ";;;", ">.>.", "Lp/A;.x"] {
            signature(text);
        }
        signature(&"La<".repeat(10_000));
    }
}
