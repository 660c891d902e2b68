//! The command's own view of the file system: mount_namespaces(7), open_tree(2), move_mount(2).
//!
//! Hidden paths are covered by an empty folder or by `/dev/null`. Inside the writable trees git's and
//! AirCoding's own files are read-only. A path is protected only as long as no folder above it can be
//! renamed away, so each folder between a writable tree and a protected path becomes a mount point of its
//! own, which the kernel refuses to rename.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_bind_recursive, move_mount, open_tree,
};

use super::hidden;
use crate::spec::RunSpec;
use crate::sys;

/// Inside a project: what decides about later commands of the user or of AirCoding.
const PROTECTED: [&str; 4] = [".git/config", ".git/config.worktree", ".git/hooks", ".air"];

/// Arranges the mounts of this namespace. An error names the path at which it stopped.
pub fn arrange(spec: &RunSpec, run_folder: &Path) -> Result<(), String> {
    let writable: Vec<PathBuf> =
        spec.policy.writable.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let mut hidden = hidden::paths(spec, run_folder);
    // Who may write a path may see it.
    hidden.retain(|path| !writable.contains(path));
    let protected = protected(&writable, run_folder);
    pin(&writable, protected.iter().chain(&hidden))?;
    for path in &protected {
        bind(path, path)?;
        let text = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        sys::mount_read_only(&text).map_err(|error| at(path, error))?;
    }
    hide(&hidden, &writable)?;
    private_devices();
    Ok(())
}

/// What is to be read-only although it lies in a writable tree. What the policy names itself is not.
fn protected(writable: &[PathBuf], run_folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for tree in writable {
        let git = tree.join(".git");
        if git.symlink_metadata().is_ok_and(|data| data.is_file()) {
            found.insert(git); // of a worktree: it says where the repository is
        }
        let inside = PROTECTED.iter().map(|name| tree.join(name));
        found.extend(inside.filter(|path| path.symlink_metadata().is_ok_and(|data| !data.is_symlink())));
    }
    if let Ok(folder) = fs::canonicalize(run_folder)
        && writable.iter().any(|tree| folder.starts_with(tree))
    {
        found.insert(folder);
    }
    found.retain(|path| !writable.contains(path));
    found
}

/// Makes a mount point of every folder between a writable tree and a path below it.
fn pin<'a>(writable: &[PathBuf], paths: impl Iterator<Item = &'a PathBuf>) -> Result<(), String> {
    let mut between = BTreeSet::new();
    for path in paths {
        for tree in writable.iter().filter(|tree| path.starts_with(tree)) {
            let above = path.ancestors().skip(1).take_while(|folder| *folder != tree.as_path());
            between.extend(above.map(Path::to_path_buf));
        }
    }
    // Sorted: outer folders first.
    between.iter().try_for_each(|folder| bind(folder, folder))
}

fn hide(hidden: &[PathBuf], writable: &[PathBuf]) -> Result<(), String> {
    let mut empty: Option<&Path> = None;
    for path in hidden {
        let Ok(data) = path.metadata() else { continue }; // below a path that is hidden already
        let kept = keep(path, writable)?;
        if !data.is_dir() {
            mount_bind("/dev/null", path.as_path()).map_err(|error| at(path, error))?;
        } else if let (Some(empty), true) = (empty, kept.is_empty()) {
            bind(empty, path)?;
        } else {
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount("tmpfs", path.as_path(), "tmpfs", flags, c"mode=0755,size=1m")
                .map_err(|error| at(path, error))?;
            if kept.is_empty() {
                empty = Some(path);
            }
            for (inner, tree) in kept {
                put_back(&inner, &tree).map_err(|error| at(&inner, error))?;
            }
        }
    }
    Ok(())
}

/// Handles on what must stay visible below a path that is going to be hidden.
fn keep(path: &Path, writable: &[PathBuf]) -> Result<Vec<(PathBuf, OwnedFd)>, String> {
    let below = writable.iter().filter(|tree| tree.starts_with(path)).cloned();
    let mut wanted: BTreeSet<PathBuf> = below.collect();
    wanted.insert(hidden::exception(path));
    let outer: Vec<PathBuf> = wanted.iter().cloned().collect();
    // What lies in a folder that is kept comes with it.
    wanted
        .retain(|tree| !outer.iter().any(|other| other != tree && tree.starts_with(other) && other.is_dir()));
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let mut kept = Vec::new();
    for tree in wanted {
        match open_tree(CWD, tree.as_path(), flags) {
            Ok(handle) => kept.push((tree, handle)),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
            Err(error) => return Err(at(&tree, error)),
        }
    }
    Ok(kept)
}

fn put_back(path: &Path, tree: &OwnedFd) -> io::Result<()> {
    if rustix::fs::fstat(tree).is_ok_and(|data| rustix::fs::FileType::from_raw_mode(data.st_mode).is_dir()) {
        fs::create_dir_all(path)?;
    } else {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::File::create(path)?;
    }
    Ok(move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Shared memory and pseudo-terminals of its own: the user's terminals cannot be written. Where that is
/// refused (a container), Landlock still holds the terminals.
fn private_devices() {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let _ = mount("tmpfs", "/dev/shm", "tmpfs", flags, c"mode=1777");
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let _ = mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620");
}

fn bind(source: &Path, target: &Path) -> Result<(), String> {
    mount_bind_recursive(source, target).map_err(|error| at(target, error))
}

fn at(path: &Path, error: impl Into<io::Error>) -> String {
    format!("{}: {}", path.display(), error.into())
}
