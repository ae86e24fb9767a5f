//! Test methods: which one a framework is about to run, and which ones to
//! leave out.
//!
//! A method's window encloses what its framework does for this one test:
//! instance, set-up, test, tear-down. It lies within the window of the class,
//! which keeps what all of its methods share.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use fewest_model::{ClassName, TestId};

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
    /// The name, in its test class, of the one test method that a call is for.
    pub(crate) fn method(self, hook: Hook, class: &ClassName, object: Local<'a>) -> Option<String> {
        if !hook.is_of_method() {
            return None;
        }
        match hook {
            Hook::JUnit3Run => self.text(object, c"getName"),
            Hook::PlatformNode => {
                let descriptor = c"Lorg/junit/platform/engine/TestDescriptor;";
                self.jupiter(
                    class,
                    self.jni.field(object, c"testDescriptor", descriptor)?,
                )
            }
            Hook::PlatformDescriptor => self.jupiter(class, object),
            _ => self.text(object, c"getMethodName"),
        }
    }

    /// The method of a plain Jupiter test. Other nodes of the platform are
    /// classes, repetitions, or tests that are made while others run. A nested
    /// class that a test class inherits is not told apart.
    fn jupiter(self, test: &ClassName, descriptor: Local<'a>) -> Option<String> {
        let jni = self.jni;
        let kind = self.jvmti.class_name(jni.class_of(descriptor)?)?;
        if !kind.starts_with("org/junit/jupiter/engine/descriptor/")
            || !(kind.ends_with("/TestMethodTestDescriptor")
                || kind.ends_with("/MethodTestDescriptor"))
        {
            return None;
        }
        let class = jni.call(descriptor, c"getTestClass", c"()Ljava/lang/Class;")?;
        let class = ClassName::new(self.jvmti.class_name(class)?);
        let method = c"()Ljava/lang/reflect/Method;";
        let method = jni.call(descriptor, c"getTestMethod", method)?;
        TestId::method_in(test, &class, &self.text(method, c"getName")?)
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
