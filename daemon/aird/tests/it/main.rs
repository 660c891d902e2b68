//! The real daemon, as a process with a home of its own.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod activation;
mod env;
mod life;
mod methods;
mod units;
