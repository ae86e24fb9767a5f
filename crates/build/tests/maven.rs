//! The extension in real Maven builds, with a script in the place of fewest.
//!
//! The script answers each module with a file that the test has written for
//! it. Every test class leaves a mark that says what it saw, so that a check
//! does not depend on what Maven prints or reports. Maven's starts are what
//! takes time here, so one build checks many things.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fewest_build::maven::{Invocation, MavenBuild, Surroundings, unpack_extension};
use fewest_build::reports::read_reports;
use fewest_build::{FORMAT, TaskAnswer, TaskRequest};
use fewest_model::{ClassName, Outcome};

/// What the tests of a build saw of the argument that the answers add.
const SEEN: &str = "a b";
const NOT_SEEN: &str = "nothing";

/// Leaves a mark that says which properties a test sees.
const MARK: &str = r#"package ex;
import java.io.*;
public class Mark {
    public static void leave(Object test) {
        File marks = new File(System.getProperty("basedir"), "target/marks");
        marks.mkdirs();
        try (FileWriter out = new FileWriter(new File(marks, test.getClass().getName()))) {
            out.write(System.getProperty("e2e", "nothing"));
            for (Object name : System.getProperties().keySet()) {
                if (name.toString().startsWith("fewest.") || name.equals("maven.ext.class.path")) {
                    out.write(" and " + name);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}"#;

#[derive(Clone, Copy)]
enum Framework {
    JUnit4,
    JUnit5,
    TestNg,
}

impl Framework {
    fn annotation(self) -> &'static str {
        match self {
            Self::JUnit4 => "@org.junit.Test",
            Self::JUnit5 => "@org.junit.jupiter.api.Test",
            Self::TestNg => "@org.testng.annotations.Test",
        }
    }

    fn dependency(self) -> &'static str {
        match self {
            Self::JUnit4 => {
                "<groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>"
            }
            Self::JUnit5 => {
                "<groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version>"
            }
            Self::TestNg => {
                "<groupId>org.testng</groupId><artifactId>testng</artifactId><version>6.14.3</version>"
            }
        }
    }

    /// A class with one test, and with further text in its body.
    fn class(self, name: &str, body: &str) -> String {
        format!(
            "package ex; public class {name} {{ {} public void test() {{ Mark.leave(this); }} {body} }}",
            self.annotation()
        )
    }
}

struct Module {
    name: &'static str,
    framework: Framework,
    surefire: &'static str,
    /// Surefire's configuration.
    configuration: &'static str,
    /// Further plugins.
    plugins: &'static str,
    /// Names of test classes and what their bodies hold beside a test.
    classes: &'static [(&'static str, &'static str)],
}

/// A reactor in a folder of its own.
struct Reactor {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

/// A build that has ended.
struct Built {
    success: bool,
    output: String,
    requests: Vec<TaskRequest>,
}

impl Reactor {
    fn new(modules: &[Module]) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("a reactor ")
            .tempdir()
            .unwrap();
        let root = fs::canonicalize(folder.path()).unwrap().join("project");
        let reactor = Self {
            _folder: folder,
            root,
        };
        let names: Vec<_> = modules.iter().map(|module| module.name).collect();
        let names = names.join("</module><module>");
        reactor.write(
            "pom.xml",
            &format!(
                "<project><modelVersion>4.0.0</modelVersion><groupId>ex</groupId>
                <artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
                <properties><maven.compiler.source>8</maven.compiler.source>
                <maven.compiler.target>8</maven.compiler.target>
                <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
                <modules><module>{names}</module></modules></project>"
            ),
        );
        for module in modules {
            reactor.write_module(module);
        }
        reactor.write(
            "../fewest",
            "#!/bin/sh\n\
            module=$(sed -n 's/^\"module\": \"\\(.*\\)\",$/\\1/p' \"$2/request.json\")\n\
            exec cp \"$(dirname \"$0\")/answers/$module/answer.json\" \"$2/answer.json\"\n",
        );
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(reactor.root.join("../fewest"), executable).unwrap();
        reactor
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn write_module(&self, module: &Module) {
        let Module {
            name,
            framework,
            surefire,
            configuration,
            plugins,
            classes,
        } = module;
        self.write(
            &format!("{name}/pom.xml"),
            &format!(
                "<project><modelVersion>4.0.0</modelVersion>
                <parent><groupId>ex</groupId><artifactId>all</artifactId><version>1</version></parent>
                <artifactId>{name}</artifactId><properties><late>-Dlate=1</late></properties>
                <dependencies><dependency>{}<scope>test</scope></dependency></dependencies>
                <build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId>
                <version>{surefire}</version><configuration>{configuration}</configuration>
                </plugin>{plugins}</plugins></build></project>",
                framework.dependency()
            ),
        );
        let sources = format!("{name}/src/test/java/ex");
        // The names are those of test classes, and yet no provider runs these.
        self.write(
            &format!("{sources}/AbstractTest.java"),
            &framework
                .class("AbstractTest", "")
                .replace("class", "abstract class"),
        );
        self.write(
            &format!("{sources}/TestInterface.java"),
            "package ex; interface TestInterface { long BIG = 1L << 40; }",
        );
        self.write(&format!("{sources}/Mark.java"), MARK);
        for (class, body) in *classes {
            self.write(
                &format!("{sources}/{class}.java"),
                &framework.class(class, body),
            );
        }
    }

    fn answer(&self, module: &str, skip: &[&str]) {
        let folder = self.root.join("../answers").join(module);
        fs::create_dir_all(&folder).unwrap();
        let answer = TaskAnswer {
            by_method: Vec::new(),
            skip_methods: Vec::new(),
            format: FORMAT,
            skip: skip.iter().map(|&name| name.into()).collect(),
            order: Vec::new(),
            jvm_args: vec![format!("-De2e={SEEN}")],
            lines: vec![format!("{module}: a line to print")],
        };
        answer.write(&folder).unwrap();
    }

    /// Runs Maven offline, or online if that lacks something.
    fn build(&self, args: &[&str]) -> Built {
        let offline = self.run(&[&["-o"], args].concat());
        let lacking = ["offline mode", "has not been downloaded", "(absent)"];
        if lacking.iter().any(|text| offline.output.contains(text)) {
            self.run(args)
        } else {
            offline
        }
    }

    fn run(&self, args: &[&str]) -> Built {
        for module in fs::read_dir(&self.root).unwrap() {
            let _ = fs::remove_dir_all(module.unwrap().path().join("target/marks"));
        }
        let cache = self.root.join("../cache");
        let run_folder = self.root.join("../a run");
        let _ = fs::remove_dir_all(&run_folder);
        let args = ["-B"].iter().chain(args).map(OsString::from).collect();
        let invocation = Invocation {
            directory: self.root.clone(),
            args,
        };
        let output = MavenBuild::plan(&invocation, &Surroundings::of_this_process())
            .unwrap()
            .command(
                &unpack_extension(&cache).unwrap(),
                &self.root.join("../fewest"),
                &run_folder,
            )
            .output()
            .unwrap();
        Built {
            success: output.status.success(),
            output: String::from_utf8_lossy(&output.stdout).into_owned(),
            requests: requests(&run_folder),
        }
    }

    /// The classes of a module that ran, and what they saw.
    fn marks(&self, module: &str) -> BTreeMap<String, String> {
        let Ok(marks) = fs::read_dir(self.root.join(module).join("target/marks")) else {
            return BTreeMap::new();
        };
        marks
            .map(|mark| mark.unwrap())
            .map(|mark| {
                let name = mark.file_name().into_string().unwrap();
                (name, fs::read_to_string(mark.path()).unwrap())
            })
            .collect()
    }

    #[track_caller]
    fn assert_ran(&self, module: &str, classes: &[&str], seen: &str) {
        let expected: BTreeMap<_, _> = classes
            .iter()
            .map(|class| (format!("ex.{class}"), seen.to_owned()))
            .collect();
        assert_eq!(self.marks(module), expected, "{module}");
    }
}

fn requests(run_folder: &Path) -> Vec<TaskRequest> {
    let Ok(tasks) = fs::read_dir(run_folder) else {
        return Vec::new();
    };
    tasks
        .map(|task| TaskRequest::read(&task.unwrap().path()).unwrap())
        .collect()
}

impl Built {
    fn request(&self, module: &str) -> &TaskRequest {
        let mut requests = self.requests.iter();
        requests
            .find(|request| request.module == module)
            .unwrap_or_else(|| panic!("no request for {module}\n{}", self.output))
    }

    #[track_caller]
    fn assert_success(&self, success: bool) {
        assert_eq!(self.success, success, "{}", self.output);
    }

    /// Maven 4 puts `[INFO] [stdout]` before what others print.
    #[track_caller]
    fn assert_prints(&self, line: &str) {
        let found = self.output.lines().any(|printed| printed.ends_with(line));
        assert!(found, "no line `{line}` in\n{}", self.output);
    }

    #[track_caller]
    fn assert_test_classes(&self, module: &str, classes: &[&str]) {
        let names = classes
            .iter()
            .map(|class| ClassName::from(&*format!("ex/{class}")));
        assert_eq!(
            self.request(module).test_classes,
            Some(names.collect()),
            "{module}"
        );
    }
}

const FAILSAFE: &str = "<plugin><artifactId>maven-failsafe-plugin</artifactId>
    <version>3.2.5</version><executions><execution><goals><goal>integration-test</goal>
    <goal>verify</goal></goals></execution></executions></plugin>";

const INNER_OF_JUNIT_4: &str =
    "public static class InnerTest { @org.junit.Test public void inner() { Mark.leave(this); } }";

const MODULES: &[Module] = &[
    Module {
        name: "oldest",
        framework: Framework::JUnit4,
        surefire: "2.12.4",
        configuration: "<forkMode>never</forkMode><argLine>-Xmx200m '-Dquoted=x y'</argLine>",
        plugins: "",
        classes: &[
            ("ATest", ""),
            ("BTest", INNER_OF_JUNIT_4),
            ("CTest", INNER_OF_JUNIT_4),
        ],
    },
    // With excludes of the user's own, nested classes are test classes too.
    Module {
        name: "nested",
        framework: Framework::JUnit4,
        surefire: "2.17",
        configuration: "<forkMode>never</forkMode><excludes><exclude>**/NoTest.java</exclude></excludes>",
        plugins: "",
        classes: &[
            ("ATest", INNER_OF_JUNIT_4),
            ("BTest", INNER_OF_JUNIT_4),
            ("NoTest", ""),
        ],
    },
    Module {
        name: "late",
        framework: Framework::JUnit5,
        surefire: "2.22.2",
        configuration: "<argLine>@{late} -Xmx200m</argLine><failIfNoTests>true</failIfNoTests>",
        plugins: "",
        classes: &[
            (
                "ATest",
                "@org.junit.jupiter.api.Nested class Inner { @org.junit.jupiter.api.Test void inner() { Mark.leave(this); } }",
            ),
            (
                "BTest",
                "@org.junit.jupiter.api.Nested class Inner { @org.junit.jupiter.api.Test void inner() { Mark.leave(this); } }",
            ),
        ],
    },
    Module {
        name: "testng",
        framework: Framework::TestNg,
        surefire: "2.22.2",
        configuration: "<systemPropertyVariables><given>x</given></systemPropertyVariables>
            <environmentVariables><GIVEN>y</GIVEN></environmentVariables>",
        plugins: "",
        classes: &[("ATest", ""), ("BTest", ""), ("CTest", "")],
    },
    Module {
        name: "suite",
        framework: Framework::TestNg,
        surefire: "3.2.5",
        configuration: "<suiteXmlFiles><suiteXmlFile>testng.xml</suiteXmlFile></suiteXmlFiles>",
        plugins: "",
        classes: &[("ATest", ""), ("BTest", "")],
    },
    Module {
        name: "inside",
        framework: Framework::JUnit4,
        surefire: "3.2.5",
        configuration: "<forkCount>0</forkCount>
            <excludes><exclude>**/NoTest.java</exclude></excludes>",
        plugins: "",
        classes: &[
            ("ATest", INNER_OF_JUNIT_4),
            ("BTest", INNER_OF_JUNIT_4),
            ("NoTest", ""),
        ],
    },
    Module {
        name: "newest",
        framework: Framework::JUnit5,
        surefire: "3.5.4",
        configuration: "<forkCount>2</forkCount><reuseForks>false</reuseForks>",
        plugins: "",
        classes: &[("ATest", ""), ("BTest", ""), ("CTest", "")],
    },
    Module {
        name: "integration",
        framework: Framework::JUnit5,
        surefire: "3.2.5",
        configuration: "",
        plugins: FAILSAFE,
        classes: &[
            ("AIT", ""),
            (
                "BIT",
                "@org.junit.jupiter.api.Test void fails() { org.junit.jupiter.api.Assertions.assertNull(System.getProperty(\"fail\")); }",
            ),
        ],
    },
];

fn whole_reactor() -> Reactor {
    let reactor = Reactor::new(MODULES);
    reactor.write(
        "suite/testng.xml",
        "<!DOCTYPE suite SYSTEM \"http://testng.org/testng-1.0.dtd\">
        <suite name=\"s\"><test name=\"t\"><classes><class name=\"ex.ATest\"/>
        <class name=\"ex.BTest\"/></classes></test></suite>",
    );
    reactor
}

#[test]
fn every_version_leaves_out_what_the_answer_names_and_starts_no_jvm_for_nothing() {
    let reactor = whole_reactor();
    for module in MODULES {
        reactor.answer(module.name, &["ex/BTest"]);
    }
    reactor.answer("integration", &["ex/AIT"]);
    let started = SystemTime::now() - Duration::from_millis(1);
    let build = reactor.build(&["-T2", "-fae", "-Dfail", "verify"]);

    // The only failure is that of the integration test.
    build.assert_success(false);
    let modules: BTreeSet<_> = build
        .requests
        .iter()
        .map(|request| &*request.module)
        .collect();
    assert_eq!(modules, MODULES.iter().map(|module| module.name).collect());

    reactor.assert_ran("oldest", &["ATest", "CTest"], SEEN);
    reactor.assert_ran("nested", &["ATest", "ATest$InnerTest"], SEEN);
    reactor.assert_ran("late", &["ATest", "ATest$Inner"], SEEN);
    reactor.assert_ran("testng", &["ATest", "CTest"], SEEN);
    reactor.assert_ran("suite", &["ATest", "BTest"], SEEN);
    reactor.assert_ran("inside", &["ATest", "ATest$InnerTest"], SEEN);
    reactor.assert_ran("newest", &["ATest", "CTest"], SEEN);
    reactor.assert_ran("integration", &["BIT"], SEEN);

    build.assert_test_classes("oldest", &["ATest", "BTest", "CTest"]);
    let with_nested = ["ATest", "ATest$InnerTest", "BTest", "BTest$InnerTest"];
    build.assert_test_classes("nested", &with_nested);
    build.assert_test_classes("late", &["ATest", "BTest"]);
    build.assert_test_classes("testng", &["ATest", "BTest", "CTest"]);
    build.assert_test_classes("inside", &with_nested);
    build.assert_test_classes("newest", &["ATest", "BTest", "CTest"]);
    build.assert_test_classes("integration", &["AIT", "BIT"]);
    assert_eq!(build.request("suite").test_classes, None);

    for module in MODULES {
        build.assert_prints(&format!("{}: a line to print", module.name));
    }
    build.assert_prints("suite: suite files choose its tests, so all of them run");
    for inside in ["oldest", "nested", "inside"] {
        build.assert_prints(&format!(
            "{inside}: tests run in a JVM of their own instead of Maven's"
        ));
    }
    check_requests(&reactor, &build);
    check_reports(&build, started);
    nothing_left(&reactor);
}

fn check_requests(reactor: &Reactor, build: &Built) {
    let oldest = build.request("oldest");
    assert_eq!(oldest.task, "surefire:test@default-test");
    assert_eq!(oldest.basedir, reactor.root.join("oldest"));
    assert_eq!(oldest.jvm_args, ["-Xmx200m", "-Dquoted=x y"]);
    assert_eq!(oldest.settings["plugin"], "maven-surefire-plugin:2.12.4");
    assert_eq!(oldest.settings["trimStackTrace"], "true");
    assert!(oldest.java_home.as_ref().unwrap().join("bin/java").exists());
    let names = |request: &TaskRequest| {
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        request.classpath.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(
        names(oldest),
        [
            "test-classes",
            "classes",
            "junit-4.13.2.jar",
            "hamcrest-core-1.3.jar"
        ]
    );
    assert_eq!(build.request("late").jvm_args, ["-Dlate=1", "-Xmx200m"]);

    let testng = build.request("testng");
    assert_eq!(testng.system_properties["given"], "x");
    assert_eq!(testng.environment["GIVEN"], "y");
    assert_eq!(testng.settings["workingDirectory"], "${basedir}");
    for request in &build.requests {
        // What changes with each run must not be seen as a change of the environment.
        let names = request.system_properties.keys();
        assert!(!names.into_iter().any(|name| name.starts_with("fewest.")));
        let json = serde_json::to_string(&request.settings).unwrap();
        assert!(!json.contains("a run"), "{json}");
    }
    let newest = build.request("newest");
    assert_eq!(newest.settings["forkCount"], "2");
    assert_eq!(newest.settings["reuseForks"], "false");
    let integration = build.request("integration");
    assert_eq!(integration.task, "failsafe:integration-test@default");
    assert_eq!(names(integration)[1], "integration-1.jar");
}

fn check_reports(build: &Built, started: SystemTime) {
    for request in &build.requests {
        let directory = request.reports.as_ref().unwrap();
        let reports = read_reports(directory, started).unwrap();
        assert!(reports.damaged.is_empty(), "{:?}", reports.damaged);
        for (class, report) in reports.classes {
            let expected = match class.as_str() {
                "ex/BIT" => Outcome::Failed,
                _ => Outcome::Passed,
            };
            assert_eq!(report.outcome, expected, "{} {class}", request.module);
        }
    }
    let classes = |module: &str| -> Vec<_> {
        let directory = build.request(module).reports.as_ref().unwrap();
        let reports = read_reports(directory, started).unwrap();
        reports
            .classes
            .into_keys()
            .map(|class| class.to_string())
            .collect()
    };
    assert_eq!(classes("oldest"), ["ex/ATest", "ex/CTest"]);
    assert_eq!(classes("nested"), ["ex/ATest"]);
    assert_eq!(classes("late"), ["ex/ATest"]);
    assert_eq!(classes("testng"), ["ex/ATest", "ex/CTest"]);
    assert_eq!(classes("newest"), ["ex/ATest", "ex/CTest"]);
    assert_eq!(classes("integration"), ["ex/BIT"]);
}

/// Builds again with every class left out, over the reports of a failure.
fn nothing_left(reactor: &Reactor) {
    for module in MODULES {
        reactor.answer(module.name, &["ex/ATest", "ex/BTest", "ex/CTest"]);
    }
    reactor.answer("integration", &["ex/AIT", "ex/BIT"]);
    let build = reactor.build(&["verify"]);
    build.assert_success(true);
    for module in MODULES.iter().filter(|module| module.name != "suite") {
        reactor.assert_ran(module.name, &[], SEEN);
    }
    reactor.assert_ran("suite", &["ATest", "BTest"], SEEN);
}

fn small(name: &'static str, surefire: &'static str) -> Module {
    Module {
        name,
        framework: Framework::JUnit4,
        surefire,
        configuration: "",
        plugins: "",
        classes: &[("ATest", ""), ("BTest", "")],
    }
}

#[test]
fn whatever_goes_wrong_the_tests_run_as_without_fewest_and_named_tests_run_always() {
    let reactor = Reactor::new(&[
        small("dead", "2.22.2"),
        small("garbled", "3.2.5"),
        small("newer", "3.2.5"),
        small("odd", "3.2.5"),
    ]);
    reactor.write(
        "../answers/garbled/answer.json",
        "{\"format\": 1, \"skip\": [",
    );
    reactor.write("../answers/newer/answer.json", "{\"format\": 2}");
    // One argument cannot be quoted, which shows only after the excludes are set.
    reactor.write(
        "../answers/odd/answer.json",
        r#"{"format": 1, "skip": ["ex/BTest"], "jvmArgs": ["-Da='\""], "lines": []}"#,
    );
    let build = reactor.build(&["test"]);
    build.assert_success(true);
    for module in ["dead", "garbled", "newer", "odd"] {
        reactor.assert_ran(module, &["ATest", "BTest"], NOT_SEEN);
        let said = format!("fewest: {module}: tests run as without fewest: ");
        let lines = build.output.lines().filter(|line| line.contains(&said));
        assert_eq!(lines.count(), 1, "{}", build.output);
    }

    // A second execution with the same parameters is none to Surefire, with us as without.
    // The user's own extensions stay in force, and so does the project's configuration.
    reactor.write(".mvn/maven.config", "-Dmaven.ext.class.path=none.jar\n");
    for module in ["dead", "garbled", "newer", "odd"] {
        reactor.answer(module, &["ex/ATest"]);
    }
    let build = reactor.build(&["-pl", "dead", "surefire:test", "surefire:test"]);
    build.assert_success(true);
    let seen = format!("{SEEN} and maven.ext.class.path");
    reactor.assert_ran("dead", &["BTest"], &seen);
    assert_eq!(build.requests.len(), 1);
    assert!(
        build.output.contains("already been run"),
        "{}",
        build.output
    );

    let named = ["-pl", "dead,garbled", "-Dtest=ATest", "surefire:test"];
    let build = reactor.build(&named);
    build.assert_success(true);
    for module in ["dead", "garbled"] {
        reactor.assert_ran(module, &["ATest"], &seen);
        build.assert_test_classes(module, &["ATest"]);
        build.assert_prints(&format!(
            "{module}: its tests are named one by one, so all of them run"
        ));
    }
}
