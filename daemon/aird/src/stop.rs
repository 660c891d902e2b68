//! Why and how the daemon stops.

use air_contracts::api::CommandsAtStop;
use air_contracts::{AirError, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Whether model answers that are under way may end first.
    pub drain: bool,
    pub commands: CommandsAtStop,
}

/// Where an order to stop is given. The first one counts.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<Option<Order>>);

impl Stop {
    pub fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// Orders the stop.
    pub fn order(&self, order: Order) {
        self.0.send_if_modified(|now| {
            let first = now.is_none();
            if first {
                *now = Some(order);
            }
            first
        });
    }

    /// Whether the stop has begun.
    pub fn ordered(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Waits for the order.
    pub async fn wait(&self) -> Order {
        let mut receiver = self.0.subscribe();
        loop {
            if let Some(order) = *receiver.borrow_and_update() {
                return order;
            }
            if receiver.changed().await.is_err() {
                return Order { drain: false, commands: CommandsAtStop::Leave };
            }
        }
    }
}

/// The signals that the daemon listens to.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    /// Takes over the signals, so that none ends the process by itself.
    pub fn new() -> Result<Self> {
        let take = |kind: SignalKind| signal(kind).map_err(|error| AirError::io("signals", &error));
        Ok(Self {
            terminate: take(SignalKind::terminate())?,
            interrupt: take(SignalKind::interrupt())?,
            hangup: take(SignalKind::hangup())?,
        })
    }

    /// The first signal drains; a second one ends the process at once. The log and the commands survive both.
    pub async fn obey(mut self, stop: Stop) {
        let mut seen = false;
        loop {
            let code = tokio::select! {
                _ = self.terminate.recv() => 143,
                _ = self.interrupt.recv() => 130,
                // The terminal is gone; that is no reason to stop.
                _ = self.hangup.recv() => continue,
            };
            if seen {
                tracing::warn!("a second signal: ends at once");
                std::process::exit(code);
            }
            seen = true;
            tracing::info!("a signal: drains and stops");
            stop.order(Order { drain: true, commands: CommandsAtStop::Leave });
        }
    }
}
