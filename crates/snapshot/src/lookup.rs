//! Where the search for a member ends (JVMS §5.4.3.2 to §5.4.3.4).
//!
//! The search knows the classes of the class path. Those of the JDK are
//! outside: a JDK is part of a record's environment, so where a search leaves
//! the class path, the same JDK ends it in the same place. Only the way out
//! counts, and what else the class path offers.

use std::collections::HashSet;

use fewest_classfile::read::access;
use fewest_model::{ClassName, Fingerprint, MethodKey};

use crate::class_view::ClassView;
use crate::snapshot::Snapshot;

const OBJECT: &str = "java/lang/Object";

/// The methods of `java.lang.Object`, which no JDK adds to.
const OBJECT_METHODS: [(&str, &str); 12] = [
    ("<init>", "()V"),
    ("clone", "()Ljava/lang/Object;"),
    ("equals", "(Ljava/lang/Object;)Z"),
    ("finalize", "()V"),
    ("getClass", "()Ljava/lang/Class;"),
    ("hashCode", "()I"),
    ("notify", "()V"),
    ("notifyAll", "()V"),
    ("toString", "()Ljava/lang/String;"),
    ("wait", "()V"),
    ("wait", "(J)V"),
    ("wait", "(JI)V"),
];

/// The fingerprint of the place where the search for a member of `class` ends.
///
/// A descriptor that starts with a colon is that of a field.
pub(crate) fn lookup(snapshot: &Snapshot, class: &ClassName, member: &MethodKey) -> Fingerprint {
    let mut search = Search {
        snapshot,
        member,
        seen: HashSet::new(),
        ends: Vec::new(),
    };
    match member.descriptor.strip_prefix(':') {
        Some(descriptor) => search.field(class, descriptor),
        None => search.method(class),
    }
    Fingerprint::combine(b"lookup", search.ends)
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    member: &'a MethodKey,
    seen: HashSet<ClassName>,
    /// Where the search ended, or could have.
    ends: Vec<Fingerprint>,
}

impl<'a> Search<'a> {
    /// Superclasses come first, then what the superinterfaces say.
    fn method(&mut self, class: &ClassName) {
        let mut interfaces = Vec::new();
        let mut next = Some(class.clone());
        while let Some(name) = next.take() {
            if !self.seen.insert(name.clone()) {
                break;
            }
            if name.as_str() == OBJECT {
                if is_object_method(self.member) {
                    return self.ends.push(outside());
                }
                break;
            }
            let Some(view) = self.readable(&name) else {
                break;
            };
            if view.method(self.member).is_some() {
                return self.ends.push(end_in(&name));
            }
            interfaces.extend(view.interfaces());
            next = view.super_name();
        }
        self.interface_methods(interfaces);
    }

    /// Adds the most specific of the superinterfaces that offer the method.
    fn interface_methods(&mut self, direct: Vec<ClassName>) {
        let mut offers = Vec::new();
        let mut overridden = HashSet::new();
        let mut open = direct;
        open.reverse();
        while let Some(name) = open.pop() {
            if !self.seen.insert(name.clone()) {
                continue;
            }
            let Some(view) = self.readable(&name) else {
                continue;
            };
            let offered = view
                .method(self.member)
                .is_some_and(|method| method.access & (access::PRIVATE | access::STATIC) == 0);
            if offered {
                overridden.extend(self.supertypes(view.interfaces().collect()));
                offers.push(name);
            }
            let mut above: Vec<_> = view.interfaces().collect();
            above.reverse();
            open.extend(above);
        }
        offers.retain(|name| !overridden.contains(name));
        self.ends.extend(offers.iter().map(end_in));
    }

    fn supertypes(&self, mut open: Vec<ClassName>) -> HashSet<ClassName> {
        let mut all = HashSet::new();
        while let Some(name) = open.pop() {
            if let Some(view) = self.snapshot.class(&name)
                && all.insert(name)
            {
                open.extend(view.interfaces());
            }
        }
        all
    }

    /// The class itself, its superinterfaces, its superclass, each with all
    /// that is above it.
    fn field(&mut self, class: &ClassName, descriptor: &str) {
        let mut open = vec![class.clone()];
        while let Some(name) = open.pop() {
            if !self.seen.insert(name.clone()) || name.as_str() == OBJECT {
                continue;
            }
            let Some(view) = self.readable(&name) else {
                continue;
            };
            let wanted = (&*self.member.name, descriptor);
            let found = view
                .record()
                .is_some_and(|record| record.fields().any(|field| field == wanted));
            if found {
                return self.ends.push(end_in(&name));
            }
            // The last one on the pile is looked at first.
            open.extend(view.super_name());
            let mut interfaces: Vec<_> = view.interfaces().collect();
            interfaces.reverse();
            open.extend(interfaces);
        }
    }

    /// A class that the search can look into. One that it cannot is a place
    /// where it may have ended.
    fn readable(&mut self, name: &ClassName) -> Option<ClassView<'a>> {
        let snapshot = self.snapshot;
        let Some(view) = snapshot.class(name) else {
            self.ends.push(snapshot.behind_everything(outside()));
            return None;
        };
        if view.doubt().is_some() || view.is_misplaced() {
            self.ends.push(view.class());
            return None;
        }
        Some(view)
    }
}

fn is_object_method(member: &MethodKey) -> bool {
    OBJECT_METHODS.contains(&(&*member.name, &*member.descriptor))
}

fn end_in(class: &ClassName) -> Fingerprint {
    Fingerprint::of(class.as_str().as_bytes())
}

fn outside() -> Fingerprint {
    Fingerprint::combine(b"outside of the class path", [])
}
