//! What every part of the daemon runs on: a clock, an id source, and named tasks that are always awaited.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod clock;
mod ids;
mod tasks;

pub use clock::Clock;
pub use ids::IdSource;
pub use tasks::{OnCancel, Tasks};
pub use tokio_util::sync::CancellationToken;
