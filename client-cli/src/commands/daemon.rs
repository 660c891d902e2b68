//! `air daemon`: start, stop, restart, status, logs. Only start and restart ever start it.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::rpc::{Listening, RpcClient, listening};
use air_client_tui::text::escape::visible_block;
use air_client_tui::text::{amounts, words};
use air_contracts::api::{
    CommandsAtStop, DaemonShutdown, DaemonStatus, DaemonStatusMethod, Empty, ShutdownParams,
};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};

use crate::app::App;
use crate::args::DaemonCommand;
use crate::exit::Exit;

/// How long a daemon may take to end. It drains: an answer of a model may come to its end.
const STOP_DEADLINE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

pub(super) async fn run(app: &App, command: DaemonCommand) -> Result<Exit> {
    match command {
        DaemonCommand::Start => start(app).await,
        DaemonCommand::Stop => stop(app).await,
        DaemonCommand::Restart => restart(app).await,
        DaemonCommand::Status => status(app).await,
        DaemonCommand::Logs { follow, lines } => logs(app, follow, lines).await,
    }
}

async fn start(app: &App) -> Result<Exit> {
    match listening(&app.dial.socket).await {
        Listening::Yes(stream) => {
            let client = RpcClient::over(stream, &app.dial.identity).await?;
            report(app, &client, "runs already").await
        }
        _ => {
            let (client, _) = app.dial.start().await?;
            report(app, &client, "started").await
        }
    }
}

async fn report(app: &App, client: &RpcClient, word: &str) -> Result<Exit> {
    let status = client.call::<DaemonStatusMethod>(Empty {}).await?;
    if app.out.is_json() {
        app.out.json(&status)?;
    } else {
        app.out.line(&format!("aird {} {word} (pid {})", status.version, status.pid));
    }
    Ok(Exit::Ok)
}

async fn stop(app: &App) -> Result<Exit> {
    let stopped = end(app, CommandsAtStop::End).await?;
    if app.out.is_json() {
        app.out.json(&serde_json::json!({ "stopped": stopped }))?;
    } else {
        app.out.line(if stopped { "aird stopped" } else { "aird does not run" });
    }
    Ok(Exit::Ok)
}

async fn restart(app: &App) -> Result<Exit> {
    end(app, CommandsAtStop::Leave).await?;
    let (client, _) = app.dial.start().await?;
    report(app, &client, "restarted").await
}

/// Ends the daemon and waits until it is gone; `false` where none ran.
async fn end(app: &App, commands: CommandsAtStop) -> Result<bool> {
    let stream = match listening(&app.dial.socket).await {
        Listening::Yes(stream) => stream,
        Listening::Nobody | Listening::Absent => return Ok(false),
        Listening::Refused(error) => return Err(AirError::io(app.dial.socket.display(), &error)),
    };
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
    match RpcClient::over(stream, &app.dial.identity).await {
        Ok(client) => {
            let asked = client.call::<DaemonShutdown>(ShutdownParams { drain: true, commands }).await;
            match asked {
                // It may be gone before it has answered.
                Ok(_) => {}
                Err(error) if air_client_tui::plain::is_lost(&error) => {}
                Err(error) => return Err(error),
            }
        }
        // One of another version: the kernel says which process holds the socket, and SIGTERM drains it.
        Err(error) if error.is(codes::DAEMON_VERSION) => terminate(pid, error)?,
        Err(error) => return Err(error),
    }
    wait_until_gone(app, pid).await?;
    Ok(true)
}

fn terminate(pid: Option<i32>, error: AirError) -> Result<()> {
    let pid = pid.and_then(rustix::process::Pid::from_raw).ok_or(error)?;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)
        .map_err(|error| AirError::io(format!("pid {pid}"), &std::io::Error::from(error)))
}

async fn wait_until_gone(app: &App, pid: Option<i32>) -> Result<()> {
    let deadline = Instant::now() + STOP_DEADLINE;
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    loop {
        let silent = !matches!(listening(&app.dial.socket).await, Listening::Yes(_));
        let ended = pid.is_none_or(has_ended);
        if silent && ended {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(AirError::new(codes::DAEMON_STOPPING, "aird is stopping and not gone after 30 s")
                .hint("air daemon status · air daemon logs"));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether a process is gone. One that only waits to be reaped by its parent is.
fn has_ended(pid: rustix::process::Pid) -> bool {
    if rustix::process::test_kill_process(pid).is_err() {
        return true;
    }
    // proc_pid_stat(5): the state is the first field behind the name in parentheses.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

async fn status(app: &App) -> Result<Exit> {
    let client = app.dial.connect_only().await?;
    let status = client.call::<DaemonStatusMethod>(Empty {}).await?;
    if app.out.is_json() {
        app.out.json(&status)?;
    } else {
        app.out.lines(&status_lines(app, &status));
    }
    Ok(Exit::Ok)
}

fn status_lines(app: &App, status: &DaemonStatus) -> Vec<String> {
    let up = amounts::span(amounts::now().millis_since(status.started_at));
    let draining = if status.draining { ", stopping" } else { "" };
    let first = [
        format!("aird {}", status.version),
        format!("pid {}", status.pid),
        format!("up {up}{draining}"),
        amounts::bytes(status.rss_bytes),
        format!("unix:{}", status.socket),
    ];
    let count = |n: u32, one: &str, many: &str| words::count(u64::from(n), one, many);
    let second = [
        count(status.projects, "project", "projects"),
        count(status.sessions, "session", "sessions"),
        count(status.turns_running, "turn running", "turns running"),
        count(status.approvals_open, "question waiting", "questions waiting"),
        count(status.clients, "client", "clients"),
    ];
    vec![first.join(app.out.pen.dot()), second.join(", ")]
}

async fn logs(app: &App, follow: bool, lines: usize) -> Result<Exit> {
    let path = app.dial.log();
    let mut offset = print_tail(app, &path, lines)?;
    if !follow {
        return Ok(Exit::Ok);
    }
    loop {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(200)) => offset = print_from(app, &path, offset)?,
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
        }
    }
}

fn print_tail(app: &App, path: &Path, lines: usize) -> Result<u64> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            app.out.note(&format!("{}: nothing was written yet", path.display()));
            return Ok(0);
        }
        Err(error) => return Err(AirError::io(path.display(), &error)),
    };
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    for line in all.iter().skip(all.len().saturating_sub(lines)) {
        app.out.line(&visible_block(line));
    }
    Ok(bytes.len() as u64)
}

fn print_from(app: &App, path: &Path, offset: u64) -> Result<u64> {
    let io = |error: std::io::Error| AirError::io(path.display(), &error);
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(io(error)),
    };
    let length = file.metadata().map_err(io)?.len();
    // A shorter file is a new one.
    let offset = if length < offset { 0 } else { offset };
    file.seek(SeekFrom::Start(offset)).map_err(io)?;
    let mut bytes = Vec::new();
    file.take(length - offset).read_to_end(&mut bytes).map_err(io)?;
    app.out.data(visible_block(&String::from_utf8_lossy(&bytes)).as_bytes());
    Ok(length)
}
