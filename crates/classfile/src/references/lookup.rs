//! In which class the search for a member ends (JVMS §5.4.3.2 to §5.4.3.4).

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use fewest_model::{ClassName, MethodKey};

use crate::fingerprint::ClassFingerprints;
use crate::read::{ClassFile, ReadError, access};

/// What of a class decides where a search ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub access: u16,
    pub super_name: Option<ClassName>,
    pub interfaces: Vec<ClassName>,
    /// Access flags by name and descriptor.
    pub fields: BTreeMap<MethodKey, u16>,
    pub methods: BTreeMap<MethodKey, u16>,
}

impl Outline {
    pub fn of(class: &ClassFile<'_>) -> Result<Self, ReadError> {
        let members = |members: &[crate::read::Member]| {
            members
                .iter()
                .map(|member| Ok((class.method_key(member)?, member.access)))
                .collect::<Result<BTreeMap<_, _>, ReadError>>()
        };
        Ok(Self {
            access: class.access,
            super_name: class.super_name(),
            interfaces: class.interface_names()?,
            fields: members(class.fields())?,
            methods: members(class.methods())?,
        })
    }
}

/// Fingerprints know no fields, so only methods can be looked up in this.
impl From<&ClassFingerprints> for Outline {
    fn from(class: &ClassFingerprints) -> Self {
        let methods = class.methods.iter();
        Self {
            access: class.access,
            super_name: class.super_name.clone(),
            interfaces: class.interfaces.clone(),
            fields: BTreeMap::new(),
            methods: methods.map(|m| (m.key.clone(), m.access)).collect(),
        }
    }
}

/// Where a search ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resolution {
    /// The classes that declare the member. Several only where interfaces
    /// leave the choice open; none where nothing declares it.
    pub found: Vec<ClassName>,
    /// Classes on the way that nothing is known of. The member may be declared
    /// there, too.
    pub unknown: Vec<ClassName>,
}

impl Resolution {
    /// The class that declares the member, where that is beyond doubt.
    pub fn declaring_class(&self) -> Option<&ClassName> {
        match (self.found.as_slice(), self.unknown.as_slice()) {
            ([class], []) => Some(class),
            _ => None,
        }
    }

    /// Whether the member is certainly not there.
    pub fn is_nowhere(&self) -> bool {
        self.found.is_empty() && self.unknown.is_empty()
    }

    fn found(class: ClassName) -> Self {
        Self {
            found: vec![class],
            unknown: Vec::new(),
        }
    }
}

/// Which declarations a search for a method looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declarations {
    /// All, as the resolution of a symbolic reference does.
    All,
    /// All but private ones, which override nothing.
    Inheritable,
}

/// Finds the class that declares a field (JVMS §5.4.3.2).
pub fn resolve_field<O: Borrow<Outline>>(
    owner: &ClassName,
    field: &MethodKey,
    lookup: impl Fn(&ClassName) -> Option<O>,
) -> Resolution {
    let mut resolution = Resolution::default();
    let mut seen = BTreeSet::new();
    // The class itself, then its interfaces with theirs, then its superclass:
    // depth first, so a stack does, with the superclass at the bottom.
    let mut stack = vec![owner.clone()];
    while let Some(name) = stack.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(outline) = lookup(&name) else {
            if name.as_str() != OBJECT {
                resolution.unknown.push(name);
            }
            continue;
        };
        let outline = outline.borrow();
        if outline.fields.contains_key(field) {
            resolution.found.push(name);
            break;
        }
        stack.extend(outline.super_name.clone());
        stack.extend(outline.interfaces.iter().rev().cloned());
    }
    resolution.unknown.sort_unstable();
    resolution
}

