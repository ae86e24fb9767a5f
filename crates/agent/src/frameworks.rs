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
    /// The class itself.
    pub(crate) named: ClassName,
    pub(crate) method: Option<String>,
}

impl Subject {
    fn class(named: ClassName) -> Self {
        Self {
            class: named.outermost(),
            named,
            method: None,
        }
    }

    fn dotted(name: &str) -> Self {
        Self::class(ClassName::from_dotted(name))
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
            Hook::RunnerRequest => self.class_field(object, c"fTestClass"),
            Hook::JUnit3Run => self.junit3(object),
            Hook::JUnit4Leaf => self.junit4(object),
            Hook::PlatformNode => {
                let descriptor = c"Lorg/junit/platform/engine/TestDescriptor;";
                self.platform(self.jni.field(object, c"testDescriptor", descriptor)?)
            }
            Hook::PlatformDescriptor => self.platform(object),
            Hook::PlatformSuite => self.class_field(object, c"suiteClass"),
            Hook::TestNgWorker => self.testng_worker(object),
            Hook::TestNgClass => self.testng_class(object),
            Hook::TestNgMethod => self.testng_method(object),
            Hook::TestNgCreate => self.class_field(object, c"m_class"),
            _ => None,
        }
    }

    fn class_field(self, object: Local<'a>, name: &CStr) -> Option<Subject> {
        self.java_class(self.jni.field(object, name, c"Ljava/lang/Class;")?)
    }

    pub(crate) fn java_class(self, class: Local<'a>) -> Option<Subject> {
        let name = self.jvmti.class_name(class)?;
        Some(Subject::class(ClassName::new(name)))
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
        if let Some(class) = known {
            return self.java_class(class);
        }
        let description = self.description(runner)?;
        let subject = self.junit4(description)?;
        let named = || self.text(description, c"getMethodName");
        Some(Subject {
            method: subject.method.or_else(named),
            ..subject
        })
    }

    fn description(self, described: Local<'a>) -> Option<Local<'a>> {
        self.jni.call(
            described,
            c"getDescription",
            c"()Lorg/junit/runner/Description;",
        )
    }

    /// The test class of a JUnit 4 `Description`. This is asked for each test,
    /// and the method's name, which nobody needs there, takes a regular
    /// expression to find.
    pub(crate) fn junit4(self, description: Local<'a>) -> Option<Subject> {
        let Some(class) = self.text(description, c"getClassName") else {
            return described(&self.text(description, c"getDisplayName")?);
        };
        // A suite without a class has its title here.
        if !may_be_class_name(&class) {
            return None;
        }
        Some(Subject::dotted(&class))
    }

    /// The test of a JUnit 4 `Failure`.
    pub(crate) fn junit4_failure(self, failure: Local<'a>) -> Option<Subject> {
        self.junit4(self.description(failure)?)
    }

    /// The test of a JUnit 3 `Test`.
    pub(crate) fn junit3(self, test: Local<'a>) -> Option<Subject> {
        self.java_class(self.jni.class_of(test)?)
    }

    /// The test of a JUnit Platform `TestDescriptor`: the topmost class of its
    /// engine that it lies in. A method's own source may name the class that
    /// declares it, which an inherited test is not a test of.
    pub(crate) fn platform(self, descriptor: Local<'a>) -> Option<Subject> {
        const DEEPEST: usize = 100;
        let jni = self.jni;
        let mut subject: Option<Subject> = None;
        let mut at = Some(descriptor);
        for depth in 0..DEEPEST {
            let Some(node) = at else { break };
            let source = self.optional(node, c"getSource");
            let is_class = source.is_some_and(|source| self.is_class_source(source));
            if let Some(source) = source {
                if is_class || subject.is_none() {
                    let method = subject.take().and_then(|subject| subject.method);
                    subject = self.platform_source(source, is_class);
                    if let Some(subject) = &mut subject {
                        subject.method = subject.method.take().or(method);
                    }
                }
                jni.release(source);
            } else if subject.is_some() {
                // The engine. What lies above it is a suite.
                break;
            }
            at = self.optional(node, c"getParent");
            if depth > 0 {
                jni.release(node);
            }
        }
        subject
    }

    fn is_class_source(self, source: Local<'a>) -> bool {
        let class = self.jni.class_of(source);
        let name = class.and_then(|class| self.jvmti.class_name(class));
        name.is_some_and(|name| name.ends_with("/ClassSource"))
    }

    fn platform_source(self, source: Local<'a>, is_class: bool) -> Option<Subject> {
        let class = self.text(source, c"getClassName")?;
        let method = if is_class {
            None
        } else {
            self.text(source, c"getMethodName")
        };
        Some(Subject {
            method,
            ..Subject::dotted(&class)
        })
    }

    /// What a method without arguments returns as an `Optional`.
    pub(crate) fn optional(self, object: Local<'a>, method: &CStr) -> Option<Local<'a>> {
        let jni = self.jni;
        let optional = jni.call(object, method, c"()Ljava/util/Optional;")?;
        let value = jni.call_with(
            optional,
            c"orElse",
            c"(Ljava/lang/Object;)Ljava/lang/Object;",
            None,
        );
        jni.release(optional);
        value
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

    /// A worker does the methods of one class, but for some ways to sort
    /// them; then its parts tell.
    fn testng_worker(self, worker: Local<'a>) -> Option<Subject> {
        let jni = self.jni;
        let methods = jni
            .call(worker, c"getTasks", c"()Ljava/util/List;")
            .or_else(|| jni.call(worker, c"getMethods", c"()Ljava/util/List;"))?;
        let methods = jni.call(methods, c"toArray", c"()[Ljava/lang/Object;")?;
        let mut subjects = (0..jni.array_length(methods)).map(|index| {
            let method = jni.element(methods, index)?;
            let subject = self.testng_method(method);
            jni.release(method);
            subject
        });
        let first = subjects.next()??;
        subjects
            .all(|subject| subject.as_ref() == Some(&first))
            .then_some(first)
    }

    /// The class of a TestNG `ITestNGMethod`.
    fn testng_method(self, method: Local<'a>) -> Option<Subject> {
        let class = self
            .jni
            .call(method, c"getTestClass", c"()Lorg/testng/ITestClass;")?;
        self.testng_class(class)
    }

    /// The class of a TestNG `IClass`.
    fn testng_class(self, class: Local<'a>) -> Option<Subject> {
        Some(Subject::dotted(&self.text(class, c"getName")?))
    }

    /// The class of a TestNG `ITestResult`.
    pub(crate) fn testng_result(self, result: Local<'a>) -> Option<Subject> {
        let class = self
            .jni
            .call(result, c"getTestClass", c"()Lorg/testng/IClass;")?;
        self.testng_class(class)
    }

    /// The `ITestContext` of a TestNG worker.
    pub(crate) fn testng_context(self, worker: Local<'a>) -> Option<Local<'a>> {
        self.jni
            .field(worker, c"m_testContext", c"Lorg/testng/ITestContext;")
    }

    /// Whether tests of a TestNG `ITestContext` depend on groups, or on methods
    /// of other classes than their own. Doubt counts as yes.
    pub(crate) fn testng_depends_across_classes(self, context: Local<'a>) -> bool {
        let jni = self.jni;
        let all = c"()[Lorg/testng/ITestNGMethod;";
        let Some(methods) = jni.call(context, c"getAllTestMethods", all) else {
            return true;
        };
        (0..jni.array_length(methods)).any(|index| {
            let Some(method) = jni.element(methods, index) else {
                return true;
            };
            let depends = self.testng_method_depends_across_classes(method);
            jni.release(method);
            depends.unwrap_or(true)
        })
    }

    fn testng_method_depends_across_classes(self, method: Local<'a>) -> Option<bool> {
        let jni = self.jni;
        let texts = c"()[Ljava/lang/String;";
        let groups = jni.call(method, c"getGroupsDependedUpon", texts)?;
        let methods = jni.call(method, c"getMethodsDependedUpon", texts)?;
        let mut depends = jni.array_length(groups) > 0;
        if jni.array_length(methods) > 0 {
            let class = jni.call(method, c"getTestClass", c"()Lorg/testng/ITestClass;")?;
            let own = self.text(class, c"getName")? + ".";
            jni.release(class);
            for index in 0..jni.array_length(methods) {
                let name = jni.element(methods, index)?;
                depends |= !jni.string(name)?.starts_with(&own);
                jni.release(name);
            }
        }
        jni.release(groups);
        jni.release(methods);
        Some(depends)
    }

    /// Tells a framework that a class is left out, in the way in which it hears
    /// of classes that are switched off: it may take silence for success.
    pub(crate) fn tell_left_out(self, hook: Hook, object: Local<'a>, listener: Option<Local<'a>>) {
        const WHY: &CStr = c"fewest: nothing that it uses has changed";
        let jni = self.jni;
        match hook {
            Hook::RunnerRun | Hook::JUnit4Leaf => {
                let description = match hook {
                    Hook::RunnerRun => self.description(object),
                    _ => Some(object),
                };
                if let (Some(notifier), Some(description)) = (listener, description) {
                    let descriptor = c"(Lorg/junit/runner/Description;)V";
                    jni.call_void(notifier, c"fireTestIgnored", descriptor, &[description]);
                }
            }
            Hook::PlatformNode | Hook::PlatformDescriptor => {
                let descriptor = c"Lorg/junit/platform/engine/TestDescriptor;";
                let node = match hook {
                    Hook::PlatformNode => jni.field(object, c"testDescriptor", descriptor),
                    _ => Some(object),
                };
                let owner = listener.unwrap_or(object);
                if let (Some(listener), Some(node), Some(why)) =
                    (self.platform_listener(owner), node, jni.new_string(WHY))
                {
                    let descriptor =
                        c"(Lorg/junit/platform/engine/TestDescriptor;Ljava/lang/String;)V";
                    jni.call_void(listener, c"executionSkipped", descriptor, &[node, why]);
                }
            }
            _ => {}
        }
    }

    /// The listener that a JUnit Platform engine tells of its tests.
    fn platform_listener(self, executor: Local<'a>) -> Option<Local<'a>> {
        let jni = self.jni;
        let listener = c"Lorg/junit/platform/engine/EngineExecutionListener;";
        let context = c"Lorg/junit/platform/engine/support/hierarchical/NodeTestTaskContext;";
        if let Some(context) = jni.field(executor, c"taskContext", context) {
            return jni.field(context, c"listener", listener);
        }
        // Up to 1.2 it was the executor's.
        let outer = c"Lorg/junit/platform/engine/support/hierarchical/HierarchicalTestExecutor;";
        let executor = jni.field(executor, c"this$0", outer).unwrap_or(executor);
        jni.field(executor, c"listener", listener)
    }

    /// Whether a TestNG `ITestResult` is of a test, and not of a set-up.
    pub(crate) fn is_testng_test(self, result: Local<'a>) -> bool {
        self.jni
            .call(result, c"getMethod", c"()Lorg/testng/ITestNGMethod;")
            .is_some_and(|method| self.jni.call_boolean(method, c"isTest"))
    }

    pub(crate) fn text(self, object: Local<'a>, method: &CStr) -> Option<String> {
        let text = self.jni.call(object, method, c"()Ljava/lang/String;")?;
        self.jni.string(text)
    }
}

/// The test of a description from before JUnit 4.6: `method(class)`, or the
/// class alone.
fn described(text: &str) -> Option<Subject> {
    let (method, class) = match text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('))
    {
        Some((method, class)) => (Some(method.to_owned()), class),
        None => (None, text),
    };
    may_be_class_name(class).then(|| Subject {
        method,
        ..Subject::dotted(class)
    })
}

fn may_be_class_name(text: &str) -> bool {
    !text.is_empty() && text != "null" && !text.contains([' ', '/', ';', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_descriptions_are_read_by_their_text() {
        let subject = described("adds(com.acme.SumTest$Inner)").unwrap();
        assert_eq!(subject.class.as_str(), "com/acme/SumTest");
        assert_eq!(subject.method.as_deref(), Some("adds"));
        assert_eq!(described("com.acme.SumTest").unwrap().method, None);
        assert_eq!(described("all tests"), None);
        assert_eq!(described("null"), None);
    }
}
