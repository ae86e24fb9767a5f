//! What of the JDK holds other objects, and what changes it.

use fewest_model::ClassName;

use super::MemberUse;

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
        (!is_of_jdk(class)).then(|| Self::Object(class.into()))
    }

    /// What an object of a class is.
    pub(super) fn of_class(class: &ClassName) -> Option<Self> {
        Self::of(&format!("L{class};"))
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

/// Whether a member is a method of the JDK that changes its receiver.
pub(super) fn changes_its_receiver(member: &MemberUse) -> bool {
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
    let owner = member.owner.as_str();
    let name = &member.member.name;
    if owner == "java/util/Iterator" {
        return &**name == "remove";
    }
    if member.kind.is_field() || !is_container(owner) {
        return false;
    }
    STARTS.iter().any(|start| name.starts_with(start))
}

/// Whether a method of the JDK of this name writes into what it is given.
pub(super) fn writes_into_arguments(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "arraycopy",
        "toArray",
        "fill",
        "sort",
        "copy",
        "copyInto",
        "drainTo",
    ];
    NAMES.contains(&name)
}

pub(super) fn is_of_jdk(class: &str) -> bool {
    ["java/", "javax/", "jdk/", "sun/"]
        .iter()
        .any(|package| class.starts_with(package))
}

/// Whether a field of this type holds something for each thread.
pub(super) fn is_thread_local(descriptor: &str) -> bool {
    matches!(
        descriptor,
        "Ljava/lang/ThreadLocal;" | "Ljava/lang/InheritableThreadLocal;"
    )
}

/// The type of what a method returns, `None` for nothing.
pub(super) fn result(descriptor: &str) -> Option<&str> {
    let (_, result) = descriptor.rsplit_once(')')?;
    (result != "V").then_some(result)
}

/// The types of a method's parameters, as descriptors.
pub(super) fn parameters(descriptor: &str) -> impl Iterator<Item = &str> {
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
    fn a_descriptor_tells_parameters_and_result() {
        let descriptor = "(I[[JLjava/util/Map;D[Lp/A;)Ljava/util/List;";
        let all: Vec<&str> = parameters(descriptor).collect();
        assert_eq!(all, ["I", "[[J", "Ljava/util/Map;", "D", "[Lp/A;"]);
        assert_eq!(result(descriptor), Some("Ljava/util/List;"));
        assert_eq!(result("()V"), None);
    }
}
