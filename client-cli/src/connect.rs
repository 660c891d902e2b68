//! Connecting to `aird`: always first, and starting it only where nobody listens.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use air_client_tui::attach::{ConnectFuture, Connector};
use air_client_tui::rpc::{
    Identity, Listening, ProjectionClient, RpcClient, SocketEnv, listening, socket_path,
};
use air_contracts::api::ClientRole;
use air_contracts::error::codes;
use air_contracts::{AirError, Result};

use crate::process;

/// How long a started daemon may take until it answers.
const START_DEADLINE: Duration = Duration::from_secs(10);
/// How long another daemon that holds the lock may take, once ours has ended.
const OTHER_DEADLINE: Duration = Duration::from_secs(2);
/// How long a daemon that breaks connections is taken for one that is ending.
const DYING_DEADLINE: Duration = Duration::from_secs(2);
/// Between two looks at the socket: from, and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));

/// Where the daemon is, and who calls.
#[derive(Debug, Clone)]
pub struct Dial {
    pub socket: PathBuf,
    /// `$AIR_HOME`, else `~/.air`.
    pub air_home: PathBuf,
    /// Variables that a started daemon gets beside those of this process; `None`: it does not get it.
    pub env: Vec<(&'static str, Option<OsString>)>,
    pub identity: Identity,
    /// Whether a start is told on stderr.
    pub tell: bool,
}

impl Dial {
    /// As the environment says. Relative paths in it start from `cwd`.
    pub fn from_env(env: &SocketEnv, cwd: &Path, identity: Identity, tell: bool) -> Result<Self> {
        let socket = cwd.join(socket_path(env)?);
        let air_home = env.air_home().map_or_else(|| cwd.join(".air"), |home| cwd.join(home));
        // The daemon starts in another folder: what is relative is given to it as it was resolved here.
        let mut vars = Vec::new();
        if env.air_home.is_some() {
            vars.push(("AIR_HOME", Some(air_home.clone().into_os_string())));
        }
        if env.air_socket.is_some() {
            vars.push(("AIR_SOCKET", Some(socket.clone().into_os_string())));
        }
        Ok(Self { socket, air_home, env: vars, identity, tell })
    }

    /// The log of an on-demand daemon.
    pub fn log(&self) -> PathBuf {
        self.air_home.join("logs/aird.log")
    }

    /// Connects, and starts the daemon where nobody listens.
    pub async fn connect(&self) -> Result<RpcClient> {
        let deadline = Instant::now() + DYING_DEADLINE;
        loop {
            match listening(&self.socket).await {
                Listening::Yes(stream) => match RpcClient::over(stream, &self.identity).await {
                    // A daemon that has just been killed still takes a connection and then breaks it.
                    Err(error) if error.is(codes::DAEMON_UNREACHABLE) && Instant::now() < deadline => {}
                    result => return result,
                },
                Listening::Nobody | Listening::Absent => return self.start().await.map(|(client, _)| client),
                Listening::Refused(_) => return self.connect_only().await,
            }
            tokio::time::sleep(BACKOFF.1).await;
        }
    }

    /// Connects, and never starts anything.
    pub async fn connect_only(&self) -> Result<RpcClient> {
        RpcClient::connect(&self.socket, &self.identity).await
    }

    /// Connects within `limit`, and never starts anything.
    pub async fn connect_within(&self, limit: Duration) -> Result<RpcClient> {
        let deadline = Instant::now() + limit;
        let mut pause = BACKOFF.0;
        loop {
            match self.connect_only().await {
                Err(error) if error.is(codes::DAEMON_UNREACHABLE) && Instant::now() < deadline => {}
                result => return result,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(BACKOFF.1);
        }
    }

    /// Starts the daemon and waits until it answers: the connection, and how long it took.
    pub async fn start(&self) -> Result<(RpcClient, Duration)> {
        let program = process::beside("aird")?;
        let begun = Instant::now();
        let mut child = process::start_daemon(&program, &self.log(), &self.env)?;
        let mut deadline = begun + START_DEADLINE;
        let mut ended = None;
        let mut pause = BACKOFF.0;
        loop {
            if let Listening::Yes(stream) = listening(&self.socket).await {
                match RpcClient::over(stream, &self.identity).await {
                    Err(error) if error.is(codes::DAEMON_UNREACHABLE) && Instant::now() < deadline => {}
                    result => {
                        let client = result?;
                        self.tell_start(&client, begun.elapsed());
                        return Ok((client, begun.elapsed()));
                    }
                }
            }
            if ended.is_none()
                && let Ok(Some(status)) = child.try_wait()
            {
                ended = Some(status.to_string());
                deadline = deadline.min(Instant::now() + OTHER_DEADLINE);
            }
            if Instant::now() >= deadline {
                return Err(self.did_not_start(&child, ended.as_deref()));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(BACKOFF.1);
        }
    }

    fn tell_start(&self, client: &RpcClient, took: Duration) {
        if self.tell {
            let pid = client.server().server.pid;
            eprintln!("aird is not running; started it (pid {pid}, {} ms).", took.as_millis());
        }
    }

    fn did_not_start(&self, child: &Child, ended: Option<&str>) -> AirError {
        let state = match ended {
            Some(status) => format!("aird ended at once ({status})"),
            None => format!("aird runs (pid {}) and does not answer after 10 s", child.id()),
        };
        let mut error = AirError::new(codes::DAEMON_UNREACHABLE, state)
            .hint(format!("socket  {}", self.socket.display()))
            .hint("air daemon logs\tyour work is on disk");
        if let Some(line) = last_line(&self.log()) {
            error = error.hint(format!("it said: {line}"));
        }
        error
    }
}

fn last_line(path: &Path) -> Option<String> {
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    // What the daemon said last begins with the error itself; hints follow it.
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from =
        lines.iter().rposition(|line| line.starts_with("error")).unwrap_or(lines.len().saturating_sub(1));
    (!lines.is_empty()).then(|| lines[from..].join("\n          "))
}

impl Connector for Dial {
    fn connect(&self, role: ClientRole) -> ConnectFuture<'_> {
        let mut dial = self.clone();
        dial.identity.role = role;
        Box::pin(async move {
            let client: Arc<dyn ProjectionClient> = Arc::new(Dial::connect(&dial).await?);
            Ok(client)
        })
    }

    fn connect_running(&self, role: ClientRole) -> ConnectFuture<'_> {
        let mut dial = self.clone();
        dial.identity.role = role;
        Box::pin(async move {
            let client: Arc<dyn ProjectionClient> = Arc::new(Dial::connect_only(&dial).await?);
            Ok(client)
        })
    }
}

/// Where this client runs, for the record of answers: its terminal, else its process id.
pub fn place() -> String {
    let name = rustix::termios::ttyname(std::io::stderr(), Vec::new())
        .or_else(|_| rustix::termios::ttyname(std::io::stdin(), Vec::new()));
    match name.ok().and_then(|name| name.into_string().ok()) {
        Some(name) => name.strip_prefix("/dev/").unwrap_or(&name).to_owned(),
        None => format!("pid {}", std::process::id()),
    }
}
