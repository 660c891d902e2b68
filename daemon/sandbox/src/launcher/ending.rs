//! Ending every descendant. As subreaper the launcher inherits whatever is orphaned below it, so "no
//! child left" means "no descendant left", daemons with sessions of their own included.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, wait};

use crate::procfs::{self, Descendant};

/// How long to wait for the kernel between two rounds of SIGKILL.
const ROUND: Duration = Duration::from_millis(5);

fn all() -> Vec<Descendant> {
    procfs::descendants(getpid().as_raw_nonzero().get())
}

/// Live descendants at this moment.
pub fn count() -> u32 {
    u32::try_from(all().len()).unwrap_or(u32::MAX)
}

/// Asks every descendant to end. Stopped ones are woken so that they can.
pub fn terminate() {
    for target in all() {
        procfs::signal(target, Signal::TERM);
        procfs::signal(target, Signal::CONT);
    }
}

/// One round of SIGKILL; what is forked meanwhile is met by the next round.
pub fn kill() {
    all().into_iter().for_each(|target| procfs::signal(target, Signal::KILL));
}

/// What a round of reaping found.
pub struct Reaped {
    /// How the process asked for ended, if it is among them.
    pub watched: Option<WaitStatus>,
    /// Whether no descendant is left at all.
    pub none_left: bool,
}

/// Reaps whatever has ended, without waiting.
pub fn reap(watched: Pid) -> Reaped {
    let mut found = Reaped { watched: None, none_left: false };
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == watched => found.watched = Some(status),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return found,
            Err(_) => {
                found.none_left = true;
                return found;
            }
        }
    }
}

/// Kills and reaps until nothing is left, or until the deadline (a process in uninterruptible sleep).
pub fn kill_all(deadline: Instant) {
    while Instant::now() < deadline {
        kill();
        if reap(getpid()).none_left {
            return;
        }
        std::thread::sleep(ROUND);
    }
}
