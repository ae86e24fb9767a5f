//! Elements in words, for reasons.

use fewest_model::Element;

pub(crate) fn in_words(element: &Element) -> String {
    match element {
        Element::Blocks(class, method, walk) => {
            let whole = in_words(&Element::Method(class.clone(), method.clone()));
            match walk.masks() {
                Some(_) => format!("a part of {whole} that it ran"),
                None => whole,
            }
        }
        Element::Method(class, method) if method.is_static_initializer() => {
            format!("the static initializer of {}", class.simple())
        }
        Element::Method(class, method) if method.is_constructor() => {
            format!("a constructor of {}", class.simple())
        }
        Element::Method(class, method) => format!("{}.{}()", class.simple(), method.name),
        Element::Lookup(class, method) | Element::Receiver(class, method) => {
            format!(
                "the place where {}.{} is found",
                class.simple(),
                method.name
            )
        }
        Element::Shape(class)
        | Element::Head(class)
        | Element::Frame(class)
        | Element::Overrides(class) => {
            format!("the declaration of {}", class.simple())
        }
        Element::Class(class) | Element::Whole(class) | Element::Reachable(class) => {
            class.simple().to_owned()
        }
        Element::Resource(name) => format!("the resource {name}"),
        Element::File(path) => format!("the file {path}"),
        Element::Listing(path) => format!("the directory {path}"),
        Element::Matches(pattern) => format!("the files that match {pattern}"),
        Element::Variable(name) => format!("the environment variable {name}"),
        Element::Property(name) => format!("the system property {name}"),
        Element::Watched(watch) => format!("the watching of {}", watch.name()),
    }
}
