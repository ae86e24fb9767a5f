//! Whether code can change an object that outlives it.
//!
//! A test can find in an object what an earlier test has left there. To see
//! this without a probe, the code tells whether a method may change an object
//! that it has not made itself: it calls a changing method of one of the JDK's
//! containers, and it gets such a container from a field, a call or a parameter.
//! Which of several containers it is that
//! changes is not followed, so the answer errs on the side of yes.

use fewest_model::{ClassName, MethodKey};

use super::{MemberUse, MethodReferences, UseKind};

/// What a field holds whose object can change while the field stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// A container of the JDK, or an array of them.
    Container,
    /// An array of other objects.
    Array,
    /// An object of a class that is none of the JDK's.
    Object(ClassName),
}

impl Holder {
    /// What a field of a type holds; `None` where it cannot change.
    pub fn of(descriptor: &str) -> Option<Self> {
        let element = descriptor.trim_start_matches('[');
        let class = element.strip_prefix('L')?.strip_suffix(';')?;
        if is_container(class) {
            return Some(Self::Container);
        }
        if element.len() < descriptor.len() {
            return Some(Self::Array);
        }
        let of_jdk = ["java/", "jdk/", "sun/"]
            .iter()
            .any(|p| class.starts_with(p));
        (!of_jdk).then(|| Self::Object(class.into()))
    }

    fn is_container(descriptor: &str) -> bool {
        Self::of(descriptor) == Some(Self::Container)
    }
}

/// Whether objects of a class of the JDK hold other objects, or change. What a
/// thread holds for itself is mostly of use within one call, and is left out.
fn is_container(class: &str) -> bool {
    const VALUES: [&str; 10] = [
        "java/util/Locale",
        "java/util/UUID",
        "java/util/Comparator",
        "java/util/Currency",
        "java/util/Optional",
        "java/util/Iterator",
        "java/util/regex/",
        "java/util/function/",
        "java/util/stream/",
        "java/util/concurrent/TimeUnit",
    ];
    class.starts_with("java/util/") && !VALUES.iter().any(|value| class.starts_with(value))
        || class.starts_with("java/lang/ref/")
}

impl MethodReferences {
    /// Whether the method of this name, which has this code, may change a
    /// container that it has not made.
    pub fn changes_containers(&self, method: &MethodKey) -> bool {
        self.members.iter().any(is_change)
            && (parameters(&method.descriptor).any(Holder::is_container)
                || self.members.iter().any(gives_container))
    }
}

/// Whether a member is a method of the JDK that changes its receiver.
fn is_change(member: &MemberUse) -> bool {
    const STARTS: [&str; 26] = [
        "put",
        "add",
        "set",
        "remove",
        "clear",
        "compute",
        "merge",
        "replace",
        "offer",
        "push",
        "pop",
        "poll",
        "take",
        "drain",
        "retain",
        "insert",
        "getAnd",
        "compareAnd",
        "weakCompare",
        "increment",
        "decrement",
        "accumulate",
        "update",
        "lazySet",
        "load",
        "sort",
    ];
    if member.kind.is_field() || !is_container(member.owner.as_str()) {
        return false;
    }
    let name = &member.member.name;
    STARTS.iter().any(|start| name.starts_with(start))
}

/// Whether a container comes from a member of the application's.
fn gives_container(member: &MemberUse) -> bool {
    let descriptor: &str = &member.member.descriptor;
    match member.kind {
        UseKind::GetStatic | UseKind::GetField => Holder::is_container(descriptor),
        UseKind::PutStatic | UseKind::PutField => false,
        _ => {
            Holder::of(&format!("L{};", member.owner)) != Some(Holder::Container)
                && descriptor
                    .rsplit(')')
                    .next()
                    .is_some_and(Holder::is_container)
        }
    }
}

/// The types of a method's parameters, as descriptors.
fn parameters(descriptor: &str) -> impl Iterator<Item = &str> {
    let inner = descriptor
        .strip_prefix('(')
        .and_then(|rest| rest.split(')').next());
    let mut rest = inner.unwrap_or_default();
    std::iter::from_fn(move || {
        let array = rest.len() - rest.trim_start_matches('[').len();
        let length = match rest[array..].chars().next()? {
            'L' => rest.find(';')? + 1,
            kind => array + kind.len_utf8(),
        };
        let (parameter, after) = rest.split_at(length);
        rest = after;
        Some(parameter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(members: &[(UseKind, &str, &str, &str)]) -> MethodReferences {
        let members = members
            .iter()
            .map(|(kind, owner, name, descriptor)| MemberUse {
                kind: *kind,
                owner: (*owner).into(),
                member: MethodKey::new(*name, *descriptor),
                interface: false,
            });
        MethodReferences {
            members: members.collect(),
            ..MethodReferences::default()
        }
    }

    const PUT: (UseKind, &str, &str, &str) = (
        UseKind::InvokeInterface,
        "java/util/Map",
        "putIfAbsent",
        "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
    );

    #[test]
    fn a_type_tells_what_can_change() {
        assert_eq!(Holder::of("I"), None);
        assert_eq!(Holder::of("[I"), None);
        assert_eq!(Holder::of("Ljava/lang/String;"), None);
        assert_eq!(Holder::of("Ljava/util/Locale;"), None);
        assert_eq!(Holder::of("Ljava/util/Map;"), Some(Holder::Container));
        assert_eq!(Holder::of("[Ljava/util/Map;"), Some(Holder::Container));
        assert_eq!(Holder::of("[[Lp/A;"), Some(Holder::Array));
        assert_eq!(Holder::of("Lp/A;"), Some(Holder::Object("p/A".into())));
    }

    #[test]
    fn a_change_needs_a_container_from_elsewhere() {
        let plain = MethodKey::new("m", "(ILjava/lang/String;)V");
        assert!(!uses(&[PUT]).changes_containers(&plain));
        let given = MethodKey::new("m", "([JLjava/util/Map;)V");
        assert!(uses(&[PUT]).changes_containers(&given));
        let held = (UseKind::GetField, "A", "map", "Ljava/util/Map;");
        assert!(uses(&[PUT, held]).changes_containers(&plain));
        let called = (UseKind::InvokeStatic, "A", "map", "()Ljava/util/Map;");
        assert!(uses(&[PUT, called]).changes_containers(&plain));
        let get = (UseKind::InvokeInterface, "java/util/Map", "get", PUT.3);
        assert!(!uses(&[get, held]).changes_containers(&plain));
    }
}