/// Finds the class that declares a method (JVMS §5.4.3.3 and §5.4.3.4).
pub fn resolve_method<O: Borrow<Outline>>(
    owner: &ClassName,
    method: &MethodKey,
    declarations: Declarations,
    lookup: impl Fn(&ClassName) -> Option<O>,
) -> Resolution {
    if owner.as_str().starts_with('[') {
        // Arrays have the methods of `Object`; `clone` is public in them.
        return Resolution::found(OBJECT.into());
    }
    if is_signature_polymorphic(owner, &method.name) {
        return Resolution::found(owner.clone());
    }
    let mut interfaces = Vec::new();
    let mut resolution = Resolution::default();
    let mut class = Some(owner.clone());
    let mut seen = BTreeSet::new();
    while let Some(name) = class.take() {
        if !seen.insert(name.clone()) {
            break;
        }
        let Some(outline) = lookup(&name) else {
            if name.as_str() != OBJECT {
                resolution.unknown.push(name);
            } else if OBJECT_METHODS.contains(&(&*method.name, &*method.descriptor)) {
                return Resolution::found(name);
            }
            break;
        };
        let outline = outline.borrow();
        let declared = outline.methods.get(method);
        if declared.is_some_and(|&flags| counts(flags, declarations)) {
            return Resolution::found(name);
        }
        interfaces.extend(outline.interfaces.iter().cloned());
        class.clone_from(&outline.super_name);
    }
    in_interfaces(interfaces, method, &lookup, &mut resolution);
    resolution.found.sort_unstable();
    resolution.unknown.sort_unstable();
    resolution
}

fn counts(flags: u16, declarations: Declarations) -> bool {
    declarations == Declarations::All || flags & access::PRIVATE == 0
}

/// Adds the most specific declarations among all superinterfaces: the one that
/// has code if there is exactly one, else all of them.
fn in_interfaces<O: Borrow<Outline>>(
    interfaces: Vec<ClassName>,
    method: &MethodKey,
    lookup: &impl Fn(&ClassName) -> Option<O>,
    resolution: &mut Resolution,
) {
    let mut declaring = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut queue = interfaces;
    while let Some(name) = queue.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(outline) = lookup(&name) else {
            resolution.unknown.push(name);
            continue;
        };
        let outline = outline.borrow();
        queue.extend(outline.interfaces.iter().cloned());
        match outline.methods.get(method) {
            Some(&flags) if flags & (access::PRIVATE | access::STATIC) == 0 => {
                declaring.insert(name, flags);
            }
            _ => {}
        }
    }
    let hidden: BTreeSet<ClassName> = declaring
        .keys()
        .flat_map(|name| superinterfaces(name, lookup))
        .collect();
    declaring.retain(|name, _| !hidden.contains(name));
    let with_code = |&(_, flags): &(&ClassName, &u16)| *flags & access::ABSTRACT == 0;
    let mut concrete = declaring.iter().filter(with_code);
    match (concrete.next(), concrete.next()) {
        (Some((name, _)), None) => resolution.found.push(name.clone()),
        _ => resolution.found.extend(declaring.into_keys()),
    }
}

/// All superinterfaces of an interface, without itself.
fn superinterfaces<O: Borrow<Outline>>(
    name: &ClassName,
    lookup: &impl Fn(&ClassName) -> Option<O>,
) -> BTreeSet<ClassName> {
    let mut all = BTreeSet::new();
    let mut queue = vec![name.clone()];
    while let Some(name) = queue.pop() {
        if let Some(outline) = lookup(&name) {
            for interface in &outline.borrow().interfaces {
                if all.insert(interface.clone()) {
                    queue.push(interface.clone());
                }
            }
        }
    }
    all.remove(name);
    all
}

/// Methods that take whatever the call passes (JVMS §2.9.3), so that no
/// descriptor of a call is ever declared.
fn is_signature_polymorphic(owner: &ClassName, method: &str) -> bool {
    match owner.as_str() {
        "java/lang/invoke/MethodHandle" => matches!(method, "invoke" | "invokeExact"),
        "java/lang/invoke/VarHandle" => ["get", "set", "compareAnd", "weakCompareAnd"]
            .iter()
            .any(|prefix| method.starts_with(prefix)),
        _ => false,
    }
}

const OBJECT: &str = "java/lang/Object";

