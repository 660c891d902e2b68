//! Resolution of a path to what the kernel would open, from facts only.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::facts::{FileKind, FsFacts};

/// NAME_MAX and PATH_MAX of Linux, limits.h.
const NAME_MAX: usize = 255;
const PATH_MAX: usize = 4096;
/// As many links as the kernel follows before ELOOP (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// The outcome of a resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// The object (or the place where it would be created) and what is there now.
    Found { path: PathBuf, kind: Option<FileKind>, nlink: u64 },
    /// No such path can exist, and why.
    Invalid { path: PathBuf, why: &'static str },
}

/// Removes `.` and `..` by text alone; `..` at the root stays at the root.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other.as_os_str()),
        }
    }
    out
}

/// Resolves an absolute path. `follow_last` is whether a link in the last component is followed.
/// `strict` is whether `..` after a name that does not exist is an error, as for the kernel.
pub(crate) fn resolve(path: &Path, follow_last: bool, strict: bool, facts: &dyn FsFacts) -> Resolved {
    if let Some(why) = malformed(path) {
        return Resolved::Invalid { path: path.to_path_buf(), why };
    }
    let mut walk = Walk {
        rest: split(path),
        at: PathBuf::from("/"),
        kind: Some(FileKind::Dir),
        nlink: 1,
        links: 0,
        facts,
        strict,
    };
    while let Some(name) = walk.rest.pop_front() {
        if let Err(why) = walk.step(&name, follow_last) {
            return Resolved::Invalid { path: normalise(path), why };
        }
        if is_magic(&walk.at) {
            let mut whole = walk.at.clone();
            whole.extend(walk.rest.iter());
            return Resolved::Found { path: normalise(&whole), kind: None, nlink: 1 };
        }
    }
    Resolved::Found { path: walk.at, kind: walk.kind, nlink: walk.nlink }
}

fn malformed(path: &Path) -> Option<&'static str> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() {
        return Some("the path is empty");
    }
    if bytes.contains(&0) {
        return Some("the path holds a NUL byte");
    }
    if bytes.len() >= PATH_MAX {
        return Some("the path is longer than 4095 bytes");
    }
    if bytes.split(|byte| *byte == b'/').any(|name| name.len() > NAME_MAX) {
        return Some("a name in the path is longer than 255 bytes");
    }
    None
}

/// `/proc/<process>/…` leads to whatever that process has: never followed.
fn is_magic(at: &Path) -> bool {
    let mut parts = at.components().skip(1).map(Component::as_os_str);
    let (Some(proc), Some(who)) = (parts.next(), parts.next()) else { return false };
    proc == "proc" && (who == "self" || who == "thread-self" || who.as_bytes().iter().all(u8::is_ascii_digit))
}

struct Walk<'a> {
    rest: VecDeque<OsString>,
    at: PathBuf,
    kind: Option<FileKind>,
    nlink: u64,
    links: usize,
    facts: &'a dyn FsFacts,
    strict: bool,
}

impl Walk<'_> {
    fn step(&mut self, name: &OsStr, follow_last: bool) -> Result<(), &'static str> {
        if name == ".." {
            return self.up();
        }
        if self.kind.is_some_and(|kind| kind != FileKind::Dir) {
            return Err("a component of the path is no directory");
        }
        let next = self.at.join(name);
        let fact = if self.kind.is_some() { self.facts.lstat(&next) } else { None };
        if let Some(fact) = &fact
            && fact.kind == FileKind::Symlink
            && (follow_last || !self.rest.is_empty())
            && !is_magic(&next)
        {
            return self.follow(fact.link_target.as_deref());
        }
        self.at = next;
        self.nlink = fact.as_ref().map_or(1, |fact| fact.nlink);
        self.kind = fact.map(|fact| fact.kind);
        Ok(())
    }

    fn up(&mut self) -> Result<(), &'static str> {
        match self.kind {
            Some(FileKind::Dir) => {}
            Some(_) => return Err("a component of the path is no directory"),
            None if self.strict => return Err("`..` after a directory that does not exist"),
            None => {}
        }
        self.at.pop();
        self.kind = if self.at == Path::new("/") {
            Some(FileKind::Dir)
        } else {
            self.facts.lstat(&self.at).map(|fact| fact.kind)
        };
        Ok(())
    }

    fn follow(&mut self, target: Option<&Path>) -> Result<(), &'static str> {
        let target = target.ok_or("a link whose target cannot be read")?;
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err("the links of the path form a loop");
        }
        if target.is_absolute() {
            self.at = PathBuf::from("/");
            self.kind = Some(FileKind::Dir);
        }
        for name in split(target).into_iter().rev() {
            self.rest.push_front(name);
        }
        Ok(())
    }
}

/// The names of a path in order, without `.` and empty ones, with `..`.
fn split(path: &Path) -> VecDeque<OsString> {
    path.as_os_str()
        .as_bytes()
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty() && *name != b".")
        .map(|name| OsStr::from_bytes(name).to_os_string())
        .collect()
}
