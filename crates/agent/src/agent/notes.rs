//! What frameworks tell of how tests end, and what the JDK tells of its use.

use fewest_model::Outcome;

use super::{Agent, lock};
use crate::frameworks::{Frameworks, Subject};
use crate::hooks::Hook;
use crate::jvmti::{Jni, Local};
use crate::methods;
use crate::reorder;

impl Agent {
    /// Something has happened that is worth a note.
    pub(crate) fn note(
        &self,
        jni: Jni<'_>,
        first: Option<Local<'_>>,
        second: Option<Local<'_>>,
        hook: i32,
    ) {
        match Hook::from_number(hook) {
            Some(Hook::Variable) => return self.variable_read(jni, first),
            Some(Hook::Property) => return self.property_read(jni, first),
            _ => {}
        }
        let Some(first) = first else { return };
        let frameworks = Frameworks {
            jni,
            jvmti: self.jvmti,
        };
        if let status @ 0..28 = hook - Hook::TestNgStatus as i32 {
            return self.testng_status(frameworks, first, status);
        }
        match Hook::from_number(hook) {
            Some(Hook::Reflected) => self.class_reflected(first),
            Some(Hook::Resource) => self.resource_asked(jni, first, second),
            Some(Hook::Named) => self.class_named(jni, first),
            Some(Hook::ThreadStarts) => self.thread_started(jni, first),
            Some(Hook::ClassPathEntry) => self.class_path_grows(jni, first, second),
            Some(Hook::JUnit4Finished) => self.count_test(jni, frameworks.junit4(first)),
            Some(Hook::JUnit4Failure) => {
                self.outcome(jni, frameworks.junit4_failure(first), Outcome::Failed);
            }
            Some(Hook::JUnit4Assumption) => {
                self.outcome(jni, frameworks.junit4_failure(first), Outcome::Skipped);
            }
            Some(Hook::JUnit4Ignored | Hook::PlatformSkipped) if methods::is_telling() => {}
            Some(Hook::JUnit4Ignored) => self.junit4_ignored(frameworks, first),
            // JUnit 4 tells of these too, if it runs them.
            Some(Hook::JUnit3Finished) if !self.is_in_runner(self.this_thread(jni)) => {
                self.count_test(jni, frameworks.junit3(first));
            }
            Some(Hook::JUnit3Problem) => {
                self.outcome(jni, frameworks.junit3(first), Outcome::Failed);
            }
            Some(Hook::PlatformSkipped) => self.ignored(jni, frameworks.platform(first)),
            Some(Hook::TestNgPassed) => self.count_test(jni, frameworks.testng_result(first)),
            Some(Hook::TestNgFailed) => self.testng_ended(frameworks, first, Outcome::Failed),
            Some(Hook::TestNgSkipped) => self.testng_ended(frameworks, first, Outcome::Skipped),
            Some(Hook::TestNgFlaky) => self.testng_ended(frameworks, first, Outcome::Flaky),
            Some(Hook::ClassArray) => {
                reorder::class_array(frameworks, first, || self.wanted_order());
            }
            Some(Hook::PlatformEngine) => {
                reorder::engine(frameworks, first, || self.wanted_order());
            }
            Some(Hook::PlatformFinished) => self.platform_finished(frameworks, first, second),
            _ => {}
        }
    }

    fn count_test(&self, jni: Jni<'_>, subject: Option<Subject>) {
        let class = subject.map(|subject| subject.class);
        let around = self.windows_around(self.this_thread(jni), class.as_ref());
        lock(&self.ledger).count_test(class.as_ref(), &around);
    }

    fn outcome(&self, jni: Jni<'_>, subject: Option<Subject>, outcome: Outcome) {
        let known = subject
            .as_ref()
            .is_some_and(|subject| self.is_class(subject));
        let class = subject.map(|subject| subject.class);
        let around = self.windows_around(self.this_thread(jni), class.as_ref());
        let mut ledger = lock(&self.ledger);
        match class {
            Some(class) if known && around.is_empty() && !ledger.has_window(&class) => {
                ledger.add_stray_outcome(class, outcome, self.now());
            }
            None if outcome == Outcome::Failed && ledger.open_windows().is_empty() => {
                ledger.doubt("something failed outside of all test classes");
            }
            class => ledger.add_outcome(class.as_ref(), &around, outcome),
        }
    }

    fn platform_finished(
        &self,
        frameworks: Frameworks<'_>,
        descriptor: Local<'_>,
        result: Option<Local<'_>>,
    ) {
        let jni = frameworks.jni;
        let subject = frameworks.platform(descriptor);
        if frameworks.is_platform_test(descriptor)
            && !self.is_in_runner(self.this_thread(jni))
            && !self.is_counted(frameworks, descriptor)
        {
            self.count_test(jni, subject.clone());
        }
        let status = result.and_then(|result| frameworks.platform_status(result));
        match status.as_deref() {
            Some("SUCCESSFUL") => {}
            Some("ABORTED") => self.outcome(jni, subject, Outcome::Skipped),
            _ => self.outcome(jni, subject, Outcome::Failed),
        }
    }

    /// Whether a suite has told of this test before.
    fn is_counted(&self, frameworks: Frameworks<'_>, descriptor: Local<'_>) -> bool {
        let in_suite = lock(&self.calls)
            .iter()
            .any(|call| call.hook == Hook::PlatformSuite);
        // The hash code of a descriptor is that of its name.
        in_suite && !lock(&self.counted_in_suite).insert(frameworks.jni.hash_code(descriptor))
    }

    fn junit4_ignored(&self, frameworks: Frameworks<'_>, description: Local<'_>) {
        let subject = frameworks.junit4(description);
        if let Some(subject) = &subject
            && self.tells_apart(&subject.class)
            && let Some(method) = frameworks.method(Hook::JUnit4Leaf, &subject.class, description)
            && !self.is_left_out(&subject.class)
        {
            let hook = Hook::JUnit4Leaf;
            if self.leaves_out_method(frameworks, hook, &subject.class, &method, None) {
                return;
            }
            let mut ledger = lock(&self.ledger);
            ledger.add_method_that_is_off(subject.class.clone(), method.into(), self.now());
            self.write(&mut ledger);
        }
        self.ignored(frameworks.jni, subject);
    }

    /// A test, or a class, was switched off.
    fn ignored(&self, jni: Jni<'_>, subject: Option<Subject>) {
        // Frameworks are told the same of what is left out.
        let own = subject.as_ref().map(|subject| &subject.class);
        if !own.is_some_and(|class| self.is_left_out(class)) {
            // What decides that a test is switched off, an annotation or the
            // code of a condition, is used within the window like anything
            // else, so that it is off is as well proven as a pass.
            self.count_test(jni, subject);
        }
    }

    fn testng_ended(&self, frameworks: Frameworks<'_>, result: Local<'_>, outcome: Outcome) {
        let subject = frameworks.testng_result(result);
        self.count_test(frameworks.jni, subject.clone());
        self.outcome(frameworks.jni, subject, outcome);
    }

    /// Of set-up and tear-down TestNG tells only so. `ITestResult`: 2 is
    /// failure, 3 skip.
    fn testng_status(&self, frameworks: Frameworks<'_>, result: Local<'_>, status: i32) {
        let outcome = match status {
            2 => Outcome::Failed,
            3 => Outcome::Skipped,
            _ => return,
        };
        if !frameworks.is_testng_test(result) {
            self.outcome(frameworks.jni, frameworks.testng_result(result), outcome);
        }
    }
}
