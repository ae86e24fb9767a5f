//! What the command line tells the agent, through a small file.
//!
//! The path of the file is all that stands on the JVM's command line, so no
//! value needs quoting there.

use std::path::{Path, PathBuf};

use fewest_trace::ParentWindows;
use thiserror::Error;

/// The settings of one agent, one `key=value` on each line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, and any can be on beside any other"
)]
pub struct Config {
    /// Folder for the trace. Where [`Config::program`] is set, each test JVM
    /// makes its own task folder below it instead.
    pub folder: PathBuf,
    /// The `fewest` program to ask which test classes can be left out; set
    /// where no build tool has asked already.
    pub program: Option<PathBuf>,
    /// The test classes of which each method gets a window too.
    pub methods: MethodWindows,
    /// Whether to watch files, resources, reflection and the like.
    pub things: bool,
    /// Whether to tell on objects of which classes methods ran.
    pub receivers: bool,
    /// Whether to tell which blocks of methods ran.
    pub blocks: bool,
    /// Whether to tell what each statement of a test method used.
    pub statements: bool,
    /// Where the JVM that started this one keeps its trace.
    pub parent: Option<ParentWindows>,
}

/// Test classes whose methods are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MethodWindows {
    #[default]
    None,
    /// Those that the answer to the task names.
    Listed,
    All,
}

impl MethodWindows {
    fn name(self) -> &'static str {
        match self {
            Self::None => "off",
            Self::Listed => "listed",
            Self::All => "on",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let mut all = [Self::None, Self::Listed, Self::All].into_iter();
        all.find(|windows| windows.name() == name)
    }
}

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("no path of a configuration file was given")]
    NoPath,
    #[error("failed to read `{}`", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("line {line} of the configuration is not understood: `{text}`")]
    Line { line: usize, text: String },
    #[error("the configuration names no folder")]
    NoFolder,
}

impl Config {
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        if path.as_os_str().is_empty() {
            return Err(ConfigError::NoPath);
        }
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut config = Self {
            things: true,
            ..Self::default()
        };
        let mut parent = ParentWindows::default();
        for (index, line) in text.lines().enumerate() {
            let error = || ConfigError::Line {
                line: index + 1,
                text: line.to_owned(),
            };
            let (key, value) = line.split_once('=').ok_or_else(error)?;
            match key {
                "folder" => config.folder = value.into(),
                "program" => config.program = Some(value.into()),
                "methods" => config.methods = MethodWindows::named(value).ok_or_else(error)?,
                "things" => config.things = on_or_off(value).ok_or_else(error)?,
                "receivers" => config.receivers = on_or_off(value).ok_or_else(error)?,
                "blocks" => config.blocks = on_or_off(value).ok_or_else(error)?,
                "statements" => config.statements = on_or_off(value).ok_or_else(error)?,
                "parent-trace" => value.clone_into(&mut parent.trace),
                "parent-windows" => {
                    parent.windows = value
                        .split(',')
                        .filter(|number| !number.is_empty())
                        .map(|number| number.parse().map_err(|_| error()))
                        .collect::<Result<_, _>>()?;
                }
                _ => return Err(error()),
            }
        }
        if config.folder.as_os_str().is_empty() {
            return Err(ConfigError::NoFolder);
        }
        config.parent = (!parent.trace.is_empty()).then_some(parent);
        Ok(config)
    }

    /// The text of a file that reads back as this configuration.
    pub fn to_text(&self) -> String {
        let word = |on: bool| if on { "on" } else { "off" };
        let mut lines = vec![
            format!("folder={}", self.folder.display()),
            format!("methods={}", self.methods.name()),
            format!("things={}", word(self.things)),
            format!("receivers={}", word(self.receivers)),
            format!("blocks={}", word(self.blocks)),
            format!("statements={}", word(self.statements)),
        ];
        if let Some(program) = &self.program {
            lines.push(format!("program={}", program.display()));
        }
        if let Some(parent) = &self.parent {
            let windows: Vec<String> = parent.windows.iter().map(u32::to_string).collect();
            lines.push(format!("parent-trace={}", parent.trace));
            lines.push(format!("parent-windows={}", windows.join(",")));
        }
        lines.join("\n") + "\n"
    }
}

fn on_or_off(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_reads_back_as_written() {
        let config = Config {
            folder: "/a folder/traces".into(),
            program: Some("/bin/fewest".into()),
            methods: MethodWindows::Listed,
            things: false,
            receivers: true,
            blocks: true,
            statements: true,
            parent: Some(ParentWindows {
                trace: "1.trace".into(),
                windows: vec![3, 5],
            }),
        };
        assert_eq!(Config::parse(&config.to_text()).unwrap(), config);
        for methods in [MethodWindows::None, MethodWindows::All] {
            let config = Config {
                methods,
                ..config.clone()
            };
            assert_eq!(Config::parse(&config.to_text()).unwrap(), config);
        }
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        let error = Config::parse("folder=/x\nmethods=maybe").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2 of the configuration is not understood: `methods=maybe`"
        );
        assert!(matches!(Config::parse(""), Err(ConfigError::NoFolder)));
    }
}
