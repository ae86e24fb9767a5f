//! The numbers of methods and fields that the agent has asked for.
//!
//! The JVM looks for a member by its name in tables of all names and of the
//! class, and makes an exception where there is none. For what is asked at
//! every test that is most of the work.

use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use super::jni::{Jni, Local, WeakGlobal};

/// Frameworks have a handful of classes that are asked. Where something loads
/// them again and again, by new loaders, the oldest are forgotten.
const MOST: usize = 64;

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

struct Known {
    /// It does not keep the class from being unloaded. As long as it leads to
    /// the class, the number is valid.
    class: WeakGlobal,
    name: Box<CStr>,
    descriptor: Box<CStr>,
    /// Zero where the class has no such member.
    number: usize,
}

/// The number of a method or field of `class`, by `find` where it is not known;
/// zero if there is none.
pub(super) fn number(
    jni: Jni<'_>,
    class: Local<'_>,
    name: &CStr,
    descriptor: &CStr,
    find: impl FnOnce() -> usize,
) -> usize {
    let is_it = |known: &&Known| {
        *known.name == *name
            && *known.descriptor == *descriptor
            && jni.is_weakly_same(&known.class, class)
    };
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known().iter().find(is_it) {
        return known.number;
    }
    // The lock is given back: whatever this loads may lead here again.
    let number = find();
    if let Some(class) = jni.weak_global(class) {
        let mut known = known();
        if known.len() >= MOST {
            jni.delete_weak(known.remove(0).class);
        }
        known.push(Known {
            class,
            name: name.into(),
            descriptor: descriptor.into(),
            number,
        });
    }
    number
}
