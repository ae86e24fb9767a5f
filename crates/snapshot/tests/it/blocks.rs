//! The executed part of a method.

use std::collections::BTreeSet;

use fewest_classfile::fingerprint::Options;
use fewest_classfile::graph::Graph;
use fewest_classfile::read::ClassFile;
use fewest_model::{Element, MethodKey, Walk};

use crate::support::{Checkout, Class, method_print};

#[test]
fn blocks_that_led_elsewhere_in_the_jvm_are_the_whole_method() {
    let class = Class::new("p/C").method("m", 1);
    let bytes = class.bytes();
    let read = ClassFile::read(&bytes).unwrap();
    let graph = Graph::of(&read, &read.methods()[0], Options::default());
    let flow = graph.unwrap().expect("it has code").flow();
    let checkout = Checkout::new();
    checkout.class("classes", &class);
    let snapshot = checkout.cold(&["classes"]);
    let (name, key) = ("p/C".into(), MethodKey::new("m", "()V"));
    let walk = |key, flow| snapshot.walk(&name, key, &BTreeSet::from([0]), flow);
    assert!(walk(&key, flow).masks().is_some());
    assert_eq!(walk(&key, flow ^ 1), Walk::whole());
    // So is a method that is not in the file.
    assert_eq!(walk(&MethodKey::new("n", "()V"), flow), Walk::whole());

    let whole = Element::Blocks("p/C".into(), key, Walk::whole());
    let print = snapshot.fingerprint(&whole);
    assert_eq!(print, method_print(&snapshot, "p/C", "m"));
}
