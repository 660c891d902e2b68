//! A daemon that systemd starts finds another one at work: it asks that one to drain, and takes over.

use std::path::Path;
use std::time::Duration;

use air_contracts::api::{DaemonShutdown, Method as _};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use air_host::AirPaths;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::lock::{self, Info, Lock};
use crate::socket::answers;

/// Time for the other one to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks at the lock.
const LOOK: Duration = Duration::from_millis(10);

/// Takes the lock of a home. A holder that answers is an error, or is asked to go when systemd started this
/// daemon (`activated`); one that does not answer any more, or not yet, is waited for.
pub async fn take_lock(paths: &AirPaths, activated: bool) -> Result<Lock> {
    let mut asked = None;
    let waited = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Some(lock) = lock::try_take(paths)? {
                return Ok(lock);
            }
            if let Some(info) = lock::published(paths) {
                if activated && asked != Some(info.pid) {
                    asked = Some(info.pid);
                    tracing::info!(pid = info.pid, "another aird is at work and is asked to drain");
                    if let Err(error) = ask(&info).await {
                        tracing::info!(%error, "it is signalled instead");
                        signal(info.pid);
                    }
                } else if !activated && lives(info.pid) && answers(&info.socket) {
                    return Err(already_running(paths, Some(&info)));
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    });
    waited.await.unwrap_or_else(|_| Err(already_running(paths, lock::published(paths).as_ref())))
}

/// Whether a process is there and not on its way out: one that was killed holds its lock and its socket until
/// its last thread is gone (proc_pid_stat(5), states Z and X).
fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

fn already_running(paths: &AirPaths, holder: Option<&Info>) -> AirError {
    let home = paths.air_home().display();
    let message = match holder {
        Some(info) => format!(
            "aird {} already runs for {home}: pid {}, socket {}",
            info.version,
            info.pid,
            info.socket.display()
        ),
        None => format!("another aird is starting or stopping for {home}"),
    };
    AirError::new(codes::DAEMON_ALREADY_RUNNING, message).hint("air daemon status · air daemon restart")
}

/// Asks over the socket. The answer must come from the process that published it.
async fn ask(info: &Info) -> Result<()> {
    let failed = |error: std::io::Error| AirError::io(info.socket.display(), &error);
    let asked = tokio::time::timeout(Duration::from_secs(10), async {
        let mut stream = UnixStream::connect(&info.socket).await.map_err(failed)?;
        let pid = stream.peer_cred().ok().and_then(|cred| cred.pid());
        if pid != i32::try_from(info.pid).ok() {
            return Err(AirError::internal("another process listens on the socket of the holder"));
        }
        stream.write_all(shutdown_request().as_bytes()).await.map_err(failed)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.map_err(failed)?;
        if answer.starts_with("HTTP/1.1 200") && answer.contains("\"result\"") {
            Ok(())
        } else {
            Err(AirError::internal(format!("the holder answered {:?}", answer.lines().next().unwrap_or(""))))
        }
    });
    asked.await.unwrap_or_else(|_| Err(AirError::internal("the holder did not answer")))
}

fn shutdown_request() -> String {
    let call = serde_json::json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": DaemonShutdown::NAME,
        "params": { "drain": true, "commands": "leave" },
    });
    let body = call.to_string();
    format!(
        "POST /rpc HTTP/1.1\r\nHost: aird\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// SIGTERM drains as well. Only to a process that is an `aird`: a pid may have gone to another one.
fn signal(pid: u32) {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(handle) = pidfd_open(raw, PidfdFlags::empty()) else { return };
    let name = std::fs::read_link(Path::new("/proc").join(pid.to_string()).join("exe")).unwrap_or_default();
    let is_aird = name.file_name().is_some_and(|name| name.to_string_lossy().starts_with("aird"));
    if is_aird && let Err(error) = pidfd_send_signal(handle, Signal::TERM) {
        tracing::warn!(pid, %error, "the holder could not be signalled");
    }
}
