//! The scheduler over a real store and real worker processes; tools, trees and models are played.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod attempts;
mod bed;
mod executor;
mod gateway;
mod no_host;
mod recovery;
mod verification;
