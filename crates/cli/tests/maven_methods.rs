//! `--entity method` in real Maven builds.

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
    }

    const MODULES: [Module; 2] = [
        Module {
            name: "four",
            surefire: "2.22.2",
            framework: "junit:junit:4.13.2",
            test: "org.junit.Test",
            assert: "org.junit.Assert",
            more: "",
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
        },
    ];

    const CODE: &str = "package p;
public class Code {
    public static int one() { return 1; }
    public static int two() { return 2; }
}";

    fn write(project: &TestProject, module: &Module) {
        let Module {
            name,
            surefire,
            framework,
            test,
            assert,
            more,
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

    /// Runs the build and returns the tests that ran.
    fn build(project: &TestProject) -> BTreeSet<String> {
        for (_, report) in reports(project) {
            std::fs::remove_file(project.path(&report)).unwrap();
        }
        let options = ["mvn", "--entity", "method", "--report", "run.json", "--"];
        let finished = maven(|| fewest(project).args(options), &["test"]);
        assert!(finished.success(), "{}{}", finished.stdout, finished.stderr);
        let report: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
        let tests = report["tests"].as_array().unwrap().iter();
        tests
            .filter(|test| test["verdict"] == "run")
            .map(|test| {
                assert_eq!(test["recorded"], true, "{test}");
                let text = |key: &str| test[key].as_str().unwrap().to_owned();
                format!("{}: {}", text("module"), text("test"))
            })
            .collect()
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_methods_that_an_edit_cannot_affect_are_shown_as_skipped() {
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
            write(&project, module);
        }
        let all = [
            "four: p.CodeTest#one",
            "four: p.CodeTest#two",
            "five: p.CodeTest#one",
            "five: p.CodeTest#two",
            "five: p.CodeTest$In#innerOne",
            "five: p.CodeTest$In#innerTwo",
        ];
        assert_eq!(build(&project), names(&all));
        for module in &MODULES {
            let path = format!("{}/src/main/java/p/Code.java", module.name);
            project.write(path, CODE.replace("return 1", "return Math.abs(1)"));
        }
        let ones = names(&[
            "four: p.CodeTest#one",
            "five: p.CodeTest#one",
            "five: p.CodeTest$In#innerOne",
        ]);
        assert_eq!(build(&project), ones);
        let mut told: Vec<(String, Case)> = cases(&project)
            .into_iter()
            .map(|((module, _, name), case)| (format!("{module} {name}"), case))
            .collect();
        told.sort_by(|(one, _), (other, _)| one.cmp(other));
        let expected = [
            ("five innerOne", Case::Passed),
            ("five innerTwo", Case::Skipped),
            ("five one", Case::Passed),
            ("five two", Case::Skipped),
            ("four one", Case::Passed),
            ("four two", Case::Skipped),
        ];
        assert_eq!(told, expected.map(|(name, case)| (name.to_owned(), case)));
        assert_eq!(build(&project), BTreeSet::new());
    }
}
