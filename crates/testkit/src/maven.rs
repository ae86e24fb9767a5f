//! Jars from Maven Central, by way of the local Maven repository.
//!
//! Maven itself fetches what is missing, so its mirrors, proxies and
//! credentials hold here too. Nothing transitive: a test names what it wants.

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::cache::{CacheError, Lock};
use crate::{Run, RunError};

/// Copies listed artifacts, also two versions of the same one, which the
/// dependencies of a project could not hold.
const COPY_GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
const TIMEOUT: Duration = Duration::from_secs(600);

/// A jar's name: `group:artifact:version` or `group:artifact:version:classifier`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coordinates {
    group: String,
    artifact: String,
    version: String,
    classifier: Option<String>,
}

impl FromStr for Coordinates {
    type Err = MavenError;

    fn from_str(text: &str) -> Result<Self, MavenError> {
        let parts: Vec<_> = text.split(':').collect();
        if !parts.iter().copied().all(is_plain) {
            return Err(MavenError::Coordinates(text.to_owned()));
        }
        let (group, artifact, version, classifier) = match parts[..] {
            [group, artifact, version] => (group, artifact, version, None),
            [group, artifact, version, classifier] => (group, artifact, version, Some(classifier)),
            _ => return Err(MavenError::Coordinates(text.to_owned())),
        };
        Ok(Self {
            group: group.to_owned(),
            artifact: artifact.to_owned(),
            version: version.to_owned(),
            classifier: classifier.map(str::to_owned),
        })
    }
}

/// No other letter occurs in practice, and these need no escape in XML and
/// cannot leave the repository's folder.
fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('.')
        && part
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
}

impl fmt::Display for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.group, self.artifact, self.version)?;
        match &self.classifier {
            Some(classifier) => write!(f, ":{classifier}"),
            None => Ok(()),
        }
    }
}

impl Coordinates {
    fn path_in(&self, repository: &Path) -> PathBuf {
        let Self {
            artifact, version, ..
        } = self;
        let file = match &self.classifier {
            Some(classifier) => format!("{artifact}-{version}-{classifier}.jar"),
            None => format!("{artifact}-{version}.jar"),
        };
        repository
            .join(self.group.replace('.', "/"))
            .join(artifact)
            .join(version)
            .join(file)
    }

    fn artifact_item(&self) -> String {
        let classifier = self
            .classifier
            .as_ref()
            .map_or_else(String::new, |classifier| {
                format!("<classifier>{classifier}</classifier>")
            });
        format!(
            "<artifactItem><groupId>{}</groupId><artifactId>{}</artifactId>\
             <version>{}</version>{classifier}</artifactItem>",
            self.group, self.artifact, self.version
        )
    }
}

#[derive(Error)]
pub enum MavenError {
    #[error("`{0}` is not of the form group:artifact:version[:classifier]")]
    Coordinates(String),
    #[error("could not fetch jars with Maven")]
    Fetch(#[from] RunError),
    #[error("Maven ended well but `{}` is not there", .0.display())]
    Absent(PathBuf),
    #[error("no home folder, so no local Maven repository")]
    NoHome,
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("could not write a project for Maven")]
    Project(#[from] io::Error),
}

readable_debug!(MavenError);

/// One jar by its coordinates, as `junit:junit:4.13.2`.
pub fn maven_jar(coordinates: &str) -> Result<PathBuf, MavenError> {
    let mut jars = maven_jars(&[coordinates])?;
    Ok(jars.remove(0))
}

/// Jars in the order asked for. All that are missing come by one call of Maven.
pub fn maven_jars(coordinates: &[&str]) -> Result<Vec<PathBuf>, MavenError> {
    jars_in(&local_repository()?, coordinates)
}

fn jars_in(repository: &Path, coordinates: &[&str]) -> Result<Vec<PathBuf>, MavenError> {
    let wanted = coordinates
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<Coordinates>, _>>()?;
    if !missing(repository, &wanted).is_empty() {
        // Another test may fetch the same, so look again when it is our turn.
        let _lock = Lock::take("maven")?;
        fetch(repository, &missing(repository, &wanted))?;
    }
    wanted
        .iter()
        .map(|jar| jar.path_in(repository))
        .map(|path| {
            if path.is_file() {
                Ok(path)
            } else {
                Err(MavenError::Absent(path))
            }
        })
        .collect()
}

fn missing<'a>(repository: &Path, wanted: &'a [Coordinates]) -> Vec<&'a Coordinates> {
    wanted
        .iter()
        .filter(|jar| !jar.path_in(repository).is_file())
        .collect()
}

fn fetch(repository: &Path, jars: &[&Coordinates]) -> Result<(), MavenError> {
    if jars.is_empty() {
        return Ok(());
    }
    let project = tempfile::tempdir()?;
    fs::write(project.path().join("pom.xml"), pom(jars))?;
    Run::new("mvn")
        .args(["-q", "-B", "-ntp", COPY_GOAL])
        .arg(format!("-Dmaven.repo.local={}", repository.display()))
        .current_dir(project.path())
        .timeout(TIMEOUT)
        .succeed()?;
    Ok(())
}

