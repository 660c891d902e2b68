//! From the start of the command to its record: output, time limit, cancel, end.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant, SystemTime};

use air_contracts::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitStatus, getpid};

use super::{HEARD, ending, hide};
use crate::child::{self, Started};
use crate::folder::{EXIT, LAUNCHER, RunFolder};
use crate::output::{OutputWriter, TAIL};
use crate::spec::{ExitRecord, LauncherId, RunSpec};
use crate::{procfs, sys};

/// What a process that outlives its shell has to end by itself (`tee` of a process substitution).
const SETTLE: Duration = Duration::from_millis(100);
/// Between SIGTERM and SIGKILL, after a time limit or a cancel.
const GRACE: Duration = Duration::from_secs(2);
/// Between SIGTERM and SIGKILL for what a foreground run left behind.
const SURVIVOR_GRACE: Duration = Duration::from_millis(500);
/// Between rounds of SIGKILL.
const KILL_ROUND: Duration = Duration::from_millis(5);
/// After this many of them what is left cannot be killed now (uninterruptible sleep).
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// The most that is read from the pipe after the last process has gone; a pipe holds less.
const DRAIN_LIMIT: u64 = 4 * 1024 * 1024;

/// Runs the command. Returns whether its end was recorded.
pub fn run(folder: &RunFolder, spec: &RunSpec) -> bool {
    let Ok(signals) = sys::signal_fd(&HEARD) else { return false };
    let Ok(dir) = File::open(folder.path()) else { return false };
    let Ok(id) = identity() else { return false };
    if folder.publish(LAUNCHER, &id).is_err() {
        return false;
    }
    let started = Instant::now();
    let Ok(output) = OutputWriter::create(dir.as_fd(), spec.head_cap, spec.tail_cap) else { return false };
    if folder.is_cancelled() {
        let record = ExitRecord { cancelled: true, ..blank(spec) };
        return record_end(folder, &record);
    }
    match child::start(spec, folder.path()) {
        Ok(child) => {
            hide();
            Supervisor::new(folder, spec, dir, signals, output, started, child).run()
        }
        Err(error) => record_end(folder, &ExitRecord { spawn_error: Some(error.to_string()), ..blank(spec) }),
    }
}

fn identity() -> std::io::Result<LauncherId> {
    let pid = getpid().as_raw_nonzero().get();
    let start_time = procfs::stat(pid)?.start_time;
    Ok(LauncherId { pid: pid.unsigned_abs(), start_time, boot_id: procfs::boot_id()? })
}

fn blank(spec: &RunSpec) -> ExitRecord {
    ExitRecord {
        run_id: spec.run_id,
        exit_code: None,
        signal: None,
        timed_out: false,
        cancelled: false,
        survivors: 0,
        output_bytes: 0,
        wall_ms: 0,
        spawn_error: None,
        output_error: None,
        sandbox: Default::default(),
        finished_at: now(),
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A full disk must not cost the record: the tail of the output makes room for it.
fn record_end(folder: &RunFolder, record: &ExitRecord) -> bool {
    if folder.publish(EXIT, record).is_ok() {
        return true;
    }
    let freed = File::options().write(true).truncate(true).open(folder.path().join(TAIL)).is_ok();
    freed && folder.publish(EXIT, record).is_ok()
}

/// Where a run is on its way to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The shell of a foreground run has ended, something below it has not.
    Settling {
        until: Instant,
    },
    /// SIGTERM was sent.
    Terminating {
        until: Instant,
    },
    /// SIGKILL is sent, round by round.
    Killing {
        until: Instant,
    },
    Done,
}

struct Supervisor<'a> {
    folder: &'a RunFolder,
    spec: &'a RunSpec,
    dir: File,
    signals: File,
    output: OutputWriter,
    started: Instant,
    shell: Pid,
    pipe: Option<File>,
    channel: Option<child::Channel>,
    phase: Phase,
    shell_status: Option<WaitStatus>,
    none_left: bool,
    cancel_asked: bool,
    record: ExitRecord,
    buffer: Vec<u8>,
}

impl<'a> Supervisor<'a> {
    fn new(
        folder: &'a RunFolder,
        spec: &'a RunSpec,
        dir: File,
        signals: OwnedFd,
        output: OutputWriter,
        started: Instant,
        child: Started,
    ) -> Self {
        Self {
            folder,
            spec,
            dir,
            signals: File::from(signals),
            output,
            started,
            shell: child.pid,
            pipe: Some(File::from(child.output)),
            channel: Some(child.channel),
            phase: Phase::Running,
            shell_status: None,
            none_left: false,
            cancel_asked: false,
            record: blank(spec),
            buffer: vec![0; 64 * 1024],
        }
    }

