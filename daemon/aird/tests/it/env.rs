//! A home for one daemon, and a client of it.

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// How long a condition may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

pub const AIRD: &str = env!("CARGO_BIN_EXE_aird");

pub struct Home {
    dir: tempfile::TempDir,
    children: Vec<Child>,
}

impl Home {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("p/.git")).unwrap();
        Self { dir, children: Vec::new() }
    }

    pub fn air_home(&self) -> PathBuf {
        self.dir.path().join("h")
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("p")
    }

    pub fn socket(&self) -> PathBuf {
        self.air_home().join("run/aird.sock")
    }

    /// A program with the environment of this home.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.dir.path())
            .env("AIR_HOME", self.air_home())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a daemon and waits until it has published itself. Gives its pid.
    pub fn start(&mut self) -> u32 {
        let pid = self.begin();
        self.wait_until("the daemon publishes itself", || {
            self.published().is_some_and(|info| info["pid"] == pid)
        });
        pid
    }

    /// Starts a daemon. Gives its pid.
    pub fn begin(&mut self) -> u32 {
        let child = self.command(AIRD).stderr(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        self.children.push(child);
        pid
    }

    /// Keeps a child to end it with this home.
    pub fn keep(&mut self, child: Child) {
        self.children.push(child);
    }

    pub fn published(&self) -> Option<Value> {
        let text = std::fs::read_to_string(self.air_home().join("run/aird.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub fn signal(&self, pid: u32, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the end of a child.
    pub fn ended(&mut self, pid: u32) -> ExitStatus {
        let at = self.children.iter().position(|child| child.id() == pid).unwrap();
        let mut child = self.children.remove(at);
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "{pid} does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub async fn client(&self) -> Client {
        Client::connect(&self.socket(), "driver").await
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// How a process ended, in one word.
pub fn verdict(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {signal:?}"),
    }
}

pub struct Client {
    socket: WebSocketStream<UnixStream>,
    next: u64,
}

impl Client {
    pub async fn connect(path: &std::path::Path, role: &str) -> Self {
        let stream = UnixStream::connect(path).await.unwrap();
        let (socket, _) = tokio_tungstenite::client_async("ws://aird/rpc", stream).await.unwrap();
        let mut client = Self { socket, next: 0 };
        let params =
            json!({ "client": { "name": "test", "version": "1" }, "protocol_version": 1, "role": role });
        client.ok("initialize", params).await;
        client
    }

    /// The next text; `None` when the daemon closed.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("nothing came") {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let call = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.socket.send(Message::text(call.to_string())).await.unwrap();
        loop {
            let text = self.next().await.expect("the daemon closed");
            if text["id"] == self.next {
                return text;
            }
        }
    }

    /// A call that succeeds: its result.
    #[track_caller]
    pub fn ok(&mut self, method: &str, params: Value) -> impl Future<Output = Value> {
        let shown = method.to_owned();
        async move {
            let answer = self.call(&shown, params).await;
            assert!(answer["error"].is_null(), "{shown}: {answer}");
            answer["result"].clone()
        }
    }

    /// A call that fails: the code of its error.
    pub async fn code(&mut self, method: &str, params: Value) -> String {
        let answer = self.call(method, params).await;
        answer["error"]["data"]["code"].as_str().unwrap_or("none").to_owned()
    }
}
