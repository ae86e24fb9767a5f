//! What a user sees, screen by screen, on a real project that is run through
//! `fewest exec`.

mod screens_support;

use screens_support::{Demo, NEGATED_OTHERWISE, filters, output, screen};

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use std::fs;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    fn git(demo: &Demo, args: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@b"])
            .args(args)
            .current_dir(demo.project.root())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    }

    #[test]
    fn a_story_from_the_first_run_to_a_change() {
        let mut demo = Demo::new();
        git(&demo, &["init", "-q"]);
        git(&demo, &["commit", "-q", "--allow-empty", "-m", "one"]);
        let first = screen(&demo.exec(&[]));
        let again = screen(&demo.exec(&[]));
        demo.edit("Complex", NEGATED_OTHERWISE);
        let select = output(&demo.fewest(&["select"]));
        let why = output(&demo.fewest(&["why", "NegateTest"]));
        let why_not = output(&demo.fewest(&["why", "demo.AddTest"]));
        let covers = output(&demo.fewest(&["covers", "Complex#negate"]));
        let changed = screen(&demo.exec(&["--verbose"]));
        let status = output(&demo.fewest(&["status"]));
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(first, @r"
            fewest: hybrid, no records yet: everything runs and is recorded
            fewest: 2 run, 0 proven unaffected, 0 doubts; [time]
            exit 0
            ");
            insta::assert_snapshot!(again, @r"
            fewest: hybrid, 2 test classes, records from [commit]
            fewest: 0 run, 2 proven unaffected, 0 doubts; [time] instead of about [time]
            exit 0
            ");
            insta::assert_snapshot!(select, @r"
            skip  demo.AddTest
            run   demo.NegateTest  Complex.negate() changed
            1 of 2 known test classes would run

            exit 0
            ");
            insta::assert_snapshot!(why, @r"
            demo.NegateTest would run
              because    Complex.negate() changed
              recorded   [moment] at [commit], [some] things used, [time]
              last runs  passed ([moment])

            exit 0
            ");
            insta::assert_snapshot!(why_not, @r"
            demo.AddTest would not run: all that it used is as it was
              recorded   [moment] at [commit], [some] things used, [time]
              last runs  passed ([moment])

            exit 0
            ");
            insta::assert_snapshot!(covers, @r"
            1 test class uses demo.Complex.negate()
              demo.NegateTest

            exit 0
            ");
            insta::assert_snapshot!(changed, @r"
            fewest: hybrid, 2 test classes, records from [commit]
            fewest: demo.NegateTest ran: Complex.negate() changed
            fewest: demo.AddTest left out
            fewest: 1 run, 1 proven unaffected, 0 doubts; [time] instead of about [time]
            exit 0
            ");
            insta::assert_snapshot!(status, @r"
            project    [project]
            technique  hybrid
            store      [size]
            tests      2 test classes with records
            records    3, from [commit]
            last run   [moment] at [commit]: `[java]` with hybrid, some tests were left out

            exit 0
            ");
        });
    }

    #[test]
    fn quiet_means_quiet_and_the_build_keeps_its_output_and_exit_code() {
        let mut demo = Demo::new();
        let first = demo.exec(&["--quiet"]);
        assert_eq!((first.stderr.as_str(), first.code()), ("", Some(0)));
        assert!(first.stdout.contains("OK (2 tests)"), "{}", first.stdout);
        demo.edit("Complex", ("(-re, -im)", "(re, im)"));
        let broken = demo.exec(&["--quiet"]);
        assert_eq!((broken.stderr.as_str(), broken.code()), ("", Some(1)));
        assert!(broken.stdout.contains("Tests run: 1,  Failures: 1"));
        // A failed test runs again until it passes.
        let again = demo.exec(&[]);
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(screen(&again), @r"
            fewest: hybrid, 2 test classes
            fewest: 1 run, 1 proven unaffected, 0 doubts; [time] instead of about [time]
            fewest: first failure after [time], the first of 1 test class
            exit 1
            ");
        });
    }

    #[test]
    fn a_report_tells_of_each_test() {
        let mut demo = Demo::new();
        demo.exec(&[]);
        demo.edit("Complex", NEGATED_OTHERWISE);
        demo.exec(&["--report", "run.json"]);
        let report: serde_json::Value =
            serde_json::from_str(&demo.project.read("run.json")).unwrap();
        insta::assert_json_snapshot!(report, {
            ".analysisMillis" => "[millis]",
            ".tests[].millis" => "[millis]",
        }, @r#"
        {
          "analysisMillis": "[millis]",
          "entity": "class",
          "format": 1,
          "interrupted": false,
          "order": {
            "apfd": null,
            "apfdByCost": null,
            "budget": null,
            "by": "auto",
            "firstFailure": null,
            "followed": null,
            "seed": 0,
            "shard": null
          },
          "shadow": false,
          "technique": "hybrid",
          "tests": [
            {
              "doubts": [],
              "leftOut": null,
              "millis": "[millis]",
              "module": "",
              "outcome": "passed",
              "place": 1,
              "proven": false,
              "reasons": [
                "Complex.negate() changed"
              ],
              "recorded": true,
              "test": "demo.NegateTest",
              "verdict": "run"
            },
            {
              "doubts": [],
              "leftOut": null,
              "millis": "[millis]",
              "module": "",
              "outcome": null,
              "place": null,
              "proven": true,
              "reasons": [],
              "recorded": false,
              "test": "demo.AddTest",
              "verdict": "skip"
            }
          ],
          "warnings": [],
          "whole": {}
        }
        "#);
    }

    #[test]
    fn a_shadow_run_is_loud_about_what_would_have_been_missed() {
        // What comes in from a pipe is nothing that fewest looks at.
        let demo = Demo::with(&[(
            "PipeTest",
            "if (System.in.read() != 'y') throw new Error();",
        )]);
        let run = |word: &str, answer: &str| {
            let script = demo.script(&format!("echo {answer} | $JUNIT"));
            let mut args = vec![word.to_owned()];
            if word == "shadow" {
                args.push("exec".into());
            }
            args.extend(script);
            screen(&demo.run().args(args).finish().unwrap())
        };
        run("exec", "yes");
        let agrees = run("shadow", "yes");
        let fails = run("shadow", "no");
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(agrees, @r"
            fewest: hybrid, 3 test classes
            fewest: shadow: 3 of 3 test classes would have been left out, and none of them failed
            exit 0
            ");
            insta::assert_snapshot!(fails, @r"
            fewest: hybrid, 3 test classes
            fewest: shadow: 1 of the 3 that would have been left out FAILED: PipeTest. Either the test is flaky, or its failure has a cause that fewest does not see; `fewest why` tells what is known of it
            fewest: first failure after [time], the third of 3 test classes
            exit 1
            ");
        });
    }

    #[test]
    fn collecting_later_shows_the_result_first_and_off_learns_nothing() {
        let demo = Demo::new();
        let off = screen(&demo.exec(&["--collect", "off"]));
        let later = demo.exec(&["--collect", "later"]);
        assert_eq!(later.stdout.matches("OK (2 tests)").count(), 1);
        let after = screen(&demo.exec(&[]));
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(off, @r"
            fewest: hybrid, no records yet: everything runs
            fewest: without the agent nothing can be left out of a plain command
            fewest: nothing was watched, so nothing was learned
            exit 0
            ");
            insta::assert_snapshot!(screen(&later), @r"
            fewest: hybrid, no records yet: everything runs
            fewest: without the agent nothing can be left out of a plain command
            fewest: running the selected tests once more to learn what they use
            fewest: 2 recorded
            exit 0
            ");
            insta::assert_snapshot!(after, @r"
            fewest: hybrid, 2 test classes
            fewest: 0 run, 2 proven unaffected, 0 doubts; [time] instead of about [time]
            exit 0
            ");
        });
    }

    #[test]
    fn what_is_learned_in_the_background_counts_as_any() {
        let demo = Demo::new();
        let first = demo.exec(&["--background"]);
        assert_eq!(first.stdout.matches("OK (2 tests)").count(), 1);
        while demo.fewest(&["status"]).stdout.contains("running ")
            || !demo.project.exists(".fewest/last")
        {
            std::thread::sleep(Duration::from_millis(50));
        }
        let after = screen(&demo.exec(&[]));
        let both = demo.exec(&["--background", "--collect", "now"]);
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(screen(&first), @r"
            fewest: hybrid, no records yet: everything runs
            fewest: without the agent nothing can be left out of a plain command
            fewest: process [number] learns in the background what the tests use; `fewest status` tells whether it still does
            exit 0
            ");
            insta::assert_snapshot!(after, @r"
            fewest: hybrid, 2 test classes
            fewest: 0 run, 2 proven unaffected, 0 doubts; [time] instead of about [time]
            exit 0
            ");
        });
        assert_eq!(both.code(), Some(2), "{}", both.stderr);
    }

    #[test]
    fn a_run_that_is_started_meanwhile_ends_the_one_in_the_background() {
        // Hangs when it runs for the second time.
        let body = "java.io.File once = new java.io.File(\"once\"), twice = new java.io.File(\"twice\");\
             if (!once.createNewFile() && twice.createNewFile()) Thread.sleep(600_000);";
        let demo = Demo::with(&[("SleepTest", body)]);
        demo.exec(&["--background"]);
        while !demo.project.exists("twice") {
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = demo.fewest(&["status"]).stdout;
        let meanwhile = demo.exec(&[]);
        assert!(meanwhile.stdout.contains("OK ("), "{}", meanwhile.stdout);
        let after = demo.fewest(&["status"]).stdout;
        assert!(!after.contains("running "), "{after}");
        assert_eq!(
            fs::read_dir(demo.project.path(".fewest/runs"))
                .unwrap()
                .count(),
            0
        );
        let running = status.lines().find(|line| line.starts_with("running "));
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(running.unwrap(), @"running    `[java]` in the background since [moment] as process [number]");
            insta::assert_snapshot!(screen(&meanwhile), @r"
            fewest: ended the run in the background; what it had learned is kept
            fewest: hybrid, 2 test classes
            fewest: 1 run, 2 proven unaffected, 0 doubts; [time] instead of about [time]
            exit 0
            ");
        });
    }

    #[test]
    fn the_project_file_decides_what_else_counts() {
        let demo = Demo::new();
        demo.project.write("schema/a.sql", "one");
        demo.project.write(
            "fewest.toml",
            "always-run = 'Add*'\nenvironment = 'DEMO_REGION'\n\
             [[inputs]]\ntests = '*NegateTest'\nfiles = 'schema/**/*.sql'\n",
        );
        demo.exec(&[]);
        let reasons = || {
            let shown = demo.exec(&["--verbose"]).stderr;
            shown
                .lines()
                .filter(|line| line.contains("Test "))
                .map(|line| line.trim_start_matches("fewest: ").to_owned())
                .collect::<Vec<_>>()
        };
        let always = "demo.AddTest ran: the project lists it as one that always runs";
        assert_eq!(reasons(), [always, "demo.NegateTest left out"]);
        demo.project.write("schema/a.sql", "two");
        assert_eq!(
            reasons(),
            [always, "demo.NegateTest ran: the file schema/a.sql changed"]
        );
        demo.project.write("schema/deep/b.sql", "new");
        assert_eq!(
            reasons(),
            [
                always,
                "demo.NegateTest ran: the files that match schema/**/*.sql changed"
            ]
        );
        demo.project.write("schema/readme.txt", "not an input");
        assert_eq!(reasons(), [always, "demo.NegateTest left out"]);
        let other = demo
            .run()
            .env("DEMO_REGION", "north")
            .args(["exec", "--verbose", "--"])
            .args(demo.junit(&[]))
            .finish()
            .unwrap();
        assert!(
            other
                .stderr
                .contains("demo.NegateTest ran: environment variable DEMO_REGION is new: `north`"),
            "{}",
            other.stderr
        );
    }

    #[test]
    fn an_input_that_a_record_does_not_know_is_no_proof() {
        let demo = Demo::new();
        demo.exec(&[]);
        demo.project.write(
            "fewest.toml",
            "[[inputs]]\ntests = 'NegateTest'\nfiles = 'schema/*'\n",
        );
        let shown = demo.exec(&["--verbose"]).stderr;
        assert!(
            shown.contains("demo.NegateTest ran: its record is older than its input `schema/*`"),
            "{shown}"
        );
        assert!(shown.contains("demo.AddTest left out"), "{shown}");
    }

    #[test]
    fn every_third_run_is_full_if_the_project_wants_it() {
        let demo = Demo::new();
        demo.project.write("fewest.toml", "full-run-every = 3\n");
        let ran: Vec<bool> = (0..7)
            .map(|_| demo.exec(&[]).stderr.contains("fewest: 2 run"))
            .collect();
        assert_eq!(ran, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn ignored_files_never_count() {
        let body = "java.nio.file.Files.readAllBytes(java.nio.file.Paths.get(\"tmp/a.txt\"));";
        let demo = Demo::with(&[("ReadTest", body)]);
        demo.project.write("tmp/a.txt", "one");
        demo.project
            .write("fewest.toml", "ignored-files = 'tmp/**'\n");
        demo.exec(&[]);
        demo.project.write("tmp/a.txt", "two");
        let ignored = demo.exec(&[]).stderr;
        assert!(ignored.contains("fewest: 0 run"), "{ignored}");
        // Without the setting the old records say nothing of the file.
        demo.project.write("fewest.toml", "");
        let counted = demo.exec(&["--verbose"]).stderr;
        assert!(
            counted.contains("demo.ReadTest ran: ignored-files is gone, it was `tmp/**`"),
            "{counted}"
        );
    }

    #[test]
    fn ctrl_c_loses_nothing_that_was_done() {
        let hang = "new java.io.File(\"started\").createNewFile(); Thread.sleep(600_000);";
        let demo = Demo::with(&[("SleepTest", hang)]);
        let child = Command::new(env!("CARGO_BIN_EXE_fewest"))
            .arg("exec")
            .args(demo.junit(&[]))
            .current_dir(demo.project.root())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !demo.project.exists("started") {
            std::thread::sleep(Duration::from_millis(20));
        }
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130));
        let shown = String::from_utf8(ended.stderr).unwrap();
        let select = output(&demo.fewest(&["select"]));
        assert_eq!(
            fs::read_dir(demo.project.path(".fewest/runs"))
                .unwrap()
                .count(),
            0
        );
        filters(demo.project.root()).bind(|| {
            insta::assert_snapshot!(shown, @r"
            fewest: hybrid, no records yet: everything runs and is recorded
            fewest: interrupted; what had come to its end is kept
            fewest: 3 run, 0 proven unaffected, 0 doubts; [time]
            ");
            insta::assert_snapshot!(select, @r"
            skip  demo.AddTest
            skip  demo.NegateTest
            run   demo.SleepTest  it did not come to its end when it last ran
            1 of 3 known test classes would run

            exit 0
            ");
        });
    }

    #[test]
    fn doctor_finds_what_a_run_needs() {
        let demo = Demo::new();
        demo.exec(&[]);
        let healthy = demo.fewest(&["doctor"]);
        assert_eq!(healthy.code(), Some(0), "{}", healthy.stdout);
        for line in [
            "agent     loads into",
            "store     sound, 2 records of 2 test classes",
            "everything that a run needs is there",
        ] {
            assert!(healthy.stdout.contains(line), "{line}: {}", healthy.stdout);
        }
        demo.project.write("fewest.toml", "tecnique = 'file'");
        let unhealthy = demo.fewest(&["doctor"]);
        assert_eq!(unhealthy.code(), Some(1));
        assert!(
            unhealthy.stdout.contains("did you mean `technique`?")
                && unhealthy.stdout.contains("1 problem\n"),
            "{}",
            unhealthy.stdout
        );
    }
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let project = fewest_testkit::TestProject::new();
    let fewest = |args: &[&str]| {
        let run = project.run(env!("CARGO_BIN_EXE_fewest")).args(args);
        output(&run.finish().unwrap())
    };
    filters(project.root()).bind(|| {
        insta::assert_snapshot!(fewest(&["why", "FooTest"]), @r"
        fewest: there is no store at `[project]/.fewest/store.db`
        hint: run your tests once under `fewest mvn` or `fewest exec` to make one
        exit 1
        ");
        insta::assert_snapshot!(fewest(&["exec", "no-such-program"]), @r"
        fewest: hybrid, no records yet: everything runs and is recorded
        fewest: failed to start `no-such-program`: No such file or directory (os error 2)
        hint: is it installed, and on the PATH?
        exit 127
        ");
        insta::assert_snapshot!(fewest(&["init"]), @r"
        wrote `./fewest.toml`; all of it is commented out, so nothing has changed yet

        exit 0
        ");
        insta::assert_snapshot!(fewest(&["init"]), @r"
        fewest: `./fewest.toml` is there already and stays as it is
        exit 1
        ");
        project.write("fewest.toml", "# mine\n\ndebug_info = 'track'\n");
        insta::assert_snapshot!(fewest(&["exec", "touch", "it-ran"]), @r"
        fewest: `[project]/fewest.toml`, line 3: `debug_info` is no key; did you mean `debug-info`?
        hint: `docs/reference/configuration.md` describes every key; `fewest init` writes an example
        exit 78
        ");
        assert!(!project.exists("it-ran"));
    });
}

#[test]
fn the_help_is_for_someone_who_has_never_seen_the_tool() {
    let project = fewest_testkit::TestProject::new();
    let help = |args: &[&str]| {
        let run = project.run(env!("CARGO_BIN_EXE_fewest")).args(args);
        run.finish().unwrap().stdout
    };
    insta::assert_snapshot!(help(&["--help"]));
    insta::assert_snapshot!(help(&["exec", "--help"]));
}