    fn run(mut self) -> bool {
        while self.phase != Phase::Done {
            self.wait();
            self.step(Instant::now());
        }
        self.drain();
        self.listen();
        self.record.exit_code = self.shell_status.and_then(WaitStatus::exit_status);
        self.record.signal = self.shell_status.and_then(WaitStatus::terminating_signal);
        if self.record.spawn_error.is_some() {
            self.record.exit_code = None; // it was the status of the sandbox, not of the command
        }
        self.record.output_bytes = self.output.total();
        self.record.output_error = self.output.error().map(str::to_owned);
        self.record.wall_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.record.finished_at = now();
        record_end(self.folder, &self.record)
    }

    /// Waits for output, a word of the child, a signal or the next moment at which something is due, and
    /// takes in what came.
    fn wait(&mut self) {
        let timeout = self.next_moment().map(|at| at.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|wait| Timespec::try_from(wait).ok());
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        let pipe = self.pipe.as_ref().map(|pipe| fds.push(PollFd::new(pipe, PollFlags::IN)));
        let channel = self.channel.as_ref().map(|channel| fds.push(PollFd::new(channel, PollFlags::IN)));
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return; // interrupted
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut rest = ready.iter().skip(1).copied();
        let pipe = pipe.is_some() && rest.next().unwrap_or_default();
        let channel = channel.is_some() && rest.next().unwrap_or_default();
        if pipe {
            self.pump();
        }
        if channel {
            self.listen();
        }
        if ready.first().copied().unwrap_or_default() {
            self.hear();
        }
    }

    fn next_moment(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => self.time_limit(),
            Phase::Settling { until } | Phase::Terminating { until } => Some(until),
            Phase::Killing { .. } => Some(Instant::now() + KILL_ROUND),
            Phase::Done => None,
        }
    }

    fn time_limit(&self) -> Option<Instant> {
        match self.spec.timeout_ms {
            0 => None,
            limit => self.started.checked_add(Duration::from_millis(limit)),
        }
    }

    /// Takes one piece of output; returns how much.
    fn pump(&mut self) -> usize {
        let Some(pipe) = &mut self.pipe else { return 0 };
        match pipe.read(&mut self.buffer) {
            Ok(0) => {
                self.pipe = None;
                0
            }
            Ok(count) => {
                self.output.write(self.dir.as_fd(), self.buffer.get(..count).unwrap_or_default());
                count
            }
            Err(_) => 0, // nothing there yet
        }
    }

    /// What the last writers left in the pipe. Not until its end: someone else may hold it open.
    fn drain(&mut self) {
        let limit = self.output.total() + DRAIN_LIMIT;
        while self.output.total() < limit && self.pump() > 0 {}
    }

    fn listen(&mut self) {
        let Some(channel) = &mut self.channel else { return };
        if !channel.read(self.shell, &mut self.record) {
            self.channel = None;
        }
    }

    fn hear(&mut self) {
        let count = self.signals.read(&mut self.buffer).unwrap_or(0);
        // SIGTERM alone says nothing: a command may have sent it. The file cannot be a command's.
        if sys::signals_in(self.buffer.get(..count).unwrap_or_default()).any(|signal| signal == libc::SIGTERM)
        {
            self.cancel_asked |= self.folder.is_cancelled();
        }
        let reaped = ending::reap(self.shell);
        self.shell_status = self.shell_status.or(reaped.watched);
        self.none_left |= reaped.none_left;
    }

    /// What is due now.
    fn step(&mut self, now: Instant) {
        match self.phase {
            Phase::Done => {}
            _ if self.none_left => self.phase = Phase::Done,
            Phase::Running => self.step_running(now),
            Phase::Settling { until } if now >= until => {
                self.record.survivors = ending::count();
                self.terminate(now + SURVIVOR_GRACE);
            }
            Phase::Terminating { until } if now >= until => {
                ending::kill();
                self.phase = Phase::Killing { until: now + KILL_LIMIT };
            }
            Phase::Killing { until } if now >= until => self.phase = Phase::Done,
            Phase::Killing { .. } => ending::kill(),
            Phase::Settling { .. } | Phase::Terminating { .. } => {}
        }
    }

    fn step_running(&mut self, now: Instant) {
        if self.cancel_asked {
            self.record.cancelled = true;
            self.terminate(now + GRACE);
        } else if self.time_limit().is_some_and(|limit| now >= limit) {
            self.record.timed_out = true;
            self.terminate(now + GRACE);
        } else if self.shell_status.is_some() && !self.spec.background {
            self.phase = Phase::Settling { until: now + SETTLE };
        }
    }

    fn terminate(&mut self, until: Instant) {
        ending::terminate();
        self.phase = Phase::Terminating { until };
    }
}
