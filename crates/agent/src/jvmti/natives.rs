//! The agent's own functions in front of native methods of the JDK.
//!
//! The JVM tells when it binds a native method to its function
//! (`NativeMethodBind`), and lets the agent put another one in its place. The
//! first binds come before a method can be asked for its name, so functions are
//! known by their symbols. Names differ between JDKs; those of 8 to 25 stand
//! below, and whichever a JDK has is bound to. All that the JDK reads and
//! writes passes here, whatever API was used, except for what works on a file
//! that is open already.
//!
//! A function looks at paths before it calls the original, because afterwards
//! an exception may be pending and JNI is out of bounds. What the original
//! returns is returned as it is.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicUsize, Ordering};

use jvmti_bindings::sys::jni as jni_sys;
use jvmti_bindings::sys::jni::{jboolean, jbyteArray, jint, jintArray, jobject};

use super::exports::guarded;
use super::{Jni, Local};
use crate::agent::Agent;
use crate::children::Launch;

/// What a native method does with paths.
#[derive(Clone, Copy)]
enum Act {
    /// Reads a file or asks about it.
    Look(Place),
    /// Resolves links, and tells nothing else.
    Resolve(Place),
    List(Place),
    /// `open(2)`, with the word that holds the flags.
    Open(Place, usize),
    /// `RandomAccessFile`, with the word that holds the mode.
    OpenRandom(Place, usize),
    /// Writes or creates a file, makes or deletes something.
    Make(Place, Failure),
    Rename(Place, Place, Failure),
    /// The first becomes another name of the second.
    Link {
        new: Place,
        existing: Place,
    },
    SymbolicLink {
        link: Place,
        target: Place,
    },
}

/// Which of a function's words hold a path, and how.
#[derive(Clone, Copy)]
enum Place {
    /// A `java.lang.String`.
    Text(usize),
    /// A `java.io.File`.
    File(usize),
    /// The address of a text that ends with NUL.
    Address(usize),
    /// The same, seen from a directory that is open.
    In { directory: usize, address: usize },
}

/// How a function tells that it failed.
#[derive(Clone, Copy)]
enum Failure {
    Throws,
    /// Returns false, or throws.
    False,
}

/// The environment, the object or class, and up to four arguments.
type Words = [usize; 6];
type Native = extern "system" fn(usize, usize, usize, usize, usize, usize) -> u64;

struct Watched {
    symbol: &'static str,
    original: &'static AtomicUsize,
    wrapper: Native,
}

macro_rules! watched {
    ($($symbol:literal $act:expr;)*) => {
        static WATCHED: &[Watched] = &[$({
            static ORIGINAL: AtomicUsize = AtomicUsize::new(0);
            extern "system" fn wrapper(
                env: usize,
                this: usize,
                a: usize,
                b: usize,
                c: usize,
                d: usize,
            ) -> u64 {
                run(&ORIGINAL, const { $act }, [env, this, a, b, c, d])
            }
            Watched { symbol: $symbol, original: &ORIGINAL, wrapper }
        },)*];
    };
}

use Act::{Link, List, Look, Make, Open, OpenRandom, Rename, Resolve, SymbolicLink};
use Failure::{False, Throws};
use Place::{Address, File, In, Text};

