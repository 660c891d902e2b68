//! What the API counts about itself.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters, readable at any time.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections that are open, of any kind.
    pub connections: AtomicU64,
    /// WebSockets that have said `initialize`.
    pub clients: AtomicU64,
    /// Calls that were answered.
    pub calls: AtomicU64,
    /// Calls that were answered with an error.
    pub errors: AtomicU64,
    /// Peers that were refused.
    pub refused: AtomicU64,
    /// Connections and calls that were turned away because there were too many.
    pub shed: AtomicU64,
    /// Notifications that were sent.
    pub notifications: AtomicU64,
    /// Streams that were dropped to a `stream/resync`.
    pub resyncs: AtomicU64,
}

impl Counters {
    /// Raises a counter by one.
    pub fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Raises a gauge until the guard is dropped.
    pub fn hold(counter: &AtomicU64) -> Held<'_> {
        Self::add(counter);
        Held(counter)
    }

    /// The counters in Prometheus' text format (version 0.0.4).
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        let all = [
            ("air_api_connections", "gauge", &self.connections),
            ("air_api_clients", "gauge", &self.clients),
            ("air_api_calls_total", "counter", &self.calls),
            ("air_api_call_errors_total", "counter", &self.errors),
            ("air_api_refused_peers_total", "counter", &self.refused),
            ("air_api_shed_total", "counter", &self.shed),
            ("air_api_notifications_total", "counter", &self.notifications),
            ("air_api_resyncs_total", "counter", &self.resyncs),
        ];
        for (name, kind, counter) in all {
            let _ = writeln!(text, "# TYPE {name} {kind}\n{name} {}", counter.load(Ordering::Relaxed));
        }
        text
    }
}

/// A gauge that is one higher while this lives.
#[derive(Debug)]
pub struct Held<'a>(&'a AtomicU64);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
