//! [`RpcClient`]: one WebSocket to `aird`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use air_contracts::api::{
    ClientInfo, ClientRole, InitializeParams, InitializeResult, Method, PROTOCOL_VERSION,
};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::notification::QUEUE;
use super::port::{CallFuture, ProjectionClient};
use super::socket::{Listening, listening};
use super::wire::{Outgoing, Wire};
use super::{Notification, Notifications};

/// The longest message that a client takes: a patch or an artifact can be long.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// Who this client says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `air submit`.
    pub name: String,
    /// Of this build.
    pub version: String,
    /// Where it runs: the terminal's name, or the pid.
    pub place: String,
    pub role: ClientRole,
}

/// A connection that has been initialised. Clones share it; it is closed when the last one is dropped.
///
/// Reconnecting is up to the caller: after an error `daemon.unreachable` or `daemon.stopping` this
/// client never answers again.
#[derive(Debug, Clone)]
pub struct RpcClient {
    calls: mpsc::Sender<Outgoing>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: InitializeResult,
    goodbye: Arc<AtomicBool>,
    notifications: Mutex<Option<Notifications>>,
}

impl std::fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outgoing").field("method", &self.method).finish_non_exhaustive()
    }
}

impl RpcClient {
    /// Connects to the daemon at `socket` and initialises. Nobody there is `daemon.unreachable`; one
    /// that speaks another protocol is `daemon.version`.
    pub async fn connect(socket: &Path, identity: &Identity) -> Result<Self> {
        match listening(socket).await {
            Listening::Yes(stream) => Self::over(stream, identity).await,
            Listening::Nobody => Err(unreachable(socket, "there, nobody listens")),
            Listening::Absent => Err(unreachable(socket, "not there")),
            Listening::Refused(error) => Err(unreachable(socket, &error.to_string())),
        }
    }

    /// Initialises on a stream that is connected.
    pub async fn over(stream: UnixStream, identity: &Identity) -> Result<Self> {
        let config =
            WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
        let (socket, _) = tokio_tungstenite::client_async_with_config("ws://aird/rpc", stream, Some(config))
            .await
            .map_err(|error| {
                AirError::new(codes::DAEMON_UNREACHABLE, format!("aird does not open a WebSocket: {error}"))
                    .hint("air daemon restart · air daemon logs")
            })?;
        let (calls, call_queue) = mpsc::channel(64);
        let (notify, notifications) = mpsc::channel::<Notification>(QUEUE);
        let goodbye = Arc::new(AtomicBool::new(false));
        tokio::spawn(Wire::new(socket, call_queue, notify, Arc::clone(&goodbye)).run());
        let params = InitializeParams {
            client: ClientInfo {
                name: identity.name.clone(),
                version: identity.version.clone(),
                place: identity.place.clone(),
            },
            protocol_version: PROTOCOL_VERSION,
            role: identity.role,
        };
        let server = initialize(&calls, params, identity).await?;
        let notifications = Mutex::new(Some(Notifications::new(notifications)));
        Ok(Self { calls, shared: Arc::new(Shared { server, goodbye, notifications }) })
    }
}

impl ProjectionClient for RpcClient {
    fn call_value<'a>(&'a self, method: &'a str, params: Value) -> CallFuture<'a> {
        Box::pin(call(&self.calls, method.to_owned(), params))
    }

    fn take_notifications(&self) -> Option<Notifications> {
        self.shared.notifications.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }

    fn server(&self) -> &InitializeResult {
        &self.shared.server
    }

    fn said_goodbye(&self) -> bool {
        self.shared.goodbye.load(Ordering::Relaxed)
    }
}

async fn call(calls: &mpsc::Sender<Outgoing>, method: String, params: Value) -> Result<Value> {
    let gone = || {
        AirError::new(codes::DAEMON_UNREACHABLE, "the connection to aird is gone").hint("air daemon status")
    };
    let (answer, result) = oneshot::channel();
    calls.send(Outgoing { method, params, answer }).await.map_err(|_| gone())?;
    result.await.map_err(|_| gone())?
}

async fn initialize(
    calls: &mpsc::Sender<Outgoing>,
    params: InitializeParams,
    identity: &Identity,
) -> Result<InitializeResult> {
    let params = serde_json::to_value(params).map_err(|error| AirError::internal(error.to_string()))?;
    let answer =
        call(calls, air_contracts::api::Initialize::NAME.to_owned(), params).await.map_err(|error| {
            if error.is(codes::RPC_PROTOCOL_VERSION) {
                other_version(&error.message, identity)
            } else {
                error
            }
        })?;
    let server: InitializeResult =
        serde_json::from_value(answer).map_err(|error| other_version(&error.to_string(), identity))?;
    if server.protocol_version != PROTOCOL_VERSION {
        let what = format!("aird {} speaks protocol {}", server.server.version, server.protocol_version);
        return Err(other_version(&what, identity));
    }
    Ok(server)
}

fn other_version(what: &str, identity: &Identity) -> AirError {
    let message = format!("{what}; this is air {} with protocol {PROTOCOL_VERSION}", identity.version);
    AirError::new(codes::DAEMON_VERSION, message).hint("air daemon restart").hint("running commands are kept")
}

/// `daemon.unreachable` with the socket and what is the matter with it.
pub(crate) fn unreachable(socket: &Path, state: &str) -> AirError {
    AirError::new(codes::DAEMON_UNREACHABLE, "aird does not answer")
        .hint(format!("socket  {} ({state})", socket.display()))
        .hint("air daemon restart · air daemon logs\tyour work is on disk")
}
