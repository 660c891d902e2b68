//! The launcher of one command: `air-worker exec RUN_FOLDER`.
//!
//! Two processes share the work. The *guard* is the one that the daemon started; it only waits for the
//! *launcher* proper, its child, and ends the descendants should the launcher be killed: as the next
//! subreaper up, it inherits them. Both stay outside the sandbox, in a session of their own, deaf to
//! every signal that can be ignored. There is no other thread, no runtime and no daemon descriptor.

mod ending;
mod supervise;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, getpid, set_child_subreaper, set_dumpable_behavior, waitpid,
};

use crate::folder::RunFolder;
use crate::sys::{self, Forked};

/// The name under which launchers and guards run: `/proc/PID/comm`, which no other process can change.
pub(crate) const PROCESS_NAME: &str = "air-launcher";

/// The run was recorded.
const EXIT_RECORDED: i32 = 0;
/// The folder is not one that can be run.
const EXIT_USELESS_FOLDER: i32 = 2;
/// Another launcher has had the folder.
const EXIT_TAKEN: i32 = 3;
/// The launcher itself failed; there may be no record.
const EXIT_FAILED: i32 = 70;

/// How long the guard of a killed launcher tries to end what is left.
const GUARD_LIMIT: Duration = Duration::from_secs(10);

/// The signals that the launcher hears, through a signalfd.
pub(crate) const HEARD: [libc::c_int; 2] = [libc::SIGCHLD, libc::SIGTERM];

const IGNORED: [libc::c_int; 14] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];

/// Runs the command of a run folder to its end and records it there. Returns the exit status of the
/// process: 0 recorded, 2 not a run folder, 3 taken before, 70 failed. Closes every inherited descriptor.
/// It never panics, and must be called from a process that has one thread and nothing else to do.
pub fn launch(run_folder: &Path) -> i32 {
    std::panic::catch_unwind(|| start(run_folder)).unwrap_or(EXIT_FAILED)
}

fn start(run_folder: &Path) -> i32 {
    let Ok(path) = std::path::absolute(run_folder) else { return EXIT_USELESS_FOLDER };
    if detach().is_err() {
        return EXIT_FAILED;
    }
    let Ok(folder) = RunFolder::open(path) else { return EXIT_USELESS_FOLDER };
    let Ok(lock) = folder.lock() else { return EXIT_TAKEN };
    if folder.is_taken() {
        return EXIT_TAKEN;
    }
    let Ok(spec) = folder.spec() else { return EXIT_USELESS_FOLDER };
    if set_child_subreaper(Some(getpid())).is_err() {
        return EXIT_FAILED;
    }
    match sys::fork() {
        Ok(Forked::Parent(launcher)) => guard(launcher, lock),
        Ok(Forked::Child) => {
            let recorded = set_child_subreaper(Some(getpid())).is_ok() && supervise::run(&folder, &spec);
            sys::exit_now(if recorded { EXIT_RECORDED } else { EXIT_FAILED })
        }
        Err(_) => EXIT_FAILED,
    }
}

/// Leaves everything behind that the starting process passed on.
fn detach() -> std::io::Result<()> {
    sys::close_from(3);
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    let _ = rustix::process::setsid(); // refused for a group leader that a shell made: then it has one
    let _ = rustix::process::chdir("/"); // pins no folder
    rustix::thread::set_name(c"air-launcher")?;
    sys::ignore_signals(&IGNORED);
    sys::block_signals(&HEARD)
}

/// Waits for the launcher; one that did not end by itself leaves its descendants to be ended here. The
/// lock is shared with the launcher and goes when both are gone.
fn guard(launcher: Pid, lock: File) -> i32 {
    hide();
    let status = loop {
        match waitpid(Some(launcher), WaitOptions::empty()) {
            Ok(Some((_, status))) => break status.exit_status(),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break None,
        }
    };
    if status != Some(EXIT_RECORDED) {
        ending::kill_all(Instant::now() + GUARD_LIMIT);
    }
    drop(lock);
    status.unwrap_or(EXIT_FAILED)
}

/// Keeps other processes of the user from attaching to this one: prctl(2), `PR_SET_DUMPABLE`.
fn hide() {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable); // best effort: Landlock holds the command
}
