//! The project file `fewest.toml`: what a project wants of fewest.
//!
//! A file that is not understood stops a run before it begins. Passing over a
//! misspelt key would mean to leave out a test that its author wanted to run.

use std::fmt;
use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::{Path, PathBuf};

use fewest_classfile::fingerprint::DebugInfo;
use fewest_model::ClassName;
use fewest_select::{Entity, ParseEntityError, Technique};
use fewest_snapshot::FilePattern;
use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::coarsening::Coarsening;
use crate::order_settings::OrderBy;

/// What a project file says; the default is what holds without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ProjectFile {
    pub technique: Option<Technique>,
    pub entity: Option<Entity>,
    pub order: Option<OrderBy>,
    /// Decides between tests that are equally good to run next.
    pub seed: Option<u64>,
    /// Changes of methods that count as a change of the class.
    pub coarsen: Coarsening,
    /// Tests that always run.
    pub always_run: Vec<ClassPattern>,
    pub inputs: Vec<Inputs>,
    /// Files that never count.
    pub ignored_files: Vec<FilePattern>,
    /// Whether line numbers and the like count.
    pub track_debug_info: bool,
    /// Environment variables that count for every test.
    pub environment: Vec<String>,
    /// After how many runs everything runs, whatever the records say.
    pub full_run_every: Option<NonZeroU64>,
    /// In how many of the last runs a failure counts for `static-full`.
    pub recent_failures: Option<NonZeroU64>,
}

/// Files that tests depend on though they do not open them themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    pub tests: Vec<ClassPattern>,
    pub files: Vec<FilePattern>,
}

#[derive(Debug, Error)]
pub enum ProjectFileError {
    #[error("failed to read the project file `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}`, line {line}: {problem}", path.display())]
    Wrong {
        path: PathBuf,
        line: usize,
        problem: String,
    },
}

impl ProjectFile {
    pub const NAME: &str = "fewest.toml";

    /// Reads the file of the project that has its root here, if there is one.
    pub fn load(root: &Path) -> Result<Self, ProjectFileError> {
        let path = root.join(Self::NAME);
        match fs::read_to_string(&path) {
            Ok(text) => Parser::new(&path, &text).file(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ProjectFileError::Read { path, source }),
        }
    }

    pub fn debug_info(&self) -> DebugInfo {
        if self.track_debug_info {
            DebugInfo::Track
        } else {
            DebugInfo::Ignore
        }
    }

    /// In how many of the last runs a failure counts, where the technique runs
    /// again what failed lately. Ten did best where it was tried (FEST, §II-D).
    pub fn recent_failures(&self) -> u64 {
        self.recent_failures.map_or(10, NonZeroU64::get)
    }

    /// Whether a test is one of those that always run.
    pub fn always_runs(&self, test: &ClassName) -> bool {
        matches_any(&self.always_run, test)
    }

    /// The patterns of files that a test depends on by declaration.
    pub fn inputs_of(&self, test: &ClassName) -> impl Iterator<Item = &FilePattern> {
        self.inputs
            .iter()
            .filter(|inputs| matches_any(&inputs.tests, test))
            .flat_map(|inputs| &inputs.files)
    }

    /// Whether a file or directory, by its path below the root, never counts.
    pub fn ignores(&self, path: &str) -> bool {
        self.ignored_files
            .iter()
            .any(|pattern| pattern.matches(path))
    }
}

fn matches_any(patterns: &[ClassPattern], class: &ClassName) -> bool {
    patterns.iter().any(|pattern| pattern.matches(class))
}

/// A pattern on names of classes: `com.acme.Slow*`, `**.*IT`, `**/*IT`.
///
/// Dots and slashes mean the same. `*` stays within one part of the name, `**`
/// goes through packages. A pattern of one part is for classes of all packages.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClassPattern {
    text: String,
    matcher: GlobMatcher,
}

impl ClassPattern {
    pub fn new(text: &str) -> Result<Self, String> {
        let mut glob = text.replace('.', "/");
        if !glob.contains('/') {
            glob.insert_str(0, "**/");
        }
        let glob = GlobBuilder::new(&glob)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("`{text}` is not a pattern: {}", error.kind()))?;
        Ok(Self {
            text: text.to_owned(),
            matcher: glob.compile_matcher(),
        })
    }

    fn matches(&self, class: &ClassName) -> bool {
        self.matcher.is_match(class.as_str())
    }
}

impl TryFrom<String> for ClassPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::new(&text)
    }
}

impl From<ClassPattern> for String {
    fn from(pattern: ClassPattern) -> Self {
        pattern.text
    }
}

impl fmt::Debug for ClassPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl PartialEq for ClassPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ClassPattern {}

