//! The functions of JVMTI that the agent calls.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use fewest_classfile::read::{access, decode_modified_utf8};
use jvmti_bindings::sys::jni as jni_sys;
use jvmti_bindings::sys::jvmti as sys;

use super::jni::{Jni, Local};

/// The methods that a thread is in, the innermost first, by their numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Stack(Vec<usize>);

impl Stack {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The agent's JVMTI environment.
#[derive(Clone, Copy)]
pub(crate) struct Jvmti {
    env: *mut sys::jvmtiEnv,
}

// SAFETY: a JVMTI environment may be used by every thread (JVMTI
// specification, "Environment Execution").
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// Calls a function of the JVMTI table; `None` if it is missing or fails.
macro_rules! call {
    ($jvmti:expr, $function:ident $(, $argument:expr)*) => {
        // SAFETY: `Jvmti::new` demands a valid environment; out-parameters
        // point to live locals; references come from the JVM.
        unsafe {
            (*(*$jvmti.env).functions)
                .$function
                .map(|function| function($jvmti.env $(, $argument)*))
                .filter(|error| *error == sys::jvmtiError::NONE)
        }
    };
}

impl Jvmti {
    /// Wraps the environment that `GetEnv` returned.
    ///
    /// # Safety
    /// `env` must be a JVMTI environment that is never disposed of.
    pub(super) unsafe fn new(env: *mut sys::jvmtiEnv) -> Self {
        Self { env }
    }

    pub(super) fn add_capabilities(self, capabilities: &sys::jvmtiCapabilities) -> bool {
        call!(self, AddCapabilities, capabilities).is_some()
    }

    pub(super) fn set_callbacks(self, callbacks: &sys::jvmtiEventCallbacks) -> bool {
        let size = size_of::<sys::jvmtiEventCallbacks>() as jni_sys::jint;
        call!(self, SetEventCallbacks, callbacks, size).is_some()
    }

    pub(super) fn enable(self, event: sys::jvmtiEvent) -> bool {
        call!(
            self,
            SetEventNotificationMode,
            sys::JVMTI_ENABLE,
            event,
            ptr::null_mut()
        )
        .is_some()
    }

    /// Memory that the JVM takes over, holding `bytes`.
    pub(super) fn allocate(self, bytes: &[u8]) -> Option<*mut u8> {
        let mut memory = ptr::null_mut();
        call!(
            self,
            Allocate,
            bytes.len() as jni_sys::jlong,
            &raw mut memory
        )?;
        // SAFETY: the JVM just gave us `bytes.len()` bytes of its own.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Some(memory)
    }

    fn deallocate(self, memory: *mut u8) {
        let _ = call!(self, Deallocate, memory);
    }

    /// Takes over a text that the JVM allocated.
    fn take_text(self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: the JVM returned a text that ends with NUL.
        let copy = decode_modified_utf8(unsafe { CStr::from_ptr(text) }.to_bytes()).into_owned();
        self.deallocate(text.cast());
        Some(copy)
    }

    /// The VM name of a class; `None` for arrays, primitives, and classes
    /// without a name of their own (hidden ones).
    pub(crate) fn class_name(self, class: Local<'_>) -> Option<String> {
        let mut signature = ptr::null_mut();
        call!(
            self,
            GetClassSignature,
            class.as_raw(),
            &raw mut signature,
            ptr::null_mut()
        )?;
        let signature = self.take_text(signature)?;
        let name = signature.strip_prefix('L')?.strip_suffix(';')?;
        (!is_nameless(name)).then(|| name.to_owned())
    }

    /// The name of the calling thread.
    pub(crate) fn thread_name(self) -> Option<String> {
        let mut info = std::mem::MaybeUninit::<sys::jvmtiThreadInfo>::zeroed();
        call!(self, GetThreadInfo, ptr::null_mut(), info.as_mut_ptr())?;
        // SAFETY: the call succeeded and has filled in the structure.
        self.take_text(unsafe { info.assume_init() }.name)
    }

