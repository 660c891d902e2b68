//! Reading the terminal without a thread, and without changing the flags of a file that others share.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Bytes of one read.
const READ: usize = 4096;

/// The terminal as a source of bytes.
#[derive(Debug)]
pub struct Tty(AsyncFd<OwnedFd>);

impl Tty {
    /// Stdin where it is a terminal, else the controlling terminal.
    pub fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let source = if rustix::termios::isatty(&stdin) {
            rustix::io::fcntl_dupfd_cloexec(&stdin, 3)?
        } else {
            File::open("/dev/tty")?.into()
        };
        register(source).map(Self)
    }

    /// What was typed; empty when the terminal is gone.
    pub async fn read(&self) -> io::Result<Vec<u8>> {
        loop {
            let mut ready = self.0.readable().await?;
            // The file is not made non-blocking: that would hold for every process that shares it.
            if !readable(self.0.get_ref())? {
                ready.clear_ready();
                continue;
            }
            let mut buffer = [0; READ];
            return match rustix::io::read(self.0.get_ref(), &mut buffer) {
                Ok(length) => Ok(buffer[..length].to_vec()),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                // A pseudoterminal whose other side was closed (tty_ioctl(4)).
                Err(rustix::io::Errno::IO) => Ok(Vec::new()),
                Err(error) => Err(error.into()),
            };
        }
    }
}

fn readable(source: &OwnedFd) -> io::Result<bool> {
    let mut fds = [PollFd::new(source, PollFlags::IN)];
    match rustix::event::poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[expect(unsafe_code, reason = "the file must stay open while it is registered: it is owned")]
fn register(source: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names the same open file until it is dropped, and the `AsyncFd` that owns it
    // deregisters before that.
    let registered = unsafe { AsyncFd::register_with_interest(source, Interest::READABLE) };
    Ok(registered?)
}
