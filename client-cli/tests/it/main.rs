//! The real `air` binary against a daemon that is played by the test.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod air;
mod connection;
mod daemon;
mod demo;
mod documents;
mod errors;
mod fixtures;
mod lists;
mod questions;
mod submit;
mod terminal;
