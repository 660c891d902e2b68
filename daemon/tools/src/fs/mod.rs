//! Files: reading, searching, and writing on bytes.

mod atomic;
mod diagnose;
mod edit;
mod fold;
mod glob;
mod list;
mod lookup;
mod matching;
mod nearest;
mod open;
mod read;
mod search;
mod stat;
mod text;
mod verify;
mod walk;
mod write;

use std::path::Path;
use std::sync::Arc;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};

pub(crate) use atomic::temp_name;
pub(crate) use open::read_whole;
pub(crate) use text::{cut_line, human_bytes};
pub(crate) use verify::{FileState, states};
pub(crate) use walk::walker;

use crate::tool::Builtin;

/// The tools of this group.
pub(crate) fn tools() -> Vec<Arc<dyn Builtin>> {
    vec![
        Arc::new(read::Read::new()),
        Arc::new(list::List::new()),
        Arc::new(search::Search::new()),
        Arc::new(glob::Glob::new()),
        Arc::new(stat::Stat::new()),
        Arc::new(write::Write::new()),
        Arc::new(edit::Edit::new()),
    ]
}

/// Replaces a file whole for a capability.
pub(crate) fn replace_whole(path: &Path, bytes: &[u8], mark: &str) -> Result<()> {
    atomic::replace(path, bytes, mark, true)
}

/// The path as the model should see it: below the workspace root where it lies there.
pub(crate) fn shown(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let text = below.to_string_lossy();
    if text.is_empty() { ".".to_owned() } else { text.into_owned() }
}

/// An I/O error on a file, with the code that edits use.
pub(crate) fn file_error(shown: &str, error: &std::io::Error, what_not: &str) -> AirError {
    use std::io::ErrorKind as Kind;
    let (code, text) = match error.kind() {
        Kind::NotFound => (codes::EDIT_NO_SUCH_FILE, format!("{shown} does not exist.")),
        Kind::IsADirectory => (codes::EDIT_IS_DIRECTORY, format!("{shown} is a directory.")),
        Kind::NotADirectory => {
            (codes::EDIT_NOT_A_DIRECTORY, format!("a part of {shown} is a file, not a directory."))
        }
        Kind::PermissionDenied => {
            (codes::EDIT_PERMISSION_DENIED, format!("{shown}: the system denies access."))
        }
        Kind::ReadOnlyFilesystem => {
            (codes::EDIT_PERMISSION_DENIED, format!("{shown} is on a read-only file system."))
        }
        Kind::StorageFull | Kind::QuotaExceeded => {
            (codes::EDIT_NO_SPACE, format!("no space left for {shown}."))
        }
        // A link where the gate saw none: somebody changed the tree in between.
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            (codes::EDIT_PATH_ESCAPE, format!("a part of {shown} became a symbolic link."))
        }
        _ => (codes::IO, format!("{shown}: {error}.")),
    };
    AirError::new(code, format!("{text} {what_not}"))
}

/// The path of an input: relative to the workspace root where it lies inside it.
pub(crate) fn relative(path: &str, root: &Path) -> String {
    match Path::new(path).strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => path.to_owned(),
    }
}

/// The error for a path that goes on below a file; `None` where it does not.
pub(crate) fn file_in_the_way(path: &Path, root: &Path) -> Option<AirError> {
    let above = |folder: &Path| std::fs::symlink_metadata(folder).ok();
    let (folder, meta) =
        path.ancestors().skip(1).find_map(|folder| Some((folder.to_path_buf(), above(folder)?)))?;
    let text = format!("{} is a file, not a directory. Nothing was done.", shown(&folder, root));
    meta.is_file().then(|| AirError::new(codes::EDIT_NOT_A_DIRECTORY, text))
}

/// The lines of a file without their ends.
pub(crate) fn all_lines(bytes: &[u8]) -> Vec<&[u8]> {
    text::lines(bytes)
}
