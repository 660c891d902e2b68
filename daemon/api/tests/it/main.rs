//! The transport on a real Unix socket, with a toy router.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod harness;
mod http;
mod socket;
mod stream;
