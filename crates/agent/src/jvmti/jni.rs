//! The functions of JNI that the agent calls.

use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;

use fewest_classfile::read::decode_modified_utf8;
use jvmti_bindings::sys::jni as sys;

use super::members;
use super::statics::Now;

/// The calling thread's way into Java.
///
/// Methods clear whatever exception they meet: the agent's questions must not
/// show in the user's program. Strings and names are modified UTF-8.
#[derive(Clone, Copy)]
pub(crate) struct Jni<'a> {
    env: *mut sys::JNIEnv,
    frame: PhantomData<&'a ()>,
}

/// A reference to an object that is valid until the native call returns.
#[derive(Clone, Copy)]
pub(crate) struct Local<'a> {
    object: sys::jobject,
    frame: PhantomData<&'a ()>,
}

/// A reference to an object that is valid until it is given back.
pub(crate) struct Global(sys::jobject);

// SAFETY: JNI global references may be used by every thread (JNI
// specification, "Global and Local References").
unsafe impl Send for Global {}
// SAFETY: as above; the reference itself is never written after creation.
unsafe impl Sync for Global {}

/// A reference to an object that may go away.
pub(super) struct WeakGlobal(sys::jobject);

// SAFETY: as for `Global`.
unsafe impl Send for WeakGlobal {}

/// A static field that holds an array of objects.
pub(crate) struct StaticArray {
    class: Global,
    element: Global,
    field: sys::jfieldID,
}

// SAFETY: the numbers of fields may be used by every thread as long as their
// class is loaded (JNI specification, "Accessing Fields and Methods"), which
// the reference to it sees to.
unsafe impl Send for StaticArray {}

/// Calls a function of the JNI table.
macro_rules! call {
    ($jni:expr, $function:ident $(, $argument:expr)*) => {
        // SAFETY: `env` is the calling thread's, which `Jni::new` demands; the
        // table's functions live as long as the JVM; references come from
        // `Local` and `Global`, which keep them valid.
        unsafe { ((**$jni.env).$function)($jni.env $(, $argument)*) }
    };
}

impl<'a> Jni<'a> {
    /// Wraps the environment that the JVM handed to a callback.
    ///
    /// # Safety
    /// `env` must be the calling thread's, and valid for `'a`.
    pub(crate) unsafe fn new(env: *mut sys::JNIEnv) -> Self {
        Self {
            env,
            frame: PhantomData,
        }
    }

