//! Who calls, and over what.

use std::future::Future;
use std::sync::Arc;

use air_contracts::api::{ClientInfo, ClientRole};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use tokio::sync::Notify;

use crate::connection::{Connection, Notifier};

/// The process at the other end of a connection, as the kernel names it (unix(7), `SO_PEERCRED`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    pub pid: u32,
    pub uid: u32,
}

/// Who makes a call.
#[derive(Debug, Clone)]
pub struct Caller {
    pub role: ClientRole,
    pub peer: Peer,
    /// What it said in `initialize`; `None` for calls by POST.
    pub client: Option<Arc<ClientInfo>>,
    /// For the log: unique in the life of the daemon.
    pub request_id: u64,
    /// The WebSocket, where there is one.
    pub(crate) connection: Option<Arc<Connection>>,
    /// Told when the answer is on the socket.
    pub(crate) replied: Arc<Notify>,
}

impl Caller {
    /// For records: `air approve (pts/3)`, `pid 4121`.
    pub fn name(&self) -> String {
        match &self.client {
            Some(client) if client.place.is_empty() => client.name.clone(),
            Some(client) => format!("{} ({})", client.name, client.place),
            None => format!("pid {}", self.peer.pid),
        }
    }

    /// Starts a stream of notifications that ends with the connection; one with the same key is ended
    /// first. It begins when the answer to this call is on the socket. An error for a call by POST.
    pub fn stream<F, Fut>(&self, method: &'static str, key: String, run: F) -> Result<()>
    where
        F: FnOnce(Notifier) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let Some(connection) = &self.connection else {
            return Err(AirError::new(
                codes::RPC_INVALID_REQUEST,
                format!("{method} sends notifications, which need a WebSocket"),
            )
            .hint("connect with GET /rpc and `Upgrade: websocket`, or poll events/read with wait_ms"));
        };
        let replied = Arc::clone(&self.replied);
        connection.stream(method, key, move |notifier| async move {
            replied.notified().await;
            run(notifier).await;
        })
    }
}
