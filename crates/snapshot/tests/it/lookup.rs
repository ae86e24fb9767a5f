//! Where the search for a member ends.

use crate::support::{ABSTRACT, Checkout, Class, PRIVATE, PUBLIC, STATIC, lookup};

/// Looks `m()V` of `p/C` up among these classes.
fn method(classes: &[Class]) -> fewest_model::Fingerprint {
    search(classes, "m", "()V")
}

fn search(classes: &[Class], name: &str, descriptor: &str) -> fewest_model::Fingerprint {
    let checkout = Checkout::new();
    for class in classes {
        checkout.class("classes", class);
    }
    lookup(&checkout.cold(&["classes"]), "p/C", name, descriptor)
}

fn c() -> Class {
    Class::new("p/C")
}

#[test]
fn ends_in_the_nearest_superclass() {
    let (a, b) = (Class::new("p/A"), Class::new("p/B").extends("p/A"));
    let c = c().extends("p/B");
    let in_a = method(&[a.clone().method("m", 1), b.clone(), c.clone()]);
    let in_b = method(&[
        a.clone().method("m", 1),
        b.clone().method("m", 1),
        c.clone(),
    ]);
    let in_c = method(&[
        a.clone().method("m", 1),
        b.clone(),
        c.clone().method("m", 1),
    ]);
    let nowhere = method(&[a.clone(), b.clone(), c.clone()]);
    let all = [in_a, in_b, in_c, nowhere];
    for (index, end) in all.iter().enumerate() {
        assert!(!all[index + 1..].contains(end), "{index}");
    }
    let body_only = method(&[a.method("m", 2), b, c]);
    assert_eq!(in_a, body_only, "only the place counts");
}

#[test]
fn a_class_goes_before_an_interface() {
    let a = Class::new("p/A").method("m", 1);
    let i = Class::interface("p/I");
    let c = c().extends("p/A").implements("p/I");
    let without = method(&[a.clone(), i.clone(), c.clone()]);
    let with = method(&[a, i.method("m", 1), c]);
    assert_eq!(without, with);
}

#[test]
fn the_most_specific_interface_goes_first() {
    let i = Class::interface("p/I").method("m", 1);
    let j = Class::interface("p/J").implements("p/I");
    let c = c().implements("p/I").implements("p/J");
    let in_i = method(&[i.clone(), j.clone(), c.clone()]);
    let in_j = method(&[i.clone(), j.clone().method("m", 1), c.clone()]);
    assert_ne!(in_i, in_j);
    let only_j = method(&[Class::interface("p/I"), j.clone().method("m", 1), c.clone()]);
    assert_eq!(in_j, only_j);
    let abstract_in_j = method(&[i, j.method_with(PUBLIC | ABSTRACT, "m", "()V", 0), c]);
    assert_eq!(in_j, abstract_in_j);
}

#[test]
fn a_second_default_method_makes_another_end() {
    let i = Class::interface("p/I").method("m", 1);
    let c = c().implements("p/I").implements("p/J");
    let one = method(&[i.clone(), Class::interface("p/J"), c.clone()]);
    let two = method(&[i, Class::interface("p/J").method("m", 1), c]);
    assert_ne!(one, two);
}

#[test]
fn private_and_static_methods_of_interfaces_are_not_inherited() {
    for access in [PRIVATE, PUBLIC | STATIC] {
        let i = Class::interface("p/I");
        let c = c().implements("p/I");
        let without = method(&[i.clone(), c.clone()]);
        let with = method(&[i.method_with(access, "m", "()V", 1), c]);
        assert_eq!(without, with);
    }
}

#[test]
fn the_way_out_to_the_jdk_is_an_end() {
    let list = c().extends("java/util/ArrayList");
    let size = |classes: &[Class]| search(classes, "size", "()I");
    let out = size(std::slice::from_ref(&list));
    assert_ne!(out, size(&[c()]));
    assert_eq!(out, size(&[list.clone().method("m", 1)]));
    let default = Class::interface("p/I").method_with(PUBLIC, "size", "()I", 1);
    let with = size(&[list.implements("p/I"), default]);
    assert_ne!(out, with, "nobody knows here which of the two it is");
}

#[test]
fn a_missing_superclass_that_appears_is_seen() {
    let c = c().extends("p/A");
    let missing = method(std::slice::from_ref(&c));
    assert_ne!(missing, method(&[c.clone(), Class::new("p/A")]));
    assert_ne!(missing, method(&[c, Class::new("p/A").method("m", 1)]));
}

#[test]
fn constructors_are_not_inherited() {
    let a = Class::new("p/A").method("<init>", 1);
    let constructor = |classes: &[Class]| search(classes, "<init>", "()V");
    let without = constructor(&[c().extends("p/A"), Class::new("p/A")]);
    assert_eq!(without, constructor(&[c().extends("p/A"), a]));
    assert_ne!(without, constructor(&[c().method("<init>", 1)]));
}

#[test]
fn methods_of_object_are_known() {
    let i = Class::interface("p/I").method_with(PUBLIC, "hashCode", "()I", 1);
    let c = c().implements("p/I");
    let with = search(&[i, c.clone()], "hashCode", "()I");
    let without = search(&[Class::interface("p/I"), c], "hashCode", "()I");
    assert_eq!(with, without, "Object comes before interfaces");
}

#[test]
fn fields_are_sought_in_interfaces_before_superclasses() {
    let a = Class::new("p/A").field("x", "I");
    let i = Class::interface("p/I");
    let c = c().extends("p/A").implements("p/I");
    let field = |classes: &[Class]| search(classes, "x", ":I");
    let in_a = field(&[a.clone(), i.clone(), c.clone()]);
    let in_i = field(&[a.clone(), i.clone().field("x", "I"), c.clone()]);
    let in_c = field(&[a.clone(), i.clone(), c.clone().field("x", "I")]);
    assert_ne!(in_a, in_i);
    assert_ne!(in_a, in_c);
    assert_ne!(in_i, in_c);
    let other_type = field(&[a, i.field("x", "J"), c]);
    assert_eq!(in_a, other_type);
}

#[test]
fn a_class_that_cannot_be_read_is_an_end_of_its_own() {
    let checkout = Checkout::new();
    checkout.class("classes", &c().extends("p/A"));
    let mut ends = Vec::new();
    for content in [&b"broken"[..], b"otherwise broken"] {
        checkout.write("classes/p/A.class", content);
        ends.push(lookup(&checkout.cold(&["classes"]), "p/C", "m", "()V"));
    }
    assert_ne!(ends[0], ends[1]);
}

#[test]
fn circles_end() {
    let circle = [
        c().extends("p/A").implements("p/I"),
        Class::new("p/A").extends("p/C"),
        Class::interface("p/I").implements("p/J"),
        Class::interface("p/J").implements("p/I"),
    ];
    method(&circle);
    search(&circle, "x", ":I");
}
