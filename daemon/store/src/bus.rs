//! The bus: it tells that something happened. What happened is read from the log, by `seq`.

use std::sync::Arc;

use air_contracts::event::EphemeralEvent;
use tokio::sync::broadcast::{self, error::RecvError};

/// What a receiver hears.
#[derive(Debug, Clone, PartialEq)]
pub enum BusItem {
    /// Events up to `last_seq` are on disk.
    Committed {
        last_seq: u64,
    },
    Ephemeral(Arc<EphemeralEvent>),
    /// The receiver was too slow and missed some: it reads on from the log.
    Lagged,
    /// The store is closed.
    Closed,
}

/// How many items a receiver may be behind.
const CAPACITY: usize = 1_024;

#[derive(Debug, Clone)]
pub(crate) struct Bus(broadcast::Sender<Item>);

#[derive(Debug, Clone)]
pub(crate) enum Item {
    Committed(u64),
    Ephemeral(Arc<EphemeralEvent>),
    Closed,
}

impl Bus {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(CAPACITY).0)
    }

    /// Nobody listening is no error.
    pub(crate) fn send(&self, item: Item) {
        let _ = self.0.send(item);
    }

    pub(crate) fn subscribe(&self) -> BusReceiver {
        BusReceiver { inner: self.0.subscribe(), closed: false }
    }
}

/// A place on the bus.
#[derive(Debug)]
pub struct BusReceiver {
    inner: broadcast::Receiver<Item>,
    closed: bool,
}

impl BusReceiver {
    /// The next item. Cancel-safe: an item that was not returned is not lost. After `Closed` there is only `Closed`.
    pub async fn next(&mut self) -> BusItem {
        if self.closed {
            return BusItem::Closed;
        }
        match self.inner.recv().await {
            Ok(Item::Committed(last_seq)) => BusItem::Committed { last_seq },
            Ok(Item::Ephemeral(event)) => BusItem::Ephemeral(event),
            Err(RecvError::Lagged(_)) => BusItem::Lagged,
            Ok(Item::Closed) | Err(RecvError::Closed) => {
                self.closed = true;
                BusItem::Closed
            }
        }
    }
}
