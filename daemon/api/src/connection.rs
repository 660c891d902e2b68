//! One WebSocket: its outgoing notifications and the streams that fill them.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use air_rt::{OnCancel, Tasks};
use serde::Serialize;
use tokio::task::AbortHandle;

use crate::counters::Counters;
use crate::outbox::{Outbox, Pushed, StreamId};
use crate::rpc;

/// Streams of one connection, at most.
const MAX_STREAMS: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Connection {
    pub(crate) outbox: Outbox,
    pub(crate) counters: Arc<Counters>,
    tasks: Tasks,
    next: AtomicU64,
    streams: Mutex<HashMap<String, (StreamId, AbortHandle)>>,
}

/// Where a stream sends its notifications.
#[derive(Debug, Clone)]
pub struct Notifier {
    connection: Arc<Connection>,
    stream: StreamId,
}

impl Connection {
    pub(crate) fn new(tasks: Tasks, counters: Arc<Counters>) -> Arc<Self> {
        Arc::new(Self {
            outbox: Outbox::default(),
            counters,
            tasks,
            next: AtomicU64::new(1),
            streams: Mutex::new(HashMap::new()),
        })
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<String, (StreamId, AbortHandle)>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a stream that ends with the connection. One with the same key is ended first.
    pub fn stream<F, Fut>(self: &Arc<Self>, name: &'static str, key: String, run: F) -> Result<()>
    where
        F: FnOnce(Notifier) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let mut streams = self.streams();
        streams.retain(|_, (_, task)| !task.is_finished());
        if let Some((old, task)) = streams.remove(&key) {
            task.abort();
            self.outbox.forget(old);
        }
        if streams.len() >= MAX_STREAMS {
            return Err(AirError::new(
                codes::RPC_OVERLOADED,
                format!("this connection has {MAX_STREAMS} subscriptions already"),
            ));
        }
        let stream = StreamId(self.next.fetch_add(1, Ordering::Relaxed));
        let notifier = Notifier { connection: Arc::clone(self), stream };
        let task = self.tasks.spawn(name, OnCancel::Abort, run(notifier));
        streams.insert(key, (stream, task.abort_handle()));
        Ok(())
    }

    /// Ends every stream; the socket is gone.
    pub(crate) fn close(&self) {
        self.outbox.close();
        for (_, (_, task)) in self.streams().drain() {
            task.abort();
        }
    }
}

impl Notifier {
    /// Queues a notification; never waits.
    pub fn push<T: Serialize>(&self, method: &str, params: &T) -> Pushed {
        match rpc::notification(method, params) {
            Ok(text) => self.connection.outbox.push(self.stream, text),
            Err(error) => {
                tracing::error!(%error, "a notification could not be written");
                Pushed::Queued
            }
        }
    }

    /// Drops what this stream has in the queue, leaves this one notification, and waits until the client
    /// has taken it. `false`: the connection is gone.
    pub async fn collapse<T: Serialize>(&self, method: &str, params: &T) -> bool {
        Counters::add(&self.connection.counters.resyncs);
        let Ok(text) = rpc::notification(method, params) else { return true };
        match self.connection.outbox.collapse(self.stream, text) {
            Pushed::Closed => false,
            Pushed::Queued | Pushed::Full => self.drained().await,
        }
    }

    /// Waits until the client has taken all that this stream sent. `false`: the connection is gone.
    pub async fn drained(&self) -> bool {
        self.connection.outbox.drained(self.stream).await
    }

    /// Waits until the client has taken something. `false`: the connection is gone.
    pub async fn room(&self) -> bool {
        self.connection.outbox.room().await
    }
}