const KEYS: [&str; 12] = [
    "technique",
    "coarsen",
    "order",
    "seed",
    "entity",
    "always-run",
    "inputs",
    "ignored-files",
    "debug-info",
    "environment",
    "full-run-every",
    "recent-failures",
];
const INPUTS_KEYS: [&str; 2] = ["tests", "files"];

type Key<'t> = Spanned<std::borrow::Cow<'t, str>>;
type Value<'t> = Spanned<DeValue<'t>>;

fn whole_number(value: &Value<'_>) -> Option<u64> {
    let number = value.get_ref().as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Reads the text of a project file.
struct Parser<'t> {
    path: &'t Path,
    text: &'t str,
}

impl<'t> Parser<'t> {
    fn new(path: &'t Path, text: &'t str) -> Self {
        Self { path, text }
    }

    fn file(&self) -> Result<ProjectFile, ProjectFileError> {
        let table = DeTable::parse(self.text)
            .map_err(|error| self.wrong(error.span(), error.message().to_owned()))?;
        let mut file = ProjectFile::default();
        for (key, value) in in_order(table.get_ref()) {
            match &**key.get_ref() {
                "technique" => file.technique = Some(self.parsed(key, value, str::parse)?),
                "order" => file.order = Some(self.parsed(key, value, str::parse)?),
                "seed" => file.seed = Some(self.number(key, value)?),
                "entity" => file.entity = Some(self.parsed(key, value, entity)?),
                "coarsen" => {
                    let parts: Vec<Coarsening> = self.list(key, value, str::parse)?;
                    file.coarsen = parts.into_iter().collect();
                }
                "always-run" => file.always_run = self.list(key, value, ClassPattern::new)?,
                "inputs" => file.inputs = self.inputs(value)?,
                "ignored-files" => file.ignored_files = self.list(key, value, FilePattern::new)?,
                "debug-info" => file.track_debug_info = self.parsed(key, value, debug_info)?,
                "environment" => file.environment = self.list(key, value, variable)?,
                "full-run-every" => file.full_run_every = Some(self.count(key, value)?),
                "recent-failures" => file.recent_failures = Some(self.count(key, value)?),
                _ => return Err(self.unknown(key, &KEYS, "")),
            }
        }
        Ok(file)
    }

    fn inputs(&self, value: &Value<'t>) -> Result<Vec<Inputs>, ProjectFileError> {
        let problem = "`inputs` must be a list of tables, each written below `[[inputs]]`";
        let wrong = |value: &Value<'t>| self.wrong(Some(value.span()), problem.into());
        let tables = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        tables
            .iter()
            .map(|table| {
                let entries = table.get_ref().as_table().ok_or_else(|| wrong(table))?;
                self.inputs_table(table.span(), entries)
            })
            .collect()
    }

    fn inputs_table(
        &self,
        span: Range<usize>,
        table: &DeTable<'t>,
    ) -> Result<Inputs, ProjectFileError> {
        let mut inputs = Inputs {
            tests: Vec::new(),
            files: Vec::new(),
        };
        for (key, value) in in_order(table) {
            match &**key.get_ref() {
                "tests" => inputs.tests = self.list(key, value, ClassPattern::new)?,
                "files" => inputs.files = self.list(key, value, FilePattern::new)?,
                name if KEYS.contains(&name) => {
                    let problem = format!(
                        "`{name}` stands below `[[inputs]]` and would belong to it; \
                         move it above the first `[[inputs]]`"
                    );
                    return Err(self.wrong(Some(key.span()), problem));
                }
                _ => return Err(self.unknown(key, &INPUTS_KEYS, " of `[[inputs]]`")),
            }
        }
        for (name, empty) in [
            ("tests", inputs.tests.is_empty()),
            ("files", inputs.files.is_empty()),
        ] {
            if empty {
                let problem = format!("`[[inputs]]` needs `{name}`");
                return Err(self.wrong(Some(span), problem));
            }
        }
        Ok(inputs)
    }

    /// One text, or a list of them.
    fn list<T, E: fmt::Display>(
        &self,
        key: &Key<'t>,
        value: &Value<'t>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Vec<T>, ProjectFileError> {
        match value.get_ref().as_array() {
            Some(values) => values
                .iter()
                .map(|value| self.parsed(key, value, &parse))
                .collect(),
            None => Ok(vec![self.parsed(key, value, parse)?]),
        }
    }

    fn parsed<T, E: fmt::Display>(
        &self,
        key: &Key<'t>,
        value: &Value<'t>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, ProjectFileError> {
        let problem = match value.get_ref().as_str() {
            Some(text) => match parse(text) {
                Ok(parsed) => return Ok(parsed),
                Err(error) => format!("`{}`: {error}", key.get_ref()),
            },
            None => self.wrong_type(key, value, "text in quotes"),
        };
        Err(self.wrong(Some(value.span()), problem))
    }

