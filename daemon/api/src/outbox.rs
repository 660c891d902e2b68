//! What waits to be sent on one WebSocket beside the answers to its calls.
//!
//! The queue is bounded in messages and bytes, and pushing never waits. A stream that finds no room is
//! dropped from the queue and leaves one message behind: `stream/resync`.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Messages that wait on one connection, at most.
const MAX_MESSAGES: usize = 256;
/// Bytes that wait on one connection; one message may be larger when it is alone.
const MAX_BYTES: usize = 1 << 20;

/// A stream of notifications on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamId(pub u64);

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    Queued,
    /// There is no room: the client reads too slowly.
    Full,
    /// The connection is gone.
    Closed,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(StreamId, String)>,
    bytes: usize,
    /// The stream whose message is on its way to the socket.
    sending: Option<StreamId>,
    closed: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    /// For the one that writes to the socket.
    filled: Notify,
    /// For those that wait for room.
    emptied: Notify,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message.
    pub fn push(&self, stream: StreamId, text: String) -> Pushed {
        let mut state = self.state();
        if state.closed {
            return Pushed::Closed;
        }
        let too_many = state.queue.len() >= MAX_MESSAGES;
        let too_large = !state.queue.is_empty() && state.bytes + text.len() > MAX_BYTES;
        if too_many || too_large {
            return Pushed::Full;
        }
        state.bytes += text.len();
        state.queue.push_back((stream, text));
        self.filled.notify_one();
        Pushed::Queued
    }

    /// Drops all that the stream has in the queue and leaves `text` in its place.
    pub fn collapse(&self, stream: StreamId, text: String) -> Pushed {
        let mut state = self.state();
        if state.closed {
            return Pushed::Closed;
        }
        state.queue.retain(|(owner, _)| *owner != stream);
        state.queue.push_back((stream, text));
        state.bytes = state.queue.iter().map(|(_, text)| text.len()).sum();
        self.filled.notify_one();
        Pushed::Queued
    }

    /// Drops all that the stream has in the queue.
    pub fn forget(&self, stream: StreamId) {
        let mut state = self.state();
        state.queue.retain(|(owner, _)| *owner != stream);
        state.bytes = state.queue.iter().map(|(_, text)| text.len()).sum();
        self.emptied.notify_waiters();
    }

    /// Waits until the stream has nothing in the queue any more; `false` when the connection is gone.
    pub async fn drained(&self, stream: StreamId) -> bool {
        self.wait(|state| {
            state.sending != Some(stream) && state.queue.iter().all(|(owner, _)| *owner != stream)
        })
        .await
    }

    /// Waits until the queue is half empty; `false` when the connection is gone.
    pub async fn room(&self) -> bool {
        self.wait(|state| state.queue.len() <= MAX_MESSAGES / 2 && state.bytes <= MAX_BYTES / 2).await
    }

    async fn wait(&self, reached: impl Fn(&State) -> bool) -> bool {
        loop {
            let emptied = self.emptied.notified();
            tokio::pin!(emptied);
            // Registered before the look, so that no wake-up is missed in between.
            emptied.as_mut().enable();
            {
                let state = self.state();
                if state.closed {
                    return false;
                }
                if reached(&state) {
                    return true;
                }
            }
            emptied.await;
        }
    }

    /// The next message to send. Cancel-safe: a message is taken only when it is returned.
    pub async fn next(&self) -> String {
        loop {
            if let Some(text) = self.take() {
                return text;
            }
            self.filled.notified().await;
        }
    }

    fn take(&self) -> Option<String> {
        let mut state = self.state();
        let (stream, text) = state.queue.pop_front()?;
        state.bytes -= text.len();
        state.sending = Some(stream);
        Some(text)
    }

    /// The message that [`Outbox::next`] gave is on the socket.
    pub fn sent(&self) {
        self.state().sending = None;
        self.emptied.notify_waiters();
    }

    /// The connection is gone: nothing is taken or given any more.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.queue = VecDeque::new();
        state.bytes = 0;
        drop(state);
        self.emptied.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_queue_is_bounded_and_collapses_to_one_message() {
        let outbox = Outbox::default();
        let (slow, other) = (StreamId(1), StreamId(2));
        assert_eq!(outbox.push(other, "o".into()), Pushed::Queued);
        let mut queued = 0;
        while outbox.push(slow, "x".repeat(100)) == Pushed::Queued {
            queued += 1;
        }
        assert_eq!(queued, MAX_MESSAGES - 1);
        assert_eq!(outbox.collapse(slow, "resync".into()), Pushed::Queued);
        assert_eq!(outbox.next().await, "o");
        assert_eq!(outbox.next().await, "resync");
        outbox.sent();
        assert!(outbox.drained(slow).await);
    }

    #[tokio::test]
    async fn bytes_are_bounded_and_a_closed_connection_ends_the_wait() {
        let outbox = Outbox::default();
        let stream = StreamId(1);
        assert_eq!(outbox.push(stream, "x".repeat(2 * MAX_BYTES)), Pushed::Queued);
        assert_eq!(outbox.push(stream, "x".into()), Pushed::Full);
        let waits = outbox.drained(stream);
        outbox.close();
        assert!(!waits.await);
        assert_eq!(outbox.push(stream, "x".into()), Pushed::Closed);
    }
}
