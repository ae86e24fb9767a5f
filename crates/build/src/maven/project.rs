//! Where a Maven project begins.

use std::fs;
use std::path::{Path, PathBuf};

use quick_xml::Reader;
use quick_xml::events::Event;

/// The top of the project that a directory belongs to.
///
/// A `.mvn` folder beside a project file marks it, as it does for Maven. Else
/// the directory itself is taken, and from there each directory above whose
/// project file names the one below as a module: a build of one module finds
/// the same top as a build of all.
pub(super) fn project_root(start: &Path) -> PathBuf {
    let marked = start
        .ancestors()
        .find(|directory| directory.join(".mvn").is_dir() && has_project_file(directory));
    if let Some(marked) = marked {
        return marked.to_owned();
    }
    let mut top = start;
    for above in start.ancestors().skip(1) {
        if has_module(&above.join("pom.xml"), top) {
            top = above;
        }
    }
    top.to_owned()
}

/// Whether there is a `pom.xml`, or one of the other languages for it.
fn has_project_file(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("pom."))
    })
}

fn has_module(pom: &Path, directory: &Path) -> bool {
    let (Ok(text), Some(above)) = (fs::read_to_string(pom), pom.parent()) else {
        return false;
    };
    modules(&text).iter().any(|module| {
        let path = above.join(module);
        // A module may be named by its project file.
        let folder = if path.is_file() {
            path.parent().unwrap_or(above)
        } else {
            &path
        };
        fs::canonicalize(folder).is_ok_and(|folder| folder == directory)
    })
}

/// The modules that a project file names, in profiles too. What comes after
/// an error in the file is not looked at; Maven will not go on there either.
fn modules(pom: &str) -> Vec<String> {
    let mut reader = Reader::from_str(pom);
    let mut modules = Vec::new();
    let mut inside = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                // Maven 4 calls them subprojects.
                inside = matches!(element.name().as_ref(), "module" | "subproject");
            }
            Ok(Event::Text(text)) if inside => modules.push(text.trim().to_owned()),
            Ok(Event::End(_)) => inside = false,
            Ok(Event::Eof) | Err(_) => return modules,
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, root)
    }

    const AGGREGATOR: &str = "<project><!-- <module>x</module> --><modules>
        <module> libs/core </module><module>app/pom-2.xml</module></modules></project>";

    #[test]
    fn a_module_belongs_to_the_project_that_names_it() {
        let (_folder, root) = project(&[
            ("pom.xml", AGGREGATOR),
            ("libs/core/pom.xml", "<project/>"),
            ("app/pom-2.xml", "<project/>"),
            ("x/pom.xml", "<project/>"),
        ]);
        assert_eq!(project_root(&root.join("libs/core")), root);
        assert_eq!(project_root(&root.join("app")), root);
        assert_eq!(project_root(&root.join("x")), root.join("x"));
        assert_eq!(project_root(&root), root);
    }

    #[test]
    fn a_mvn_folder_marks_the_top_if_a_project_file_is_there() {
        let (_folder, root) = project(&[
            (".mvn/maven.config", ""),
            ("a/.mvn/maven.config", ""),
            ("a/pom.xml", "<project/>"),
            ("a/b/pom.xml", "<project/>"),
            ("c/pom.xml", "<project/>"),
        ]);
        assert_eq!(project_root(&root.join("a/b")), root.join("a"));
        assert_eq!(project_root(&root.join("c")), root.join("c"));
    }

    #[test]
    fn a_project_file_that_is_no_xml_names_no_modules() {
        assert!(modules("modules: [core]").is_empty());
        assert_eq!(modules("<modules><module>a</module></b>"), ["a"]);
    }
}
