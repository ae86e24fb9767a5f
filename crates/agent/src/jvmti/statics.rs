//! The static fields of a class that code can set, and how they were.

use std::sync::Arc;

use jvmti_bindings::sys::jni as sys;

use super::env::Jvmti;
use super::jni::{Jni, Local, WeakGlobal};

/// The fields of one class. It does not keep the class from being unloaded.
pub(crate) struct StaticFields {
    class: WeakGlobal,
    fields: Vec<Field>,
}

struct Field {
    number: sys::jfieldID,
    name: Arc<str>,
    /// The first character of its type.
    kind: u8,
    value: Value,
}

// SAFETY: the numbers of fields may be used by every thread as long as their
// class is loaded (JNI specification, "Accessing Fields and Methods"), which is
// looked at before each use.
unsafe impl Send for Field {}

/// How a field was.
enum Value {
    Number(u64),
    Null,
    Object(WeakGlobal),
    /// It could not be remembered, and counts as another one each time.
    Unknown,
}

/// How a field is.
pub(super) enum Now<'a> {
    Number(u64),
    Object(Option<Local<'a>>),
}

impl StaticFields {
    /// The fields of a class that was not initialized yet; `None` if there are
    /// none, or they cannot be told.
    pub(crate) fn of(jvmti: Jvmti, jni: Jni<'_>, class: Local<'_>) -> Option<Self> {
        let fields: Vec<Field> = jvmti
            .settable_fields(class)?
            .into_iter()
            .filter_map(|(number, name, descriptor)| {
                let kind = *descriptor.as_bytes().first()?;
                let is_object = matches!(kind, b'L' | b'[');
                Some(Field {
                    number,
                    name: name.into(),
                    kind,
                    value: if is_object {
                        Value::Null
                    } else {
                        Value::Number(0)
                    },
                })
            })
            .collect();
        if fields.is_empty() {
            return None;
        }
        let class = jni.weak_global(class)?;
        Some(Self { class, fields })
    }

    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        self.fields.iter().map(|field| field.name.clone()).collect()
    }

    /// Remembers how the fields are.
    pub(crate) fn remember(&mut self, jni: Jni<'_>) {
        let Some(class) = jni.strong(&self.class) else {
            return;
        };
        for field in &mut self.fields {
            let now = jni.static_value(class, field.number, field.kind);
            if !field.value.is(jni, &now) {
                let known = std::mem::replace(&mut field.value, Value::of(jni, &now));
                if let Value::Object(weak) = known {
                    jni.delete_weak(weak);
                }
            }
            now.release(jni);
        }
        jni.release(class);
    }

    /// The fields that are not as they were. What is gone with its class was
    /// left to nobody.
    pub(crate) fn changed(&self, jni: Jni<'_>) -> Vec<Arc<str>> {
        let Some(class) = jni.strong(&self.class) else {
            return Vec::new();
        };
        let is_changed = |field: &&Field| {
            let now = jni.static_value(class, field.number, field.kind);
            let is_changed = !field.value.is(jni, &now);
            now.release(jni);
            is_changed
        };
        let changed = self.fields.iter().filter(is_changed);
        let names = changed.map(|field| field.name.clone()).collect();
        jni.release(class);
        names
    }
}

impl Value {
    fn of(jni: Jni<'_>, now: &Now<'_>) -> Self {
        match now {
            Now::Number(number) => Self::Number(*number),
            Now::Object(None) => Self::Null,
            Now::Object(Some(object)) => {
                jni.weak_global(*object).map_or(Self::Unknown, Self::Object)
            }
        }
    }

    fn is(&self, jni: Jni<'_>, now: &Now<'_>) -> bool {
        match (self, now) {
            (Self::Number(was), Now::Number(is)) => was == is,
            (Self::Null, Now::Object(None)) => true,
            // An object that is gone is as null to the JVM, and nothing that
            // is there.
            (Self::Object(was), Now::Object(Some(is))) => jni.is_weakly_same(was, *is),
            _ => false,
        }
    }
}

impl Now<'_> {
    fn release(self, jni: Jni<'_>) {
        if let Self::Object(Some(object)) = self {
            jni.release(object);
        }
    }
}
