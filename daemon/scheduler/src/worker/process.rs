//! One worker process: its start, its messages, its end.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::ipc::{IPC_VERSION, MAX_LINE, ParentMessage, WorkerMessage};
use air_contracts::{AirError, Result};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout, timeout_at};

use super::lines::{LineError, Lines};

/// How long a worker may take to say that it is there.
const READY: Duration = Duration::from_secs(5);

/// How long a worker may be silent.
const SILENCE: Duration = Duration::from_secs(20);

/// How long a worker may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(2);

/// Why there is no further message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It vanished or fell silent.
    Lost(String),
    /// It said something that is not the protocol.
    Garbage(String),
}

/// A running worker. Dropping it kills it with its whole process group.
pub(crate) struct WorkerProcess {
    child: Child,
    pid: u32,
    stdin: Option<ChildStdin>,
    lines: Lines<ChildStdout>,
    heard: Instant,
}

impl WorkerProcess {
    /// Starts `air-worker role` with an empty environment in a process group of its own, and waits until it is ready.
    pub(crate) async fn start(binary: &Path) -> Result<Self> {
        let spawn_failed = |error: &dyn std::fmt::Display| {
            AirError::new(codes::TOOL_SPAWN_FAILED, format!("{} role: {error}", binary.display()))
        };
        let mut child = Command::new(binary)
            .arg("role")
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| spawn_failed(&error))?;
        let (Some(stdin), Some(stdout), Some(pid)) = (child.stdin.take(), child.stdout.take(), child.id())
        else {
            return Err(spawn_failed(&"no pipes"));
        };
        let lines = Lines::new(stdout, MAX_LINE);
        let mut worker = Self { child, pid, stdin: Some(stdin), lines, heard: Instant::now() };
        match timeout(READY, worker.next()).await {
            Ok(Ok(WorkerMessage::AgentReady { ipc_version: IPC_VERSION, .. })) => Ok(worker),
            Ok(Ok(WorkerMessage::AgentReady { ipc_version, version, .. })) => {
                let message = format!(
                    "{} {version} speaks version {ipc_version} of the worker protocol, this daemon {IPC_VERSION}",
                    binary.display()
                );
                Err(AirError::new(codes::IPC_PROTOCOL, message))
            }
            Ok(Ok(_)) => {
                Err(AirError::new(codes::IPC_PROTOCOL, "the worker's first line is not agent.ready"))
            }
            Ok(Err(Broken::Lost(why) | Broken::Garbage(why))) => Err(AirError::new(codes::IPC_PROTOCOL, why)),
            Err(_) => {
                Err(AirError::new(codes::IPC_PROTOCOL, format!("the worker was not ready after {READY:?}")))
            }
        }
    }

    /// Sends a message. A worker that is gone is noticed by [`WorkerProcess::next`].
    pub(crate) async fn send(&mut self, message: &ParentMessage) -> Result<()> {
        let mut line = serde_json::to_vec(message).map_err(|error| AirError::internal(error.to_string()))?;
        line.push(b'\n');
        let gone = |error| AirError::new(codes::WORKER_LOST, format!("worker {}: {error}", self.pid));
        match &mut self.stdin {
            Some(stdin) => match timeout(SILENCE, stdin.write_all(&line)).await {
                Ok(written) => written.map_err(gone),
                Err(_) => {
                    Err(AirError::new(codes::WORKER_LOST, format!("worker {} reads nothing", self.pid)))
                }
            },
            None => Err(AirError::new(codes::WORKER_LOST, format!("worker {} was ended", self.pid))),
        }
    }

    /// The next message. May be dropped at any time. The limit of silence runs on the monotonic clock, which stands
    /// still while the machine sleeps.
    pub(crate) async fn next(&mut self) -> Result<WorkerMessage, Broken> {
        let pid = self.pid;
        let deadline = self.heard + SILENCE;
        let line = match timeout_at(deadline, self.lines.next()).await {
            Err(_) => {
                return Err(Broken::Lost(format!("worker {pid} was silent for {} s", SILENCE.as_secs())));
            }
            Ok(Err(LineError::Closed)) => {
                return Err(Broken::Lost(format!("worker {pid} ended without a result")));
            }
            Ok(Err(LineError::Io(error))) => return Err(Broken::Lost(format!("worker {pid}: {error}"))),
            Ok(Err(LineError::TooLong)) => {
                return Err(Broken::Garbage(format!(
                    "worker {pid} sent a line of more than {MAX_LINE} bytes"
                )));
            }
            Ok(Ok(line)) => line,
        };
        self.heard = Instant::now();
        serde_json::from_slice(line)
            .map_err(|error| Broken::Garbage(format!("worker {pid} sent a line that is no message: {error}")))
    }

    /// Ends it: closes its input, waits for a moment, then kills its group. Returns when it is reaped.
    pub(crate) async fn end(mut self, reason: &str) {
        let cancel = ParentMessage::AgentCancel { reason: reason.to_owned() };
        // It may be gone already; what matters is the wait below.
        let _ = timeout(Duration::from_millis(200), self.send(&cancel)).await;
        self.stdin = None;
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.kill_group();
            let _ = self.child.wait().await;
        }
    }

    fn kill_group(&self) {
        let group = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // Fails only when nobody is left in it.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // Not reaped yet, so the number is still its own.
        if self.child.id().is_some() {
            self.kill_group();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    async fn start(body: &str) -> (tempfile::TempDir, Result<WorkerProcess>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worker");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let started = WorkerProcess::start(&path).await;
        (folder, started)
    }

    const READY_LINE: &str =
        "echo '{\"type\":\"agent.ready\",\"ipc_version\":1,\"version\":\"0\",\"pid\":1}'";

    #[tokio::test]
    async fn silence_and_a_flood_are_the_end() {
        let (_folder, worker) = start(&format!("{READY_LINE}\nread -r x")).await;
        let mut worker = worker.unwrap();
        // The clock jumps to the next deadline whenever nothing else can happen.
        tokio::time::pause();
        let ended = worker.next().await;
        tokio::time::resume();
        assert!(matches!(&ended, Err(Broken::Lost(why)) if why.contains("silent for 20 s")), "{ended:?}");

        let flood =
            "x=xxxxxxxxxxxxxxxx\nwhile [ ${#x} -lt 5000000 ]; do x=$x$x; done\nprintf %s \"$x\"\nread -r x";
        let (_folder, worker) = start(&format!("{READY_LINE}\n{flood}")).await;
        let ended = worker.unwrap().next().await;
        assert!(matches!(&ended, Err(Broken::Garbage(why)) if why.contains("more than")), "{ended:?}");
    }

    #[tokio::test]
    async fn a_worker_that_does_not_listen_is_killed_with_its_children() {
        let (folder, worker) = start(&format!(
            "trap '' TERM HUP INT\n(while :; do read -r x <> /dev/zero; done) &\necho $! > \"$0.child\"\n{READY_LINE}\nwait"
        ))
        .await;
        worker.unwrap().end("enough").await;
        let child = std::fs::read_to_string(folder.path().join("worker.child")).unwrap();
        let stat = format!("/proc/{}/stat", child.trim());
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        let dead = || std::fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z"));
        while !dead() {
            assert!(std::time::Instant::now() < deadline, "a child of the worker lives on");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_missing_binary_is_named() {
        let error = WorkerProcess::start(Path::new("/nowhere/air-worker")).await.err().unwrap();
        assert_eq!(error.code, codes::TOOL_SPAWN_FAILED);
        assert!(error.message.contains("/nowhere/air-worker"));
    }
}
