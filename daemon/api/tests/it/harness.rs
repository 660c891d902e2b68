//! A server on a temporary socket, and clients of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use air_api::{Caller, Counters, Limits, Peer, Pushed, Router, ServeOptions, Server};
use air_contracts::api::{Empty, Method};
use air_contracts::error::codes;
use air_contracts::ids::InstanceId;
use air_contracts::{AirError, Result};
use air_rt::{CancellationToken, OnCancel, Tasks};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

macro_rules! toy {
    ($name:ident, $wire:literal, $read:literal, $params:ty, $result:ty) => {
        pub struct $name;
        impl Method for $name {
            const NAME: &'static str = $wire;
            const READ_ONLY: bool = $read;
            type Params = $params;
            type Result = $result;
        }
    };
}

#[derive(Serialize, Deserialize)]
pub struct Text {
    pub text: String,
}

#[derive(Serialize, Deserialize)]
pub struct Flood {
    /// Notifications; 0: without end.
    pub count: u64,
}

toy!(Echo, "toy/echo", true, Text, Text);
toy!(Change, "toy/change", false, Text, Empty);
toy!(Forever, "toy/forever", true, Empty, Empty);
toy!(Panics, "toy/panics", true, Empty, Empty);
toy!(Fails, "toy/fails", true, Empty, Empty);
toy!(StartFlood, "toy/flood", true, Flood, Empty);

pub struct Harness {
    pub server: Server,
    pub counters: Arc<Counters>,
    pub changed: Arc<AtomicBool>,
    dir: tempfile::TempDir,
}

fn router(changed: Arc<AtomicBool>) -> Router {
    Router::new()
        .register::<Echo, _, _>(|_, params| async { Ok(params) })
        .register::<Change, _, _>(move |_, _| {
            let changed = Arc::clone(&changed);
            async move {
                changed.store(true, Ordering::SeqCst);
                Ok(Empty {})
            }
        })
        .register::<Forever, _, _>(|_, _| std::future::pending())
        .register::<Panics, _, _>(|_, _| async { panic!("the toy breaks") })
        .register::<Fails, _, _>(|_, _| async {
            Err(AirError::new(codes::TASK_NOT_FOUND, "no task k9").hint("air tasks"))
        })
        .register::<StartFlood, _, _>(flood)
}

async fn flood(caller: Caller, params: Flood) -> Result<Empty> {
    caller.stream("toy/flood", "flood".into(), move |notifier| async move {
        let mut n = 0;
        while params.count == 0 || n < params.count {
            n += 1;
            match notifier.push("toy/drop", &json!({ "n": n, "fill": "x".repeat(4096) })) {
                Pushed::Queued => {}
                Pushed::Full => {
                    if !notifier.collapse("stream/resync", &json!({ "seq": n })).await {
                        return;
                    }
                }
                Pushed::Closed => return,
            }
            tokio::task::yield_now().await;
        }
        notifier.drained().await;
        notifier.push("toy/done", &json!({ "n": n }));
    })?;
    Ok(Empty {})
}

impl Harness {
    pub fn start() -> Self {
        Self::with(|_| Ok(()), |_| {})
    }

    pub fn with(
        peer_check: impl Fn(Peer) -> Result<()> + Send + Sync + 'static,
        adjust: impl FnOnce(&mut Limits),
    ) -> Self {
        let changed = Arc::new(AtomicBool::new(false));
        Self::over(router(Arc::clone(&changed)), changed, peer_check, adjust)
    }

    /// A server of these methods.
    pub fn of(router: Router) -> Self {
        Self::over(router, Arc::default(), |_| Ok(()), |_| {})
    }

    fn over(
        router: Router,
        changed: Arc<AtomicBool>,
        peer_check: impl Fn(Peer) -> Result<()> + Send + Sync + 'static,
        adjust: impl FnOnce(&mut Limits),
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("s")).unwrap();
        let mut limits = Limits::DAEMON;
        adjust(&mut limits);
        let options = ServeOptions {
            version: "9.9.9".into(),
            instance_id: InstanceId::from_uuid(uuid::Uuid::nil()),
            peer_check: Arc::new(move |_, peer| peer_check(peer)),
            metrics: Arc::new(|| "air_toy 1\n".into()),
            limits,
        };
        let counters = Arc::new(Counters::default());
        let owner = Tasks::root();
        let server = Server::new(router, options, owner.child("api"), Arc::clone(&counters));
        let accepting = server.clone();
        owner.spawn("accept", OnCancel::Abort, async move {
            accepting.serve(listener, CancellationToken::new()).await;
        });
        Self { server, counters, changed, dir }
    }

    pub async fn connect(&self) -> UnixStream {
        UnixStream::connect(self.dir.path().join("s")).await.unwrap()
    }

    /// Sends bytes as they are and reads until the server closes, or `None` of the time is left.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The server may have answered and closed before all was taken.
        let _ = stream.write_all(bytes).await;
        let mut out = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut out)).await.unwrap();
        String::from_utf8_lossy(&out).into_owned()
    }

    /// POST /rpc: (status, body).
    pub async fn post(&self, headers: &str, body: &str) -> (u16, Value) {
        let request = format!(
            "POST /rpc HTTP/1.1\r\nHost: air\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        split(&self.raw(request.as_bytes()).await)
    }

    pub async fn get(&self, path: &str) -> String {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: air\r\nConnection: close\r\n\r\n").as_bytes()).await
    }

    pub async fn websocket(&self) -> Client {
        let stream = self.connect().await;
        let (socket, _) = tokio_tungstenite::client_async("ws://air/rpc", stream).await.unwrap();
        Client { socket, next: 0 }
    }

    pub async fn client(&self, role: &str) -> Client {
        let mut client = self.websocket().await;
        let answer = client.call("initialize", initialize(role)).await;
        assert_eq!(answer["result"]["server"]["version"], "9.9.9");
        client
    }
}

pub fn initialize(role: &str) -> Value {
    json!({ "client": { "name": "toy", "version": "1" }, "protocol_version": 1, "role": role })
}

pub fn split(response: &str) -> (u16, Value) {
    let status = response.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let body = response.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

pub struct Client {
    socket: WebSocketStream<UnixStream>,
    next: u64,
}

impl Client {
    pub async fn send(&mut self, text: impl Into<String>) {
        self.socket.send(Message::text(text.into())).await.unwrap();
    }

    /// Sends a call and does not wait for its answer.
    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let call = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.send(call.to_string()).await;
        self.next
    }

    /// The next text; `None` when the server closed.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let frame = tokio::time::timeout(Duration::from_secs(20), self.socket.next())
                .await
                .expect("no frame came");
            match frame {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        loop {
            let text = self.next().await.expect("the server closed");
            if text["id"] == id {
                return text;
            }
        }
    }
}

/// Waits until a condition holds.
pub async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(20), async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("{what} did not happen"));
}
