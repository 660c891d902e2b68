//! What the daemon says by itself on a WebSocket.

use air_contracts::api::{
    EVENTS_APPENDED, EventsAppended, PROJECTION_CHANGED, ProjectionChanged, STREAM_DELTA, STREAM_RESYNC,
    StreamDelta, StreamResync,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;

/// How many notifications wait for a slow reader before they are dropped.
pub(super) const QUEUE: usize = 1024;

/// A notification, typed.
#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    /// Objects of a session that changed.
    ProjectionChanged(ProjectionChanged),
    /// Volatile text.
    StreamDelta(StreamDelta),
    /// The daemon dropped some: take a new snapshot.
    StreamResync(StreamResync),
    /// New events of the log.
    EventsAppended(EventsAppended),
    /// This reader was too slow and some were dropped here: take a new snapshot, or read the log by `seq`.
    Lagged,
    /// One that this build does not know, or whose parameters do not match.
    Other { method: String, params: Value },
}

impl Notification {
    /// Reads a notification. One with parameters that do not match its method becomes `Other`.
    pub fn parse(method: &str, params: Value) -> Self {
        match method {
            PROJECTION_CHANGED => typed(method, params, Self::ProjectionChanged),
            STREAM_DELTA => typed(method, params, Self::StreamDelta),
            STREAM_RESYNC => typed(method, params, Self::StreamResync),
            EVENTS_APPENDED => typed(method, params, Self::EventsAppended),
            _ => Self::Other { method: method.to_owned(), params },
        }
    }
}

fn typed<T: DeserializeOwned>(method: &str, params: Value, wrap: fn(T) -> Notification) -> Notification {
    match T::deserialize(&params) {
        Ok(value) => wrap(value),
        Err(_) => Notification::Other { method: method.to_owned(), params },
    }
}

/// The notifications of one connection, in order. It ends when the connection does.
#[derive(Debug)]
pub struct Notifications(mpsc::Receiver<Notification>);

impl Notifications {
    pub(super) fn new(receiver: mpsc::Receiver<Notification>) -> Self {
        Self(receiver)
    }

    /// The next one; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<Notification> {
        self.0.recv().await
    }
}

impl futures_core::Stream for Notifications {
    type Item = Notification;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
