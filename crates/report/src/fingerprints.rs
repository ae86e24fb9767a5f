//! The screen of `fewest fingerprint`.

use fewest_classfile::fingerprint::ClassFingerprints;
use fewest_model::Fingerprint;

use crate::signature::method_signature;
use crate::{Colour, Length, Style, Table, counted};

/// A class with where it was found.
#[derive(Clone, Debug)]
pub struct FingerprintedClass {
    pub fingerprints: ClassFingerprints,
    /// Why the class could not be read. All its fingerprints are then that of
    /// its bytes.
    pub doubt: Option<String>,
}

/// Digits of a fingerprint that tell any two things of one project apart.
const DIGITS: usize = 16;
/// A short screen shows the methods of so many classes.
const CLASSES: usize = 30;

/// Classes with their fingerprints and those of their methods.
pub fn fingerprints_screen(classes: &[FingerprintedClass], length: Length, style: Style) -> String {
    let shown = match length {
        Length::Short => CLASSES.min(classes.len()),
        Length::All => classes.len(),
    };
    let mut table = Table::default();
    for class in &classes[..shown] {
        class_rows(class, &mut table);
    }
    let hidden = classes.len() - shown;
    if hidden > 0 {
        table.line(format!(
            "\u{2026} and {}; --all shows them",
            counted(hidden, "more class", "more classes")
        ));
    }
    let methods: usize = classes.iter().map(|c| c.fingerprints.methods.len()).sum();
    table.line("");
    table.line(format!(
        "{}, {}",
        counted(classes.len(), "class", "classes"),
        counted(methods, "method", "methods")
    ));
    table.render(style)
}

fn class_rows(class: &FingerprintedClass, table: &mut Table) {
    let fingerprints = &class.fingerprints;
    let name = fingerprints.name.dotted();
    table.row(
        0,
        [
            (&name, Some(Colour::Bold)),
            (&short(fingerprints.class), None),
        ],
    );
    if let Some(doubt) = &class.doubt {
        let reason = format!("cannot be read, so every byte counts: {doubt}");
        table.row(2, [(&reason, Some(Colour::Yellow))]);
        return;
    }
    for (part, fingerprint) in [("head", fingerprints.head), ("shape", fingerprints.shape)] {
        table.row(2, [(part, Some(Colour::Dim)), (&short(fingerprint), None)]);
    }
    for method in &fingerprints.methods {
        let signature = method_signature(&fingerprints.name, &method.key);
        table.row(2, [(&signature, None), (&short(method.fingerprint), None)]);
    }
}

fn short(fingerprint: Fingerprint) -> String {
    let mut digits = fingerprint.to_string();
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use fewest_classfile::fingerprint::MethodFingerprint;
    use fewest_model::MethodKey;

    use super::*;

    fn class(name: &str, methods: &[(&str, &str)]) -> FingerprintedClass {
        let print = |text: &str| Fingerprint::of(text.as_bytes());
        let methods = methods.iter().map(|(name, descriptor)| MethodFingerprint {
            key: MethodKey::new(*name, *descriptor),
            access: 1,
            fingerprint: print(name),
        });
        FingerprintedClass {
            fingerprints: ClassFingerprints {
                name: name.into(),
                super_name: None,
                interfaces: Vec::new(),
                access: 1,
                head: print("head"),
                shape: print("shape"),
                class: print(name),
                methods: methods.collect(),
            },
            doubt: None,
        }
    }

    #[test]
    fn classes_come_with_their_methods() {
        let mut broken = class("p/Broken", &[]);
        broken.doubt = Some("cut short: 4 more bytes expected at offset 8".to_owned());
        let classes = [
            class("p/Calculator", &[("<init>", "()V"), ("add", "(II)I")]),
            broken,
        ];
        insta::assert_snapshot!(fingerprints_screen(&classes, Length::Short, Style::Plain));
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let classes: Vec<_> = (0..100).map(|n| class(&format!("C{n}"), &[])).collect();
        let short = fingerprints_screen(&classes, Length::Short, Style::Plain);
        assert!(short.contains("\u{2026} and 70 more classes; --all shows them"));
        let all = fingerprints_screen(&classes, Length::All, Style::Plain);
        assert!(all.contains("C99"));
        assert!(all.ends_with("\n100 classes, 0 methods\n"));
    }
}
