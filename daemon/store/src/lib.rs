//! The store of a project: the event log, the domain tables that are its projection, artifacts, and the bus.
//!
//! The only crate that knows SQLite.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bus;
mod rows;
mod skeleton;

use air_contracts::ids::{ProjectId, SessionId};

pub use bus::{BusItem, BusReceiver};
pub use rows::*;

/// The store of one project. Clones are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    project_id: ProjectId,
    bus: bus::Bus,
}

/// The places in the log that a batch took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    pub first_seq: u64,
    pub last_seq: u64,
}

/// Which events to read, in the order of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventQuery {
    pub after_seq: u64,
    /// At most this many; 1,000 where it is 0.
    pub limit: u32,
    /// Only these types; all where empty.
    pub types: Vec<String>,
    pub session: Option<SessionId>,
}
