//! The facts that decisions are made from, off the disk.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use air_security::{FileFact, FileKind, FsFacts};

/// The largest file that is read for a decision.
const SMALL: u64 = 64 * 1024;

type Config = BTreeMap<String, Vec<String>>;

/// One repository's configuration with the times of the files that it came from.
struct Remembered {
    times: Vec<Option<SystemTime>>,
    config: Config,
}

/// Looks at the disk. The configuration of git is remembered until one of its files changes.
pub(crate) struct DiskFacts {
    home: PathBuf,
    git: Mutex<BTreeMap<PathBuf, Remembered>>,
}

impl DiskFacts {
    /// For a user with this home directory.
    pub fn new(home: PathBuf) -> Self {
        Self { home, git: Mutex::default() }
    }
}

impl FsFacts for DiskFacts {
    fn lstat(&self, path: &Path) -> Option<FileFact> {
        let meta = std::fs::symlink_metadata(path).ok()?;
        let kind = match meta.file_type() {
            kind if kind.is_dir() => FileKind::Dir,
            kind if kind.is_symlink() => FileKind::Symlink,
            kind if kind.is_fifo() => FileKind::Fifo,
            kind if kind.is_socket() => FileKind::Socket,
            kind if kind.is_file() => FileKind::File,
            _ => FileKind::Device,
        };
        let link_target = if kind == FileKind::Symlink { std::fs::read_link(path).ok() } else { None };
        Some(FileFact { kind, link_target, nlink: meta.nlink(), mode: meta.mode() & 0o7777 })
    }

    fn read_small(&self, path: &Path) -> Option<Vec<u8>> {
        // A pipe or a device is no small file, and opening one may block.
        let meta = std::fs::metadata(path).ok()?;
        if !meta.is_file() || meta.len() > SMALL {
            return None;
        }
        std::fs::read(path).ok().filter(|bytes| bytes.len() as u64 <= SMALL)
    }

    fn git_config(&self, repo: &Path) -> Config {
        let times = config_times(repo, &self.home);
        let mut known = self.git.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remembered) = known.get(repo)
            && remembered.times == times
        {
            return remembered.config.clone();
        }
        let config = crate::git::effective_config(repo);
        known.insert(repo.to_path_buf(), Remembered { times, config: config.clone() });
        config
    }

    fn folds_case(&self, path: &Path) -> bool {
        if cfg!(target_os = "linux") {
            return false;
        }
        // A name in the other case that leads to the same object.
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
        let other = if name.to_uppercase() == name { name.to_lowercase() } else { name.to_uppercase() };
        let inode = |path: &Path| std::fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
        other != name && inode(path).is_some() && inode(path) == inode(&path.with_file_name(other))
    }
}

/// Times of the files that a repository's configuration is mostly read from.
fn config_times(repo: &Path, home: &Path) -> Vec<Option<SystemTime>> {
    let files = [
        repo.join(".git"),
        repo.join(".git/config"),
        repo.join(".git/config.worktree"),
        home.join(".gitconfig"),
        home.join(".config/git/config"),
        PathBuf::from("/etc/gitconfig"),
    ];
    files.iter().map(|file| std::fs::metadata(file).and_then(|meta| meta.modified()).ok()).collect()
}
