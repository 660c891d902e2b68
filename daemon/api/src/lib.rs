//! JSON-RPC 2.0 over HTTP and WebSocket on a Unix socket: the transport of the API, its registry of
//! methods, and the streams of projections and events.
//!
//! Only the rim is here. What a method does is the daemon's; what an object looks like is the store's.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod call;
mod caller;
mod connection;
mod counters;
mod http;
mod outbox;
mod router;
mod rpc;
mod server;
mod stream;
mod suggest;
mod ws;

pub use caller::{Caller, Peer};
pub use connection::{Connection, Notifier};
pub use counters::Counters;
pub use outbox::Pushed;
pub use router::Router;
pub use server::{Limits, PeerCheck, ServeOptions, Server};
pub use stream::{ProjectionSource, follow_events, follow_projection, projection_snapshot};
