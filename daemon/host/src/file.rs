//! Reading and writing small files, with errors that name the path.

use std::io::Write as _;
use std::path::Path;

use air_contracts::{AirError, Result};

/// Reads a text file; `None` when it does not exist.
pub fn read_to_string(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(AirError::io(path.display(), &error)),
    }
}

/// Replaces a file whole: written beside it, synced, renamed. `mode` holds for a new file.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let fail = |error: std::io::Error| AirError::io(path.display(), &error);
    let parent = path.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| AirError::io(parent.display(), &error))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = parent.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    })();
    if written.is_err() {
        // The error that matters is the first one; the file beside is only waste.
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(fail)
}
