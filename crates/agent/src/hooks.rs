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
    JUnit4Started,
    JUnit4Finished,
    JUnit4Failure,
    JUnit4Assumption,
    JUnit4Ignored,
    /// JUnit 3: an instance is made for each test while the suite is built.
    JUnit3Create,
    JUnit3Run,
    JUnit3Problem,
    /// JUnit Platform: a node of the test tree, with all that surrounds it.
    PlatformNode,
    PlatformFinished,
    PlatformSkipped,
    /// TestNG: the methods of a class, with their configuration methods.
    TestNgWorker,
    /// TestNG: a result gets its status, which is added to this number.
    TestNgStatus = 100,
    /// The JDK: members or annotations of a class are looked at.
    Reflected = 50,
    /// The JDK: a name is looked up on the class path.
    Resource,
    /// The JDK: a class is looked up by its name.
    Named,
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
    pub(crate) fn from_number(number: i32) -> Option<Self> {
        const ALL: [Hook; 21] = [
            Hook::RunnerRun,
            Hook::RunnerBuild,
            Hook::JUnit4Started,
            Hook::JUnit4Finished,
            Hook::JUnit4Failure,
            Hook::JUnit4Assumption,
            Hook::JUnit4Ignored,
            Hook::JUnit3Create,
            Hook::JUnit3Run,
            Hook::JUnit3Problem,
            Hook::PlatformNode,
            Hook::PlatformFinished,
            Hook::PlatformSkipped,
            Hook::TestNgWorker,
            Hook::Reflected,
            Hook::Resource,
            Hook::Named,
            Hook::ClassPathEntry,
            Hook::LoaderOpens,
            Hook::Variable,
            Hook::Property,
        ];
        ALL.into_iter().find(|hook| *hook as i32 == number)
    }
}

/// What to insert at a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    /// Call `enter` at the start, `exit` on every way out, and return at once
    /// if `enter` says so.
    Around { subject: u8, may_skip: bool },
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
    use Listen::{Around, At, AtWithNumber};
    // A runner may be anybody's class; its method is recognised by its shape.
    if method == "run" && descriptor == "(Lorg/junit/runner/notification/RunNotifier;)V" {
        return Some((
            Hook::RunnerRun,
            Around {
                subject: 0,
                may_skip: true,
            },
        ));
    }
    let (hook, listen) = match (class, method) {
        ("org/junit/runners/model/RunnerBuilder", "safeRunnerForClass") => (
            Hook::RunnerBuild,
            Around {
                subject: 1,
                may_skip: false,
            },
        ),
        ("org/junit/runner/notification/RunNotifier", "fireTestStarted") => (
            Hook::JUnit4Started,
            At {
                first: 1,
                second: None,
            },
        ),
        ("org/junit/runner/notification/RunNotifier", "fireTestFinished") => (
            Hook::JUnit4Finished,
            At {
                first: 1,
                second: None,
            },
        ),
        ("org/junit/runner/notification/RunNotifier", "fireTestFailure") => (
            Hook::JUnit4Failure,
            At {
                first: 1,
                second: None,
            },
        ),
        ("org/junit/runner/notification/RunNotifier", "fireTestAssumptionFailed") => (
            Hook::JUnit4Assumption,
            At {
                first: 1,
                second: None,
            },
        ),
        ("org/junit/runner/notification/RunNotifier", "fireTestIgnored") => (
            Hook::JUnit4Ignored,
            At {
                first: 1,
                second: None,
            },
        ),
        ("junit/framework/TestSuite", "createTest")
            if descriptor == "(Ljava/lang/Class;Ljava/lang/String;)Ljunit/framework/Test;" =>
        {
            (
                Hook::JUnit3Create,
                Around {
                    subject: 0,
                    may_skip: false,
                },
            )
        }
        ("junit/framework/TestResult", "run") if descriptor == "(Ljunit/framework/TestCase;)V" => (
            Hook::JUnit3Run,
            Around {
                subject: 1,
                may_skip: true,
            },
        ),
        ("junit/framework/TestResult", "addError" | "addFailure") => (
            Hook::JUnit3Problem,
            At {
                first: 1,
                second: None,
            },
        ),
        ("org/junit/platform/engine/support/hierarchical/NodeTestTask", "execute")
            if descriptor == "()V" =>
        {
            (
                Hook::PlatformNode,
                Around {
                    subject: 0,
                    may_skip: true,
                },
            )
        }
        ("org/junit/platform/launcher/core/ExecutionListenerAdapter", "executionFinished") => (
            Hook::PlatformFinished,
            At {
                first: 1,
                second: Some(2),
            },
        ),
        ("org/junit/platform/launcher/core/ExecutionListenerAdapter", "executionSkipped") => (
            Hook::PlatformSkipped,
            At {
                first: 1,
                second: None,
            },
        ),
        (
            "org/testng/internal/TestMethodWorker"
            | "org/testng/internal/invokers/TestMethodWorker",
            "run",
        ) if descriptor == "()V" => (
            Hook::TestNgWorker,
            Around {
                subject: 0,
                may_skip: true,
            },
        ),
        ("org/testng/internal/TestResult", "setStatus") if descriptor == "(I)V" => (
            Hook::TestNgStatus,
            AtWithNumber {
                first: 0,
                number: 1,
            },
        ),
        _ => return None,
    };
    Some((hook, listen))
}

/// The JDK's classes to rewrite once the JVM is up.
pub(crate) const JDK_CLASSES: [&str; 6] = [
    "java/lang/Class",
    "jdk/internal/loader/URLClassPath",
    "jdk/internal/loader/URLClassPath$JarLoader",
    "sun/misc/URLClassPath",
    "sun/misc/URLClassPath$JarLoader",
    "sun/net/www/protocol/jar/JarURLConnection",
];

/// The hook at a method of the JDK, if there is one.
pub(crate) fn jdk_hook(class: &str, method: &str, descriptor: &str) -> Option<(Hook, Listen)> {
    let at = |first| Listen::At {
        first,
        second: None,
    };
    let around = Listen::Around {
        subject: 0,
        may_skip: false,
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
        ("java/lang/Class", "forName") if descriptor.starts_with("(Ljava/lang/String;") => {
            Some((Hook::Named, at(0)))
        }
        (
            "jdk/internal/loader/URLClassPath" | "sun/misc/URLClassPath",
            "getResource" | "findResource" | "getResources" | "findResources",
        ) if descriptor.starts_with("(Ljava/lang/String;") => Some((Hook::Resource, at(1))),
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