    fn count(&self, key: &Key<'t>, value: &Value<'t>) -> Result<NonZeroU64, ProjectFileError> {
        whole_number(value)
            .and_then(NonZeroU64::new)
            .ok_or_else(|| {
                let problem = self.wrong_type(key, value, "a whole number from 1 on");
                self.wrong(Some(value.span()), problem)
            })
    }

    fn number(&self, key: &Key<'t>, value: &Value<'t>) -> Result<u64, ProjectFileError> {
        whole_number(value).ok_or_else(|| {
            let problem = self.wrong_type(key, value, "a whole number from 0 on");
            self.wrong(Some(value.span()), problem)
        })
    }

    #[expect(clippy::unused_self, reason = "reads as the other complaints do")]
    fn wrong_type(&self, key: &Key<'t>, value: &Value<'t>, wanted: &str) -> String {
        let found = match value.get_ref() {
            DeValue::String(text) => format!("the text `{text}`"),
            DeValue::Integer(number) => format!("the number {number}"),
            DeValue::Float(number) => format!("the number {number}"),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(time) => format!("the time {time}"),
            DeValue::Array(_) => "a list".into(),
            DeValue::Table(_) => "a table".into(),
        };
        format!("`{}` must be {wanted}, not {found}", key.get_ref())
    }

    fn unknown(&self, key: &Key<'t>, known: &[&str], place: &str) -> ProjectFileError {
        let name = key.get_ref();
        let problem = match nearest(name, known.iter().copied()) {
            Some(near) => format!("`{name}` is no key{place}; did you mean `{near}`?"),
            None => format!("`{name}` is no key{place}; there are {}", known.join(", ")),
        };
        self.wrong(Some(key.span()), problem)
    }

    fn wrong(&self, span: Option<Range<usize>>, problem: String) -> ProjectFileError {
        let start = span.map_or(0, |span| span.start).min(self.text.len());
        let before = self.text.get(..start).unwrap_or_default();
        ProjectFileError::Wrong {
            path: self.path.to_owned(),
            line: 1 + before.matches('\n').count(),
            problem,
        }
    }
}

/// The entries of a table as they follow each other in the file, so that the
/// first mistake is told first.
fn in_order<'a, 't>(table: &'a DeTable<'t>) -> Vec<(&'a Key<'t>, &'a Value<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn entity(text: &str) -> Result<Entity, String> {
    match text {
        "assertion" => {
            Err("selection by `assertion` does not exist yet; `class` and `method` do".into())
        }
        _ => text
            .parse()
            .map_err(|error: ParseEntityError| error.to_string()),
    }
}

fn debug_info(text: &str) -> Result<bool, String> {
    match text {
        "ignore" => Ok(false),
        "track" => Ok(true),
        _ => Err(format!("there are `ignore` and `track`, not `{text}`")),
    }
}

fn variable(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(['=', '\0', '*']) {
        return Err(format!("`{text}` is no name of an environment variable"));
    }
    Ok(text.to_owned())
}

/// The name that someone may have meant, if one is near enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

