//! What prompts say of a project (layer L4): language, build, checks, layout.

use std::path::Path;

use air_contracts::project::ProjectFile;

/// Bytes of the text, at most.
const LIMIT: usize = 600;
/// Folders that are named, at most.
const FOLDERS: usize = 12;
/// Files at the root that tell what builds the project.
const BUILD_FILES: [(&str, &str); 8] = [
    ("CMakeLists.txt", "cmake"),
    ("meson.build", "meson"),
    ("Makefile", "make"),
    ("Cargo.toml", "cargo"),
    ("package.json", "npm"),
    ("pyproject.toml", "python"),
    ("go.mod", "go"),
    ("BUILD.bazel", "bazel"),
];

/// The facts as lines; whole lines only. What `project.json` states goes before what the root shows.
/// Nothing in it changes while the project's shape does not, so prompt caches hold.
pub fn project_facts(file: &ProjectFile, root: Option<&Path>) -> String {
    let profile = &file.profile;
    let seen = |stated: &[String], look: fn(&Path) -> Vec<String>| match root {
        Some(root) if stated.is_empty() => look(root),
        _ => stated.to_vec(),
    };
    let checks = file.verify.iter().flatten().map(|check| format!("{} (`{}`)", check.name, check.command));
    let mut lines = vec![format!("name: {}", file.name)];
    for (title, values) in [
        ("languages", profile.languages.clone()),
        ("build", seen(&profile.build_systems, build_systems)),
        ("checks", checks.collect()),
        ("layout", seen(&profile.layout, folders)),
    ] {
        if !values.is_empty() {
            lines.push(format!("{title}: {}", values.join(", ")));
        }
    }
    let mut text = String::new();
    for line in lines {
        if text.len() + line.len() < LIMIT {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

fn build_systems(root: &Path) -> Vec<String> {
    let found = BUILD_FILES.iter().filter(|(file, _)| root.join(file).is_file());
    found.map(|(_, name)| (*name).to_owned()).collect()
}

fn folders(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .map(|name| format!("{name}/"))
        .collect();
    names.sort();
    names.truncate(FOLDERS);
    names
}

#[cfg(test)]
mod tests {
    use air_contracts::project::{ProjectCheck, ProjectProfile};

    use super::*;

    #[test]
    fn what_is_stated_goes_before_what_is_seen_and_lines_stay_whole() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("CMakeLists.txt"), "").unwrap();
        for folder in ["tests", "src", ".git"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let check = |name: &str, command: String| ProjectCheck {
            name: name.into(),
            claim: String::new(),
            command,
            kind: Default::default(),
            timeout_ms: None,
            defined_by: vec![],
        };
        let profile = ProjectProfile { languages: vec!["c++".into()], ..ProjectProfile::default() };
        let verify = Some(vec![check("test", "ctest".into())]);
        let mut file = ProjectFile { name: "stats".into(), format: 1, profile, verify };
        let expected =
            "name: stats\nlanguages: c++\nbuild: cmake\nchecks: test (`ctest`)\nlayout: src/, tests/\n";
        assert_eq!(project_facts(&file, Some(dir.path())), expected);
        file.profile.layout = vec!["lib: all code".into()];
        file.verify = Some(vec![check("long", "x".repeat(1_000))]);
        assert_eq!(
            project_facts(&file, Some(dir.path())),
            "name: stats\nlanguages: c++\nbuild: cmake\nlayout: lib: all code\n"
        );
    }
}
