//! Where to listen in the test frameworks, and in the JDK.
//!
//! Class windows open where a framework is about to run a class, and close
//! when it has done so, whatever it throws. Facts on the frameworks' inner
//! life, by version, stand in `docs/design/windows.md`.

/// A place in somebody else's code that the agent listens at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Hook {
    /// JUnit 4: any runner's `run(RunNotifier)`.
    RunnerRun = 1,
    /// JUnit 4: a runner is built for a class; `@Parameters` run here.
    RunnerBuild,
    /// JUnit 4.4: the same, before there were builders.
    RunnerRequest,
    JUnit4Finished,
    JUnit4Failure,
    JUnit4Assumption,
    JUnit4Ignored,
    /// JUnit 3: an instance is made for each test while the suite is built.
    JUnit3Create,
    JUnit3Run,
    JUnit3Finished,
    JUnit3Problem,
    /// JUnit Platform: a node of the test tree, with all that surrounds it.
    PlatformNode,
    /// JUnit Platform 1.0 and 1.1: the same, told by the descriptor.
    PlatformDescriptor,
    /// JUnit Platform: a suite class that runs others.
    PlatformSuite,
    PlatformFinished,
    PlatformSkipped,
    /// TestNG: the methods of a class, with their configuration methods.
    TestNgWorker,
    /// TestNG: the same in parts, by the class and by the method.
    TestNgClass,
    TestNgMethod,
    /// TestNG: instances are made of a test class, before any test runs.
    TestNgCreate,
    /// TestNG: set-up and tear-down that test classes share.
    TestNgGroups,
    /// TestNG: a test has ended in one of its ways.
    TestNgPassed,
    TestNgFailed,
    TestNgSkipped,
    TestNgFlaky,
    /// JUnit 4: one test of a class, from its set-up to its tear-down.
    JUnit4Leaf,
    /// JUnit 4 and TestNG: an array of the classes to run.
    ClassArray,
    /// JUnit Platform: an engine is about to run what it has found.
    PlatformEngine,
    /// TestNG: a result gets its status, which is added to this number.
    TestNgStatus = 100,
    /// The JDK: members or annotations of a class are looked at.
    Reflected = 50,
    /// The JDK: a name is looked up on the class path.
    Resource,
    /// The JDK: a class is looked up by its name.
    Named,
    /// The JDK: a thread is started, by the thread that wants it to run.
    ThreadStarts,
    /// The JDK: a class loader comes upon an entry of its class path.
    ClassPathEntry,
    /// The JDK: a jar is opened for a class loader, or by a resource's URL.
    LoaderOpens,
    /// Anywhere: an environment variable is read, or all of them.
    Variable,
    /// Anywhere: a system property is read, or all of them.
    Property,
}

impl Hook {
    /// The number that stands for leaving the method by an exception.
    pub(crate) fn when_thrown(self) -> i8 {
        !(self as i8)
    }

    /// The number of the hook, and whether its method was left by an exception.
    pub(crate) fn way_out(number: i32) -> (i32, bool) {
        if number < 0 {
            (!number, true)
        } else {
            (number, false)
        }
    }

    pub(crate) fn from_number(number: i32) -> Option<Self> {
        const ALL: [Hook; 36] = [
            Hook::RunnerRun,
            Hook::RunnerBuild,
            Hook::RunnerRequest,
            Hook::JUnit4Finished,
            Hook::JUnit4Failure,
            Hook::JUnit4Assumption,
            Hook::JUnit4Ignored,
            Hook::JUnit3Create,
            Hook::JUnit3Run,
            Hook::JUnit3Finished,
            Hook::JUnit3Problem,
            Hook::PlatformNode,
            Hook::PlatformDescriptor,
            Hook::PlatformSuite,
            Hook::PlatformFinished,
            Hook::PlatformSkipped,
            Hook::TestNgWorker,
            Hook::TestNgClass,
            Hook::TestNgMethod,
            Hook::TestNgCreate,
            Hook::TestNgGroups,
            Hook::TestNgPassed,
            Hook::TestNgFailed,
            Hook::TestNgSkipped,
            Hook::TestNgFlaky,
            Hook::JUnit4Leaf,
            Hook::ClassArray,
            Hook::PlatformEngine,
            Hook::Reflected,
            Hook::Resource,
            Hook::Named,
            Hook::ThreadStarts,
            Hook::ClassPathEntry,
            Hook::LoaderOpens,
            Hook::Variable,
            Hook::Property,
        ];
        ALL.into_iter().find(|hook| *hook as i32 == number)
    }

