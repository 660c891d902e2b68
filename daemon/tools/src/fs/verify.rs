//! After a crash: did the write happen?

use std::path::Path;

use air_contracts::event::FileIntent;

use crate::hash::sha256_hex;

use super::open::read_whole;

/// Where a file of an intent stands now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// As it was to be.
    Applied,
    /// As it was before.
    Untouched,
    /// Neither: somebody else wrote it.
    Foreign,
}

/// The hash of a file; `None` where it is absent.
pub(crate) fn hash_of(path: &Path) -> Option<String> {
    read_whole(path, u64::MAX).ok().flatten().map(|bytes| sha256_hex(&bytes))
}

/// Compares each file of an intent with the disk. Relative paths start at `root`.
pub(crate) fn states(files: &[FileIntent], root: &Path) -> Vec<FileState> {
    files
        .iter()
        .map(|file| {
            let now = hash_of(&root.join(file.path.to_path()));
            if now == file.after {
                FileState::Applied
            } else if now == file.before {
                FileState::Untouched
            } else {
                FileState::Foreign
            }
        })
        .collect()
}
