//! Programs that this JVM starts, JVMs among them.
//!
//! A JVM that a test starts is part of the test, so it gets this agent, told
//! whose windows it belongs to. No JVM's code here: launches come as values
//! and go as values.

use std::path::{Path, PathBuf};

use crate::config::Config;

const TOOL_OPTIONS: &[u8] = b"JAVA_TOOL_OPTIONS=";

/// How a program is about to be started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) program: Vec<u8>,
    /// Without the program's own name.
    pub(crate) arguments: Vec<Vec<u8>>,
    /// `None` to hand down this process's own.
    pub(crate) environment: Option<Vec<Vec<u8>>>,
    /// `None` for this process's own.
    pub(crate) directory: Option<Vec<u8>>,
}

/// The option that loads this agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentOption {
    library: Vec<u8>,
}

impl AgentOption {
    /// `None` where the library's path would end at the wrong `=`.
    pub(crate) fn new(library: &[u8]) -> Option<Self> {
        (!library.is_empty() && !library.contains(&b'=')).then(|| Self {
            library: library.to_vec(),
        })
    }

    fn with(&self, configuration: &[u8]) -> Vec<u8> {
        [b"-agentpath:", &self.library[..], b"=", configuration].concat()
    }

    fn is(&self, word: &[u8]) -> bool {
        let rest = word
            .strip_prefix(b"-agentpath:")
            .and_then(|word| word.strip_prefix(&self.library[..]));
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'=')
    }
}

impl Launch {
    /// Whether the program is a JVM, as far as its name tells.
    pub(crate) fn is_java(&self) -> bool {
        self.program.rsplit(|byte| *byte == b'/').next() == Some(b"java")
    }

    /// Whether the new JVM would load the agent without our doing.
    pub(crate) fn has_agent(&self, agent: &AgentOption, own_environment: &[Vec<u8>]) -> bool {
        let environment = self.environment.as_deref().unwrap_or(own_environment);
        self.arguments.iter().any(|word| agent.is(word))
            || environment.iter().any(|variable| {
                tool_options(variable).is_some_and(|options| {
                    options
                        .split(u8::is_ascii_whitespace)
                        .any(|word| agent.is(word))
                })
            })
    }

    /// The same launch with the agent in it, once, with this configuration.
    /// The option comes first, where the launcher takes it for an option
    /// whatever follows.
    pub(crate) fn with_agent(
        &self,
        agent: &AgentOption,
        configuration: &Path,
        own_environment: &[Vec<u8>],
    ) -> Self {
        let option = agent.with(configuration.as_os_str().as_encoded_bytes());
        let others = self.arguments.iter().filter(|word| !agent.is(word));
        let environment = self.environment.as_deref().unwrap_or(own_environment);
        let cleaned = without_agent(environment, agent);
        Self {
            arguments: [option].into_iter().chain(others.cloned()).collect(),
            environment: cleaned.or_else(|| self.environment.clone()),
            ..self.clone()
        }
    }

    /// Paths that the new program is told of, as it will see them.
    pub(crate) fn paths(&self) -> Vec<Vec<u8>> {
        const MOST: usize = 1_000;
        let program = Some(&self.program).filter(|program| program.contains(&b'/'));
        let words = self.arguments.iter().filter(|word| is_like_a_path(word));
        program
            .into_iter()
            .chain(words)
            .take(MOST)
            .map(|path| self.seen_by_child(path))
            .collect()
    }

    fn seen_by_child(&self, path: &[u8]) -> Vec<u8> {
        match &self.directory {
            Some(directory) if !path.starts_with(b"/") => [&directory[..], b"/", path].concat(),
            _ => path.to_vec(),
        }
    }
}

fn is_like_a_path(word: &[u8]) -> bool {
    const LONGEST: usize = 4_096;
    !word.is_empty() && word.len() < LONGEST && !word.starts_with(b"-")
}

fn tool_options(variable: &[u8]) -> Option<&[u8]> {
    variable.strip_prefix(TOOL_OPTIONS)
}

/// The environment without the agent in it, if it is there. A variable that
/// held nothing else goes, because the JVM would mention it.
fn without_agent(environment: &[Vec<u8>], agent: &AgentOption) -> Option<Vec<Vec<u8>>> {
    let mut changed = false;
    let mut cleaned = Vec::with_capacity(environment.len());
    for variable in environment {
        let Some(options) = tool_options(variable) else {
            cleaned.push(variable.clone());
            continue;
        };
        let words = options
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let (own, others): (Vec<_>, Vec<_>) = words.partition(|word| agent.is(word));
        changed |= !own.is_empty();
        if own.is_empty() {
            cleaned.push(variable.clone());
        } else if !others.is_empty() {
            cleaned.push([TOOL_OPTIONS, &others.join(&b' ')].concat());
        }
    }
    changed.then_some(cleaned)
}

