//! Waiting for a process that is not our child.

#![expect(unsafe_code, reason = "tokio leaves it to the caller that a descriptor stays the same one")]

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A pidfd that turns readable when its process has ended: pidfd_open(2).
pub(super) struct Pidfd(AsyncFd<OwnedFd>);

impl Pidfd {
    /// Takes a pidfd over.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        // SAFETY: an `OwnedFd` is open and the same descriptor for as long as it lives.
        let registered = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
        registered.map(Self).map_err(io::Error::from)
    }

    /// Resolves when the process has ended.
    pub async fn ended(&self) {
        // An error means that there is nothing left to wait on.
        let _ = self.0.readable().await;
    }
}
