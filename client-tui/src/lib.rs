//! The client side of AirCoding: the connection to `aird`, the words and lines that every client
//! shows, and the interactive front ends.
//!
//! Everything here is drawn from projections and calls of the API; nothing reads the daemon's files.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod app;
pub mod attach;
pub mod plain;
pub mod rpc;
pub mod text;

pub use app::run_attach;
pub use attach::{AttachOptions, Connector, Programs, attach};
pub use rpc::{FakeClient, Notification, Notifications, ProjectionClient, ProjectionClientExt, RpcClient};