    /// Whether the framework's call can be left out: it returns nothing, and
    /// nobody waits for what it does.
    pub(crate) fn may_leave_out(self) -> bool {
        matches!(
            self,
            Self::RunnerRun
                | Self::JUnit3Run
                | Self::PlatformNode
                | Self::PlatformDescriptor
                | Self::TestNgClass
                | Self::TestNgMethod
                | Self::JUnit4Leaf
        )
    }

    /// Whether such a call may be for one test method, with what surrounds it.
    pub(crate) fn is_of_method(self) -> bool {
        matches!(
            self,
            Self::JUnit4Leaf
                | Self::JUnit3Run
                | Self::PlatformNode
                | Self::PlatformDescriptor
                | Self::TestNgMethod
        )
    }

    /// Whether such a call tells nothing where methods are not told apart.
    pub(crate) fn is_of_method_alone(self) -> bool {
        self == Self::JUnit4Leaf
    }

    /// Whether calls within such a call are parts of it. A worker of the JUnit
    /// Platform that waits for one class takes up another, so there a call
    /// inside another means nothing.
    pub(crate) fn encloses(self) -> bool {
        self != Self::PlatformNode
    }
}

/// What to insert at a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    /// Call `enter` at the start with the local that tells the test, and one
    /// that leads to whom to tell if it is left out; `exit` on every way out.
    /// Return at once if `enter` says so and the hook allows it.
    Around { subject: u8, listener: Option<u8> },
    /// Call `note` at the start, with one or two locals.
    At { first: u8, second: Option<u8> },
    /// Call `note` at the start with a local, adding an `int` local to the
    /// number of the hook.
    AtWithNumber { first: u8, number: u8 },
}

/// The hook at a method of a test framework, if there is one.
pub(crate) fn framework_hook(
    class: &str,
    method: &str,
    descriptor: &str,
) -> Option<(Hook, Listen)> {
    // A runner may be anybody's class; its method is recognised by its shape.
    if method == "run" && descriptor == "(Lorg/junit/runner/notification/RunNotifier;)V" {
        return Some(around_with(Hook::RunnerRun, 0, 1));
    }
    // So may an engine.
    if method == "execute" && descriptor == "(Lorg/junit/platform/engine/ExecutionRequest;)V" {
        return Some(at(Hook::PlatformEngine, 1, None));
    }
    let (package, class) = class.rsplit_once('/')?;
    match package {
        "junit/framework" => junit3_hook(class, method, descriptor),
        "org/junit/runner"
        | "org/junit/runner/notification"
        | "org/junit/runners"
        | "org/junit/runners/model"
        | "org/junit/internal/requests" => junit4_hook(class, method),
        "org/junit/platform/engine/support/hierarchical"
        | "org/junit/platform/suite/engine"
        | "org/junit/platform/launcher/core" => platform_hook(class, method, descriptor),
        "org/testng" | "org/testng/internal" | "org/testng/internal/invokers" => {
            testng_hook(class, method, descriptor)
        }
        _ => None,
    }
}

fn around(hook: Hook, subject: u8) -> (Hook, Listen) {
    let listener = None;
    (hook, Listen::Around { subject, listener })
}

fn around_with(hook: Hook, subject: u8, listener: u8) -> (Hook, Listen) {
    let listener = Some(listener);
    (hook, Listen::Around { subject, listener })
}

fn at(hook: Hook, first: u8, second: Option<u8>) -> (Hook, Listen) {
    (hook, Listen::At { first, second })
}

fn junit3_hook(class: &str, method: &str, descriptor: &str) -> Option<(Hook, Listen)> {
    Some(match (class, method) {
        ("TestSuite", "createTest") if descriptor.starts_with("(Ljava/lang/Class;") => {
            around(Hook::JUnit3Create, 0)
        }
        ("TestResult", "run") if descriptor == "(Ljunit/framework/TestCase;)V" => {
            around(Hook::JUnit3Run, 1)
        }
        ("TestResult", "endTest") => at(Hook::JUnit3Finished, 1, None),
        ("TestResult", "addError" | "addFailure") => at(Hook::JUnit3Problem, 1, None),
        _ => return None,
    })
}

