//! Drives the pure core: creates tasks, runs attempts in worker processes, verifies what they claim, and goes on
//! after a restart.
//!
//! Everything that decides is in the log before it is acted on. The core (`air-scheduler-core`) decides, this crate
//! carries out: what it keeps in memory beside the log can be lost.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod attempt;
mod checks;
mod create;
mod deps;
pub mod model_call;
mod result;
mod scheduler;
mod tools;
mod turn;
mod verify;
mod worker;

pub use deps::{SchedulerDeps, SchedulerLimits, TaskDraft, TurnReport};
pub use scheduler::Scheduler;
pub use tools::task_tools;
