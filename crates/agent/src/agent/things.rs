//! What tests use besides code: names, settings and files.

use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::Ordering;

use fewest_model::ClassName;
use fewest_trace::Thing;

use super::{Agent, is_jdk_class, lock};
use crate::ask;
use crate::files::{self, Files, Finding, Surroundings};
use crate::jvmti::{self, Global, Jni, Local};
use crate::settings;

impl Agent {
    pub(super) fn class_reflected(&self, class: Local<'_>) {
        if let Some(name) = self.jvmti.class_name(class)
            && !is_jdk_class(&name)
        {
            lock(&self.reflected).remember();
            lock(&self.ledger).add_thing(Thing::Reflected(ClassName::new(name)));
        }
    }

    pub(super) fn class_named(&self, jni: Jni<'_>, name: Local<'_>) {
        if let Some(name) = jni.string(name)
            && !name.starts_with('[')
        {
            lock(&self.ledger).add_thing(Thing::Named(ClassName::from_dotted(&name)));
        }
    }

    pub(super) fn resource_asked(&self, jni: Jni<'_>, name: Local<'_>, path: Option<Local<'_>>) {
        if path.is_some_and(|path| self.is_of_jdk(jni, path)) {
            return;
        }
        let Some(name) = jni.string(name) else { return };
        let thing = match name.strip_suffix(".class") {
            // Class loading asks for every class by its file. Where the class
            // is there, the use of it tells more; where it is not, that counts.
            Some(class) => Thing::Named(ClassName::new(class)),
            None => Thing::Resource(name.into()),
        };
        lock(&self.ledger).add_thing(thing);
    }

    /// Whether a class path holds only what belongs to the JDK. What is looked
    /// for there and not found is looked for in the application's next, unless
    /// only the JDK was asked.
    fn is_of_jdk(&self, jni: Jni<'_>, path: Local<'_>) -> bool {
        let paths = self.jdk_class_paths.get().into_iter().flatten();
        paths
            .filter_map(|own| own.as_local(jni))
            .any(|own| jni.is_same(own, path))
    }

    pub(super) fn variable_read(&self, jni: Jni<'_>, name: Option<Local<'_>>) {
        let name = setting_name(jni, name);
        lock(&self.ledger).add_thing(Thing::Variable(name.into()));
    }

    pub(super) fn property_read(&self, jni: Jni<'_>, name: Option<Local<'_>>) {
        let name = setting_name(jni, name);
        if !settings::is_given_by_the_jdk(&name) {
            lock(&self.ledger).add_thing(Thing::Property(name.into()));
        }
    }

    pub(super) fn surroundings(&self) -> Surroundings {
        let jvm = self.jvm();
        let mut ignored = files::folders_of_jdk(Path::new(&jvm.java_home));
        ignored.extend(["/proc", "/sys", "/dev"].map(Into::into));
        let own = self.config.folder.as_os_str().as_encoded_bytes();
        ignored.push(own.to_vec());
        ignored.extend(jvmti::own_library());
        Surroundings {
            working_directory: jvm.working_directory.into_bytes(),
            ignored,
            class_path: jvm.class_path.into_iter().map(String::into_bytes).collect(),
            command_line: ask::command_line()
                .unwrap_or_default()
                .into_iter()
                .map(String::into_bytes)
                .collect(),
        }
    }

    /// A loader's class path has another entry. Only the application's loader
    /// finds what the class path of a record holds; what other loaders read
    /// counts as files.
    pub(super) fn class_path_grows(&self, jni: Jni<'_>, path: Local<'_>, url: Option<Local<'_>>) {
        let (Some(files), Some(url)) = (self.files.get(), url) else {
            return;
        };
        if !application_class_path(jni).is_some_and(|own| jni.is_same(own, path)) {
            return;
        }
        let entry = jni
            .call(url, c"getPath", c"()Ljava/lang/String;")
            .and_then(|path| jni.string(path))
            .and_then(|path| files::path_of_url(&path));
        if let Some(entry) = entry {
            lock(files).add_to_class_path(&entry);
        }
    }

    pub(crate) fn watches_files(&self) -> bool {
        self.files.get().is_some()
    }

    pub(crate) fn file_looked_at(&self, path: &[u8]) {
        self.add_finding(|files| files.look(path, files::is_loader_opening()));
    }

    pub(crate) fn file_opened(&self, path: &[u8]) {
        self.add_finding(|files| files.open(path, files::is_loader_opening()));
    }

    pub(crate) fn directory_listed(&self, path: &[u8]) {
        self.add_finding(|files| files.list(path));
    }

    /// A path was made canonical: where links are on the way, their targets
    /// matter.
    pub(crate) fn links_resolved(&self, path: &[u8]) {
        self.add_finding(|files| files.resolve(path));
    }

    pub(crate) fn file_made(&self, path: &[u8]) {
        if let Some(files) = self.files.get() {
            lock(files).made(path);
        }
    }

    pub(crate) fn link_made(&self, link: &[u8], target: &[u8]) {
        if let Some(files) = self.files.get() {
            lock(files).linked(link, target);
        }
    }

    /// The lock on files is given back before the ledger's is taken.
    pub(super) fn add_finding(&self, find: impl FnOnce(&mut Files) -> Option<Finding>) {
        let Some(files) = self.files.get() else {
            return;
        };
        let (finding, full) = {
            let mut files = lock(files);
            (find(&mut files), files.is_full())
        };
        if full && self.is_dormant() {
            // A build tool may go through a whole disk before it runs a test
            // in its own JVM, which then proves nothing.
            if !self.lost_files.swap(true, Ordering::Relaxed) {
                self.doubt("too many files were read before the first test");
            }
            return;
        }
        match finding {
            Some(Finding::Use(thing)) => lock(&self.ledger).add_thing(thing),
            Some(Finding::UseInTest(thing)) => {
                let mut ledger = lock(&self.ledger);
                if !ledger.open_windows().is_empty() {
                    ledger.add_thing(thing);
                }
            }
            None => {}
        }
    }
}

fn application_loader(jni: Jni<'_>) -> Option<Local<'_>> {
    let loaders = jni.find_class("java/lang/ClassLoader")?;
    jni.static_object(loaders, c"scl", c"Ljava/lang/ClassLoader;")
}

/// Where the boot loader and that of extensions look for resources on Java 8.
pub(super) fn jdk_class_paths(jni: Jni<'_>) -> Vec<Global> {
    const PATH: &CStr = c"Lsun/misc/URLClassPath;";
    let boot = jni
        .find_class("sun/misc/Launcher$BootClassPathHolder")
        .and_then(|holder| jni.static_object(holder, c"bcp", PATH));
    let extensions = application_loader(jni)
        .and_then(|loader| jni.field(loader, c"parent", c"Ljava/lang/ClassLoader;"))
        .and_then(|loader| jni.field(loader, c"ucp", PATH));
    let found = [boot, extensions].into_iter().flatten();
    found.filter_map(|path| jni.global(path)).collect()
}

/// Where the application's loader looks for classes.
fn application_class_path(jni: Jni<'_>) -> Option<Local<'_>> {
    let loader = application_loader(jni)?;
    jni.field(loader, c"ucp", c"Ljdk/internal/loader/URLClassPath;")
        .or_else(|| jni.field(loader, c"ucp", c"Lsun/misc/URLClassPath;"))
}

fn setting_name(jni: Jni<'_>, name: Option<Local<'_>>) -> String {
    name.and_then(|name| jni.string(name))
        .unwrap_or_else(|| settings::EVERYTHING.to_owned())
}
