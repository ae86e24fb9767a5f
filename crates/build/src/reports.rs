//! How tests ended, read from the `TEST-*.xml` files that builds write.
//!
//! Surefire, Failsafe and Gradle write the same dialect with differences: a
//! file may hold one class, its nested classes too, or, for `TestNG`, a whole
//! suite. So classes are told by what is inside, never by a file's name.
//!
//! A case names the class that holds its code, and its suite the class that
//! ran. They differ where tests are inherited in nested classes, and where a
//! suite class of `JUnit` 4 runs others: such a case counts for both.
//! A file that cannot be understood is an error of its own beside the rest.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fewest_model::{ClassName, Outcome, TestId};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use thiserror::Error;

/// What Surefire calls all classes of a `TestNG` run together.
const TESTNG_SUITE: &str = "TestSuite";

/// All that a directory of reports says.
#[derive(Debug, Default)]
pub struct Reports {
    /// By outermost class. A case may count for two, so sums mean nothing.
    pub classes: BTreeMap<ClassName, ClassReport>,
    /// Files that could not be understood: any test may have been in them.
    pub damaged: Vec<ReadReportError>,
}

/// How the test cases of one class ended, those of nested classes included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassReport {
    /// The worst of its cases.
    pub outcome: Outcome,
    pub cases: Counts,
    /// Cases that failed, or passed only on a retry, by the names in the report;
    /// those of nested classes by their [names in this one](TestId::method_in).
    pub problems: BTreeMap<String, Outcome>,
    /// The time that all cases took together.
    pub millis: u64,
}

/// Test cases by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u32,
    pub skipped: u32,
    pub flaky: u32,
    pub failed: u32,
}

#[derive(Debug, Error)]
#[error("failed to read the test report `{path}`")]
pub struct ReadReportError {
    pub path: PathBuf,
    #[source]
    pub kind: ReadReportErrorKind,
}

