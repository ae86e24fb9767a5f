//! The functions that the JVM calls.
//!
//! Each runs under [`guarded`]: a panic stays inside, the user's program goes
//! on, and the trace tells that it proves nothing.

#![allow(
    unreachable_pub,
    reason = "the JVM reaches these functions by their names"
)]

use std::ffi::{CStr, OsStr, c_char, c_uchar, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;

use jvmti_bindings::sys::jni as jni_sys;
use jvmti_bindings::sys::jni::{jboolean, jclass, jint, jmethodID, jobject, jthread};
use jvmti_bindings::sys::jvmti as sys;

use super::{Jni, Jvmti, natives};
use crate::agent::{self, Agent};
use crate::config::Config;

/// Runs `body` where there is an agent in working order.
pub(super) fn guarded<T>(default: T, body: impl FnOnce(&'static Agent) -> T) -> T {
    let Some(agent) = agent::current() else {
        return default;
    };
    catch_unwind(AssertUnwindSafe(|| body(agent))).unwrap_or_else(|_| {
        agent.give_up();
        default
    })
}

/// Called by the JVM before it starts (JVMTI specification, "Agent Start-Up").
///
/// Always says that all is well: without an agent the user's program runs as
/// it would, and the missing trace makes its tests run again.
#[unsafe(no_mangle)]
pub extern "system" fn Agent_OnLoad(
    vm: *mut jni_sys::JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    let _ = catch_unwind(|| {
        let options = if options.is_null() {
            &[]
        } else {
            // SAFETY: the JVM passes a text that ends with NUL.
            unsafe { CStr::from_ptr(options) }.to_bytes()
        };
        let path = Path::new(OsStr::from_bytes(options));
        match Config::read(path) {
            Ok(config) => start(vm, config, path),
            Err(error) => agent::leave_note(path, &error),
        }
    });
    jni_sys::JNI_OK
}

fn start(vm: *mut jni_sys::JavaVM, config: Config, path: &Path) {
    let mut env = ptr::null_mut();
    // SAFETY: `vm` is the JVM's own, alive for the whole process.
    let result = unsafe { ((**vm).GetEnv)(vm, &raw mut env, sys::JVMTI_VERSION_1_2) };
    if result != jni_sys::JNI_OK || env.is_null() {
        return;
    }
    // SAFETY: `GetEnv` returned an environment, and nobody disposes of it.
    let jvmti = unsafe { Jvmti::new(env.cast()) };
    let mut capabilities = sys::jvmtiCapabilities::default();
    capabilities.set_can_generate_all_class_hook_events(true);
    // Without it another agent's retransformation would take our probes out.
    capabilities.set_can_retransform_classes(true);
    capabilities.set_can_retransform_any_class(true);
    capabilities.set_can_generate_native_method_bind_events(true);
    if !jvmti.add_capabilities(&capabilities) || !agent::install(Agent::new(config, path, jvmti)) {
        return;
    }
    // Since Java 21; without it the threads that carry virtual ones are seen.
    let mut virtual_threads = sys::jvmtiCapabilities::default();
    virtual_threads.set_can_support_virtual_threads(true);
    let virtual_threads = jvmti.add_capabilities(&virtual_threads);
    let mut callbacks = sys::jvmtiEventCallbacks::default();
    callbacks.VMStart = Some(vm_start);
    callbacks.VMInit = Some(vm_init);
    callbacks.VMDeath = Some(vm_death);
    callbacks.ClassFileLoadHook = Some(class_file_load_hook);
    callbacks.ClassPrepare = Some(class_prepare);
    callbacks.NativeMethodBind = Some(native_method_bind);
    callbacks.ThreadStart = Some(thread_start);
    callbacks.ThreadEnd = Some(thread_end);
    if virtual_threads {
        callbacks.VirtualThreadStart = Some(thread_start);
        callbacks.VirtualThreadEnd = Some(thread_end);
    }
    jvmti.set_callbacks(&callbacks);
    // The load hook is enabled from the start: enabled later, a JVM with an
    // ahead-of-time cache would never call it for cached classes. So are binds
    // of native methods, the first of which come very early.
    for event in [
        sys::JVMTI_EVENT_VM_START,
        sys::JVMTI_EVENT_VM_INIT,
        sys::JVMTI_EVENT_VM_DEATH,
        sys::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        sys::JVMTI_EVENT_NATIVE_METHOD_BIND,
    ] {
        jvmti.enable(event);
    }
}

extern "system" fn vm_start(_jvmti: *mut sys::jvmtiEnv, env: *mut jni_sys::JNIEnv) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| agent.vm_started(jni));
}

