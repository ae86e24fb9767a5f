//! Child JVMs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Finished, Jdk, Run, RunError};

/// One run of a main class in its own JVM.
///
/// Variables that would smuggle options into the JVM are removed from its
/// environment, so that a test sees the same JVM everywhere.
#[derive(Debug)]
pub struct JavaRun {
    run: Run,
    classpath: Vec<PathBuf>,
    main: String,
    arguments: Vec<OsString>,
}

impl JavaRun {
    pub fn new(jdk: &Jdk, main: impl Into<String>) -> Self {
        let run = Run::new(jdk.java())
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS")
            .env_remove("_JAVA_OPTIONS")
            .env_remove("CLASSPATH");
        Self {
            run,
            classpath: Vec::new(),
            main: main.into(),
            arguments: Vec::new(),
        }
    }

    /// Adds options of the JVM, as `-Xverify:all`.
    #[must_use]
    pub fn jvm_args<S: AsRef<OsStr>>(mut self, options: impl IntoIterator<Item = S>) -> Self {
        self.run = self.run.args(options);
        self
    }

    /// Adds jars and class folders.
    #[must_use]
    pub fn classpath<P: Into<PathBuf>>(mut self, entries: impl IntoIterator<Item = P>) -> Self {
        self.classpath.extend(entries.into_iter().map(Into::into));
        self
    }

    /// Adds arguments of the main class.
    #[must_use]
    pub fn args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.run = self.run.env(name, value);
        self
    }

    #[must_use]
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.run = self.run.current_dir(folder);
        self
    }

    /// After this time the JVM is killed; two minutes unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.run = self.run.timeout(timeout);
        self
    }

    /// Runs the JVM to its end, whatever its exit code.
    pub fn finish(self) -> Result<Finished, RunError> {
        self.into_run().finish()
    }

    /// Runs the JVM and takes any end but success as an error.
    pub fn succeed(self) -> Result<Finished, RunError> {
        self.into_run().succeed()
    }

    fn into_run(self) -> Run {
        let entries: Vec<_> = self
            .classpath
            .iter()
            .map(|entry| entry.as_os_str())
            .collect();
        let mut run = self.run;
        // An empty class path would mean the current folder, so none is given.
        if !entries.is_empty() {
            run = run.arg("-cp").arg(entries.join(OsStr::new(":")));
        }
        run.arg(self.main).args(self.arguments)
    }
}

#[cfg(test)]
mod jvm_tests {
    use super::*;
    use crate::compile;

    const PROGRAM: &str = r#"
        public class Program {
            public static void main(String[] args) throws Exception {
                System.out.println(System.getProperty("p") + " " + System.getenv("E"));
                System.out.println(new java.io.File(".").getCanonicalPath());
                System.err.println(String.join(",", args));
                if (args[0].equals("hang")) Thread.sleep(600_000);
                System.exit(args.length);
            }
        }"#;

    fn program() -> (tempfile::TempDir, JavaRun) {
        let classes = tempfile::tempdir().unwrap();
        let jdk = Jdk::default();
        compile(&jdk, &[("Program.java", PROGRAM)], &[], &[], classes.path()).unwrap();
        let run = JavaRun::new(&jdk, "Program").classpath([classes.path()]);
        (classes, run)
    }

    #[test]
    fn all_settings_reach_the_program_and_all_it_says_comes_back() {
        let (classes, run) = program();
        let finished = run
            .jvm_args(["-Xverify:all", "-Dp=property"])
            .env("E", "environment")
            .args(["a", "b c"])
            .current_dir(classes.path())
            .finish()
            .unwrap();
        let folder = classes.path().canonicalize().unwrap();
        assert_eq!(finished.code(), Some(2));
        assert_eq!(
            finished.stdout,
            format!("property environment\n{}\n", folder.display())
        );
        assert!(finished.stderr.ends_with("a,b c\n"), "{}", finished.stderr);
    }

    #[test]
    fn a_jvm_that_hangs_is_killed_and_the_error_says_so() {
        let (_classes, run) = program();
        let error = run
            .args(["hang"])
            .timeout(Duration::from_secs(5))
            .finish()
            .unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("did not end within 5s and was killed")
        );
    }

    #[test]
    fn a_class_that_does_not_verify_fails_the_run() {
        let (classes, run) = program();
        let path = classes.path().join("Program.class");
        let mut bytes = std::fs::read(&path).unwrap();
        // `aload_0; arraylength` becomes `aload_0; athrow`: an array is no
        // Throwable, which only the verifier minds.
        let at = bytes.windows(2).rposition(|w| w == [0x2a, 0xbe]).unwrap();
        bytes[at + 1] = 0xbf;
        std::fs::write(&path, bytes).unwrap();
        let finished = run.jvm_args(["-Xverify:all"]).args(["a"]).finish().unwrap();
        assert!(!finished.success());
        assert!(
            finished.stderr.contains("VerifyError"),
            "{}",
            finished.stderr
        );
    }
}
