//! Real Maven builds of every kind of test suite through the whole of fewest.
//!
//! Each kind is a module of one reactor, and all of them test the same class of
//! another module. So one build tries all kinds, with two of them at a time,
//! and one edit concerns all of them.

mod maven_support;

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use std::collections::BTreeSet;

    use fewest_testkit::TestProject;

    use super::maven_support::{Case, Cases, cases, clean, fewest, maven, reports};

    const COMPLEX: &str = "package core;
public class Complex {
    public final int re, im;
    public Complex(int re, int im) { this.re = re; this.im = im; }
    public Complex negate() { return new Complex(-re, -im); }
    public Complex add(Complex o) { return new Complex(re + o.re, im + o.im); }
}";

    const JUNIT_4: &str = "junit:junit:4.13.2";
    const JUPITER: &str = "org.junit.jupiter:junit-jupiter:5.10.2";
    const VINTAGE: &str = "org.junit.vintage:junit-vintage-engine:5.10.2";
    const TESTNG: &str = "org.testng:testng:6.14.3";

    const TEST_4: &str = "org.junit.Test";
    const TEST_5: &str = "org.junit.jupiter.api.Test";
    const TEST_NG: &str = "org.testng.annotations.Test";

    struct Module {
        name: &'static str,
        dependencies: &'static [&'static str],
        /// Surefire's configuration.
        configuration: &'static str,
        plugins: &'static str,
        classes: &'static [Class],
        /// The classes that have to run when `negate` has changed.
        affected: &'static [&'static str],
        /// Whether no others run. Where classes overlap in time, what one of
        /// them does may be the other's doing.
        exact: bool,
    }

    /// A test class with one test.
    struct Class {
        name: &'static str,
        /// The annotation of the test.
        test: &'static str,
        calls: Calls,
        /// What else stands in its body.
        more: &'static str,
    }

    #[derive(Clone, Copy)]
    enum Calls {
        Negate,
        Add,
    }

    const fn class(name: &'static str, test: &'static str, calls: Calls) -> Class {
        with(name, test, calls, "")
    }

    const fn with(
        name: &'static str,
        test: &'static str,
        calls: Calls,
        more: &'static str,
    ) -> Class {
        Class {
            name,
            test,
            calls,
            more,
        }
    }

    impl Class {
        fn source(&self) -> String {
            let Self {
                name, test, more, ..
            } = self;
            let body = match self.calls {
                Calls::Negate => "new core.Complex(1, 2).negate().re != -1",
                Calls::Add => "new core.Complex(1, 2).add(new core.Complex(3, 4)).re != 4",
            };
            format!(
                "package ex;\npublic class {name} {{\n\
                 @{test} public void test() {{ if ({body}) throw new AssertionError(); }}\n\
                 {more}\n}}\n"
            )
        }
    }

    const FAILSAFE: &str = "<plugin><artifactId>maven-failsafe-plugin</artifactId>
        <version>3.2.5</version><executions><execution><goals><goal>integration-test</goal>
        <goal>verify</goal></goals></execution></executions></plugin>";

    const MODULES: &[Module] = &[
        Module {
            name: "junit4",
            dependencies: &[JUNIT_4],
            configuration: "",
            plugins: "",
            classes: &[
                class("NegateTest", TEST_4, Calls::Negate),
                with(
                    "AddTest",
                    TEST_4,
                    Calls::Add,
                    "@org.junit.Ignore @org.junit.Test public void off() {}",
                ),
            ],
            affected: &["NegateTest"],
            exact: true,
        },
        Module {
            name: "junit5",
            dependencies: &[JUPITER],
            configuration: "",
            plugins: "",
            classes: &[
                with(
                    "NegateTest",
                    TEST_5,
                    Calls::Add,
                    "@org.junit.jupiter.api.Nested class Inner {
                     @org.junit.jupiter.params.ParameterizedTest
                     @org.junit.jupiter.params.provider.ValueSource(ints = { 1, 2 })
                     void negates(int re) {
                        if (new core.Complex(re, 0).negate().re != -re) throw new AssertionError();
                     } }",
                ),
                with(
                    "AddTest",
                    TEST_5,
                    Calls::Add,
                    "@org.junit.jupiter.api.Disabled @org.junit.jupiter.api.Test void off() {}",
                ),
            ],
            affected: &["NegateTest"],
            exact: true,
        },
        Module {
            name: "mixed",
            dependencies: &[JUNIT_4, VINTAGE, JUPITER],
            configuration: "",
            plugins: "",
            classes: &[
                class("NegateTest", TEST_5, Calls::Negate),
                class("AddTest", TEST_5, Calls::Add),
                class("OldNegateTest", TEST_4, Calls::Negate),
                class("OldAddTest", TEST_4, Calls::Add),
            ],
            affected: &["NegateTest", "OldNegateTest"],
            exact: true,
        },
        Module {
            name: "testng",
            dependencies: &[TESTNG],
            configuration: "",
            plugins: "",
            classes: &[
                class("NegateTest", TEST_NG, Calls::Negate),
                class("AddTest", TEST_NG, Calls::Add),
            ],
            affected: &["NegateTest"],
            exact: true,
        },
        // A set-up that all tests need stands in a class that need not run.
        Module {
            name: "testng-setup",
            dependencies: &[TESTNG],
            configuration: "",
            plugins: "",
            classes: &[
                with(
                    "SetupTest",
                    TEST_NG,
                    Calls::Add,
                    "@org.testng.annotations.BeforeSuite public void ready() {
                     System.setProperty(\"ready\", \"yes\"); }",
                ),
                with(
                    "NegateTest",
                    TEST_NG,
                    Calls::Negate,
                    "@org.testng.annotations.Test public void needsSetup() {
                     if (System.getProperty(\"ready\") == null) throw new AssertionError(); }",
                ),
                class("AddTest", TEST_NG, Calls::Add),
            ],
            affected: &["NegateTest", "SetupTest"],
            exact: true,
        },
        // Without the group's tests TestNG would not run those that depend on it.
        Module {
            name: "testng-groups",
            dependencies: &[TESTNG],
            configuration: "",
            plugins: "",
            classes: &[
                with(
                    "FirstTest",
                    TEST_NG,
                    Calls::Add,
                    "@org.testng.annotations.Test(groups = \"first\") public void first() {}",
                ),
                with(
                    "NegateTest",
                    TEST_NG,
                    Calls::Negate,
                    "@org.testng.annotations.Test(dependsOnGroups = \"first\") public void second() {}",
                ),
            ],
            affected: &["FirstTest", "NegateTest"],
            exact: true,
        },
        Module {
            name: "integration",
            dependencies: &[JUPITER],
            configuration: "",
            plugins: FAILSAFE,
            classes: &[
                class("NegateTest", TEST_5, Calls::Negate),
                class("NegateIT", TEST_5, Calls::Negate),
                class("AddIT", TEST_5, Calls::Add),
            ],
            affected: &["NegateIT", "NegateTest"],
            exact: true,
        },
        Module {
            name: "forks",
            dependencies: &[JUPITER],
            configuration: "<forkCount>2</forkCount>",
            plugins: "",
            classes: &[
                class("NegateTest", TEST_5, Calls::Negate),
                class("AddTest", TEST_5, Calls::Add),
                class("MoreTest", TEST_5, Calls::Add),
            ],
            affected: &["NegateTest"],
            exact: true,
        },
        Module {
            name: "parallel",
            dependencies: &[JUNIT_4],
            configuration: "<parallel>classes</parallel><threadCount>2</threadCount>
                <perCoreThreadCount>false</perCoreThreadCount>",
            plugins: "",
            classes: &[
                class("NegateTest", TEST_4, Calls::Negate),
                class("AddTest", TEST_4, Calls::Add),
                class("MoreTest", TEST_4, Calls::Add),
            ],
            affected: &["NegateTest"],
            exact: false,
        },
        Module {
            name: "parallel5",
            dependencies: &[JUPITER],
            configuration: "<properties><configurationParameters>
                junit.jupiter.execution.parallel.enabled = true
                junit.jupiter.execution.parallel.mode.default = concurrent
                </configurationParameters></properties>",
            plugins: "",
            classes: &[
                class("NegateTest", TEST_5, Calls::Negate),
                class("AddTest", TEST_5, Calls::Add),
                class("MoreTest", TEST_5, Calls::Add),
            ],
            affected: &["NegateTest"],
            exact: false,
        },
    ];

    /// Lets builds go on to the end though tests fail.
    const PROPERTIES: &str = "<properties><maven.compiler.source>8</maven.compiler.source>
        <maven.compiler.target>8</maven.compiler.target>
        <maven.test.failure.ignore>true</maven.test.failure.ignore>
        <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>";

    fn reactor() -> TestProject {
        let project = TestProject::new();
        let names: Vec<&str> = MODULES.iter().map(|module| module.name).collect();
        let names = names.join("</module><module>");
        project.write(
            "pom.xml",
            format!(
                "<project><modelVersion>4.0.0</modelVersion><groupId>ex</groupId>
                <artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
                {PROPERTIES}
                <modules><module>core</module><module>{names}</module></modules></project>"
            ),
        );
        write_pom(&project, "core", "", "");
        project.write("core/src/main/java/core/Complex.java", COMPLEX);
        for module in MODULES {
            write_module(&project, module);
        }
        project
    }

    fn write_module(project: &TestProject, module: &Module) {
        let mut dependencies = dependency("ex:core:1", "compile");
        for coordinates in module.dependencies {
            dependencies += &dependency(coordinates, "test");
        }
        let plugins = format!(
            "<plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version>
            <configuration>{}</configuration></plugin>{}",
            module.configuration, module.plugins
        );
        write_pom(project, module.name, &dependencies, &plugins);
        for class in module.classes {
            let path = format!("{}/src/test/java/ex/{}.java", module.name, class.name);
            project.write(path, class.source());
        }
    }

    fn write_pom(project: &TestProject, module: &str, dependencies: &str, plugins: &str) {
        project.write(
            format!("{module}/pom.xml"),
            format!(
                "<project><modelVersion>4.0.0</modelVersion>
                <parent><groupId>ex</groupId><artifactId>all</artifactId><version>1</version></parent>
                <artifactId>{module}</artifactId><dependencies>{dependencies}</dependencies>
                <build><plugins>{plugins}</plugins></build></project>"
            ),
        );
    }

    fn dependency(coordinates: &str, scope: &str) -> String {
        let parts: Vec<&str> = coordinates.split(':').collect();
        format!(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId>
            <version>{}</version><scope>{scope}</scope></dependency>",
            parts[0], parts[1], parts[2]
        )
    }

    const GOAL: [&str; 3] = ["-q", "-T2", "verify"];

    /// The cases of a build by Maven alone, whose reports are taken away.
    fn plain(project: &TestProject) -> Cases {
        let finished = maven(|| clean(project.run("mvn")), &GOAL);
        assert!(finished.success(), "{}", finished.stdout);
        let cases = cases(project);
        forget_reports(project);
        cases
    }

    fn forget_reports(project: &TestProject) {
        for (_, report) in reports(project) {
            project.remove(report);
        }
    }

    /// The tests that ran under fewest, each with its module.
    fn under_fewest(project: &TestProject) -> BTreeSet<(String, String)> {
        let run = || fewest(project).args(["mvn", "--report", "run.json", "--"]);
        let finished = maven(run, &GOAL);
        let text = format!("{}\n{}", finished.stdout, finished.stderr);
        assert!(finished.success(), "{text}");
        assert!(!text.contains("as without fewest"), "{text}");
        let report: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
        let tests = report["tests"].as_array().unwrap();
        let all: usize = MODULES.iter().map(|module| module.classes.len()).sum();
        assert_eq!(tests.len(), all, "{report:#}");
        for test in tests {
            assert_eq!(test["doubts"], serde_json::json!([]), "{test:#}");
        }
        let word = |test: &serde_json::Value, key: &str| test[key].as_str().unwrap().to_owned();
        let ran = tests.iter().filter(|test| test["verdict"] == "run");
        ran.map(|test| (word(test, "module"), word(test, "test")))
            .collect()
    }

    /// One module for each provider that takes an order.
    const ORDERED: [&str; 3] = ["junit4", "junit5", "testng"];

    /// The classes of each such module in the order in which they ended.
    fn ran_in_order(project: &TestProject, seed: &str) -> Vec<Vec<String>> {
        let options = "mvn --technique all --order random --report run.json --seed";
        let run = || {
            fewest(project)
                .args(options.split(' '))
                .args([seed, "--"])
                .args(["-pl", &ORDERED.join(","), "-am"])
        };
        let finished = maven(run, &GOAL);
        assert!(finished.success(), "{}", finished.stdout);
        let report: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
        assert_eq!(report["order"]["followed"], true, "{report:#}");
        let tests = report["tests"].as_array().unwrap();
        let places = |module: &str| {
            let own = tests.iter().filter(|test| test["module"] == module);
            let mut places: Vec<(u64, String)> = own
                .map(|test| (test["place"].as_u64().unwrap(), test["test"].to_string()))
                .collect();
            places.sort();
            places.into_iter().map(|(_, test)| test).collect()
        };
        ORDERED.map(places).to_vec()
    }

    fn expected(of: impl Fn(&Module) -> Vec<&'static str>) -> BTreeSet<(String, String)> {
        let modules = MODULES.iter();
        modules
            .flat_map(|module| {
                let classes = of(module).into_iter();
                classes.map(|class| (module.name.to_owned(), format!("ex.{class}")))
            })
            .collect()
    }

    #[test]
    fn every_kind_of_suite_ends_as_under_maven_alone() {
        let project = reactor();
        let whole = plain(&project);
        let skipped = whole.values().filter(|case| **case == Case::Skipped);
        assert_eq!(skipped.count(), 2, "{whole:#?}");

        let all = expected(|module| module.classes.iter().map(|class| class.name).collect());
        assert_eq!(under_fewest(&project), all);
        assert_eq!(cases(&project), whole);

        let before = reports(&project);
        assert_eq!(under_fewest(&project), BTreeSet::new());
        assert_eq!(reports(&project), before);
        assert_eq!(cases(&project), whole);

        // Two seeds that put two tests in one order, and in the other.
        let mut turned = ran_in_order(&project, "3");
        for tests in &mut turned {
            tests.reverse();
        }
        assert_eq!(ran_in_order(&project, "1"), turned);

        forget_reports(&project);
        let broken = COMPLEX.replace("(-re, -im)", "(re, im)");
        project.write("core/src/main/java/core/Complex.java", broken);
        let broken = plain(&project);
        assert_ne!(broken, whole);
        let affected = expected(|module| module.affected.to_vec());
        let ran = under_fewest(&project);
        assert!(ran.is_superset(&affected), "{ran:#?}");
        let exact = |name: &str| MODULES.iter().any(|m| m.name == name && m.exact);
        let more: Vec<_> = ran
            .difference(&affected)
            .filter(|test| exact(&test.0))
            .collect();
        assert!(more.is_empty(), "{more:#?}");
        let ran = cases(&project);
        for (name, case) in &broken {
            match ran.get(name) {
                Some(same) => assert_eq!(same, case, "{name:?}"),
                // What was left out must be as it was before the edit.
                None => assert_eq!(Some(case), whole.get(name), "{name:?}"),
            }
        }
        let unknown = ran.keys().find(|name| !broken.contains_key(*name));
        assert_eq!(unknown, None);
    }
}
