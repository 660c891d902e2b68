//! What `/proc` tells about processes, proc(5).

use std::fs;
use std::io;
use std::path::PathBuf;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// `Z` and `X` are dead.
    pub state: u8,
    pub ppid: i32,
    /// Clock ticks since boot.
    pub start_time: u64,
}

impl Stat {
    /// Whether the process has ended and only waits to be reaped.
    pub fn is_dead(self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

/// Reads the state of a process; `NotFound` when there is none that can be seen.
pub fn stat(pid: i32) -> io::Result<Stat> {
    match fs::read(format!("/proc/{pid}/stat")) {
        Ok(text) => parse_stat(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData)),
        // A process that ends between open and read gives ESRCH.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Err(io::ErrorKind::NotFound.into()),
        Err(error) => Err(error),
    }
}

/// The name is in parentheses and may hold parentheses and spaces itself: the last one ends it.
fn parse_stat(text: &[u8]) -> Option<Stat> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        state: *fields.first()?.as_bytes().first()?,
        ppid: fields.get(1)?.parse().ok()?,
        start_time: fields.get(19)?.parse().ok()?,
    })
}

/// The name of a process, which only the process itself can change.
pub fn name(pid: i32) -> io::Result<String> {
    let text = fs::read(format!("/proc/{pid}/comm"))?;
    Ok(String::from_utf8_lossy(&text).trim_end().to_owned())
}

/// Where the program of a process lies.
pub fn exe(pid: i32) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe"))
}

/// The text that tells one boot of the machine from another.
pub fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim_end().to_owned())
}

/// Direct children of a process, dead ones included.
fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                found.extend(list.split_ascii_whitespace().filter_map(|text| text.parse::<i32>().ok()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && thread.path().exists() => {
                return children_by_scan(pid); // a kernel without CONFIG_PROC_CHILDREN
            }
            Err(_) => {}
        }
    }
    found
}

fn children_by_scan(parent: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| stat(*pid).is_ok_and(|stat| stat.ppid == parent))
        .collect()
}

/// A live process below a launcher, with the parent under which it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descendant {
    pub pid: i32,
    pub parent: i32,
}

/// Every live process below `root`, parents before children. A snapshot: processes come and go.
pub fn descendants(root: i32) -> Vec<Descendant> {
    let mut found = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut queue = std::collections::VecDeque::from([root]);
    while let Some(parent) = queue.pop_front() {
        for pid in children(parent) {
            let Ok(stat) = stat(pid) else { continue };
            if stat.ppid != parent || !seen.insert(pid) {
                continue;
            }
            queue.push_back(pid);
            if !stat.is_dead() {
                found.push(Descendant { pid, parent });
            }
        }
    }
    found
}

/// Sends a signal to a descendant, unless its pid has meanwhile gone to a process with another parent.
pub fn signal(target: Descendant, signal: Signal) {
    let Some(pid) = Pid::from_raw(target.pid) else { return };
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let same = stat(target.pid).is_ok_and(|stat| stat.ppid == target.parent);
    if same {
        let _ = pidfd_send_signal(pidfd, signal); // it may have ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let line = b"4211 (a) R 1 (b) c) S 17 4211 4211 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2\n";
        let stat = parse_stat(line).unwrap();
        assert_eq!(stat, Stat { state: b'S', ppid: 17, start_time: 987_654 });
        assert_eq!(parse_stat(b"4211 (cut"), None);
    }

    #[test]
    fn this_process_is_below_its_parent() {
        let me = i32::try_from(std::process::id()).unwrap();
        let mine = stat(me).unwrap();
        assert!(children(mine.ppid).contains(&me));
        assert!(children_by_scan(mine.ppid).contains(&me));
        assert!(!boot_id().unwrap().is_empty());
        assert_eq!(stat(i32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