#[derive(Debug, Error)]
pub enum ReadReportErrorKind {
    #[error("the file cannot be read")]
    Io(#[from] io::Error),
    #[error("it is not XML at offset {offset}")]
    Xml {
        offset: u64,
        #[source]
        source: Box<quick_xml::Error>,
    },
    #[error("it ends before its last element does")]
    CutShort,
    #[error("a test case names no class")]
    NoClass,
    #[error("its root is `{0}`")]
    OtherRoot(String),
}

/// Reads the reports in a directory that were written at `since` or later.
///
/// Older ones are of another run. A directory that is not there holds none,
/// as when no test ran.
pub fn read_reports(directory: &Path, since: SystemTime) -> Result<Reports, ReadReportError> {
    let mut reports = Reports::default();
    for path in report_files(directory, since).map_err(|e| at(directory, e.into()))? {
        let cases = fs::read(&path)
            .map_err(ReadReportErrorKind::from)
            .and_then(|bytes| read_cases(&bytes));
        match cases {
            Ok(cases) => cases.iter().for_each(|case| reports.add(case)),
            Err(kind) => reports.damaged.push(at(&path, kind)),
        }
    }
    Ok(reports)
}

fn at(path: &Path, kind: ReadReportErrorKind) -> ReadReportError {
    ReadReportError {
        path: path.to_owned(),
        kind,
    }
}

fn report_files(directory: &Path, since: SystemTime) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let named_so = name.starts_with("TEST-") && name.ends_with(".xml");
        if named_so && entry.metadata()?.modified()? >= since {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

impl Reports {
    fn add(&mut self, case: &Case) {
        let class = case.class.outermost();
        let ran = case.ran.as_ref().map(ClassName::outermost);
        for class in ran.filter(|ran| *ran != class).into_iter().chain([class]) {
            let name = TestId::method_in(&class, &case.class, &case.name);
            let name = name.unwrap_or_else(|| case.name.clone());
            self.classes
                .entry(class)
                .or_insert_with(|| ClassReport {
                    outcome: case.outcome,
                    cases: Counts::default(),
                    problems: BTreeMap::new(),
                    millis: 0,
                })
                .add(case, name);
        }
    }
}

impl ClassReport {
    fn add(&mut self, case: &Case, name: String) {
        self.outcome = self.outcome.max(case.outcome);
        self.millis += case.millis;
        if !matches!(case.outcome, Outcome::Passed | Outcome::Skipped) {
            let known = self.problems.entry(name).or_insert(case.outcome);
            *known = (*known).max(case.outcome);
        }
        *match case.outcome {
            Outcome::Passed => &mut self.cases.passed,
            Outcome::Skipped => &mut self.cases.skipped,
            Outcome::Flaky => &mut self.cases.flaky,
            Outcome::Failed | Outcome::Unfinished => &mut self.cases.failed,
        } += 1;
    }
}

/// One `testcase` element.
struct Case {
    /// The class that holds its code.
    class: ClassName,
    /// The class that the suite is of, if it is of one.
    ran: Option<ClassName>,
    /// Empty where there is none.
    name: String,
    outcome: Outcome,
    millis: u64,
}

/// Where in the document the reader is, as far as it matters.
#[derive(Default)]
struct Document {
    /// The names of the open elements.
    open: Vec<String>,
    cases: Vec<Case>,
    /// The class and the number of failures that the open suite's head names.
    suite: Option<(ClassName, u32)>,
    /// How many cases there were before the open suite.
    cases_before_suite: usize,
    seen_root: bool,
}

fn read_cases(bytes: &[u8]) -> Result<Vec<Case>, ReadReportErrorKind> {
    let mut reader = Reader::from_reader(bytes);
    reader.config_mut().expand_empty_elements = true;
    let mut document = Document::default();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let event =
            reader
                .read_event_into(&mut buffer)
                .map_err(|source| ReadReportErrorKind::Xml {
                    offset: reader.error_position(),
                    source: Box::new(source),
                })?;
        match event {
            Event::Start(element) => document.start(&element)?,
            Event::End(_) => document.end(),
            Event::Eof => return document.finish(),
            _ => {}
        }
    }
}

impl Document {
    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), ReadReportErrorKind> {
        let name = element.name().as_ref().to_owned();
        match (self.open.last().map(String::as_str), name.as_str()) {
            (None, "testsuite" | "testsuites") | (Some("testsuites"), "testsuite") => {
                self.seen_root = true;
                self.start_suite(element);
            }
            (None, other) => {
                return Err(ReadReportErrorKind::OtherRoot(other.to_owned()));
            }
            (Some("testsuite"), "testcase") => {
                let suite = self.suite.as_ref().map(|(class, _)| class);
                self.cases.push(read_case(element, suite)?);
            }
            (Some("testcase"), part) => self.start_part(part),
            _ => {}
        }
        self.open.push(name);
        Ok(())
    }

    fn start_suite(&mut self, element: &BytesStart<'_>) {
        let count = |name| attribute(element, name).and_then(|text| text.parse().ok());
        let failures: u32 = count("failures").unwrap_or(0) + count("errors").unwrap_or(0);
        self.suite = attribute(element, "name").map(|name| (class_name(&name), failures));
        self.cases_before_suite = self.cases.len();
    }

    /// Takes in an element inside a test case. The worst part decides.
    fn start_part(&mut self, part: &str) {
        let outcome = match part {
            "failure" | "error" => Outcome::Failed,
            "skipped" => Outcome::Skipped,
            "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => Outcome::Flaky,
            _ => return,
        };
        if let Some(case) = self.cases.last_mut() {
            case.outcome = case.outcome.max(outcome);
        }
    }

    fn end(&mut self) {
        if self.open.pop().is_some_and(|name| name == "testsuite") {
            self.end_suite();
        }
    }