/// Configurations for the agents of child JVMs.
#[derive(Debug, Default)]
pub(crate) struct ChildConfigs {
    count: u32,
    last: Option<(Config, PathBuf)>,
}

impl ChildConfigs {
    /// A file with this configuration in `folder`: the last one, if it says
    /// the same.
    pub(crate) fn write(&mut self, folder: &Path, config: Config) -> std::io::Result<PathBuf> {
        if let Some((last, path)) = &self.last
            && *last == config
        {
            return Ok(path.clone());
        }
        self.count += 1;
        let path = folder.join(format!("child-{}-{}.conf", std::process::id(), self.count));
        std::fs::create_dir_all(folder)?;
        std::fs::write(&path, config.to_text())?;
        self.last = Some((config, path.clone()));
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MethodWindows;

    fn words(text: &str) -> Vec<Vec<u8>> {
        text.split(' ')
            .map(|word| word.as_bytes().to_vec())
            .collect()
    }

    fn launch(program: &str, arguments: &str) -> Launch {
        Launch {
            program: program.into(),
            arguments: words(arguments),
            ..Launch::default()
        }
    }

    fn agent() -> AgentOption {
        AgentOption::new(b"/l/agent.so").unwrap()
    }

    #[test]
    fn a_launcher_is_known_by_its_name() {
        assert!(launch("/jdk/bin/java", "-version").is_java());
        assert!(launch("java", "-version").is_java());
        assert!(!launch("/jdk/bin/javac", "A.java").is_java());
        assert!(!launch("/java/ls", ".").is_java());
    }

    #[test]
    fn the_agent_comes_first_and_once() {
        let changed = launch("java", "-ea -agentpath:/l/agent.so=/old Main").with_agent(
            &agent(),
            Path::new("/new"),
            &[],
        );
        assert_eq!(
            changed.arguments,
            words("-agentpath:/l/agent.so=/new -ea Main")
        );
        assert_eq!(changed.environment, None);
    }

    #[test]
    fn only_our_part_of_the_environment_goes() {
        let own = [
            b"A=1".to_vec(),
            b"JAVA_TOOL_OPTIONS=-Dx=1 -agentpath:/l/agent.so=/c -ea".to_vec(),
        ];
        let launch = launch("java", "Main");
        assert!(launch.has_agent(&agent(), &own));
        let changed = launch.with_agent(&agent(), Path::new("/new"), &own);
        let expected = vec![b"A=1".to_vec(), b"JAVA_TOOL_OPTIONS=-Dx=1 -ea".to_vec()];
        assert_eq!(changed.environment, Some(expected));

        let own = [b"JAVA_TOOL_OPTIONS=-agentpath:/l/agent.so=/c".to_vec()];
        let changed = launch.with_agent(&agent(), Path::new("/new"), &own);
        assert_eq!(changed.environment, Some(vec![]));
    }

    #[test]
    fn an_environment_of_its_own_is_what_counts() {
        let own = [b"JAVA_TOOL_OPTIONS=-agentpath:/l/agent.so=/c".to_vec()];
        let launch = Launch {
            environment: Some(vec![b"A=1".to_vec()]),
            ..launch("java", "Main")
        };
        assert!(!launch.has_agent(&agent(), &own));
        let changed = launch.with_agent(&agent(), Path::new("/new"), &own);
        assert_eq!(changed.environment, launch.environment);
    }

    #[test]
    fn another_agent_is_not_ours() {
        let other = launch("java", "-agentpath:/l/agent.so2=/c -agentpath:/l/x.so Main");
        assert!(!other.has_agent(&agent(), &[]));
        assert_eq!(AgentOption::new(b"/a=b/agent.so"), None);
    }

    #[test]
    fn paths_are_those_that_the_child_sees() {
        let tool = Launch {
            directory: Some(b"/project".to_vec()),
            ..launch("./tool.sh", "-v data.txt /etc/x")
        };
        let paths: Vec<String> = tool
            .paths()
            .into_iter()
            .map(|path| String::from_utf8(path).unwrap())
            .collect();
        assert_eq!(paths, ["/project/./tool.sh", "/project/data.txt", "/etc/x"]);
        assert!(launch("ls", "-l").paths().is_empty());
    }

    #[test]
    fn equal_configurations_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config {
            folder: "/traces".into(),
            ..Config::default()
        };
        let mut configs = ChildConfigs::default();
        let first = configs.write(folder.path(), config.clone()).unwrap();
        assert_eq!(configs.write(folder.path(), config.clone()).unwrap(), first);
        assert_eq!(Config::read(&first).unwrap(), config);
        let other = Config {
            methods: MethodWindows::All,
            ..config
        };
        assert_ne!(configs.write(folder.path(), other).unwrap(), first);
    }
}
