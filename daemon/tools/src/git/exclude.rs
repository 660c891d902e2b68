//! What is no part of a tree although nobody ignores it: build outputs, caches, the runtime's own folder.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that tools make wherever they run, as patterns of gitignore(5).
const ALWAYS: &str =
    "/.air/\n__pycache__/\nnode_modules/\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\n.air-*.tmp\n";

/// How deep build folders are looked for, and how many folders are looked at.
const DEPTH: usize = 4;
const MOST: usize = 3_000;
/// An untracked file above this is no source.
const BIG: u64 = 10 * 1024 * 1024;

/// Patterns for what is left out of the tree at `root` where it is untracked.
pub(super) fn patterns(root: &Path) -> String {
    let mut text = ALWAYS.to_owned();
    let mut folders = vec![(root.to_path_buf(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        looked_at += 1;
        if looked_at > MOST {
            break;
        }
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut below = Vec::new();
        let mut files = Vec::new();
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => below.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry),
                _ => {}
            }
        }
        let is_root = folder == root;
        if !is_root && is_output(&files, &below) {
            text.push_str(&pattern(root, &folder, true));
            continue;
        }
        if is_root && files.iter().any(|file| file.file_name() == "CMakeCache.txt") {
            text.push_str(
                "/CMakeCache.txt\n/CMakeFiles/\n/cmake_install.cmake\n/CTestTestfile.cmake\n/Testing/\n",
            );
        }
        for file in &files {
            if file.metadata().is_ok_and(|meta| meta.len() > BIG) {
                text.push_str(&pattern(root, &file.path(), false));
            }
        }
        if depth < DEPTH {
            folders.extend(below.into_iter().filter(|path| worth(path)).map(|path| (path, depth + 1)));
        }
    }
    text
}

/// Whether a folder was made by a build, or is a repository of its own (git refuses to add one without a commit).
fn is_output(files: &[fs::DirEntry], below: &[PathBuf]) -> bool {
    let marks = ["CMakeCache.txt", "CACHEDIR.TAG", "build.ninja", ".git"];
    files.iter().any(|file| marks.iter().any(|mark| file.file_name() == *mark))
        || below.iter().any(|folder| folder.file_name().is_some_and(|name| name == ".git"))
}

fn worth(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| {
        !["node_modules", "__pycache__", ".git", ".air"].iter().any(|known| name == *known)
    })
}

/// A path below the root as an anchored pattern.
fn pattern(root: &Path, path: &Path, folder: bool) -> String {
    let Some(below) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return String::new() };
    if below.contains('\n') {
        return String::new();
    }
    let mut text = String::from("/");
    for c in below.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '!' | '#' | ' ') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push_str(if folder { "/\n" } else { "\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_folders_are_found_by_what_they_hold() {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("out/CMakeCache.txt", "x"),
            ("src/a.c", "x"),
            ("tar get/CACHEDIR.TAG", "x"),
            ("sub/repo/.git/HEAD", "x"),
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let text = patterns(root.path());
        for wanted in ["/out/\n", "/tar\\ get/\n", "/sub/repo/\n", "/.air/\n"] {
            assert!(text.contains(wanted), "{text}");
        }
        assert!(!text.contains("/src"), "{text}");
    }
}
