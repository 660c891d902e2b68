//! The connection to `aird`: where its socket lies, the WebSocket on it, typed calls, notifications.

mod client;
mod fake;
mod notification;
mod port;
mod socket;
#[cfg(test)]
mod tests;
mod wire;

pub use client::{Identity, RpcClient};
pub use fake::{FakeClient, FakeNotifier};
pub use notification::{Notification, Notifications};
pub use port::{CallFuture, ProjectionClient, ProjectionClientExt};
pub use socket::{Listening, SocketEnv, listening, socket_path};
