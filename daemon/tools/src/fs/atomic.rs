//! Replacing a file whole or not at all: a temporary file beside it, fsync, rename.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use air_contracts::{AirError, Result};
use rustix::fs::{AtFlags, Mode, OFlags};

use super::open::open;

/// Where the new content lies before it takes its place. `mark` is the run's id, so that a temporary file
/// that a crash left can be found again.
pub(crate) fn temp_name(path: &Path, mark: &str) -> PathBuf {
    let mut name = OsString::from(".air-");
    name.push(mark);
    name.push(".tmp");
    path.with_file_name(name)
}

/// Replaces or creates the file at a resolved path. Mode and owner of an existing file are kept; a new one
/// gets 0666 less the umask. Missing folders are made where `parents` is set, and taken away again on failure.
pub(super) fn replace(path: &Path, bytes: &[u8], mark: &str, parents: bool) -> Result<()> {
    let made = if parents { make_parents(path)? } else { Vec::new() };
    let result = write_beside(path, bytes, mark);
    if result.is_err() {
        for folder in made.iter().rev() {
            let _ = std::fs::remove_dir(folder); // only while it is empty
        }
    }
    result.map_err(|error| super::file_error(&path.to_string_lossy(), &error, "Nothing was written."))
}

/// Makes the missing folders above a file and returns them, outermost first.
fn make_parents(path: &Path) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    let mut parent = path.parent();
    while let Some(folder) = parent {
        match std::fs::symlink_metadata(folder) {
            Ok(meta) if meta.is_dir() => break,
            Ok(_) => return Err(not_a_directory(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(folder.to_path_buf()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => missing.push(folder.to_path_buf()),
            Err(error) => {
                return Err(super::file_error(&folder.to_string_lossy(), &error, "Nothing was written."));
            }
        }
        parent = folder.parent();
    }
    missing.reverse();
    for folder in &missing {
        std::fs::create_dir(folder)
            .map_err(|error| super::file_error(&folder.to_string_lossy(), &error, "Nothing was written."))?;
    }
    Ok(missing)
}

/// A file stands where a folder is needed.
pub(super) fn not_a_directory(folder: &Path) -> AirError {
    let text = format!("{} is a file, not a directory. Nothing was written.", folder.display());
    AirError::new(air_contracts::error::codes::EDIT_NOT_A_DIRECTORY, text)
}

fn write_beside(path: &Path, bytes: &[u8], mark: &str) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = open(parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let temp = temp_name(path, mark);
    let temp = temp.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let result = fill(&folder, name, temp, bytes);
    if result.is_err() {
        let _ = rustix::fs::unlinkat(&folder, temp, AtFlags::empty());
    }
    result
}

fn fill(folder: &File, name: &OsStr, temp: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let before = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat),
        Err(rustix::io::Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A temporary file of the same run is what an earlier life of it left.
    let _ = rustix::fs::unlinkat(folder, temp, AtFlags::empty());
    let mut file = File::from(rustix::fs::openat(folder, temp, flags, Mode::from_raw_mode(0o666))?);
    file.write_all(bytes)?;
    if let Some(before) = before {
        let (uid, gid) =
            (rustix::process::Uid::from_raw(before.st_uid), rustix::process::Gid::from_raw(before.st_gid));
        // Only root may give files away; for others the owner is the same already.
        let _ = rustix::fs::fchown(file.as_fd(), Some(uid), Some(gid));
        rustix::fs::fchmod(file.as_fd(), Mode::from_raw_mode(before.st_mode))?;
    }
    file.sync_all()?;
    rustix::fs::renameat(folder, temp, folder, name)?;
    Ok(())
}
