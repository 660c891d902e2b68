//! A daemon made of a closure: it listens on a real socket and speaks the real protocol.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use air_contracts::AirError;
use air_contracts::api::{PROTOCOL_VERSION, RpcError};
use air_contracts::error::codes;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio_tungstenite::tungstenite::Message;

/// What a call leads to.
pub enum Reply {
    Now(Value),
    Error(AirError),
    /// Answered by a later [`Stage::release`].
    Hold,
    /// The connection breaks.
    Break,
}

/// What a script can do beside answering.
#[derive(Default)]
pub struct Stage {
    notifications: Vec<(String, Value)>,
    released: Vec<Value>,
}

impl Stage {
    /// Sends a notification after the answer.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.notifications.push((method.to_owned(), params));
    }

    /// Answers the oldest call that is held.
    pub fn release(&mut self, result: Value) {
        self.released.push(result);
    }
}

type Script = Box<dyn FnMut(&str, &Value, &mut Stage) -> Reply + Send>;

/// A daemon that listens until the test ends.
pub struct Daemon {
    folder: tempfile::TempDir,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Daemon {
    /// Listens; `initialize` and `project/open` are answered by themselves.
    pub fn start(script: impl FnMut(&str, &Value, &mut Stage) -> Reply + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("run")).unwrap();
        let daemon = Self { folder, calls: Arc::default() };
        let listener = std::os::unix::net::UnixListener::bind(daemon.socket()).unwrap();
        let (calls, script) = (daemon.calls.clone(), Arc::new(Mutex::new(Box::new(script) as Script)));
        std::thread::spawn(move || serve(listener, script, calls));
        daemon
    }

    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("run/aird.sock")
    }

    /// The parameters of every call of a method so far.
    pub fn calls(&self, method: &str) -> Vec<Value> {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|(name, _)| name == method).map(|(_, params)| params.clone()).collect()
    }
}

fn serve(
    listener: std::os::unix::net::UnixListener,
    script: Arc<Mutex<Script>>,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
) {
    listener.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = UnixListener::from_std(listener).unwrap();
        loop {
            let Ok((stream, _)) = listener.accept().await else { return };
            let (script, calls) = (script.clone(), calls.clone());
            tokio::task::spawn_local(async move {
                let _ = connection(stream, script, calls).await;
            });
        }
    });
}

async fn connection(
    stream: UnixStream,
    script: Arc<Mutex<Script>>,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
) -> Option<()> {
    let mut socket = tokio_tungstenite::accept_async(stream).await.ok()?;
    let mut held = VecDeque::new();
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        let call: Value = serde_json::from_str(text.as_str()).unwrap();
        let (id, method) = (call["id"].clone(), call["method"].as_str().unwrap().to_owned());
        let params = call.get("params").cloned().unwrap_or(Value::Null);
        calls.lock().unwrap().push((method.clone(), params.clone()));
        let mut stage = Stage::default();
        let reply = match builtin(&method) {
            Some(result) => Reply::Now(result),
            None => (script.lock().unwrap())(&method, &params, &mut stage),
        };
        let mut out = Vec::new();
        match reply {
            Reply::Now(result) => out.push(json!({ "jsonrpc": "2.0", "id": id, "result": result })),
            Reply::Error(error) => {
                out.push(json!({ "jsonrpc": "2.0", "id": id, "error": RpcError::new(&error) }))
            }
            Reply::Hold => held.push_back(id),
            Reply::Break => return None,
        }
        for (method, params) in stage.notifications {
            out.push(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
        for result in stage.released {
            out.push(
                json!({ "jsonrpc": "2.0", "id": held.pop_front().expect("a held call"), "result": result }),
            );
        }
        for message in out {
            socket.send(Message::text(message.to_string())).await.ok()?;
        }
    }
    Some(())
}

fn builtin(method: &str) -> Option<Value> {
    match method {
        "initialize" => Some(json!({
            "server": { "name": "aird", "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id() },
            "protocol_version": PROTOCOL_VERSION,
            "instance_id": "instance_00000000-0000-0000-0000-000000000001",
        })),
        "project/open" => Some(crate::fixtures::project()),
        _ => None,
    }
}

/// A method that the script does not know.
pub fn unknown(method: &str) -> Reply {
    Reply::Error(AirError::new(codes::RPC_METHOD_NOT_FOUND, format!("no method {method}")))
}

/// Run by a copied `air` as its `aird`: answers `daemon/status` until it is ended.
#[test]
#[ignore = "the body of a program that another test starts"]
fn as_a_program() {
    let home = PathBuf::from(std::env::var_os("AIR_HOME").unwrap());
    std::fs::create_dir_all(home.join("run")).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(home.join("run/aird.sock")).unwrap();
    let script: Script = Box::new(|method, _, _| match method {
        "daemon/status" => Reply::Now(crate::fixtures::status()),
        // The way a daemon ends: without an answer.
        "daemon/shutdown" => std::process::exit(0),
        other => unknown(other),
    });
    serve(listener, Arc::new(Mutex::new(script)), Arc::default());
}
