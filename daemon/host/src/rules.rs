//! Rule files: what the user and the project ask of every agent.

use std::path::{Path, PathBuf};

use crate::paths::AirPaths;

/// Whose rules they are, weakest first: the project's override the user's general ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleScope {
    User,
    Project,
}

/// A rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    pub scope: RuleScope,
    /// As it is shown: `AGENTS.md`, `~/.air/rules/style.md`.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
}

/// Bytes of one file that are read; more is not a rule file.
const MAX_BYTES: u64 = 256 * 1024;

/// All rule files in their order: `~/.air/rules/*.md`, then `AGENTS.md`, `CLAUDE.md` (unless it is the same
/// text), then `.air/shared/rules/*.md`. A file that cannot be read or is not text is left out with a warning.
pub fn load_rules(paths: &AirPaths, root: &Path) -> (Vec<RuleFile>, Vec<String>) {
    let mut rules = Vec::new();
    let mut warnings = Vec::new();
    for path in markdown_files(&paths.rules_dir()) {
        let name = format!("~/.air/rules/{}", file_name(&path));
        read(RuleScope::User, name, path, &mut rules, &mut warnings);
    }
    for name in ["AGENTS.md", "CLAUDE.md"] {
        read(RuleScope::Project, name.to_owned(), root.join(name), &mut rules, &mut warnings);
    }
    for path in markdown_files(&root.join(".air/shared/rules")) {
        let name = format!(".air/shared/rules/{}", file_name(&path));
        read(RuleScope::Project, name, path, &mut rules, &mut warnings);
    }
    let mut seen: Vec<String> = Vec::new();
    rules.retain(|rule| {
        let new = !rule.text.trim().is_empty() && !seen.contains(&rule.text);
        seen.push(rule.text.clone());
        new
    });
    (rules, warnings)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn markdown_files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    files
}

fn read(
    scope: RuleScope,
    name: String,
    path: PathBuf,
    rules: &mut Vec<RuleFile>,
    warnings: &mut Vec<String>,
) {
    match path.metadata() {
        Ok(meta) if meta.is_file() && meta.len() <= MAX_BYTES => match std::fs::read_to_string(&path) {
            Ok(text) => rules.push(RuleFile { scope, name, path, text }),
            Err(error) => warnings.push(format!("{}: {error}; it is not used", path.display())),
        },
        Ok(meta) if meta.is_file() => {
            warnings.push(format!(
                "{}: {} bytes are too many for rules; it is not used",
                path.display(),
                meta.len()
            ));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_come_in_order_and_a_twin_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        let paths = AirPaths::at(&dir.path().join("home"));
        let root = dir.path().join("root");
        for (path, text) in [
            (paths.rules_dir().join("style.md"), "tabs"),
            (root.join("AGENTS.md"), "build with ninja"),
            (root.join("CLAUDE.md"), "build with ninja"),
            (root.join(".air/shared/rules/project-rules.md"), "no exceptions"),
            (root.join(".air/shared/rules/empty.md"), "\n"),
        ] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(root.join(".air/shared/rules/bad.md"), [0xff, 0xfe]).unwrap();
        let (rules, warnings) = load_rules(&paths, &root);
        let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names, ["~/.air/rules/style.md", "AGENTS.md", ".air/shared/rules/project-rules.md"]);
        assert_eq!(warnings.len(), 1);
    }
}
