//! Who is at the other end of the daemon's socket. A command must never be able to approve itself.
//!
//! Refused is a peer of another user, in another user or mount namespace (every fully sandboxed
//! command), or with a launcher among its ancestors. Launchers are subreapers, so a command cannot leave
//! from below one by forking and orphaning itself.

use std::fs;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::geteuid;

use crate::launcher::PROCESS_NAME;
use crate::procfs::{self, Stat};
use crate::sys;

/// How often the walk is begun again when processes end under it.
const TRIES: usize = 8;

/// The file name of the program that launchers run.
const PROGRAM: &str = "air-worker";

/// Whether the process `pid` of user `uid` (from `SO_PEERCRED`) may drive this daemon; `peer.refused`
/// with the reason otherwise. A peer that has ended by now is refused. A pid that has gone to another
/// process since the connection was made cannot be told; [`peer_verdict_of`] can.
pub fn peer_verdict(pid: u32, uid: u32) -> Result<()> {
    if uid != geteuid().as_raw() {
        return Err(refused(pid, "it belongs to another user"));
    }
    let Ok(raw) = i32::try_from(pid) else { return Err(refused(pid, "its pid is out of range")) };
    let before = procfs::stat(raw).map_err(|_| refused(pid, "it has ended"))?;
    for space in ["user", "mnt"] {
        if namespace(&raw.to_string(), space).ok()
            != Some(namespace("self", space).map_err(|error| unseen(pid, &error))?)
        {
            return Err(refused(pid, &format!("it is in another {space} namespace: a sandboxed command?")));
        }
    }
    if let Some(launcher) = launcher_above(raw).map_err(|error| unseen(pid, &error))? {
        let reason = format!("it was started by a command of AirCoding (launcher {launcher})");
        return Err(refused(pid, &reason));
    }
    match procfs::stat(raw) {
        Ok(after) if after.start_time == before.start_time && !after.is_dead() => Ok(()),
        _ => Err(refused(pid, "it has ended")),
    }
}

/// As [`peer_verdict`], for the process that connected this socket. Where the kernel can say
/// (`SO_PEERPIDFD`, Linux 6.5), reuse of its pid is excluded.
pub fn peer_verdict_of(socket: BorrowedFd<'_>) -> Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(socket)
        .map_err(|error| AirError::io("the credentials of the peer", &error.into()))?;
    let pid = peer.pid.as_raw_nonzero().get().unsigned_abs();
    let pidfd = sys::peer_pidfd(socket).ok();
    peer_verdict(pid, peer.uid.as_raw())?;
    match pidfd {
        Some(pidfd) if has_ended(&pidfd) => Err(refused(pid, "it has ended")),
        _ => Ok(()),
    }
}

/// A pidfd is readable once its process has ended: pidfd_open(2).
fn has_ended(pidfd: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&now)) != Ok(0)
}

fn refused(pid: u32, reason: &str) -> AirError {
    AirError::new(codes::PEER_REFUSED, format!("process {pid} may not use this daemon: {reason}"))
        .hint("call air from your own shell; commands that AirCoding runs cannot")
}

fn unseen(pid: u32, error: &io::Error) -> AirError {
    refused(pid, &format!("it cannot be examined: {error}"))
}

/// The identity of a namespace: device and inode of its file, namespaces(7).
fn namespace(process: &str, space: &str) -> io::Result<(u64, u64)> {
    let data = fs::metadata(format!("/proc/{process}/ns/{space}"))?;
    Ok((data.dev(), data.ino()))
}

/// The nearest launcher above a process, itself included.
fn launcher_above(pid: i32) -> io::Result<Option<i32>> {
    let installed = installed_program();
    for _ in 0..TRIES {
        if let Some(answer) = walk(pid, installed)? {
            return Ok(answer);
        }
    }
    Err(io::Error::other("its ancestors keep changing"))
}

/// One walk up. `None` when a process ended or changed its parent under it.
fn walk(pid: i32, installed: Option<(u64, u64)>) -> io::Result<Option<Option<i32>>> {
    let mut pid = pid;
    let mut stat = procfs::stat(pid)?;
    loop {
        if is_launcher(pid, installed) {
            return Ok(Some(Some(pid)));
        }
        let above = match procfs::stat(stat.ppid) {
            _ if stat.ppid == 0 => None,
            Ok(above) => Some(above),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // What was read about this process must still hold, now that its parent was looked at.
        if !holds(pid, stat) {
            return Ok(None);
        }
        match above {
            // A parent is never younger than its child.
            Some(above) if above.start_time > stat.start_time => return Ok(None),
            Some(above) => (pid, stat) = (stat.ppid, above),
            // The top, or a process of another user that is hidden (hidepid): launchers are of this user.
            None => return Ok(Some(None)),
        }
    }
}

fn holds(pid: i32, stat: Stat) -> bool {
    procfs::stat(pid).is_ok_and(|now| now.ppid == stat.ppid && now.start_time == stat.start_time)
}

/// By its name, which it alone can set, or by its program, which a command cannot have changed: that of
/// this installation, or any of that name (an older one that was replaced).
fn is_launcher(pid: i32, installed: Option<(u64, u64)>) -> bool {
    if procfs::name(pid).is_ok_and(|name| name == PROCESS_NAME) {
        return true;
    }
    let same = fs::metadata(format!("/proc/{pid}/exe"))
        .is_ok_and(|data| Some((data.dev(), data.ino())) == installed);
    same || procfs::exe(pid).is_ok_and(|path| is_program(&path))
}

fn is_program(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(" (deleted)").unwrap_or(&name) == PROGRAM
}

/// `air-worker` beside this program.
fn installed_program() -> Option<(u64, u64)> {
    let beside = std::env::current_exe().ok()?.with_file_name(PROGRAM);
    fs::metadata(beside).ok().map(|data| (data.dev(), data.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_may_and_others_may_not() {
        let me = std::process::id();
        let uid = geteuid().as_raw();
        assert!(peer_verdict(me, uid).is_ok());
        assert!(peer_verdict(me, uid + 1).unwrap_err().is(codes::PEER_REFUSED));
        assert!(peer_verdict(u32::MAX, uid).unwrap_err().is(codes::PEER_REFUSED));
        assert!(is_program(Path::new("/opt/air/bin/air-worker (deleted)")));
        assert!(!is_program(Path::new("/opt/air/bin/aird")));
    }
}
