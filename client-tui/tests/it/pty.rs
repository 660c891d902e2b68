//! A terminal made of a pseudoterminal pair: what was written to it, its modes, and the child behind it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

/// For anything that must come to pass.
const DEADLINE: Duration = Duration::from_secs(20);

pub struct Terminal {
    master: Option<File>,
    /// Kept open, so that the modes can be looked at after the child has ended.
    slave: Option<OwnedFd>,
    written: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
    closed: Arc<AtomicBool>,
    child: Child,
    pub before: Termios,
}

impl Terminal {
    /// Starts the child on a terminal of 80 x 24, and waits for its first frame.
    pub fn start() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        resize(&master, 80, 24);
        let open = || File::options().read(true).write(true).open(&name).unwrap();
        let slave: OwnedFd = open().into();
        let before = tcgetattr(&slave).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child::attached", "--ignored", "--nocapture", "--test-threads=1"]);
        command.env(super::child::MARK, "1").env("TERM", "xterm").env("RUST_BACKTRACE", "0");
        // A group of its own, as a shell gives it: ^Z stops the whole group.
        command.stdin(open()).stdout(open()).stderr(Stdio::from(open())).process_group(0);
        let child = command.spawn().unwrap();
        let written = Arc::new(Mutex::new(Vec::new()));
        let master = File::from(master);
        let closed = Arc::new(AtomicBool::new(false));
        let reader = read(master.try_clone().unwrap(), Arc::clone(&written), Arc::clone(&closed));
        let terminal = Self {
            master: Some(master),
            slave: Some(slave),
            written,
            reader: Some(reader),
            closed,
            child,
            before,
        };
        terminal.wait_for("the median is 2.5");
        terminal
    }

    /// Everything that was written so far.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    pub fn wait_for(&self, text: &str) {
        wait(|| self.screen().contains(text), || format!("{text:?} on\n{}", self.screen()));
    }

    /// What a person sees now: rows, of the screen that is in front.
    pub fn screen(&self) -> String {
        super::screen::shown(&self.written.lock().unwrap())
    }

    pub fn wait_until(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        wait(|| condition(self), || format!("{what}; {:?}", self.output()));
    }

    pub fn forget(&self) {
        self.written.lock().unwrap().clear();
    }

    pub fn keys(&mut self, bytes: &str) {
        self.master.as_mut().unwrap().write_all(bytes.as_bytes()).unwrap();
    }

    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        resize(self.master.as_ref().unwrap(), columns, rows);
        self.signal(Signal::WINCH);
    }

    /// The window is closed: nobody is at the other end any more.
    pub fn hang_up(&mut self) {
        self.slave = None;
        self.closed.store(true, Ordering::SeqCst);
        self.reader.take().unwrap().join().unwrap();
        self.master = None;
    }

    pub fn is_raw(&self) -> bool {
        !self.modes().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    pub fn modes(&self) -> Termios {
        tcgetattr(self.slave.as_ref().unwrap().as_fd()).unwrap()
    }

    /// The letter of the process' state (proc_pid_stat(5)).
    pub fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        stat.rsplit(") ").next().unwrap().chars().next().unwrap()
    }

    pub fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < DEADLINE, "it goes on: {:?}", self.output());
            std::thread::yield_now();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Only where a test failed it is still there.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn resize(master: impl std::os::fd::AsFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}

fn wait(condition: impl Fn() -> bool, what: impl Fn() -> String) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < DEADLINE, "waited for {}", what());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn read(mut master: File, into: Arc<Mutex<Vec<u8>>>, closed: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while !closed.load(Ordering::SeqCst) {
            let mut fds = [PollFd::new(&master, PollFlags::IN)];
            let patience = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            if poll(&mut fds, Some(&patience)).unwrap() == 0 {
                continue;
            }
            match master.read(&mut buffer) {
                Ok(length @ 1..) => into.lock().unwrap().extend_from_slice(&buffer[..length]),
                _ => return,
            }
        }
    })
}