fn pom(jars: &[&Coordinates]) -> String {
    let items: String = jars.iter().map(|jar| jar.artifact_item()).collect();
    format!(
        "<project><modelVersion>4.0.0</modelVersion>\
         <groupId>fewest</groupId><artifactId>fetch</artifactId><version>1</version>\
         <packaging>pom</packaging><build><plugins><plugin>\
         <groupId>org.apache.maven.plugins</groupId>\
         <artifactId>maven-dependency-plugin</artifactId>\
         <configuration><artifactItems>{items}</artifactItems></configuration>\
         </plugin></plugins></build></project>"
    )
}

/// Where Maven keeps what it fetched. Fetching names this folder too, so we
/// look where Maven writes whatever its settings say.
fn local_repository() -> Result<PathBuf, MavenError> {
    let from_options = ["MAVEN_OPTS", "MAVEN_ARGS"]
        .iter()
        .filter_map(|name| env::var(name).ok())
        .find_map(|options| repository_option(&options));
    match from_options {
        Some(folder) => Ok(folder),
        None => env::home_dir()
            .map(|home| home.join(".m2/repository"))
            .ok_or(MavenError::NoHome),
    }
}

fn repository_option(options: &str) -> Option<PathBuf> {
    options
        .split_whitespace()
        .find_map(|option| option.strip_prefix("-Dmaven.repo.local="))
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(text: &str) -> String {
        let coordinates: Coordinates = text.parse().unwrap();
        assert_eq!(coordinates.to_string(), text);
        coordinates.path_in(Path::new("repo")).display().to_string()
    }

    #[test]
    fn coordinates_name_a_place_in_the_repository() {
        assert_eq!(
            path_of("org.apache.commons:commons-lang3:3.14.0:sources"),
            "repo/org/apache/commons/commons-lang3/3.14.0/commons-lang3-3.14.0-sources.jar"
        );
        assert_eq!(
            path_of("junit:junit:4.13.2"),
            "repo/junit/junit/4.13.2/junit-4.13.2.jar"
        );
    }

    #[test]
    fn coordinates_that_are_none_are_refused() {
        for text in [
            "junit",
            "a:b",
            "a:b:c:d:e",
            "a::1",
            "a:b:<1>",
            "a:b:../1",
            "",
        ] {
            let error = text.parse::<Coordinates>().unwrap_err();
            assert!(matches!(error, MavenError::Coordinates(_)), "{text}");
        }
    }

    #[test]
    fn the_repository_is_found_among_other_options() {
        assert_eq!(
            repository_option("-Xmx1g -Dmaven.repo.local=/some/where -B"),
            Some(PathBuf::from("/some/where"))
        );
        assert_eq!(repository_option("-Xmx1g"), None);
    }

    #[test]
    fn jars_that_are_there_need_no_maven() {
        let repository = tempfile::tempdir().unwrap();
        let jar = repository.path().join("g/a/1/a-1.jar");
        fs::create_dir_all(jar.parent().unwrap()).unwrap();
        fs::write(&jar, "").unwrap();
        assert_eq!(jars_in(repository.path(), &["g:a:1"]).unwrap(), [jar]);
    }
}

#[cfg(test)]
mod jvm_tests {
    use super::*;

    #[test]
    fn maven_fetches_two_versions_and_a_classifier_in_the_order_asked_for() {
        let jars = maven_jars(&[
            "junit:junit:4.13.2",
            "org.hamcrest:hamcrest-core:1.3:sources",
            "junit:junit:4.12",
        ])
        .unwrap();
        let names: Vec<_> = jars.iter().map(|jar| jar.file_name().unwrap()).collect();
        assert_eq!(
            names,
            [
                "junit-4.13.2.jar",
                "hamcrest-core-1.3-sources.jar",
                "junit-4.12.jar"
            ]
        );
        for jar in jars {
            assert!(
                fs::read(&jar).unwrap().starts_with(b"PK"),
                "{}",
                jar.display()
            );
        }
    }

    #[test]
    fn a_jar_that_does_not_exist_is_named_in_the_error() {
        let error = maven_jar("junit:junit:0.0.0-none").unwrap_err();
        assert!(format!("{error:?}").contains("0.0.0-none"), "{error:?}");
    }

    #[test]
    fn a_fetched_jar_serves_compiler_and_jvm() {
        use crate::{JavaRun, Jdk, TestProject, compile};
        let jars = maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap();
        let project = TestProject::new();
        let source = "public class OneTest { @org.junit.Test public void passes() {} }";
        let jdk = Jdk::default();
        let options = ["--release", "8"];
        compile(
            &jdk,
            &[("OneTest.java", source)],
            &options,
            &jars,
            project.root(),
        )
        .unwrap();
        let finished = JavaRun::new(&jdk, "org.junit.runner.JUnitCore")
            .classpath(&jars)
            .classpath([project.root()])
            .args(["OneTest"])
            .succeed()
            .unwrap();
        assert!(
            finished.stdout.contains("OK (1 test)"),
            "{}",
            finished.stdout
        );
    }
}
