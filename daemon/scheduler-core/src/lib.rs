//! The task graph as a pure function: a state and an input give the next state and actions.
//!
//! No clock, no I/O, no runtime. Time, processes and the log belong to the caller, who carries out the
//! actions after it has stored what changed. Iteration is ordered everywhere, so the same inputs always
//! give the same actions.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod area;
mod graph;
mod plan;
mod retry;
mod step;

#[cfg(test)]
mod tests;

pub use area::WriteArea;
pub use graph::{Attempt, Graph, Limits, TaskNo, TaskNode};
pub use retry::Transcript;
pub use step::{Action, Input, ReviewVerdict};
