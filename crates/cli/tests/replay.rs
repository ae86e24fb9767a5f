//! A small history, replayed.

use fewest_testkit::TestProject;

#[test]
fn faults_that_cannot_be_read_are_an_error_before_anything_is_built() {
    let project = TestProject::new();
    let run = project
        .run(env!("CARGO_BIN_EXE_fewest"))
        .args(["replay", "--work", "work", "--known-mutants", "none.jsonl"])
        .finish()
        .unwrap();
    assert!(!run.status.success());
    assert!(run.stderr.contains("none.jsonl"), "{}", run.stderr);
    assert!(!project.path("work").exists());
}

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    use fewest_testkit::{Finished, Run, TestProject, maven_jar};
    use serde_json::Value;

    const POM: &str = "<project><modelVersion>4.0.0</modelVersion>
        <groupId>ex</groupId><artifactId>history</artifactId><version>1</version>
        <properties><maven.compiler.source>8</maven.compiler.source>
        <maven.compiler.target>8</maven.compiler.target>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
        <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId>
        <version>4.13.2</version><scope>test</scope></dependency></dependencies>
        <build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version></plugin></plugins></build></project>";

    fn adder(body: &str) -> String {
        format!("package ex; public class Adder {{ public int add(int a, int b) {{ {body} }} }}")
    }

    fn test(class: &str, check: &str) -> String {
        format!(
            "package ex; import static org.junit.Assert.*; import org.junit.Test;
            public class {class} {{ @Test public void works() {{ {check} }} }}"
        )
    }

    /// A project whose second commit breaks a test, whose third does not
    /// compile, and whose fourth is right again.
    fn history() -> TestProject {
        let project = TestProject::new();
        let git = |args: &[&str]| {
            let status = Command::new("git")
                .args(["-c", "user.name=A", "-c", "user.email=a@b"])
                .args(args)
                .current_dir(project.path("repository"))
                .status()
                .unwrap();
            assert!(status.success());
        };
        let commit = |body: &str| {
            project.write("repository/src/main/java/ex/Adder.java", adder(body));
            git(&["add", "."]);
            git(&["commit", "-q", "-m", body]);
        };
        project.write("repository/pom.xml", POM);
        project.write("repository/.gitignore", "target\n");
        project.write(
            "repository/src/main/java/ex/Text.java",
            "package ex; public class Text { public String twice(String s) { return s + s; } }",
        );
        project.write(
            "repository/src/test/java/ex/AdderTest.java",
            test("AdderTest", "assertEquals(5, new Adder().add(2, 3));"),
        );
        project.write(
            "repository/src/test/java/ex/TextTest.java",
            test("TextTest", "assertEquals(\"aa\", new Text().twice(\"a\"));"),
        );
        git(&["init", "-q"]);
        commit("return a + b;");
        commit("return a - b;");
        commit("return a");
        commit("return b + a;");
        project
    }

    fn replay(project: &TestProject, args: &[&str]) -> Finished {
        Run::new(env!("CARGO_BIN_EXE_fewest"))
            .args(["replay", "--format", "json"])
            .args(args)
            .current_dir(project.path("repository"))
            .timeout(Duration::from_secs(900))
            .finish()
            .unwrap()
    }

    /// The history up to a revision, each technique by itself, with faults.
    fn exact(project: &TestProject, args: &[&str]) -> Finished {
        let work = project.path("work");
        let own = ["--techniques", "hybrid", "--mutants", "3", "--work"];
        let mut all: Vec<&str> = own.to_vec();
        all.push(work.to_str().unwrap());
        all.extend(args);
        replay(project, &all)
    }

    fn names(value: &Value) -> Vec<&str> {
        let names = value.as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap()).collect()
    }

    #[test]
    fn a_history_with_a_broken_and_an_uncompilable_commit_is_replayed() {
        // So that Maven has it where the replay looks for it.
        maven_jar("org.junit.platform:junit-platform-console-standalone:1.13.4").unwrap();
        let project = history();
        let begun = exact(&project, &["HEAD~1"]);
        assert_eq!(begun.code(), Some(0), "{}", begun.stderr);
        cut_short_in_the_last_revision(&project);
        let finished = exact(&project, &["--last", "4", "--resume"]);
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        let result: Value = serde_json::from_str(&finished.stdout).unwrap();
        let lines = result["lines"].as_array().unwrap();
        let kinds: Vec<&Value> = lines.iter().map(|line| &line["kind"]).collect();
        assert_eq!(kinds, ["revision", "revision", "skipped", "revision"]);

        let hybrid = |line: usize| &lines[line]["techniques"]["hybrid"];
        let both = ["ex.AdderTest", "ex.TextTest"];
        assert_eq!(names(&hybrid(0)["selected"]), both);
        for line in [1, 3] {
            assert_eq!(names(&lines[line]["full"]["tests"]), both);
            assert_eq!(names(&hybrid(line)["selected"]), ["ex.AdderTest"]);
            assert!(names(&hybrid(line)["missed"]).is_empty());
        }
        assert_eq!(names(&lines[1]["full"]["failed"]), ["ex.AdderTest"]);
        assert_eq!(names(&hybrid(1)["failed"]), ["ex.AdderTest"]);
        assert!(names(&lines[3]["full"]["failed"]).is_empty());
        assert_eq!(lines[2]["subject"], "return a");
        assert_eq!(result["totals"][0]["revisions"], 2);
        let faults = &result["faults"][0];
        assert_eq!(faults["technique"], "hybrid");
        assert!(faults["found"].as_u64() > Some(0), "{faults}");
        assert!(faults["planted"].as_u64() >= faults["found"].as_u64());
        assert_eq!(faults["missed"], serde_json::json!([]));

        every_killer_was_selected(&project.path("work/mutants.jsonl"));
        another_technique_is_judged_by_the_same_faults(&project);
        nothing_of_the_user_s_was_touched(&project);
        it_says_that_the_folder_is_taken_and_resumes_when_asked(&project);
    }

    /// No test runs again for it.
    fn another_technique_is_judged_by_the_same_faults(project: &TestProject) {
        let (known, work) = (project.path("work/mutants.jsonl"), project.path("again"));
        let paths = [&known, &work].map(|path| path.to_str().unwrap());
        let options = [
            "--no-full",
            "--no-ae",
            "--techniques",
            "file",
            "--last",
            "1",
        ];
        let files = ["--known-mutants", paths[0], "--work", paths[1]];
        let finished = replay(project, &[&options[..], &files].concat());
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        let again = lines(&work.join("mutants.jsonl"));
        let before = lines(&known);
        let of_last = before.len() - again.len();
        assert_eq!(again[0]["revision"], before[of_last]["revision"]);
        assert_eq!(again.len(), 4);
        for (again, before) in again.iter().zip(&before[of_last..]).skip(1) {
            for same in ["id", "killers", "ran"] {
                assert_eq!(again[same], before[same]);
            }
            assert!(again["missed"]["file"].as_array().unwrap().is_empty());
            assert!(!again["selected"]["file"].as_array().unwrap().is_empty());
        }
    }

    fn lines(path: &Path) -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Leaves behind what a replay leaves that was ended while it planted faults
    /// in the last revision.
    fn cut_short_in_the_last_revision(project: &TestProject) {
        let said = Run::new("git")
            .args(["rev-parse", "HEAD"])
            .current_dir(project.path("repository"))
            .succeed()
            .unwrap();
        let revision = said.stdout.trim();
        project.write(format!("work/stores/{revision}/hybrid/store.db"), "half");
        project.write("work/tree/.fewest/store.db", "half");
        let mutants = project.read("work/mutants.jsonl");
        let suite = mutants.lines().next().unwrap();
        let first = serde_json::from_str::<Value>(suite).unwrap();
        let own = suite.replace(first["revision"].as_str().unwrap(), revision);
        project.write(
            "work/mutants.jsonl",
            format!("{mutants}{own}\n{{\"kind\": \"mut"),
        );
    }

    #[test]
    fn a_quick_look_runs_the_suite_once_for_all_techniques() {
        let project = history();
        let work = project.path("quick");
        let finished = replay(
            &project,
            &[
                "--quick",
                "HEAD~2",
                "--path=src",
                "--techniques=file,hybrid",
                "--coarsen=CIM",
                "--order=none,smart",
                "--work",
                work.to_str().unwrap(),
            ],
        );
        assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
        let result: Value = serde_json::from_str(&finished.stdout).unwrap();
        let broken = &result["lines"][1];
        assert_eq!(broken["mode"], "quick");
        assert_eq!(names(&broken["full"]["failed"]), ["ex.AdderTest"]);
        assert_eq!(broken["changes"]["CIM"], 1);
        for technique in ["file", "hybrid", "hybrid+CIM"] {
            let own = &broken["techniques"][technique];
            assert_eq!(names(&own["selected"]), ["ex.AdderTest"], "{technique}");
            assert_eq!(names(&own["failed"]), ["ex.AdderTest"]);
            assert_eq!((&own["tests"], &own["methods"]), (&2.into(), &1.into()));
            assert_eq!(own["estimated"], true);
            assert!(own["aecMillis"].as_u64() <= broken["full"]["millis"].as_u64());
            // The one selected test fails at once.
            assert_eq!(own["orders"]["smart"]["apfd"], 0.75);
        }
        let row = &result["changeTypes"][0];
        assert_eq!(
            (&row["coarsened"], &row["more"]),
            (&"CIM".into(), &0.0.into())
        );
    }

    fn every_killer_was_selected(path: &Path) {
        let lines = lines(path);
        let suites: Vec<&Value> = lines
            .iter()
            .filter(|line| line["kind"] == "suite")
            .collect();
        assert_eq!(suites.len(), 3);
        // The test that the second commit breaks can find nothing there.
        assert_eq!(suites[1]["setAside"][0]["test"], "ex.AdderTest");
        let mutants = lines.iter().filter(|line| line["kind"] == "mutant");
        let mut killed = 0;
        for mutant in mutants {
            let killers = mutant["killers"].as_array().unwrap();
            let selected = mutant["selected"]["hybrid"].as_array().unwrap();
            assert!(
                killers.iter().all(|test| selected.contains(test)),
                "{mutant}"
            );
            assert!(mutant["missed"]["hybrid"].as_array().unwrap().is_empty());
            killed += usize::from(!killers.is_empty());
        }
        assert!(killed > 0, "{lines:?}");
    }

    fn nothing_of_the_user_s_was_touched(project: &TestProject) {
        let said = Run::new("git")
            .args(["status", "--porcelain", "--ignored"])
            .current_dir(project.path("repository"))
            .succeed()
            .unwrap();
        assert_eq!(said.stdout, "");
        assert!(!project.exists("repository/.fewest"));
    }

    fn it_says_that_the_folder_is_taken_and_resumes_when_asked(project: &TestProject) {
        let results = project.read("work/results.jsonl");
        let refused = exact(project, &["--last", "4"]);
        assert_eq!(refused.code(), Some(70), "{}", refused.stderr);
        assert!(refused.stderr.contains("--resume"), "{}", refused.stderr);
        let lock = fs::File::create(project.path("work/lock")).unwrap();
        lock.lock().unwrap();
        let second = exact(project, &["--last", "4", "--resume"]);
        assert_eq!(second.code(), Some(70), "{}", second.stderr);
        let why = "another replay works in";
        assert!(second.stderr.contains(why), "{}", second.stderr);
        lock.unlock().unwrap();
        let resumed = exact(project, &["--last", "4", "--resume"]);
        assert_eq!(resumed.code(), Some(0), "{}", resumed.stderr);
        assert_eq!(project.read("work/results.jsonl"), results);
        assert!(!resumed.stderr.contains(" of 4: "), "{}", resumed.stderr);
    }
}
