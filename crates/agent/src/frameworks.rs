//! Which test a framework's object stands for.

use std::ffi::CStr;

use fewest_model::ClassName;

use crate::hooks::Hook;
use crate::jvmti::{Jni, Jvmti, Local};

/// A test class, or one of its methods, as a framework sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// The outermost class.
    pub(crate) class: ClassName,
    pub(crate) method: Option<String>,
}

impl Subject {
    fn class(name: &str) -> Self {
        Self {
            class: ClassName::from_dotted(name).outermost(),
            method: None,
        }
    }
}

/// Asks a framework's object which test it stands for.
#[derive(Clone, Copy)]
pub(crate) struct Frameworks<'a> {
    pub(crate) jni: Jni<'a>,
    pub(crate) jvmti: Jvmti,
}

impl<'a> Frameworks<'a> {
    /// The test that is about to begin, or `None` where the object is only a
    /// container of others.
    pub(crate) fn subject(self, hook: Hook, object: Local<'a>) -> Option<Subject> {
        match hook {
            Hook::RunnerRun => self.runner(object),
            Hook::RunnerBuild | Hook::JUnit3Create => self.java_class(object),
            Hook::JUnit3Run => self.java_class(self.jni.class_of(object)?),
            Hook::PlatformNode => {
                let descriptor = c"Lorg/junit/platform/engine/TestDescriptor;";
                self.platform(self.jni.field(object, c"testDescriptor", descriptor)?)
            }
            Hook::TestNgWorker => self.testng_worker(object),
            _ => None,
        }
    }

    fn java_class(self, class: Local<'a>) -> Option<Subject> {
        let name = self.jvmti.class_name(class)?;
        Some(Subject {
            class: ClassName::new(name).outermost(),
            method: None,
        })
    }

    /// `ParentRunner` knows its class; other runners describe themselves.
    fn runner(self, runner: Local<'a>) -> Option<Subject> {
        let jni = self.jni;
        let known = jni
            .call(
                runner,
                c"getTestClass",
                c"()Lorg/junit/runners/model/TestClass;",
            )
            .and_then(|test| jni.call(test, c"getJavaClass", c"()Ljava/lang/Class;"));
        match known {
            Some(class) => self.java_class(class),
            None => self.junit4(self.description(runner)?),
        }
    }

    fn description(self, described: Local<'a>) -> Option<Local<'a>> {
        self.jni.call(
            described,
            c"getDescription",
            c"()Lorg/junit/runner/Description;",
        )
    }

    /// The test of a JUnit 4 `Description`.
    pub(crate) fn junit4(self, description: Local<'a>) -> Option<Subject> {
        let class = self.text(description, c"getClassName")?;
        // A suite without a class has its title here.
        if class.is_empty() || class.contains(' ') || class == "null" {
            return None;
        }
        let method = self.text(description, c"getMethodName");
        Some(Subject {
            method,
            ..Subject::class(&class)
        })
    }

    /// The test of a JUnit 4 `Failure`.
    pub(crate) fn junit4_failure(self, failure: Local<'a>) -> Option<Subject> {
        self.junit4(self.description(failure)?)
    }

    /// The test of a JUnit 3 `Test`.
    pub(crate) fn junit3(self, test: Local<'a>) -> Option<Subject> {
        self.java_class(self.jni.class_of(test)?)
    }

    /// The test of a JUnit Platform `TestDescriptor`, by its source.
    pub(crate) fn platform(self, descriptor: Local<'a>) -> Option<Subject> {
        let jni = self.jni;
        let source = jni.call(descriptor, c"getSource", c"()Ljava/util/Optional;")?;
        let source = jni.call(source, c"get", c"()Ljava/lang/Object;")?;
        let class = self.text(source, c"getClassName")?;
        let method = self.text(source, c"getMethodName");
        Some(Subject {
            method,
            ..Subject::class(&class)
        })
    }

    /// Whether a JUnit Platform `TestDescriptor` is a test, and no container.
    pub(crate) fn is_platform_test(self, descriptor: Local<'a>) -> bool {
        let kind = c"()Lorg/junit/platform/engine/TestDescriptor$Type;";
        self.jni
            .call(descriptor, c"getType", kind)
            .and_then(|kind| self.text(kind, c"toString"))
            .is_some_and(|kind| kind == "TEST" || kind == "CONTAINER_AND_TEST")
    }

    /// The status of a JUnit Platform `TestExecutionResult`.
    pub(crate) fn platform_status(self, result: Local<'a>) -> Option<String> {
        let status = c"()Lorg/junit/platform/engine/TestExecutionResult$Status;";
        let status = self.jni.call(result, c"getStatus", status)?;
        self.text(status, c"toString")
    }

    fn testng_worker(self, worker: Local<'a>) -> Option<Subject> {
        let methods = self
            .jni
            .call(worker, c"getMethods", c"()Ljava/util/List;")?;
        let method = self
            .jni
            .call_with_int(methods, c"get", c"(I)Ljava/lang/Object;", 0)?;
        self.testng_method(method)
    }

    /// The class of a TestNG `ITestNGMethod`.
    fn testng_method(self, method: Local<'a>) -> Option<Subject> {
        let class = self
            .jni
            .call(method, c"getTestClass", c"()Lorg/testng/ITestClass;")?;
        Some(Subject::class(&self.text(class, c"getName")?))
    }

    /// The class of a TestNG `ITestResult`.
    pub(crate) fn testng_result(self, result: Local<'a>) -> Option<Subject> {
        let class = self
            .jni
            .call(result, c"getTestClass", c"()Lorg/testng/IClass;")?;
        Some(Subject::class(&self.text(class, c"getName")?))
    }

    fn text(self, object: Local<'a>, method: &CStr) -> Option<String> {
        let text = self.jni.call(object, method, c"()Ljava/lang/String;")?;
        self.jni.string(text)
    }
}
