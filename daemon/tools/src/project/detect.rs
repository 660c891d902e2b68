//! The checks of a project, found by what lies in its tree.

use std::path::Path;

use air_contracts::project::{CheckKind, ProjectCheck};
use serde_json::Value;

use super::cmake;
use super::which::which;

/// The limit of a build or a test run.
pub(super) const TIMEOUT: u64 = 1_800_000;

/// What a detector looks at.
pub(super) struct Tree<'a> {
    pub root: &'a Path,
    /// Environment of commands.
    pub env: &'a [(String, String)],
}

impl Tree<'_> {
    /// A file of the root as text.
    pub fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }

    /// Whether something of this name is in the root.
    pub fn has(&self, name: &str) -> bool {
        self.root.join(name).exists()
    }

    /// Whether a program can be run.
    pub fn runs(&self, program: &str) -> bool {
        which(self.env, program).is_some()
    }
}

/// The first build system of the root that can be run here decides.
pub(crate) fn detect(root: &Path, env: &[(String, String)]) -> Vec<ProjectCheck> {
    let tree = Tree { root, env };
    let kinds: [fn(&Tree<'_>) -> Vec<ProjectCheck>; 8] =
        [cmake::checks, meson, cargo, go, npm, pytest, unittest, make];
    kinds.iter().map(|kind| kind(&tree)).find(|checks| !checks.is_empty()).unwrap_or_default()
}

/// A check of the tests.
pub(super) fn test(command: impl Into<String>, defined_by: &[&str]) -> ProjectCheck {
    check("test", "all tests pass", CheckKind::Test, command, defined_by)
}

/// A check of the build.
pub(super) fn build(command: impl Into<String>, defined_by: &[&str]) -> ProjectCheck {
    check("build", "builds without errors", CheckKind::Build, command, defined_by)
}

fn check(
    name: &str,
    claim: &str,
    kind: CheckKind,
    command: impl Into<String>,
    defined_by: &[&str],
) -> ProjectCheck {
    ProjectCheck {
        name: name.to_owned(),
        claim: claim.to_owned(),
        command: command.into(),
        kind,
        timeout_ms: Some(TIMEOUT),
        defined_by: defined_by.iter().map(|glob| (*glob).to_owned()).collect(),
    }
}

fn meson(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    let Some(text) = tree.text("meson.build").filter(|_| tree.runs("meson")) else { return Vec::new() };
    let files = ["meson.build", "**/meson.build", "meson_options.txt", "meson.options"];
    let setup = r#"{ [ -f "$AIR_BUILD_DIR/build.ninja" ] || meson setup "$AIR_BUILD_DIR"; } && meson compile -C "$AIR_BUILD_DIR""#;
    let mut checks = vec![build(setup, &files)];
    let has_tests = text.contains("test(") || below(tree.root, "meson.build", |text| text.contains("test("));
    if has_tests {
        let files = [files.as_slice(), &["tests/**", "test/**"]].concat();
        checks.push(test(format!(r#"{setup} && meson test -C "$AIR_BUILD_DIR" --print-errorlogs"#), &files));
    }
    checks
}

fn cargo(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    if !tree.has("Cargo.toml") || !tree.runs("cargo") {
        return Vec::new();
    }
    let files = ["Cargo.toml", "**/Cargo.toml", "tests/**", "**/tests/**", "build.rs"];
    vec![test(r#"CARGO_NET_OFFLINE=true CARGO_TARGET_DIR="$AIR_BUILD_DIR" cargo test"#, &files)]
}

fn go(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    if !tree.has("go.mod") || !tree.runs("go") {
        return Vec::new();
    }
    vec![build("go build ./...", &["go.mod"]), test("go test ./...", &["go.mod", "**/*_test.go"])]
}

fn npm(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    let Some(package) = tree.text("package.json").and_then(|text| serde_json::from_str::<Value>(&text).ok())
    else {
        return Vec::new();
    };
    let script = package.pointer("/scripts/test").and_then(Value::as_str).unwrap_or_default();
    if script.is_empty() || script.contains("no test specified") || !tree.runs("npm") {
        return Vec::new();
    }
    vec![test(
        "CI=1 npm test --silent",
        &["package.json", "test/**", "tests/**", "**/*.test.*", "**/*.spec.*"],
    )]
}

/// Files that define Python tests.
const PYTHON_TESTS: &[&str] = &[
    "pytest.ini",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "**/conftest.py",
    "**/test_*.py",
    "**/*_test.py",
    "tests/**",
];

fn pytest(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    let configured = tree.has("pytest.ini")
        || tree.has("conftest.py")
        || tree.text("pyproject.toml").is_some_and(|text| text.contains("[tool.pytest"))
        || tree.text("setup.cfg").is_some_and(|text| text.contains("[tool:pytest]"));
    if !configured && !has_python_tests(tree.root, |_| true) {
        return Vec::new();
    }
    let own = tree.root.join(".venv/bin/pytest");
    let program = match (own.exists(), tree.runs("pytest")) {
        (true, _) => ".venv/bin/pytest",
        (false, true) => "pytest",
        (false, false) => return Vec::new(),
    };
    vec![test(format!("PYTHONDONTWRITEBYTECODE=1 {program} -q -p no:cacheprovider"), PYTHON_TESTS)]
}

/// Tests of the standard library, where there is no pytest to run them.
fn unittest(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    if !tree.runs("python3") || !has_python_tests(tree.root, |text| text.contains("unittest")) {
        return Vec::new();
    }
    let from = match (tree.has("tests"), tree.has("tests/__init__.py")) {
        (true, true) => " -s tests -t .",
        (true, false) => " -s tests",
        (false, _) => "",
    };
    vec![test(
        format!("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=. python3 -m unittest discover{from}"),
        PYTHON_TESTS,
    )]
}

fn has_python_tests(root: &Path, wanted: impl Fn(&str) -> bool) -> bool {
    ["", "tests", "test"].iter().any(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        entries.take(1_000).any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let named = name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"));
            named && std::fs::read_to_string(entry.path()).is_ok_and(|text| wanted(&text))
        })
    })
}

fn make(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let Some(text) = names.iter().find_map(|name| tree.text(name)).filter(|_| tree.runs("make")) else {
        return Vec::new();
    };
    let target = ["check", "test"].into_iter().find(|target| has_target(&text, target));
    let files = ["Makefile", "makefile", "GNUmakefile", "*.mk", "**/*.mk", "tests/**", "test/**"];
    target.map(|target| test(format!("make {target}"), &files)).into_iter().collect()
}

fn has_target(makefile: &str, target: &str) -> bool {
    makefile.lines().any(|line| {
        let Some((names, rest)) = line.split_once(':') else { return false };
        !line.starts_with(['\t', ' ', '#', '.'])
            && !rest.starts_with('=')
            && names.split_whitespace().any(|name| name == target)
    })
}

/// Whether a file of this name somewhere below holds something.
pub(super) fn below(root: &Path, name: &str, wanted: impl Fn(&str) -> bool) -> bool {
    crate::fs::walker(root, false)
        .max_depth(Some(6))
        .build()
        .flatten()
        .take(20_000)
        .filter(|entry| entry.file_name() == name)
        .any(|entry| std::fs::read_to_string(entry.path()).is_ok_and(|text| wanted(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[(&str, &str)]) {
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for program in ["cmake", "ctest", "make", "cargo", "npm", "pytest", "go"] {
            let file = bin.join(program);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let project = root.path().join("project");
        for (name, text) in files {
            let path = project.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let env = [("PATH".to_owned(), bin.to_string_lossy().into_owned())];
        let found = detect(&project, &env);
        let found: Vec<(&str, &str)> =
            found.iter().map(|check| (check.name.as_str(), check.command.as_str())).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((name, command), (wanted, part)) in found.iter().zip(expected) {
            assert!(name == wanted && command.contains(part), "{name}: {command}");
        }
    }

    #[test]
    fn each_build_system_has_its_checks() {
        check(
            &[("CMakeLists.txt", "project(x)\nenable_testing()\n")],
            &[("build", "cmake -S . -B"), ("test", "ctest --test-dir")],
        );
        check(&[("CMakeLists.txt", "project(x)\n# enable_testing()\n")], &[("build", "cmake --build")]);
        check(&[("Makefile", "all:\n\ttrue\ncheck: all\n\ttrue\n")], &[("test", "make check")]);
        check(&[("Makefile", "test := 1\nall:\n\tcheck: no\n")], &[]);
        check(&[("Cargo.toml", "")], &[("test", "cargo test")]);
        check(&[("package.json", r#"{"scripts":{"test":"jest"}}"#)], &[("test", "npm test")]);
        check(
            &[("package.json", r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#)],
            &[],
        );
        check(&[("tests/test_a.py", "def test(): pass")], &[("test", "pytest -q")]);
        check(&[("go.mod", "module x")], &[("build", "go build"), ("test", "go test")]);
        check(&[("README.md", "")], &[]);
    }
}
