//! Single methods in real Maven builds: with `--entity method`, and of classes
//! of which tests give up.

mod maven_support;

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use std::collections::BTreeSet;

    use fewest_testkit::TestProject;

    use super::maven_support::{Case, cases, fewest, maven, reports};

    /// A module by its version of Surefire, the framework, and the names in it.
    struct Module {
        name: &'static str,
        surefire: &'static str,
        framework: &'static str,
        test: &'static str,
        assert: &'static str,
        /// What its test class has beside two tests.
        more: &'static str,
        /// A statement that gives up.
        give_up: &'static str,
    }

    const MODULES: [Module; 2] = [
        Module {
            name: "four",
            surefire: "2.22.2",
            framework: "junit:junit:4.13.2",
            test: "org.junit.Test",
            assert: "org.junit.Assert",
            more: "",
            give_up: "org.junit.Assume.assumeTrue(false);",
        },
        Module {
            name: "five",
            surefire: "3.2.5",
            framework: "org.junit.jupiter:junit-jupiter:5.10.2",
            test: "org.junit.jupiter.api.Test",
            assert: "org.junit.jupiter.api.Assertions",
            more: "@org.junit.jupiter.api.Nested class In {
        @org.junit.jupiter.api.Test void innerOne() { Code.one(); }
        @org.junit.jupiter.api.Test void innerTwo() { Code.two(); }
    }",
            give_up: "org.junit.jupiter.api.Assumptions.assumeTrue(false);",
        },
    ];

    const CODE: &str = "package p;
public class Code {
    public static int one() { return 1; }
    public static int two() { return 2; }
}";

    /// All modules, with a further test in each test class.
    fn project(more: impl Fn(&Module) -> String) -> TestProject {
        let project = TestProject::new();
        project.write(
            "pom.xml",
            "<project><modelVersion>4.0.0</modelVersion>
            <groupId>p</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
            <modules><module>four</module><module>five</module></modules>
            <properties><maven.compiler.source>8</maven.compiler.source>
            <maven.compiler.target>8</maven.compiler.target>
            <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>",
        );
        for module in &MODULES {
            write(&project, module, &more(module));
        }
        project
    }

    fn write(project: &TestProject, module: &Module, more: &str) {
        let Module {
            name,
            surefire,
            framework,
            test,
            assert,
            ..
        } = module;
        let mut parts = framework.split(':');
        let mut next = || parts.next().unwrap();
        let (group, artifact, version) = (next(), next(), next());
        project.write(
            format!("{name}/pom.xml"),
            format!(
                "<project><modelVersion>4.0.0</modelVersion>
                <parent><groupId>p</groupId><artifactId>all</artifactId><version>1</version></parent>
                <artifactId>{name}</artifactId>
                <dependencies><dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>
                <version>{version}</version><scope>test</scope></dependency></dependencies>
                <build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId>
                <version>{surefire}</version></plugin></plugins></build></project>"
            ),
        );
        project.write(format!("{name}/src/main/java/p/Code.java"), CODE);
        project.write(
            format!("{name}/src/test/java/p/CodeTest.java"),
            format!(
                "package p;
public class CodeTest {{
    @{test} public void one() {{ {assert}.assertEquals(1, Code.one()); }}
    @{test} public void two() {{ {assert}.assertEquals(2, Code.two()); }}
    {more}
}}"
            ),
        );
    }

    /// Runs the build and returns what its report says of tests.
    fn build(project: &TestProject, entity: &str) -> Vec<serde_json::Value> {
        for (_, report) in reports(project) {
            std::fs::remove_file(project.path(&report)).unwrap();
        }
        let options = ["mvn", "--entity", entity, "--report", "run.json", "--"];
        let finished = maven(|| fewest(project).args(options), &["test"]);
        assert!(finished.success(), "{}{}", finished.stdout, finished.stderr);
        let report: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
        report["tests"].as_array().unwrap().clone()
    }

    /// The tests that ran and have a record, by module.
    fn recorded(tests: &[serde_json::Value]) -> BTreeSet<String> {
        let ran = tests.iter().filter(|test| test["verdict"] == "run");
        ran.map(|test| {
            assert_eq!(test["recorded"], true, "{test}");
            let text = |key: &str| test[key].as_str().unwrap().to_owned();
            format!("{}: {}", text("module"), text("test"))
        })
        .collect()
    }

    /// How each test ended by Surefire's reports, by module.
    fn ends(project: &TestProject) -> Vec<(String, Case)> {
        let mut told: Vec<(String, Case)> = cases(project)
            .into_iter()
            .map(|((module, _, name), case)| (format!("{module} {name}"), case))
            .collect();
        told.sort_by(|(one, _), (other, _)| one.cmp(other));
        told
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_methods_that_an_edit_cannot_affect_are_shown_as_skipped() {
        let project = project(|module| module.more.to_owned());
        let all = [
            "four: p.CodeTest#one",
            "four: p.CodeTest#two",
            "five: p.CodeTest#one",
            "five: p.CodeTest#two",
            "five: p.CodeTest$In#innerOne",
            "five: p.CodeTest$In#innerTwo",
        ];
        assert_eq!(recorded(&build(&project, "method")), names(&all));
        for module in &MODULES {
            let path = format!("{}/src/main/java/p/Code.java", module.name);
            project.write(path, CODE.replace("return 1", "return Math.abs(1)"));
        }
        let ones = names(&[
            "four: p.CodeTest#one",
            "five: p.CodeTest#one",
            "five: p.CodeTest$In#innerOne",
        ]);
        assert_eq!(recorded(&build(&project, "method")), ones);
        let expected = [
            ("five innerOne", Case::Passed),
            ("five innerTwo", Case::Skipped),
            ("five one", Case::Passed),
            ("five two", Case::Skipped),
            ("four one", Case::Passed),
            ("four two", Case::Skipped),
        ];
        let expected = expected.map(|(name, case)| (name.to_owned(), case));
        assert_eq!(ends(&project), expected);
        assert_eq!(recorded(&build(&project, "method")), BTreeSet::new());
    }

    #[test]
    fn of_a_class_of_which_a_test_gives_up_only_that_runs_again() {
        let project = project(|module| {
            let Module { test, give_up, .. } = module;
            format!("@{test} public void up() {{ {give_up} }}")
        });
        // The first run shows that a test gives up, the second one is watched
        // method by method.
        for _ in 0..2 {
            build(&project, "class");
        }
        let tests = build(&project, "class");
        let parts: Vec<&serde_json::Value> = tests.iter().map(|test| &test["methods"]).collect();
        let part = serde_json::json!({"run": ["up"], "skip": ["one", "two"]});
        assert_eq!(parts, [&part, &part]);
        let expected = [
            "five one", "five two", "five up", "four one", "four two", "four up",
        ];
        let expected = expected.map(|name| (name.to_owned(), Case::Skipped));
        assert_eq!(ends(&project), expected);
    }
}
