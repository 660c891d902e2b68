//! Names with a meaning, and places of the system.

use std::path::{Component, Path};

use air_contracts::permission::{Decision, RiskLevel};

use super::{PathOp, PathVerdict};

/// Folders of version control.
pub(super) const VCS_DIRS: &[&str] = &[".git", ".hg", ".svn", ".jj"];

pub(super) fn next_is(parts: &mut std::path::Components<'_>, name: &str) -> bool {
    parts.next().is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(name))
}

pub(super) fn is_permissions(rest: &Path) -> bool {
    let text = rest.to_string_lossy().to_ascii_lowercase();
    matches!(text.as_str(), "permissions.yaml" | "permissions.yml" | "grants.yaml")
}

pub(super) fn has_vcs(path: &Path) -> bool {
    path.components().any(|part| {
        let Component::Normal(name) = part else { return false };
        VCS_DIRS.iter().any(|dir| name.eq_ignore_ascii_case(dir))
    })
}

pub(super) fn is_system(path: &Path) -> bool {
    let mut parts = path.components().skip(1);
    let Some(first) = parts.next() else { return true };
    let Some(first) = first.as_os_str().to_str() else { return false };
    matches!(
        first,
        "bin"
            | "boot"
            | "dev"
            | "etc"
            | "lib"
            | "lib32"
            | "lib64"
            | "libx32"
            | "opt"
            | "proc"
            | "root"
            | "run"
            | "sbin"
            | "srv"
            | "sys"
            | "usr"
            | "var"
            | "System"
            | "Library"
            | "private"
    )
}

/// Parts of the system that everybody reads: headers, libraries, documentation, release, hardware.
pub(super) fn is_harmless_fact(path: &Path) -> bool {
    const TREES: &[&str] = &[
        "/usr/include",
        "/usr/lib",
        "/usr/lib64",
        "/usr/share",
        "/usr/local/include",
        "/usr/local/lib",
        "/usr/local/share",
        "/usr/bin",
        "/usr/local/bin",
        "/bin",
        "/lib",
        "/lib64",
        "/opt",
        "/sys/fs/cgroup",
        "/sys/devices/system/cpu",
    ];
    const FILES: &[&str] = &[
        "/etc/os-release",
        "/etc/lsb-release",
        "/etc/debian_version",
        "/etc/timezone",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/version",
        "/proc/loadavg",
        "/proc/uptime",
        "/proc/self/cgroup",
        "/usr",
        "/usr/local",
        "/",
    ];
    TREES.iter().any(|tree| path.starts_with(tree)) || FILES.iter().any(|file| path == Path::new(file))
}

/// Names that show differently from what they are, or that mean something on another system.
pub(super) fn odd_name(path: &Path, op: PathOp, verdict: PathVerdict) -> PathVerdict {
    if op == PathOp::Read || verdict.decision >= Decision::Ask {
        return verdict;
    }
    let Some(text) = path.to_str() else { return verdict };
    let hidden = text.chars().any(|c| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    });
    let bytes = text.as_bytes();
    let windows = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\';
    if !hidden && !windows {
        return verdict;
    }
    let why = if windows {
        "is one odd file name here, no Windows path"
    } else {
        "shows differently from what it is"
    };
    let reason = format!("{}: {why}", text.escape_debug());
    PathVerdict { level: RiskLevel::Unknown, decision: Decision::Ask, reason, ..verdict }
}
