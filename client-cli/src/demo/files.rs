//! The bundled project and scenario.

use std::path::Path;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};

use crate::process;

/// What the scripted model says.
pub(super) const SCENARIO: &str = include_str!("../../resources/demo/scenario.yaml");

macro_rules! project_files {
    ($($to:literal = $from:literal),* $(,)?) => {
        /// The files of the project: path, content.
        pub(super) const PROJECT: &[(&str, &str)] =
            &[$(($to, include_str!(concat!("../../resources/demo/project/", $from)))),*];
    };
}

project_files! {
    // Under its own name it would hide files of this repository.
    ".gitignore" = "gitignore",
    "AGENTS.md" = "AGENTS.md",
    "CMakeLists.txt" = "CMakeLists.txt",
    "README.md" = "README.md",
    "include/slots/slots.hpp" = "include/slots/slots.hpp",
    "src/gaps.cpp" = "src/gaps.cpp",
    "src/merge.cpp" = "src/merge.cpp",
    "src/total.cpp" = "src/total.cpp",
    "tests/check.hpp" = "tests/check.hpp",
    "tests/gaps_test.cpp" = "tests/gaps_test.cpp",
    "tests/merge_test.cpp" = "tests/merge_test.cpp",
    "tests/total_test.cpp" = "tests/total_test.cpp",
}

/// Writes the project into `folder` and makes one commit of it.
pub(super) fn unpack(folder: &Path) -> Result<()> {
    for (name, text) in PROJECT {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| AirError::io(parent.display(), &error))?;
        }
        std::fs::write(&path, text).map_err(|error| AirError::io(path.display(), &error))?;
    }
    git(folder, &["init", "-q", "-b", "main"])?;
    git(folder, &["add", "-A"])?;
    git(folder, &["commit", "-q", "-m", "Slots of a day"])
}

/// git with a name of its own, and without the signing and hooks of the user's configuration.
fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let own = [
        "-c",
        "user.name=air demo",
        "-c",
        "user.email=demo@localhost",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "core.hooksPath=/dev/null",
    ];
    let all: Vec<&str> = own.iter().chain(args).copied().collect();
    let output = process::run("git", &all, folder).map_err(|error| AirError::io("git", &error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(AirError::new(codes::IO, format!("git {}: {}", args.join(" "), said.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_edits_what_is_in_the_project() {
        let merge = PROJECT.iter().find(|(name, _)| *name == "src/merge.cpp").unwrap().1;
        let old = SCENARIO.lines().find_map(|line| line.trim().strip_prefix("old_string: ")).unwrap();
        assert_eq!(merge.matches(old).count(), 1, "{old}");
    }

    #[test]
    fn the_project_is_one_commit() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        let log = process::run("git", &["log", "--oneline"], folder.path()).unwrap();
        assert_eq!(String::from_utf8_lossy(&log.stdout).lines().count(), 1);
        let status = process::run("git", &["status", "--porcelain"], folder.path()).unwrap();
        assert!(status.stdout.is_empty());
    }
}
