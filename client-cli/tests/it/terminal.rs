//! `air` on a terminal of its own (pty(7)).

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::air::command;
use crate::daemon::Daemon;

const DEADLINE: Duration = Duration::from_secs(20);

/// The other end of a terminal with a program on it.
pub struct Terminal {
    child: Child,
    master: File,
    seen: Arc<(Mutex<String>, Condvar)>,
}

impl Terminal {
    pub fn start(daemon: &Daemon, args: &[&str]) -> Self {
        Self::start_after_typing(daemon, args, "")
    }

    /// `typed` waits in the terminal before the program begins.
    pub fn start_after_typing(daemon: &Daemon, args: &[&str], typed: &str) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let size = rustix::termios::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&slave, size).unwrap();
        let mut master = File::from(master);
        master.write_all(typed.as_bytes()).unwrap();
        let stdio = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        let child = command(daemon.home())
            .args(args)
            .env("TERM", "xterm-256color")
            .env("NO_COLOR", "1")
            .stdin(stdio(&slave))
            .stdout(stdio(&slave))
            .stderr(stdio(&slave))
            .spawn()
            .unwrap();
        let seen: Arc<(Mutex<String>, Condvar)> = Arc::default();
        let (reader, shared) = (master.try_clone().unwrap(), seen.clone());
        std::thread::spawn(move || collect(reader, &shared));
        Self { child, master, seen }
    }

    pub fn send(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the program has printed `part`.
    pub fn wait_for(&self, part: &str) {
        let (text, condition) = &*self.seen;
        let (text, timeout) = condition
            .wait_timeout_while(text.lock().unwrap(), DEADLINE, |text| !text.contains(part))
            .unwrap();
        assert!(!timeout.timed_out(), "no {part:?} in {text}");
    }

    pub fn text(&self) -> String {
        self.seen.0.lock().unwrap().clone()
    }

    /// The exit code, once the program has ended.
    pub fn end(&mut self) -> Option<i32> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("it does not end: {}", self.text());
            }
            std::thread::yield_now();
        }
    }
}

/// Reads until the other side is closed, which a terminal tells by EIO.
fn collect(mut reader: File, seen: &(Mutex<String>, Condvar)) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        seen.0.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
        seen.1.notify_all();
    }
}
