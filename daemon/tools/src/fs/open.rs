//! Opening what the gate has judged, and nothing that took its place since.
//!
//! A path that the gate resolved holds no symbolic link. It is opened without following any
//! (openat2(2), `RESOLVE_NO_SYMLINKS`, Linux 5.6), so a link that was swapped in afterwards is refused.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a resolved path.
pub(crate) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(fd) => return Ok(File::from(fd)),
            // Kernels and filters that do not know the call.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(File::from(rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?))
}

/// Opens a resolved file for reading. A pipe without a writer does not block.
pub(crate) fn open_read(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDONLY | OFlags::NONBLOCK)
}

/// All bytes of a resolved regular file of at most `limit` bytes; `None` where it is longer.
pub(crate) fn read_whole(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = open_read(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if meta.len() > limit {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
    (&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_came_after_the_decision_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("outside")).unwrap();
        std::fs::write(root.join("outside/a.txt"), "x").unwrap();
        // What was a folder when it was judged is a link when it is opened.
        std::os::unix::fs::symlink(root.join("outside"), root.join("dir")).unwrap();
        let error = open_read(&root.join("dir/a.txt")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
        assert!(super::super::replace_whole(&root.join("dir/b.txt"), b"y", "m").is_err());
        assert!(!root.join("outside/b.txt").exists());
        assert_eq!(read_whole(&root.join("outside/a.txt"), 1).unwrap().as_deref(), Some(b"x".as_slice()));
        assert_eq!(read_whole(&root.join("outside/a.txt"), 0).unwrap(), None);
    }
}
