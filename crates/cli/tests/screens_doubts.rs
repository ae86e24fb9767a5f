//! Doubt selects: whatever is not as it should be makes tests run, and a line
//! says why. The safe path is the one that nobody sees break.

mod screens_support;

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use std::fs;
    use std::os::unix::fs::FileExt;
    use std::process::Command;

    use fewest_testkit::{Finished, Jdk};

    use super::screens_support::{Demo, NEGATED_OTHERWISE, filters, screen};

    /// Recorded, and nothing has changed since.
    fn recorded() -> Demo {
        let demo = Demo::new();
        demo.exec(&[]);
        demo
    }

    fn everything_ran(finished: &Finished) -> bool {
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        finished.stdout.contains("OK (2 tests)")
    }

    fn nothing_ran(finished: &Finished) -> bool {
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        finished.stdout.contains("OK (0 tests)")
    }

    #[test]
    fn a_damaged_store_is_set_aside_and_everything_runs() {
        let demo = recorded();
        let store = demo.project.path(".fewest/store.db");
        let file = fs::File::options().write(true).open(&store).unwrap();
        file.write_all_at(&[0x5a; 3000], 200).unwrap();
        drop(file);
        let doubtful = demo.exec(&[]);
        assert!(everything_ran(&doubtful), "{}", doubtful.stdout);
        let shown = screen(&doubtful);
        assert!(shown.contains("but everything runs: the store"), "{shown}");
        assert!(shown.contains("was set aside as"), "{shown}");
        assert!(nothing_ran(&demo.exec(&[])));
    }

    #[test]
    fn a_store_of_a_newer_fewest_is_left_alone_and_everything_runs() {
        let demo = recorded();
        let store = demo.project.path(".fewest/store.db");
        let file = fs::File::options().write(true).open(&store).unwrap();
        // The version of the schema in the header of the file.
        file.write_all_at(&99_u32.to_be_bytes(), 60).unwrap();
        drop(file);
        let before = fs::read(&store).unwrap();
        let doubtful = demo.exec(&[]);
        assert!(everything_ran(&doubtful), "{}", doubtful.stdout);
        assert_eq!(fs::read(&store).unwrap(), before);
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(screen(&doubtful), @r"
            fewest: hybrid, but everything runs: the store `[project]/.fewest/store.db` has format 99, this fewest knows formats up to 2: use a newer fewest, or move the file away to start anew
            fewest: nothing was learned from this run: the store `[project]/.fewest/store.db` has format 99, this fewest knows formats up to 2: use a newer fewest, or move the file away to start anew
            exit 0
            ");
        });
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_what_would_be_learned() {
        let mut demo = recorded();
        let folder = demo.project.path(".fewest");
        let Some(_guard) = ReadOnly::make(&folder) else {
            return;
        };
        // What is known is still good.
        assert!(nothing_ran(&demo.exec(&[])));
        demo.edit("Complex", NEGATED_OTHERWISE);
        let doubtful = demo.exec(&[]);
        assert!(doubtful.stdout.contains("OK (1 test)"));
        let shown = screen(&doubtful);
        assert!(
            shown.contains(
                "fewest: nothing is learned from this run: failed to use the run's folder"
            ),
            "{shown}"
        );
        let again = demo.exec(&[]);
        assert!(again.stdout.contains("OK (1 test)"));
    }

    /// A folder on a read-only file system, as long as this lives.
    struct ReadOnly(std::path::PathBuf);

    impl ReadOnly {
        fn make(folder: &std::path::Path) -> Option<Self> {
            let mount = |args: &[&str]| {
                let status = Command::new("mount").args(args).arg(folder).status();
                status.is_ok_and(|status| status.success())
            };
            let path = folder.to_str().unwrap();
            let bound = mount(&["--bind", path]) && mount(&["-o", "remount,bind,ro"]);
            if !bound {
                println!("skipped: this user may not mount a file system");
            }
            bound.then(|| Self(folder.to_owned()))
        }
    }

    impl Drop for ReadOnly {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }

    #[test]
    fn an_agent_that_cannot_be_unpacked_leaves_the_build_as_it_is() {
        let demo = recorded();
        demo.project.write("a-file", "");
        let run = |args: &[&str]| {
            demo.run()
                .env("FEWEST_CACHE", demo.project.path("a-file"))
                .args(args)
                .args(demo.junit(&[]))
                .finish()
                .unwrap()
        };
        let doubtful = run(&["exec"]);
        assert!(everything_ran(&doubtful), "{}", doubtful.stdout);
        let shown = screen(&doubtful);
        assert!(
            shown.contains("nothing is learned from this run: failed to unpack the agent"),
            "{shown}"
        );
    }

    #[test]
    fn a_jvm_that_is_killed_proves_nothing() {
        let hang = "new java.io.File(\"started\").createNewFile(); \
                    if (!new java.io.File(\"go\").exists()) Thread.sleep(600_000);";
        let demo = Demo::with(&[("SleepTest", hang)]);
        let killed = demo.exec_line(
            &[],
            demo.script(
                "$JUNIT & jvm=$!; \
                 while [ ! -e started ]; do sleep 0.05; done; \
                 kill -9 $jvm; wait $jvm",
            ),
        );
        assert_eq!(killed.code(), Some(137));
        demo.project.write("go", "");
        let again = demo.exec(&["--verbose"]);
        assert!(again.stdout.contains("OK (3 tests)"), "{}", again.stdout);
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(screen(&killed), @r"
            fewest: hybrid, no records yet: everything runs and is recorded
            fewest: no proof, so they run again: AddTest, NegateTest, SleepTest (its JVM did not end in an orderly way)
            fewest: 3 run, 0 proven unaffected, 3 doubts; [time]
            fewest: first failure after [time], the third of 3 test classes
            exit 137
            ");
            insta::assert_snapshot!(screen(&again), @r"
            fewest: hybrid, no records yet: everything runs and is recorded
            fewest: demo.AddTest ran: its last run proved nothing: its JVM did not end in an orderly way
            fewest: demo.NegateTest ran: its last run proved nothing: its JVM did not end in an orderly way
            fewest: demo.SleepTest ran: it did not come to its end when it last ran
            fewest: 3 run, 0 proven unaffected, 0 doubts; [time]
            exit 0
            ");
        });
    }

    #[test]
    fn jvm_arguments_and_properties_that_changed_are_named() {
        let demo = recorded();
        for (args, reason) in [
            (
                ["-Xss2m", "-ea"],
                "JVM arguments changed from `` to `-Xss2m -ea`",
            ),
            (
                ["-Xss2m", "-Dregion=north"],
                "JVM arguments changed from `-Xss2m -ea` to `-Xss2m -Dregion=north`",
            ),
        ] {
            let doubtful = demo.exec_line(&["--verbose"], demo.junit(&args));
            assert!(everything_ran(&doubtful), "{}", doubtful.stdout);
            assert!(
                doubtful
                    .stderr
                    .contains(&format!("demo.AddTest ran: {reason}")),
                "{}",
                doubtful.stderr
            );
        }
        // The records of before are still good.
        assert!(nothing_ran(&demo.exec(&[])));
    }

    #[test]
    fn another_jdk_is_named() {
        let mut demo = recorded();
        let Some(other) = Jdk::all()
            .into_iter()
            .find(|jdk| jdk.version() != Jdk::default().version())
        else {
            println!("skipped: there is only one JDK");
            return;
        };
        demo.java = other.java();
        let doubtful = demo.exec(&["--verbose"]);
        assert!(everything_ran(&doubtful), "{}", doubtful.stdout);
        assert!(
            doubtful
                .stderr
                .contains("demo.AddTest ran: JDK changed from "),
            "{}",
            doubtful.stderr
        );
    }

    #[test]
    fn class_files_that_change_during_the_run_prove_nothing() {
        let write = "java.nio.file.Path late = java.nio.file.Paths.get(\"classes/demo/Late.class\"); \
             java.nio.file.Files.write(late, new byte[] { 1, 2, 3 });";
        let demo = Demo::with(&[("WriteTest", write)]);
        let changed = demo.exec(&[]);
        let again = demo.exec(&[]);
        assert!(again.stdout.contains("OK (3 tests)"), "{}", again.stdout);
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(screen(&changed), @r"
            fewest: hybrid, no records yet: everything runs and is recorded
            fewest: no proof, so they run again: AddTest, NegateTest, WriteTest (class files changed while the tests ran)
            fewest: 3 run, 0 proven unaffected, 3 doubts; [time]
            exit 0
            ");
        });
    }

    /// What is written while the tests run may not be what a test read.
    #[test]
    fn things_that_a_test_used_and_that_change_during_the_run_prove_nothing() {
        let read = "new java.util.Scanner(\
             ReadTest.class.getResourceAsStream(\"/words.txt\")).next(); \
             java.nio.file.Files.readAllBytes(java.nio.file.Paths.get(\"a.txt\")); \
             new java.io.File(\"folder\").list();";
        // Runs after the others, by its name.
        let write = "if (System.getProperty(\"write\") != null) \
             java.nio.file.Files.write(java.nio.file.Paths.get(\
             System.getProperty(\"write\")), new byte[] { 'b' });";
        let demo = Demo::with(&[("ReadTest", read), ("WriteTest", write)]);
        demo.project.write("classes/words.txt", "a");
        demo.project.write("a.txt", "a");
        demo.project.write("folder/a.txt", "a");
        for (written, doubt) in [
            (
                "classes/words.txt",
                "the resource words.txt changed while the tests ran",
            ),
            (
                "a.txt",
                "the file [project]/a.txt changed while the test ran",
            ),
            (
                "folder/b.txt",
                "the directory [project]/folder changed while the tests ran",
            ),
        ] {
            let line = demo.junit(&[&format!("-Dwrite={written}")]);
            let finished = demo.exec_line(&["--verbose"], line.clone());
            assert_eq!(finished.code(), Some(0), "{}", finished.stdout);
            let root = fs::canonicalize(demo.project.root()).unwrap();
            let shown = finished.stderr.replace(root.to_str().unwrap(), "[project]");
            let told = format!("fewest: demo.ReadTest proved nothing: {doubt}");
            assert!(shown.contains(&told), "{shown}");
            assert!(!shown.contains("demo.AddTest proved nothing"), "{shown}");
            // The same once more: now nothing but this test has anything to do.
            let again = demo.exec_line(&["--verbose"], line).stderr;
            assert!(again.contains("demo.ReadTest ran: "), "{again}");
            assert!(again.contains("demo.AddTest left out"), "{again}");
        }
    }

    #[test]
    fn a_pass_in_another_environment_does_not_make_up_for_a_failure_in_this_one() {
        let pipe = "if (System.in.read() != 'y') throw new Error();";
        let demo = Demo::with(&[("PipeTest", pipe)]);
        let run = |answer: &str, jvm_args: &str| {
            let line = demo.script(&format!("echo {answer} | $JUNIT"));
            let line = line
                .iter()
                .map(|word| word.replace("java -cp", &format!("java {jvm_args} -cp")));
            demo.exec_line(&["--verbose"], line.collect()).stderr
        };
        run("yes", "");
        run("yes", "-Xss2m");
        // A failure can only be seen where everything runs.
        demo.project
            .write("fewest.toml", "always-run = 'PipeTest'\n");
        let failed = run("no", "");
        assert!(failed.contains("demo.PipeTest ran"), "{failed}");
        run("yes", "-Xss2m");
        demo.project.remove("fewest.toml");
        let here = run("yes", "");
        assert!(
            here.contains("demo.PipeTest ran: it failed when it last ran"),
            "{here}"
        );
        let again = run("yes", "");
        assert!(again.contains("demo.PipeTest left out"), "{again}");
    }

    #[test]
    fn a_class_file_that_cannot_be_read_is_no_ground_for_proof() {
        let load = "try { Class.forName(\"demo.Broken\"); } catch (LinkageError expected) {}";
        let demo = Demo::with(&[("LoadTest", load)]);
        demo.project.write("classes/demo/Broken.class", [1, 2, 3]);
        demo.exec(&[]);
        let again = demo.exec(&["--verbose"]);
        assert!(again.stdout.contains("OK (1 test)"), "{}", again.stdout);
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(screen(&again), @r"
            fewest: hybrid, 2 test classes
            fewest: demo.LoadTest ran: its last run proved nothing: a class could not be rewritten: cut short: 1 more bytes expected at offset 0
            fewest: demo.LoadTest proved nothing: a class could not be rewritten: cut short: 1 more bytes expected at offset 0
            fewest: demo.AddTest left out
            fewest: demo.NegateTest left out
            fewest: no proof, so they run again: LoadTest (a class could not be rewritten: cut short: 1 more bytes expected at offset 0)
            fewest: 1 run, 2 proven unaffected, 1 doubt; [time] instead of about [time]
            exit 0
            ");
        });
    }

    #[test]
    fn a_jar_that_is_replaced_runs_the_tests_that_can_notice() {
        let mut demo = Demo::new();
        let jar = |demo: &Demo| {
            let root = demo.project.root();
            let tool = Jdk::default().home().join("bin/jar");
            let status = Command::new(tool)
                .args(["cf", "lib.jar", "-C", "classes", "demo/Complex.class"])
                .current_dir(root)
                .status()
                .unwrap();
            assert!(status.success());
            demo.project.remove("classes/demo/Complex.class");
        };
        let run = |demo: &Demo| {
            let mut line = demo.junit(&[]);
            line[2] = demo.class_path(&["lib.jar"]);
            demo.exec_line(&["--verbose"], line)
        };
        jar(&demo);
        assert!(everything_ran(&run(&demo)));
        assert!(nothing_ran(&run(&demo)));
        demo.edit("Complex", NEGATED_OTHERWISE);
        jar(&demo);
        let replaced = run(&demo);
        assert!(
            replaced.stdout.contains("OK (1 test)"),
            "{}",
            replaced.stderr
        );
        assert!(
            replaced
                .stderr
                .contains("demo.NegateTest ran: Complex.negate() changed"),
            "{}",
            replaced.stderr
        );
    }

    #[test]
    fn a_report_that_cannot_be_written_does_not_fail_the_build() {
        let demo = Demo::new();
        let finished = demo.exec(&["--report", "nowhere/run.json"]);
        assert!(everything_ran(&finished), "{}", finished.stdout);
        assert!(
            finished
                .stderr
                .contains("fewest: failed to write the report `nowhere/run.json`: No such file"),
            "{}",
            finished.stderr
        );
    }

    #[test]
    fn a_variable_that_a_script_sets_is_seen_as_the_tests_saw_it() {
        let read = "System.getenv(\"DEMO_REGION\");";
        let demo = Demo::with(&[("RegionTest", read)]);
        let run = |script: &str| {
            let finished = demo.exec_line(&["--verbose"], demo.script(script));
            finished.stderr
        };
        run("DEMO_REGION=north $JUNIT");
        let same = run("DEMO_REGION=north $JUNIT");
        assert!(same.contains("demo.RegionTest left out"), "{same}");
        let unset = run("$JUNIT");
        assert!(
            unset.contains("demo.RegionTest ran: the environment variable DEMO_REGION changed"),
            "{unset}"
        );
    }
}