/// The methods of `Object` that classes inherit. It is the one class outside
/// of a project that every search can end in, and these have been the same
/// since Java 1.1.
const OBJECT_METHODS: [(&str, &str); 11] = [
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

#[cfg(test)]
mod tests {
    use super::*;

    const M: (&str, u16) = ("m", 0x0001);
    const ABSTRACT_M: (&str, u16) = ("m", 0x0401);
    const PRIVATE_M: (&str, u16) = ("m", 0x0002);
    const STATIC_M: (&str, u16) = ("m", 0x0009);

    /// Classes by name, each with superclass, interfaces, and methods and
    /// fields of descriptor `()V`.
    #[derive(Default)]
    struct World(BTreeMap<ClassName, Outline>);

    impl World {
        fn with(
            mut self,
            name: &str,
            super_name: &str,
            interfaces: &[&str],
            members: &[(&str, u16)],
        ) -> Self {
            let members: BTreeMap<_, _> = members
                .iter()
                .map(|&(name, flags)| (MethodKey::new(name, "()V"), flags))
                .collect();
            let outline = Outline {
                access: 0,
                super_name: Some(super_name.into()),
                interfaces: interfaces.iter().map(|&name| name.into()).collect(),
                fields: members.clone(),
                methods: members,
            };
            self.0.insert(name.into(), outline);
            self
        }

        fn method(&self, owner: &str, name: &str) -> String {
            let key = MethodKey::new(name, "()V");
            let all = Declarations::Inheritable;
            show(&resolve_method(&owner.into(), &key, all, |name| {
                self.0.get(name)
            }))
        }

        fn field(&self, owner: &str) -> String {
            let key = MethodKey::new("m", "()V");
            show(&resolve_field(&owner.into(), &key, |name| self.0.get(name)))
        }
    }

    fn show(resolution: &Resolution) -> String {
        let join = |names: &[ClassName]| {
            let names: Vec<_> = names.iter().map(ClassName::as_str).collect();
            names.join(" ")
        };
        let found = join(&resolution.found);
        match join(&resolution.unknown) {
            unknown if unknown.is_empty() => found,
            unknown => format!("{found}, or in {unknown}"),
        }
    }

    #[test]
    fn a_superclass_comes_before_an_interface() {
        let world = World::default()
            .with("I", OBJECT, &[], &[M])
            .with("A", OBJECT, &[], &[M])
            .with("B", "A", &["I"], &[]);
        assert_eq!(world.method("B", "m"), "A");
        // For fields it is the other way round.
        assert_eq!(world.field("B"), "I");
    }

    #[test]
    fn the_most_specific_default_method_wins() {
        let world = World::default()
            .with("I", OBJECT, &[], &[M])
            .with("J", OBJECT, &["I"], &[M])
            .with("A", OBJECT, &["I"], &[])
            .with("B", "A", &["J"], &[]);
        assert_eq!(world.method("B", "m"), "J");
        assert_eq!(world.method("A", "m"), "I");
    }

    #[test]
    fn of_unrelated_interfaces_the_one_with_code_wins() {
        let world = World::default()
            .with("I", OBJECT, &[], &[ABSTRACT_M])
            .with("J", OBJECT, &[], &[M])
            .with("K", OBJECT, &[], &[M])
            .with("S", OBJECT, &[], &[STATIC_M])
            .with("A", OBJECT, &["I", "J", "S"], &[])
            .with("B", OBJECT, &["J", "K"], &[]);
        assert_eq!(world.method("A", "m"), "J");
        assert_eq!(world.method("B", "m"), "J K");
        assert_eq!(world.method("S", "m"), "S");
    }

    #[test]
    fn private_methods_are_passed_over_where_only_inheritance_counts() {
        let world = World::default()
            .with("A", OBJECT, &[], &[M])
            .with("B", "A", &[], &[PRIVATE_M]);
        assert_eq!(world.method("B", "m"), "A");
        let key = MethodKey::new("m", "()V");
        let all = resolve_method(&"B".into(), &key, Declarations::All, |name| {
            world.0.get(name)
        });
        assert_eq!(show(&all), "B");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let world = World::default().with("I", OBJECT, &[], &[M]).with(
            "A",
            "x/Outside",
            &["I", "x/J"],
            &[],
        );
        assert_eq!(world.method("A", "m"), "I, or in x/J x/Outside");
        assert_eq!(world.method("A", "n"), ", or in x/J x/Outside");
    }

    #[test]
    fn the_methods_of_object_are_known() {
        let world = World::default().with("A", OBJECT, &[], &[]);
        assert_eq!(world.method("A", "notify"), OBJECT);
        assert_eq!(world.method("[LA;", "notify"), OBJECT);
        assert_eq!(world.method("A", "m"), "");
    }

    #[test]
    fn circles_come_to_an_end() {
        let world = World::default()
            .with("A", "B", &["I"], &[])
            .with("B", "A", &[], &[])
            .with("I", OBJECT, &["J"], &[])
            .with("J", OBJECT, &["I"], &[]);
        assert_eq!(world.method("A", "m"), "");
        assert_eq!(world.field("A"), "");
    }
}