fn junit4_hook(class: &str, method: &str) -> Option<(Hook, Listen)> {
    Some(match (class, method) {
        ("RunnerBuilder", "safeRunnerForClass") => around(Hook::RunnerBuild, 1),
        ("Computer", "getSuite") => at(Hook::ClassArray, 2, None),
        ("ClassRequest", "getRunner") => around(Hook::RunnerRequest, 0),
        ("ParentRunner", "runLeaf") => around_with(Hook::JUnit4Leaf, 2, 3),
        ("RunNotifier", "fireTestFinished") => at(Hook::JUnit4Finished, 1, None),
        ("RunNotifier", "fireTestFailure") => at(Hook::JUnit4Failure, 1, None),
        ("RunNotifier", "fireTestAssumptionFailed") => at(Hook::JUnit4Assumption, 1, None),
        ("RunNotifier", "fireTestIgnored") => at(Hook::JUnit4Ignored, 1, None),
        _ => return None,
    })
}

fn platform_hook(class: &str, method: &str, descriptor: &str) -> Option<(Hook, Listen)> {
    Some(match (class, method) {
        ("NodeTestTask", "execute") if descriptor == "()V" => around(Hook::PlatformNode, 0),
        // 1.2
        ("HierarchicalTestExecutor$NodeExecutor", "execute") if descriptor.ends_with(")V") => {
            around(Hook::PlatformNode, 0)
        }
        // 1.0 and 1.1
        ("HierarchicalTestExecutor", "execute")
            if descriptor.starts_with("(Lorg/junit/platform/engine/TestDescriptor;")
                && descriptor.ends_with(")V") =>
        {
            around_with(Hook::PlatformDescriptor, 1, 0)
        }
        ("SuiteTestDescriptor", "execute") => around(Hook::PlatformSuite, 0),
        ("ExecutionListenerAdapter", "executionFinished") => at(Hook::PlatformFinished, 1, Some(2)),
        ("ExecutionListenerAdapter", "executionSkipped") => at(Hook::PlatformSkipped, 1, None),
        _ => return None,
    })
}

fn testng_hook(class: &str, method: &str, descriptor: &str) -> Option<(Hook, Listen)> {
    Some(match (class, method) {
        ("TestMethodWorker", "run") if descriptor == "()V" => around_with(Hook::TestNgWorker, 0, 0),
        ("TestMethodWorker", "invokeBeforeClassMethods" | "invokeAfterClassMethods")
            if descriptor.starts_with("(Lorg/testng/ITestClass;") && descriptor.ends_with(")V") =>
        {
            around_with(Hook::TestNgClass, 1, 0)
        }
        ("TestMethodWorker", "invokeTestMethods")
            if descriptor.starts_with("(Lorg/testng/ITestNGMethod;")
                && descriptor.ends_with(")V") =>
        {
            around_with(Hook::TestNgMethod, 1, 0)
        }
        ("ClassImpl", "getInstances" | "getObjects" | "getDefaultInstance") => {
            around(Hook::TestNgCreate, 0)
        }
        (
            "Invoker" | "ConfigInvoker",
            "invokeBeforeGroupsConfigurations" | "invokeAfterGroupsConfigurations",
        ) => around(Hook::TestNgGroups, 0),
        ("TestNG", "setTestClasses") if descriptor == "([Ljava/lang/Class;)V" => {
            at(Hook::ClassArray, 1, None)
        }
        ("TestRunner", "addPassedTest") => at(Hook::TestNgPassed, 2, None),
        ("TestRunner", "addFailedTest") => at(Hook::TestNgFailed, 2, None),
        ("TestRunner", "addSkippedTest") => at(Hook::TestNgSkipped, 2, None),
        ("TestRunner", "addFailedButWithinSuccessPercentageTest") => at(Hook::TestNgFlaky, 2, None),
        ("TestResult", "setStatus") if descriptor == "(I)V" => (
            Hook::TestNgStatus,
            Listen::AtWithNumber {
                first: 0,
                number: 1,
            },
        ),
        _ => return None,
    })
}

