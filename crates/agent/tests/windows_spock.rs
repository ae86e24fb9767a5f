//! What belongs to which specification in Spock 2.

mod windows_support;

use std::time::Duration;

use fewest_testkit::{JavaRun, Jdk, maven_jars};
use windows_support::Stage;

const SPECIFICATIONS: &str = "
import spock.lang.*
class PlainSpec extends Specification {
    static { Mark.plainStatic() }
    @Shared def shared = Mark.plainShared()
    def field = Mark.plainField()
    def setupSpec() { Mark.plainSetupSpec() }
    def cleanupSpec() { Mark.plainCleanupSpec() }
    def setup() { Mark.plainSetup() }
    def 'one plus #n'() {
        Mark.plainFeature()
        expect: 1 + n == sum
        where:
        n | sum
        1 | Mark.plainData() + 2
        2 | 3
    }
}
class FailSpec extends Specification {
    def bad() { expect: Mark.failBad() == 1 }
    def good() { expect: Mark.failGood() == 0 }
}
class IgnoredSpec extends Specification {
    @Ignore def off() { expect: Mark.never() == 0 }
    def on() { expect: Mark.ignoredOn() == 0 }
}
@Stepwise class LeftOutSpec extends Specification {
    static { Mark.leftOutStatic() }
    def setupSpec() { Mark.leftOutSetup() }
    def one() { expect: Mark.leftOutOne() == 0 }
}
";

#[test]
fn spock_2() {
    let jdk = Jdk::under_test();
    let jars = maven_jars(&[
        "org.apache.groovy:groovy:4.0.24",
        "org.spockframework:spock-core:2.3-groovy-4.0",
        "org.junit.platform:junit-platform-console-standalone:1.9.3",
        "org.hamcrest:hamcrest-core:1.3",
    ])
    .unwrap();
    // The Java compiler makes `Mark`, and a class that names all marks.
    let names = format!("public class Names {{ /* {SPECIFICATIONS} */ }}");
    let stage = Stage::new(&[&names], &jars);
    let source = stage.project.write("Specifications.groovy", SPECIFICATIONS);
    let classes = stage.project.path("classes");
    JavaRun::new(&jdk, "org.codehaus.groovy.tools.FileSystemCompiler")
        .classpath([classes.clone()])
        .classpath(&jars)
        .args([
            "-d".into(),
            classes.into_os_string(),
            source.into_os_string(),
        ])
        .timeout(Duration::from_secs(240))
        .succeed()
        .unwrap();
    let main = "org.junit.platform.console.ConsoleLauncher";
    let arguments = [
        "--disable-banner",
        "--disable-ansi-colors",
        "-c",
        "PlainSpec",
        "-c",
        "FailSpec",
        "-c",
        "IgnoredSpec",
        "-c",
        "LeftOutSpec",
    ];
    let watched = stage.watch(&jdk, main, &arguments);
    assert_eq!(
        watched.summary(),
        "\
FailSpec failed 2: failBad failGood
IgnoredSpec passed 2: ignoredOn
LeftOutSpec passed 1: leftOutOne leftOutSetup leftOutStatic
PlainSpec passed 3: plainCleanupSpec plainData plainFeature plainField plainSetup plainSetupSpec \
        plainShared plainStatic
ambient:
"
    );
    let watched = stage.leave_out(&jdk, main, &arguments, &["LeftOutSpec", "FailSpec"]);
    assert_eq!(
        watched.summary(),
        "\
FailSpec passed 0 left-out:
IgnoredSpec passed 2: ignoredOn
LeftOutSpec passed 0 left-out:
PlainSpec passed 3: plainCleanupSpec plainData plainFeature plainField plainSetup plainSetupSpec \
        plainShared plainStatic
ambient:
"
    );
    assert!(watched.finished.success(), "{}", watched.finished.stdout);
}
