//! The server: options, shared state, and the loop that accepts connections.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use air_contracts::api::{
    Initialize, InitializeParams, InitializeResult, Method, PROTOCOL_VERSION, ServerInfo,
};
use air_contracts::error::codes;
use air_contracts::ids::InstanceId;
use air_contracts::{AirError, Result};
use air_rt::{CancellationToken, OnCancel, Tasks};
use axum::http::StatusCode;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::caller::Peer;
use crate::counters::Counters;
use crate::http;
use crate::router::Router;

/// Whether the process at the other end of this socket may use the daemon.
pub type PeerCheck = Arc<dyn Fn(BorrowedFd<'_>, Peer) -> Result<()> + Send + Sync>;

/// What a server is told.
#[derive(Clone)]
pub struct ServeOptions {
    pub version: String,
    pub instance_id: InstanceId,
    pub peer_check: PeerCheck,
    /// Text in Prometheus' format, added to the server's own counters.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    pub limits: Limits,
}

/// The limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of one body or one WebSocket message.
    pub body: usize,
    /// Time for a call by POST.
    pub call: Duration,
    /// Time that a WebSocket may leave a message unread before it is closed.
    pub stall: Duration,
    pub connections: usize,
    /// Calls by POST at one time.
    pub posts: usize,
    /// Calls of one WebSocket at one time; some more wait, the rest is turned away.
    pub calls: usize,
}

impl Limits {
    /// The limits of a daemon: 4 MiB, 32 s, 60 s, 512 connections, 256 POSTs, 32 calls.
    pub const DAEMON: Self = Self {
        body: 4 << 20,
        call: Duration::from_secs(32),
        stall: Duration::from_secs(60),
        connections: 512,
        posts: 256,
        calls: 32,
    };
}

/// What every connection shares.
pub(crate) struct Shared {
    pub router: Router,
    pub options: ServeOptions,
    pub counters: Arc<Counters>,
    pub tasks: Tasks,
    pub calls: Tasks,
    requests: AtomicU64,
}

impl Shared {
    pub fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// The answer to `initialize`.
    pub fn initialize(&self, params: &InitializeParams) -> Result<InitializeResult> {
        if params.protocol_version != PROTOCOL_VERSION {
            return Err(AirError::new(
                codes::RPC_PROTOCOL_VERSION,
                format!(
                    "{} speaks version {} of the API, this daemon speaks {PROTOCOL_VERSION}",
                    params.client.name, params.protocol_version
                ),
            )
            .hint("air daemon restart starts the daemon that belongs to this air"));
        }
        Ok(InitializeResult {
            server: ServerInfo {
                name: "aird".to_owned(),
                version: self.options.version.clone(),
                pid: std::process::id(),
            },
            protocol_version: PROTOCOL_VERSION,
            instance_id: self.options.instance_id,
        })
    }
}

/// A server of the API. Clones are the same server.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
    app: axum::Router,
    room: Arc<Semaphore>,
}

impl Server {
    /// A server; `tasks` owns its connections: cancelling it ends them in order (answers that are ready are
    /// sent, WebSockets get a close frame with 1001).
    pub fn new(router: Router, options: ServeOptions, tasks: Tasks, counters: Arc<Counters>) -> Self {
        let room = Arc::new(Semaphore::new(options.limits.connections));
        // `initialize` is answered by the server; it is in the table for hints and lists.
        let router = router.register::<Initialize, _, _>(|_, _| async {
            Err(AirError::new(
                codes::RPC_INVALID_REQUEST,
                "initialize is the first call of a WebSocket, alone",
            ))
        });
        let calls = tasks.child("calls");
        let requests = AtomicU64::new(1);
        let shared = Arc::new(Shared { router, options, counters, tasks, calls, requests });
        let app = http::app(Arc::clone(&shared));
        Self { shared, app, room }
    }

