//! What a build or a test run makes again: its loss is no loss of work.

use std::path::Path;

/// Directories whose content is made by tools.
const DIRS: &[&str] = &[
    "build",
    "_build",
    "target",
    "dist",
    "out",
    "node_modules",
    "__pycache__",
    "coverage",
    "htmlcov",
    "cmakefiles",
    "testing",
    "bazel-bin",
    "bazel-out",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".cache",
    ".tox",
    ".nox",
    ".gradle",
    ".next",
    ".nuxt",
    ".parcel-cache",
    ".turbo",
    ".ccache",
    ".eggs",
    ".nyc_output",
    ".hypothesis",
];

/// Endings of files that a compiler or a tool makes.
const ENDINGS: &[&str] = &[
    ".o",
    ".obj",
    ".a",
    ".lib",
    ".so",
    ".dylib",
    ".dll",
    ".pyc",
    ".pyo",
    ".class",
    ".d",
    ".gcda",
    ".gcno",
    ".gcov",
    ".profraw",
    ".profdata",
    ".rlib",
    ".rmeta",
    ".pdb",
    ".ilk",
    ".log.tmp",
];

/// Whole names of generated files.
const FILES: &[&str] = &[
    "cmakecache.txt",
    "compile_commands.json",
    "a.out",
    "cmake_install.cmake",
    ".ninja_log",
    ".ninja_deps",
    ".coverage",
    "ctesttestfile.cmake",
];

/// Whether `below` (relative to the workspace root) is, or lies in, something that a rebuild makes again.
pub(crate) fn is_rebuildable(below: &Path) -> bool {
    let mut last = String::new();
    for component in below.components() {
        last = component.as_os_str().to_string_lossy().to_ascii_lowercase();
        if DIRS.contains(&last.as_str())
            || last.starts_with("cmake-build-")
            || last.starts_with("build-")
            || last.starts_with("build_")
            || last.ends_with(".egg-info")
        {
            return true;
        }
    }
    FILES.contains(&last.as_str()) || ENDINGS.iter().any(|end| last.len() > end.len() && last.ends_with(end))
}