    /// A suite whose head counts more failures than its cases show, as after
    /// a crash, counts as a failure of the class it is named after.
    fn end_suite(&mut self) {
        let Some((class, announced)) = self.suite.take() else {
            return;
        };
        let cases = &self.cases[self.cases_before_suite..];
        let shown = cases.iter().filter(|c| c.outcome == Outcome::Failed);
        if shown.count() < announced as usize {
            self.cases.push(Case {
                class,
                ran: None,
                name: String::new(),
                outcome: Outcome::Failed,
                millis: 0,
            });
        }
    }

    fn finish(self) -> Result<Vec<Case>, ReadReportErrorKind> {
        if self.seen_root && self.open.is_empty() {
            Ok(self.cases)
        } else {
            Err(ReadReportErrorKind::CutShort)
        }
    }
}

fn read_case(
    element: &BytesStart<'_>,
    suite: Option<&ClassName>,
) -> Result<Case, ReadReportErrorKind> {
    let class = attribute(element, "classname").filter(|name| !name.is_empty());
    let class = class_name(&class.ok_or(ReadReportErrorKind::NoClass)?);
    let ran = suite.filter(|name| name.as_str() != TESTNG_SUITE);
    // Of JUnit 4's parameterised tests on the JUnit Platform Surefire writes the
    // class without its package.
    let full = ran.filter(|ran| ran.simple() == class.as_str()).cloned();
    Ok(Case {
        class: full.unwrap_or(class),
        ran: ran.cloned(),
        name: attribute(element, "name").unwrap_or_default(),
        outcome: Outcome::Passed,
        millis: attribute(element, "time").map_or(0, |text| millis(&text)),
    })
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
    Some(value.into_owned())
}

/// The class of a case. A report name suffix stands behind it in brackets.
fn class_name(text: &str) -> ClassName {
    let name = text.split_once('(').map_or(text, |(name, _)| name);
    ClassName::from_dotted(name.trim())
}