    /// Accepts connections until `until` is cancelled or the server's owner is. Never fails: an error of
    /// accept(2) is logged and tried again.
    pub async fn serve(&self, listener: UnixListener, until: CancellationToken) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.shared.tasks.token().cancelled() => return,
                () = until.cancelled() => return,
                // Cancel-safe: a connection is taken off the queue only when it is returned.
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => self.admit(stream),
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Ends all connections in order, at most within `grace`.
    pub async fn shutdown(&self, grace: Duration) {
        self.shared.tasks.token().cancel();
        self.shared.calls.shutdown(grace).await;
        self.shared.tasks.shutdown(grace).await;
    }

    /// Never waits: who a peer is, is looked up beside the loop that accepts.
    fn admit(&self, stream: UnixStream) {
        let server = self.clone();
        if let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() {
            self.shared.tasks.spawn("connection", OnCancel::Finish, async move {
                match server.judge(&stream) {
                    Ok(peer) => server.connection(stream, peer, Arc::new(permit)).await,
                    Err(error) => refuse(stream, StatusCode::FORBIDDEN, error).await,
                }
            });
            return;
        }
        Counters::add(&self.shared.counters.shed);
        let limit = self.shared.options.limits.connections;
        // A flood beyond that is cut off without a word.
        if self.shared.tasks.len() <= 2 * limit {
            let error = AirError::new(codes::RPC_OVERLOADED, format!("aird has {limit} connections already"));
            let answer = refuse(stream, StatusCode::SERVICE_UNAVAILABLE, error);
            self.shared.tasks.spawn("refuse", OnCancel::Abort, answer);
        }
    }

    fn judge(&self, stream: &UnixStream) -> Result<Peer> {
        let verdict = peer_of(stream).and_then(|peer| {
            (self.shared.options.peer_check)(stream.as_fd(), peer)?;
            Ok(peer)
        });
        verdict.inspect_err(|error| {
            Counters::add(&self.shared.counters.refused);
            tracing::warn!(%error, "a peer was refused");
        })
    }

    async fn connection(&self, stream: UnixStream, peer: Peer, permit: Arc<OwnedSemaphorePermit>) {
        let _open = Counters::hold(&self.shared.counters.connections);
        let app = self.app.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(peer);
            // A WebSocket outlives this connection's future and keeps its place.
            request.extensions_mut().insert(Arc::clone(&permit));
            tower::ServiceExt::oneshot(app.clone(), request)
        });
        let served = builder().serve_connection(TokioIo::new(stream), service).with_upgrades();
        tokio::pin!(served);
        let result = tokio::select! {
            result = served.as_mut() => result,
            () = self.shared.tasks.token().cancelled() => {
                served.as_mut().graceful_shutdown();
                served.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, pid = peer.pid, "connection ended");
        }
    }
}

/// Answers the first request with an error and ends.
async fn refuse(stream: UnixStream, status: StatusCode, error: AirError) {
    let service = hyper::service::service_fn(move |_| {
        let response = http::error(status, &error);
        async { Ok::<_, std::convert::Infallible>(response) }
    });
    let served = builder().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    let _ = tokio::time::timeout(Duration::from_secs(5), served).await;
}

/// HTTP/1.1 with bounded heads: a line without an end costs 64 KiB and 30 s at most.
fn builder() -> hyper::server::conn::http1::Builder {
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30)).max_buf_size(64 << 10);
    builder
}

fn peer_of(stream: &UnixStream) -> Result<Peer> {
    let refused = |what: String| AirError::new(codes::PEER_REFUSED, what);
    let cred = stream.peer_cred().map_err(|error| refused(format!("the peer is not known: {error}")))?;
    // A peer outside this pid namespace has pid 0 (unix(7)).
    match cred.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0) {
        Some(pid) => Ok(Peer { pid, uid: cred.uid() }),
        None => Err(refused("the peer is in another pid namespace".to_owned())),
    }
}

/// The name of `initialize`, which is answered here.
pub(crate) const INITIALIZE: &str = Initialize::NAME;
