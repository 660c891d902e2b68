//! Sessions and the Main Agent: takes messages durably, runs one turn of a session after the other, answers
//! questions, hands work to the scheduler, and says how a turn ended.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod conversation;
mod lane;
mod main_agent;
mod outcome;
mod sessions;
mod turn;

pub use sessions::{Sessions, SessionsDeps};
