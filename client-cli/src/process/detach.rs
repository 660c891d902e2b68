//! A child that survives this terminal.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The child calls `setsid(2)` before it executes: no controlling terminal, no signals of this group.
#[expect(unsafe_code, reason = "the standard library offers setsid only between fork and exec")]
pub(super) fn in_own_session(command: &mut Command) {
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; setsid is one
    // (signal-safety(7)), and the closure allocates nothing.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(|_| ()).map_err(std::io::Error::from));
    }
}
