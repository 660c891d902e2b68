//! What this machine can do for a sandbox.

use std::fs;

use air_contracts::platform::Platform;

use crate::sys;

/// Looks at the machine: kernel, Landlock, user namespaces (tried in a child process). `git` is left
/// open.
pub fn platform() -> Platform {
    Platform {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim_end().to_owned(),
        landlock_abi: sys::landlock_abi(),
        user_namespaces: sys::can_unshare_user(),
        git: None,
    }
}
