//! What callers tell about the file system: this crate never looks itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What kind of object a name denotes, without following a link in the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    File,
    Dir,
    Symlink,
    Fifo,
    Socket,
    /// A block or character device.
    Device,
}

/// What `lstat(2)` says about one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFact {
    pub kind: FileKind,
    /// The text of a symbolic link, as stored (may be relative to the directory of the link).
    pub link_target: Option<PathBuf>,
    /// Number of hard links.
    pub nlink: u64,
    /// Permission bits, as in `st_mode & 0o7777`.
    pub mode: u32,
}

impl FileFact {
    /// A fact about an ordinary object with one name.
    pub fn new(kind: FileKind) -> Self {
        let mode = if kind == FileKind::Dir { 0o755 } else { 0o644 };
        Self { kind, link_target: None, nlink: 1, mode }
    }

    /// A symbolic link to `target`.
    pub fn link(target: impl Into<PathBuf>) -> Self {
        Self { kind: FileKind::Symlink, link_target: Some(target.into()), nlink: 1, mode: 0o777 }
    }
}

/// Answers from the file system, gathered by callers. Paths are absolute and hold no `.` or `..`.
pub trait FsFacts {
    /// The object at `path`; `None` where nothing is there or it cannot be seen.
    fn lstat(&self, path: &Path) -> Option<FileFact>;
    /// The bytes of a small regular file; `None` where there is none or it is longer than 64 KB.
    fn read_small(&self, path: &Path) -> Option<Vec<u8>>;
    /// The effective git configuration for a repository whose top directory is `repo`: full key to values,
    /// in the order in which git reads them.
    fn git_config(&self, repo: &Path) -> BTreeMap<String, Vec<String>>;
    /// Whether names below `path` are compared without case.
    fn folds_case(&self, path: &Path) -> bool;
}

/// The places that decisions are made against. All canonical and absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundaries {
    /// Where the call works: the project itself or a worktree of it.
    pub workspace_root: PathBuf,
    /// The project that the workspace belongs to.
    pub project_root: PathBuf,
    /// The home directory of the user.
    pub home: PathBuf,
    /// Private state of the runtime (`~/.air`).
    pub air_home: PathBuf,
    /// Directories for temporary files.
    pub temp: Vec<PathBuf>,
    /// Further trees that may be written: caches of tools.
    pub extra_writable: Vec<PathBuf>,
}
