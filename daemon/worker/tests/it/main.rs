//! Real launchers, real commands: what a run folder says about them, and what they cannot do.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bed;
mod ending;
mod isolation;
mod peer;
mod results;
mod role;