    pub(crate) fn current_thread(self, jni: Jni<'_>) -> Option<Local<'_>> {
        let mut thread = ptr::null_mut();
        call!(self, GetCurrentThread, &raw mut thread)?;
        jni.local(thread)
    }

    /// All platform threads that live.
    pub(crate) fn threads(self, jni: Jni<'_>) -> Vec<Local<'_>> {
        let (mut count, mut threads) = (0, ptr::null_mut());
        if call!(self, GetAllThreads, &raw mut count, &raw mut threads).is_none() {
            return Vec::new();
        }
        // SAFETY: the JVM returned `count` references in memory of its own.
        let references = unsafe { std::slice::from_raw_parts(threads, count as usize) };
        let found = references.iter().filter_map(|&thread| jni.local(thread));
        let found = found.collect();
        self.deallocate(threads.cast());
        found
    }

    /// The innermost methods that a thread is in.
    pub(crate) fn stack(self, thread: Local<'_>) -> Stack {
        const DEPTH: usize = 16;
        let nothing = sys::jvmtiFrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        let mut frames = [nothing; DEPTH];
        let mut count = 0;
        let first = frames.as_mut_ptr();
        let depth = DEPTH as jni_sys::jint;
        if call!(
            self,
            GetStackTrace,
            thread.as_raw(),
            0,
            depth,
            first,
            &raw mut count
        )
        .is_none()
        {
            return Stack::default();
        }
        let methods = frames[..count as usize].iter();
        Stack(methods.map(|frame| frame.method as usize).collect())
    }

    /// The methods of a stack, by class and name.
    pub(crate) fn frames(self, jni: Jni<'_>, stack: &Stack) -> Vec<(String, String)> {
        stack
            .0
            .iter()
            .map_while(|&method| self.method_name(jni, method as jni_sys::jmethodID))
            .collect()
    }

    fn method_name(self, jni: Jni<'_>, method: jni_sys::jmethodID) -> Option<(String, String)> {
        let mut class = ptr::null_mut();
        call!(self, GetMethodDeclaringClass, method, &raw mut class)?;
        let class = jni.local(class)?;
        let class_name = self.class_name(class);
        jni.release(class);
        let mut name = ptr::null_mut();
        let nowhere = ptr::null_mut();
        call!(self, GetMethodName, method, &raw mut name, nowhere, nowhere)?;
        Some((class_name?, self.take_text(name)?))
    }

    pub(crate) fn system_property(self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        let mut value = ptr::null_mut();
        call!(self, GetSystemProperty, name.as_ptr(), &raw mut value)?;
        self.take_text(value)
    }

    /// Names of the loaded classes that a loader other than the boot loader
    /// defined.
    pub(crate) fn loaded_classes(self, jni: Jni<'_>) -> Vec<String> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        if call!(self, GetLoadedClasses, &raw mut count, &raw mut classes).is_none() {
            return Vec::new();
        }
        // SAFETY: the JVM returned `count` references in memory of its own.
        let references = unsafe { std::slice::from_raw_parts(classes, count as usize) };
        let names = references
            .iter()
            .filter_map(|&class| {
                let class = jni.local(class)?;
                let mut loader = ptr::null_mut();
                call!(self, GetClassLoader, class.as_raw(), &raw mut loader)?;
                if loader.is_null() {
                    None
                } else {
                    self.class_name(class)
                }
            })
            .collect();
        self.deallocate(classes.cast());
        names
    }

    /// A class of the boot loader by its VM name, if it is loaded. It is not
    /// initialized by this.
    pub(crate) fn loaded_class<'a>(self, jni: Jni<'a>, name: &str) -> Option<Local<'a>> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        call!(self, GetLoadedClasses, &raw mut count, &raw mut classes)?;
        // SAFETY: the JVM returned `count` references in memory of its own.
        let references = unsafe { std::slice::from_raw_parts(classes, count as usize) };
        let mut found = None;
        for class in references.iter().filter_map(|&class| jni.local(class)) {
            if found.is_none() && self.class_name(class).as_deref() == Some(name) {
                found = Some(class);
            } else {
                jni.release(class);
            }
        }
        self.deallocate(classes.cast());
        found
    }