/// A project file in which every setting is explained and none is made.
pub const TEMPLATE: &str = include_str!("fewest.toml");

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ProjectFile, String> {
        Parser::new(Path::new("fewest.toml"), text)
            .file()
            .map_err(|error| error.to_string())
    }

    fn problem(text: &str) -> String {
        parse(text).unwrap_err()
    }

    #[test]
    fn a_file_with_everything_is_understood() {
        let file = parse(
            r#"
            technique = "file"
            coarsen = ["CIM", "AIM,DIM"]
            entity = "method"
            always-run = ["**/*IT", "com.acme.Slow*"]
            ignored-files = "target/tmp/**"
            debug-info = "track"
            environment = ["CI", "TZ"]
            full-run-every = 20

            [[inputs]]
            tests = "*MigrationTest"
            files = ["schema/**/*.sql"]
            "#,
        )
        .unwrap();
        assert_eq!(file.technique, Some(Technique::File));
        assert_eq!(file.entity, Some(Entity::Method));
        assert_eq!(file.coarsen.to_string(), "AIM,DIM,CIM");
        assert_eq!(file.debug_info(), DebugInfo::Track);
        assert_eq!(file.environment, ["CI", "TZ"]);
        assert_eq!(file.full_run_every, NonZeroU64::new(20));
        assert!(file.always_runs(&"com/acme/SlowTest".into()));
        assert!(file.ignores("target/tmp/x"));
        let inputs = |test: &str| file.inputs_of(&ClassName::new(test)).count();
        assert_eq!((inputs("db/MigrationTest"), inputs("db/OtherTest")), (1, 0));
    }

    #[test]
    fn what_a_run_keeps_of_it_reads_back_the_same() {
        let file =
            parse("coarsen = \"CI\"\nalways-run = \"*IT\"\nfull-run-every = 3\n[[inputs]]\ntests='A'\nfiles='b/*'")
                .unwrap();
        let text = serde_json::to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<ProjectFile>(&text).unwrap(), file);
    }

    #[test]
    fn patterns_are_for_parts_of_names() {
        let matches = |pattern: &str, class: &str| {
            ClassPattern::new(pattern)
                .unwrap()
                .matches(&ClassName::from_dotted(class))
        };
        assert!(matches("*IT", "LoginIT"));
        assert!(matches("*IT", "com.acme.LoginIT"));
        assert!(!matches("*IT", "com.acme.LoginTest"));
        assert!(matches("com.acme.Slow*", "com.acme.SlowTest"));
        assert!(!matches("com.acme.Slow*", "com.acme.deep.SlowTest"));
        assert!(matches("com.acme.**", "com.acme.deep.SlowTest"));
        assert!(matches("**/*IT", "com.acme.LoginIT"));
        assert!(matches("com.acme.{A,B}Test", "com.acme.BTest"));
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_line_and_a_suggestion() {
        assert_eq!(
            problem("technique = \"file\"\nalways_run = []"),
            "`fewest.toml`, line 2: `always_run` is no key; did you mean `always-run`?"
        );
        assert_eq!(
            problem("[colour]\n"),
            "`fewest.toml`, line 1: `colour` is no key; there are technique, coarsen, order, \
             seed, entity, always-run, inputs, ignored-files, debug-info, environment, full-run-every, \
             recent-failures"
        );
        assert_eq!(
            problem("[[inputs]]\ntests='a'\nfile='b'"),
            "`fewest.toml`, line 3: `file` is no key of `[[inputs]]`; did you mean `files`?"
        );
        assert_eq!(
            problem("[[inputs]]\ntests='a'\nfiles='b'\n\ntechnique='file'"),
            "`fewest.toml`, line 5: `technique` stands below `[[inputs]]` and would belong to it; \
             move it above the first `[[inputs]]`"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_an_error_that_shows_it() {
        for (text, expected) in [
            (
                "technique = 3",
                "`technique` must be text in quotes, not the number 3",
            ),
            (
                "technique = 'files'",
                "`technique`: `files` is no technique; there are all, file, hybrid, hybrid-lookup, hybrid-block, static, static-full",
            ),
            (
                "entity = 'assertion'",
                "`entity`: selection by `assertion` does not exist yet; `class` and `method` do",
            ),
            (
                "debug-info = true",
                "`debug-info` must be text in quotes, not true",
            ),
            (
                "debug-info = 'on'",
                "`debug-info`: there are `ignore` and `track`, not `on`",
            ),
            (
                "full-run-every = 0",
                "`full-run-every` must be a whole number from 1 on, not the number 0",
            ),
            (
                "full-run-every = '9'",
                "`full-run-every` must be a whole number from 1 on, not the text `9`",
            ),
            (
                "environment = ['A=b']",
                "`environment`: `A=b` is no name of an environment variable",
            ),
            (
                "inputs = 'x'",
                "`inputs` must be a list of tables, each written below `[[inputs]]`",
            ),
            ("[[inputs]]\ntests = 'a'", "`[[inputs]]` needs `files`"),
            (
                "ignored-files = ['/tmp/*']",
                "`ignored-files`: `/tmp/*` is not a pattern: patterns start at the project's root",
            ),
        ] {
            assert_eq!(problem(text), format!("`fewest.toml`, line 1: {expected}"));
        }
    }

    #[test]
    fn text_that_is_not_toml_is_an_error_with_its_line() {
        let problem = problem("technique = \"file\"\n= 3");
        assert!(problem.starts_with("`fewest.toml`, line 2: "), "{problem}");
    }

    #[test]
    fn a_project_without_a_file_has_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            ProjectFile::load(folder.path()).unwrap(),
            ProjectFile::default()
        );
    }

    #[test]
    fn the_template_changes_nothing_as_it_is_and_is_understood_without_its_comments() {
        assert_eq!(parse(TEMPLATE).unwrap(), ProjectFile::default());
        let uncommented: Vec<&str> = TEMPLATE
            .lines()
            .filter_map(|line| line.strip_prefix('#'))
            .filter(|line| !line.starts_with(' '))
            .collect();
        let file = parse(&uncommented.join("\n")).unwrap();
        assert!(!file.always_run.is_empty() && !file.inputs.is_empty());
        assert!(file.full_run_every.is_some() && file.track_debug_info);
        for key in KEYS {
            assert!(TEMPLATE.contains(key), "{key}");
        }
    }
}