watched! {
    "Java_java_io_FileInputStream_open0" Look(Text(2));
    "Java_java_io_FileOutputStream_open0" Make(Text(2), Throws);
    "Java_java_io_RandomAccessFile_open0" OpenRandom(Text(2), 3);
    "Java_java_io_UnixFileSystem_canonicalize0" Resolve(Text(2));
    "Java_java_io_UnixFileSystem_getBooleanAttributes0" Look(File(2));
    "Java_java_io_UnixFileSystem_checkAccess" Look(File(2));
    "Java_java_io_UnixFileSystem_checkAccess0" Look(File(2));
    "Java_java_io_UnixFileSystem_getLength" Look(File(2));
    "Java_java_io_UnixFileSystem_getLength0" Look(File(2));
    "Java_java_io_UnixFileSystem_getLastModifiedTime" Look(File(2));
    "Java_java_io_UnixFileSystem_getLastModifiedTime0" Look(File(2));
    "Java_java_io_UnixFileSystem_list" List(File(2));
    "Java_java_io_UnixFileSystem_list0" List(File(2));
    "Java_java_io_UnixFileSystem_createFileExclusively" Make(Text(2), False);
    "Java_java_io_UnixFileSystem_createFileExclusively0" Make(Text(2), False);
    "Java_java_io_UnixFileSystem_createDirectory" Make(File(2), False);
    "Java_java_io_UnixFileSystem_createDirectory0" Make(File(2), False);
    "Java_java_io_UnixFileSystem_delete0" Make(File(2), False);
    "Java_java_io_UnixFileSystem_rename0" Rename(File(2), File(3), False);
    // Java 8 reads archives in C.
    "Java_java_util_zip_ZipFile_open" Look(Text(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_open0" Open(Address(2), 3);
    "Java_sun_nio_fs_UnixNativeDispatcher_openat0" Open(In { directory: 2, address: 3 }, 4);
    "Java_sun_nio_fs_UnixNativeDispatcher_stat0" Look(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_stat1" Look(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_lstat0" Look(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_fstatat0" Look(In { directory: 2, address: 3 });
    "Java_sun_nio_fs_UnixNativeDispatcher_access0" Look(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_exists0" Look(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_readlink0" Look(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_realpath0" Look(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_opendir0" List(Address(2));
    "Java_sun_nio_fs_UnixNativeDispatcher_mkdir0" Make(Address(2), Throws);
    "Java_sun_nio_fs_UnixNativeDispatcher_mknod0" Make(Address(2), Throws);
    "Java_sun_nio_fs_UnixNativeDispatcher_unlink0" Make(Address(2), Throws);
    "Java_sun_nio_fs_UnixNativeDispatcher_rmdir0" Make(Address(2), Throws);
    "Java_sun_nio_fs_UnixNativeDispatcher_unlinkat0"
        Make(In { directory: 2, address: 3 }, Throws);
    "Java_sun_nio_fs_UnixNativeDispatcher_rename0" Rename(Address(2), Address(3), Throws);
    "Java_sun_nio_fs_UnixNativeDispatcher_renameat0" Rename(
        In { directory: 2, address: 3 },
        In { directory: 4, address: 5 },
        Throws
    );
    "Java_sun_nio_fs_UnixNativeDispatcher_link0"
        Link { existing: Address(2), new: Address(3) };
    "Java_sun_nio_fs_UnixNativeDispatcher_symlink0"
        SymbolicLink { target: Address(2), link: Address(3) };
}

/// The function to bind instead of the one at `address`, if that is watched.
pub(super) fn replacement(address: *mut c_void) -> Option<*mut c_void> {
    let symbol = symbol_at(address)?;
    if FORKS.contains(&symbol) {
        FORK.store(address as usize, Ordering::Relaxed);
        return Some(fork_and_exec as *mut c_void);
    }
    let watched = WATCHED.iter().find(|watched| watched.symbol == symbol)?;
    watched.original.store(address as usize, Ordering::Relaxed);
    Some(watched.wrapper as *mut c_void)
}

/// The symbol that stands exactly at an address. It lives as long as the
/// library that it is from, and the JDK's are never unloaded.
fn symbol_at(address: *mut c_void) -> Option<&'static str> {
    let info = locate(address)?;
    if info.dli_saddr != address || info.dli_sname.is_null() {
        return None;
    }
    // SAFETY: `dladdr` gave a text that ends with NUL.
    unsafe { CStr::from_ptr(info.dli_sname) }.to_str().ok()
}

/// The path of the library that this code is in.
pub(crate) fn own_library() -> Option<Vec<u8>> {
    let info = locate(own_library as *mut c_void)?;
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: `dladdr` gave a text that ends with NUL.
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = std::path::absolute(OsStr::from_bytes(path.to_bytes())).ok()?;
    Some(path.into_os_string().into_vec())
}

fn locate(address: *mut c_void) -> Option<libc::Dl_info> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` takes any address and fills in the structure.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) } != 0;
    // SAFETY: zeroes are a valid value of the structure.
    found.then(|| unsafe { info.assume_init() })
}

/// Runs a native method with the agent looking on.
fn run(original: &AtomicUsize, act: Act, words: Words) -> u64 {
    let later = guarded(None, |agent| {
        if agent.watches_files() {
            before(agent, act, &words)
        } else {
            None
        }
    });
    // SAFETY: only `replacement` leads here, after it stored the address of
    // the native method's function. Its arguments are whole words in registers
    // (none is a floating-point number), of which it takes as many as it
    // declares; a result of it is one word, which the JVM narrows or drops.
    let function =
        unsafe { std::mem::transmute::<usize, Native>(original.load(Ordering::Relaxed)) };
    let [env, this, a, b, c, d] = words;
    let result = function(env, this, a, b, c, d);
    if let Some(later) = later {
        guarded((), |agent| after(agent, &later, &words, result));
    }
    result
}

/// What is left to do when the original has returned.
struct Later {
    failure: Failure,
    made: Vec<Vec<u8>>,
    /// A symbolic link, and where it leads.
    link: Option<(Vec<u8>, Vec<u8>)>,
}

impl Later {
    fn made(failure: Failure, path: Vec<u8>) -> Self {
        Self {
            failure,
            made: vec![path],
            link: None,
        }
    }
}

fn before(agent: &Agent, act: Act, words: &Words) -> Option<Later> {
    let path = |place| path_at(place, words);
    match act {
        Look(place) => agent.file_looked_at(&path(place)?),
        Resolve(place) => agent.links_resolved(&path(place)?),
        List(place) => agent.directory_listed(&path(place)?),
        Open(place, flags) => return opened(agent, path(place)?, words[flags] as i32),
        OpenRandom(place, mode) => {
            // `RandomAccessFile.O_RDWR`; such a file may be read before it is
            // written.
            let path = path(place)?;
            agent.file_looked_at(&path);
            if words[mode] & 2 != 0 {
                return Some(Later::made(Throws, path));
            }
        }
        Make(place, failure) => return Some(Later::made(failure, path(place)?)),
        Rename(from, to, failure) => {
            let from = path(from)?;
            agent.file_looked_at(&from);
            return Some(Later {
                failure,
                made: vec![from, path(to)?],
                link: None,
            });
        }
        Link { new, existing } => {
            agent.file_looked_at(&path(existing)?);
            return Some(Later::made(Throws, path(new)?));
        }
        SymbolicLink { link, target } => {
            return Some(Later {
                failure: Throws,
                made: Vec::new(),
                link: Some((path(link)?, path(target)?)),
            });
        }
    }
    None
}

/// `open(2)`: who may read what was there before looks at it.
fn opened(agent: &Agent, path: Vec<u8>, flags: i32) -> Option<Later> {
    let access = flags & libc::O_ACCMODE;
    if access == libc::O_RDONLY && flags & libc::O_CREAT == 0 {
        agent.file_opened(&path);
        return None;
    }
    if access != libc::O_WRONLY && flags & (libc::O_TRUNC | libc::O_EXCL) == 0 {
        agent.file_looked_at(&path);
    }
    Some(Later::made(Throws, path))
}

fn after(agent: &Agent, later: &Later, words: &Words, result: u64) {
    let thrown = jni(words).is_exception_pending();
    let failed = thrown || matches!(later.failure, False) && result as jboolean == 0;
    for path in &later.made {
        if failed {
            // Nothing was made, and that depended on what is there.
            agent.file_looked_at(path);
        } else {
            agent.file_made(path);
        }
    }
    if let Some((link, target)) = &later.link {
        if failed {
            agent.file_looked_at(link);
        } else {
            agent.link_made(link, target);
        }
    }
}

fn jni(words: &Words) -> Jni<'_> {
    // SAFETY: the first word of a native method is the calling thread's
    // environment, valid while the method runs.
    unsafe { Jni::new(words[0] as *mut jni_sys::JNIEnv) }
}

fn path_at(place: Place, words: &Words) -> Option<Vec<u8>> {
    let jni = jni(words);
    match place {
        Text(word) => {
            let text = jni.local(words[word] as jobject)?;
            jni.string(text).map(String::into_bytes)
        }
        File(word) => {
            let file = jni.local(words[word] as jobject)?;
            let path = jni.field(file, c"path", c"Ljava/lang/String;")?;
            let text = jni.string(path);
            jni.release(path);
            text.map(String::into_bytes)
        }
        Address(word) => text_at(words[word]),
        In { directory, address } => {
            let path = text_at(words[address])?;
            let directory = words[directory] as i32;
            if path.starts_with(b"/") || directory == libc::AT_FDCWD {
                return Some(path);
            }
            let folder = std::fs::read_link(format!("/proc/self/fd/{directory}")).ok()?;
            Some([folder.as_os_str().as_bytes(), b"/", &path].concat())
        }
    }
}

fn text_at(address: usize) -> Option<Vec<u8>> {
    if address == 0 {
        return None;
    }
    // SAFETY: the JDK passes the address of a text that ends with NUL and that
    // stays as it is during the call.
    let text = unsafe { CStr::from_ptr(address as *const c_char) };
    Some(text.to_bytes().to_vec())
}

const FORKS: [&str; 2] = [
    "Java_java_lang_ProcessImpl_forkAndExec",
    // Java 8
    "Java_java_lang_UNIXProcess_forkAndExec",
];

static FORK: AtomicUsize = AtomicUsize::new(0);

type ForkAndExec = extern "system" fn(
    *mut jni_sys::JNIEnv,
    jobject,
    jint,
    jbyteArray,
    jbyteArray,
    jbyteArray,
    jint,
    jbyteArray,
    jint,
    jbyteArray,
    jintArray,
    jboolean,
) -> jint;

/// `forkAndExec(int mode, byte[] helperpath, byte[] prog, byte[] argBlock,
/// int argc, byte[] envBlock, int envc, byte[] dir, int[] fds, boolean
/// redirectErrorStream)`, the same from Java 8 to 25.
extern "system" fn fork_and_exec(
    env: *mut jni_sys::JNIEnv,
    this: jobject,
    mode: jint,
    helper: jbyteArray,
    program: jbyteArray,
    mut arguments: jbyteArray,
    mut argument_count: jint,
    mut environment: jbyteArray,
    mut variable_count: jint,
    directory: jbyteArray,
    descriptors: jintArray,
    redirect: jboolean,
) -> jint {
    // SAFETY: the JVM passes the calling thread's environment.
    let jni = unsafe { Jni::new(env) };
    guarded((), |agent| {
        let text = |array: jbyteArray| Some(text_of(&jni.bytes(jni.local(array)?)?));
        let block = |array: jbyteArray| Some(words_of(&jni.bytes(jni.local(array)?)?));
        let (Some(program), Some(argument_words)) = (text(program), block(arguments)) else {
            return agent.program_missed();
        };
        let launch = Launch {
            program,
            arguments: argument_words,
            environment: block(environment),
            directory: text(directory),
        };
        let Some(changed) = agent.program_starts(&launch) else {
            return;
        };
        let new = changed_blocks(jni, &changed, environment);
        let Some((new_arguments, new_environment)) = new else {
            return agent.program_missed();
        };
        arguments = new_arguments;
        argument_count = changed.arguments.len() as jint;
        if let Some(variables) = &changed.environment {
            environment = new_environment;
            variable_count = variables.len() as jint;
        }
    });
    // SAFETY: only `replacement` leads here, after it stored the address of
    // the JDK's function of this signature.
    let function =
        unsafe { std::mem::transmute::<usize, ForkAndExec>(FORK.load(Ordering::Relaxed)) };
    function(
        env,
        this,
        mode,
        helper,
        program,
        arguments,
        argument_count,
        environment,
        variable_count,
        directory,
        descriptors,
        redirect,
    )
}

/// New arrays for a changed launch. Those of the JDK are left as they are.
fn changed_blocks(
    jni: Jni<'_>,
    launch: &Launch,
    environment: jbyteArray,
) -> Option<(jbyteArray, jbyteArray)> {
    let arguments = jni.new_bytes(&block_of(&launch.arguments))?;
    let environment = match &launch.environment {
        Some(variables) => jni.new_bytes(&block_of(variables))?.as_raw(),
        None => environment,
    };
    Some((Local::as_raw(arguments), environment))
}

/// The text before the first NUL.
fn text_of(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes[..end.unwrap_or(bytes.len())].to_vec()
}

/// The words of a block, each of which ends with NUL.
fn words_of(block: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = block.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    // What follows the last NUL is no word.
    words.pop();
    words
}

fn block_of(words: &[Vec<u8>]) -> Vec<u8> {
    let mut block = Vec::new();
    for word in words {
        block.extend(word);
        block.push(0);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_words_come_back_as_they_were() {
        for words in [
            &[][..],
            &[b"a".to_vec()],
            &[vec![], b"b c".to_vec(), vec![]],
        ] {
            assert_eq!(words_of(&block_of(words)), words);
        }
        assert_eq!(text_of(b"java\0"), b"java");
    }

    #[test]
    fn the_library_finds_itself() {
        let path = own_library().unwrap();
        assert!(path.starts_with(b"/"), "{path:?}");
    }

    #[test]
    fn each_symbol_is_watched_once() {
        let mut symbols: Vec<_> = WATCHED.iter().map(|watched| watched.symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        assert_eq!(symbols.len(), WATCHED.len());
    }
}