extern "system" fn vm_init(_: *mut sys::jvmtiEnv, env: *mut jni_sys::JNIEnv, _thread: jthread) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| {
        agent.vm_initialized(jni);
        for event in [
            sys::JVMTI_EVENT_CLASS_PREPARE,
            sys::JVMTI_EVENT_THREAD_START,
            sys::JVMTI_EVENT_THREAD_END,
            // Refused by JVMs that have no such threads.
            sys::JVMTI_EVENT_VIRTUAL_THREAD_START,
            sys::JVMTI_EVENT_VIRTUAL_THREAD_END,
        ] {
            agent.jvmti().enable(event);
        }
    });
}

extern "system" fn class_prepare(
    _jvmti: *mut sys::jvmtiEnv,
    env: *mut jni_sys::JNIEnv,
    _thread: jthread,
    class: jclass,
) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| {
        if let Some(class) = jni.local(class) {
            agent.class_prepared(jni, class);
        }
    });
}

extern "system" fn native_method_bind(
    _jvmti: *mut sys::jvmtiEnv,
    _env: *mut jni_sys::JNIEnv,
    _thread: jthread,
    _method: jmethodID,
    address: *mut c_void,
    new_address: *mut *mut c_void,
) {
    guarded((), |_agent| {
        if let Some(replacement) = natives::replacement(address) {
            // SAFETY: the JVM passes the place for another function, and the
            // replacement takes what the native method takes.
            unsafe { *new_address = replacement };
        }
    });
}

extern "system" fn vm_death(_jvmti: *mut sys::jvmtiEnv, env: *mut jni_sys::JNIEnv) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| agent.vm_dies(jni));
}

extern "system" fn thread_start(_: *mut sys::jvmtiEnv, env: *mut jni_sys::JNIEnv, thread: jthread) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| {
        if let Some(thread) = jni.local(thread) {
            agent.thread_begins(jni, thread);
        }
    });
}

extern "system" fn thread_end(_: *mut sys::jvmtiEnv, env: *mut jni_sys::JNIEnv, thread: jthread) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| {
        if let Some(thread) = jni.local(thread) {
            agent.thread_ended(jni, thread);
        }
    });
}

extern "system" fn class_file_load_hook(
    _jvmti: *mut sys::jvmtiEnv,
    env: *mut jni_sys::JNIEnv,
    redefined: jclass,
    loader: jobject,
    _name: *const c_char,
    _protection_domain: jobject,
    length: jint,
    data: *const c_uchar,
    new_length: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    guarded((), |agent| {
        // SAFETY: the JVM passes `length` bytes that stay valid for the call.
        let bytes = unsafe { std::slice::from_raw_parts(data, length as usize) };
        let rewritten = if loader.is_null() {
            agent.boot_class_loads(bytes, !redefined.is_null())
        } else {
            // The hook may come before a thread has a JNI environment, but
            // never for a loader other than the boot loader.
            if env.is_null() {
                return;
            }
            // SAFETY: the JVM passes the calling thread's environment.
            agent.class_loads(unsafe { Jni::new(env) }, bytes)
        };
        let Some(rewritten) = rewritten else { return };
        if let Some(memory) = agent.jvmti().allocate(&rewritten) {
            // SAFETY: the JVM passes places for the new class.
            unsafe {
                *new_length = rewritten.len() as jint;
                *new_data = memory;
            }
        }
    });
}

/// `java.lang.$Fewest.enter`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Fewest_enter(
    env: *mut jni_sys::JNIEnv,
    _class: jclass,
    subject: jobject,
    listener: jobject,
    hook: jint,
) -> jboolean {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded(false, |agent| {
        agent.enter(jni, jni.local(subject), jni.local(listener), hook)
    })
    .into()
}

/// `java.lang.$Fewest.exit`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Fewest_exit(
    env: *mut jni_sys::JNIEnv,
    _class: jclass,
    hook: jint,
) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| agent.exit(jni, hook));
}

/// `java.lang.$Fewest.note`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Fewest_note(
    env: *mut jni_sys::JNIEnv,
    _class: jclass,
    first: jobject,
    second: jobject,
    hook: jint,
) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| {
        agent.note(jni, jni.local(first), jni.local(second), hook);
    });
}

/// `java.lang.$Fewest.received`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Fewest_received(
    env: *mut jni_sys::JNIEnv,
    _class: jclass,
    class: jobject,
    slot: jint,
) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| {
        if let Some(class) = jni.local(class) {
            agent.received(jni, class, slot as u32);
        }
    });
}

/// `java.lang.$Fewest.statement`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Fewest_statement(
    env: *mut jni_sys::JNIEnv,
    _class: jclass,
    statement: jint,
) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| agent.statement_begins(jni, statement as u32));
}

/// `java.lang.$Fewest.beginInitializer`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Fewest_beginInitializer(
    env: *mut jni_sys::JNIEnv,
    _class: jclass,
    class: jint,
) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| agent.initializer_begins(jni, class as u32));
}

/// `java.lang.$Fewest.endInitializer`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang__00024Fewest_endInitializer(
    env: *mut jni_sys::JNIEnv,
    _class: jclass,
    class: jint,
) {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| agent.initializer_ends(jni, class as u32));
}
