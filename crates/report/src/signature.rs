//! Methods as Java programmers write them.

use fewest_model::{ClassName, MethodKey};

/// `int add(int, String)`, `Calculator(int)` or `static {}`, after `javap`.
///
/// A descriptor that makes no sense is shown as it is.
pub fn method_signature(class: &ClassName, method: &MethodKey) -> String {
    if method.is_static_initializer() {
        return "static {}".to_owned();
    }
    let Some((parameters, result)) = types(&method.descriptor) else {
        return method.to_string();
    };
    let parameters = parameters.join(", ");
    if method.is_constructor() {
        format!("{}({parameters})", class.simple())
    } else {
        format!("{result} {}({parameters})", method.name)
    }
}

/// The type that a descriptor starts with, and what follows it.
pub fn java_type(descriptor: &str) -> Option<(String, &str)> {
    let dimensions = descriptor.bytes().take_while(|byte| *byte == b'[').count();
    let rest = &descriptor[dimensions..];
    let (name, rest) = match rest.split_at_checked(1)? {
        ("L", rest) => {
            let (name, rest) = rest.split_once(';')?;
            (ClassName::new(name).simple().replace('$', "."), rest)
        }
        (letter, rest) => (primitive(letter)?.to_owned(), rest),
    };
    Some((name + &"[]".repeat(dimensions), rest))
}

fn types(descriptor: &str) -> Option<(Vec<String>, String)> {
    let (mut parameters, result) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut types = Vec::new();
    while !parameters.is_empty() {
        let (name, rest) = java_type(parameters)?;
        types.push(name);
        parameters = rest;
    }
    let (result, rest) = java_type(result)?;
    rest.is_empty().then_some((types, result))
}

fn primitive(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "V" => "void",
        "Z" => "boolean",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_read_like_java() {
        let show = |name: &str, descriptor: &str| {
            method_signature(&"p/Foo".into(), &MethodKey::new(name, descriptor))
        };
        assert_eq!(
            show("add", "(I[Ljava/lang/String;J)Ljava/util/Map$Entry;"),
            "Map.Entry add(int, String[], long)"
        );
        assert_eq!(show("<init>", "([[Z)V"), "Foo(boolean[][])");
        assert_eq!(show("<clinit>", "()V"), "static {}");
        for odd in ["", "()", "(", "(L)V", "(Q)V", "()VV", "(I", "()\u{fc}"] {
            assert_eq!(show("m", odd), format!("m{odd}"));
        }
    }
}