/// The JDK's classes to rewrite once the JVM is up.
pub(crate) const JDK_CLASSES: [&str; 9] = [
    "java/lang/Class",
    "java/lang/Thread",
    LOOKUP,
    VIRTUAL_THREAD,
    "jdk/internal/loader/URLClassPath",
    "jdk/internal/loader/URLClassPath$JarLoader",
    "sun/misc/URLClassPath",
    "sun/misc/URLClassPath$JarLoader",
    "sun/net/www/protocol/jar/JarURLConnection",
];

/// The class of virtual threads. Its initializer reads settings that programs
/// may still want to make.
pub(crate) const VIRTUAL_THREAD: &str = "java/lang/VirtualThread";

/// The class that finds members for method handles.
const LOOKUP: &str = "java/lang/invoke/MethodHandles$Lookup";

/// The hook at a method of the JDK, if there is one.
pub(crate) fn jdk_hook(class: &str, method: &str, descriptor: &str) -> Option<(Hook, Listen)> {
    let at = |first| Listen::At {
        first,
        second: None,
    };
    let around = Listen::Around {
        subject: 0,
        listener: None,
    };
    match (class, method) {
        // Results are cached above the native methods, so only these see every
        // look at a class.
        (
            "java/lang/Class",
            "privateGetDeclaredMethods"
            | "privateGetDeclaredFields"
            | "privateGetDeclaredConstructors"
            | "annotationData"
            | "getGenericInfo"
            | "getPermittedSubclasses"
            | "getRecordComponents"
            | "getDeclaredClasses"
            | "getEnclosingMethodInfo",
        ) => Some((Hook::Reflected, at(0))),
        // What is found depends on what the class has and does not have, as with
        // reflection. The JVM's own method handles, for lambdas and the like,
        // do not come by here.
        (LOOKUP, _)
            if method.starts_with("find") && descriptor.starts_with("(Ljava/lang/Class;") =>
        {
            Some((Hook::Reflected, at(1)))
        }
        // `bind` is given an object; its class is seen where the member is looked for.
        (LOOKUP, "resolveOrFail") if descriptor.starts_with("(BLjava/lang/Class;") => {
            Some((Hook::Reflected, at(2)))
        }
        ("java/lang/Thread" | VIRTUAL_THREAD, "start") => Some((Hook::ThreadStarts, at(0))),
        ("java/lang/Class", "forName") if descriptor.starts_with("(Ljava/lang/String;") => {
            Some((Hook::Named, at(0)))
        }
        (
            "jdk/internal/loader/URLClassPath" | "sun/misc/URLClassPath",
            "getResource" | "findResource" | "getResources" | "findResources",
        ) if descriptor.starts_with("(Ljava/lang/String;") => {
            let listen = Listen::At {
                first: 1,
                second: Some(0),
            };
            Some((Hook::Resource, listen))
        }
        ("jdk/internal/loader/URLClassPath" | "sun/misc/URLClassPath", "getLoader")
            if descriptor.starts_with("(Ljava/net/URL;)") =>
        {
            let listen = Listen::At {
                first: 0,
                second: Some(1),
            };
            Some((Hook::ClassPathEntry, listen))
        }
        // Whoever else opens a jar of the class path reads it as a file.
        (
            "jdk/internal/loader/URLClassPath$JarLoader" | "sun/misc/URLClassPath$JarLoader",
            "getJarFile",
        ) if descriptor.starts_with("(Ljava/net/URL;)") => Some((Hook::LoaderOpens, around)),
        ("sun/net/www/protocol/jar/JarURLConnection", "connect") => {
            Some((Hook::LoaderOpens, around))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_their_hooks() {
        assert_eq!(
            Hook::from_number(Hook::PlatformNode as i32),
            Some(Hook::PlatformNode)
        );
        assert_eq!(Hook::from_number(Hook::Named as i32), Some(Hook::Named));
        assert_eq!(Hook::from_number(0), None);
    }

    #[test]
    fn any_class_with_the_method_of_a_runner_is_one() {
        let descriptor = "(Lorg/junit/runner/notification/RunNotifier;)V";
        let (hook, _) = framework_hook("com/acme/MyRunner", "run", descriptor).unwrap();
        assert_eq!(hook, Hook::RunnerRun);
    }
}
