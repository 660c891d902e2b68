//! The few things about this process that the standard library has no safe word for.
#![expect(unsafe_code, reason = "inherited descriptors and mallopt(3)")]

use std::os::fd::{FromRawFd as _, RawFd};
use std::os::unix::net::UnixListener;

use air_contracts::{AirError, Result};

/// The socket that systemd passed (sd_listen_fds(3)); `None` where the daemon was not activated by one.
pub fn inherited_listener() -> Result<Option<UnixListener>> {
    let failed = |error: std::io::Error| AirError::io("the socket from systemd", &error);
    let mut fds = sd_notify::listen_fds().map_err(failed)?;
    let Some(fd) = fds.next() else { return Ok(None) };
    // SAFETY: systemd passed this descriptor to this very process (LISTEN_PID was compared), and it is
    // taken over here once, at start, before anything else could use it.
    let listener = unsafe { UnixListener::from_raw_fd(fd as RawFd) };
    listener.local_addr().map_err(failed)?;
    Ok(Some(listener))
}

/// Keeps glibc from one heap for each thread: freed memory of one thread is then used by the others.
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt(3) has no preconditions; it is called before other threads exist.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Resident memory of this process in bytes; 0 where it cannot be read (proc_pid_statm(5)).
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// Runs work that blocks or computes for long beside the threads that answer clients.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&tokio::runtime::Handle) -> Result<T> + Send + 'static,
) -> Result<T> {
    let runtime = tokio::runtime::Handle::current();
    match tokio::task::spawn_blocking(move || work(&runtime)).await {
        Ok(result) => result,
        Err(error) => Err(AirError::internal(format!("work on a thread of its own: {error}"))),
    }
}