    #[expect(
        clippy::unused_self,
        reason = "the reference is valid as long as this environment is"
    )]
    pub(super) fn local(self, object: sys::jobject) -> Option<Local<'a>> {
        (!object.is_null()).then_some(Local {
            object,
            frame: PhantomData,
        })
    }

    /// Clears a pending exception; says whether there was one.
    pub(crate) fn clear_exception(self) -> bool {
        let pending = call!(self, ExceptionCheck) != 0;
        if pending {
            call!(self, ExceptionClear);
        }
        pending
    }

    /// Whether an exception is pending. Allowed whatever the answer is.
    pub(super) fn is_exception_pending(self) -> bool {
        call!(self, ExceptionCheck) != 0
    }

    /// Gives a reference back before the native call returns.
    pub(crate) fn release(self, object: Local<'_>) {
        call!(self, DeleteLocalRef, object.object);
    }

    pub(crate) fn is_same(self, one: Local<'_>, other: Local<'_>) -> bool {
        call!(self, IsSameObject, one.object, other.object) != 0
    }

    /// The content of a byte array.
    pub(super) fn bytes(self, array: Local<'_>) -> Option<Vec<u8>> {
        let length = call!(self, GetArrayLength, array.object);
        let mut bytes = vec![0_u8; usize::try_from(length).ok()?];
        let start = bytes.as_mut_ptr().cast();
        call!(self, GetByteArrayRegion, array.object, 0, length, start);
        (!self.clear_exception()).then_some(bytes)
    }

    /// A new byte array.
    pub(super) fn new_bytes(self, bytes: &[u8]) -> Option<Local<'a>> {
        let length = sys::jsize::try_from(bytes.len()).ok()?;
        let array = call!(self, NewByteArray, length);
        if self.clear_exception() {
            return None;
        }
        let local = self.local(array)?;
        let start = bytes.as_ptr().cast();
        call!(self, SetByteArrayRegion, array, 0, length, start);
        (!self.clear_exception()).then_some(local)
    }

    /// A static field of a class that is never unloaded.
    pub(crate) fn static_array(
        self,
        class: Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Option<StaticArray> {
        let (name, descriptor) = (CString::new(name).ok()?, CString::new(descriptor).ok()?);
        let element = self.find_class("java/lang/Object")?;
        let field = call!(
            self,
            GetStaticFieldID,
            class.object,
            name.as_ptr(),
            descriptor.as_ptr()
        );
        if self.clear_exception() || field.is_null() {
            return None;
        }
        Some(StaticArray {
            class: self.global(class)?,
            element: self.global(element)?,
            field,
        })
    }

    /// Sets the field to a new array of so many nulls.
    pub(crate) fn renew(self, array: &StaticArray, length: u32) -> bool {
        let (length, null) = (length as sys::jsize, ptr::null_mut());
        let new = call!(self, NewObjectArray, length, array.element.0, null);
        if self.clear_exception() || new.is_null() {
            return false;
        }
        call!(self, SetStaticObjectField, array.class.0, array.field, new);
        call!(self, DeleteLocalRef, new);
        !self.clear_exception()
    }

    /// Sets the field to null.
    pub(crate) fn clear(self, array: &StaticArray) -> bool {
        let (class, null) = (array.class.0, ptr::null_mut());
        call!(self, SetStaticObjectField, class, array.field, null);
        !self.clear_exception()
    }

    pub(crate) fn superclass(self, class: Local<'_>) -> Option<Local<'a>> {
        self.local(call!(self, GetSuperclass, class.object))
    }

    /// Defines a class of the boot loader.
    pub(crate) fn define_boot_class(self, name: &str, bytes: &[u8]) -> Option<Local<'a>> {
        let name = CString::new(name).ok()?;
        let class = call!(
            self,
            DefineClass,
            name.as_ptr(),
            ptr::null_mut(),
            bytes.as_ptr().cast(),
            bytes.len() as sys::jsize
        );
        if self.clear_exception() {
            None
        } else {
            self.local(class)
        }
    }

    /// Finds a class by its VM name, as the boot and system loaders see it.
    pub(crate) fn find_class(self, name: &str) -> Option<Local<'a>> {
        let name = CString::new(name).ok()?;
        let class = call!(self, FindClass, name.as_ptr());
        if self.clear_exception() {
            None
        } else {
            self.local(class)
        }
    }

    pub(crate) fn class_of(self, object: Local<'_>) -> Option<Local<'a>> {
        self.local(call!(self, GetObjectClass, object.object))
    }

    pub(crate) fn static_object(
        self,
        class: Local<'_>,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<Local<'a>> {
        let field = call!(
            self,
            GetStaticFieldID,
            class.object,
            name.as_ptr(),
            descriptor.as_ptr()
        );
        if self.clear_exception() || field.is_null() {
            return None;
        }
        self.local(call!(self, GetStaticObjectField, class.object, field))
    }

    /// Reads an object field that the class of `object` declares or inherits.
    pub(crate) fn field(
        self,
        object: Local<'_>,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<Local<'a>> {
        let class = self.class_of(object)?;
        let field = members::number(self, class, name, descriptor, || {
            let (name, descriptor) = (name.as_ptr(), descriptor.as_ptr());
            let field = call!(self, GetFieldID, class.object, name, descriptor);
            self.unless_thrown(field as usize)
        });
        self.release(class);
        if field == 0 {
            return None;
        }
        let field = field as sys::jfieldID;
        self.local(call!(self, GetObjectField, object.object, field))
    }

    /// Calls a method without arguments that returns an object.
    pub(crate) fn call(
        self,
        object: Local<'_>,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<Local<'a>> {
        let method = self.method(object, name, descriptor)?;
        let result = call!(self, CallObjectMethodA, object.object, method, ptr::null());
        if self.clear_exception() {
            None
        } else {
            self.local(result)
        }
    }

    /// Calls a method with one argument, which may be null, that returns an
    /// object.
    pub(crate) fn call_with(
        self,
        object: Local<'_>,
        name: &CStr,
        descriptor: &CStr,
        argument: Option<Local<'_>>,
    ) -> Option<Local<'a>> {
        let method = self.method(object, name, descriptor)?;
        let argument = argument.map_or(ptr::null_mut(), |argument| argument.object);
        let arguments = [sys::jvalue { l: argument }];
        let result = call!(
            self,
            CallObjectMethodA,
            object.object,
            method,
            arguments.as_ptr()
        );
        if self.clear_exception() {
            None
        } else {
            self.local(result)
        }
    }

    /// Calls a method without arguments that returns a `boolean`; false if it
    /// cannot be called.
    pub(crate) fn call_boolean(self, object: Local<'_>, name: &CStr) -> bool {
        let Some(method) = self.method(object, name, c"()Z") else {
            return false;
        };
        let result = call!(self, CallBooleanMethodA, object.object, method, ptr::null());
        !self.clear_exception() && result != 0
    }

    /// What `hashCode` returns; 0 if it throws.
    pub(crate) fn hash_code(self, object: Local<'_>) -> i32 {
        let Some(method) = self.method(object, c"hashCode", c"()I") else {
            return 0;
        };
        let code = call!(self, CallIntMethodA, object.object, method, ptr::null());
        if self.clear_exception() { 0 } else { code }
    }

    /// Calls a method with objects as arguments that returns nothing.
    pub(crate) fn call_void(
        self,
        object: Local<'_>,
        name: &CStr,
        descriptor: &CStr,
        arguments: &[Local<'_>],
    ) {
        let Some(method) = self.method(object, name, descriptor) else {
            return;
        };
        let arguments: Vec<_> = arguments
            .iter()
            .map(|argument| sys::jvalue { l: argument.object })
            .collect();
        call!(
            self,
            CallVoidMethodA,
            object.object,
            method,
            arguments.as_ptr()
        );
        self.clear_exception();
    }

    /// A new `java.lang.String`.
    pub(crate) fn new_string(self, text: &CStr) -> Option<Local<'a>> {
        let string = call!(self, NewStringUTF, text.as_ptr());
        if self.clear_exception() {
            None
        } else {
            self.local(string)
        }
    }

    pub(crate) fn array_length(self, array: Local<'_>) -> i32 {
        call!(self, GetArrayLength, array.object)
    }

    /// An element of an array of objects.
    pub(crate) fn element(self, array: Local<'_>, index: i32) -> Option<Local<'a>> {
        let element = call!(self, GetObjectArrayElement, array.object, index);
        if self.clear_exception() {
            None
        } else {
            self.local(element)
        }
    }

    /// Puts an object into an array of objects.
    pub(crate) fn set_element(self, array: Local<'_>, index: i32, element: Local<'_>) {
        call!(
            self,
            SetObjectArrayElement,
            array.object,
            index,
            element.object
        );
        self.clear_exception();
    }

    /// The number that Java gives to a thread, which a virtual thread keeps
    /// wherever it runs.
    pub(crate) fn thread_number(self, thread: Local<'_>) -> Option<u64> {
        // Every thread class inherits the field from `Thread`, and JDK classes
        // are never unloaded, so that its number stays valid.
        static FIELD: OnceLock<usize> = OnceLock::new();
        let field = if let Some(field) = FIELD.get() {
            *field
        } else {
            let class = self.class_of(thread)?;
            let (name, descriptor) = (c"tid".as_ptr(), c"J".as_ptr());
            let found = call!(self, GetFieldID, class.object, name, descriptor);
            if self.clear_exception() || found.is_null() {
                return None;
            }
            *FIELD.get_or_init(|| found as usize)
        };
        let field = field as sys::jfieldID;
        Some(call!(self, GetLongField, thread.object, field) as u64)
    }

    fn method(self, object: Local<'_>, name: &CStr, descriptor: &CStr) -> Option<sys::jmethodID> {
        let class = self.class_of(object)?;
        let method = members::number(self, class, name, descriptor, || {
            let (name, descriptor) = (name.as_ptr(), descriptor.as_ptr());
            let method = call!(self, GetMethodID, class.object, name, descriptor);
            self.unless_thrown(method as usize)
        });
        self.release(class);
        (method != 0).then_some(method as sys::jmethodID)
    }

    fn unless_thrown(self, number: usize) -> usize {
        if self.clear_exception() { 0 } else { number }
    }

    /// The text of a `java.lang.String`.
    pub(crate) fn string(self, string: Local<'_>) -> Option<String> {
        let chars: *const c_char = call!(self, GetStringUTFChars, string.object, ptr::null_mut());
        if self.clear_exception() || chars.is_null() {
            return None;
        }
        // SAFETY: `GetStringUTFChars` returned a text that ends with NUL, and
        // it stays valid until it is released below.
        let text = decode_modified_utf8(unsafe { CStr::from_ptr(chars) }.to_bytes()).into_owned();
        call!(self, ReleaseStringUTFChars, string.object, chars);
        Some(text)
    }

    pub(crate) fn global(self, object: Local<'_>) -> Option<Global> {
        let global = call!(self, NewGlobalRef, object.object);
        (!global.is_null()).then_some(Global(global))
    }

    pub(super) fn weak_global(self, object: Local<'_>) -> Option<WeakGlobal> {
        let weak = call!(self, NewWeakGlobalRef, object.object);
        (!self.clear_exception() && !weak.is_null()).then_some(WeakGlobal(weak))
    }

    pub(super) fn delete_weak(self, WeakGlobal(weak): WeakGlobal) {
        call!(self, DeleteWeakGlobalRef, weak);
    }

    pub(super) fn is_weakly_same(self, weak: &WeakGlobal, object: Local<'_>) -> bool {
        call!(self, IsSameObject, weak.0, object.object) != 0
    }

    /// The object that a weak reference leads to, while it is there.
    pub(super) fn strong(self, weak: &WeakGlobal) -> Option<Local<'a>> {
        self.local(call!(self, NewLocalRef, weak.0))
    }

    /// How a static field is; `kind` is the first character of its type.
    pub(super) fn static_value(self, class: Local<'_>, field: sys::jfieldID, kind: u8) -> Now<'a> {
        let class = class.object;
        Now::Number(match kind {
            b'Z' => u64::from(call!(self, GetStaticBooleanField, class, field)),
            b'B' => call!(self, GetStaticByteField, class, field) as u64,
            b'C' => u64::from(call!(self, GetStaticCharField, class, field)),
            b'S' => call!(self, GetStaticShortField, class, field) as u64,
            b'I' => call!(self, GetStaticIntField, class, field) as u64,
            b'J' => call!(self, GetStaticLongField, class, field) as u64,
            b'F' => u64::from(call!(self, GetStaticFloatField, class, field).to_bits()),
            b'D' => call!(self, GetStaticDoubleField, class, field).to_bits(),
            _ => {
                let object = call!(self, GetStaticObjectField, class, field);
                return Now::Object(self.local(object));
            }
        })
    }

    pub(super) fn critical_bytes<T>(
        self,
        array: &Global,
        length: usize,
        read: impl FnOnce(*mut u8, bool) -> T,
    ) -> Option<T> {
        let mut copied: sys::jboolean = 0;
        let bytes = call!(self, GetPrimitiveArrayCritical, array.0, &raw mut copied);
        if bytes.is_null() {
            return None;
        }
        debug_assert!(length > 0);
        let result = read(bytes.cast(), copied != 0);
        call!(self, ReleasePrimitiveArrayCritical, array.0, bytes, 0);
        Some(result)
    }
}

impl Local<'_> {
    pub(super) fn as_raw(self) -> sys::jobject {
        self.object
    }
}

impl Global {
    pub(crate) fn as_local<'a>(&self, jni: Jni<'a>) -> Option<Local<'a>> {
        jni.local(self.0)
    }
}
