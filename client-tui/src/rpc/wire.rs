//! The task that owns the WebSocket: sends calls, matches answers, sorts notifications.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use air_contracts::api::{RpcError, RpcRequest};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::Notification;

/// A call on its way to the socket.
pub(super) struct Outgoing {
    pub method: String,
    pub params: Value,
    pub answer: oneshot::Sender<Result<Value>>,
}

/// Everything that can come in: an answer has an `id`, a notification a `method`.
#[derive(Deserialize)]
struct Incoming {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// The state of one connection.
pub(super) struct Wire {
    socket: WebSocketStream<UnixStream>,
    calls: mpsc::Receiver<Outgoing>,
    notifications: mpsc::Sender<Notification>,
    pending: HashMap<u64, oneshot::Sender<Result<Value>>>,
    next_id: u64,
    lagged: bool,
    goodbye: Arc<AtomicBool>,
}

/// Why a connection ended.
enum End {
    /// Every client handle is gone.
    Unused,
    /// The daemon closed it in order.
    Goodbye,
    /// It broke.
    Broken(String),
}

impl Wire {
    pub(super) fn new(
        socket: WebSocketStream<UnixStream>,
        calls: mpsc::Receiver<Outgoing>,
        notifications: mpsc::Sender<Notification>,
        goodbye: Arc<AtomicBool>,
    ) -> Self {
        Self { socket, calls, notifications, pending: HashMap::new(), next_id: 1, lagged: false, goodbye }
    }

    /// Runs until the connection ends; then every open call gets an error.
    pub(super) async fn run(mut self) {
        let end = self.pump().await;
        self.goodbye.store(matches!(end, End::Goodbye), Ordering::Relaxed);
        if matches!(end, End::Unused) {
            // The peer may be gone already; then there is nobody to say goodbye to.
            let _ = self.socket.close(None).await;
        }
        let error = end.error();
        for (_, answer) in self.pending.drain() {
            let _ = answer.send(Err(error.clone()));
        }
        self.calls.close();
        while let Some(call) = self.calls.recv().await {
            let _ = call.answer.send(Err(error.clone()));
        }
    }

    async fn pump(&mut self) -> End {
        loop {
            tokio::select! {
                call = self.calls.recv() => match call {
                    Some(call) => if let Some(end) = self.send(call).await { return end },
                    None => return End::Unused,
                },
                message = self.socket.next() => match message {
                    Some(Ok(message)) => if let Some(end) = self.receive(message) { return end },
                    Some(Err(error)) => return End::Broken(error.to_string()),
                    None => return End::Broken("end of file".to_owned()),
                },
            }
        }
    }

    async fn send(&mut self, call: Outgoing) -> Option<End> {
        let id = self.next_id;
        self.next_id += 1;
        let request = RpcRequest {
            jsonrpc: "2.0".to_owned(),
            id: Some(Value::from(id)),
            method: call.method,
            params: call.params,
        };
        let text = match serde_json::to_string(&request) {
            Ok(text) => text,
            Err(error) => {
                let _ = call.answer.send(Err(AirError::new(codes::RPC_INVALID_PARAMS, error.to_string())));
                return None;
            }
        };
        self.pending.insert(id, call.answer);
        self.socket.send(Message::text(text)).await.err().map(|error| End::Broken(error.to_string()))
    }

    fn receive(&mut self, message: Message) -> Option<End> {
        match message {
            Message::Text(text) => self.sort(text.as_str()),
            Message::Close(_) => return Some(End::Goodbye),
            // Pings are answered by the protocol layer; binary frames are not part of the API.
            _ => {}
        }
        None
    }

    fn sort(&mut self, text: &str) {
        let Ok(incoming) = serde_json::from_str::<Incoming>(text) else { return };
        match (incoming.method, incoming.id.as_ref().and_then(Value::as_u64)) {
            (Some(method), _) => self.notify(Notification::parse(&method, incoming.params)),
            (None, Some(id)) => {
                if let Some(answer) = self.pending.remove(&id) {
                    let result = match incoming.error {
                        Some(error) => Err(error.to_air_error()),
                        None => Ok(incoming.result.unwrap_or(Value::Null)),
                    };
                    let _ = answer.send(result);
                }
            }
            (None, None) => {}
        }
    }

    /// Never waits for the reader: calls must go on being answered. What does not fit is dropped, and
    /// the reader is told as soon as there is room.
    fn notify(&mut self, notification: Notification) {
        if self.lagged && self.notifications.try_send(Notification::Lagged).is_ok() {
            self.lagged = false;
        }
        if let Err(mpsc::error::TrySendError::Full(_)) = self.notifications.try_send(notification) {
            self.lagged = true;
        }
    }
}

impl End {
    fn error(&self) -> AirError {
        match self {
            Self::Unused => {
                AirError::new(codes::DAEMON_UNREACHABLE, "the connection to aird was closed here")
            }
            Self::Goodbye => AirError::new(codes::DAEMON_STOPPING, "aird is stopping")
                .hint("air daemon status")
                .hint("the work is on disk and goes on when aird runs again"),
            Self::Broken(why) => {
                AirError::new(codes::DAEMON_UNREACHABLE, format!("the connection to aird broke: {why}"))
                    .hint("air daemon status · air daemon logs")
            }
        }
    }
}
