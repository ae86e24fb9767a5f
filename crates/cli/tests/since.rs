//! `--since` in a real Maven build of a real checkout.

mod maven_support;

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use fewest_testkit::TestProject;

    use super::maven_support::{clean, entries, fewest, maven};

    const POM: &str = "<project><modelVersion>4.0.0</modelVersion>
<groupId>p</groupId><artifactId>since</artifactId><version>1</version>
<properties><maven.compiler.source>8</maven.compiler.source>
<maven.compiler.target>8</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId>
<version>4.13.2</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId>
<version>2.22.2</version></plugin></plugins></build></project>";

    fn git(project: &TestProject, args: &[&str]) {
        let identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        let run = clean(project.run("git")).args(identity).args(args);
        assert!(run.finish().unwrap().success(), "git {args:?}");
    }

    fn write(project: &TestProject, name: &str) {
        project.write(
            format!("src/main/java/p/{name}.java"),
            format!("package p;\npublic class {name} {{\n  static int value() {{\n    return 1;\n  }}\n}}\n"),
        );
        project.write(
            format!("src/test/java/p/{name}Test.java"),
            format!(
                "package p;\npublic class {name}Test {{\n  @org.junit.Test public void value() {{\n    \
                 org.junit.Assert.assertEquals(1, {name}.value());\n  }}\n}}\n"
            ),
        );
    }

    #[test]
    fn a_build_without_records_runs_what_differs_from_a_revision() {
        let project = TestProject::new();
        project.write("pom.xml", POM);
        project.write(".gitignore", "target/\n");
        write(&project, "Left");
        write(&project, "Right");
        git(&project, &["init", "-q"]);
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-q", "-m", "start"]);
        let code = project.read("src/main/java/p/Right.java");
        let edited = code.replace("return 1", "return Math.abs(1)");
        project.write("src/main/java/p/Right.java", edited);

        let options = ["mvn", "--technique", "static-full", "--since", "HEAD", "--"];
        let finished = maven(|| fewest(&project).args(options), &["test"]);
        assert!(finished.success(), "{}{}", finished.stdout, finished.stderr);
        let ran = entries(&project.path("target/surefire-reports"));
        let ran: Vec<&String> = ran
            .iter()
            .filter(|name| name.starts_with("TEST-"))
            .collect();
        assert_eq!(ran, ["TEST-p.RightTest.xml"]);

        // What has just passed differs from the revision as much as before.
        let select = ["select", "--technique", "static-full", "--since", "HEAD"];
        let finished = fewest(&project).args(select).finish().unwrap();
        assert!(
            finished.stdout.contains("p.RightTest"),
            "{}",
            finished.stdout
        );
        git(&project, &["commit", "-q", "-a", "-m", "edit"]);
        let finished = fewest(&project).args(select).finish().unwrap();
        assert!(
            finished
                .stdout
                .contains("0 of 1 known test class would run"),
            "{}",
            finished.stdout
        );
    }

    #[test]
    fn wrong_revisions_and_techniques_are_told_before_anything_runs() {
        let project = TestProject::new();
        let told = |args: &[&str]| {
            let run = fewest(&project).arg("exec").args(args);
            let finished = run.args(["--", "touch", "started"]).finish().unwrap();
            assert!(!finished.success());
            finished.stderr
        };
        let full = ["--technique", "static-full", "--since", "HEAD"];
        assert!(told(&full).contains("is in no git checkout"));
        git(&project, &["init", "-q"]);
        assert!(told(&full).contains("git knows no revision `HEAD` here"));
        assert!(told(&["--since", "HEAD"]).contains("add `--technique static-full`"));
        assert!(!project.path("started").exists());
    }
}
