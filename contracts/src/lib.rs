//! Wire and stored data of AirCoding, and the four ports between its crates.
//!
//! Nothing here does I/O, reads a clock or makes ids: every type is plain data that is serialised
//! with serde, and every port is a trait that another crate implements.

pub mod api;
pub mod approval;
pub mod artifact;
pub mod capability;
pub mod diagnostic;
pub mod error;
pub mod event;
pub mod evidence;
pub mod ids;
pub mod ipc;
pub mod message;
pub mod path;
pub mod permission;
pub mod platform;
pub mod port;
pub mod project;
pub mod projection;
pub mod provider;
pub mod schema;
pub mod session;
pub mod task;
pub mod time;
pub mod tool;
pub mod worker_result;
pub mod workspace;

pub use error::{AirError, ErrorKind, Result};
pub use time::Timestamp;