/// Seconds as Surefire writes them: versions 2.x group digits, as in `1,234.5`.
fn millis(text: &str) -> u64 {
    let seconds: f64 = text.replace(',', "").parse().unwrap_or(0.0);
    (seconds * 1000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// The classes of a report, one to a line.
    fn read(xml: &str) -> String {
        let mut reports = Reports::default();
        match read_cases(xml.as_bytes()) {
            Ok(cases) => cases.iter().for_each(|case| reports.add(case)),
            Err(kind) => return kind.to_string(),
        }
        let line = |(class, report): (&ClassName, &ClassReport)| {
            let Counts {
                passed,
                skipped,
                flaky,
                failed,
            } = report.cases;
            format!(
                "{class} {:?} {passed}/{skipped}/{flaky}/{failed} {} ms",
                report.outcome, report.millis
            )
        };
        reports
            .classes
            .iter()
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn surefire_2_with_junit_4() {
        let xml = r#"<?xml version="1.0" encoding="UTF-8" ?>
<testsuite failures="1" time="1,234.512" errors="1" skipped="1" tests="4" name="ex.OldTest">
  <properties>
    <property name="java.runtime.name" value="OpenJDK &amp; friends"/>
  </properties>
  <testcase time="1,234.5" classname="ex.OldTest" name="slow"/>
  <testcase time="0.002" classname="ex.OldTest" name="fails">
    <failure message="expected:&lt;1&gt; but was:&lt;2&gt;" type="java.lang.AssertionError">java.lang.AssertionError: expected:&lt;1&gt;
	at org.junit.Assert.fail(Assert.java:88)
</failure>
    <system-out>&lt;failure/&gt;</system-out>
  </testcase>
  <testcase time="0.01" classname="ex.OldTest" name="throws">
    <error message="x" type="java.lang.IllegalStateException">trace</error>
  </testcase>
  <testcase time="0" classname="ex.OldTest" name="ignored">
    <skipped/>
  </testcase>
</testsuite>"#;
        insta::assert_snapshot!(read(xml), @"ex/OldTest Failed 1/1/0/2 1234512 ms");
    }

    #[test]
    fn surefire_3_with_junit_5_puts_nested_classes_beside_their_outer_one() {
        let xml = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report.xsd" version="3.0.2" name="ex.NewTest" time="0.046" tests="3" errors="0" skipped="1" failures="0">
  <properties/>
  <testcase name="plain" classname="ex.NewTest" time="0.011"/>
  <testcase name="each(int)[1]" classname="ex.NewTest$Inner" time="0.002"><system-out><![CDATA[<testcase/> ]]></system-out></testcase>
  <testcase name="off" classname="ex.NewTest$Inner" time="0.0">
    <skipped message="public void ex.NewTest.off() is @Disabled"/>
  </testcase>
</testsuite>"#;
        insta::assert_snapshot!(read(xml), @"ex/NewTest Skipped 2/1/0/0 13 ms");
    }

    #[test]
    fn problems_in_nested_classes_are_told_from_those_of_the_outer_one() {
        let cases = read_cases(
            br#"<testsuite name="ex.T" tests="2" errors="0" failures="2">
  <testcase name="a" classname="ex.T" time="0.1"/>
  <testcase name="a" classname="ex.T$In" time="0.1"><failure/></testcase>
  <testcase name="b" classname="ex.Base$In" time="0.1"><failure/></testcase>
</testsuite>"#,
        );
        let mut reports = Reports::default();
        for case in cases.unwrap() {
            reports.add(&case);
        }
        let problems = &reports.classes[&"ex/T".into()].problems;
        let names: Vec<&str> = problems.keys().map(String::as_str).collect();
        assert_eq!(names, ["In.a", "b"]);
    }

    #[test]
    fn testng_puts_all_classes_into_one_suite() {
        let xml = r#"<testsuite name="TestSuite" time="0.3" tests="3" errors="0" skipped="0" failures="1">
  <testcase name="a" classname="ex.ATest" time="0.1"/>
  <testcase name="b" classname="ex.BTest" time="0.004">
    <failure message="no" type="java.lang.AssertionError"><![CDATA[java.lang.AssertionError: no]]></failure>
  </testcase>
  <testcase name="a2" classname="ex.ATest" time="0.1"/>
</testsuite>"#;
        insta::assert_snapshot!(read(xml), @r"
        ex/ATest Passed 2/0/0/0 200 ms
        ex/BTest Failed 0/0/0/1 4 ms
        ");
    }

    #[test]
    fn an_inherited_nested_test_counts_for_the_class_that_ran() {
        let xml = r#"<testsuite name="ex.HashBagTest" tests="2" errors="0" failures="1">
  <testcase name="own" classname="ex.HashBagTest" time="0.1"/>
  <testcase name="testIterator" classname="ex.AbstractBagTest$UniqueSetTest" time="0.1">
    <failure type="java.lang.AssertionError">x</failure>
  </testcase>
</testsuite>"#;
        insta::assert_snapshot!(read(xml), @r"
        ex/AbstractBagTest Failed 0/0/0/1 100 ms
        ex/HashBagTest Failed 1/0/0/1 200 ms
        ");
    }

    #[test]
    fn a_class_without_its_package_is_that_of_the_suite() {
        let xml = r#"<testsuite name="ex.ftp.ClientTest" tests="2" errors="0" failures="1">
  <testcase name="open" classname="ClientTest" time="0.1"/>
  <testcase name="open" classname="ClientTest" time="0.2"><failure/></testcase>
</testsuite>"#;
        insta::assert_snapshot!(read(xml), @"ex/ftp/ClientTest Failed 1/0/0/1 300 ms");
    }

    #[test]
    fn a_pass_on_a_retry_is_flaky_and_a_failed_retry_is_a_failure() {
        let xml = r#"<testsuite name="ex.T" tests="2" errors="0" failures="1">
  <testcase name="a" classname="ex.T" time="0.1">
    <flakyFailure message="once" type="java.lang.AssertionError"><stackTrace><![CDATA[x]]></stackTrace></flakyFailure>
  </testcase>
  <testcase name="b" classname="ex.T" time="0.1">
    <failure type="java.lang.AssertionError">x</failure>
    <rerunFailure type="java.lang.AssertionError"><stackTrace>x</stackTrace></rerunFailure>
  </testcase>
</testsuite>"#;
        insta::assert_snapshot!(read(xml), @"ex/T Failed 0/0/1/1 200 ms");
        insta::assert_snapshot!(
            read(&xml.replace("<failure type=\"java.lang.AssertionError\">x</failure>", "").replace("failures=\"1\"", "failures=\"0\"")),
            @"ex/T Flaky 0/0/2/0 200 ms"
        );
    }

    #[test]
    fn failures_that_no_case_shows_count_against_the_class_of_the_suite() {
        let xml = r#"<testsuites><testsuite name="ex.T" tests="1" errors="1" failures="0">
  <testcase name="a" classname="ex.T" time="0.1"/></testsuite></testsuites>"#;
        insta::assert_snapshot!(read(xml), @"ex/T Failed 1/0/0/1 100 ms");
    }

    #[test]
    fn a_report_name_suffix_is_no_part_of_the_class() {
        let xml = r#"<testsuite name="ex.T(jdk8)"><testcase name="a" classname="ex.T(jdk8)" time="0"/></testsuite>"#;
        insta::assert_snapshot!(read(xml), @"ex/T Passed 1/0/0/0 0 ms");
    }

    #[test]
    fn damaged_reports_are_errors() {
        insta::assert_snapshot!(read(""), @"it ends before its last element does");
        insta::assert_snapshot!(read("<html></html>"), @"its root is `html`");
        insta::assert_snapshot!(read("<testsuite><testcase name='a'/></testsuite>"), @"a test case names no class");
        insta::assert_snapshot!(read("<testsuite></testcase>"), @"it is not XML at offset 11");
    }

    const WHOLE: &str = r#"<testsuite name="ex.T" tests="1"><testcase name="é" classname="ex.T" time="0.1"><failure><![CDATA[x]]></failure></testcase></testsuite>"#;

    proptest! {
        #[test]
        fn a_report_cut_anywhere_is_an_error(end in 0..WHOLE.len()) {
            prop_assert!(read_cases(&WHOLE.as_bytes()[..end]).is_err());
        }
    }

    #[test]
    fn only_reports_of_this_run_are_read_and_damaged_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, age: u64| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            fs::File::open(&path).unwrap().set_modified(time).unwrap();
        };
        file("TEST-ex.T.xml", WHOLE, 10);
        file("TEST-ex.Old.xml", &WHOLE.replace("ex.T", "ex.Old"), 60);
        let (head, _) = WHOLE.split_once("<testcase").unwrap();
        file("TEST-ex.Cut.xml", head, 10);
        file("ex.T.txt", "x", 10);
        let since = SystemTime::now() - Duration::from_secs(30);
        let reports = read_reports(folder.path(), since).unwrap();
        assert_eq!(
            reports.classes.keys().collect::<Vec<_>>(),
            [&ClassName::from("ex/T")]
        );
        let damaged = &reports.damaged[0];
        assert!(damaged.path.ends_with("TEST-ex.Cut.xml"));
        assert!(matches!(damaged.kind, ReadReportErrorKind::CutShort));
    }

    #[test]
    fn no_directory_means_no_reports() {
        let folder = tempfile::tempdir().unwrap();
        let reports = read_reports(&folder.path().join("none"), SystemTime::UNIX_EPOCH).unwrap();
        assert!(reports.classes.is_empty() && reports.damaged.is_empty());
    }
}