    /// The interfaces that a class itself implements.
    pub(crate) fn interfaces<'a>(self, jni: Jni<'a>, class: Local<'_>) -> Vec<Local<'a>> {
        let (mut count, mut interfaces) = (0, ptr::null_mut());
        if call!(
            self,
            GetImplementedInterfaces,
            class.as_raw(),
            &raw mut count,
            &raw mut interfaces
        )
        .is_none()
        {
            return Vec::new();
        }
        let found = (0..count as usize)
            // SAFETY: the JVM returned an array of `count` references.
            .filter_map(|index| jni.local(unsafe { *interfaces.add(index) }))
            .collect();
        self.deallocate(interfaces.cast());
        found
    }

    /// The static fields that a class declares and code can set: number, name
    /// and type. `None` if the JVM does not tell.
    pub(super) fn settable_fields(
        self,
        class: Local<'_>,
    ) -> Option<Vec<(jni_sys::jfieldID, String, String)>> {
        let (mut count, mut fields) = (0, ptr::null_mut());
        call!(
            self,
            GetClassFields,
            class.as_raw(),
            &raw mut count,
            &raw mut fields
        )?;
        let settable = (0..count as usize)
            // SAFETY: the JVM returned an array of `count` numbers.
            .map(|index| unsafe { *fields.add(index) })
            .filter(|&field| self.is_settable_static(class, field))
            .map(|field| {
                let (name, descriptor) = self.field_name(class, field)?;
                Some((field, name, descriptor))
            })
            .collect();
        self.deallocate(fields.cast());
        settable
    }

    fn is_settable_static(self, class: Local<'_>, field: jni_sys::jfieldID) -> bool {
        let mut flags = 0;
        let class = class.as_raw();
        call!(self, GetFieldModifiers, class, field, &raw mut flags).is_some()
            && flags & i32::from(access::STATIC | access::FINAL) == i32::from(access::STATIC)
    }

    fn field_name(self, class: Local<'_>, field: jni_sys::jfieldID) -> Option<(String, String)> {
        let (mut name, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
        call!(
            self,
            GetFieldName,
            class.as_raw(),
            field,
            &raw mut name,
            &raw mut descriptor,
            ptr::null_mut()
        )?;
        self.take_text(name).zip(self.take_text(descriptor))
    }

    /// Sends loaded classes through the load hook again.
    pub(crate) fn retransform(self, classes: &[Local<'_>]) -> bool {
        let classes: Vec<_> = classes.iter().map(|class| class.as_raw()).collect();
        call!(
            self,
            RetransformClasses,
            classes.len() as jni_sys::jint,
            classes.as_ptr()
        )
        .is_some()
    }
}

/// Whether this is the signature of a class that no name leads to: a hidden one,
/// which has a dot before its suffix, or an anonymous one of JVMs before 17,
/// whose suffix is a number behind a slash (`A$$Lambda$1/999609945`).
fn is_nameless(signature: &str) -> bool {
    let last = signature.rsplit_once('/').map(|(_, last)| last);
    signature.contains('.')
        || last.is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::is_nameless;

    #[test]
    fn classes_of_lambdas_are_nameless_on_every_jdk() {
        for nameless in [
            "a/A$$Lambda$1/999609945",
            "a/A$$Lambda$14.0x0000000801000c28",
        ] {
            assert!(is_nameless(nameless), "{nameless}");
        }
        for name in ["a/A$$Lambda$1", "a/A$1", "A", "a1/B2"] {
            assert!(!is_nameless(name), "{name}");
        }
    }
}
