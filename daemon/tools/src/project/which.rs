//! Programs on the path.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The first executable file of this name in `PATH` of an environment.
pub(crate) fn which(env: &[(String, String)], name: &str) -> Option<PathBuf> {
    let path = env.iter().find(|(known, _)| known == "PATH").map(|(_, value)| value.as_str())?;
    let runs = |file: &Path| {
        std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    path.split(':')
        .filter(|folder| folder.starts_with('/'))
        .map(|folder| Path::new(folder).join(name))
        .find(|file| runs(file))
}
