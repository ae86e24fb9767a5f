//! Test methods: which one a framework is about to run, and which ones to
//! leave out.
//!
//! A method's window encloses what its framework does for this one test:
//! instance, set-up, test, tear-down. It lies within the window of the class,
//! which keeps what all of its methods share.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use fewest_model::ClassName;

use crate::frameworks::Frameworks;
use crate::hooks::Hook;
use crate::jvmti::Local;

/// Methods by the class that they run in.
#[derive(Debug, Default)]
pub(crate) struct MethodNames(HashMap<ClassName, HashSet<String>>);

impl MethodNames {
    pub(crate) fn contains(&self, class: &ClassName, method: &str) -> bool {
        self.0
            .get(class)
            .is_some_and(|methods| methods.contains(method))
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for MethodNames {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(names: I) -> Self {
        let mut methods = Self::default();
        for (class, method) in names {
            let known = methods.0.entry(ClassName::new(class)).or_default();
            known.insert(method.to_owned());
        }
        methods
    }
}

impl<'a> Frameworks<'a> {
    /// The name of the one test method that a call is for.
    pub(crate) fn method(self, hook: Hook, object: Local<'a>) -> Option<String> {
        if !hook.is_of_method() {
            return None;
        }
        match hook {
            Hook::JUnit3Run => self.text(object, c"getName"),
            Hook::PlatformNode => {
                let descriptor = c"Lorg/junit/platform/engine/TestDescriptor;";
                self.jupiter(self.jni.field(object, c"testDescriptor", descriptor)?)
            }
            Hook::PlatformDescriptor => self.jupiter(object),
            _ => self.text(object, c"getMethodName"),
        }
    }

    /// The method of a plain Jupiter test. Other nodes of the platform are
    /// classes, repetitions, or tests that are made while others run.
    fn jupiter(self, descriptor: Local<'a>) -> Option<String> {
        let class = self.jvmti.class_name(self.jni.class_of(descriptor)?)?;
        if !class.starts_with("org/junit/jupiter/engine/descriptor/")
            || !(class.ends_with("/TestMethodTestDescriptor")
                || class.ends_with("/MethodTestDescriptor"))
        {
            return None;
        }
        let method = c"()Ljava/lang/reflect/Method;";
        let method = self.jni.call(descriptor, c"getTestMethod", method)?;
        self.text(method, c"getName")
    }
}

thread_local! {
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Tells a framework of something; what it tells on meanwhile is no news.
pub(crate) fn telling(tell: impl FnOnce()) {
    TELLING.set(true);
    tell();
    TELLING.set(false);
}

/// Whether this thread is inside of [`telling`].
pub(crate) fn is_telling() -> bool {
    TELLING.get()
}
