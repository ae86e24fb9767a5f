//! What does not run, and in what order the rest does, because `fewest` has
//! said so.

use fewest_model::ClassName;

use super::{Agent, lock};
use crate::ask::{self, Answer, MethodAnswer};
use crate::config::MethodWindows;
use crate::frameworks::{Frameworks, Subject};
use crate::hooks::Hook;
use crate::jvmti::Local;
use crate::reorder::WantedOrder;

impl Agent {
    /// Whether a test class need not run.
    pub(super) fn leaves_out(
        &self,
        frameworks: Frameworks<'_>,
        hook: Hook,
        subject: &Subject,
        listener: Option<Local<'_>>,
    ) -> bool {
        self.answer()
            .is_some_and(|answer| answer.left_out.contains(&subject.class))
            && !self.testng_needs_all(frameworks, hook, listener)
    }

    /// What `fewest` says about the test classes, where this JVM is to ask.
    fn answer(&self) -> Option<&Answer> {
        let program = self.config.program.as_ref()?;
        Some(self.answer.get_or_init(|| {
            self.begin_trace();
            ask::about_classes(program, &self.task_folder(), &self.jvm())
        }))
    }

    /// The order in which `fewest` wants the test classes to run, where this JVM
    /// is to ask for it.
    pub(super) fn wanted_order(&self) -> Option<&WantedOrder> {
        Some(&self.answer()?.order)
    }

    /// Whether a test method need not run.
    pub(super) fn leaves_out_method(
        &self,
        frameworks: Frameworks<'_>,
        hook: Hook,
        class: &ClassName,
        method: &str,
        listener: Option<Local<'_>>,
    ) -> bool {
        let answer = self.method_answer();
        answer.is_some_and(|answer| answer.left_out.contains(class, method))
            && !self.testng_needs_all(frameworks, hook, listener)
    }

    /// What `fewest` says about test methods. A JVM that a test has started is
    /// a part of the test, and nobody is asked there.
    fn method_answer(&self) -> Option<&MethodAnswer> {
        if self.config.parent.is_some() {
            return None;
        }
        // Where this JVM asks by itself, there is an answer only when it has.
        let _ = self.answer();
        let read = || ask::about_methods(&self.task_folder());
        Some(self.method_answer.get_or_init(read))
    }

    /// Whether methods of a test class get windows of their own.
    pub(super) fn tells_apart(&self, class: &ClassName) -> bool {
        match self.config.methods {
            MethodWindows::None => false,
            MethodWindows::Listed => self
                .method_answer()
                .is_some_and(|answer| answer.by_method.contains(class)),
            MethodWindows::All => true,
        }
    }

    /// Whether a hook has nothing to tell, whatever test it is called for.
    pub(super) fn is_deaf_to(&self, hook: Hook) -> bool {
        hook.is_of_method_alone()
            && self.config.methods == MethodWindows::Listed
            && self
                .method_answer()
                .is_none_or(|answer| answer.by_method.is_empty())
    }

    /// Whether a class was left out of this run.
    pub(super) fn is_left_out(&self, class: &ClassName) -> bool {
        self.answer
            .get()
            .is_some_and(|answer| answer.left_out.contains(class))
    }

    pub(super) fn note_left_out(&self, class: &ClassName, thread: u64) {
        let around = self.windows_around(thread, Some(class));
        let mut ledger = lock(&self.ledger);
        ledger.leave_out(class, &around);
        self.write(&mut ledger);
    }

    /// TestNG does not run a test whose groups and methods it depends upon have
    /// not run. Where tests depend on those of other classes, all have to run.
    fn testng_needs_all(
        &self,
        frameworks: Frameworks<'_>,
        hook: Hook,
        worker: Option<Local<'_>>,
    ) -> bool {
        if !matches!(
            hook,
            Hook::TestNgWorker | Hook::TestNgClass | Hook::TestNgMethod
        ) {
            return false;
        }
        let jni = frameworks.jni;
        let Some(context) = worker.and_then(|worker| frameworks.testng_context(worker)) else {
            return true;
        };
        let mut contexts = lock(&self.testng_contexts);
        for (known, needs_all) in contexts.iter() {
            if known
                .as_local(jni)
                .is_some_and(|known| jni.is_same(known, context))
            {
                return *needs_all;
            }
        }
        let needs_all = frameworks.testng_depends_across_classes(context);
        contexts.extend(jni.global(context).map(|context| (context, needs_all)));
        needs_all
    }
}
