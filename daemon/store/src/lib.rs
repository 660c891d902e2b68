//! The store of a project: the event log, the domain tables that are its projection, artifacts, and the bus.
//!
//! The only crate that knows SQLite. Everything enters through [`Store::ingest`]: one writer commits events
//! together with the rows that follow from them. Rows are thin: content is read from the events.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod apply;
mod artifacts;
mod batch;
mod bus;
mod db;
mod local;
mod log;
mod read;
mod refs;
mod rows;
mod store;
mod totals;
mod verify;
mod views;
mod writer;

pub use bus::{BusItem, BusReceiver};
pub use rows::*;
pub use store::{Committed, EventQuery, Store};
